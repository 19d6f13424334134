"""Progress of runs that classify, and the reading of each of their steps.

The number of queries does not grow with the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from rubrics.acuity.shown import shown_levels
from rubrics.acuity.stored import scale_of
from rubrics.models import AcuityScale, Benchmark
from scoring.classification.config import ClassificationConfig
from scoring.models import AcuityReading, ClassificationRun, PipelineStep
from scoring.pipelines.selectors import STATUSES, Counts, counts_of
from scoring.runs.spending import time_words
from scoring.selectors.rates import rate_of, window_start

CSV_COLUMNS = (
    *("case", "candidate", "sample", "status", "error_kind", "error", "state", "level", "confidence", "descending"),
    *("source", "distribution", "outside", "left_out", "model", "finish_reason", "text"),
    *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
)
CSV_TEXT = (
    *("case", "candidate", "status", "error_kind", "error", "state", "level", "source", "distribution", "left_out"),
    *("model", "finish_reason", "text"),
)

State = PipelineStep.State
UNUSABLE = ("refused", "no-level", "several", "invalid")


@dataclass(frozen=True, slots=True)
class LevelCount:
    """How many readings are of a level."""

    letter: str
    value: str
    label: str
    number: int


@dataclass(frozen=True, slots=True)
class StateCount:
    """How many readings name no one level, by why."""

    value: str
    label: str
    number: int


@dataclass(frozen=True, slots=True)
class ChoiceProgress:
    """How far a run is. ``per_minute``: answers (`rate_of`), None where nothing is known."""

    counts: Counts
    live: bool
    per_minute: float | None
    remaining: str
    errors: tuple[tuple[str, int], ...]
    levels: list[LevelCount]
    states: list[StateCount]
    with_logprobs: int
    tokens_in: int
    tokens_out: int
    left_out: int  # answers that the endpoint gave only without log probabilities


def runs_on(benchmark: Benchmark) -> QuerySet[ClassificationRun]:
    """The runs of a benchmark, the newest first."""
    return ClassificationRun.objects.filter(benchmark=benchmark).select_related("candidate", "created_by")


def scale_of_run(run: ClassificationRun) -> AcuityScale | None:
    """The scale that its readings are on; None for a run that was made elsewhere and has none."""
    if run.imported and not run.origin:
        return None
    return AcuityScale.objects.filter(benchmark=run.benchmark_id, pk=run.terms.get("scale", 0)).first()


def progress_of(run: ClassificationRun, *, at: datetime) -> ChoiceProgress:
    """How far ``run`` is at ``at``, counted from its steps."""
    since = window_start(run.started_at, at=at)
    counts = counts_of([run])[run.pk]
    totals = run.steps.aggregate(
        recent=Count("pk", filter=Q(finished_at__gt=since)),
        with_logprobs=Count("pk", filter=Q(state=State.DONE) & ~Q(output__distribution=None)),
        left_out=Count("pk", filter=Q(state=State.DONE) & ~Q(output__left_out=[])),
    )
    rate = None
    if run.status == ClassificationRun.Status.RUNNING:
        rate = rate_of(totals["recent"], since=since, at=at)
    errors = run.steps.exclude(error_kind="").order_by().values_list("error_kind").annotate(n=Count("pk"))
    answers = run.steps.filter(state=State.DONE).order_by().values_list("output__state", "output__level")
    by_answer: Mapping[tuple[str, str | None], int] = {
        (state, level): number for state, level, number in answers.annotate(n=Count("pk"))
    }
    scale = scale_of_run(run)
    labels = {level.value: level.label for level in shown_levels(scale_of(scale))} if scale else {}
    states = dict(AcuityReading.State.choices)
    return ChoiceProgress(
        counts=counts,
        live=run.status in ClassificationRun.LIVE,
        per_minute=None if rate is None else 60 * rate,
        remaining=time_words(counts.due / rate) if rate else "",
        errors=tuple(sorted(errors, key=lambda row: (-row[1], row[0]))),
        levels=[
            LevelCount(
                level["letter"],
                level["value"],
                labels.get(level["value"], level["label"]),
                by_answer.get(("level", level["value"]), 0),
            )
            for level in run.config.get("levels", [])
        ],
        states=[
            StateCount(name, str(states[name]), by_answer[name, None]) for name in UNUSABLE if (name, None) in by_answer
        ],
        with_logprobs=totals["with_logprobs"],
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        left_out=totals["left_out"],
    )


def ask_words(ask: str) -> str:
    """A way of asking, in words."""
    words = {
        "letter": _("one letter"),
        "schema": _("JSON object by schema"),
        "reasons": _("reasons first, level on the last line"),
    }
    return words.get(ask, ask)


def settings_of(run: ClassificationRun) -> list[tuple[str, str]]:
    """The decoding settings that were sent, named as they are in a request."""
    sent = ClassificationConfig.model_construct(**run.config).parameters(0)
    return [(name, json.dumps(value, ensure_ascii=False)) for name, value in sent.items() if name != "model"]


def csv_rows(run: ClassificationRun) -> Iterator[tuple[object, ...]]:
    """A row for each step, in the order of the requests."""
    steps = run.steps.order_by("pk").values_list(
        *("case__key", "key", "state", "error_kind", "error", "output"),
        *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
    )
    for key, sample, state, error_kind, error, output, *counts, finished_at in steps.iterator(chunk_size=500):
        own: dict[str, Any] = output or {}
        shares = own.get("distribution")
        source = AcuityReading.Source.LOGPROBS if shares else AcuityReading.Source.PARSED
        yield (
            *(key, run.candidate_name, int(sample), STATUSES[State(state)], error_kind, error),
            *(own.get("state", ""), own.get("level") or "", own.get("confidence"), own.get("descending")),
            *(source.value if output else "", json.dumps(shares) if shares else "", own.get("outside")),
            *(" ".join(own.get("left_out", [])), own.get("model", ""), own.get("finish_reason", "")),
            own.get("text", ""),
            *counts,
            None if finished_at is None else finished_at.isoformat(timespec="seconds"),
        )
