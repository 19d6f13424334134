"""Levels of a scale as pages show them, in the reader's language."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import get_language

from rubrics.acuity.scales import Scale


@dataclass(frozen=True, slots=True)
class ShownLevel:
    """A level; ``place`` is 0 for the least urgent, and ``letter`` A."""

    place: int
    letter: str
    value: str
    label: str
    definition: str


def shown_levels(scale: Scale) -> list[ShownLevel]:
    """The levels of a scale, the least urgent first."""
    chinese = (get_language() or "").startswith("zh")
    return [
        ShownLevel(
            place,
            letter,
            level.value,
            level.label_zh if chinese else level.label_en,
            level.definition_zh if chinese else level.definition_en,
        )
        for place, (letter, level) in enumerate(zip(scale.letters, scale.levels, strict=True))
    ]


def shown_mapping(scale: Scale, low: int | None, high: int | None) -> str:
    """One level as ``C · Urgent care``, two as ``B | C``; empty where there is none."""
    if low is None or high is None:
        return ""
    levels = shown_levels(scale)
    if low == high:
        return f"{levels[low].letter} · {levels[low].label}"
    return f"{levels[low].letter} | {levels[high].letter}"
