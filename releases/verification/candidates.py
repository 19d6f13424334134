"""Checks what a release says of candidates, and that what was made with their responses is about its own cases."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO, cast

from pydantic import ValidationError

from agreement.counting.frame import DEFAULT_SETTING
from consilium.statistics.outcomes import Outcome
from releases.content.attributes import FILE as ATTRIBUTES_FILE
from releases.content.optional_content import DECISION_COLUMNS, VERDICT_COLUMNS
from releases.verification.csv_rows import CsvRows, Row, WrongColumns, table_rows
from releases.verification.sources import Source, Unreadable
from rubrics.parsing.decisions import OUTCOMES
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import RecordReader
from rubrics.services.attribute_values import NOTHING_KNOWN, AttributeValues
from rubrics.tables.attribute_table import ATTRIBUTES, COLUMNS, read_attribute_table
from rubrics.tables.columns import CASE
from rubrics.tables.encodings import UTF8
from rubrics.tables.table import Table

RESPONSES, RUBRICS, SPLITS = "responses.jsonl", "rubrics.csv", "splits/"
# Files with a row for each response and criterion: their columns, and the outcomes that they may have.
OF_PAIRS = {
    "decisions.csv": (DECISION_COLUMNS, OUTCOMES),
    "verdicts.csv": (VERDICT_COLUMNS, (*OUTCOMES, Outcome.INVALID.word)),
}
ResponseName = tuple[str, str, str, str]  # case, candidate, setting, sample


def check_candidates(source: Source, release: Any) -> Iterator[str]:
    """What is wrong with the attributes of candidates, their responses and what was said of these.

    ``release`` is what ``release.json`` holds: it names the candidates that the release is limited to, if it is.
    """
    options = release.get("options") if isinstance(release, dict) else None
    limited_to = options.get("candidates") if isinstance(options, dict) else None
    chosen = {str(name) for name in limited_to} if isinstance(limited_to, list) else set()
    names = set(source.names())
    try:
        if ATTRIBUTES_FILE in names:
            yield from _check_attributes(source, chosen)
        if RUBRICS in names:
            yield from _check_work(source, names, chosen)
    except (Unreadable, csv.Error, UnicodeDecodeError, WrongColumns) as error:
        yield str(error)


# Attributes -------------------------------------------------------------------------------------------------------


def _check_attributes(source: Source, chosen: Collection[str]) -> Iterator[str]:
    """The rows have to be those that `import_candidates` takes, by the same code."""
    if _heading(source, ATTRIBUTES_FILE) != list(COLUMNS):
        yield f"{ATTRIBUTES_FILE}: its columns are not those of every release: {', '.join(COLUMNS)}"
        return
    faults = Faults()
    table = Table(ATTRIBUTES, chosen={}, encoding=UTF8, delimiter=",", is_workbook=False)
    with source.open(ATTRIBUTES_FILE) as file:
        for row in read_attribute_table(cast(BinaryIO, file), table, faults):
            try:
                values = AttributeValues(**row.values)
            except ValidationError:
                yield f"{ATTRIBUTES_FILE}, line {row.line}: a value that no candidate can have"
                continue
            for field, reason in values.conflicts():
                faults.add(row.line, field, reason)
            if values == NOTHING_KNOWN:
                yield f"{ATTRIBUTES_FILE}, line {row.line}: says nothing of its candidate"
            if chosen and row.candidate not in chosen:
                yield f"{ATTRIBUTES_FILE}, line {row.line}: of a candidate that release.json does not name"
    yield from (f"{ATTRIBUTES_FILE}, {fault}" for fault in faults.first)
    if faults.total > len(faults.first):
        yield f"{ATTRIBUTES_FILE}: {faults.total - len(faults.first)} further faults"


def _heading(source: Source, name: str) -> list[str]:
    with source.open(name) as raw, CsvRows(raw) as rows:
        return next(rows, [])


# Responses and what was said of them ------------------------------------------------------------------------------


def _check_work(source: Source, names: set[str], chosen: Collection[str]) -> Iterator[str]:
    criteria = {(row[CASE], row["position"]) for row in table_rows(source, RUBRICS, (CASE, "position"))}
    cases = {case for case, _position in criteria}
    for name in sorted(names):
        if name.startswith(SPLITS) and name.endswith(".jsonl"):
            for number, record in _records(source, name):
                if str(record.get("case")) not in cases:
                    yield f"{name}, line {number}: a case that {RUBRICS} does not have"
    responses: set[ResponseName] | None = None
    if RESPONSES in names:
        responses = set()
        for number, record in _records(source, RESPONSES):
            response = _response(record)
            if response[0] not in cases:
                yield f"{RESPONSES}, line {number}: on a case that {RUBRICS} does not have"
            if chosen and response[1] not in chosen:
                yield f"{RESPONSES}, line {number}: of a candidate that release.json does not name"
            if response in responses:
                yield f"{RESPONSES}, line {number}: a response that stands there twice"
            responses.add(response)
    for name in OF_PAIRS:
        if name in names:
            yield from _check_pairs(source, name, criteria, responses, chosen)


def _check_pairs(
    source: Source,
    name: str,
    criteria: set[tuple[str, str]],
    responses: set[ResponseName] | None,
    chosen: Collection[str],
) -> Iterator[str]:
    columns, outcomes = OF_PAIRS[name]
    if "setting" in _heading(source, name):
        columns = (*columns, "setting")
    for number, row in enumerate(table_rows(source, name, columns), start=1):
        if (row["case"], row["criterion"]) not in criteria:
            yield f"{name}, row {number}: on a criterion that {RUBRICS} does not have"
        elif responses is not None and _response(row) not in responses:
            yield f"{name}, row {number}: on a response that {RESPONSES} does not have"
        elif chosen and row["candidate"] not in chosen:
            yield f"{name}, row {number}: of a candidate that release.json does not name"
        elif row["outcome"] not in outcomes:
            yield f"{name}, row {number}: not an outcome"


def _records(source: Source, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of a file with their numbers; faults of a line itself are named elsewhere."""
    if source.size(name):
        with source.open(name) as file:
            yield from RecordReader(cast(BinaryIO, file), Faults())


def _response(row: Row | dict[str, Any]) -> ResponseName:
    setting = str(row.get("setting") or DEFAULT_SETTING)
    return str(row.get("case")), str(row.get("candidate")), setting, str(row.get("sample", 0))
