"""The menu of slices above a table of a report, and what a slice is called there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from agreement.kinds.scores_rows import short
from agreement.scoreboard.case_sets import SUBSET, named_slices, parts_of
from rubrics.models import Benchmark, HowMapped
from rubrics.slice_words import KINDS, value_words

# Kinds of slices in the order of the menu; others, such as a benchmark's own tags, come after them by name.
_MENU = (
    *("level", "subset", "subset_axis", "reference", "dataset", "scheme", "how", "register", "difficulty", "language"),
    *("task_group", "specialty_group", "task", "theme", "specialty"),
    *("task_group_first", "specialty_group_first", "task_first", "specialty_first"),
)


@dataclass(frozen=True)
class Option:
    """An entry of the menu of slices."""

    value: str
    label: str
    chosen: bool


def _headings() -> dict[str, str]:
    """The heading of the menu for each kind of slice: those of cases and criteria, and those of reports alone."""
    return {kind: str(words) for kind, words in KINDS.items()} | {
        "level": _("Level of the criteria"),
        "subset": _("Named slices"),
        "reference": _("Reference level"),
        "dataset": _("Dataset"),
        "scheme": _("Label scheme"),
        "how": _("How the case was labelled"),
    }


def slice_menu(
    names: Sequence[str], part: str, titles: Mapping[str, str], *, whole: str
) -> list[tuple[str, list[Option]]]:
    """The slices of ``names`` but the ``whole``, under the headings of their kinds; ``part`` is the chosen one.

    Reference levels are in the order of ``titles``, which is that of their scale.
    """
    headings = _headings()
    options_by_kind: dict[str, list[Option]] = {}
    for name in names:
        if name != whole:
            kind = name.partition(":")[0]
            label = titles.get(name) or _value(kind, name)
            options_by_kind.setdefault(kind, []).append(Option(name, label, name == part))
    places = {name: place for place, name in enumerate(titles)}
    options_by_kind.get("reference", []).sort(key=lambda option: places.get(option.value, len(places)))
    ordered = [kind for kind in _MENU if kind in options_by_kind] + sorted(set(options_by_kind) - set(_MENU))
    return [(headings.get(kind, kind), options_by_kind[kind]) for kind in ordered]


def titles_of_named(benchmark: Benchmark, names: Iterable[str] = ()) -> dict[str, str]:
    """The titles of the named slices that are on offer, and of the axes within them among the slices ``names``."""
    titles = {f"{SUBSET}{named_slice.slug}": named_slice.title for named_slice in named_slices(benchmark)}
    for name in names:
        subset, axis = parts_of(name)
        if subset in titles:
            titles[name] = f"{titles[subset]} · {_value('axis', axis)}"
    return titles


def slice_label(part: str, titles: Mapping[str, str]) -> str:
    """A slice as the heading of its table names it: by its title where it has one; a retired one by its slug."""
    kind = part.partition(":")[0]
    if part in titles or kind == SUBSET[:-1]:
        return titles.get(part) or short(part)
    heading = _headings().get(kind)
    return _("%(kind)s: %(value)s") % {"kind": heading, "value": _value(kind, part)} if heading else part


def _value(kind: str, name: str) -> str:
    if kind == "how":
        return str(dict(HowMapped.choices).get(short(name), short(name)))
    return value_words(kind, short(name)) if kind in KINDS else short(name)
