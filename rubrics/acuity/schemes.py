"""What a label from elsewhere becomes on a scale: by a rule for each label, never by a guess. Pure.

A rule sends a source label to one level (*direct*), to two adjacent ones that are both right (*boundary*), to the
physicians (*panel*, where the source is too coarse for the scale), or out of the study (*exclude*). Labels are compared
exactly after NFC, trimming and case folding. A label without a rule is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rubrics.acuity.scales import FIVE, FOUR, THREE, Scale, folded

DIRECT = "direct"
BY_LABELS = "auto"  # instead of a scheme's name: the one that fits the labels of the file


class How(StrEnum):
    """How a source label reaches a scale."""

    DIRECT = "direct"
    BOUNDARY = "boundary"
    PANEL = "panel"
    EXCLUDE = "exclude"


@dataclass(frozen=True)
class Mapped:
    """What a source label becomes: levels from ``low`` to ``high``, both None for panel and exclude."""

    how: How
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Scheme:
    """Rules by folded source label, on a scale."""

    name: str
    scale: Scale
    rules: Mapping[str, Mapped]

    def mapped(self, source_label: str) -> Mapped | None:
        """What the label becomes; None where no rule is for it."""
        known = self.rules.get(folded(source_label))
        return known if known is not None or self.name != DIRECT else self._by_places(source_label)

    def _by_places(self, label: str) -> Mapped | None:
        """A level by its name in any spelling, or two adjacent ones joined by a bar."""
        places = sorted(-1 if place is None else place for place in map(self.scale.place, label.split("|")))
        if places[0] < 0 or len(places) > 2 or places[-1] - places[0] != len(places) - 1:
            return None
        return _between(places[0], places[-1])


class NoScheme(ValueError):
    """There is no such scheme, or none of that name on this scale."""


def scheme_of(name: str, scale: Scale) -> Scheme:
    """A starter scheme on a scale; `NoScheme` where there is none."""
    if name not in _STARTERS:
        raise NoScheme(f"there is no scheme {name!r}: {', '.join(_STARTERS)}")
    rules = _STARTERS[name](scale)
    if rules is None:
        raise NoScheme(f"the scheme {name!r} has no rules for the scale {scale.name!r}")
    return Scheme(name, scale, {folded(label): rule for label, rule in rules})


Rules = Iterable[tuple[str, Mapped]]


def level(place: int) -> Mapped:
    """The rule to one level."""
    return Mapped(How.DIRECT, place, place)


def _between(low: int, high: int) -> Mapped:
    return Mapped(How.DIRECT if low == high else How.BOUNDARY, min(low, high), max(low, high))


def _direct(scale: Scale) -> Rules:
    """Values and English labels of the scale itself, and two adjacent ones joined by ``|``."""
    names = [(own.value, own.label_en) for own in scale.levels]
    for place, own in enumerate(names):
        yield from ((name, level(place)) for name in own)
    for place in range(len(names) - 1):
        for first, second in ((place, place + 1), (place + 1, place)):
            yield f"{names[first][0]}|{names[second][0]}", _between(place, place + 1)


def _three_labels(scale: Scale) -> Rules | None:
    """Emergency, non-emergency, self-care: the middle one is too coarse for four levels."""
    if scale == THREE:
        targets = [level(2), level(1), level(0)]
    elif scale == FOUR:
        targets = [level(3), Mapped(How.PANEL), level(0)]
    else:
        return None
    names = (("em", "Emergency"), ("ne", "Non-Emergency"), ("sc", "Self-care"))
    return [(name, target) for target, own in zip(targets, names, strict=True) for name in own]


def _portal(scale: Scale) -> Rules | None:
    """Messages of a patients' portal, 1 the most urgent of 6; a half between two numbers, as 2.5."""
    if scale != FOUR:
        return None
    places = {1: 3, 2: 2, 3: 2, 4: 1, 5: 0, 6: 0}
    rules = [(str(number), level(place)) for number, place in places.items()]
    halves = [(f"{number}.5", _between(places[number], places[number + 1])) for number in range(1, 6)]
    return [*rules, *halves]


def _letters(scale: Scale) -> Rules:
    """A for the least urgent level; two adjacent letters joined by a slash or a bar are a boundary."""
    for place, letter in enumerate(scale.letters):
        yield letter, level(place)
        if place:
            before = scale.letters[place - 1]
            for joint in "/|":
                yield f"{before}{joint}{letter}", _between(place - 1, place)
                yield f"{letter}{joint}{before}", _between(place - 1, place)


def _emergency_department(scale: Scale) -> Rules:
    """Five levels of an emergency department, which rank patients who have already come: not where they should go."""
    if scale == FIVE:
        return _direct(scale)
    return [(own.value, Mapped(How.PANEL)) for own in FIVE.levels]


def _healthbench_emergencies(scale: Scale) -> Rules | None:
    """HealthBench's categories of emergency cases: of the last two nobody but physicians can say the level."""
    if scale != FOUR:
        return None
    labels = ("conditionally-emergent", "non-emergent")
    return [("emergent", level(3)), *((label, Mapped(How.PANEL)) for label in labels)]


_STARTERS: Mapping[str, Callable[[Scale], Rules | None]] = {
    DIRECT: _direct,
    "em-ne-sc": _three_labels,
    "portal-1-6": _portal,
    "letters": _letters,
    "emergency-department": _emergency_department,
    "healthbench-emergencies": _healthbench_emergencies,
}
SCHEMES = tuple(_STARTERS)
