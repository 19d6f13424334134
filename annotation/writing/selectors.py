"""Data for the pages of written responses. A writer's page has no name, header or id that reveals who answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from string import ascii_uppercase

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.access import AnyUser
from annotation.dashboard.names import People, Person
from annotation.models import Batch, Membership, WritingTask
from annotation.selectors.case_work import CaseWork, case_work, of_excluded_cases
from annotation.selectors.own_work_queries import BATCH, OwnQuery
from annotation.selectors.queue_places import writing_queue
from rubrics.models import Benchmark, Response

# Each character of Han, kana and hangul counts as a word; other words are separated by spaces.
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def count_words(text: str) -> int:
    """Words of ``text``, as the page counts them."""
    return len(_WORDS.findall(text))


# A physician's own tasks ----------------------------------------------------------------------------------------------


def own_tasks(user: AnyUser) -> QuerySet[WritingTask]:
    """Tasks that the user has as a member of the group, in any state of the batch; released tasks are left out."""
    groups = Membership.objects.filter(user=user.pk, role=Membership.Role.ANNOTATOR, active=True).values("group")
    rows = WritingTask.objects.filter(writer=user.pk, batch__group__in=groups)
    return rows.exclude(status=WritingTask.Status.RELEASED)


def get_own_task(user: AnyUser, public_id: str) -> WritingTask:
    """One of the user's own tasks, with the related rows that its page shows; otherwise 404."""
    if "\x00" in public_id:
        raise Http404
    rows = own_tasks(user).select_related("batch__group__benchmark", "batch__writing_terms", "case")
    return get_object_or_404(rows, public_id=public_id)


def submitted_tasks(user: AnyUser) -> QuerySet[WritingTask]:
    """Tasks that the user has submitted, to read: also in groups in which their work has ended."""
    return WritingTask.objects.filter(writer=user.pk, status=WritingTask.Status.SUBMITTED)


def get_readable_task(user: AnyUser, public_id: str) -> WritingTask:
    """`get_own_task`, or a task that the user submitted in a group in which their work has ended."""
    ended = submitted_tasks(user).filter(public_id=public_id) if "\x00" not in public_id else None
    if ended is None or own_tasks(user).filter(public_id=public_id).exists():
        return get_own_task(user, public_id)
    return get_object_or_404(ended.select_related("batch__group__benchmark", "batch__writing_terms", "case"))


_TASKS = OwnQuery(
    lambda user, within: (
        own_tasks(user)
        .filter(within(BATCH))
        .exclude(of_excluded_cases())
        .order_by("batch", "position", "pk")
        .values_list("batch", "public_id", "status", "seconds")
    )
)


def writing_work(user: User, benchmark: Benchmark | None = None) -> list[CaseWork]:
    """The user's cases to write to, a row for each batch in the order of due dates; in one benchmark or in all."""
    return case_work(_TASKS.rows(user, benchmark), "writing_terms")


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a task in its writer's queue."""

    position: int
    total: int


def place_of(task: WritingTask) -> Place:
    """The place of ``task`` among the tasks that its writer has in the batch."""
    mine = list(
        writing_queue(batch=task.batch_id, writer=task.writer_id, of=task.pk)
        .order_by("position", "pk")
        .values_list("pk", flat=True)
    )
    return Place(mine.index(task.pk) + 1 if task.pk in mine else 0, len(mine))


@dataclass(frozen=True, slots=True)
class Reference:
    """An answer beside the editor. The writer sees its letter, and not who wrote it."""

    place: int
    letter: str
    text: str
    begun_from: bool

    @property
    def heading(self) -> str:
        """The name that the writer sees."""
        return _("Reference %(letter)s") % {"letter": self.letter}

    @property
    def script_id(self) -> str:
        """The id of the page's element that holds the text for the editor."""
        return f"reference-text-{self.place}"


def references_of(task: WritingTask) -> list[Reference]:
    """The references of a task in its writer's order."""
    texts = dict(Response.objects.filter(pk__in=task.shown).values_list("pk", "text"))
    return [
        Reference(place, ascii_uppercase[place], texts[pk], pk == task.derived_from_id)
        for place, pk in enumerate(task.shown)
    ]


def reference_begun_from(task: WritingTask) -> int | None:
    """The place of the reference that the text was begun from; None if it was begun from none."""
    return task.shown.index(task.derived_from_id) if task.derived_from_id in task.shown else None


# For those who run the benchmark --------------------------------------------------------------------------------------

TASK_COLUMNS = (
    "case", "writer", "status", "released_because", "mode", "mode_name", "candidate", "sample", "response",
    "derived_from", "attested", "characters", "words", "seconds", "started_at", "submitted_at",
)  # fmt: skip
TASK_TEXT = ("case", "writer", "mode_name", "candidate", "derived_from")


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One task of a batch as an admin sees it."""

    task: WritingTask
    writer: Person
    since: datetime | None
    characters: int


def batch_tasks(batch: Batch) -> QuerySet[WritingTask]:
    """The tasks of a batch in the order of cases, with the related rows that the table needs."""
    rows = WritingTask.objects.filter(batch=batch).select_related(
        "case", "response__candidate", "derived_from__candidate", "batch__writing_terms__candidate"
    )
    return rows.order_by("case__key", "pk")


def task_lines(tasks: list[WritingTask], people: People) -> list[TaskLine]:
    """The lines of the table on the batch's page."""
    return [
        TaskLine(
            task,
            people[task.writer_id],
            task.submitted_at or task.released_at or task.saved_at,
            len(task.response.text if task.response else task.text),
        )
        for task in tasks
    ]


def task_rows(batch: Batch, people: People) -> Iterator[dict[str, object]]:
    """CSV rows of every task, writers by pseudonym; an open task has its present length, and never its text."""
    for task in batch_tasks(batch).iterator(chunk_size=500):
        terms, response = task.batch.writing_terms, task.response
        text = response.text if response else task.text
        yield {
            "case": task.case.key,
            "writer": people[task.writer_id].pseudonym,
            "status": task.status,
            "released_because": task.release_reason,
            "mode": terms.mode,
            "mode_name": terms.mode_name,
            "candidate": terms.candidate.name,
            "sample": response.sample if response else None,
            "response": response.public_id if response else "",
            "derived_from": task.derived_from.candidate.name if task.derived_from else "",
            "attested": response.metadata.get("attested") if response else None,
            "characters": len(text),
            "words": count_words(text),
            "seconds": task.seconds,
            "started_at": task.started_at.isoformat() if task.started_at else None,
            "submitted_at": task.submitted_at.isoformat() if task.submitted_at else None,
        }
