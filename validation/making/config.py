"""Validated settings of a run that makes pairs: the only reader of `MakingRun.config`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from consilium.core.limits import MAX_KEY_LENGTH
from scoring.generation.config import PricedConfig
from scoring.judges.config import StrictConfig, checked_config
from validation.pairs.reading import MAX_TEXT_LENGTH

MAX_EACH = 12  # pairs of a reference
Kind = Literal[
    "dose",
    "unit",
    "timing",
    "number",
    "drug",
    "contraindication",
    "urgency",
    "red_flag",
    "negation",
    "modality",
    "exception",
    "population",
]


class ReferenceConfig(StrictConfig):
    """The reference of a case, word for word."""

    model_config = {**StrictConfig.model_config, "str_strip_whitespace": False}

    key: str = Field(min_length=1, max_length=MAX_KEY_LENGTH)
    reference: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)]


class MakingConfig(PricedConfig):
    """An endpoint, how the model decodes, which errors it is asked for, and the references."""

    temperature: float | None = Field(default=1.0, ge=0, le=2, allow_inf_nan=False)
    max_tokens: int = Field(default=1024, ge=1, le=131_072)
    kinds: list[Kind] = Field(min_length=1, max_length=12)
    each: int = Field(default=1, ge=1, le=MAX_EACH)  # pairs of a reference
    cases: list[ReferenceConfig] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> MakingConfig:
        if len({case.key for case in self.cases}) != len(self.cases):
            raise ValueError("a case is there twice")
        return self

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each case, by its key."""
        return {case.key: place for place, case in enumerate(self.cases)}

    def kind_for(self, place: int, number: int) -> str:
        """The kind that is asked for first: kinds take turns over pairs and cases, so that all come up."""
        return self.kinds[(place * self.each + number) % len(self.kinds)]


def making_config(values: Mapping[str, Any], *, may_call: bool = True) -> MakingConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list: no request will be sent.
    """
    return checked_config(MakingConfig, dict(values), may_call=may_call)
