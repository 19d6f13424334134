"""What older runs of the judges in a report cover beyond the runs that count for them."""

from __future__ import annotations

from collections.abc import Iterable

from agreement.reports.tables import Row
from consilium.core.phrases import joined
from rubrics.models import Benchmark
from scoring.runs.selectors import coverage_notes, run_sets
from scoring.selectors.raters import Rater


def coverage_remarks(*raters: Rater) -> list[str]:
    """A remark for each judge of which older runs cover more pairs, in English, with its codes."""
    return coverage_notes(judge for rater in raters for judge in rater.judges)


def coverage_remarks_of_runs(benchmark: Benchmark, raters: Iterable[Rater]) -> list[str]:
    """The same remarks where judges were named and the parameters store the run that counted for each."""
    runs = {run.pk for rater in raters for run in rater.runs}
    return coverage_notes(judge for judge in run_sets(benchmark).values() if runs.issuperset(judge.run_ids))


def remark_on_coverage(rows: Iterable[Row], *raters: Rater) -> None:
    """Add these remarks to the ``note`` of the row over everything."""
    notes = coverage_remarks(*raters)
    for row in rows:
        if row["slice"] == "all":
            row["note"] = joined(row.get("note") or "", *notes)
