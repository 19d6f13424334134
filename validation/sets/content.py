"""The content of a rubric set: its criteria by case, and their digest. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

AXIS_PREFIX = "axis:"


@dataclass(frozen=True, slots=True)
class SetCriterion:
    """A criterion of a set.

    ``criterion`` is the row of the rubric that it was copied from, where there is one; ``source_item`` the row of the
    set whose criterion it is a point of.
    """

    text: str
    points: int
    axis: str = ""
    criterion: int | None = None
    source_item: int | None = None


@dataclass(frozen=True, slots=True)
class Mend:
    """A change to a criterion of a file, as `validation.models.RubricSetMend` keeps it."""

    line: int
    number: int
    field: str
    how: str
    before: str
    after: str = ""
    text: str = ""


def axis_of(tags: Iterable[str]) -> str:
    """The axis that tags name, the first if they name several; empty without one."""
    axes = (axis_named(tag) for tag in tags if tag.startswith(AXIS_PREFIX))
    return next((axis for axis in axes if axis), "")


def axis_named(text: str) -> str:
    """The axis itself, without the prefix and without blanks around it: as a set keeps it, and reads it back."""
    axis = text.strip()
    while axis.startswith(AXIS_PREFIX):
        axis = axis.removeprefix(AXIS_PREFIX).strip()
    return axis


def digest_of(criteria_by_key: Mapping[str, Sequence[SetCriterion]]) -> str:
    """SHA-256 of the criteria of a set: keys of cases in the order of their code points, then text, points and axis.

    It depends on no id and no order of import, so that the same set has the same digest on every instance.
    """
    digest = hashlib.sha256()
    for key in sorted(criteria_by_key):
        rows = [[each.text, each.points, each.axis] for each in criteria_by_key[key]]
        digest.update(json.dumps([key, rows], ensure_ascii=False, separators=(",", ":")).encode())
        digest.update(b"\n")
    return digest.hexdigest()
