"""Helpers that several kinds of report share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agreement.reports.tables import Row, Table
from consilium.core.out_folder import OutTable
from scoring.selectors import provenance
from scoring.selectors.raters import Rater


def judged_by(*raters: Rater) -> str:
    """Which kind of judge may have left pairs undecided, as an argument of `compare.compare`."""
    kinds = {rater.undecided_by for rater in raters} - {"group"}
    return "judge or jury" if len(kinds) > 1 else next(iter(kinds), "judge")


def tables_of(files: Iterable[OutTable]) -> dict[str, Table]:
    """The tables of a report from those that its command writes; a cell that a row leaves out is empty."""
    return {
        file.name: Table.of(
            file.columns,
            [{name: row.get(name) for name in file.columns} for row in file.rows if isinstance(row, Mapping)],
            tuple(name for name in file.text_columns if name in file.columns),
        )
        for file in files
    }


def raters_table(*raters: Rater) -> Table:
    """The raters of a report; for each judge its version, model, prompt hash and run."""
    return Table.of(provenance.COLUMNS, provenance.provenance(*raters), provenance.TEXT_COLUMNS)


def headline(row: Row, name: str) -> Row:
    """The one figure by which a list tells reports apart; its reason where it is undefined."""
    value = row[name]
    return {
        "value": value,
        "low": row[f"{name}_low"],
        "high": row[f"{name}_high"],
        "reason": row.get("note", "") if value is None else "",
    }


def split_broken(row: Row) -> Row:
    """The row with ``n_broken``, its invalid verdicts without the missing ones; in an older report both together."""
    return {"n_missing": None, **row, "n_broken": row["n_invalid"] - row.get("n_missing", 0)}


def candidate_of(slice_name: str) -> str:
    """The candidate's name if the slice is of one candidate; any other slice unchanged."""
    return slice_name.removeprefix("candidate:")
