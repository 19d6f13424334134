"""Makes runs that classify. How they go on is in `scoring.pipelines.runs`, with cancelling and resuming."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, IntegerField, OuterRef
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.acuity import services as acuity_services
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark, Candidate
from scoring.acuity.selectors import scale_names
from scoring.classification.config import classification_config, levels_of
from scoring.classification.due_choices import DUE, due_parameters
from scoring.classification.kind import KIND, STAGE
from scoring.classification.storing import readings_of_other_runs
from scoring.generation.due_responses import CaseFrame, cases_in
from scoring.generation.runs import check_candidate
from scoring.models import ClassificationRun, PipelineStep
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.kind import TAKEN

MAX_SAMPLES = 100
SAMPLES = 5


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    candidate: str,
    scale: str,
    config: Mapping[str, Any],
    frame: CaseFrame,
    by: User | None,
    at: datetime,
    samples: int = SAMPLES,
    budget: Decimal | None = None,
) -> ClassificationRun:
    """Make a run with its steps on the newest version of a scale, and enqueue a task once this is committed.

    Samples are numbered from 0; those that exist, or that another run is about to ask for, are left out, and so are
    cases without a text.
    """
    if scale not in scale_names(benchmark):
        raise DomainError(_("There is no scale “%(name)s”.") % {"name": scale}, field="scale")
    row = acuity_services.get_or_make_scale(benchmark=benchmark, name=scale, by=by, at=at)
    checked = classification_config({**config, "scale": str(row), "levels": levels_of(scale_of(row))})
    if not 1 <= samples <= MAX_SAMPLES:
        raise DomainError(_("A run must have 1 to %(n)s samples per case.") % {"n": MAX_SAMPLES})
    if budget is not None and not checked.priced:
        raise DomainError(_("To set a budget, enter the prices of the model."))
    known = check_candidate(benchmark, candidate)
    if known is None:
        known, _created = Candidate.objects.get_or_create(benchmark=benchmark, name=candidate)
    # Two runs for one candidate are made one after the other, so that no choice is due in both.
    known = Candidate.objects.select_for_update().get(pk=known.pk)
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        candidate=known,
        config=checked.model_dump(mode="json"),
        terms={"scale": row.pk, "samples": samples},
        frame=frame.stored(),
        by=by,
        at=at,
        budget=budget,
        currency=checked.currency if checked.priced else "",
    )
    params = due_parameters(cases_in(benchmark, frame), known, row, samples)
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
                _("There is nothing to run: no case matches these filters, or all cases already have their readings.")
            )
    return ClassificationRun.objects.get(pk=run.pk)


@transaction.atomic
def resume_run(*, run: ClassificationRun, at: datetime, budget: Decimal | None = None) -> None:
    """Ask for what failed and what was not asked yet; with ``budget``, under another limit.

    What another run has stored meanwhile is not asked for again.
    """
    same = readings_of_other_runs(run).filter(case=OuterRef("case"), sample=Cast(OuterRef("key"), IntegerField()))
    due = run.steps.filter(state__in=[PipelineStep.State.READY, PipelineStep.State.FAILED])
    due.filter(Exists(same)).update(state=PipelineStep.State.FAILED, error_kind=TAKEN, error="", call=None)
    pipeline_runs.resume_run(run=run, at=at, budget=budget)
