"""What physicians read in responses, of a release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from annotation.imports.acuity_votes import make_closed_batch
from annotation.imports.decisions import group_called
from annotation.imports.handed_in import HandedIn, store_handed_in
from annotation.labels.advice import read_question
from annotation.models import LabelAnswer, LabelQuestion, LabelTask
from annotation.services.rules import readable_constraint_errors
from releases.acuity_import.importing import AcuityImporting
from releases.content import acuity_files as files
from releases.verification.acuity_content import Row
from releases.verification.acuity_runs import passages_of


def write_advice(importing: AcuityImporting, users: Mapping[str, int]) -> None:
    """Write what is not there yet; what is there otherwise is a fault. ``users``: the user of each pseudonym."""
    content = importing.content
    if not content.advice:
        return
    questions = {
        scale: read_question(importing.benchmark, importing.scales[scale], importing.at)
        for scale in {(row["scale"], row["scale_version"]) for _line, row in content.batches.values()}
    }
    stored = _stored(questions.values())
    new: dict[int, list[Row]] = defaultdict(list)
    taken: dict[tuple[int, int, int], int] = defaultdict(int)
    for line, row in content.advice:
        batch = content.batches[row["batch"]][1]
        question = questions[batch["scale"], batch["scale_version"]].pk
        # Somebody may have read a response several times; answers are compared in their order.
        place = (question, importing.responses[_key(row)], users[row["physician"]])
        before = stored[place]
        if taken[place] >= len(before):
            new[row["batch"]].append(row)
        elif not _is_same(before[taken[place]], row):
            message = _("The physician “%(name)s” has already given a different reading of this response.")
            importing.faults.add(files.ADVICE, line, "level", message % {"name": row["physician"][:80]})
        taken[place] += 1
    importing.refuse_if_any()
    with readable_constraint_errors():
        for number in sorted(new):
            _write(importing, number, new[number], questions, users)
    n_new = sum(map(len, new.values()))
    importing.count("responses read", created=n_new, unchanged=len(content.advice) - n_new)


def _key(row: Row) -> tuple[str, str, int]:
    return row["case"], row["candidate"], row["sample"]


def _stored(questions: Any) -> dict[tuple[int, int, int], list[tuple[Any, ...]]]:
    """Answers by question, response and reader, in the order in which they were handed in."""
    rows = LabelAnswer.objects.filter(
        question__in=[question.pk for question in questions], task__status=LabelTask.Status.SUBMITTED
    ).order_by("task__submitted_at", "pk")
    stored: dict[tuple[int, int, int], list[tuple[Any, ...]]] = defaultdict(list)
    columns = ("question_id", "task__response_id", "task__annotator_id", "value", "escalation", "evidence", "note")
    for question, response, reader, *answer in rows.values_list(*columns):
        stored[question, response, reader].append(tuple(answer))
    return stored


def _is_same(before: tuple[Any, ...], row: Row) -> bool:
    """Whether an answer is the stored one; a note that is not in the release is not compared."""
    value, escalation, evidence, note = before
    passages = [(span["start"], span["end"]) for span in evidence]
    if (value, escalation, passages) != (row["level"], row["escalation"], passages_of(row["evidence"])):
        return False
    return row["note"] in ("", note)


def _write(
    importing: AcuityImporting,
    number: int,
    rows: list[Row],
    questions: Mapping[tuple[str, int], LabelQuestion],
    users: Mapping[str, int],
) -> None:
    batch_row = importing.content.batches[number][1]
    question = questions[batch_row["scale"], batch_row["scale_version"]]
    group, _created = group_called(importing.benchmark, batch_row["group"])
    strata = importing.content.strata[number]
    run = importing.judged.get(batch_row["run"])
    frame = {
        "about": "response",
        "run": run.public_id if run else "",
        "strata": strata,
        "in_frame": sum(stratum["responses"] for stratum in strata),
        "drawn": sum(stratum["drawn"] for stratum in strata),
    }
    batch = make_closed_batch(
        group=group,
        question=question,
        title=_("Physicians’ readings from a release"),
        per_case=batch_row["readers"],
        round=1,
        by=importing.by,
        at=importing.at,
        frame=frame,
    )
    answers = []
    for row in rows:
        text = importing.content.responses[_key(row)][1]["response"]
        answers.append(
            HandedIn(
                batch=batch.pk,
                case=importing.cases[row["case"]],
                annotator=users[row["physician"]],
                question=question.pk,
                value=row["level"],
                at=importing.at,
                note=row["note"],
                response=importing.responses[_key(row)],
                escalation=row["escalation"],
                evidence=[
                    {"quote": text[start:end], "start": start, "end": end}
                    for start, end in passages_of(row["evidence"]) or ()
                ],
            )
        )
    store_handed_in(answers, at=importing.at)
