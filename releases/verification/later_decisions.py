"""Checks what a release says was decided after the first decisions: on its pairs, with outcomes that can be."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from releases.content.later_decisions import AMENDMENT_COLUMNS, AMENDMENTS, RULING_COLUMNS, RULINGS
from releases.content.optional_content import DECISION_COLUMNS
from releases.verification.csv_rows import Row, WrongColumns, table_rows
from releases.verification.sources import Source, Unreadable

DECISIONS, RUBRICS = "decisions.csv", "rubrics.csv"
FILES = (AMENDMENTS, RULINGS)
_OUTCOMES = ("met", "not_met", "cannot_assess")
_RULED = (*_OUTCOMES, "faulty")
Place = tuple[str, str, str, str, str]  # case, candidate, sample, criterion, annotator


def check_later_decisions(source: Source) -> Iterator[str]:
    """What is wrong with ``amendments.csv`` and ``rulings.csv``, a problem for each."""
    names = set(source.names())
    if DECISIONS not in names:
        yield f"{DECISIONS}: missing; {AMENDMENTS} and {RULINGS} belong to it"
        return
    try:
        if AMENDMENTS in names:
            yield from _check_amendments(source)
        if RULINGS in names and RUBRICS in names:
            yield from _check_rulings(source)
    except (Unreadable, csv.Error, UnicodeDecodeError, WrongColumns) as error:
        yield str(error)


def _check_amendments(source: Source) -> Iterator[str]:
    waiting: dict[Place, list[int]] = {}
    for number, row in enumerate(table_rows(source, AMENDMENTS, AMENDMENT_COLUMNS), start=1):
        waiting.setdefault(_place(row, row["annotator"]), []).append(number)
        if row["outcome"] not in _OUTCOMES or row["before"] not in _OUTCOMES or row["outcome"] == row["before"]:
            yield f"{AMENDMENTS}, row {number}: does not change one outcome into another"
        if row["stage"] not in ("annotator", "checker"):
            yield f"{AMENDMENTS}, row {number}: its stage is neither annotator nor checker"
    for row in table_rows(source, DECISIONS, DECISION_COLUMNS):
        waiting.pop(_place(row, row["rater"]), None)
    for number in sorted(number for numbers in waiting.values() for number in numbers):
        yield f"{AMENDMENTS}, row {number}: of a decision that {DECISIONS} does not have"


def _check_rulings(source: Source) -> Iterator[str]:
    criteria = {(row["case"], row["position"]) for row in table_rows(source, RUBRICS, ("case", "position"))}
    for number, row in enumerate(table_rows(source, RULINGS, RULING_COLUMNS), start=1):
        if (row["case"], row["criterion"]) not in criteria:
            yield f"{RULINGS}, row {number}: on a criterion that {RUBRICS} does not have"
        if row["outcome"] not in _RULED:
            yield f"{RULINGS}, row {number}: not an outcome of a ruling"
        if row["stage"] != "adjudicator":
            yield f"{RULINGS}, row {number}: its stage is not adjudicator"


def _place(row: Row, annotator: str) -> Place:
    return row["case"], row["candidate"], row["sample"], row["criterion"], annotator
