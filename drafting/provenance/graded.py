"""What physicians decided and judges said about one criterion, response by response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from annotation.models import Amendment, Assignment, Decision, Ruling
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


@dataclass(frozen=True, slots=True)
class GradedResponses:
    """The first responses with an outcome, at most `MAX_RESPONSES`, and how many there are."""

    rows: list[GradedResponse]
    total: int


def graded_responses(case: Case, criterion: Criterion) -> GradedResponses:
    """The responses to ``case``, without their texts, on which somebody decided about ``criterion``.

    Decisions are those of submitted work, in the last round that was submitted, as the checker amended them. Of
    rulings the newest counts. One query for responses, one for decisions, one for rulings, two, and one more for each
    judge, for verdicts.
    """
    benchmark = case.benchmark
    rows: dict[int, GradedResponse] = {}
    responses = Response.objects.filter(case=case).select_related("candidate")
    responses = responses.only("public_id", "sample", "candidate__kind", "candidate__name")
    for response in responses.order_by("candidate__kind", "candidate__name", "sample", "pk"):
        rows[response.pk] = GradedResponse(response)
    for pk, outcome in _decisions(benchmark, case, criterion):
        rows[pk].decisions.append(outcome)
    for pk, outcome in _rulings(benchmark, case, criterion):
        rows[pk].decisions.append(outcome)
    for pk, outcome in _verdicts(benchmark, case, criterion):
        rows[pk].verdicts.append(outcome)
    graded = [row for row in rows.values() if row.decisions or row.verdicts]
    return GradedResponses(graded[:MAX_RESPONSES], len(graded))


def _decisions(benchmark: Benchmark, case: Case, criterion: Criterion) -> Iterator[tuple[int, GivenOutcome]]:
    amended = Amendment.objects.filter(
        check_row__assignment=OuterRef("assignment"),
        check_row__round=OuterRef("round"),
        check_row__result="accepted",
        criterion=OuterRef("criterion"),
    ).exclude(outcome="")
    # The round of returned work is not submitted yet: the one before it holds.
    returned = Q(assignment__status=Assignment.Status.RETURNED)
    submitted = Q(returned, round=F("assignment__round") - 1) | Q(~returned, round=F("assignment__round"))
    decisions = Decision.objects.filter(
        submitted, assignment__in=rated_work(benchmark).filter(case=case), criterion=criterion, outcome__isnull=False
    ).annotate(as_checked=Coalesce(Subquery(amended.values("outcome")[:1]), "outcome"))
    group = ("assignment__batch__group__name", "assignment__batch__group__public_id")
    columns = ("assignment__response", *group, "as_checked")
    for response, name, public_id, outcome, number in (
        decisions.values(*columns).annotate(number=Count("pk")).order_by(*columns).values_list(*columns, "number")
    ):
        yield response, GivenOutcome(name, outcome, number, _group_address(benchmark, public_id))


def _rulings(benchmark: Benchmark, case: Case, criterion: Criterion) -> Iterator[tuple[int, GivenOutcome]]:
    """The newest ruling on each response within a group, or between two groups, as `annotation.selectors.ratings`."""
    rulings = Ruling.objects.filter(adjudication__response__case=case, criterion=criterion, final_at__isnull=False)
    columns = ("group__name", "group__public_id", "other_group__name")
    newest: dict[tuple[int, frozenset[str | None]], GivenOutcome] = {}
    for response, outcome, name, public_id, other in rulings.order_by("final_at", "adjudication").values_list(
        "adjudication__response", "outcome", *(f"adjudication__{column}" for column in columns)
    ):
        key = response, frozenset({name, other})
        newest.pop(key, None)  # the newest comes last
        who = f"{name} · {other}" if other else name
        newest[key] = GivenOutcome(who, outcome, 1, _group_address(benchmark, public_id), is_ruling=True)
    for (response, _groups), ruling in newest.items():
        yield response, ruling


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
