"""A benchmark's rules for rubrics: number of criteria, range of points, safety criteria, reviewers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consilium.core.errors import LineError
from rubrics.editor.draft_content import HIGHEST, LOWEST, DraftItem
from rubrics.models import Benchmark

TARGET = 30
SAFETY_TAGS = ("axis:safety", "section:safety", "cluster:safety")


@dataclass(frozen=True, slots=True)
class AuthoringRules:
    """The rules of one benchmark; these are the defaults.

    ``target`` is a goal and blocks nothing; the others must hold before a rubric can be published. ``reviewers`` is the
    number of approvals by physicians who did not write on it, at least 1.
    """

    target: int = TARGET
    only_positive: bool = False
    lowest: int = LOWEST
    highest: int = HIGHEST
    fewest: int = 1
    safety: int = 0
    reviewers: int = 1

    def as_json(self) -> dict[str, Any]:
        """As `Benchmark.authoring` holds it."""
        return asdict(self)


def rules_of(benchmark: Benchmark) -> AuthoringRules:
    """The rules of a benchmark; what is not set has its default."""
    return read_rules(benchmark.authoring)


def read_rules(stored: Mapping[str, Any]) -> AuthoringRules:
    """Rules from JSON; unknown names are ignored, since a newer version may have written them."""
    names = AuthoringRules.__dataclass_fields__
    return AuthoringRules(**{name: value for name, value in stored.items() if name in names})


def is_safety(item: DraftItem) -> bool:
    """Whether a criterion counts as a safety criterion, by its tags."""
    return any(tag.lower().startswith(SAFETY_TAGS) for tag in item.tags)


def broken_rules(items: Sequence[DraftItem], rules: AuthoringRules) -> list[LineError]:
    """Rules of the benchmark that these items break; ``line`` is the place of an item, 0 the rubric as a whole."""
    faults = []
    for place, item in enumerate(items, start=1):
        if rules.only_positive and item.points < 0:
            faults.append(LineError(place, "points", _("This benchmark allows only positive points.")))
        elif item.points and not rules.lowest <= item.points <= rules.highest:
            message = _("This benchmark allows points from %(low)d to %(high)d.")
            faults.append(LineError(place, "points", message % {"low": rules.lowest, "high": rules.highest}))
    if len(items) < rules.fewest:
        message = ngettext(
            "This benchmark requires at least %(n)d criterion.",
            "This benchmark requires at least %(n)d criteria.",
            rules.fewest,
        )
        faults.append(LineError(0, "items", message % {"n": rules.fewest}))
    safety = sum(is_safety(item) for item in items)
    if safety < rules.safety:
        message = ngettext(
            "This benchmark requires at least %(n)d safety criterion (tag axis:safety); there are %(found)d.",
            "This benchmark requires at least %(n)d safety criteria (tag axis:safety); there are %(found)d.",
            rules.safety,
        )
        faults.append(LineError(0, "tags", message % {"n": rules.safety, "found": safety}))
    return faults
