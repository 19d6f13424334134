"""The dimensions by which cases are counted: each gives every case its values, in the order of its labels.

``difficulty``, ``register`` and ``language`` are fields of a case; ``turns`` is ``single`` or ``several`` turns of the
user; ``origin`` says whether a case was written here or imported; ``dataset`` is that of its label of urgency;
``reference`` its level in a reference set. Every other dimension is a kind of tag: ``theme:X`` has the value X of the
dimension ``theme``, and a tag without a colon is a value of ``tag``. ``specialty_group`` and ``task_group`` are the
larger groups by the maps of the benchmark.

A case may have several values of a dimension. ``NAME_first`` counts it by the first of them alone; for groups by that
of its first tag, so by none where this tag is not mapped (`first_labels`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.scoreboard.case_sets import FIRST, GROUPED, first_labels, groups_of_tags
from annotation.models import ReferenceItem, ReferenceSet
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark, Difficulty, Register, SourceLabel

SINGLE, SEVERAL = "single", "several"
WRITTEN, IMPORTED = "written", "imported"
# Dimensions whose values are not labels of the case, so that no tag adds to them.
_OF_CASES = ("turns", "origin", "reference")
_FIELDS = ("difficulty", "register", "language")
# The order in which they are listed; others follow by name.
ORDER = (
    *("theme", "physician_agreed_category", "specialty_group", "specialty", "task_group", "task"),
    *("difficulty", "register", "language", "reference", "turns", "dataset", "origin"),
)
_VALUES = {
    "difficulty": tuple(Difficulty.values),
    "register": tuple(Register.values),
    "turns": (SINGLE, SEVERAL),
    "origin": (WRITTEN, IMPORTED),
}


@dataclass(frozen=True, eq=False)
class Dimension:
    """The values of each case; ``order`` are values that have an order of their own.

    ``firsts`` is the first value of each case, empty where it has none, if that is not the first of its values.
    """

    name: str
    values_by_case: Sequence[Sequence[str]]
    order: tuple[str, ...] = ()
    firsts: Sequence[str] | None = None

    @cached_property
    def values(self) -> list[str]:
        """In their own order; others by how many cases have them, then by name."""
        counts: dict[str, int] = {}
        for values in self.values_by_case:
            for value in values:
                counts[value] = counts.get(value, 0) + 1
        own = [value for value in self.order if value in counts]
        return [*own, *sorted(counts.keys() - set(own), key=lambda value: (-counts[value], value))]

    @cached_property
    def incidence(self) -> NDArray[np.bool_]:
        """Which case has which of `values`."""
        return self._marked(self.values_by_case)

    @cached_property
    def first_incidence(self) -> NDArray[np.bool_]:
        """Which of `values` is the first of a case."""
        if self.firsts is not None:
            return self._marked([[first] if first else [] for first in self.firsts])
        return self._marked([values[:1] for values in self.values_by_case])

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many values each case has."""
        return np.array([len(values) for values in self.values_by_case], dtype=np.int64)

    def _marked(self, values_by_case: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
        place = {value: i for i, value in enumerate(self.values)}
        marks = np.zeros((len(values_by_case), len(place)), dtype=bool)
        for row, values in enumerate(values_by_case):
            for value in values:
                marks[row, place[value]] = True
        return marks


def dimensions_of(
    benchmark: Benchmark,
    cases: Sequence[Mapping[str, Any]],
    user_turns: Sequence[int] | NDArray[Any],
    reference_set: ReferenceSet | None,
) -> dict[str, Dimension]:
    """The dimensions in which some case has a value, in their order; ``cases`` have the fields of the inputs."""
    values: dict[str, list[list[str]]] = {}
    firsts = {f"{kind}_group": [""] * len(cases) for kind in GROUPED}

    def add(name: str, row: int, value: str) -> None:
        if name not in values:
            values[name] = [[] for _case in cases]
        own = values[name][row]
        if value not in own:
            own.append(value)

    groups = groups_of_tags(benchmark)
    datasets = _datasets(benchmark)
    levels, level_names = levels_of(reference_set)
    for row, case in enumerate(cases):
        for name in _FIELDS:
            if case[name]:
                add(name, row, case[name])
        add("turns", row, SINGLE if user_turns[row] <= 1 else SEVERAL)
        add("origin", row, WRITTEN if case["created_by"] else IMPORTED)
        tags = list(dict.fromkeys([*case["tags"], *case["label_tags"]]))
        for label in first_labels(tags, groups):
            name, _colon, value = label.partition(":")
            if (group := name.removesuffix(FIRST)) in firsts:
                firsts[group][row] = value
        for tag in tags:
            kind, colon, value = tag.partition(":")
            if not colon or not value:
                kind, value = "tag", tag
            if kind not in _OF_CASES:
                add(kind, row, value)
            if tag in groups:
                add(*_split(groups[tag], row))
        for dataset in datasets.get(case["pk"], ()):
            add("dataset", row, dataset)
        if case["pk"] in levels:
            add("reference", row, levels[case["pk"]])
    order = _VALUES | {"reference": level_names}
    return {
        name: Dimension(name, values[name], order.get(name, ()), firsts.get(name))
        for name in sorted(values, key=_place_of_dimension)
    }


def _split(group: str, row: int) -> tuple[str, int, str]:
    name, _colon, value = group.partition(":")
    return name, row, value


def _place_of_dimension(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def _datasets(benchmark: Benchmark) -> dict[int, list[str]]:
    rows = SourceLabel.objects.filter(case__benchmark=benchmark).order_by("case", "dataset")
    names: dict[int, list[str]] = {}
    for case, dataset in rows.values_list("case", "dataset").distinct():
        names.setdefault(case, []).append(dataset)
    return names


def levels_of(reference_set: ReferenceSet | None) -> tuple[dict[int, str], tuple[str, ...]]:
    """The level of each case with one, or ``LOW|HIGH`` between two levels; an ambiguous case has only its status."""
    if reference_set is None:
        return {}, ()
    scale = scale_of(reference_set.scale)
    rows = ReferenceItem.objects.filter(reference_set=reference_set).order_by("low", "high", "pk")
    levels: dict[int, str] = {}
    for case, status, low, high in rows.values_list("case", "status", "low", "high"):
        if status == ReferenceItem.Status.AMBIGUOUS:
            levels[case] = str(status)
        elif low is not None and high is not None:
            levels[case] = scale.named(low, high)
    # Ambiguous comes after the levels.
    names = sorted(dict.fromkeys(levels.values()), key=lambda name: name == str(ReferenceItem.Status.AMBIGUOUS))
    return levels, tuple(names)


def counted_as(dimensions: Mapping[str, Dimension], name: str) -> tuple[Dimension, bool]:
    """The dimension that ``name`` means, and whether by the first label alone; KeyError where there is none."""
    if name in dimensions:
        return dimensions[name], False
    plain = name.removesuffix(FIRST)
    if plain == name:
        raise KeyError(name)
    return dimensions[plain], True


def names_to_choose(dimensions: Mapping[str, Dimension]) -> Iterator[str]:
    """Every name that `counted_as` takes where it makes a difference: by the first label if some case has others."""
    for name, dimension in dimensions.items():
        yield name
        if (dimension.first_incidence != dimension.incidence).any():
            yield f"{name}{FIRST}"
