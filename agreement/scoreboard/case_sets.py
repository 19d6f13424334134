"""Named sets of cases beside their tags: larger groups by the benchmark's maps, languages, named slices.

``specialty_group:X`` and ``task_group:X`` hold the cases with a tag that the map of that name maps to X; ``language:X``
those in a language; ``subset:SLUG`` those of a named slice (`NamedSlice`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from django.db.models import F, QuerySet
from numpy.typing import NDArray

from agreement.models import NamedSlice
from rubrics.models import Benchmark, Case
from scoring.scores.sheet import Sheet, Slice

GROUPED = ("specialty", "task")
SUBSET = "subset:"
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


def case_sets(benchmark: Benchmark, cases: Labels, subsets: Iterable[NamedSlice]) -> dict[str, list[int]]:
    """The cases of each set in ascending order of their pk; sets without a case are left out.

    ``cases`` holds ``language``, ``tags`` and ``label_tags`` by pk.
    """
    groups = {
        f"{kind}:{source}": f"{kind}_group:{target}"
        for kind in GROUPED
        for source, target in benchmark.maps.get(kind, {}).items()
    }
    cases_by_name: dict[str, list[int]] = {}
    for pk in sorted(cases):
        labels = cases[pk]
        names = {groups[tag] for tag in (*labels["tags"], *labels["label_tags"]) if tag in groups}
        if labels["language"]:
            names.add(f"language:{labels['language']}")
        for name in names:
            cases_by_name.setdefault(name, []).append(pk)
    for subset in subsets:
        inside = [pk for pk in subset.case_ids if pk in cases]
        if inside:
            cases_by_name[f"{SUBSET}{subset.slug}"] = inside
    return {name: cases_by_name[name] for name in sorted(cases_by_name)}


def set_slices(benchmark: Benchmark, sheet: Sheet, cases: Labels, subsets: Iterable[str] = ()) -> list[Slice]:
    """The sets as slices of a sheet; of the named slices those with one of the slugs in ``subsets``."""
    slices = []
    named = NamedSlice.objects.filter(benchmark=benchmark, slug__in=list(subsets)).order_by("slug")
    for name, members in case_sets(benchmark, cases, named).items():
        slices.append(Slice(name, cases=np.isin(sheet.case_ids, np.array(members, dtype=np.int64))))
    return slices


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
    return np.array(case_sets(benchmark, cases, ())[name], dtype=np.int64)
