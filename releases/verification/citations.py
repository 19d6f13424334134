"""Checks the citations of a release: they are those of the criteria, and hold no more words than licences let them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import zip_longest

from releases.content.citations import CITATION_COLUMNS, DOCUMENT_COLUMNS
from releases.verification.csv_rows import Row, WrongColumns, table_rows
from releases.verification.sources import Source, Unreadable
from rubrics.tables.columns import parted

LOCATOR = re.compile(r"(?P<key>.+)@(?P<sha>[0-9a-f]{8})#(?:p\d+)?:(?P<start>\d+)-(?P<end>\d+)", re.DOTALL)


def check_citations(source: Source) -> Iterator[str]:
    """What is wrong with ``citations.csv`` and ``documents.csv``, a problem for each."""
    names = set(source.names())
    for name in ("citations.csv", "documents.csv", "rubrics.csv"):
        if name not in names:
            yield f"{name}: missing; citations.csv and documents.csv belong together"
            return
    try:
        documents = {
            (row["document"], row["sha256"]): row for row in table_rows(source, "documents.csv", DOCUMENT_COLUMNS)
        }
        cited = _behind_suggestions(source, names)
        yield from _check_rows(source, documents, cited)
    except (Unreadable, csv.Error, UnicodeDecodeError, WrongColumns) as error:
        yield str(error)


def _behind_suggestions(source: Source, names: set[str]) -> set[tuple[str, str]]:
    """Key, and the beginning of the digest, of the documents on which suggestions and their facts rest."""
    cells: list[str] = []
    if "suggestions.csv" in names:
        cells += [row["citations"] for row in table_rows(source, "suggestions.csv", ("citations",))]
    if "facts.csv" in names:
        cells += [row["locator"] for row in table_rows(source, "facts.csv", ("locator",))]
    places = [LOCATOR.fullmatch(name) for cell in cells for name in parted(cell)]
    return {(place["key"], place["sha"]) for place in places if place is not None}


def _check_rows(source: Source, documents: dict[tuple[str, str], Row], cited: set[tuple[str, str]]) -> Iterator[str]:
    """Hold the rows against the criteria; ``cited`` are the documents of suggestions, to which theirs are added."""
    rows = table_rows(source, "citations.csv", CITATION_COLUMNS)
    for number, (row, expected) in enumerate(zip_longest(rows, _of_criteria(source)), start=1):
        place = f"citations.csv, row {number}"
        if row is None or expected is None or (row["case"], row["criterion"], row["locator"]) != expected:
            yield f"{place}: not what the criteria in rubrics.csv cite, in their order"
            return
        if not row["document"]:  # of documents that were not there when it was packed
            if any(row[name] for name in ("quote", "sha256", "text")):
                yield f"{place}: words of no document"
            continue
        document = documents.get((row["document"], row["sha256"]))
        cited.add((row["document"], row["sha256"][:8]))
        if document is None:
            yield f"{place}: its document is not in documents.csv"
            continue
        yield from (f"{place}: {fault}" for fault in _faults(row, document))
    for key, sha in documents:
        if (key, sha[:8]) not in cited:
            yield f"documents.csv: no criterion cites {key} ({sha[:8]}), and no suggestion rests on it"


def _of_criteria(source: Source) -> Iterator[tuple[str, str, str]]:
    """Case, place and locator of each citation, as the table of criteria has them."""
    for row in table_rows(source, "rubrics.csv", ("case", "position", "citations")):
        for locator in parted(row["citations"]):
            yield row["case"], row["position"], locator


def _faults(row: Row, document: Row) -> Iterator[str]:
    locator = LOCATOR.fullmatch(row["locator"])
    if locator is None:
        yield "not a locator"
        return
    if (locator["key"], locator["sha"]) != (row["document"], row["sha256"][:8]):
        yield "the locator is of another document"
    if row["quote"] and document["may_quote"] != "true":
        yield "words of a document that may not be quoted"
    if row["text"] and document["may_redistribute"] != "true":
        yield "a passage of a document that may not be passed on"
    if row["headings"] and "true" not in (document["may_quote"], document["may_redistribute"]):
        yield "headings of a document that may neither be quoted nor be passed on"
    length = int(locator["end"]) - int(locator["start"])
    if row["quote"] and len(row["quote"]) != length:
        yield "the words are not as long as their locator says"
    if row["quote"] and row["text"] and row["quote"] not in row["text"]:
        yield "the words do not stand in the passage"
    if row["text"] and not row["quote"] and document["may_quote"] == "true" and len(row["text"]) != length:
        yield "the passage is not as long as its locator says"
