"""Validated settings of a run of drafting: the only reader of `DraftingRun.config`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, model_validator

from consilium.core.limits import MAX_AXIS_LENGTH, MAX_KEY_LENGTH, MAX_RECIPE_NAME_LENGTH, MAX_TAG_LENGTH
from drafting.recipes.content import RecipeContent
from scoring.judges.config import StrictConfig, checked_config


class RecipeConfig(StrictConfig):
    """The version of a recipe, with all that it holds."""

    name: str = Field(min_length=1, max_length=MAX_RECIPE_NAME_LENGTH)
    version: int = Field(ge=1)
    sha256: str = Field(max_length=64)
    content: RecipeContent


class CaseConfig(StrictConfig):
    """A case. Its conversation is read when a step begins; nothing else about it goes into a request."""

    key: str = Field(min_length=1, max_length=MAX_KEY_LENGTH)
    language: str = Field(default="", max_length=10)
    # Bank items of the case's category: their texts, so that none is drafted twice.
    bank: list[Annotated[str, Field(max_length=2_000)]] = Field(default_factory=list)


class DraftingConfig(StrictConfig):
    """A recipe, the axes of the benchmark, and the cases."""

    recipe: RecipeConfig
    axes: list[Annotated[str, Field(min_length=1, max_length=MAX_AXIS_LENGTH)]] = Field(min_length=1)
    axis_tag: Annotated[str, Field(max_length=MAX_TAG_LENGTH)] = "axis:"  # what a tag that names an axis begins with
    cases: list[CaseConfig] = Field(min_length=1)
    pauses: int = Field(default=3, ge=0, le=10)

    @model_validator(mode="after")
    def _each_once(self) -> DraftingConfig:
        if len({case.key for case in self.cases}) != len(self.cases):
            raise ValueError("a case is there twice")
        if len(set(self.axes)) != len(self.axes):
            raise ValueError("an axis is there twice")
        return self

    @property
    def content(self) -> RecipeContent:
        """The recipe."""
        return self.recipe.content

    @cached_property
    def case_of(self) -> dict[str, CaseConfig]:
        """Each case by its key."""
        return {case.key: case for case in self.cases}


def drafting_config(values: Mapping[str, Any], *, may_call: bool = True) -> DraftingConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoints need not be on the operator's list: no request will be sent.
    """
    return checked_config(DraftingConfig, dict(values), may_call=may_call)
