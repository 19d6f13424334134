"""Reads stored tables of earlier versions in the columns of this version.

A stored number keeps its value; where the meaning of a column changed under the same name, the number is converted
here, so that pages, files and the API never show it under the wrong heading.
"""

from __future__ import annotations

from agreement.models import Report
from agreement.reports.tables import Table

# A fact of a report on the alternative annotator test: the direction of its column ``difference``. In reports without
# this fact the difference is physician less judge.
DIFFERENCE_FACT = "difference"
JUDGE_LESS_PHYSICIAN = "judge less physician"


def in_present_meaning(report: Report, name: str, table: Table) -> Table:
    """The table, with its numbers in their present meaning."""
    if (
        report.kind == Report.Kind.ALTERNATIVE
        and name == "physicians"
        and report.result.get("facts", {}).get(DIFFERENCE_FACT) != JUDGE_LESS_PHYSICIAN
    ):
        return _with_sign_turned(table, "difference")
    return table


def _with_sign_turned(table: Table, name: str) -> Table:
    """Turn a column and the ends of its interval from a less b into b less a."""
    place, low, high = (table.columns.index(f"{name}{end}") for end in ("", "_low", "_high"))
    rows = []
    for stored in table.rows:
        row = list(stored)
        row[place], row[low], row[high] = (
            None if value is None else 0.0 - value for value in (stored[place], stored[high], stored[low])
        )
        rows.append(row)
    return Table(table.columns, rows, table.text)
