"""A run of a judge that reads levels, what physicians read in the same responses, and references, from the database.

Beside both stand the decisions of physicians and of rubric judges on criteria about emergency care, where rubrics have
such criteria (`judge_instruments`).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from django.utils.translation import gettext as _

from agreement.acuity.judge_instruments import ASPECTS, Advice, DecidedResponse
from agreement.acuity.judge_tables import Mark, ReadResponse, place_of_mark
from annotation.labels.advice import ReadAnswer, read_answers
from annotation.models import ReferenceItem, ReferenceSet
from annotation.selectors.ratings import faulty_pairs, group_ratings, groups_with_decisions, with_faulty
from consilium.core.errors import DomainError
from consilium.core.ratings import Ratings, Span
from consilium.statistics.outcomes import Outcome
from rubrics.bank.clusters import ClusterCriterion, cluster_criteria
from rubrics.bank.consensus import consensus
from rubrics.models import Benchmark, Criterion
from scoring.models import AcuityReading, JudgeRun
from scoring.runs.selectors import run_sets

State = AcuityReading.State
_TEXTS = (
    *("text", "explanation", "condition", "response__text", "response__metadata"),
    *("case__conversation", "case__reference_answer", "case__metadata"),
)


@dataclass(frozen=True)
class JudgeInputs:
    """What a report on a run rests on.

    ``decisions`` are those on criteria about emergency care; ``n_emergency_criteria`` of them are in the rubrics.
    """

    responses: list[ReadResponse]
    decisions: list[DecidedResponse]
    n_emergency_criteria: int

    @property
    def n_read(self) -> int:
        """The number of responses that physicians have read."""
        return sum(bool(response.physicians) for response in self.responses)

    @property
    def digest(self) -> str:
        """SHA-256 of what was read."""
        parts = [astuple(row) for row in self.responses]
        if self.decisions:
            parts += [astuple(row) for row in self.decisions]
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def run_of_judge(benchmark: Benchmark, public_id: str) -> JudgeRun:
    """A finished run of a judge that reads levels; `DomainError` where there is none of this id.

    One that came with a release is known by the id that it had there as well.
    """
    runs = JudgeRun.objects.filter(benchmark=benchmark, purpose=JudgeRun.Purpose.ACUITY).select_related("judge__scale")
    runs = runs.filter(status=JudgeRun.Status.FINISHED)
    run = runs.filter(public_id=public_id).first() or runs.filter(origin=public_id).exclude(origin="").first()
    if run is None:
        raise DomainError(
            _("There is no finished run “%(run)s” of a judge that reads levels on this benchmark.") % {"run": public_id}
        )
    return run


def read_judge(run: JudgeRun, reference_set: ReferenceSet | None = None) -> JudgeInputs:
    """The responses of a run, by case, candidate and sample. Replicates count by their most frequent level."""
    scale = run.judge.scale
    assert scale is not None
    physicians: dict[int, list[ReadAnswer]] = defaultdict(list)
    for answer in read_answers(scale):
        physicians[answer.response].append(answer)
    references: dict[int, int] = {}
    if reference_set is not None:
        clear = ReferenceItem.objects.filter(reference_set=reference_set, status=ReferenceItem.Status.CLEAR)
        references = {case: low for case, low in clear.values_list("case", "low") if low is not None}
    readings: dict[int, list[AcuityReading]] = defaultdict(list)
    rows = AcuityReading.objects.filter(judge_run=run, case__excluded_at=None)
    rows = rows.select_related("case", "candidate", "response").defer(*_TEXTS)
    for reading in sorted(rows, key=lambda row: (row.case.key, row.candidate.name, row.sample, row.replicate)):
        assert reading.response_id is not None
        readings[reading.response_id].append(reading)
    chosen = {response: _most_frequent(own) for response, own in readings.items()}
    responses = [_response(own, physicians[response], references, run) for response, own in chosen.items()]
    return JudgeInputs(responses, *_decisions(run.benchmark, chosen, physicians))


def _most_frequent(own: Sequence[AcuityReading]) -> AcuityReading:
    """Of several replicates the first with the most frequent level; of levels as frequent the more urgent counts."""
    counts = Counter(reading.level for reading in own if reading.level is not None)
    level = max(counts, key=lambda place: (counts[place], place)) if counts else None
    return next(reading for reading in own if reading.level == level)


def _response(
    chosen: AcuityReading, answers: Sequence[ReadAnswer], references: Mapping[int, int], run: JudgeRun
) -> ReadResponse:
    spans = () if chosen.quote_start is None else ((chosen.quote_start, chosen.quote_end or 0),)
    marks = (Mark(own.level, own.spans, is_drawn=own.run == run.public_id) for own in answers)
    return ReadResponse(
        case=chosen.case.key,
        candidate=chosen.candidate.name,
        judge=Mark(chosen.level, spans),
        judge_state=chosen.state,
        # In an order that does not depend on who they are, which differs where a release was imported.
        physicians=tuple(sorted(marks, key=place_of_mark)),
        reference=references.get(chosen.case_id),
    )


# Decisions on criteria about emergency care


def _decisions(
    benchmark: Benchmark, chosen: Mapping[int, AcuityReading], physicians: Mapping[int, Sequence[ReadAnswer]]
) -> tuple[list[DecidedResponse], int]:
    """The decisions on responses of the run, by cluster, rater, response and criterion; and how many criteria there
    are.
    """
    criteria = cluster_criteria(benchmark, [entry for entry in consensus() if entry.key in ASPECTS])
    if not criteria or not chosen:
        return [], len(criteria)
    span = Span(min(chosen), max(chosen))
    faulty = faulty_pairs(benchmark).within(span)
    texts = dict(
        Criterion.objects.filter(pk__in={own.criterion for own in criteria}).order_by("pk").values_list("pk", "text")
    )
    raters = [(rater, with_faulty(ratings, faulty)) for rater, ratings in _raters(benchmark, span)]
    rows = []
    for own in criteria:
        for rater, ratings in raters:
            for response, outcome in _outcomes(ratings, own):
                if response in chosen:
                    answers = physicians.get(response, ())
                    rows.append(_decided(own, texts[own.criterion], rater, outcome, chosen[response], answers))
    clusters, names = list(ASPECTS), [rater for rater, _ratings in raters]

    def place(row: DecidedResponse) -> tuple[object, ...]:
        of_table = clusters.index(row.cluster), names.index(row.rater)
        return (*of_table, row.case, row.candidate, row.sample, row.response, row.criterion)

    return sorted(rows, key=place), len(criteria)


def _raters(benchmark: Benchmark, span: Span) -> Iterator[tuple[str, Ratings]]:
    """Each group of physicians after its check, then each rubric judge by the runs that count for it."""
    for group in groups_with_decisions(benchmark):
        yield f"group:{group.name}@checked", group_ratings(group, "checked", span)
    for name, runs in run_sets(benchmark).items():
        yield name, runs.ratings(span)


def _outcomes(ratings: Ratings, own: ClusterCriterion) -> Iterator[tuple[int, Outcome]]:
    """The responses with a decision on a criterion."""
    where = np.flatnonzero(ratings.criterion == own.criterion)
    for response, code in zip(ratings.response[where].tolist(), ratings.outcome[where].tolist(), strict=True):
        yield response, Outcome(code)


def _decided(
    own: ClusterCriterion,
    text: str,
    rater: str,
    outcome: Outcome,
    reading: AcuityReading,
    answers: Sequence[ReadAnswer],
) -> DecidedResponse:
    assert reading.response is not None
    is_read = reading.state in (State.LEVEL, State.NO_LEVEL, State.REFUSED)
    judge = (Advice(reading.level, reading.escalation),) if is_read else ()
    return DecidedResponse(
        cluster=own.cluster,
        rater=rater,
        case=reading.case.key,
        candidate=reading.candidate.name,
        sample=reading.sample,
        response=reading.response.public_id,
        criterion=text,
        outcome=outcome.word,
        negative=own.negative,
        readings={"judge": judge, "physicians": tuple(Advice(own.level, own.escalation) for own in answers)},
    )
