"""Which published criteria no suggestion covers, by a run of coverage of drafted criteria against published ones."""

from __future__ import annotations

from collections import Counter

from django.utils.translation import gettext as _

from agreement.drafted.rubric_tables import Missed
from agreement.reports.parameters import WrongParameters
from consilium.core.clock import day
from consilium.statistics.intent_alignment import Extent
from rubrics.models import Benchmark
from validation.coverage.inputs import read_coverage
from validation.coverage.selectors import reported_runs


def coverage_choices(benchmark: Benchmark) -> list[tuple[str, str]]:
    """``RUN/SET`` of each run that has ended and each set that it measured, with what a choice says."""
    return [
        (
            f"{run.public_id}/{name}",
            _("%(set)s against %(gold)s, by %(model)s, %(date)s")
            % {"set": name, "gold": run.gold_name, "model": run.model_name, "date": day(run.created_at)},
        )
        for run in reported_runs(benchmark)
        for name in run.set_names
    ]


def missed_by(benchmark: Benchmark, coverage: str) -> Missed:
    """What a run says, called ``RUN/SET``; `WrongParameters` where no run that has ended measured such a set.

    An answer that is invalid or missing counts as not covered, as it does for Clinical Intent Alignment.
    """
    public_id, _slash, name = coverage.partition("/")
    run = reported_runs(benchmark, with_settings=True).filter(public_id=public_id).first()
    if run is None or name not in run.set_names:
        raise WrongParameters(
            _("“coverage” does not name a set from a coverage run that has ended."), field="parameters.coverage"
        )
    inputs = read_coverage(run)
    answers = inputs.series_of(inputs.names.index(name))
    rows = [(own.case, answer.extent) for own, answer in zip(inputs.gold, answers, strict=True)]
    return Missed(
        points=Counter(case for case, _extent in rows),
        missed=Counter(case for case, extent in rows if extent != Extent.FULL),
        unanswered=Counter(case for case, extent in rows if extent in (Extent.INVALID, Extent.MISSING)),
    )
