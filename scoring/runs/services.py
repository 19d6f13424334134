"""Writes to runs of a judge over a set of responses. The rows hold what is due; tasks only carry ids.

States: pending → running → finished | incomplete | failed; running → paused → running, while the endpoint is down;
pending, running or paused → cancelling → cancelled; and from cancelled, incomplete, failed and paused back to pending
by `resume_run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from accounts.models import User
from annotation.models import Batch
from consilium.core.commands import Label, OneOf, command_of
from consilium.core.errors import Conflict, DomainError
from consilium.core.i18n import language_of
from consilium.core.jobs import register
from consilium.core.locked_jobs import LockedKind
from consilium.core.locks import WorkerLock
from consilium.core.transitions import transition
from rubrics.models import Benchmark, Candidate
from rubrics.services.beginning import unfinished_or_new
from scoring.models import Judge, JudgeRun, RunSlice
from scoring.models.judges import HAS_DERIVED
from scoring.run_notices import notify_of_judge_run
from scoring.susceptibility.injections import suite_hash
from scoring.susceptibility.level_texts import level_suite_hash
from scoring.work.claims import BUDGET_USED_UP, spent_by

RESUMABLE = (
    JudgeRun.Status.CANCELLED,
    JudgeRun.Status.INCOMPLETE,
    JudgeRun.Status.FAILED,
    JudgeRun.Status.PAUSED,
)
MAX_REPLICATES = 20
MAX_DRAW_SEED = 2**31 - 1  # on the page and in the API
MAX_BUDGET = 10**8  # what its column holds


@command(frozen=True, slots=True)
class RunFrame:
    """Which responses a run is over: those of a batch, or of the benchmark.

    A run over criteria takes responses to cases with a published rubric; one that reads levels of care takes every
    response as to a patient (setting *chat*).

    ``batch`` is a batch's public id; ``candidates`` are names and ``kinds`` kinds of candidates, empty for all that
    answered by themselves. ``with_bases``: with those, the responses that theirs were made from.
    ``sample``: how many of these responses are drawn by ``seed``; 0 for all.
    """

    batch: Annotated[
        str,
        Field(description="Id of a batch."),
        Label(
            gettext_lazy("Batch"),
            gettext_lazy("The responses assigned to a group, with the rubrics that it graded by."),
        ),
    ] = ""
    candidates: Annotated[tuple[str, ...], Field(description="Names."), Label(gettext_lazy("Candidates"))] = ()
    kinds: Annotated[tuple[Annotated[str, OneOf(Candidate.Kind)], ...], Label(gettext_lazy("Kind of candidate"))] = ()
    with_bases: Annotated[
        bool,
        Field(description="Also the responses that those of these candidates were made from."),
        Label(
            gettext_lazy("Include the base responses"),
            gettext_lazy("For derived candidates: each refined response and its base response, and no others."),
        ),
    ] = False
    sample: Annotated[
        int,
        Field(ge=0, description="This number of them alone, drawn by the seed."),
        Label(gettext_lazy("Number of responses"), gettext_lazy("Drawn at random. Leave empty to use all.")),
    ] = 0
    seed: Annotated[
        int,
        Field(ge=0),
        Label(gettext_lazy("Seed for the draw"), gettext_lazy("The same seed draws the same responses.")),
    ] = 0


@command(frozen=True, slots=True)
class RunTerms:
    """The number of replicates of each pair, and the maximum cost in the currency of the judge's prices."""

    replicates: Annotated[
        int,
        Field(ge=1, le=MAX_REPLICATES),
        Label(
            gettext_lazy("Requests per item"), gettext_lazy("Repeated requests show how consistent a chat model is.")
        ),
    ] = 1
    budget: Annotated[
        Decimal | None,
        Field(ge=Decimal("0.0001"), max_digits=12, decimal_places=4),
        Label(
            gettext_lazy("Budget"),
            gettext_lazy("In the currency of the judge’s prices. The run stops before this amount could be exceeded."),
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class FrameSize:
    """The numbers of what a frame holds; ``verdicts``: or readings, where levels are read."""

    responses: int
    verdicts: int


def _frame_sql(benchmark: Benchmark, frame: RunFrame, *, levels: bool = False) -> tuple[str, dict[str, Any]]:
    """SELECT response, rubric of the frame, and its parameters; with ``levels`` the rubric is null."""
    params: dict[str, Any] = {"benchmark": benchmark.pk}
    where = ["c.benchmark_id = %(benchmark)s", "c.excluded_at IS NULL"]
    rubric = "JOIN rubrics_rubric b ON b.case_id = c.id AND b.status = 'published' AND b.track = 'gold'"
    if levels:
        rubric = "CROSS JOIN (SELECT NULL::bigint AS id) AS b"
        where += ["r.setting = 'chat'", "btrim(r.text) <> ''"]
    if frame.batch:
        batch = Batch.objects.filter(group__benchmark=benchmark, public_id=frame.batch).first()
        if batch is None:
            raise DomainError(_("This batch does not exist in this benchmark."), field="frame.batch")
        # A batch may use an earlier rubric version; the current version of the same track counts.
        of_batch = "JOIN annotation_batchitem t ON t.response_id = r.id AND t.batch_id = %(batch)s"
        rubric = (
            f"{of_batch} {rubric}"
            if levels
            else f"""
            {of_batch}
            JOIN rubrics_rubric o ON o.id = t.rubric_id
            JOIN rubrics_rubric b ON b.case_id = c.id AND b.status = 'published' AND b.track = o.track
        """
        )
        params["batch"] = batch.pk
    chosen: list[str] = []
    if frame.candidates:
        known = set(
            Candidate.objects.filter(benchmark=benchmark, name__in=frame.candidates).values_list("name", flat=True)
        )
        unknown = [name for name in frame.candidates if name not in known]
        if unknown:
            raise DomainError(
                _("The candidate “%(name)s” does not exist in this benchmark.") % {"name": unknown[0]},
                field="frame.candidates",
            )
        chosen.append("d.name = ANY(%(candidates)s)")
        params["candidates"] = list(frame.candidates)
    if frame.kinds:
        chosen.append("d.kind = ANY(%(kinds)s)")
        params["kinds"] = list(frame.kinds)
    if chosen and frame.with_bases:
        derived = "SELECT x.derived_from_id FROM rubrics_response x JOIN rubrics_candidate d ON d.id = x.candidate_id"
        those = " AND ".join(["d.benchmark_id = %(benchmark)s", *chosen])
        chosen = [f"({' AND '.join(chosen)} OR r.id IN ({derived} WHERE {those}))"]
    where += chosen
    if not (frame.batch or chosen):
        where.append("d.kind <> 'derived'")
    drawn = ""
    if frame.sample:
        # Drawn by names and not by row ids, so that a seed draws the same responses in every database.
        drawn = """
            ORDER BY md5(concat_ws(chr(31), %(seed)s::text, c.key, d.name, r.setting, r.sample::text)), r.id
            LIMIT %(sample)s
        """
        params |= {"sample": frame.sample, "seed": frame.seed}
    return (
        f"""
        SELECT r.id AS response_id, b.id AS rubric_id
        FROM rubrics_response r
        JOIN rubrics_case c ON c.id = r.case_id
        JOIN rubrics_candidate d ON d.id = r.candidate_id
        {rubric}
        WHERE {" AND ".join(where)}
        {drawn}
        """,
        params,
    )


def frame_size(*, benchmark: Benchmark, frame: RunFrame, replicates: int = 1, levels: bool = False) -> FrameSize:
    """How many responses and verdicts a run over ``frame`` would have; for the form, before anything is made.

    With ``levels`` it reads levels of care, one for each response and replicate.
    """
    query, params = _frame_sql(benchmark, frame, levels=levels)
    with connection.cursor() as cursor:
        if levels:
            cursor.execute(f"SELECT count(*) FROM ({query}) AS f", params)
            responses = int(cursor.fetchone()[0])
            return FrameSize(responses, responses * replicates)
        cursor.execute(
            f"""
            SELECT count(DISTINCT f.response_id), count(i.id)
            FROM ({query}) AS f LEFT JOIN rubrics_rubricitem i ON i.rubric_id = f.rubric_id
            """,
            params,
        )
        responses, criteria = cursor.fetchone()
    return FrameSize(int(responses), int(criteria) * replicates)


def frame_responses(*, benchmark: Benchmark, frame: RunFrame) -> list[int]:
    """The ids of the responses of a frame that levels of care would be read in, in order."""
    query, params = _frame_sql(benchmark, frame, levels=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT response_id FROM ({query}) AS f ORDER BY response_id", params)
        return [int(row[0]) for row in cursor.fetchall()]


def frame_pairs(*, benchmark: Benchmark, frame: RunFrame) -> list[tuple[int, int]]:
    """The responses of a frame and the rubrics they would be judged by, as ids, in the order of the responses."""
    query, params = _frame_sql(benchmark, frame)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT response_id, rubric_id FROM ({query}) AS f ORDER BY response_id", params)
        return [(int(response), int(rubric)) for response, rubric in cursor.fetchall()]


def snapshot_of(judge: Judge, benchmark: Benchmark) -> tuple[dict[str, Any], str]:
    """The judge in full as it is now, and the hash of what all of its requests share."""
    snapshot: dict[str, Any] = {
        "name": judge.name,
        "version": judge.version,
        "kind": judge.kind,
        "task": judge.task,
        "public_id": judge.public_id,
        "config": judge.config,
    }
    kept, shared_hash = judge.kind_info.snapshot(judge, benchmark)
    return snapshot | kept, shared_hash


def unfinished_runs(
    *,
    benchmark: Benchmark,
    judge: Judge,
    purpose: str,
    frame: Mapping[str, Any],
    replicates: int,
    budget: Decimal | None,
) -> QuerySet[JudgeRun]:
    """Runs of the same judge with exactly the same terms that have not ended.

    ``frame`` is what the stored frame must hold under each key. A stored frame may have further keys, which record what
    was drawn. Values are compared whole: a run over one candidate differs from the run over all of them.
    """
    return JudgeRun.objects.filter(
        benchmark=benchmark,
        judge=judge,
        purpose=purpose,
        replicates=replicates,
        budget=budget,
        status__in=(JudgeRun.Status.PENDING, JudgeRun.Status.RUNNING, JudgeRun.Status.PAUSED),
        continues=None,
        imported=False,
        **{f"frame__{key}": value for key, value in frame.items()},
    )


@transaction.atomic
def start_run(
    *,
    benchmark: Benchmark,
    judge: Judge,
    frame: RunFrame,
    by: User | None,
    at: datetime,
    replicates: int = 1,
    budget: Decimal | None = None,
) -> tuple[JudgeRun, bool]:
    """A run with exactly these terms that has not ended, and False; else a new run by `create_run`, and True."""
    return unfinished_or_new(
        benchmark=benchmark,
        unfinished=lambda: unfinished_runs(
            benchmark=benchmark,
            judge=judge,
            purpose=purpose_of(judge),
            frame=_stored_frame(frame),
            replicates=replicates,
            budget=budget,
        ),
        create=lambda: create_run(
            benchmark=benchmark, judge=judge, frame=frame, by=by, at=at, replicates=replicates, budget=budget
        ),
    )


def _stored_frame(frame: RunFrame) -> dict[str, Any]:
    return {**asdict(frame), "candidates": list(frame.candidates), "kinds": list(frame.kinds)}


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    judge: Judge,
    frame: RunFrame,
    by: User | None,
    at: datetime,
    replicates: int = 1,
    budget: Decimal | None = None,
) -> JudgeRun:
    """Make a run with its items, and enqueue a task once this is committed.

    With ``budget``, in the currency of the judge's prices, it stops before it could spend more.
    """
    if not 1 <= replicates <= MAX_REPLICATES:
        raise DomainError(_("A run must have 1 to 20 replicates."))
    judge.kind_info.check_benchmark(judge, benchmark)
    judge.kind_info.check_replicates(replicates)
    check_budget(judge, budget)
    snapshot, shared_hash = snapshot_of(judge, benchmark)
    run = JudgeRun.objects.create(
        benchmark=benchmark,
        judge=judge,
        purpose=purpose_of(judge),
        frame=_stored_frame(frame),
        snapshot=snapshot,
        prompt_hash=shared_hash,
        replicates=replicates,
        budget=budget,
        created_by=by,
        created_at=at,
    )
    query, params = _frame_sql(benchmark, frame, levels=run.reads_levels)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO scoring_judgerunitem (run_id, response_id, rubric_id) "
            f"SELECT %(run)s, f.response_id, f.rubric_id FROM ({query}) AS f ORDER BY f.response_id",
            {**params, "run": run.pk},
        )
    run.expected = due_verdicts(run)
    if not run.expected and run.reads_levels:
        raise DomainError(_("No responses written to a patient (setting chat) match these filters."))
    if not run.expected:
        raise DomainError(_("No responses with a published rubric match these filters."))
    if run.items.filter(response__candidate__kind=Candidate.Kind.DERIVED).exists():
        run.frame |= {HAS_DERIVED: True}
    run.save(update_fields=["expected", "frame"])
    enqueue_slices(run, at=at)
    return run


def purpose_of(judge: Judge) -> str:
    """What a run of ``judge`` over responses as they stand is for."""
    return JudgeRun.Purpose.ACUITY if judge.kind_info.reads_levels else JudgeRun.Purpose.GRADE


def enqueue_slices(run: JudgeRun, *, at: datetime) -> None:
    """Divide a new run, whose items exist, among workers, and enqueue a task for each once this is committed."""
    slices = run.judge.kind_info.slices(run.judge)
    rows = RunSlice.objects.bulk_create(RunSlice(run=run, number=number) for number in range(slices))
    SLICES.enqueue(rows, at=at)


def check_budget(judge: Judge, budget: Decimal | None) -> None:
    """Raise `DomainError` unless the budget is a possible amount above 0 and the judge has prices."""
    if budget is None:
        return
    if not budget.is_finite() or budget >= MAX_BUDGET or budget != round(budget, 4):
        raise DomainError(_("A budget must be less than 100,000,000 and have at most four decimals."))
    if budget <= 0:
        raise DomainError(_("A budget must be greater than zero."))
    if not judge.kind_info.has_prices(judge):
        raise DomainError(_("This judge has no prices, so a budget cannot be enforced. Enter its prices first."))


def due_verdicts(run: JudgeRun) -> int:
    """How many verdicts, or readings of levels, a run's items require."""
    if run.reads_levels:
        return run.items.count() * run.replicates
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM scoring_judgerunitem i JOIN rubrics_rubricitem r ON r.rubric_id = i.rubric_id "
            "WHERE i.run_id = %s AND (i.criteria IS NULL OR r.criterion_id = ANY(i.criteria))",
            [run.pk],
        )
        return int(cursor.fetchone()[0]) * run.replicates


@transaction.atomic
def cancel_run(*, run: JudgeRun, at: datetime) -> None:
    """Ask a run to stop: no more requests are sent, and those in flight are awaited. `Conflict` if it has ended."""
    locked = JudgeRun.objects.select_for_update().get(pk=run.pk)
    if locked.status not in JudgeRun.LIVE:
        raise Conflict(_("This run has already ended."))
    RunSlice.objects.filter(run=locked, status=RunSlice.Status.PENDING).update(status=RunSlice.Status.STOPPED)
    if locked.status != JudgeRun.Status.CANCELLING:
        transition(locked, source=JudgeRun.LIVE, target=JudgeRun.Status.CANCELLING)
    _settle(locked, at=at)
    run.refresh_from_db()


@transaction.atomic
def resume_run(*, run: JudgeRun, at: datetime, budget: Decimal | None = None) -> None:
    """Resume a run that was cancelled, is paused or could not finish: only what is missing is requested.

    ``budget`` replaces the run's budget; None keeps it.
    """
    if run.imported:
        raise DomainError(_("These verdicts were made elsewhere, so there is nothing to continue."))
    suites = {JudgeRun.Purpose.SUSCEPTIBILITY: suite_hash, JudgeRun.Purpose.ACUITY_EDITED: level_suite_hash}
    suite = suites.get(JudgeRun.Purpose(run.purpose))
    if suite is not None and run.frame.get("suite") != suite():
        raise DomainError(_("The injections have changed since then. Start a new measurement."))
    run.judge.kind_info.check_resumption(run)
    values: dict[str, Any] = {}
    if budget is not None:
        check_budget(run.judge, budget)
        if sum(spent_by(run, row) for row in run.slices.all()) >= float(budget):
            raise DomainError(_("The run has already spent this amount. A budget is the total that the run may spend."))
        values["budget"] = budget
    transition(run, source=RESUMABLE, target=JudgeRun.Status.PENDING, error="", finished_at=None, **values)
    RunSlice.objects.filter(run=run).update(
        status=RunSlice.Status.PENDING, reason="", failed=False, starts_without_progress=0, resume_at=None, pauses=0
    )
    SLICES.enqueue(RunSlice.objects.filter(run=run), at=at)


@transaction.atomic
def settle_run(*, run_id: int, at: datetime) -> None:
    """End a run that has no open slices, or pause a run whose open slices are all paused."""
    run = JudgeRun.objects.select_for_update().filter(pk=run_id).first()
    if run is not None:
        _settle(run, at=at)


def _settle(run: JudgeRun, *, at: datetime) -> None:
    if run.status not in JudgeRun.LIVE:
        return
    still_open = list(run.slices.filter(status__in=RunSlice.OPEN))
    if still_open:
        if run.status == JudgeRun.Status.RUNNING and all(run_slice.resume_at for run_slice in still_open):
            reasons = "\n".join(dict.fromkeys(run_slice.reason for run_slice in still_open))
            transition(run, source=[JudgeRun.Status.RUNNING], target=JudgeRun.Status.PAUSED, error=reasons)
        return
    missing = run.expected - run.n_results
    stopped = list(run.slices.filter(status=RunSlice.Status.STOPPED).exclude(reason=""))
    reasons = "\n".join(dict.fromkeys(run_slice.reason for run_slice in stopped))
    if not missing:
        target, reasons = JudgeRun.Status.FINISHED, ""
    elif run.status == JudgeRun.Status.CANCELLING:
        target = JudgeRun.Status.CANCELLED
    elif any(run_slice.failed for run_slice in stopped):
        target = JudgeRun.Status.FAILED
    else:
        target = JudgeRun.Status.INCOMPLETE
    transition(run, source=JudgeRun.LIVE, target=target, error=reasons, finished_at=at)
    with language_of(run.created_by):  # the reasons were written in that language
        budget_spent = target == JudgeRun.Status.INCOMPLETE and str(BUDGET_USED_UP) in reasons.splitlines()
    notify_of_judge_run(run, status=target, budget_spent=budget_spent, at=at)


class SliceJobs(LockedKind[RunSlice]):
    """Slices of judge runs."""

    model = RunSlice
    task = "scoring.tasks.judge_slice"
    sweep_task = "scoring.tasks.sweep_runs"
    lock = WorkerLock.SLICE
    waiting = (RunSlice.Status.PENDING,)
    running = (RunSlice.Status.RUNNING,)
    enqueued_field = "enqueued_at"
    may_pause = True

    def ids(self, row: RunSlice) -> tuple[int, ...]:
        """The run, and the number of the slice in it."""
        return row.run_id, row.number

    def lock_key(self, *ids: int) -> int:
        """32 bits for the run, 16 for the number."""
        run_id, number = ids
        return ((run_id & 0xFFFFFFFF) << 16) | number

    def rows(self) -> QuerySet[RunSlice]:
        """Open slices of live runs."""
        return RunSlice.objects.filter(run__status__in=JudgeRun.LIVE, status__in=RunSlice.OPEN)

    def due(self, *, at: datetime) -> Q:
        """Also the slices of a cancelled run, which `is_wanted` ends."""
        return super().due(at=at) | Q(run__status=JudgeRun.Status.CANCELLING)

    def is_wanted(self, row: RunSlice, *, at: datetime) -> bool:
        """False for a slice of a cancelled run; the slice is stopped here."""
        if not JudgeRun.objects.filter(pk=row.run_id, status=JudgeRun.Status.CANCELLING).exists():
            return True
        RunSlice.objects.filter(pk=row.pk, status__in=RunSlice.OPEN).update(status=RunSlice.Status.STOPPED)
        settle_run(run_id=row.run_id, at=at)
        return False

    def sweep(self, *, at: datetime) -> int:
        """Enqueue lost slices again, and end cancelled ones; return how many were enqueued."""
        count = super().sweep(at=at)
        # A worker may have died between its last slice and the end of the run.
        unsettled = JudgeRun.objects.filter(status__in=JudgeRun.LIVE).exclude(slices__in=self.rows())
        for run_id in unsettled.values_list("pk", flat=True):
            settle_run(run_id=run_id, at=at)
        return count


SLICES = register(SliceJobs())


def tried_again_at(run: JudgeRun) -> datetime | None:
    """When a paused run next tries its endpoint."""
    if run.status != JudgeRun.Status.PAUSED:
        return None
    times = run.slices.filter(status__in=RunSlice.OPEN, resume_at__isnull=False).values_list("resume_at", flat=True)
    return min((at for at in times if at is not None), default=None)


def frame_of(values: Mapping[str, Any]) -> RunFrame:
    """The frame from the values that a run stores."""
    return command_of(RunFrame, values)
