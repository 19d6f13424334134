"""Writes to reports. A report is stored before its task is enqueued; a worker claims it and computes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from importlib.metadata import version
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from agreement.forms import LARGEST_SEED
from agreement.kinds import KINDS
from agreement.models import Replication, Report
from agreement.reports.endpoint_facts import marked
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import store_tables
from agreement.reports.tables import Result
from consilium.core.i18n import english
from consilium.core.jobs import OPEN, Attempt, Clock, JobKind, Progress, no_progress, register
from consilium.core.reasons import Reason
from consilium.core.version import VERSION
from consilium.statistics.intervals import interval_rule
from rubrics.models import Benchmark
from rubrics.selectors.exclusion import excluded_cases
from rubrics.services.beginning import unfinished_or_new
from rubrics.services.job_notices import END_OF_JOB, notify_of_end


def software() -> str:
    """The versions of the product and of the libraries that compute the figures."""
    return ", ".join([f"consilium {VERSION}", *(f"{name} {version(name)}" for name in ("numpy", "scipy"))])


@transaction.atomic
def start_report(
    *,
    benchmark: Benchmark,
    kind: str,
    parameters: Mapping[str, Any],
    at: datetime,
    by: User | None,
    seed: int = 0,
    interval: str = Report.Interval.JACKKNIFE,
) -> tuple[Report, bool]:
    """The identical report that waits or is being computed, and False; else a new one by `create_report`, and True.

    Reports of a benchmark are created one after the other, so that a form submitted twice at once creates one.
    """
    same_report = Report.objects.filter(
        benchmark=benchmark,
        kind=kind,
        parameters=_complete(benchmark, kind, parameters, seed, interval),
        seed=seed,
        interval=interval,
        recomputes=None,
        status__in=OPEN,
    )
    return unfinished_or_new(
        benchmark=benchmark,
        unfinished=lambda: same_report,
        create=lambda: create_report(
            benchmark=benchmark, kind=kind, parameters=parameters, at=at, by=by, seed=seed, interval=interval
        ),
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
    interval: str = Report.Interval.JACKKNIFE,
    recomputes: Report | None = None,
    replication: Replication | None = None,
) -> Report:
    """A report that waits for a worker. `UnknownRater` or `WrongParameters` where it could never be computed."""
    report = Report.objects.create(
        benchmark=benchmark,
        kind=kind,
        parameters=_complete(benchmark, kind, parameters, seed, interval),
        seed=seed,
        interval=interval,
        created_by=by,
        created_at=at,
        recomputes=recomputes,
        name=recomputes.name if recomputes else "",
        replication=replication,
    )
    REPORTS.enqueue(report)
    return report


def _complete(
    benchmark: Benchmark, kind: str, parameters: Mapping[str, Any], seed: int, interval: str
) -> dict[str, Any]:
    """The parameters as they are stored; `WrongParameters` or `UnknownRater` where nothing could be computed."""
    of_kind = KINDS[kind]
    unknown = sorted(set(parameters) - of_kind.parameters)
    if unknown:
        raise WrongParameters(
            _("This kind of report does not accept the parameter %(names)s.") % {"names": ", ".join(map(str, unknown))},
            field=f"parameters.{unknown[0]}",
        )
    if not 0 <= seed <= LARGEST_SEED:
        raise WrongParameters(_("The seed must be a whole number of 0 or more."), field="seed")
    if interval not in Report.Interval.values:
        raise WrongParameters(
            _("There is no interval rule “%(name)s”. Available: %(names)s.")
            % {"name": interval, "names": ", ".join(Report.Interval.values)},
            field="interval",
        )
    if interval not in of_kind.interval_rules:
        raise WrongParameters(_("Intervals by this rule are not available for this kind of report."), field="interval")
    return of_kind.complete(benchmark, parameters)


def recompute_report(*, report: Report, at: datetime, by: User | None = None) -> Report:
    """The same report once more, as a row of its own: the earlier report is kept. It takes over the name.

    The note stays with the earlier report, since it may be a conclusion from data that have changed.

    A report from before there was a choice of interval rules is computed with the rule of now.
    """
    return create_report(
        benchmark=report.benchmark,
        kind=report.kind,
        parameters=report.parameters,
        seed=report.seed,
        interval=report.interval or Report.Interval.JACKKNIFE,
        at=at,
        by=by,
        recomputes=report,
    )


class ReportJobs(JobKind[Report]):
    """Reports: computed by a worker, and filled in."""

    model = Report
    task = "agreement.tasks.run_report"
    sweep_task = "agreement.tasks.sweep_reports"
    worker_lost = gettext_lazy("The worker stopped unexpectedly %(times)s times while computing this.")
    crashed = gettext_lazy("The computation failed. See the worker log for details.")

    def work(self, attempt: Attempt[Report]) -> None:
        """Compute the report, and store it with its tables."""
        report = attempt.job
        rule = interval_rule(report.interval or Report.Interval.PERCENTILE, seed=report.seed)
        compute = partial(
            KINDS[report.kind].compute,
            report.benchmark,
            rule=rule,
            seed=report.seed,
            progress=attempt.progress,
            **report.parameters,
        )
        result = marked(report.benchmark, compute())
        _note_excluded(report.benchmark, result)
        with transaction.atomic():
            attempt.finish(progress=1.0, result=result.as_json(), input_digest=result.digest, software=software())
            store_tables(report, result.tables)

    def ended(self, job: Report, *, status: str, at: datetime) -> None:
        """Notify who requested the report; the admins, too, if it failed. A replication notifies of its own end."""
        if job.replication_id is not None:
            return
        notify_of_end(
            benchmark=job.benchmark,
            by=job.created_by_id,
            begun_at=job.created_at,
            what="report",
            end=END_OF_JOB[status],
            url=reverse("agreement:report", args=[job.benchmark.slug, job.section, job.public_id]),
            at=at,
            label=english(Report.Kind(job.kind).label),
            title=job.name,
        )


REPORTS = register(ReportJobs())


def run(*, report_id: int, clock: Clock) -> None:
    """Compute a report if it is there to be computed; safe to call any number of times, from any number of workers."""
    REPORTS.run(job_id=report_id, clock=clock)


def computed(*, report: Report, clock: Clock, waiting: Progress = no_progress) -> Report:
    """Compute a report at once, or wait for the worker that has claimed it; the report as it then is, done or failed.

    ``waiting`` is called between looks at it.
    """
    if report.status in OPEN:
        REPORTS.completed(job_id=report.pk, clock=clock, waiting=waiting)
        report = Report.objects.select_related("benchmark", "created_by").get(pk=report.pk)
    return report


def _note_excluded(benchmark: Benchmark, result: Result) -> None:
    """Add a remark on the excluded cases, whose decisions and verdicts are in none of the figures."""
    excluded = excluded_cases(benchmark).count()
    if excluded:
        result.facts["n_cases_excluded"] = excluded
        result.notes.append(Reason.EXCLUDED_CASES(n=excluded))
