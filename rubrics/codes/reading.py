"""Files of code books: JSONL, or CSV with a header; every fault with its line and field. No Django."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from consilium.core.csvfile import stream_csv
from consilium.core.phrases import Phrase
from rubrics.codes.code import (
    KEY,
    LISTS,
    MAX_CODE_KEY_LENGTH,
    MAX_CODE_TEXT_LENGTH,
    MAX_CODE_TITLE_LENGTH,
    MAX_CODES,
    MAX_EXAMPLES,
    NONE_OF_THESE,
    SEVERITIES,
    TEXTS,
    TITLES,
    Code,
)
from rubrics.parsing.decisions import read_table, starts_with_object
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids
from rubrics.parsing.reader import Limits, RecordReader

COLUMNS = (
    *("key", "group_en", "group_zh", "title_en", "title_zh", "definition_en", "definition_zh"),
    *("applies_en", "applies_zh", "not_en", "not_zh", "examples_en", "examples_zh", "severity", "was"),
)
REQUIRED = ("key", "title_en", "definition_en")
# The largest book that the limits of its fields allow has 24 MiB, with every character escaped.
LIMITS = Limits(line_bytes=1 << 20, total_bytes=32 << 20)


def read_codes(file: BinaryIO, faults: Faults) -> tuple[list[Code], list[int]]:
    """The codes of a file in its order, and the line of each. What is not sound is in ``faults``."""
    is_json = starts_with_object(file)
    if is_json:
        records: Iterator[tuple[int, dict[str, Any]]] = iter(RecordReader(file, faults, limits=LIMITS))
    else:
        records = read_table(file, faults, limits=LIMITS, columns=COLUMNS, required=REQUIRED)
    lines: list[int] = []

    def noted() -> Iterator[tuple[int, dict[str, Any]]]:
        for line, record in records:
            lines.append(line)
            yield line, record

    return codes_of_records(noted(), faults, is_json=is_json), lines


def codes_of_records(
    records: Iterable[tuple[int, dict[str, Any]]], faults: Faults, *, is_json: bool = True
) -> list[Code]:
    """The codes of records, each with the number of its line."""
    codes: list[Code] = []
    ids = Ids(Phrase("key"))
    for count, (line, record) in enumerate(records, start=1):
        if count > MAX_CODES:
            faults.add(line, "key", Phrase("A code book can have at most %(n)s codes.", n=MAX_CODES))
            break
        own = Fields(line, record, faults)
        code = _code(own, is_json)
        for name in own.rest():
            own.fault(name, Phrase("This field does not exist."))
        if own.sound:
            ids.add(own, "key", code.key)
        codes.append(code)
    if not codes and not faults.total:
        faults.add(0, "", Phrase("A code book has at least one code."))
    return codes


def _code(own: Fields, is_json: bool) -> Code:
    key = own.text("key", longest=MAX_CODE_KEY_LENGTH)
    if key and not KEY.fullmatch(key):
        own.fault("key", Phrase("A key consists of small letters, digits, and hyphens between them."))
    if key == NONE_OF_THESE:
        own.fault("key", Phrase("This key means “none of these”."))
    texts = {
        name: own.text(
            name,
            required=name in REQUIRED,
            longest=MAX_CODE_TITLE_LENGTH if name in TITLES else MAX_CODE_TEXT_LENGTH,
        ).strip()
        for name in (*TITLES, *TEXTS)
    }
    severity = own.choice("severity", [name for name in SEVERITIES if name], required=False)
    lists = {name: _list(own, name, is_json) for name in LISTS}
    for place, before in enumerate(lists["was"]):
        if not KEY.fullmatch(before) or len(before) > MAX_CODE_KEY_LENGTH:
            own.fault(f"was[{place}]", Phrase("This is not the key of a code."))
    return Code(key=key, severity=severity, **texts, **lists)  # type: ignore[arg-type]


def _list(own: Fields, name: str, is_json: bool) -> tuple[str, ...]:
    """A list in JSON; in a cell of a table the parts on lines of their own, of keys also between semicolons."""
    value = own.record.get(name)
    if not is_json and isinstance(value, str):
        lines = value.replace(";", "\n") if name == "was" else value
        own.record[name] = [part.strip() for part in lines.splitlines() if part.strip()]
    values = tuple(dict.fromkeys(each.strip() for each in own.texts(name, longest=MAX_CODE_TEXT_LENGTH)))
    if len(values) > MAX_EXAMPLES:
        own.fault(name, Phrase("At most %(n)s are allowed.", n=MAX_EXAMPLES))
    return values


def as_records(codes: Iterable[Code]) -> Iterator[dict[str, Any]]:
    """The codes with their fields in the order of `COLUMNS`."""
    for code in codes:
        stored = code.stored()
        yield {name: stored[name] for name in COLUMNS}


def as_jsonl(codes: Iterable[Code]) -> Iterator[str]:
    """One line of JSON for each code, as `read_codes` takes it."""
    for record in as_records(codes):
        yield json.dumps(record, ensure_ascii=False) + "\n"


def as_csv(codes: Iterable[Code]) -> Iterator[str]:
    """The same as a table."""
    rows = ([_cell(code.stored()[name]) for name in COLUMNS] for code in codes)
    return stream_csv(COLUMNS, rows, text_columns=COLUMNS)


def _cell(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list) else str(value)
