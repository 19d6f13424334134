"""Validated settings of runs that code: the only reader of `CodingRun.config`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from consilium.core.limits import MAX_JUDGE_NAME_LENGTH
from consilium.llm.coding import CodeOption
from rubrics.codes.code import (
    MAX_CODE_KEY_LENGTH,
    MAX_CODE_TEXT_LENGTH,
    MAX_CODE_TITLE_LENGTH,
    MAX_CODES,
    MAX_EXAMPLES,
)
from rubrics.codes.selectors import lines_of
from rubrics.models import CodeBook
from scoring.generation.config import PricedConfig
from scoring.judges.config import StrictConfig, checked_config

MAX_RESPONSES_PER_CASE = 1_000


class CodeConfig(StrictConfig):
    """A code as the judge is told of it."""

    key: str = Field(min_length=1, max_length=MAX_CODE_KEY_LENGTH)
    title: str = Field(min_length=1, max_length=MAX_CODE_TITLE_LENGTH)
    definition: str = Field(min_length=1, max_length=MAX_CODE_TEXT_LENGTH)
    applies: str = Field(default="", max_length=MAX_CODE_TEXT_LENGTH)
    not_applies: str = Field(default="", max_length=MAX_CODE_TEXT_LENGTH)
    examples: list[str] = Field(default_factory=list, max_length=MAX_EXAMPLES)


class CodingConfig(PricedConfig):
    """A judge's name, its endpoint, how the model decodes, and the codes that it is told of.

    ``per_case``: the most responses that the run has of one case; the keys of its steps are the numbers below that.
    """

    judge: str = Field(min_length=1, max_length=MAX_JUDGE_NAME_LENGTH)
    language: Literal["en", "zh"] = "en"  # of the texts of the codes
    criteria: bool = False  # whether the criteria of the rubric are listed, so that a code may be tied to one
    temperature: float | None = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    max_tokens: int = Field(default=2048, ge=1, le=131_072)
    codes: list[CodeConfig] = Field(default_factory=list, max_length=MAX_CODES)
    per_case: int = Field(default=0, ge=0, le=MAX_RESPONSES_PER_CASE)

    @field_validator("judge")
    @classmethod
    def _one_line(cls, value: str) -> str:
        return " ".join(value.split())

    @property
    def options(self) -> list[CodeOption]:
        """The codes as the prompt lists them."""
        return [
            CodeOption(code.key, code.title, code.definition, code.applies, code.not_applies, tuple(code.examples))
            for code in self.codes
        ]

    @property
    def keys(self) -> list[str]:
        """The keys of the codes, in the order of the book."""
        return [code.key for code in self.codes]


def codes_in(book: CodeBook, language: str) -> list[dict[str, Any]]:
    """The codes of a book as the settings of a run keep them."""
    return [
        {
            "key": line.key,
            "title": line.title,
            "definition": line.definition,
            "applies": line.applies,
            "not_applies": line.not_applies,
            "examples": list(line.examples),
        }
        for line in lines_of(book, language)
    ]


def coding_config(values: Mapping[str, Any], *, may_call: bool = True) -> CodingConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list: no request will be sent.
    """
    return checked_config(CodingConfig, dict(values), may_call=may_call)
