"""Validated settings of runs that classify: the only reader of `ClassificationRun.config`."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from pydantic import Field, field_validator, model_validator

from consilium.core.limits import MAX_SCALE_NAME_LENGTH
from consilium.llm.acuity import Ask, LevelOption
from rubrics.acuity.scales import MAX_LEVELS, MIN_LEVELS, Scale
from scoring.generation.config import PricedConfig
from scoring.judges.config import StrictConfig, checked_config


class LevelConfig(StrictConfig):
    """A level as it is asked about."""

    letter: str = Field(min_length=1, max_length=1)
    value: str = Field(min_length=1, max_length=MAX_SCALE_NAME_LENGTH)
    label: str = Field(max_length=1000)
    definition: str = Field(default="", max_length=1000)


class ClassificationConfig(PricedConfig):
    """An endpoint, how the model decodes, and how it is asked for a level."""

    scale: str = Field(default="", max_length=MAX_SCALE_NAME_LENGTH + 10)  # with its version
    levels: list[LevelConfig] = Field(default_factory=list, max_length=MAX_LEVELS)  # the least urgent first
    ask: Ask = "letter"
    # Whether the model is also asked how sure it is, from 0 to 100.
    confidence: bool = False
    # Whether log probabilities are asked for; only one letter has them at one place.
    logprobs: bool = False
    # The seed of the coin for the order of the options.
    order_seed: int = Field(default=0, ge=0, lt=2**31)
    temperature: float | None = Field(default=1.0, ge=0, le=2, allow_inf_nan=False)
    max_tokens: int = Field(default=1024, ge=1, le=131_072)

    @field_validator("levels")
    @classmethod
    def _enough_levels(cls, value: list[LevelConfig]) -> list[LevelConfig]:
        if value and len(value) < MIN_LEVELS:
            raise ValueError(_("A scale needs at least two levels."))
        return value

    @model_validator(mode="after")
    def _one_letter(self) -> ClassificationConfig:
        if self.logprobs and self.ask != "letter":
            raise ValueError("logprobs")
        return self

    @property
    def options(self) -> list[LevelOption]:
        """The levels as the prompt lists them."""
        return [LevelOption(level.letter, level.value, level.label, level.definition) for level in self.levels]


def levels_of(scale: Scale) -> list[dict[str, str]]:
    """The levels of a scale as the settings of a run keep them."""
    return [
        {"letter": letter, "value": level.value, "label": level.label_en, "definition": level.definition_en}
        for letter, level in zip(scale.letters, scale.levels, strict=True)
    ]


def classification_config(values: dict[str, Any], *, may_call: bool = True) -> ClassificationConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list: no request will be sent.
    """
    return checked_config(ClassificationConfig, values, may_call=may_call)
