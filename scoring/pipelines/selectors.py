"""Progress and spending of runs of steps; the number of queries does not grow with the rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import KINDS
from scoring.runs.spending import Spending, time_words
from scoring.selectors.rates import rate_of, window_start

State = PipelineStep.State
# The states of steps by the words of pages and files. What was skipped has failed with the step that it needs.
STATUSES = {
    State.WAITING: "due",
    State.READY: "due",
    State.DONE: "done",
    State.FAILED: "failed",
    State.SKIPPED: "failed",
}


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of a run's items by status."""

    due: int = 0
    done: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """All items."""
        return self.due + self.done + self.failed


def counts_of(runs: Collection[PipelineRun]) -> dict[int, Counts]:
    """The counts of each run, by its pk; one query."""
    counts: dict[int, dict[str, int]] = {run.pk: {} for run in runs}
    rows = PipelineStep.objects.filter(run__in=counts).order_by().values_list("run", "state").annotate(n=Count("pk"))
    for run, state, number in rows:
        status = STATUSES[State(state)]
        counts[run][status] = counts[run].get(status, 0) + number
    return {run.pk: Counts(**counts[run.pk]) for run in runs}


def counts_by_stage(run: PipelineRun) -> dict[str, dict[State, int]]:
    """The number of steps by stage, in the order of the kind, and by state; one query."""
    counts: dict[str, dict[State, int]] = {stage: {} for stage in KINDS[run.kind].stages}
    rows = run.steps.order_by().values_list("stage", "state").annotate(n=Count("pk"))
    for stage, state, number in rows:
        counts.setdefault(stage, {})[State(state)] = number
    return counts


def spending_of(run: PipelineRun) -> Spending:
    """The use of endpoints so far; no query. ``money`` is None where the run has no currency.

    With a budget it includes what requests may have cost whose answers a killed worker never wrote.
    """
    return Spending(
        calls=run.calls,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        estimated_calls=run.estimated_calls,
        money=run.spent if run.currency else None,
        currency=run.currency,
        budget=None if run.budget is None else float(run.budget),
    )


@dataclass(frozen=True, slots=True)
class StepProgress:
    """How far a run is. ``per_minute``: answers (`rate_of`), None where nothing is known."""

    counts: Counts
    live: bool
    per_minute: float | None
    remaining: str
    errors: tuple[tuple[str, int], ...]
    tokens_in: int
    tokens_out: int


def words_of_failures(run: PipelineRun) -> dict[str, str]:
    """What the endpoint said of one failed step of each kind; empty where it said nothing."""
    failed = run.steps.exclude(error_kind="").order_by().values_list("error_kind")
    return dict(failed.annotate(words=Max("error")))


def step_progress(run: PipelineRun, *, at: datetime) -> StepProgress:
    """How far ``run`` is at ``at``, counted from its steps; three queries."""
    since = window_start(run.started_at, at=at)
    counts = counts_of([run])[run.pk]
    rate = None
    if run.status == PipelineRun.Status.RUNNING:
        rate = rate_of(run.steps.filter(finished_at__gt=since).count(), since=since, at=at)
    errors = run.steps.exclude(error_kind="").order_by().values_list("error_kind").annotate(n=Count("pk"))
    return StepProgress(
        counts=counts,
        live=run.status in PipelineRun.LIVE,
        per_minute=None if rate is None else 60 * rate,
        remaining=time_words(counts.due / rate) if rate else "",
        errors=tuple(sorted(errors, key=lambda row: (-row[1], row[0]))),
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
    )


def error_words(kind: str) -> str:
    """A kind of failure, explained for the page."""
    words = {
        "timeout": _("no answer in time"),
        "refused": _("no connection"),
        "dns": _("the host name could not be resolved"),
        "tls": _("no trusted connection"),
        "disconnected": _("the connection was lost"),
        "http_429": _("too many requests"),
        "http_5xx": _("internal error of the endpoint"),
        "http_401": _("the key was refused"),
        "http_403": _("the key was refused"),
        "http_404": _("no such model or address"),
        "envelope": _("not a chat completion"),
        "empty": _("the answer has no text"),
        "truncated": _("cut off at the token limit before any text"),
        "refusal": _("blocked by a filter, without any text"),
        "too_large": _("the answer is too large"),
        "taken": _("an answer has been stored here in the meantime"),
    }
    return words.get(kind, "")


def frame_words(run: PipelineRun) -> list[str]:
    """The filter of a run's cases, in words."""
    frame = run.frame
    words = [str(frame[name]) for name in ("tag", "difficulty", "register", "language") if frame.get(name)]
    if frame.get("cases"):
        drawn = ngettext("%(n)s case, drawn by seed %(seed)s", "%(n)s cases, drawn by seed %(seed)s", frame["cases"])
        words.append(drawn % {"n": frame["cases"], "seed": frame.get("seed", 0)})
    return words
