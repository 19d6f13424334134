"""What older runs of the judges in a report hold beyond the runs that their names stand for."""

from __future__ import annotations

from collections.abc import Iterable

from agreement.tables import Row
from scoring.judge_runs import coverage_notes
from scoring.raters import Rater


def coverage_remarks(*raters: Rater) -> list[str]:
    """A remark for each judge of which an older run covers more responses, in English."""
    return coverage_notes(judge for rater in raters for judge in rater.judges)


def remark_on_coverage(rows: Iterable[Row], *raters: Rater) -> None:
    """Add these remarks to the ``note`` of the row over everything."""
    notes = coverage_remarks(*raters)
    for row in rows:
        if row["slice"] == "all":
            row["note"] = "; ".join(filter(None, [row.get("note") or "", *notes]))
