"""Reads of rubric sets: cases for a frame, axes and tracks of a benchmark, items by case, files."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import Count, FilteredRelation, Q, QuerySet

from consilium.core.limits import MAX_AXIS_LENGTH
from drafting.models import DraftingRun
from drafting.runs.selectors import drafted_outputs, runs_on
from rubrics.axes import AXES
from rubrics.models import Benchmark, Case, Rubric, RubricItem
from validation.access import AnyUser, hidden_sets
from validation.models import RubricSet, RubricSetItem, RubricSetMend
from validation.sets.content import SetCriterion, axis_named, axis_of
from validation.sets.frames import Frame, FramedCase, Funnel, funnel_of

GOLD = "gold"
CASES_PER_PAGE = 10
ITEM_COLUMNS = ("case", "position", "criterion", "points", "axis")
POINT_COLUMNS = ("case", "point", "text", "points", "axis", "criterion", "criterion_text")
POINT_TEXT = ("case", "text", "axis", "criterion_text")
MEND_COLUMNS = ("line", "case", "number", "field", "how", "before", "after", "criterion")
MEND_TEXT = ("case", "field", "before", "after", "criterion")


def known_axes(benchmark: Benchmark) -> list[str]:
    """The axes of the benchmark: of its published rubrics, of its finished sets, and those that the editor offers.

    A set that was exported can thus be read back, whatever has been published since.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT DISTINCT substr(tag, 6) FROM rubrics_rubricitem i
            JOIN rubrics_rubric r ON r.id = i.rubric_id AND r.status = 'published'
            JOIN rubrics_case c ON c.id = r.case_id AND c.benchmark_id = %s
            CROSS JOIN unnest(i.tags) AS tag
            WHERE starts_with(tag, 'axis:')
            """,
            [benchmark.pk],
        )
        used = [axis_named(row[0]) for row in cursor.fetchall()]
    items = RubricSetItem.objects.filter(rubric_set__in=RubricSet.objects.finished().filter(benchmark=benchmark))
    kept = items.exclude(axis="").order_by().values_list("axis", flat=True).distinct()
    return sorted({*(axis for axis in used if 0 < len(axis) <= MAX_AXIS_LENGTH), *kept, *AXES})


def tracks(benchmark: Benchmark) -> list[str]:
    """The tracks with published rubrics, gold first."""
    rows = Rubric.objects.filter(case__benchmark=benchmark, status=Rubric.Status.PUBLISHED)
    names = set(rows.order_by().values_list("track", flat=True).distinct())
    return sorted(names, key=lambda name: (name != GOLD, name))


def _axis_counts(benchmark: Benchmark) -> dict[int, int]:
    """How many axes the criteria of each published gold rubric have, by case; without any axis a case is missing."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT r.case_id, count(DISTINCT tag) FROM rubrics_rubricitem i
            JOIN rubrics_rubric r ON r.id = i.rubric_id AND r.status = 'published' AND r.track = 'gold'
            JOIN rubrics_case c ON c.id = r.case_id AND c.benchmark_id = %s
            CROSS JOIN unnest(i.tags) AS tag
            WHERE starts_with(tag, 'axis:') GROUP BY r.case_id
            """,
            [benchmark.pk],
        )
        return dict(cursor.fetchall())


def framed_cases(benchmark: Benchmark, frame: Frame, *, track: str = "") -> list[FramedCase]:
    """The cases that count, in the order of import, with their published rubric on ``track``."""
    published = Q(rubrics__status=Rubric.Status.PUBLISHED)
    rows = (
        Case.objects.filter(benchmark=benchmark)
        .included()
        .annotate(
            gold=FilteredRelation("rubrics", condition=published & Q(rubrics__track=GOLD)),
            copied=FilteredRelation("rubrics", condition=published & Q(rubrics__track=track)),
        )
        .order_by("pk")
        .values_list("pk", "key", "language", "tags", "label_tags", "gold__criterion_count", "gold__pk", "copied__pk")
    )
    axes = _axis_counts(benchmark) if frame.axes is not None else {}
    return [
        FramedCase(pk, key, language, frozenset([*tags, *more]), count, axes.get(pk, 0) if gold else None, copied)
        for pk, key, language, tags, more, count, gold, copied in rows
    ]


def funnel(benchmark: Benchmark, frame: Frame, *, track: str = "", run: DraftingRun | None = None) -> Funnel:
    """The funnel of a frame: with ``track`` over cases with a published rubric there, else over all that count.

    With ``run`` over the cases for which that run drafted criteria.
    """
    cases = framed_cases(benchmark, frame, track=track)
    source: tuple[str, str, Callable[[FramedCase], bool]] | None = None
    if run is not None:
        drafted = {case for case, output in drafted_outputs(run) if output["criteria"]}
        source = ("run", str(run), lambda case: case.pk in drafted)
    elif track:
        source = ("track", track, lambda case: case.rubric is not None)
    return funnel_of(frame, cases, source=source)


def drafting_runs(benchmark: Benchmark) -> QuerySet[DraftingRun]:
    """The runs of drafting that have ended, the newest first."""
    return runs_on(benchmark).exclude(status__in=DraftingRun.LIVE)


def drafted_criteria(run: DraftingRun) -> dict[int, list[SetCriterion]]:
    """The criteria that a run drafted, in their order, by case; a case for which it drafted none is missing."""
    return {
        case: [SetCriterion(row["text"], row["points"], axis_named(row["axis"])) for row in output["criteria"]]
        for case, output in drafted_outputs(run)
        if output["criteria"]
    }


def criteria_of_rubrics(rubrics: list[int]) -> dict[int, list[SetCriterion]]:
    """The criteria of published rubrics, in their order, by rubric."""
    criteria: dict[int, list[SetCriterion]] = defaultdict(list)
    rows = RubricItem.objects.filter(rubric__in=rubrics).order_by("rubric_id", "position")
    for rubric, text, points, tags, criterion in rows.values_list(
        "rubric_id", "criterion__text", "points", "tags", "criterion_id"
    ):
        criteria[rubric].append(SetCriterion(text, points, axis_of(tags), criterion))
    return criteria


# A set -----------------------------------------------------------------------------------------------------------


def rubric_sets(user: AnyUser, benchmark: Benchmark) -> QuerySet[RubricSet]:
    """The sets of a benchmark that ``user`` may see (`hidden_sets`), the newest first."""
    sets = RubricSet.objects.finished().filter(benchmark=benchmark).exclude(pk__in=hidden_sets(user, benchmark))
    return sets.select_related("created_by", "source", "drafting_run")


def items_of(rubric_set: RubricSet) -> QuerySet[RubricSetItem]:
    """The items of a set with their cases, and of points their criteria, in the order of import of the cases."""
    rows = RubricSetItem.objects.filter(rubric_set=rubric_set).select_related("case")
    if rubric_set.source_id:
        rows = rows.select_related("source_item")
    return rows.defer("case__conversation", "case__reference_answer", "case__metadata").order_by("case_id", "position")


@dataclass(frozen=True, slots=True)
class CaseOfSet:
    """A case with its criteria in a set."""

    case: Case
    items: list[RubricSetItem]


def page_of_cases(rubric_set: RubricSet, number: Any) -> tuple[Page, list[CaseOfSet]]:
    """A page of the cases of a set, and their criteria."""
    cases = RubricSetItem.objects.filter(rubric_set=rubric_set).order_by("case_id").values_list("case_id", flat=True)
    page = Paginator(cases.distinct(), CASES_PER_PAGE).get_page(number)
    items = items_of(rubric_set).filter(case__in=list(page.object_list))
    return page, [CaseOfSet(case, list(rows)) for case, rows in groupby(items, key=lambda item: item.case)]


def mend_counts(rubric_set: RubricSet) -> list[tuple[str, int]]:
    """How often each kind of mend was made, in the reader's language."""
    rows = rubric_set.mends.order_by().values("how").annotate(n=Count("pk")).values_list("how", "n")
    counts = dict(rows)
    return [(str(how.label), counts[how.value]) for how in RubricSetMend.How if how.value in counts]


def mends_of(rubric_set: RubricSet) -> QuerySet[RubricSetMend]:
    """What was mended, in the order of the file."""
    rows = RubricSetMend.objects.filter(rubric_set=rubric_set).select_related("case")
    return rows.defer("case__conversation", "case__reference_answer", "case__metadata").order_by("pk")


def item_rows(rubric_set: RubricSet) -> Iterator[tuple[Any, ...]]:
    """The items as rows of `ITEM_COLUMNS`."""
    columns = ("case__key", "position", "text", "points", "axis")
    yield from items_of(rubric_set).values_list(*columns).iterator(chunk_size=2000)


def point_rows(rubric_set: RubricSet) -> Iterator[tuple[Any, ...]]:
    """The points of a split set, each with its criterion in the source, as rows of `POINT_COLUMNS`."""
    columns = ("case__key", "position", "text", "points", "axis", "source_item__position", "source_item__text")
    yield from items_of(rubric_set).values_list(*columns).iterator(chunk_size=2000)


def criterion_count(rubric_set: RubricSet) -> int:
    """How many criteria of its source the points of a split set belong to."""
    return (
        RubricSetItem.objects.filter(rubric_set=rubric_set).aggregate(n=Count("source_item", distinct=True))["n"] or 0
    )


def mend_rows(rubric_set: RubricSet) -> Iterator[tuple[Any, ...]]:
    """The mends as rows of `MEND_COLUMNS`."""
    columns = ("line", "case__key", "number", "field", "how", "before", "after", "text")
    yield from mends_of(rubric_set).values_list(*columns).iterator(chunk_size=2000)


def jsonl_lines(rubric_set: RubricSet) -> Iterator[str]:
    """A line for each case, which `validation.sets.reading` reads back to the same digest."""
    for key, rows in groupby(item_rows(rubric_set), key=lambda row: row[0]):
        criteria = [{"criterion": text, "points": points, "axis": axis} for _key, _n, text, points, axis in rows]
        yield json.dumps({"case": key, "rubrics": criteria}, ensure_ascii=False) + "\n"
