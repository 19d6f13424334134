"""Checks the points and the axis of each criterion of a file; on request, mends what cannot be used, and says how."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from consilium.core.limits import MAX_AXIS_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.cases import MAX_POINTS
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import kind
from rubrics.tables.columns import CellError, Formula, plain_number, refusal_of
from validation.models import RubricSetMend
from validation.sets.content import Mend, SetCriterion, axis_named

How = RubricSetMend.How
MAX_SHOWN = 200
_DECIMAL = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a criterion stands: the line, its number within its case, and what precedes a field in faults."""

    line: int
    number: int
    prefix: str = ""


def shown(value: Any) -> str:
    """A value of a file in a few characters that can be stored."""
    if isinstance(value, Formula):
        return "="
    if isinstance(value, CellError):
        return value.code
    text = str(value) if isinstance(value, str | Decimal) else json.dumps(value, ensure_ascii=False)
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "?")
    return clean if len(clean) <= MAX_SHOWN else f"{clean[: MAX_SHOWN - 1]}…"


def number_in(text: str) -> Decimal | None:
    """The number that a text is, also with a unit and another sign for minus; None if it is none."""
    plain = plain_number(text)
    return Decimal(plain) if _DECIMAL.fullmatch(plain) else None


class Mender:
    """Makes criteria of what a file has. What cannot be used is a fault; with ``mend`` it is changed and noted.

    Points: a text that is a number is read, a fraction rounded (a half away from zero), a number beyond ±10 clamped.
    Without a number other than 0, the criterion is left out. An axis that the benchmark does not have is respelled
    if only its spelling differs, else left empty. ``mends`` has every change in the order of the file.
    """

    def __init__(self, faults: Faults, axes: Collection[str], *, mend: bool) -> None:
        self.faults = faults
        self.axes = axes
        self.mend = mend
        self.mends: list[Mend] = []
        self._by_spelling = {_spelling(axis): axis for axis in sorted(axes, reverse=True)}

    def criterion(self, place: Place, text: str, points: Any, axes: list[Any]) -> SetCriterion | None:
        """A criterion; None if it has a fault or was left out. ``axes`` are the values that name its axis."""
        before = self.faults.total
        number = self._points(place, text, points)
        axis = self._axis(place, text, axes) if number is not None or not self.mend else ""
        return SetCriterion(text, number, axis) if number is not None and self.faults.total == before else None

    def _note(self, place: Place, text: str, field: str, how: str, before: Any, after: Any = "") -> None:
        name = f"{place.prefix}{field}"[:MAX_SHOWN]
        self.mends.append(Mend(place.line, place.number, name, how, shown(before), shown(after), shown(text)))

    def _points(self, place: Place, text: str, value: Any) -> int | None:
        number, problem = _number(value)
        if problem is None:
            return int(number or 0)
        if not self.mend:
            self.faults.add(place.line, f"{place.prefix}points", problem)
            return None
        is_text = isinstance(value, str)
        if is_text:
            number = number_in(value)
        rounded = None if number is None else int(number.to_integral_value(ROUND_HALF_UP))
        if not rounded:
            self._note(place, text, "points", How.DROPPED, value)
            return None
        points = max(-MAX_POINTS, min(MAX_POINTS, rounded))
        if is_text:
            self._note(place, text, "points", How.READ, value, str(number))
        if rounded != number:
            self._note(place, text, "points", How.ROUNDED, value, rounded)
        if points != rounded:
            self._note(place, text, "points", How.CLAMPED, value, points)
        return points

    def _axis(self, place: Place, text: str, values: list[Any]) -> str:
        named = list(dict.fromkeys(axis_named(value) if isinstance(value, str) else shown(value) for value in values))
        named = [name for name in named if name]
        axis = named[0] if named else ""
        if all(isinstance(value, str) for value in values) and len(named) < 2 and (not axis or axis in self.axes):
            return axis
        if not self.mend:
            message = (
                Phrase("The criterion names more than one axis.")
                if len(named) > 1
                else Phrase(
                    "“%(value)s” is not one of: %(names)s.", value=axis[:40], names=", ".join(sorted(self.axes))
                )
            )
            self.faults.add(place.line, f"{place.prefix}axis", message)
            return ""
        known = {self._by_spelling.get(_spelling(name), "") for name in named}
        respelled = known.pop() if len(known) == 1 else ""
        how = How.AXIS_RESPELLED if respelled else How.AXIS_EMPTIED
        self._note(place, text, "axis", how, "; ".join(named), respelled)
        return respelled


def _number(value: Any) -> tuple[Decimal | None, Phrase | str | None]:
    """Points as a number, and what keeps them from being used as they are."""
    if refusal := refusal_of(value):
        return None, refusal
    if value is None:
        return None, Phrase("This field is missing.")
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None, Phrase("This must be a whole number, not %(kind)s.", kind=kind(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None, Phrase("%(text)s is not a number in JSON.", text=str(value))
    number = Decimal(str(value))
    if number != number.to_integral_value():
        return number, Phrase("%(value)s is not a whole number.", value=str(value)[:24])
    if number == 0:
        return number, Phrase("A criterion must add or deduct at least one point.")
    if abs(number) > MAX_POINTS:
        limits = {"low": -MAX_POINTS, "high": MAX_POINTS}
        return number, Phrase("%(value)s is not between %(low)s and %(high)s.", value=str(value)[:24], **limits)
    return number, None


def _spelling(axis: str) -> str:
    """An axis without regard to case, width, blanks and hyphens."""
    return re.sub(r"[\s_-]+", "_", unicodedata.normalize("NFKC", axis).casefold())[:MAX_AXIS_LENGTH]
