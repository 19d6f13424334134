"""Makes runs that code. How they go on is in `scoring.pipelines.runs`, with cancelling, resuming and replaying."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.llm.coding import coding_prompt_hash
from rubrics.models import Benchmark, CodeBook, Rubric
from scoring.coding.choosing import ChosenResponses, CodingFrame, choose_responses
from scoring.coding.config import CodingConfig, codes_in, coding_config
from scoring.coding.kind import KIND
from scoring.models import CodedResponse, CodingBook, CodingRun, PipelineRun, PipelineStep
from scoring.models.coding import CODE
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.kind import StepName
from scoring.pipelines.settling import new_step


def checked_settings(book: CodeBook, settings: Mapping[str, Any], *, per_case: int = 0) -> CodingConfig:
    """The settings with the codes of a book; `InvalidConfig` names each field that is wrong."""
    if not book.codes:
        raise DomainError(_("The code book has no codes."))
    language = str(settings.get("language", "en"))
    return coding_config({**settings, "codes": codes_in(book, language), "per_case": per_case})


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    book: CodeBook,
    frame: CodingFrame,
    config: Mapping[str, Any],
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> CodingRun:
    """Make a run with a step for each response, and enqueue a task once this is committed.

    From then on the version of the code book never changes.
    """
    # A book that was never used may be changed: not between reading it here and noting its use.
    book = CodeBook.objects.select_for_update(no_key=True).get(pk=book.pk, benchmark=benchmark)
    chosen = choose_responses(benchmark, book, frame)
    checked = checked_settings(book, config, per_case=chosen.per_case)
    if budget is not None and not checked.priced:
        raise DomainError(_("To set a budget, enter the prices of the model."), field="budget")
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        config=checked.model_dump(mode="json"),
        terms={
            "judge": checked.judge,
            "book": book.version,
            "model": checked.model,
            "endpoint": checked.endpoint,
            "settings": {name: value for name, value in checked.parameters(0).items() if name != "model"},
            "language": checked.language,
            "criteria": checked.criteria,
            "prompt_hash": coding_prompt_hash(checked.options, with_criteria=checked.criteria),
        },
        frame={**asdict(frame), "candidates": list(frame.candidates)},
        by=by,
        at=at,
        budget=budget,
        currency=checked.currency if checked.priced else "",
    )
    CodingBook.objects.create(run=run, book=book)
    _store_steps(run, chosen, with_criteria=checked.criteria)
    return CodingRun.objects.get(pk=run.pk)


def _store_steps(run: PipelineRun, chosen: ChosenResponses, *, with_criteria: bool) -> None:
    """All responses of a case one after the other: their texts are read together, and compared on the same cases."""
    rubrics = dict(Rubric.objects.current().filter(case__in=chosen.by_case).values_list("case", "pk"))
    planned = [(case, place, response) for case, own in chosen.by_case.items() for place, response in enumerate(own)]
    steps = PipelineStep.objects.bulk_create(
        new_step(run, case, StepName(CODE, str(place)), PipelineStep.State.READY) for case, place, _response in planned
    )
    CodedResponse.objects.bulk_create(
        CodedResponse(step=step, response_id=response, rubric_id=rubrics.get(case) if with_criteria else None)
        for step, (case, _place, response) in zip(steps, planned, strict=True)
    )


@transaction.atomic
def resume_run(*, run: CodingRun, at: datetime, budget: Decimal | None = None) -> None:
    """Ask for what failed and what was not asked yet; with ``budget``, under another limit."""
    pipeline_runs.resume_run(run=run, at=at, budget=budget)
