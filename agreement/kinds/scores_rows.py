"""Rows of the stored tables of a report of scores, and what its pages and figures call them."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _

from agreement.models import Report
from agreement.reports.links import pairs_url
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from agreement.scoreboard.case_sets import OF_CANDIDATE
from rubrics.slice_words import value_words

# Decimals of a figure where it is drawn.
DIGITS = {"rubric_score": 2, "rubric_accuracy": 1, "cacs_at_k": 1, "pass_at_k": 2}
# Where a figure lies: shares, and figures of 100.
LIMITS = {
    **dict.fromkeys(("rubric_score", "pass_at_k"), (0.0, 1.0)),
    **dict.fromkeys(("rubric_accuracy", "cacs_at_k"), (0.0, 100.0)),
}


def rows_of(report: Report, name: str) -> list[Row]:
    """The rows of a table; none where the report is older than it."""
    try:
        return table_of(report, name).dicts()
    except KeyError:
        return []


def evidence_url(report: Report, candidate: str, part: str = "") -> str:
    """The decisions behind a candidate's figures, in one slice or in all."""
    return pairs_url(report, f"{part}{OF_CANDIDATE}{candidate}" if part else f"candidate:{candidate}")


def short(part: str) -> str:
    """A slice without the kind of slice that it is."""
    return part.partition(":")[2] or part


def measure_words(report: Report) -> dict[str, str]:
    """The name of each figure, in the order in which they are offered."""
    k = report.result["facts"]["k"]
    return {
        "rubric_score": _("Rubric score"),
        "rubric_accuracy": _("Rubric Accuracy"),
        "cacs_at_k": f"CACS@{k}",
        "pass_at_k": f"Pass@{k}",
    }


def labels_of(kind: str, names: Iterable[str]) -> dict[str, str]:
    """What a figure calls slices of one kind, by their names: in words, unless two would then be called the same."""
    names = list(names)
    words = {name: value_words(kind, short(name)) for name in names}
    return words if len(set(words.values())) == len(names) else {name: short(name) for name in names}


def drawn_candidates(report: Report, most: int) -> tuple[list[str], int]:
    """The candidates of which a figure draws a line, at most ``most``, and how many there are.

    Those that the report was asked to show, or the best by rubric score; both in the order of that score.
    """
    board = rows_of(report, "scoreboard")
    named = set(report.parameters.get("show") or ())
    kept = [row for row in board if row["candidate"] in named] or board
    kept.sort(key=lambda row: (row["rubric_score"] is None, -(row["rubric_score"] or 0.0), row["candidate"]))
    return [row["candidate"] for row in kept[:most]], len(board)


def drawn_words(report: Report, drawn: list[str], n_all: int) -> str:
    """A sentence on the candidates that a figure leaves out; empty where it shows all of them."""
    if len(drawn) == n_all:
        return ""
    facts = {"n": len(drawn), "all": n_all}
    if report.parameters.get("show"):
        return _("%(n)s chosen of %(all)s candidates are drawn; the table has all of them.") % facts
    return (
        _("The %(n)s of %(all)s candidates with the highest rubric score are drawn; the table has all of them.") % facts
    )
