"""Credentials of the physicians, as counts in which no person can be singled out.

A cell of fewer than `MIN_CELL` is never shown: such cells become one, *other*. Where that is itself too small, the next
smallest join it, since otherwise it could be computed from the total. A table in which only *other* is left is
withheld.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.countries import country_choices
from accounts.models import PhysicianProfile, User
from annotation.contributions.counted_work import people_behind
from rubrics.models import Benchmark

MIN_CELL = 3
OTHER, UNSAID = "other", "not said"
BANDS = ((0, 4), (5, 9), (10, 19), (20, 29))
TITLES = {
    "specialty": gettext_lazy("Specialty"),
    "licence_country": gettext_lazy("Country or region of licence"),
    "years_in_practice": gettext_lazy("Years in practice"),
    "seniority": gettext_lazy("Seniority"),
}


@dataclass(frozen=True, slots=True)
class Table:
    """Counts of one credential, the largest first, *other* and *not stated* last; empty where it is withheld."""

    name: str
    cells: tuple[tuple[str, int], ...]

    @property
    def title(self) -> str:
        """In the reader's language."""
        return str(TITLES[self.name])

    @property
    def rows(self) -> list[tuple[str, int]]:
        """The cells with their words."""
        countries = dict(country_choices()) if self.name == "licence_country" else {}
        words: dict[str, Any] = {**countries, OTHER: _("other"), UNSAID: _("not given")}
        if self.name == "seniority":
            # "Other" is also an answer here; merged cells join it.
            words = {**dict(PhysicianProfile.Seniority.choices), UNSAID: _("not given")}
        return [(str(words.get(value, value)), number) for value, number in self.cells]


def merged(counts: Counter[str], fewest: int = MIN_CELL) -> tuple[tuple[str, int], ...]:
    """The cells that may be shown. Their sum is that of ``counts``, unless nothing may be shown."""
    kept = {value: number for value, number in counts.items() if number >= fewest and value != OTHER}
    rest = sum(counts.values()) - sum(kept.values())
    # In a fixed order, so that the same people give the same table.
    for value in sorted(kept, key=lambda label: (kept[label], label)):
        if rest == 0 or rest >= fewest:
            break
        rest += kept.pop(value)
    if not kept:
        return ()
    last = {OTHER: 1, UNSAID: 2}
    cells = sorted(kept.items(), key=lambda cell: (last.get(cell[0], 0), -cell[1], cell[0]))
    if rest:
        cells.insert(len(cells) - (UNSAID in kept), (OTHER, rest))
    return tuple(cells)


def credential_tables(benchmark: Benchmark) -> tuple[int, list[Table]]:
    """How many took part, and a table for each credential."""
    people = people_behind(benchmark)
    counts: dict[str, Counter[str]] = {name: Counter() for name in TITLES}
    for person in people:
        for name, value in _details(person).items():
            counts[name][value] += 1
    return len(people), [Table(name, merged(counter)) for name, counter in counts.items()]


def language_counts(people: Iterable[User]) -> tuple[tuple[str, int], ...]:
    """How many of ``people`` read each language; who reads several counts in each.

    Languages of fewer than `MIN_CELL` are one cell, *other*, with the number of people who read any of them; it is left
    out where that is too small as well.
    """
    reads = {person: {*profile.languages} for person in people if (profile := _profile(person)) is not None}
    counts = Counter(tag for tags in reads.values() for tag in tags)
    kept = {tag: number for tag, number in counts.items() if number >= MIN_CELL}
    others = sum(bool(tags - kept.keys()) for tags in reads.values())
    cells = sorted(kept.items(), key=lambda cell: (-cell[1], cell[0]))
    return (*cells, *([(OTHER, others)] if others >= MIN_CELL else []))


def _profile(person: User) -> PhysicianProfile | None:
    return getattr(person, "physician_profile", None)


def credential_counts(benchmark: Benchmark) -> dict[str, Any]:
    """For a data card: ``physicians``, and for each credential its cells; a table that is withheld is left out.

    Values are in English and codes, whoever asks: specialties in lower case, countries by ISO 3166, years in bands.
    """
    number, tables = credential_tables(benchmark)
    return {"physicians": number, **{table.name: dict(table.cells) for table in tables if table.cells}}


def _details(person: User) -> dict[str, str]:
    profile = _profile(person)
    if profile is None:
        return dict.fromkeys(TITLES, UNSAID)
    return {
        "specialty": " ".join(profile.specialty.replace("_", " ").split()).casefold() or UNSAID,
        "licence_country": profile.licence_country or UNSAID,
        "years_in_practice": _band(profile.years_in_practice),
        "seniority": profile.seniority or UNSAID,
    }


def _band(years: int | None) -> str:
    if years is None:
        return UNSAID
    return next((f"{low}–{high}" for low, high in BANDS if low <= years <= high), f"{BANDS[-1][1] + 1}+")
