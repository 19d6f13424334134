"""Lists of cases, candidates and responses as pages, files and the API show them: each costs the same at any size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.models import BooleanField, Count, Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, Length, Substr
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from rubrics.models import Benchmark, Candidate, Case, Response, Rubric, RubricContributor, RubricItem

EXCERPT = 220
# Key and texts of the turns in lower case, a column that only PostgreSQL knows (migration 0009).
SAYS = """strpos("rubrics_case"."words", lower(%(expressions)s COLLATE "default") COLLATE "C") > 0"""
# What a list of cases may be sorted by; the key breaks ties.
CASE_ORDERS = {
    "key": "key",
    "difficulty": "difficulty",
    "register": "register",
    "language": "language",
    "criteria": "criterion_count",
    "responses": "response_count",
}
# What the rubric of a case may be at; beside a published one there may be a draft of the next.
STATES = {
    "none": _("No rubric"),
    "draft": _("Draft"),
    "in_review": _("In review"),
    "published": _("Published"),
    "excluded": _("Excluded"),
}
RESPONSE_ORDERS = {"case": "case__key", "sample": "sample", "length": "length"}


def _count(rows: QuerySet[Any], key: str) -> Coalesce:
    """The number of ``rows`` for the outer row, without a join that would multiply it."""
    counted = rows.order_by().values(key).annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def listed_cases(benchmark: Benchmark) -> QuerySet[Case]:
    """Cases with ``criterion_count`` (published), ``response_count`` and ``opening`` (of the first turn)."""
    items = RubricItem.objects.filter(rubric__case=OuterRef("pk"), rubric__status="published", rubric__track="gold")
    return (
        Case.objects.filter(benchmark=benchmark)
        .annotate(
            criterion_count=_count(items, "rubric__case"),
            response_count=_count(Response.objects.filter(case=OuterRef("pk")), "case"),
            opening=Substr(KT("conversation__0__content"), 1, EXCERPT),
        )
        .defer("conversation", "reference_answer", "metadata")
    )


def narrowed(cases: QuerySet[Case], chosen: Mapping[str, Any]) -> QuerySet[Case]:
    """``cases`` by the validated filters: q (in key or conversation), difficulty, register, language, tag."""
    if text := chosen.get("q"):
        cases = cases.filter(_says(text))
    for name in ("difficulty", "register", "language"):
        if value := chosen.get(name):
            cases = cases.filter(**{name: "" if value == "none" else value})
    if tag := chosen.get("tag"):
        cases = cases.filter(Q(tags__contains=[tag]) | Q(label_tags__contains=[tag]))
    if state := chosen.get("state"):
        cases = cases.filter(_at(state))
    return cases


def _says(text: str) -> Func:
    """Cases whose key or conversation holds ``text``, in whatever case."""
    return Func(Value(text), template=SAYS, output_field=BooleanField())


def _at(state: str) -> Q:
    """Cases whose rubric is at ``state``, one of `STATES`."""
    if state == "excluded":
        return Q(excluded_at__isnull=False)
    rubrics = Rubric.objects.filter(case=OuterRef("pk"), track="gold")
    if state == "none":
        return Q(~Exists(rubrics), excluded_at=None)
    return Q(Exists(rubrics.filter(status=state)), excluded_at=None)


def with_rubric_states(cases: QuerySet[Case]) -> QuerySet[Case]:
    """``cases`` with ``published_version``, and with ``open_version``, ``open_status`` and ``open_count`` (criteria)

    of the version that is being written or reviewed.
    """
    rubrics = Rubric.objects.filter(case=OuterRef("pk"), track="gold")
    being_made = rubrics.filter(status__in=["draft", "in_review"]).order_by("-version")
    items = Func(F("draft__content__items"), function="jsonb_array_length", output_field=IntegerField())
    return cases.annotate(
        published_version=Subquery(rubrics.filter(status="published").values("version")[:1]),
        open_version=Subquery(being_made.values("version")[:1]),
        open_status=Subquery(being_made.values("status")[:1]),
        open_count=Subquery(being_made.filter(draft__isnull=False).annotate(n=items).values("n")[:1]),
    )


def of_author(cases: QuerySet[Case], user: User) -> QuerySet[Case]:
    """Cases that ``user`` began, or on whose rubric they wrote."""
    wrote = RubricContributor.objects.filter(rubric__case=OuterRef("pk"), user=user.pk)
    return cases.filter(Q(created_by=user.pk) | Exists(wrote))


def in_order(rows: QuerySet[Any], sort: str, orders: Mapping[str, str], last: str) -> QuerySet[Any]:
    """``rows`` by ``sort`` (a name of ``orders``, ``-`` before it: descending); anything else is the first."""
    name = sort.removeprefix("-")
    if name not in orders:
        sort = name = next(iter(orders))
    field = orders[name]
    return rows.order_by(f"-{field}" if sort.startswith("-") else field, last)


def tag_counts(benchmark: Benchmark, limit: int = 300) -> list[tuple[str, int]]:
    """Tags of the cases with how many have each, the most frequent ones in alphabetical order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tag, count(*) FROM rubrics_case, unnest("
            "CASE WHEN label_tags = '{}' THEN tags ELSE ARRAY(SELECT DISTINCT unnest(tags || label_tags)) END"
            ") AS tag WHERE benchmark_id = %s GROUP BY tag ORDER BY count(*) DESC, tag LIMIT %s",
            [benchmark.pk, limit],
        )
        return sorted(cursor.fetchall())


def languages(benchmark: Benchmark) -> list[str]:
    """Languages of the cases."""
    rows = Case.objects.filter(benchmark=benchmark).exclude(language="").order_by("language")
    return list(rows.values_list("language", flat=True).distinct())


def listed_candidates(benchmark: Benchmark) -> QuerySet[Candidate]:
    """Candidates with ``response_count``, ``case_count`` and ``flagged`` (responses that seem to name their author)."""
    own = Response.objects.filter(candidate=OuterRef("pk"))
    cases = own.order_by().values("candidate").annotate(number=Count("case", distinct=True)).values("number")
    return Candidate.objects.filter(benchmark=benchmark).annotate(
        response_count=_count(own, "candidate"),
        case_count=Coalesce(Subquery(cases, output_field=IntegerField()), 0),
        flagged=_count(own.filter(metadata__has_key="self_identification"), "candidate"),
    )


def listed_responses(candidate: Candidate) -> QuerySet[Response]:
    """A candidate's responses with ``length`` (code points) and ``opening``, without their texts."""
    return (
        Response.objects.filter(candidate=candidate)
        .select_related("case")
        .annotate(length=Length("text"), opening=Substr("text", 1, EXCERPT))
        .defer("text", "case__conversation", "case__metadata", "case__reference_answer")
    )
