"""Labels and order of attribute values of an item analysis, with their units.

Tables and addresses keep the plain values (``response_length:1000-1999``), which programs read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement.reports.tables import Row
from rubrics.models import Difficulty
from rubrics.slice_words import VALUES

LENGTHS = ("criterion_length", "response_length")
# Attributes whose values have an order of their own; values of others are ordered by how often the raters differ.
_ORDERS: dict[str, tuple[str, ...]] = {
    "difficulty": tuple(Difficulty.values),
    "points": ("negative", "positive"),
}
_RANGE = re.compile(r"(\d+)-(\d+)")


def value_label(attribute: str, value: str) -> str:
    """A value with its unit: ``1000-1999`` of a length as 1,000–1,999 characters."""
    ends = _RANGE.fullmatch(value) if attribute in LENGTHS else None
    if ends:
        low, high = (int(end) for end in ends.groups())
        if low == high:
            return ngettext("%(n)s character", "%(n)s characters", low) % {"n": f"{low:,}"}
        return _("%(low)s–%(high)s characters") % {"low": f"{low:,}", "high": f"{high:,}"}
    points = {"positive": _("positive points"), "negative": _("negative points")}
    labels = points if attribute == "points" else VALUES.get(attribute, {})
    return str(labels.get(value, value))


def in_order(attribute: str, rows: Iterable[Row]) -> list[Row]:
    """The rows of an attribute's values: in the order of the values where they have one, else by falling rate."""
    if attribute in LENGTHS:
        return sorted(rows, key=lambda row: int(row["value"].partition("-")[0]))
    if attribute in _ORDERS:
        order = _ORDERS[attribute]
        return sorted(rows, key=lambda row: order.index(row["value"]) if row["value"] in order else len(order))
    return sorted(rows, key=lambda row: -(row["rate"] or 0))
