"""Validated settings of a run of refinement: the only reader of `RefinementRun.config`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from consilium.core.limits import MAX_KEY_LENGTH, MAX_RUBRIC_SET_NAME_LENGTH, MAX_TAG_LENGTH
from consilium.llm.endpoint import Endpoint
from scoring.generation.config import PricedConfig
from scoring.judges.config import checked_config
from validation.coverage.config import Criteria, KeptAsItIs, SetConfig, Text
from validation.coverage.content import Point, Points
from validation.models.refinement import EDIT, PLAN
from validation.pairs.reading import MAX_TEXT_LENGTH

MAX_ARMS = 20
SET, SELF, GOLD, HALF = "set", "self", "gold", "half"

Base = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)]


class ArmConfig(KeptAsItIs):
    """What guides the refinement, and the candidate of the refined texts.

    ``set``: the criteria of a rubric set; ``self``: none; ``gold``: the gold criteria, as an upper bound; ``half``: the
    half of the gold criteria that does not grade. ``overlaps`` counts criteria that the gold rubric has as well, and
    ``upper_bound`` labels an arm that was taught them.
    """

    name: str = Field(min_length=1, max_length=MAX_RUBRIC_SET_NAME_LENGTH + 20)
    kind: Literal["set", "self", "gold", "half"]
    candidate: str = Field(min_length=1, max_length=MAX_KEY_LENGTH)
    rubric_set: SetConfig | None = None
    upper_bound: bool = False
    overlaps: int = Field(default=0, ge=0)


class CaseConfig(KeptAsItIs):
    """A case: the base with the id of its response, the criteria of each arm, and those that grade.

    ``tags`` are those of the case when the run began; earlier runs hold none. An arm without criteria for the case has
    None. ``graded_by`` are the texts of the half of the gold criteria that grades; None: all of them do.
    """

    key: str = Field(min_length=1, max_length=MAX_KEY_LENGTH)
    base: Base
    base_id: str = Field(max_length=16)
    tags: list[Annotated[str, Field(max_length=MAX_TAG_LENGTH)]] | None = None
    arms: list[Criteria | None] = Field(min_length=1, max_length=MAX_ARMS)
    graded_by: list[Text] | None = None


class RefinementConfig(PricedConfig):
    """An endpoint, how the models decode, and all texts that they are shown; ``edit_model`` empty: the same model."""

    temperature: float | None = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    max_tokens: int = Field(default=4096, ge=1, le=131_072)
    edit_model: str = Field(default="", max_length=200)
    split: bool = False
    draw_seed: int = Field(default=0, ge=0, lt=2**31)  # of the halves
    arms: list[ArmConfig] = Field(min_length=1, max_length=MAX_ARMS)
    cases: list[CaseConfig] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> RefinementConfig:
        if any(len(case.arms) != len(self.arms) for case in self.cases):
            raise ValueError("a case does not have the criteria of every arm")
        if len({case.key for case in self.cases}) != len(self.cases):
            raise ValueError("a case is there twice")
        for names in ([arm.name for arm in self.arms], [arm.candidate for arm in self.arms]):
            if len(set(names)) != len(names):
                raise ValueError("two arms have one name")
        if any((case.graded_by is not None) != self.split for case in self.cases):
            raise ValueError("halves are drawn for all cases or for none")
        return self

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each case, by its key."""
        return {case.key: place for place, case in enumerate(self.cases)}

    def criteria(self, place: int, arm: int) -> Points | None:
        """The criteria that guide an arm in the case at ``place``; None where the arm has none for it."""
        stored = self.cases[place].arms[arm]
        return None if stored is None else tuple(map(Point.of, stored))

    def model_of(self, stage: str) -> str:
        """The model of a stage."""
        return self.edit_model or self.model if stage == EDIT else self.model

    @property
    def models(self) -> list[str]:
        """The models that plan and edit."""
        return list(dict.fromkeys(map(self.model_of, (PLAN, EDIT))))

    def endpoint_of(self, stage: str) -> Endpoint:
        """The endpoint of a stage."""
        return replace(self.for_client(), model=self.model_of(stage))

    def request_of(self, stage: str) -> dict[str, Any]:
        """How the model of a stage is asked."""
        return {**self.parameters(0), "model": self.model_of(stage)}


def refinement_config(values: Mapping[str, Any], *, may_call: bool = True) -> RefinementConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list: no request will be sent.
    """
    return checked_config(RefinementConfig, dict(values), may_call=may_call)
