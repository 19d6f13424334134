"""Helpers that several kinds of report share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from agreement.reports.sentences import listed
from agreement.reports.tables import Row, Table
from consilium.core.out_folder import OutTable
from rubrics.slice_words import slice_words
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


def cost_in_words(ratio: float, gamma: float) -> str:
    """What a reading costs, for the methods of a report. With the exponent 0 only the number of errors counts."""
    if not gamma:
        return f"A reading below the reference costs {ratio:g} and one above it 1, by however many levels"
    return f"A reading d levels below the reference or o levels above it costs {ratio:g} · d^{gamma:g} + o^{gamma:g}"


def with_n(label: str, n: int) -> str:
    """The name of a row of a figure, and how many pairs it rests on."""
    return _("%(name)s, n = %(n)s") % {"name": label, "n": f"{n:,}"}


OWNERS = ("candidate", "set", "arm")


def headline(row: Row, name: str) -> Row:
    """The one figure by which a list tells reports apart; its reason where it is undefined.

    ``of`` says whose figure it is, where the row is of one candidate, set or arm of several.
    """
    value = row[name]
    owner = next((row[column] for column in OWNERS if row.get(column)), "")
    return {
        **({"of": owner} if owner else {}),
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


def row_label(slice_name: str) -> str:
    """What pages call a row of a table by slice: all, the candidate, or the slice in words (files keep its code)."""
    if slice_name == "all":
        return _("All")
    if slice_name.startswith("candidate:"):
        return candidate_of(slice_name)
    return slice_words(slice_name)


def drafted_words(rubric_set: Mapping[str, Any]) -> list[str]:
    """What the methods say of a set whose criteria a run drafted."""
    drafted = rubric_set.get("drafted")
    if drafted is None:
        return []
    by = "rules, and no language model," if drafted["by_rules"] else listed(drafted["models"]) or "code alone"
    return [
        f"The criteria of {rubric_set['name']} are those that version {drafted['version']} of the recipe "
        f"{drafted['recipe']} drafted, by {by.rstrip(',')}, before any physician decided on them."
    ]


def own_criteria_words(sets: Sequence[str]) -> str:
    """What the methods say where the model that judges by sets drafted them, or is named by them."""
    if not sets:
        return ""
    return (
        f"The model drafted the criteria of {listed(sets)}, or its name is part of the name, the description or the "
        "file: it may have judged criteria that it wrote."
    )
