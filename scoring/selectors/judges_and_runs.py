"""Data of judges for pages and API endpoints; the number of queries does not grow with the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from accounts.models import User
from annotation.models import Batch
from rubrics.models import Benchmark, Candidate, RubricItem
from rubrics.models.responses import CandidateQuerySet
from scoring.access import judges_for
from scoring.judges.juries import JuryState, jury_states
from scoring.judges.kinds.kind import KINDS
from scoring.models import AcuityReading, Judge, JudgeCall, JudgeRun, JudgeRunItem, Verdict
from scoring.runs.spending import Spending, spending_of, time_words
from scoring.selectors.rates import rate_of, window_start

# The rate counts what was written within this time: long enough to be steady, short enough to be current.

# More invalid verdicts than this share, among at least so many, are worth a warning.
OFTEN_INVALID, MIN_DONE = 0.05, 20

CSV_COLUMNS = ("case", "candidate", "sample", "criterion", "rater", "outcome", "explanation")
CSV_TEXT = ("case", "candidate", "criterion", "rater", "explanation", "setting")


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Verdicts of a run by outcome, or its readings by state, and how many are due in all."""

    expected: int
    met: int = 0
    not_met: int = 0
    invalid: int = 0
    level: int = 0
    no_level: int = 0
    refused: int = 0

    @property
    def done(self) -> int:
        """Verdicts or readings that exist, including the invalid."""
        return self.met + self.not_met + self.invalid + self.level + self.no_level + self.refused

    @property
    def missing(self) -> int:
        """Verdicts that are due and do not exist."""
        return max(0, self.expected - self.done)


def counts_of(runs: Collection[JudgeRun]) -> dict[int, VerdictCounts]:
    """The counts of each run, by its pk; one query, and one more where runs read levels."""
    counts: dict[int, Counter[str]] = {run.pk: Counter() for run in runs}
    rows = Verdict.objects.filter(run__in=counts).values_list("run", "outcome").annotate(n=Count("pk"))
    for run, outcome, number in rows.order_by():
        counts[run][outcome] += number
    reading = [run.pk for run in runs if run.reads_levels]
    if reading:
        readings = AcuityReading.objects.filter(judge_run__in=reading).values_list("judge_run", "state")
        for judge_run, state, number in readings.annotate(n=Count("pk")).order_by():
            assert judge_run is not None
            counts[judge_run][state.replace("-", "_")] += number
    return {run.pk: VerdictCounts(run.expected, **counts[run.pk]) for run in runs}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. ``rate``: verdicts a second (`rate_of`), None where the run is not at work."""

    counts: VerdictCounts
    live: bool
    rate: float | None
    remaining_s: float | None  # None where nothing is being written
    errors: tuple[tuple[str, int], ...]  # failed calls by kind, the most frequent first

    @property
    def invalid_share(self) -> float:
        """The share of verdicts that are invalid, of those there are."""
        return self.counts.invalid / self.counts.done if self.counts.done else 0.0

    @property
    def often_invalid(self) -> bool:
        """Whether so many verdicts are invalid that a person should look into it."""
        return self.counts.done >= MIN_DONE and self.invalid_share > OFTEN_INVALID

    @property
    def per_minute(self) -> float | None:
        """The rate as people read it."""
        return None if self.rate is None else self.rate * 60

    @property
    def remaining(self) -> str:
        """The time left at this rate, in the two units that matter; empty where it is not known."""
        return "" if self.remaining_s is None else time_words(self.remaining_s)


def progress_of(run: JudgeRun, *, at: datetime) -> Progress:
    """How far ``run`` is at ``at``: counted from the verdicts or readings themselves, in two queries."""
    since = window_start(run.started_at, at=at)
    results: QuerySet[Any] = run.acuity_readings.all() if run.reads_levels else run.verdicts.all()
    rows = (
        results.values_list("state" if run.reads_levels else "outcome")
        .annotate(n=Count("pk"), recent=Count("pk", filter=Q(created_at__gt=since)))
        .order_by()
    )
    by_outcome: dict[str, int] = {}
    recent = 0
    for outcome, number, new in rows:
        by_outcome[outcome.replace("-", "_")] = number
        recent += new
    counts = VerdictCounts(run.expected, **by_outcome)
    live = run.status in JudgeRun.LIVE
    rate = remaining = None
    if run.status == JudgeRun.Status.RUNNING:
        rate = rate_of(recent, since=since, at=at)
        remaining = counts.missing / rate if rate else None
    kinds = (
        JudgeCall.objects.filter(run=run)
        .exclude(error_kind="")
        .values_list("error_kind")
        .annotate(n=Count("pk"))
        .order_by("-n", "error_kind")
    )
    return Progress(counts, live, rate, remaining, tuple((kind, number) for kind, number in kinds))


# Lists ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list."""

    run: JudgeRun
    counts: VerdictCounts
    spending: Spending = field(default_factory=Spending)

    @property
    def took(self) -> str:
        """How long it took, from its begin to its end; empty while it has none."""
        run = self.run
        if run.imported or not run.started_at or not run.finished_at:
            return ""
        return time_words((run.finished_at - run.started_at).total_seconds())


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """The newest version of a judge, and the newest run of any version of it on the benchmark."""

    judge: Judge
    newest: RunRow | None
    jury: JuryState | None = None  # of a jury, which has no runs itself


def run_rows(runs: Sequence[JudgeRun]) -> list[RunRow]:
    """Runs with their counts."""
    counts, spending = counts_of(runs), spending_of(runs)
    return [RunRow(run, counts[run.pk], spending[run.pk]) for run in runs]


def runs_on(benchmark: Benchmark) -> QuerySet[JudgeRun]:
    """Runs on a benchmark, the newest first."""
    return JudgeRun.objects.filter(benchmark=benchmark).select_related("judge", "created_by")


def judges_on(user: User | AnonymousUser, benchmark: Benchmark) -> QuerySet[Judge]:
    """Judges that are at home in ``benchmark`` or have run on it, as far as ``user`` may see them."""
    ran = JudgeRun.objects.filter(benchmark=benchmark, judge=OuterRef("pk"))
    return judges_for(user).filter(Q(benchmark=benchmark) | Exists(ran))


def newest_versions(judges: QuerySet[Judge]) -> QuerySet[Judge]:
    """Of each judge its newest version only."""
    newest = judges.order_by("benchmark_id", "name", "-version").distinct("benchmark_id", "name")
    return judges.filter(pk__in=newest.values("pk")).order_by("name", "benchmark_id")


def judge_rows(user: User | AnonymousUser, benchmark: Benchmark) -> list[JudgeRow]:
    """The judges of a benchmark with their newest runs on it; only of runs over responses as they stand."""
    judges = list(newest_versions(judges_on(user, benchmark)))
    newest = (
        JudgeRun.objects.filter(
            benchmark=benchmark,
            judge__name__in={judge.name for judge in judges},
            purpose__in=(JudgeRun.Purpose.GRADE, JudgeRun.Purpose.ACUITY),
        )
        .select_related("judge")
        .order_by("judge__benchmark_id", "judge__name", "-created_at", "-pk")
        .distinct("judge__benchmark_id", "judge__name")
    )
    rows = {(row.run.judge.benchmark_id, row.run.judge.name): row for row in run_rows(list(newest))}
    juries = jury_states(benchmark, [judge for judge in judges if judge.kind_info.has_members])
    return [JudgeRow(judge, rows.get((judge.benchmark_id, judge.name)), juries.get(judge.pk)) for judge in judges]


def newest_settled(judges: QuerySet[Judge], benchmark: Benchmark) -> JudgeRun | None:
    """The newest run of any of ``judges`` on the benchmark that has finished grading."""
    runs = JudgeRun.objects.graded().filter(benchmark=benchmark, judge__in=judges)
    return runs.select_related("judge", "benchmark").first()


def judges_to_run(user: User | AnonymousUser, *, also: str = "") -> QuerySet[Judge]:
    """Judges that can run: the newest version of each, and the one whose public id is ``also``."""
    ready = [kind.ready for kind in KINDS.values() if kind.ready is not None]
    able = judges_for(user).filter(reduce(or_, ready))
    newest = able.order_by("benchmark_id", "name", "-version").distinct("benchmark_id", "name")
    return able.filter(Q(pk__in=newest.values("pk")) | Q(public_id=also)).order_by("name", "-version", "pk")


@dataclass(frozen=True, slots=True)
class Steadiness:
    """Of the pairs that a run asked about several times: how many got the same valid verdict every time."""

    pairs: int
    steady: int

    @property
    def share(self) -> float | None:
        """The share of steady pairs; None without pairs."""
        return self.steady / self.pairs if self.pairs else None


def steadiness_of(run: JudgeRun) -> Steadiness | None:
    """How steady the answers of a run with replicates are, over pairs with at least two valid verdicts."""
    if run.replicates < 2 or run.purpose != JudgeRun.Purpose.GRADE:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*), count(*) FILTER (WHERE met = 0 OR not_met = 0) FROM (
                SELECT count(*) FILTER (WHERE outcome = 'met') AS met,
                       count(*) FILTER (WHERE outcome = 'not_met') AS not_met
                FROM scoring_verdict WHERE run_id = %s GROUP BY response_id, criterion_id
            ) AS pairs WHERE met + not_met >= 2
            """,
            [run.pk],
        )
        pairs, steady = cursor.fetchone()
    return Steadiness(int(pairs), int(steady))


# Frames -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FrameWords:
    """Which responses a run is over, for people."""

    batch: Batch | None
    candidates: tuple[str, ...]
    kinds: tuple[str, ...]
    with_bases: bool


def frame_words(run: JudgeRun) -> FrameWords:
    """The frame of ``run`` in words."""
    frame: Mapping[str, Any] = run.frame
    batch = None
    if frame.get("batch"):
        batch = Batch.objects.filter(group__benchmark=run.benchmark_id, public_id=frame["batch"]).first()
    labels = dict(Candidate.Kind.choices)
    return FrameWords(
        batch=batch,
        candidates=tuple(frame.get("candidates", ())),
        kinds=tuple(str(labels.get(kind, kind)) for kind in frame.get("kinds", ())),
        with_bases=bool(frame.get("with_bases")),
    )


# Verdicts ---------------------------------------------------------------------------------------------------------


def verdicts_of(run: JudgeRun, *, outcome: str = "", candidate: str = "") -> QuerySet[Verdict]:
    """Verdicts of a run, narrowed by outcome and by a candidate's public id; response by response."""
    verdicts = Verdict.objects.filter(run=run)
    if outcome:
        verdicts = verdicts.filter(outcome=outcome)
    if candidate:
        verdicts = verdicts.filter(response__candidate__public_id=candidate)
    return verdicts.order_by("response_id", "criterion_id", "replicate")


def verdict_page(run: JudgeRun, verdicts: QuerySet[Verdict]) -> list[dict[str, Any]]:
    """Verdicts as rows of a page: each with the rubric item that the run judged it by."""
    shown = list(verdicts.select_related("response__case", "response__candidate", "criterion", "call"))
    rubrics = JudgeRunItem.objects.filter(run=run, response__in={row.response_id for row in shown})
    items = {
        (item.rubric_id, item.criterion_id): item
        for item in RubricItem.objects.filter(
            rubric__in=rubrics.values("rubric"), criterion__in={row.criterion_id for row in shown}
        )
    }
    rubric_of = dict(rubrics.values_list("response", "rubric"))
    return [{"verdict": row, "item": items.get((rubric_of.get(row.response_id, 0), row.criterion_id))} for row in shown]


def candidates_of(run: JudgeRun) -> CandidateQuerySet:
    """The candidates whose responses a run is over."""
    judged = JudgeRunItem.objects.filter(run=run, response__candidate=OuterRef("pk"))
    return Candidate.objects.filter(Exists(judged), benchmark=run.benchmark_id).order_by("name")


def csv_columns(run: JudgeRun) -> tuple[str, ...]:
    """The columns of `import_decisions`; ``replicate`` and ``setting`` only where they tell rows apart."""
    columns = list(CSV_COLUMNS)
    if run.purpose == JudgeRun.Purpose.SUSCEPTIBILITY:
        columns.append("injection")  # by another name, so that no import takes it for another verdict on the response
    elif run.replicates > 1:
        columns.append("replicate")
    if JudgeRunItem.objects.filter(run=run).exclude(response__setting="chat").exists():
        columns.append("setting")
    return tuple(columns)


def csv_rows(run: JudgeRun, verdicts: QuerySet[Verdict]) -> Iterator[dict[str, Any]]:
    """Rows of the file, read as they are sent.

    A criterion is given by its position in the case's published rubric, or by its text if that no longer has it.
    """
    item = RubricItem.objects.filter(criterion=OuterRef("criterion"), rubric__status="published", rubric__track="gold")
    rows = verdicts.annotate(position=Subquery(item.values("position")[:1])).values_list(
        "response__case__key",
        "response__candidate__name",
        "response__sample",
        "position",
        "criterion__text",
        "outcome",
        "explanation",
        "replicate",
        "response__setting",
        "call__raw",
    )
    for case, candidate, sample, position, text, outcome, explanation, replicate, setting, raw in rows.iterator(2000):
        yield {
            "case": case,
            "candidate": candidate,
            "sample": sample,
            "criterion": position or text,
            "rater": run.judge.name,
            "outcome": outcome,
            # An invalid verdict has none; the judge's answer shows why.
            "explanation": raw or "" if outcome == Verdict.Outcome.INVALID and not explanation else explanation,
            "replicate": replicate,
            "injection": replicate,
            "setting": setting,
        }
