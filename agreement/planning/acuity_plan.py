"""The plan of a study of acuity as a file, ``acuity_plan.json``: what will be measured, at which price, by which rule.

`docs/formats.md` describes it. Names of levels may be written as ``SELF_CARE`` or ``self-care``. Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from agreement.acuity.measures import KEYS
from agreement.acuity.parameters import MAX_GAMMA, MAX_RATIO
from annotation.acuity.panel import AmbiguousBy
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_JUDGE_NAME_LENGTH, MAX_SCALE_NAME_LENGTH
from consilium.core.strict_json import read_json
from rubrics.acuity.scales import MAX_LEVELS, MIN_LEVELS
from rubrics.parsing.acuity_files import FORMATS

FILE = "acuity_plan.json"
MAX_BYTES = 100_000


class WrongPlan(DomainError):
    """The file is no plan; the message names each field that is wrong."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Penalties(_Part):
    """A reading d levels too low costs r · d^gamma, one o levels too high o^gamma."""

    r: float = Field(gt=0, le=MAX_RATIO, allow_inf_nan=False)
    gamma: float = Field(default=1.0, ge=0, le=MAX_GAMMA, allow_inf_nan=False)


class Ambiguity(_Part):
    """When a case is ambiguous."""

    rule: Literal["dispersion", "entropy", "majority", "flag"]
    threshold: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _within(self) -> Ambiguity:
        if self.threshold > AmbiguousBy(self.rule).most:
            raise ValueError(_("The threshold must be at most %(most)g.") % {"most": AmbiguousBy(self.rule).most})
        return self


class PlanDocument(_Part):
    """A plan. ``levels`` are in the order that ``order`` names; ``judge`` is empty where no judge reads responses."""

    levels: list[str] = Field(min_length=MIN_LEVELS, max_length=MAX_LEVELS)
    order: Literal["lowest-first", "highest-first"] = "lowest-first"
    formats: list[Literal["qa", "chat"]] = Field(min_length=1, max_length=len(FORMATS))
    measures: list[str] = Field(min_length=1)
    penalties: Penalties
    ambiguous: Ambiguity
    judge: str = Field(default="", max_length=MAX_JUDGE_NAME_LENGTH)

    @field_validator("levels")
    @classmethod
    def _names(cls, values: list[str]) -> list[str]:
        named = [level_value(value) for value in values]
        if any(not name or len(name) > MAX_SCALE_NAME_LENGTH for name in named) or len({*named}) < len(named):
            raise ValueError(_("Each level must have a different name."))
        return named

    @field_validator("formats")
    @classmethod
    def _each_once(cls, values: list[str]) -> list[str]:
        return [format_ for format_ in FORMATS if format_ in values]

    @field_validator("measures")
    @classmethod
    def _known(cls, values: list[str]) -> list[str]:
        unknown = sorted({*values} - {*KEYS})
        if unknown:
            given = {"unknown": ", ".join(unknown)[:200], "names": ", ".join(KEYS)}
            raise ValueError(_("There is no measure %(unknown)s. Available: %(names)s.") % given)
        return list(dict.fromkeys(values))

    @property
    def ascending(self) -> tuple[str, ...]:
        """The levels, the least urgent first."""
        return tuple(self.levels if self.order == "lowest-first" else reversed(self.levels))


def level_value(name: str) -> str:
    """The value of a level by its name in a plan."""
    return "-".join(name.strip().lower().replace("_", " ").split())


def read_plan(content: bytes | str) -> PlanDocument:
    """The plan of a file; `WrongPlan` names each field that is wrong."""
    if len(content) > MAX_BYTES:
        raise WrongPlan(_("The file is too large to be a plan."))
    try:
        value = read_json(content)
    except (ValueError, RecursionError) as error:
        raise WrongPlan(_("This is not JSON: %(why)s") % {"why": str(error)[:200]}) from None
    return plan_of(value)


def plan_of(value: Any) -> PlanDocument:
    """The plan of a value of JSON; `WrongPlan` names each field that is wrong."""
    try:
        return PlanDocument.model_validate(value)
    except ValidationError as error:
        raise WrongPlan("; ".join(_faults(error))) from None


def _faults(error: ValidationError) -> Sequence[str]:
    faults = []
    for fault in error.errors(include_url=False, include_input=False)[:20]:
        place = ".".join(map(str, fault["loc"])) or FILE
        faults.append(f"{place}: {str(fault['msg']).removeprefix('Value error, ')}")
    return faults


def content_of(plan: PlanDocument) -> dict[str, Any]:
    """The plan as it is stored and exported."""
    return plan.model_dump(mode="json")


def plan_digest(content: dict[str, Any]) -> str:
    """SHA-256 of the plan."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
