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
from rubrics.models import Benchmark, Candidate, Framing
from scoring.generation.config import GenerationConfig, generation_config
from scoring.generation.due_responses import DUE, CaseFrame, cases_in, due_parameters
from scoring.generation.kind import KIND, STAGE
from scoring.judges.config import InvalidConfig
from scoring.models import GenerationRun
from scoring.pipelines import runs as pipeline_runs

MAX_SAMPLES = 100
SETTING = "chat"


def check_candidate(benchmark: Benchmark, name: str) -> Candidate | None:
    """The candidate called ``name``, None if it is new; `DomainError` if responses of it cannot be generated."""
    if not name or name != name.strip() or len(name) > MAX_KEY_LENGTH or re.search(r"[\x00-\x1f]", name):
        raise DomainError(
            _("A candidate’s name must have 1 to %(n)s characters, without spaces at either end.")
            % {"n": MAX_KEY_LENGTH}
        )
    known = Candidate.objects.filter(benchmark=benchmark, name=name).first()
    if known is not None and known.kind != Candidate.Kind.MODEL:
        raise DomainError(
            _("“%(name)s” is not a model but: %(kind)s. Choose another name.")
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
    framing: int | None = None,
) -> GenerationRun:
    """Make a run with its steps, and enqueue a task once this is committed.

    Samples are numbered from 0; those that exist, or that another run is about to request, are left out. ``framing`` is
    the version of the benchmark's framing; None: each case goes as it is.
    """
    if config.get("framing") is not None:
        raise InvalidConfig(
            {"framing": _("A run must specify a version of the benchmark’s framing in addition to its settings.")}
        )
    checked = generation_config({**config, "framing": framing_settings(benchmark, framing)})
    if not 1 <= samples <= MAX_SAMPLES:
        raise DomainError(_("A run must have 1 to %(n)s samples per case.") % {"n": MAX_SAMPLES})
    if not setting or len(setting) > 40:
        raise DomainError(_("A setting must have 1 to 40 characters."))
    known = check_candidate(benchmark, candidate)
    if known is None:
        known, _created = Candidate.objects.get_or_create(benchmark=benchmark, name=candidate)
    # Two runs for one candidate are made one after the other, so that no response is due in both.
    known = Candidate.objects.select_for_update().get(pk=known.pk)
    _remember_texts(known, checked)
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
            raise DomainError(
                _("There is nothing to run: no case matches these filters, or all cases already have their responses.")
            )
    return GenerationRun.objects.get(pk=run.pk)


def framing_settings(benchmark: Benchmark, version: int | None) -> dict[str, Any] | None:
    """A version of the framing as a run keeps it; `DomainError` where the benchmark has no such version."""
    if version is None:
        return None
    framing = Framing.objects.filter(benchmark=benchmark, version=version).first()
    if framing is None:
        raise DomainError(_("This benchmark has no version %(n)s of the framing.") % {"n": version})
    return {"version": framing.version, "text": framing.text}


def _remember_texts(candidate: Candidate, config: GenerationConfig) -> None:
    """Keep the texts of system prompt and framing with the candidate; its responses refer to them by their hashes."""
    texts = {}
    if config.system_prompt:
        texts["system_prompts"] = {config.system_prompt_sha256: config.system_prompt}
    if config.framing is not None:
        texts["framings"] = {config.framing.sha256: config.framing.text}
    if texts:
        known = {name: {**candidate.metadata.get(name, {}), **added} for name, added in texts.items()}
        candidate.metadata = {**candidate.metadata, **known}
        candidate.save(update_fields=["metadata"])
