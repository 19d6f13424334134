"""Lists of cases, candidates and responses for pages, files and the API, in a fixed number of queries."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    Expression,
    F,
    FilteredRelation,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Window,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, Length, Substr

from accounts.models import User
from consilium.core.compiled_queries import CompiledQuery, fetch_prepared
from consilium.core.languages import language_name
from rubrics.models import Benchmark, Candidate, Case, Response, Rubric, RubricContributor
from rubrics.selectors.case_selection import CaseSelection

EXCERPT = 220
# What a list of cases may be sorted by; the key breaks ties.
CASE_ORDERS = {
    "key": "key",
    "difficulty": "difficulty",
    "register": "register",
    "language": "language",
    "criteria": "criterion_count",
    "responses": "response_count",
}
MAX_PAGES = 1_000_000  # an address may name any number, but the numbers of the database have a limit
KEPT_S = 60
# The latest event of a case, the number of cases, and their languages: one step in an index for each language.
VARIETY = """SELECT (SELECT max(pgh_id) FROM rubrics_caselabelsevent),
           (SELECT count(*) FROM rubrics_case WHERE benchmark_id = %(benchmark)s AND NOT is_stub),
           ARRAY(
               WITH RECURSIVE used AS (
                   (SELECT language FROM rubrics_case WHERE benchmark_id = %(benchmark)s AND language > ''
                    ORDER BY language LIMIT 1)
                   UNION ALL
                   SELECT (SELECT language FROM rubrics_case
                           WHERE benchmark_id = %(benchmark)s AND language > used.language ORDER BY language LIMIT 1)
                   FROM used WHERE used.language IS NOT NULL
               )
               SELECT language FROM used WHERE language IS NOT NULL
           )
"""
# Benchmark and limit → the state of the cases when they were counted, the time, and the counts (`variety_of`).
_tag_counts: dict[tuple[int, int], tuple[Any, float, list[tuple[str, int]]]] = {}
RESPONSE_ORDERS = {"case": "case__key", "sample": "sample", "length": "length"}


def _count(rows: QuerySet[Any]) -> Subquery:
    """The number of ``rows`` for the outer row, without a join that would multiply it."""
    # `Count` would group the rows, and give no number where there are none; COUNT(*) can be read from an index alone.
    counted = rows.order_by().annotate(number=Func(template="COUNT(*)", output_field=IntegerField()))
    return Subquery(counted.values("number"), output_field=IntegerField())


def listed_cases(benchmark: Benchmark) -> QuerySet[Case]:
    """All cases of a benchmark, as `listed`."""
    return listed(Case.objects.filter(benchmark=benchmark))


def sortable(benchmark: Benchmark, sort: str) -> QuerySet[Case]:
    """The cases with only the values that sorting by ``sort`` needs."""
    cases = Case.objects.filter(benchmark=benchmark)
    counted = {"criterion_count": _with_criteria, "response_count": _with_responses}
    order = counted.get(CASE_ORDERS.get(sort.removeprefix("-"), ""))
    return order(cases) if order else cases


def listed(cases: QuerySet[Case]) -> QuerySet[Case]:
    """``cases`` with ``criterion_count`` (published), ``response_count`` and ``opening`` (of the first turn)."""
    opening = Substr(KT("conversation__0__content"), 1, EXCERPT)
    shown = _with_responses(_with_criteria(cases)).annotate(opening=opening)
    return shown.defer("conversation", "reference_answer", "metadata")


def _with_criteria(cases: QuerySet[Case]) -> QuerySet[Case]:
    published = Q(rubrics__status="published", rubrics__track="gold")  # at most one per case: no row is multiplied
    return cases.annotate(published=FilteredRelation("rubrics", condition=published)).annotate(
        criterion_count=Coalesce("published__criterion_count", 0)
    )


def _with_responses(cases: QuerySet[Case]) -> QuerySet[Case]:
    return cases.annotate(response_count=_count(Response.objects.filter(case=OuterRef("pk"))))


def narrowed(cases: QuerySet[Case], chosen: Mapping[str, Any]) -> QuerySet[Case]:
    """``cases`` by the validated filters: q (in key or conversation), difficulty, register, language, tag, state."""
    return selection_of(chosen).narrow(cases)


def selection_of(chosen: Mapping[str, Any]) -> CaseSelection:
    """The filters of the list of cases, one value each, as a selection of cases."""

    def values(name: str) -> list[str]:
        return [chosen[name]] if chosen.get(name) else []

    return CaseSelection(
        text=chosen.get("q") or "",
        tags=values("tag"),
        difficulties=values("difficulty"),
        registers=values("register"),
        languages=values("language"),
        state=chosen.get("state") or "",
    )


def with_rubric_states(cases: QuerySet[Case]) -> QuerySet[Case]:
    """``cases`` with ``published_version``, ``open_version``, ``open_status`` and ``open_count`` (criteria).

    The open version is the one that is being written or reviewed.
    """
    rubrics = Rubric.objects.filter(case=OuterRef("pk"), track="gold")
    in_preparation = rubrics.filter(status__in=["draft", "in_review"]).order_by("-version")
    items = Func(F("draft__content__items"), function="jsonb_array_length", output_field=IntegerField())
    return cases.annotate(
        published_version=Subquery(rubrics.filter(status="published").values("version")[:1]),
        open_version=Subquery(in_preparation.values("version")[:1]),
        open_status=Subquery(in_preparation.values("status")[:1]),
        open_count=Subquery(in_preparation.filter(draft__isnull=False).annotate(n=items).values("n")[:1]),
    )


def of_author(cases: QuerySet[Case], user: User) -> QuerySet[Case]:
    """Cases that ``user`` began, or on whose rubric they wrote."""
    wrote = RubricContributor.objects.filter(rubric__case=OuterRef("pk"), user=user.pk)
    return cases.filter(Q(created_by=user.pk) | Exists(wrote))


def in_order(rows: QuerySet[Any], sort: str, orders: Mapping[str, str], last: str) -> QuerySet[Any]:
    """``rows`` by ``sort``, a name of ``orders`` (after ``-``: descending); any other value sorts by the first."""
    name = sort.removeprefix("-")
    if name not in orders:
        sort = name = next(iter(orders))
    field = orders[name]
    return rows.order_by(f"-{field}" if sort.startswith("-") else field, last)


class CasePages(Paginator):
    """Pages of a list of cases: the cases of a page are found with only the values that filters and order need.

    The values of ``shown`` are then read for those cases alone. ``total`` is the number of cases, where it is known;
    else they are counted while they are filtered.
    """

    def __init__(
        self, cases: QuerySet[Case], per_page: int, *, shown: CompiledQuery[Case], total: int | None = None
    ) -> None:
        super().__init__(cases, per_page)
        self.cases, self.shown, self.is_counted = cases, shown, total is not None
        if total is not None:
            self.count = total

    def get_page(self, number: Any) -> Page:
        """The page as Django's ``get_page`` gives it: the first for no number, the last for one that is too high."""
        try:
            page_number = int(number)
        except (TypeError, ValueError):
            page_number = 1
        keys = self._keys(page_number) if 1 <= page_number <= MAX_PAGES else []
        if not keys and page_number != 1:
            page_number = self.num_pages
            keys = self._keys(page_number)
        rows = {case.pk: case for case in self.shown.objects(keys=_array(keys))} if keys else {}
        return Page([rows[key] for key in keys if key in rows], page_number, self)

    def _keys(self, page_number: int) -> list[int]:
        place = slice((page_number - 1) * self.per_page, page_number * self.per_page)
        if self.is_counted:
            return list(self.cases.values_list("pk", flat=True)[place])
        rows = list(self.cases.annotate(number=Window(Count("*"))).values_list("pk", "number")[place])
        if rows or page_number == 1:
            self.count = rows[0][1] if rows else 0
        return [key for key, _number in rows]


def _array(keys: Sequence[int]) -> str:
    return f"{{{','.join(map(str, keys))}}}"


def _among(keys: Expression) -> Func:
    """Cases whose primary key is in ``keys``, an array as PostgreSQL writes it: one value, however many there are."""
    template = '"rubrics_case"."id" = ANY(%(expressions)s::bigint[])'
    return Func(keys, template=template, output_field=BooleanField())


# What the two lists show of the cases on a page.
SHOWN = CompiledQuery(lambda keys: listed(Case.objects.filter(_among(keys))))
SHOWN_TO_AUTHORS = CompiledQuery(lambda keys: with_rubric_states(listed(Case.objects.filter(_among(keys)))))


@dataclass(frozen=True, slots=True)
class Variety:
    """The values by which cases can be filtered: their number, their languages, and their tags with counts."""

    total: int
    languages: list[str]
    tags: list[tuple[str, int]]


def variety_of(benchmark: Benchmark, limit: int = 300) -> Variety:
    """The current number and languages of the cases, and the most frequent tags in alphabetical order.

    This process caches the tags until the audit trail shows that a case was added, was removed or got other tags; and
    for a minute at most, since a long transaction may commit an event that is older than the latest one.
    """
    latest, total, languages = fetch_prepared(VARIETY, {"benchmark": benchmark.pk})[0]
    now = time.monotonic()
    known = _tag_counts.get((benchmark.pk, limit))
    if known and known[0] == (latest, total) and now - known[1] < KEPT_S:
        return Variety(total, languages, known[2])
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tag, count(*) FROM rubrics_case, unnest("
            "CASE WHEN label_tags = '{}' THEN tags ELSE ARRAY(SELECT DISTINCT unnest(tags || label_tags)) END"
            ") AS tag WHERE benchmark_id = %s GROUP BY tag ORDER BY count(*) DESC, tag LIMIT %s",
            [benchmark.pk, limit],
        )
        counts = sorted(cursor.fetchall())
        _tag_counts[benchmark.pk, limit] = ((latest, total), now, counts)
        return Variety(total, languages, counts)


def tag_counts(benchmark: Benchmark, limit: int = 300) -> list[tuple[str, int]]:
    """The most frequent tags in alphabetical order, with the number of cases that have each."""
    return variety_of(benchmark, limit).tags


def languages(benchmark: Benchmark) -> list[str]:
    """Languages of the cases."""
    return variety_of(benchmark).languages


def named_languages(benchmark: Benchmark) -> list[tuple[str, str]]:
    """The tag of each language of the cases, and its name in the reader's language: choices of a form."""
    return [(tag, language_name(tag)) for tag in languages(benchmark)]


def listed_candidates(benchmark: Benchmark) -> QuerySet[Candidate]:
    """Candidates with ``response_count``, ``case_count`` and ``flagged`` (responses that seem to name their author)."""
    own = Response.objects.filter(candidate=OuterRef("pk"))
    cases = own.order_by().values("candidate").annotate(number=Count("case", distinct=True)).values("number")
    return (
        Candidate.objects.filter(benchmark=benchmark)
        .select_related("attributes")
        .annotate(
            response_count=_count(own),
            case_count=Coalesce(Subquery(cases, output_field=IntegerField()), 0),
            flagged=_count(own.filter(metadata__has_key="self_identification")),
        )
    )


def listed_responses(candidate: Candidate) -> QuerySet[Response]:
    """A candidate's responses with ``length`` (code points) and ``opening``, without their texts."""
    return (
        Response.objects.filter(candidate=candidate)
        .select_related("case")
        .annotate(length=Length("text"), opening=Substr("text", 1, EXCERPT))
        .defer("text", "case__conversation", "case__metadata", "case__reference_answer")
    )
