"""Progress of generation runs, and the result of each of their steps, which pages and files call items.

The number of queries does not grow with the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, Q, QuerySet, Sum, Value, When

from rubrics.models import Benchmark
from scoring.generation.config import GenerationConfig
from scoring.generation.due_responses import is_bare_case
from scoring.models import GenerationRun, PipelineStep
from scoring.pipelines.selectors import STATUSES, Counts, counts_of
from scoring.runs.spending import time_words
from scoring.selectors.rates import rate_of, window_start

CSV_COLUMNS = (
    *("case", "candidate", "setting", "sample", "status", "error_kind", "error", "response", "model", "finish_reason"),
    *("truncated", "refused", "names_its_author", "tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
    "framing",
)
CSV_TEXT = (
    *("case", "candidate", "setting", "status", "error_kind", "error", "response", "model", "finish_reason"),
    "names_its_author",
)

State = PipelineStep.State


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. ``per_minute``: responses (`rate_of`), None where nothing is known."""

    counts: Counts
    live: bool
    per_minute: float | None
    remaining: str
    errors: tuple[tuple[str, int], ...]
    truncated: int = 0
    refused: int = 0
    flagged: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


def runs_on(benchmark: Benchmark) -> QuerySet[GenerationRun]:
    """The runs of a benchmark, the newest first."""
    return GenerationRun.objects.filter(benchmark=benchmark).select_related("candidate", "created_by")


def progress_of(run: GenerationRun, *, at: datetime) -> Progress:
    """How far ``run`` is at ``at``, counted from its items."""
    since = window_start(run.started_at, at=at)
    counts = counts_of([run])[run.pk]
    totals = run.steps.aggregate(
        recent=Count("pk", filter=Q(finished_at__gt=since)),
        truncated=Count("pk", filter=Q(output__truncated=True)),
        refused=Count("pk", filter=Q(output__refused=True)),
        flagged=Count("pk", filter=Q(state=State.DONE) & ~Q(output__names_its_author="")),
        tokens_in=Sum("tokens_in"),
        tokens_out=Sum("tokens_out"),
    )
    rate = None
    if run.status == GenerationRun.Status.RUNNING:
        rate = rate_of(totals["recent"], since=since, at=at)
    kinds = run.steps.exclude(error_kind="").order_by().values_list("error_kind").annotate(n=Count("pk"))
    return Progress(
        counts=counts,
        live=run.status in GenerationRun.LIVE,
        per_minute=None if rate is None else 60 * rate,
        remaining=time_words(counts.due / rate) if rate else "",
        errors=tuple(sorted(kinds, key=lambda row: (-row[1], row[0]))),
        truncated=totals["truncated"],
        refused=totals["refused"],
        flagged=totals["flagged"],
        tokens_in=totals["tokens_in"] or 0,
        tokens_out=totals["tokens_out"] or 0,
    )


def settings_of(run: GenerationRun) -> list[tuple[str, str]]:
    """The decoding settings that were sent, named as they are in a request."""
    config = GenerationConfig.model_construct(**run.config)
    sent = config.parameters(0)
    return [(name, json.dumps(value, ensure_ascii=False)) for name, value in sent.items() if name != "model"]


def csv_rows(run: GenerationRun) -> Iterator[tuple[object, ...]]:
    """A row for each step, in the order of the requests; ``framing`` is empty where the case goes as it is."""
    framing = run.framing_version
    bare = is_bare_case("case__") if framing is not None else Q(pk=None)
    steps = run.steps.order_by("pk").annotate(is_framed=Case(When(bare, then=Value(True)), default=Value(False)))
    rows = steps.values_list(
        *("case__key", "key", "state", "error_kind", "error", "output", "generated__response__public_id", "is_framed"),
        *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
    )
    for row in rows.iterator(chunk_size=500):
        key, sample, state, error_kind, error, output, response, is_framed, *counts, finished_at = row
        is_done = output is not None
        output = output or {}
        yield (
            key,
            run.candidate_name,
            run.setting,
            int(sample),
            STATUSES[State(state)],
            error_kind,
            error,
            response or "",
            output.get("model", ""),
            output.get("finish_reason", ""),
            output["truncated"] if is_done else None,
            output["refused"] if is_done else None,
            output.get("names_its_author", ""),
            *counts,
            None if finished_at is None else finished_at.isoformat(timespec="seconds"),
            framing if is_framed else None,
        )
