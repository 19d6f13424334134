"""Open background work by kind, and what of it has not moved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from consilium.core.jobs import Backlog, kinds

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# Task → what people call the work.
LABELS: dict[str, _StrPromise] = {
    "rubrics.tasks.run_import": _("Imports"),
    "scoring.tasks.judge_slice": _("Judge runs, in parts"),
    "scoring.tasks.work_on_pipeline": _("Runs of steps"),
    "scoring.tasks.train_judge": _("Trained judges"),
    "scoring.tasks.ask_on_trial": _("Requests to try an endpoint"),
    "agreement.tasks.run_report": _("Reports"),
    "agreement.tasks.run_replication": _("Replications of papers"),
    "releases.tasks.run_release": _("Releases"),
    "documents.tasks.build_generation": _("Search indexes"),
    "operations.tasks.run_backup": _("Backups"),
}
# Tasks that are no such work: they are short, and leave no row.
MAILS, SWEEPS = _("Emails"), _("Sweeps")
SHORT_TASKS: dict[str, _StrPromise] = {
    "accounts.tasks.mail_at_once": MAILS,
    "accounts.tasks.mail_invitation": MAILS,
    "accounts.tasks.mail_account_notice": MAILS,
    "accounts.tasks.mail_password_link": MAILS,
    "accounts.tasks.sweep_mails": MAILS,
    "accounts.tasks.notify_of_expiring_tokens": SWEEPS,
    "agreement.tasks.sweep_replications": SWEEPS,
    "agreement.tasks.sweep_reports": SWEEPS,
    "annotation.tasks.sweep_due_dates": SWEEPS,
    "annotation.tasks.sweep_gold": SWEEPS,
    "annotation.tasks.sweep_slots": SWEEPS,
    "consilium.tasks.clear_expired_sessions": SWEEPS,
    "documents.tasks.sweep_generations": SWEEPS,
    "operations.tasks.schedule_backups": SWEEPS,
    "operations.tasks.sweep_backups": SWEEPS,
    "releases.tasks.sweep_releases": SWEEPS,
    "rubrics.tasks.sweep_imports": SWEEPS,
    "scoring.tasks.sweep_runs": SWEEPS,
}


def task_in_words(task: str) -> str:
    """What people call the work of a task; its name for programs where it has none."""
    return str(LABELS.get(task) or SHORT_TASKS.get(task) or task.rpartition(".")[2])


@dataclass(frozen=True, slots=True)
class Work:
    """Open work of one kind; ``name`` is for programs."""

    name: str
    label: str
    backlog: Backlog


def open_work(*, at: datetime) -> list[Work]:
    """One entry for each kind of background work. One without a label comes last, by its name for programs."""
    places = {task: place for place, task in enumerate(LABELS)}
    works = []
    for kind in sorted(kinds(), key=lambda kind: (places.get(kind.task, len(places)), kind.task)):
        name = kind.task.rpartition(".")[2]
        works.append(Work(name, task_in_words(kind.task), kind.backlog(at=at)))
    return works
