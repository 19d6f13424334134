"""A run of a judge that reads levels, what physicians read in the same responses, and references, from the database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from django.utils.translation import gettext as _

from agreement.acuity.judge_tables import Mark, ReadResponse
from annotation.labels.advice import read_answers
from annotation.models import ReferenceItem, ReferenceSet
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.models import AcuityReading, JudgeRun


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


def read_judge(run: JudgeRun, reference_set: ReferenceSet | None = None) -> list[ReadResponse]:
    """The responses of a run, by case, candidate and sample. Replicates count by their most frequent level."""
    scale = run.judge.scale
    assert scale is not None
    physicians: dict[int, list[Mark]] = defaultdict(list)
    for answer in read_answers(scale):
        physicians[answer.response].append(Mark(answer.level, answer.spans))
    references: dict[int, int] = {}
    if reference_set is not None:
        clear = ReferenceItem.objects.filter(reference_set=reference_set, status=ReferenceItem.Status.CLEAR)
        references = {case: low for case, low in clear.values_list("case", "low") if low is not None}
    readings: dict[int, list[AcuityReading]] = defaultdict(list)
    rows = AcuityReading.objects.filter(judge_run=run, case__excluded_at=None).select_related("case", "candidate")
    for reading in sorted(rows, key=lambda row: (row.case.key, row.candidate.name, row.sample, row.replicate)):
        assert reading.response_id is not None
        readings[reading.response_id].append(reading)
    return [_response(own, physicians[response], references) for response, own in readings.items()]


def _response(own: Sequence[AcuityReading], marks: Sequence[Mark], references: dict[int, int]) -> ReadResponse:
    counts = Counter(reading.level for reading in own if reading.level is not None)
    # Of several levels as frequent the more urgent counts.
    level = max(counts, key=lambda place: (counts[place], place)) if counts else None
    chosen = next(reading for reading in own if reading.level == level)
    spans = () if chosen.quote_start is None else ((chosen.quote_start, chosen.quote_end or 0),)
    return ReadResponse(
        case=chosen.case.key,
        candidate=chosen.candidate.name,
        judge=Mark(level, spans),
        judge_state=chosen.state,
        # In an order that does not depend on who they are, which differs where a release was imported.
        physicians=tuple(sorted(marks, key=lambda mark: (-1 if mark.level is None else mark.level, mark.spans))),
        reference=references.get(chosen.case_id),
    )
