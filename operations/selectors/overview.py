"""What the page of the server shows beside its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from consilium.core.heartbeat import BeatHeartbeat, WorkerHeartbeat, with_age
from operations.checks.worker import silent_after_s
from operations.selectors.background_work import Work, open_work, task_in_words
from operations.services.inspection import Part

# When this web process began: it imports this module as it starts.
WEB_STARTED_AT = timezone.now()


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the product, and when it was last seen to make progress."""

    name: str  # web, worker or beat
    host: str
    pid: int
    started_at: datetime
    seen_at: datetime
    state: str
    running: Sequence[str] = ()
    waiting: int = 0

    def counts(self) -> list[tuple[str, int]]:
        """Kinds of the tasks that run, in words, and the number of each."""
        names = [task_in_words(name) for name in self.running]
        return [(name, names.count(name)) for name in sorted(set(names))]


def processes() -> list[Process]:
    """All workers and beats that have a row; one that has not written for long is silent."""
    limit_s = silent_after_s()
    workers = [
        Process(
            "worker",
            row.host,
            row.pid,
            row.started_at,
            row.beat_at,
            row.state if row.age.total_seconds() <= limit_s else "silent",
            row.active_tasks,
            row.waiting_tasks,
        )
        for row in with_age(WorkerHeartbeat.objects.order_by("host", "started_at"))
    ]
    return workers + [
        Process("beat", row.host, row.pid, row.started_at, row.beat_at, "working")
        for row in with_age(BeatHeartbeat.objects.order_by("host", "started_at"))
    ]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the page as a file."""

    columns: Sequence[str]
    text_columns: Sequence[str]
    row: Callable[[Any], Sequence[Any]]

    def rows(self, entries: Iterable[Any]) -> Iterable[Sequence[Any]]:
        """The cells of each entry."""
        return map(self.row, entries)


def _part_row(part: Part) -> Sequence[Any]:
    return part.name, str(part.state), _iso(part.since), part.message, part.advice


def _process_row(process: Process) -> Sequence[Any]:
    return (
        process.name,
        process.host,
        process.pid,
        process.state,
        _iso(process.started_at),
        _iso(process.seen_at),
        " ".join(process.running),
        process.waiting,
    )


def _work_row(work: Work) -> Sequence[Any]:
    backlog = work.backlog
    since = _iso(backlog.stalled_since) if backlog.stalled_since else None
    return work.name, backlog.waiting, backlog.running, backlog.stalled, since


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


PARTS_TABLE = Table(("part", "state", "since", "message", "advice"), ("part", "state", "message", "advice"), _part_row)
PROCESSES_TABLE = Table(
    ("process", "host", "pid", "state", "started_at", "seen_at", "running_tasks", "waiting_tasks"),
    ("process", "host", "state", "running_tasks"),
    _process_row,
)
WORK_TABLE = Table(("kind", "waiting", "running", "stalled", "stalled_since"), ("kind",), _work_row)
__all__ = ["PARTS_TABLE", "PROCESSES_TABLE", "WEB_STARTED_AT", "WORK_TABLE", "Process", "open_work", "processes"]
