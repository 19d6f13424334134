"""Checks what a release says of codes of failures: of its books, on its responses, by raters that it names."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from agreement.counting.frame import DEFAULT_SETTING
from consilium.llm.coding import PARTS_OF_PROMPT, prompt_digest
from releases.content.code_files import (
    ADJUDICATION,
    BOOK,
    FOLDER,
    JUDGES,
    NAMED,
    PHYSICIANS,
    PROMPTS,
    RULINGS,
    TABLES,
    rater_named,
)
from releases.content.schemas import SCHEMAS
from releases.verification.csv_rows import Row, WrongColumns, table_rows
from releases.verification.lines import fault_of
from releases.verification.sources import Source, Unreadable
from rubrics.codes.code import (
    MAX_CODE_KEY_LENGTH,
    MAX_CODE_TEXT_LENGTH,
    MAX_CODE_TITLE_LENGTH,
    MAX_CODES,
    MAX_EXAMPLES,
    NONE_OF_THESE,
)
from rubrics.codes.reading import codes_of_records
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import RecordReader
from scoring.coding.kind import CODED, INVALID

RESPONSES, RUBRICS = "responses.jsonl", "rubrics.csv"
# What a prompt says of one code in one language: key, title, three texts, examples. JSON takes at most six bytes for a
# character; what is the same in every prompt, and the names of judge and model, are far shorter than a MiB.
_MAX_CODE_LENGTH = MAX_CODE_KEY_LENGTH + MAX_CODE_TITLE_LENGTH + (3 + MAX_EXAMPLES) * MAX_CODE_TEXT_LENGTH
MAX_PROMPT_BYTES = 6 * MAX_CODES * _MAX_CODE_LENGTH + (1 << 20)
ResponseName = tuple[str, str, str, str]  # case, candidate, setting, sample


def check_codes(source: Source) -> Iterator[str]:
    """What is wrong with the files of codes, a problem for each."""
    names = set(source.names())
    missing = [name for name in (*TABLES, RESPONSES, RUBRICS) if name not in names]
    for name in missing:
        yield f"{name}: missing; the files of {FOLDER} belong to it, and together"
    if missing:
        return
    try:
        checks = _Checks(source)
        yield from checks.books()
        yield from checks.judges()
        for name in TABLES:
            yield from checks.rows(name)
        yield from checks.responses()
    except (Unreadable, csv.Error, UnicodeDecodeError, WrongColumns) as error:
        yield str(error)


class _Checks:
    """The checks in their order; each uses what those before it have read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._books: dict[str, set[str]] = {}  # version → keys
        self._judges: set[tuple[str, str]] = set()  # version and rater
        # Response → where it is named, and the words that are quoted from it there.
        self._waiting: defaultdict[ResponseName, list[tuple[str, int, list[str]]]] = defaultdict(list)
        rows = table_rows(source, RUBRICS, ("case", "position"))
        self._criteria = {(row["case"], row["position"]) for row in rows}

    def books(self) -> Iterator[str]:
        """Hold each version of the code book against what an import accepts, its schema apart."""
        continued: list[tuple[str, int, str]] = []  # file, version before, and a code of that
        for name in self._source.names():
            book = BOOK.fullmatch(name)
            if book is None:
                continue
            with self._source.open(name) as file:  # faults of lines are named with those of all other lines
                records = list(RecordReader(cast(BinaryIO, file), Faults()))
            sound = [(line, record) for line, record in records if not fault_of(record, SCHEMAS["code"])]
            faults = Faults()
            if sound or not records:
                codes = codes_of_records(sound, faults)
                self._books[book[1]] = {code.key for code in codes}
                continued += [(name, int(book[1]) - 1, key) for code in codes for key in code.was]
            yield from (f"{name}, {fault}" for fault in faults.first)
        for name, before, key in continued:
            if key not in self._books.get(str(before), {key}):
                yield f"{name}: continues the code {key}, which version {before} does not have"
        if not self._books:
            yield f"{FOLDER}: has no code book"

    def judges(self) -> Iterator[str]:
        """Read which judges coded by which version; each has the hash of its prompt."""
        for name in self._source.names():
            if not name.startswith(PROMPTS):
                continue
            if self._source.size(name) > MAX_PROMPT_BYTES:
                yield f"{name}: larger than {MAX_PROMPT_BYTES:,} bytes, as no prompt of a code book is; it is not read"
                continue
            prompt = _object(self._source, name)
            judge, version = prompt.get("judge"), prompt.get("code_book")
            if not isinstance(judge, str) or not judge or not isinstance(version, int):
                yield f"{name}: names no judge, or no version of the code book"
                continue
            if str(version) not in self._books:
                yield f"{name}: by a code book that is not there"
            texts = prompt.get("prompt")
            if isinstance(texts, dict) and (
                any(not isinstance(texts.get(part), str) for part in PARTS_OF_PROMPT)
                or prompt_digest(texts) != prompt.get("prompt_hash")
            ):
                yield f"{name}: prompt_hash is not that of the prompt"
            self._judges.add((str(version), rater_named(judge)))

    def rows(self, name: str) -> Iterator[str]:
        """Hold the rows of a table against books, criteria and raters; note which responses they name."""
        given: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for number, row in enumerate(table_rows(self._source, name, TABLES[name]), start=1):
            yield from (f"{name}, row {number}: {fault}" for fault in self._faults(name, row))
            quotes = _quotes(row.get("evidence", "[]"))
            if quotes is None:
                yield f"{name}, row {number}: evidence is not a list of texts"
            _book, case, candidate, setting, sample = (row[column] for column in NAMED)
            self._waiting[case, candidate, setting, sample].append((name, number, quotes or []))
            answer = given[(*(row[column] for column in NAMED), row["rater"])]
            if row["code"] in answer or (answer and NONE_OF_THESE in (row["code"], *answer)):
                yield f"{name}, row {number}: does not go with another row of the same answer"
            answer.append(row["code"])

    def responses(self) -> Iterator[str]:
        """Hold what the rows name and quote against the responses of the release."""
        with self._source.open(RESPONSES) as file:
            for _line, record in RecordReader(cast(BinaryIO, file), Faults()):
                setting = record.get("setting", DEFAULT_SETTING)
                named = (record.get("case"), record.get("candidate"), setting, record.get("sample"))
                case, candidate, setting, sample = map(str, named)
                text = str(record.get("response"))
                for name, number, quotes in self._waiting.pop((case, candidate, setting, sample), ()):
                    if any(quote not in text for quote in quotes):
                        yield f"{name}, row {number}: quotes words that are not in the response"
        for name, number, _quotes in sorted(place for places in self._waiting.values() for place in places):
            yield f"{name}, row {number}: on a response that {RESPONSES} does not have"

    def _faults(self, name: str, row: Row) -> Iterator[str]:
        keys = self._books.get(row["code_book"])
        if keys is None:
            yield "by a code book that is not there"
        elif row.get("state") == INVALID:
            if row["code"]:
                yield "an invalid answer with a code"
        elif row["code"] not in keys and row["code"] != NONE_OF_THESE:
            yield "a code that its code book does not have"
        if name == JUDGES and row["state"] not in (CODED, INVALID):
            yield f"its state is neither {CODED} nor {INVALID}"
        if row.get("criterion") and (row["case"], row["criterion"]) not in self._criteria:
            yield f"on a criterion that {RUBRICS} does not have"
        if name == JUDGES and (row["code_book"], row["rater"]) not in self._judges:
            yield f"a judge of which {PROMPTS} has no run by this code book"
        if name == RULINGS and row["rater"] != ADJUDICATION:
            yield f"its rater is not {ADJUDICATION}"
        if name == PHYSICIANS and not row["rater"]:
            yield "names no rater"


def _quotes(cell: str) -> list[str] | None:
    try:
        quotes = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return quotes if isinstance(quotes, list) and all(isinstance(quote, str) for quote in quotes) else None


def _object(source: Source, name: str) -> dict[str, Any]:
    """The object of a small file of JSON; empty where it is none."""
    with source.open(name) as file:
        try:
            value = json.loads(file.read(MAX_PROMPT_BYTES))
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
