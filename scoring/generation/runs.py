"""Makes runs that ask for responses. How they go on is in `scoring.pipelines.runs`, with cancelling and resuming."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_KEY_LENGTH
from rubrics.models import Benchmark, Candidate
from scoring.generation.config import GenerationConfig, generation_config
from scoring.generation.due_responses import DUE, CaseFrame, cases_in, due_parameters
from scoring.generation.kind import KIND, STAGE
from scoring.models import GenerationRun
from scoring.pipelines import runs as pipeline_runs

MAX_SAMPLES = 100
SETTING = "chat"


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
    """Make a run with its steps, and enqueue a task once this is committed.

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
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        candidate=known,
        config=checked.model_dump(mode="json"),
        terms={"setting": setting, "samples": samples},
        frame=frame.stored(),
        by=by,
        at=at,
    )
    params = due_parameters(cases_in(benchmark, frame), known, setting, samples)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO scoring_pipelinestep (
                run_id, case_id, key, stage, round, state, input_digest, request_hash, findings, attempts, re_asks,
                error_kind, error
            )
            SELECT %(run)s, d.case_id, d.sample::text, %(stage)s, 0, 'ready', '', '', '[]', 0, 0, '', ''
            FROM ({DUE}) AS d
            """,
            {**params, "run": run.pk, "stage": STAGE},
        )
        if not cursor.rowcount:
            raise DomainError(_("Nothing is due: no case matches this choice, or each has its responses already."))
    return GenerationRun.objects.get(pk=run.pk)


def _remember_prompt(candidate: Candidate, config: GenerationConfig) -> None:
    """Keep the system prompt's text with the candidate; its responses refer to the prompt by its hash."""
    if config.system_prompt:
        prompts = {**candidate.metadata.get("system_prompts", {}), config.system_prompt_sha256: config.system_prompt}
        candidate.metadata = {**candidate.metadata, "system_prompts": prompts}
        candidate.save(update_fields=["metadata"])
