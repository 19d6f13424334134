"""Makes, cancels and resumes runs that ask for responses. The items hold what is due; tasks only carry ids.

States: pending → running → finished | incomplete | failed; running → paused → running while the endpoint is down;
pending, running or paused → cancelled, after which answers to requests in flight are still written; and from cancelled,
incomplete, failed and paused back to pending by `resume_run`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import register
from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.locked_jobs import LockedKind
from consilium.core.locks import WorkerLock
from consilium.core.transitions import transition
from rubrics.models import Benchmark, Candidate
from scoring.generation.config import GenerationConfig, generation_config
from scoring.generation.due_responses import DUE, CaseFrame, cases_in, due_parameters
from scoring.generation.storing import TAKEN
from scoring.models import GenerationItem, GenerationRun

MAX_SAMPLES = 100
SETTING = "chat"
RESUMABLE = (
    GenerationRun.Status.CANCELLED,
    GenerationRun.Status.INCOMPLETE,
    GenerationRun.Status.FAILED,
    GenerationRun.Status.PAUSED,
)


def check_candidate(benchmark: Benchmark, name: str) -> Candidate | None:
    """The candidate called ``name``, None if it is new; `DomainError` if responses of it cannot be generated."""
    if not name or name != name.strip() or len(name) > MAX_KEY_LENGTH or re.search(r"[\x00-\x1f]", name):
        raise DomainError(
            _("A candidate’s name has 1 to %(n)s characters, and no blank at its ends.") % {"n": MAX_KEY_LENGTH}
        )
    known = Candidate.objects.filter(benchmark=benchmark, name=name).first()
    if known is not None and known.kind != Candidate.Kind.MODEL:
        raise DomainError(
            _("“%(name)s” is no model, but: %(kind)s. Choose another name.")
            % {"name": name, "kind": known.get_kind_display()}
        )
    return known


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    candidate: str,
    config: Mapping[str, Any],
    frame: CaseFrame,
    samples: int,
    by: User | None,
    at: datetime,
    setting: str = SETTING,
) -> GenerationRun:
    """Make a run with its items, and enqueue a task once this is committed.

    Samples are numbered from 0; those that exist, or that another run is about to request, are left out.
    """
    checked = generation_config(dict(config))
    if not 1 <= samples <= MAX_SAMPLES:
        raise DomainError(_("A run has 1 to %(n)s samples of each case.") % {"n": MAX_SAMPLES})
    if not setting or len(setting) > 40:
        raise DomainError(_("A setting has 1 to 40 characters."))
    known = check_candidate(benchmark, candidate)
    if known is None:
        known, _created = Candidate.objects.get_or_create(benchmark=benchmark, name=candidate)
    # Two runs for one candidate are made one after the other, so that no response is due in both.
    known = Candidate.objects.select_for_update().get(pk=known.pk)
    _remember_prompt(known, checked)
    run = GenerationRun.objects.create(
        benchmark=benchmark,
        candidate=known,
        setting=setting,
        config=checked.model_dump(mode="json"),
        frame=frame.stored(),
        samples=samples,
        created_by=by,
        created_at=at,
    )
    params = due_parameters(cases_in(benchmark, frame), known, setting, samples)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO scoring_generationitem (run_id, case_id, sample, status, attempts, error_kind, error) "
            f"SELECT %(run)s, d.case_id, d.sample, 'due', 0, '', '' FROM ({DUE}) AS d",
            {**params, "run": run.pk},
        )
        if not cursor.rowcount:
            raise DomainError(_("Nothing is due: no case matches this choice, or each has its responses already."))
    GENERATIONS.enqueue([run], at=at)
    return run


def _remember_prompt(candidate: Candidate, config: GenerationConfig) -> None:
    """Keep the system prompt's text with the candidate; its responses refer to the prompt by its hash."""
    if config.system_prompt:
        prompts = {**candidate.metadata.get("system_prompts", {}), config.system_prompt_sha256: config.system_prompt}
        candidate.metadata = {**candidate.metadata, "system_prompts": prompts}
        candidate.save(update_fields=["metadata"])


@transaction.atomic
def cancel_run(*, run: GenerationRun, at: datetime) -> None:
    """Send no more requests; answers to those in flight are written. `Conflict` if the run has ended."""
    transition(
        run, source=GenerationRun.LIVE, target=GenerationRun.Status.CANCELLED, finished_at=at, resume_at=None, error=""
    )


@transaction.atomic
def resume_run(*, run: GenerationRun, at: datetime) -> None:
    """Resume a run: request again what failed, and what was not requested yet."""
    generation_config(run.config)  # the operator's list may have changed since
    retried = run.items.filter(status=GenerationItem.Status.FAILED).exclude(error_kind=TAKEN)
    retried.update(status=GenerationItem.Status.DUE, error_kind="", error="", finished_at=None)
    if not run.items.filter(status=GenerationItem.Status.DUE).exists():
        raise DomainError(_("Nothing is left to ask for."))
    transition(
        run,
        source=RESUMABLE,
        target=GenerationRun.Status.PENDING,
        error="",
        finished_at=None,
        resume_at=None,
        attempts=0,
    )
    GENERATIONS.enqueue([run], at=at)


class GenerationJobs(LockedKind[GenerationRun]):
    """Runs that ask for responses."""

    model = GenerationRun
    task = "scoring.tasks.generate_responses"
    sweep_task = "scoring.tasks.sweep_runs"
    lock = WorkerLock.GENERATION
    waiting = (GenerationRun.Status.PENDING, GenerationRun.Status.PAUSED)
    running = (GenerationRun.Status.RUNNING,)
    may_pause = True


GENERATIONS = register(GenerationJobs())
