"""Validated settings of a run of trials: the only reader of `TrialRun.config`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from pydantic import Field, model_validator

from consilium.core.limits import (
    MAX_AXIS_LENGTH,
    MAX_KEY_LENGTH,
    MAX_PAIR_CHANGE_LENGTH,
    MAX_PAIR_GROUP_NAME_LENGTH,
    MAX_REASON_LENGTH,
    MAX_TAG_LENGTH,
)
from scoring.generation.config import PricedConfig
from scoring.judges.config import checked_config
from validation.coverage.config import Criteria, KeptAsItIs, SetConfig
from validation.coverage.content import Point
from validation.pairs.reading import MAX_TEXT_LENGTH
from validation.trials.content import CaseContent, PairContent, TrialContent

MAX_SETS = 20
MAX_TRIALS = 20
TRIALS = 3  # in each order
MAX_PAIRS = 500  # of a case

Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)]


class PairConfig(KeptAsItIs):
    """A pair with its texts. ``grade`` is what physicians had agreed on when the run began; reports look again."""

    id: str = Field(max_length=16)
    key: str = Field(min_length=1, max_length=MAX_KEY_LENGTH + MAX_PAIR_GROUP_NAME_LENGTH + 2)
    kind: str = Field(min_length=1, max_length=20)
    axis: str = Field(max_length=MAX_AXIS_LENGTH)
    reference: Text
    candidate: Text
    change: str = Field(max_length=MAX_PAIR_CHANGE_LENGTH)
    why: str = Field(max_length=MAX_REASON_LENGTH)
    grade: Literal["dangerous", "minor", "flawed", "no_error", "disputed", "open"]


class CaseConfig(KeptAsItIs):
    """A case with its pairs, and its criteria in each set."""

    key: str = Field(min_length=1, max_length=MAX_KEY_LENGTH)
    tags: list[Annotated[str, Field(max_length=MAX_TAG_LENGTH)]]
    pairs: list[PairConfig] = Field(min_length=1, max_length=MAX_PAIRS)
    sets: list[Criteria] = Field(max_length=MAX_SETS)


class TrialConfig(PricedConfig):
    """An endpoint, how the model decodes, and all texts that it is asked about."""

    temperature: float | None = Field(default=1.0, ge=0, le=2, allow_inf_nan=False)
    max_tokens: int = Field(default=2048, ge=1, le=131_072)
    trials: int = Field(default=TRIALS, ge=1, le=MAX_TRIALS)
    no_rubric: bool = False
    sets: list[SetConfig] = Field(max_length=MAX_SETS)
    cases: list[CaseConfig] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> TrialConfig:
        if any(len(case.sets) != len(self.sets) for case in self.cases):
            raise ValueError("a case does not have the criteria of every set")
        if len({case.key for case in self.cases}) != len(self.cases):
            raise ValueError("a case is there twice")
        if len({own.name for own in self.sets}) != len(self.sets):
            raise ValueError(_("Choose each set only once."))
        keys = [pair.key for case in self.cases for pair in case.pairs]
        if len(set(keys)) != len(keys):
            raise ValueError("two pairs have one name")
        if not self.sets and not self.no_rubric:
            raise ValueError(_("Choose at least one set, or no rubric."))
        return self

    @cached_property
    def content(self) -> TrialContent:
        """The texts."""
        cases = tuple(
            CaseContent(
                case.key,
                tuple(case.tags),
                tuple(PairContent(**pair.model_dump()) for pair in case.pairs),
                tuple(tuple(map(Point.of, criteria)) for criteria in case.sets),
            )
            for case in self.cases
        )
        return TrialContent(cases, self.trials, self.no_rubric)

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each case in the order of the frame, by its key."""
        return {case.key: place for place, case in enumerate(self.cases)}


def trial_config(values: Mapping[str, Any], *, may_call: bool = True) -> TrialConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list: no request will be sent.
    """
    return checked_config(TrialConfig, dict(values), may_call=may_call)
