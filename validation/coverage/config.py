"""Validated settings of a run of coverage: the only reader of `CoverageRun.config`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any

from django.utils.translation import gettext as _
from pydantic import Field, model_validator

from consilium.core.limits import (
    MAX_AXIS_LENGTH,
    MAX_CRITERION_LENGTH,
    MAX_KEY_LENGTH,
    MAX_RECIPE_NAME_LENGTH,
    MAX_RUBRIC_SET_NAME_LENGTH,
    MAX_TAG_LENGTH,
)
from scoring.generation.config import PricedConfig
from scoring.judges.config import StrictConfig, checked_config
from scoring.models import EndpointKind, PipelineRun
from validation.coverage.content import CaseContent, CoverageContent, Point

MAX_SETS = 20
MAX_POINTS = 500  # of a case, in the gold set or in another
SHARE = 0.2  # of the answers that are full or none which physicians decide on as well

Text = Annotated[str, Field(min_length=1, max_length=MAX_CRITERION_LENGTH)]
Weight = Annotated[int, Field(ge=-10, le=10)]
Criterion = tuple[Text, Weight, Annotated[str, Field(max_length=MAX_AXIS_LENGTH)]]
Criteria = Annotated[list[Criterion], Field(max_length=MAX_POINTS)]


class KeptAsItIs(StrictConfig):
    """Texts of criteria keep the blanks at their ends."""

    model_config = {**StrictConfig.model_config, "str_strip_whitespace": False}


class SplitConfig(KeptAsItIs):
    """What a split set says of itself: the set that it comes from, and its numbers; ``unsplit`` and ``corrected`` are
    cases.
    """

    source: str = Field(min_length=1, max_length=MAX_RUBRIC_SET_NAME_LENGTH)
    model: str = Field(max_length=200)
    by_rules: bool
    criteria: int = Field(ge=1)
    points: int = Field(ge=1)
    cases: int = Field(ge=1)
    unsplit: int = Field(ge=0)
    corrected: int = Field(ge=0)


class DraftedConfig(KeptAsItIs):
    """What a drafted set says of itself: recipe and models of the run that drafted its criteria."""

    recipe: str = Field(max_length=MAX_RECIPE_NAME_LENGTH)
    version: int = Field(ge=0)
    models: list[Annotated[str, Field(max_length=200)]] = Field(default_factory=list)
    by_rules: bool


class SetConfig(KeptAsItIs):
    """A set by its name, its id here, and the digest of its content.

    ``split`` where its criteria were split, ``drafted`` where a run drafted them.
    """

    name: str = Field(min_length=1, max_length=MAX_RUBRIC_SET_NAME_LENGTH)
    id: str = Field(max_length=16)
    digest: str = Field(max_length=64)
    split: SplitConfig | None = None
    drafted: DraftedConfig | None = None

    @property
    def is_by_rules(self) -> bool:
        """Whether rules, and no language model, split or drafted its criteria."""
        return any(origin is not None and origin.by_rules for origin in (self.split, self.drafted))


def endpoint_kind_of(run: PipelineRun, sets: Iterable[SetConfig]) -> EndpointKind:
    """*rules* where rules answered in a run, or wrote criteria of one of its sets: figures rest on both."""
    by_rules = any(own.is_by_rules for own in sets)
    return EndpointKind.RULES if by_rules else EndpointKind(run.endpoint_kind)


class CaseConfig(KeptAsItIs):
    """A case with its tags when the run began, its gold points, and its criteria in each measured set.

    ``criteria``: the criterion that each gold point is of, by number, where the gold set is split; else empty.
    """

    key: str = Field(min_length=1, max_length=MAX_KEY_LENGTH)
    tags: list[Annotated[str, Field(max_length=MAX_TAG_LENGTH)]] = Field(default_factory=list)
    gold: Criteria = Field(min_length=1)
    criteria: list[Annotated[int, Field(ge=1)]] = Field(default_factory=list, max_length=MAX_POINTS)
    sets: list[Criteria] = Field(min_length=1, max_length=MAX_SETS)


class CoverageConfig(PricedConfig):
    """An endpoint, how the model decodes, and all texts that it is asked about."""

    temperature: float | None = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    max_tokens: int = Field(default=1024, ge=1, le=131_072)
    gold: SetConfig
    sets: list[SetConfig] = Field(min_length=1, max_length=MAX_SETS)
    cases: list[CaseConfig] = Field(min_length=1)
    # Which share of the answers that are full or none physicians decide on, and the seed of the draw.
    share: float = Field(default=SHARE, ge=0, le=1, allow_inf_nan=False)
    draw_seed: int = Field(default=0, ge=0, lt=2**31)

    @model_validator(mode="after")
    def _whole(self) -> CoverageConfig:
        if any(len(case.sets) != len(self.sets) for case in self.cases):
            raise ValueError("a case does not have the criteria of every set")
        if any(len(case.criteria) not in (0, len(case.gold)) for case in self.cases):
            raise ValueError("a gold point has no criterion, or one too many")
        if len({case.key for case in self.cases}) != len(self.cases):
            raise ValueError("a case is there twice")
        if len({own.name for own in self.sets}) != len(self.sets):
            raise ValueError(_("Choose each set only once."))
        return self

    @property
    def every_set(self) -> tuple[SetConfig, ...]:
        """The gold set and the measured ones."""
        return (self.gold, *self.sets)

    @cached_property
    def content(self) -> CoverageContent:
        """The texts."""
        return CoverageContent(
            tuple(
                CaseContent(
                    case.key,
                    tuple(map(Point.of, case.gold)),
                    tuple(tuple(map(Point.of, criteria)) for criteria in case.sets),
                    tuple(case.criteria),
                )
                for case in self.cases
            )
        )

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each case in the order of the frame, by its key."""
        return {case.key: place for place, case in enumerate(self.cases)}


def coverage_config(values: Mapping[str, Any], *, may_call: bool = True) -> CoverageConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list: no request will be sent.
    """
    return checked_config(CoverageConfig, dict(values), may_call=may_call)
