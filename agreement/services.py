"""Every write to reports. The row is there before any task; a worker claims it, computes, and fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from accounts.models import User
from agreement.forms import LARGEST_SEED
from agreement.kinds import KINDS
from agreement.models import Report
from agreement.parameters import WrongParameters
from agreement.stored import store_tables
from agreement.tables import Result
from consilium.core.jobs import JobStatus
from consilium.lib.errors import Conflict, DomainError
from consilium.lib.i18n import language_of
from consilium.lib.version import VERSION
from rubrics.exclusion import excluded_cases
from rubrics.models import Benchmark
from rubrics.services.beginning import unfinished_or_new

# A worker that has not been heard of for so long is taken for lost.
LOST_AFTER = timedelta(minutes=2)
# A report that waits longer than this was not rung for, or its bell was lost.
UNHEARD_AFTER = timedelta(seconds=10)
MAX_ATTEMPTS = 3

Clock = Callable[[], datetime]


def software() -> str:
    """What computes: the product and the libraries that the numbers come from."""
    return ", ".join([f"consilium {VERSION}", *(f"{name} {version(name)}" for name in ("numpy", "scipy"))])


@transaction.atomic
def start_report(
    *, benchmark: Benchmark, kind: str, parameters: Mapping[str, Any], at: datetime, by: User | None, seed: int = 0
) -> tuple[Report, bool]:
    """The report of exactly this that waits or is computed, and False; else a new one by `create_report`, and True.

    Reports of a benchmark are begun one after the other, so that a form that is sent twice at once begins one.
    """
    same_report = Report.objects.filter(
        benchmark=benchmark,
        kind=kind,
        parameters=_complete(benchmark, kind, parameters, seed),
        seed=seed,
        recomputes=None,
        status__in=(JobStatus.PENDING, JobStatus.RUNNING),
    )
    return unfinished_or_new(
        benchmark=benchmark,
        unfinished=lambda: same_report,
        create=lambda: create_report(benchmark=benchmark, kind=kind, parameters=parameters, at=at, by=by, seed=seed),
    )


@transaction.atomic
def create_report(
    *,
    benchmark: Benchmark,
    kind: str,
    parameters: Mapping[str, Any],
    at: datetime,
    by: User | None = None,
    seed: int = 0,
    recomputes: Report | None = None,
) -> Report:
    """A report that waits for a worker. `UnknownRater` or `WrongParameters` where it could never be computed."""
    from agreement.tasks import run_report

    report = Report.objects.create(
        benchmark=benchmark,
        kind=kind,
        parameters=_complete(benchmark, kind, parameters, seed),
        seed=seed,
        created_by=by,
        created_at=at,
        recomputes=recomputes,
    )
    run_report.delay_on_commit(report.pk)
    return report


def _complete(benchmark: Benchmark, kind: str, parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The parameters as they are stored; `WrongParameters` or `UnknownRater` where nothing could be computed."""
    of_kind = KINDS[kind]
    unknown = sorted(set(parameters) - of_kind.parameters)
    if unknown:
        raise WrongParameters(
            _("A report of this kind takes no parameter %(names)s.") % {"names": ", ".join(map(str, unknown))}
        )
    if not 0 <= seed <= LARGEST_SEED:
        raise WrongParameters(_("The seed is a whole number from 0."))
    return of_kind.complete(benchmark, parameters)


def recompute_report(*, report: Report, at: datetime, by: User | None = None) -> Report:
    """The same report once more, as a row of its own: what was computed before stands."""
    return create_report(
        benchmark=report.benchmark,
        kind=report.kind,
        parameters=report.parameters,
        seed=report.seed,
        at=at,
        by=by,
        recomputes=report,
    )


def claim(*, report_id: int, at: datetime) -> Report | None:
    """Take up a report that waits, or one whose worker was lost; None where there is nothing to do.

    ``attempts`` numbers the claims: whoever holds the latest may write. A report that was lost too often fails.
    """
    open_to_claim = Report.objects.filter(pk=report_id).filter(
        Q(status=JobStatus.PENDING) | Q(status=JobStatus.RUNNING, heartbeat_at__lt=at - LOST_AFTER)
    )
    exhausted = open_to_claim.filter(attempts__gte=MAX_ATTEMPTS)
    if exhausted.update(
        status=JobStatus.FAILED,
        finished_at=at,
        error=_("The worker was lost %(times)s times while computing this.") % {"times": MAX_ATTEMPTS},
    ):
        return None
    hit = open_to_claim.update(
        status=JobStatus.RUNNING, started_at=at, heartbeat_at=at, progress=0.0, attempts=F("attempts") + 1
    )
    return Report.objects.select_related("benchmark", "created_by").get(pk=report_id) if hit else None


def run(*, report_id: int, clock: Clock) -> None:
    """Compute a report if it is there to be computed; safe to call any number of times, from any number of workers."""
    report = claim(report_id=report_id, at=clock())
    if report is None:
        return
    with language_of(report.created_by):
        _run(report, clock)


def _run(report: Report, clock: Clock) -> None:
    try:
        result = KINDS[report.kind].compute(
            report.benchmark,
            seed=report.seed,
            progress=lambda share: _beat(report, share, clock()),
            **report.parameters,
        )
        _say_excluded(report.benchmark, result)
        _finish(report, result, clock)
    except Superseded:
        return
    except DomainError as error:
        _close(report, status=JobStatus.FAILED, error=str(error), finished_at=clock())
        return
    except Exception:
        _close(
            report,
            status=JobStatus.FAILED,
            error=_("The computation failed; the log of the worker has the details."),
            finished_at=clock(),
        )
        raise


def _say_excluded(benchmark: Benchmark, result: Result) -> None:
    """How many cases do not count: their decisions and verdicts are in none of the figures."""
    excluded = excluded_cases(benchmark).count()
    if excluded:
        result.facts["n_cases_excluded"] = excluded
        result.notes.append(f"{excluded} excluded cases left out")


@transaction.atomic
def _finish(report: Report, result: Result, clock: Clock) -> None:
    hit = _close(
        report,
        status=JobStatus.DONE,
        progress=1.0,
        result=result.as_json(),
        input_digest=result.digest,
        software=software(),
        finished_at=clock(),
    )
    if hit:
        store_tables(report, result.tables)


class Superseded(Conflict):
    """Another worker holds the report by now."""


def _held(report: Report) -> Any:
    return Report.objects.filter(pk=report.pk, status=JobStatus.RUNNING, attempts=report.attempts)


def _beat(report: Report, share: float, at: datetime) -> None:
    if not _held(report).update(progress=min(max(share, 0.0), 1.0), heartbeat_at=at):
        raise Superseded(_("Another worker computes this report by now."))


def _close(report: Report, **changes: Any) -> bool:
    # Whoever took the report over writes its end; the same inputs give the same result.
    return bool(_held(report).update(**changes))


def unfinished(*, at: datetime) -> list[int]:
    """Reports that nobody works on though they are due: their bell, or their worker, was lost."""
    waiting = Q(status=JobStatus.PENDING, created_at__lt=at - UNHEARD_AFTER)
    lost = Q(status=JobStatus.RUNNING, heartbeat_at__lt=at - LOST_AFTER)
    return list(Report.objects.filter(waiting | lost).order_by("created_at").values_list("pk", flat=True))
