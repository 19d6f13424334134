"""Draws the responses on which physicians check a judge that reads levels, evenly over its level and the candidate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.labels.advice import (
    ReadPlan,
    ReadTerms,
    create_read_batch,
    lock_reading,
    plan_reading,
    read_answers,
    read_responses,
)
from annotation.models import NO_LEVEL, Batch, ExpertGroup, Physician
from consilium.core.drawing import keyed
from consilium.core.errors import DomainError
from rubrics.models import Response
from scoring.models import AcuityReading, Judge, JudgeRun
from scoring.runs.selectors import level_runs

ANSWER_COLUMNS = (
    *("case", "candidate", "sample", "response", "physician", "level", "escalation", "evidence", "note", "batch"),
    *("judge_level", "inclusion_probability"),
)
ANSWER_TEXT = ("case", "candidate", "physician", "evidence", "note")

Stratum = tuple[str, str]  # the judge's level, or the state of its reading; the candidate's name


@dataclass(frozen=True, slots=True)
class DrawnSample:
    """Responses drawn, and how many of each stratum there were and were taken."""

    responses: tuple[int, ...]
    strata: dict[Stratum, tuple[int, int]]


def strata_of(run: JudgeRun) -> dict[int, Stratum]:
    """The stratum of each response of a run, by the judge's first reading of it."""
    assert run.judge.scale is not None
    values = [level["value"] for level in run.judge.scale.levels]
    rows = AcuityReading.objects.filter(judge_run=run, replicate=0, case__excluded_at=None)
    return {
        int(response): (state if level is None else values[level], candidate)
        for response, state, level, candidate in rows.values_list("response", "state", "level", "candidate__name")
        if response is not None
    }


@dataclass(frozen=True, slots=True)
class PhysiciansCheck:
    """How many of the ``n_responses`` that a run of a judge read physicians have read as well."""

    run: JudgeRun
    n_responses: int
    n_read: int


def physicians_check(judge: Judge) -> PhysiciansCheck | None:
    """That of the run of a judge of levels which counts; None where none has finished."""
    if judge.scale is None:
        return None
    run = next((run for run in level_runs(judge.scale) if run.judge.name == judge.name), None)
    if run is None:
        return None
    own = strata_of(run)
    read = {answer.response for answer in read_answers(judge.scale)}
    return PhysiciansCheck(run, len(own), len(own.keys() & read))


def draw(strata: dict[int, Stratum], names: dict[int, str], *, size: int, seed: int) -> DrawnSample:
    """Draw ``size`` responses, as many of each stratum as of any other where it has them.

    ``names``: what identifies a response in every database, by which it is drawn. What a small stratum cannot give
    is taken from the others, a response at a time in a keyed order.
    """
    members: dict[Stratum, list[int]] = defaultdict(list)
    for response in sorted(strata, key=lambda response: (keyed(seed, "response", names[response]), response)):
        members[strata[response]].append(response)
    order = sorted(members, key=lambda stratum: (keyed(seed, "stratum", *stratum), stratum))
    quota = dict.fromkeys(order, 0)
    left = min(size, len(strata))
    while left:
        for stratum in order:
            if left and quota[stratum] < len(members[stratum]):
                quota[stratum] += 1
                left -= 1
    drawn = [response for stratum in order for response in members[stratum][: quota[stratum]]]
    return DrawnSample(tuple(drawn), {stratum: (len(members[stratum]), quota[stratum]) for stratum in order})


def plan_read_batch(*, group: ExpertGroup, run: JudgeRun, terms: ReadTerms) -> tuple[ReadPlan, DrawnSample]:
    """Draw from the responses of a finished run that nobody was given to read; nothing is written."""
    scale = run.judge.scale
    if run.purpose != JudgeRun.Purpose.ACUITY or run.status != JudgeRun.Status.FINISHED or scale is None:
        raise DomainError(_("Responses can be drawn only from a finished run of a judge that reads levels."))
    given = set(read_responses(scale).values_list("response", flat=True))
    strata = {response: stratum for response, stratum in strata_of(run).items() if response not in given}
    if not strata:
        raise DomainError(_("All responses of this run have already been given to physicians."))
    rows = Response.objects.filter(pk__in=strata).values_list("pk", "case__key", "candidate__name", "sample")
    names = {pk: "\x1f".join(map(str, own)) for pk, *own in rows}
    sample = draw(strata, names, size=terms.size, seed=terms.seed)
    drawn = Response.objects.in_bulk(sample.responses)
    plan = plan_reading(group=group, scale=scale, responses=[drawn[pk] for pk in sample.responses], terms=terms)
    return plan, sample


@transaction.atomic
def make_read_batch(
    *, group: ExpertGroup, run: JudgeRun, terms: ReadTerms, by: User | None, at: datetime, digest: str = ""
) -> Batch:
    """Draw responses and give them out. `AlreadyCreated` and `Conflict` as in `make_label_batch`."""
    lock_reading(group=group, seed=terms.seed, digest=digest)
    plan, sample = plan_read_batch(group=group, run=run, terms=terms)
    frame = {
        "run": run.public_id,
        "strata": [
            {"level": level, "candidate": candidate, "responses": n, "drawn": n_drawn}
            for (level, candidate), (n, n_drawn) in sample.strata.items()
        ],
        "in_frame": sum(n for n, _drawn in sample.strata.values()),
        "drawn": len(sample.responses),
    }
    return create_read_batch(plan=plan, frame=frame, by=by, at=at, digest=digest)


def inclusion_probabilities(batch: Batch) -> dict[Stratum, float]:
    """How likely a response of each stratum was drawn for a batch."""
    rows: Sequence[dict[str, Any]] = batch.frame.get("strata", [])
    return {(row["level"], row["candidate"]): row["drawn"] / row["responses"] for row in rows}


def answer_rows(run: JudgeRun) -> Iterator[tuple[Any, ...]]:
    """What physicians marked on responses of a run, in `ANSWER_COLUMNS`."""
    scale = run.judge.scale
    assert scale is not None
    values = [level["value"] for level in scale.levels]
    strata = strata_of(run)
    answers = [answer for answer in read_answers(scale) if answer.response in strata]
    responses = Response.objects.select_related("case", "candidate").in_bulk({answer.response for answer in answers})
    physicians = dict(Physician.objects.filter(benchmark=run.benchmark_id).values_list("user_id", "pseudonym"))
    # A batch that was drawn for another run says nothing of the strata of this one.
    own = {answer.batch for answer in answers if answer.run == run.public_id}
    chances = {row.public_id: inclusion_probabilities(row) for row in Batch.objects.filter(public_id__in=own)}
    ordered = sorted(answers, key=lambda answer: (responses[answer.response].case.key, answer.response, answer.reader))
    for answer in ordered:
        response = responses[answer.response]
        yield (
            *(response.case.key, response.candidate.name, response.sample, response.public_id),
            physicians.get(answer.reader, ""),
            NO_LEVEL if answer.level is None else values[answer.level],
            "" if answer.escalation is None else values[answer.escalation],
            " | ".join(response.text[start:end] for start, end in answer.spans),
            answer.note,
            answer.batch,
            strata[answer.response][0],
            chances.get(answer.batch, {}).get(strata[answer.response]),
        )
