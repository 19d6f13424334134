"""Which label schemes fit the labels of a file: those with a rule for each of them. Pure.

A scheme is suggested, never taken silently: labels from 1 to 5 fit a portal's messages and an emergency department
alike, and only a person knows which they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rubrics.acuity.schemes import How, Scheme

MAX_LABELS = 1000  # that are tried


@dataclass(frozen=True, slots=True)
class Fit:
    """How many of a file's labels a scheme has no rule for, and how many it leads to no level."""

    scale: str
    scheme: str
    without_rule: int
    without_level: int


def fits(labels: Collection[str], schemes: Iterable[Scheme]) -> list[Fit]:
    """A row for each scheme, the best first: with rules for most labels, then with levels for most of them.

    Schemes that fit alike stay in the order given.
    """
    tried = list(labels)[:MAX_LABELS]
    rows = []
    for scheme in schemes:
        mapped = [scheme.mapped(label) for label in tried]
        without_rule = sum(own is None for own in mapped)
        without_level = sum(own is not None and own.how in (How.PANEL, How.EXCLUDE) for own in mapped)
        rows.append(Fit(scheme.scale.name, scheme.name, without_rule, without_level))
    return sorted(rows, key=lambda row: (row.without_rule, row.without_level))
