"""The frame of a rubric set: which cases it is to hold, and how many of them each condition leaves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consilium.core.errors import DomainError, field_named
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.languages import language_name
from consilium.core.limits import MAX_TAG_LENGTH

MAX_NUMBER = 10_000
MAX_TAGS = 20
_RANGE = re.compile(r"([0-9]{1,5})(?:\s*[-–]\s*([0-9]{1,5}))?")
CONDITIONS = {
    "included": gettext_lazy("Cases not excluded"),
    "track": gettext_lazy("A published rubric on the track"),
    "file": gettext_lazy("In the file"),
    "run": gettext_lazy("Drafted for by the run"),
    "set": gettext_lazy("In the set that was split"),
    "criteria": gettext_lazy("Number of criteria"),
    "axes": gettext_lazy("Number of axes"),
    "language": gettext_lazy("Language"),
    "tag": gettext_lazy("Tag"),
}


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from ``low`` to ``high``."""

    low: int
    high: int

    def __contains__(self, number: int) -> bool:
        return self.low <= number <= self.high

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


def range_of(text: str) -> Range | None:
    """``8-10`` or ``3`` as a range, None for an empty text; `DomainError` for anything else."""
    plain = text.strip()
    if not plain:
        return None
    match = _RANGE.fullmatch(plain)
    if match is None:
        raise DomainError(
            _("“%(text)s” is neither a number such as 3 nor a range such as 8-10.") % {"text": plain[:40]}
        )
    low = int(match[1])
    high = int(match[2] or match[1])
    if not 0 <= low <= high <= MAX_NUMBER:
        message = _("“%(text)s” is not a range from 0 to %(high)d.")
        raise DomainError(message % {"text": plain[:40], "high": MAX_NUMBER})
    return Range(low, high)


@dataclass(frozen=True, slots=True)
class FramedCase:
    """A case that counts, with what a frame asks about it: its gold rubric, and the rubric that is to be copied.

    Without a published gold rubric it has no number of criteria and none of axes.
    """

    pk: int
    key: str
    language: str
    tags: frozenset[str]
    n_criteria: int | None = None
    n_axes: int | None = None
    rubric: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A condition of a frame: how many cases meet it alone, and together with those before it."""

    condition: str
    value: str
    alone: int
    together: int

    @property
    def label(self) -> str:
        """The condition in the reader's language."""
        return str(CONDITIONS.get(self.condition, self.condition))

    @property
    def shown(self) -> str:
        """The value as people read it."""
        return language_name(self.value) if self.condition == "language" else self.value


@dataclass(frozen=True, slots=True)
class Frame:
    """The cases of a set: all conditions hold together, an empty one holds for every case."""

    criteria: Range | None = None  # of the gold rubric
    axes: Range | None = None  # distinct ones among these criteria
    language: str = ""
    tags: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As a set keeps it."""
        return {
            "criteria": str(self.criteria or ""),
            "axes": str(self.axes or ""),
            "language": self.language,
            "tags": list(self.tags),
        }

    def conditions(self) -> list[tuple[str, str, Callable[[FramedCase], bool]]]:
        """Each condition with its value and its test."""
        rows: list[tuple[str, str, Callable[[FramedCase], bool]]] = []
        if (criteria := self.criteria) is not None:
            rows.append(
                ("criteria", str(criteria), lambda case: case.n_criteria is not None and case.n_criteria in criteria)
            )
        if (axes := self.axes) is not None:
            rows.append(("axes", str(axes), lambda case: case.n_axes is not None and case.n_axes in axes))
        if self.language:
            rows.append(("language", self.language, lambda case: case.language == self.language))
        rows += [("tag", tag, _has_tag(tag)) for tag in self.tags]
        return rows


def _has_tag(tag: str) -> Callable[[FramedCase], bool]:
    return lambda case: tag in case.tags


def frame_of(*, criteria: str = "", axes: str = "", language: str = "", tags: Iterable[str] = ()) -> Frame:
    """A frame from what people write; `DomainError` names what cannot be read."""
    names = tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if len(names) > MAX_TAGS or any(len(tag) > MAX_TAG_LENGTH for tag in names):
        message = _("At most %(n)d tags of at most %(length)d characters.")
        raise DomainError(message % {"n": MAX_TAGS, "length": MAX_TAG_LENGTH}, field="tags")
    if len(language.strip()) > MAX_LANGUAGE_LENGTH:
        message = _("A language has a code of at most %(n)d characters, such as en.")
        raise DomainError(message % {"n": MAX_LANGUAGE_LENGTH}, field="language")
    with field_named("criteria"):
        criteria_range = range_of(criteria)
    with field_named("axes"):
        axes_range = range_of(axes)
    return Frame(criteria_range, axes_range, language.strip(), names)


@dataclass(frozen=True, slots=True)
class Funnel:
    """The cases that a frame leaves, in the order of import, and the steps that lead there."""

    cases: list[FramedCase]
    steps: list[Step]


def funnel_of(
    frame: Frame,
    cases: Sequence[FramedCase],
    *,
    source: tuple[str, str, Callable[[FramedCase], bool]] | None = None,
) -> Funnel:
    """Apply the conditions one after the other; ``source`` is that of where the criteria come from, and is first."""
    left = list(cases)
    steps = [Step("included", "", len(left), len(left))]
    for name, value, holds in [*([source] if source else []), *frame.conditions()]:
        left = [case for case in left if holds(case)]
        steps.append(Step(name, value, sum(map(holds, cases)), len(left)))
    return Funnel(left, steps)


def steps_of(stored: Mapping[str, Any]) -> list[Step]:
    """The steps that a set keeps with its frame."""
    return [Step(**step) for step in stored.get("funnel", [])]
