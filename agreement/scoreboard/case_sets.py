"""Named sets of cases beside their tags: larger groups by the benchmark's maps, languages, named slices.

``specialty_group:X`` and ``task_group:X`` hold the cases with a tag that the map of that name maps to X; ``language:X``
those in a language; ``subset:SLUG`` those of a named slice (`NamedSlice`), and ``subset_axis:SLUG/AXIS`` the criteria
of an axis on these cases.

A case with several specialties is in several of these sets. By its *first label* it is in one at most:
``specialty_first:X`` and ``task_first:X`` hold the cases whose first tag of that kind is X, ``specialty_group_first:X``
and ``task_group_first:X`` those whose first tag is mapped to X. First is the order of `Case.all_tags`: the tags of the
case as its file or its author lists them, then those that physicians agreed on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import F, QuerySet
from numpy.typing import NDArray

from agreement.counting.frame import Frame
from agreement.counting.frame import Slice as FrameSlice
from agreement.models import NamedSlice
from rubrics.models import Benchmark, Case
from scoring.scores.sheet import AXIS, Sheet, Slice

GROUPED = ("specialty", "task")
FIRST = "_first"
SUBSET = "subset:"
SUBSET_AXIS = "subset_axis:"
# A candidate's part of a slice, by name: ``theme:x / candidate:NAME``.
OF_CANDIDATE = " / candidate:"
# Slices of one candidate already: the rest of such a name is part of the candidate's own name.
_OF_ONE = ("candidate:", "response:", "criterion:")
Labels = Mapping[int, Mapping[str, Any]]


def parted(name: str) -> tuple[str, str]:
    """The slice and the candidate of a candidate's part of a slice; both empty where ``name`` is not such a part."""
    part, joint, candidate = name.partition(OF_CANDIDATE)
    return (part, candidate) if joint and not name.startswith(_OF_ONE) else ("", "")


def named_slices(benchmark: Benchmark) -> QuerySet[NamedSlice]:
    """The named slices that are on offer."""
    return NamedSlice.objects.filter(benchmark=benchmark, retired_at=None)


def counted_slices(benchmark: Benchmark) -> QuerySet[NamedSlice]:
    """All named slices, retired ones too, by slug: each with the number of its cases instead of their ids."""
    slices = NamedSlice.objects.filter(benchmark=benchmark).defer("case_ids").order_by("slug")
    return slices.annotate(n_cases=F("case_ids__len"))  # type: ignore[no-redef]  # replaces the cached property


def groups_of_tags(benchmark: Benchmark) -> dict[str, str]:
    """``specialty:X`` and ``task:X`` → ``specialty_group:Y`` and ``task_group:Y``, by the maps of the benchmark."""
    return {
        f"{kind}:{source}": f"{kind}_group:{target}"
        for kind in GROUPED
        for source, target in benchmark.maps.get(kind, {}).items()
    }


def first_labels(tags: Iterable[str], groups: Mapping[str, str]) -> list[str]:
    """The sets of a case by its first labels; ``tags`` are all of its tags in their order."""
    names, kinds = [], set(GROUPED)
    for tag in tags:
        kind, _colon, value = tag.partition(":")
        if kind in kinds:
            kinds.remove(kind)
            names.append(f"{kind}{FIRST}:{value}")
            if tag in groups:
                names.append(f"{kind}_group{FIRST}:{groups[tag].partition(':')[2]}")
    return names


def case_sets(
    benchmark: Benchmark, cases: Labels, subsets: Iterable[NamedSlice], *, by_first_label: bool = False
) -> dict[str, list[int]]:
    """The cases of each set in ascending order of their pk; sets without a case are left out.

    ``cases`` holds ``language``, ``tags`` and ``label_tags`` by pk. Sets by the first label only if they are asked for.
    """
    groups = groups_of_tags(benchmark)
    cases_by_name: dict[str, list[int]] = {}
    for pk in sorted(cases):
        labels = cases[pk]
        tags = (*labels["tags"], *labels["label_tags"])
        names = {groups[tag] for tag in tags if tag in groups}
        if by_first_label:
            names.update(first_labels(tags, groups))
        if labels["language"]:
            names.add(f"language:{labels['language']}")
        for name in names:
            cases_by_name.setdefault(name, []).append(pk)
    for subset in subsets:
        inside = [pk for pk in subset.case_ids if pk in cases]
        if inside:
            cases_by_name[f"{SUBSET}{subset.slug}"] = inside
    return {name: cases_by_name[name] for name in sorted(cases_by_name)}


@dataclass(frozen=True, slots=True)
class ChosenSets:
    """Which sets a report of scores has beside the slices of scores.csv: named slices by slug, and two that are asked
    for.
    """

    subsets: Sequence[str] = ()
    by_first_label: bool = False
    by_axis_of_subset: bool = False

    def slices(self, benchmark: Benchmark, sheet: Sheet, cases: Labels, standard: Sequence[Slice]) -> list[Slice]:
        """The sets as slices of a sheet; ``standard`` are the slices of scores.csv."""
        named = NamedSlice.objects.filter(benchmark=benchmark, slug__in=list(self.subsets)).order_by("slug")
        members_by_name = case_sets(benchmark, cases, named, by_first_label=self.by_first_label)
        slices = [
            Slice(name, cases=np.isin(sheet.case_ids, np.array(members, dtype=np.int64)))
            for name, members in members_by_name.items()
        ]
        return [*slices, *axes_of_subsets(sheet, slices, standard)] if self.by_axis_of_subset else slices


def axes_of_subsets(sheet: Sheet, sets: Iterable[Slice], standard: Iterable[Slice]) -> Iterator[Slice]:
    """The criteria of each axis on the cases of each named slice; nothing where no scored response has any."""
    axes = [part for part in standard if part.name.startswith(AXIS) and part.criteria is not None]
    case = sheet.response_case[sheet.response]
    for subset in sets:
        if subset.cases is None or not subset.name.startswith(SUBSET):
            continue
        for axis in axes:
            if axis.criteria is not None and (subset.cases[case] & axis.criteria[sheet.criterion]).any():
                name = f"{SUBSET_AXIS}{subset.name.removeprefix(SUBSET)}/{axis.name.removeprefix(AXIS)}"
                yield Slice(name, cases=subset.cases, criteria=axis.criteria)


def parts_of(name: str) -> tuple[str, str]:
    """The named slice and the axis whose common part ``name`` is, each as a slice; both empty for other slices."""
    slug, slash, axis = name.removeprefix(SUBSET_AXIS).partition("/")
    return (f"{SUBSET}{slug}", f"{AXIS}{axis}") if slash and name.startswith(SUBSET_AXIS) else ("", "")


def frame_slices(
    benchmark: Benchmark, frame: Frame, *, slices: bool, subsets: Iterable[str], by_first_label: bool
) -> Iterator[FrameSlice]:
    """The sets as slices of a frame: with ``slices`` groups, languages and the named slices ``subsets``."""
    columns = ("language", "tags", "label_tags")
    rows = Case.objects.filter(benchmark=benchmark).values_list("pk", *columns)
    cases = {pk: dict(zip(columns, values, strict=True)) for pk, *values in rows.iterator()}
    named = NamedSlice.objects.filter(benchmark=benchmark, slug__in=list(subsets)).order_by("slug")
    for name, members in case_sets(benchmark, cases, named, by_first_label=by_first_label).items():
        is_by_first = name.partition(":")[0].endswith(FIRST)
        if slices or is_by_first:
            yield FrameSlice(name, np.isin(frame.case_ids, np.array(members, dtype=np.int64)))


def cases_of(benchmark: Benchmark, name: str) -> NDArray[np.int64]:
    """The cases of one set, a retired slice's too; KeyError where there is no set of that name."""
    slug = name.removeprefix(SUBSET)
    if slug != name:
        subset = NamedSlice.objects.filter(benchmark=benchmark, slug=slug).first()
        if subset is None:
            raise KeyError(name)
        return np.array(subset.case_ids, dtype=np.int64)
    columns = ("language", "tags", "label_tags")
    rows = Case.objects.filter(benchmark=benchmark).values_list("pk", *columns)
    cases = {pk: dict(zip(columns, values, strict=True)) for pk, *values in rows}
    return np.array(case_sets(benchmark, cases, (), by_first_label=True)[name], dtype=np.int64)
