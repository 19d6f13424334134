"""Validated settings of a run that splits criteria: the only reader of `SplittingRun.config`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import Field, model_validator

from consilium.core.limits import MAX_KEY_LENGTH
from scoring.generation.config import PricedConfig
from scoring.judges.config import StrictConfig, checked_config
from validation.coverage.config import Criteria, SetConfig
from validation.coverage.content import Point, Points


class CaseConfig(StrictConfig):
    """A case with its criteria in the set, in their order."""

    model_config = {**StrictConfig.model_config, "str_strip_whitespace": False}

    key: str = Field(min_length=1, max_length=MAX_KEY_LENGTH)
    criteria: Criteria = Field(min_length=1)


class SplittingConfig(PricedConfig):
    """An endpoint, how the model decodes, and the criteria of a set."""

    temperature: float | None = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    max_tokens: int = Field(default=8192, ge=1, le=131_072)
    gold: SetConfig
    cases: list[CaseConfig] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> SplittingConfig:
        if len({case.key for case in self.cases}) != len(self.cases):
            raise ValueError("a case is there twice")
        return self

    @cached_property
    def criteria(self) -> dict[str, Points]:
        """The criteria of each case, by its key."""
        return {case.key: tuple(map(Point.of, case.criteria)) for case in self.cases}


def splitting_config(values: Mapping[str, Any], *, may_call: bool = True) -> SplittingConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list: no request will be sent.
    """
    return checked_config(SplittingConfig, dict(values), may_call=may_call)
