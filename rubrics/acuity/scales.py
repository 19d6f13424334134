"""Scales of acuity: levels in order, the least urgent first. Pure: what the database stores is made from these.

A level says when a person should be seen and what means that takes, judged on the case as described and on nothing
else. Levels exclude each other and leave no gap. Their order is their place in the scale, never their name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from string import ascii_uppercase

from consilium.core.phrases import Phrase

MIN_LEVELS, MAX_LEVELS = 2, 6

# What says that there is no level.
RESERVED = {"refused", "no-level", "several", "invalid", "cannot-tell", "na", "nan"}

_BETWEEN_WORDS = re.compile(r"[\s_-]+")


def folded(text: str) -> str:
    """A name for comparing: NFC, without blanks around it, in one case."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def folded_value(text: str) -> str:
    """A level's name for comparing: ``SELF_CARE`` and ``Self-care`` are ``self-care``."""
    return _BETWEEN_WORDS.sub("-", folded(text))


@dataclass(frozen=True)
class Level:
    """A level of a scale; ``value`` names it in files."""

    value: str
    label_en: str
    label_zh: str
    definition_en: str
    definition_zh: str


@dataclass(frozen=True)
class Scale:
    """2 to 6 levels, the least urgent first; ValueError on another number, and on names that are not their own."""

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        if not MIN_LEVELS <= len(self.levels) <= MAX_LEVELS:
            raise ValueError(Phrase("A scale has %(low)s to %(high)s levels.", low=MIN_LEVELS, high=MAX_LEVELS))
        names = [{folded_value(level.value), folded_value(level.label_en)} for level in self.levels]
        if len(set().union(*names)) != sum(map(len, names)):
            raise ValueError(Phrase("Two levels of a scale have the same name."))
        for name in set().union(*names):
            if not name or "|" in name or name in RESERVED:
                raise ValueError(Phrase("“%(name)s” cannot name a level.", name=name))

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(level.value for level in self.levels)

    @property
    def letters(self) -> str:
        """A letter for each level, A for the least urgent."""
        return ascii_uppercase[: len(self.levels)]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {folded_value(level.value): place for place, level in enumerate(self.levels)}

    @cached_property
    def _labels(self) -> Mapping[str, int]:
        return {folded_value(level.label_en): place for place, level in enumerate(self.levels)}

    def place(self, text: str) -> int | None:
        """The place of the level of that value or English label, 0 for the least urgent; None for any other text."""
        name = folded_value(text)
        return self._places.get(name, self._labels.get(name))

    def named(self, low: int, high: int) -> str:
        """A level, or two adjacent ones joined by ``|``, as files name them."""
        return self.values[low] if low == high else f"{self.values[low]}|{self.values[high]}"


SELF_CARE = Level(
    "self-care",
    "Self-care",
    "自我护理",
    "Can be looked after at home as things stand. Being seen is advised only if something named changes.",
    "目前可在家中自行处理。仅当出现指明的变化时才建议就医。",
)
PRIMARY_CARE = Level(
    "primary-care",
    "Primary care",
    "普通门诊",
    "Should be seen at an ordinary appointment within days to weeks. Waiting for it loses nothing.",
    "应在数日至数周内经普通预约就诊。等待不会造成损失。",
)
URGENT_CARE = Level(
    "urgent-care",
    "Urgent care",
    "尽快就诊",
    "Should be seen within 24 to 48 hours, outside an emergency department; what can be done there suffices.",
    "应在 24 至 48 小时内就诊，不必去急诊科；那里能做的处理已足够。",
)
EMERGENCY = Level(
    "emergency",
    "Emergency",
    "急诊",
    "Needs what only an emergency department or ambulance has, now.",
    "现在就需要只有急诊科或救护车才具备的条件。",
)
NON_EMERGENCY = Level(
    "non-emergency",
    "Non-emergency",
    "非急诊就医",
    "Should be seen by a professional, though not in an emergency department.",
    "应由专业人员诊治，但不必去急诊科。",
)

FOUR = Scale("four", (SELF_CARE, PRIMARY_CARE, URGENT_CARE, EMERGENCY))
THREE = Scale("three", (SELF_CARE, NON_EMERGENCY, EMERGENCY))
FIVE = Scale(
    "five",
    tuple(
        Level(f"{number}", f"{number}, {english}", f"{number}，{chinese}", definition, definition_zh)
        for number, english, chinese, definition, definition_zh in (
            (5, "non-urgent", "非紧急", "Can wait without any risk; needs no resource of the department.",
             "可以等待而无风险；不需要急诊科的资源。"),
            (4, "less urgent", "次紧急", "Can wait for hours; one resource is expected to suffice.",
             "可等待数小时；预计一项资源即足够。"),
            (3, "urgent", "紧急", "Stable, but needs several resources; to be seen within about an hour.",
             "病情稳定，但需要多项资源；约一小时内应诊治。"),
            (2, "emergent", "危急", "At high risk if it waits; to be seen within minutes.",
             "等待则风险很高；应在数分钟内诊治。"),
            (1, "immediate", "立即", "A life-saving measure is needed at once.",
             "需要立即采取挽救生命的措施。"),
        )
    ),
)  # fmt: skip
STARTERS = {scale.name: scale for scale in (THREE, FOUR, FIVE)}
