"""Checks what a release says of suggestions: those of its criteria, with no more words than licences let."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, BinaryIO, cast

from releases.content.citations import DOCUMENT_COLUMNS
from releases.content.suggestions import FACT_COLUMNS, SUGGESTION_COLUMNS
from releases.verification.citations import LOCATOR
from releases.verification.csv_rows import Row, WrongColumns, table_rows
from releases.verification.sources import Source, Unreadable
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import RecordReader

CASES, DOCUMENTS = "cases/healthbench.jsonl", "documents.csv"
FILES = ("suggestions.csv", "facts.csv")
Place = tuple[str, str, str]  # case, place of the criterion, suggestion


def check_suggestions(source: Source, *, names_documents: bool = True) -> Iterator[str]:
    """What is wrong with ``suggestions.csv`` and ``facts.csv``, a problem for each.

    ``names_documents``: whether ``documents.csv`` has the documents of all facts, as from form 2 of a release on.
    """
    names = set(source.names())
    for name in (*FILES, CASES):
        if name not in names:
            yield f"{name}: missing; suggestions.csv and facts.csv belong together"
            return
    try:
        facts_of: dict[Place, set[str]] = {}
        yield from _check_suggestions(source, facts_of)
        documents = table_rows(source, DOCUMENTS, DOCUMENT_COLUMNS) if DOCUMENTS in names else ()
        quotable = {(row["document"], row["sha256"][:8]): row["may_quote"] == "true" for row in documents}
        yield from _check_facts(source, facts_of, quotable, names_documents)
    except (Unreadable, csv.Error, UnicodeDecodeError, WrongColumns) as error:
        yield str(error)


def _check_suggestions(source: Source, facts_of: dict[Place, set[str]]) -> Iterator[str]:
    """Hold the rows against the criteria; ``facts_of`` takes the numbers of the facts of each."""
    rows = table_rows(source, "suggestions.csv", SUGGESTION_COLUMNS)
    for number, (row, expected) in enumerate(zip_longest(rows, _of_criteria(source)), start=1):
        if row is None or expected is None or (row["criterion"], row["suggestion"]) != expected:
            yield f"suggestions.csv, row {number}: not what the criteria in {CASES} began as, in their order"
            return
        facts_of[_place(row)] = set(row["facts"].split())


def _of_criteria(source: Source) -> Iterator[tuple[str, str]]:
    """Place and suggestion of each criterion that began as one. Faults of the file itself are named elsewhere."""
    with source.open(CASES) as file:
        for _line, record in RecordReader(cast(BinaryIO, file), Faults()):
            criteria = record.get("rubrics")
            for place, criterion in enumerate(criteria if isinstance(criteria, list) else (), start=1):
                if suggestion := _suggestion_of(criterion):
                    yield str(place), suggestion


def _suggestion_of(criterion: Any) -> str:
    trace = criterion.get("traceability") if isinstance(criterion, dict) else None
    return str(trace.get("suggestion", "")) if isinstance(trace, dict) else ""


def _check_facts(
    source: Source,
    facts_of: dict[Place, set[str]],
    quotable: dict[tuple[str, str], bool],
    names_documents: bool,
) -> Iterator[str]:
    for number, row in enumerate(table_rows(source, "facts.csv", FACT_COLUMNS), start=1):
        if row["fact"] not in facts_of.get(_place(row), ()):
            yield f"facts.csv, row {number}: a fact of no suggestion in suggestions.csv"
            continue
        yield from (f"facts.csv, row {number}: {fault}" for fault in _faults(row, quotable, names_documents))


def _faults(row: Row, quotable: dict[tuple[str, str], bool], names_documents: bool) -> Iterator[str]:
    if not row["locator"]:  # its quotation stands in no passage, or in none that was there when it was packed
        if row["words"] or row["text"]:
            yield "words of no document"
        return
    locator = LOCATOR.fullmatch(row["locator"])
    if locator is None:
        yield "not a locator"
        return
    if row["words"] and len(row["words"]) != int(locator["end"]) - int(locator["start"]):
        yield "the words are not as long as their locator says"
    may_quote = quotable.get((locator["key"], locator["sha"]))
    if may_quote is None:
        if names_documents:
            yield "its document is not in documents.csv"
    elif (row["words"] or row["text"]) and not may_quote:
        yield "words of a document that may not be quoted"


def _place(row: Row) -> Place:
    return row["case"], row["criterion"], row["suggestion"]
