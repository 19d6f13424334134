"""What physicians decided and judges said about one criterion, response by response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from annotation.models import Amendment, Decision, Ruling
from annotation.selectors.ratings import rated_work
from rubrics.models import Benchmark, Case, Criterion, Response
from scoring.runs.selectors import run_sets

MAX_RESPONSES = 200


@dataclass(frozen=True, slots=True)
class GivenOutcome:
    """An outcome that somebody gave, and how often: a group's annotators, its adjudicator, or a judge."""

    who: str
    outcome: str
    number: int
    address: str
    is_ruling: bool = False


@dataclass(slots=True)
class GradedResponse:
    """A response with the outcomes of one criterion: of physicians, and of the runs that count for each judge."""

    response: Response
    decisions: list[GivenOutcome] = field(default_factory=list)
    verdicts: list[GivenOutcome] = field(default_factory=list)


def graded_responses(case: Case, criterion: Criterion) -> list[GradedResponse]:
    """The responses to ``case`` on which somebody decided about ``criterion``, at most `MAX_RESPONSES`.

    Decisions are those of submitted work, in its last round, as the checker amended them. One query for decisions, one
    for rulings, two, and one more for each judge, for verdicts.
    """
    benchmark = case.benchmark
    rows: dict[int, GradedResponse] = {}
    responses = Response.objects.filter(case=case).select_related("candidate")
    for response in responses.order_by("candidate__kind", "candidate__name", "sample", "pk"):
        rows[response.pk] = GradedResponse(response)
    for pk, outcome in _decisions(benchmark, case, criterion):
        rows[pk].decisions.append(outcome)
    for pk, outcome in _verdicts(benchmark, case, criterion):
        rows[pk].verdicts.append(outcome)
    return [row for row in rows.values() if row.decisions or row.verdicts][:MAX_RESPONSES]


def _decisions(benchmark: Benchmark, case: Case, criterion: Criterion) -> Iterator[tuple[int, GivenOutcome]]:
    amended = Amendment.objects.filter(
        check_row__assignment=OuterRef("assignment"),
        check_row__round=OuterRef("round"),
        check_row__result="accepted",
        criterion=OuterRef("criterion"),
    ).exclude(outcome="")
    decisions = Decision.objects.filter(
        assignment__in=rated_work(benchmark).filter(case=case),
        criterion=criterion,
        outcome__isnull=False,
        round=F("assignment__round"),
    ).annotate(as_checked=Coalesce(Subquery(amended.values("outcome")[:1]), "outcome"))
    group = ("assignment__batch__group__name", "assignment__batch__group__public_id")
    columns = ("assignment__response", *group, "as_checked")
    for response, name, public_id, outcome, number in (
        decisions.values(*columns).annotate(number=Count("pk")).order_by(*columns).values_list(*columns, "number")
    ):
        yield response, GivenOutcome(name, outcome, number, _group_address(benchmark, public_id))
    rulings = Ruling.objects.filter(adjudication__response__case=case, criterion=criterion, final_at__isnull=False)
    of_group = ("adjudication__group__name", "adjudication__group__public_id")
    for response, name, public_id, outcome in rulings.order_by("final_at", "pk").values_list(
        "adjudication__response", *of_group, "outcome"
    ):
        yield response, GivenOutcome(name, outcome, 1, _group_address(benchmark, public_id), is_ruling=True)


def _group_address(benchmark: Benchmark, public_id: str) -> str:
    return reverse("annotation:group", args=[benchmark.slug, public_id])


def _verdicts(benchmark: Benchmark, case: Case, criterion: Criterion) -> Iterator[tuple[int, GivenOutcome]]:
    columns = ("response", "run__public_id", "response__candidate__public_id", "outcome")
    for judge in run_sets(benchmark).values():
        verdicts = judge.verdicts().filter(response__case=case, criterion=criterion)
        for response, run, candidate, outcome, number in (
            verdicts.order_by().values(*columns).annotate(number=Count("pk")).order_by(*columns)
        ).values_list(*columns, "number"):
            address = reverse("scoring:verdicts", args=[benchmark.slug, run])
            yield (
                response,
                GivenOutcome(judge.judge_name, outcome, number, f"{address}?{urlencode({'candidate': candidate})}"),
            )
