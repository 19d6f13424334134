"""Writes answers that were handed in elsewhere, as the tasks of closed batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from annotation.models import FIRST_ROUND, LabelAnswer, LabelTask
from consilium.core.identifiers import new_public_id
from rubrics.imports.bulk import copy_rows, reserve_ids

TASK_COLUMNS = (
    *("id", "public_id", "batch", "case", "response", "annotator", "status", "position", "round", "started_at"),
)
ANSWER_COLUMNS = (
    *("task", "question", "value", "upper", "reason", "certainty", "escalation", "evidence", "note"),
    *("version", "created_at", "updated_at"),
)


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What somebody answered about a case, or about one response to it, and when it counts as handed in."""

    batch: int
    case: int
    annotator: int
    question: int
    value: str
    at: datetime
    round: int = FIRST_ROUND
    upper: str = ""
    reason: str = ""
    certainty: int | None = None
    note: str = ""
    response: int | None = None
    escalation: str = ""
    evidence: Sequence[dict[str, Any]] = ()


def store_handed_in(answers: Sequence[HandedIn], *, at: datetime) -> None:
    """Store tasks and answers in this order, which decides where somebody answered twice.

    An answer is frozen once its task is handed in, so that comes last.
    """
    ids = reserve_ids(LabelTask, len(answers))
    draft = LabelTask.Status.DRAFT.value
    copy_rows(
        LabelTask,
        TASK_COLUMNS,
        (
            (
                *(pk, new_public_id(), row.batch, row.case, row.response, row.annotator, draft, position),
                *(row.round, at),
            )
            for position, (pk, row) in enumerate(zip(ids, answers, strict=True), start=1)
        ),
    )
    copy_rows(
        LabelAnswer,
        ANSWER_COLUMNS,
        (
            (
                *(pk, row.question, row.value, row.upper, row.reason, row.certainty, row.escalation),
                *(Jsonb([*row.evidence]), row.note, 1, at, at),
            )
            for pk, row in zip(ids, answers, strict=True)
        ),
    )
    tasks: dict[tuple[int, datetime], list[int]] = defaultdict(list)
    for pk, row in zip(ids, answers, strict=True):
        tasks[row.round, row.at].append(pk)
    for number, moment in sorted(tasks):
        LabelTask.objects.filter(pk__in=tasks[number, moment]).update(
            status=LabelTask.Status.SUBMITTED, submitted_at=moment
        )
