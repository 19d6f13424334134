"""Exports banks in the columns and keys in which they are imported."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from consilium.core.csvfile import stream_csv
from rubrics.parsing.bank import COLUMNS, BankEntry, in_language


def as_jsonl(entries: Iterable[BankEntry]) -> Iterator[str]:
    """One line of JSON for each item; texts are written as they are."""
    for entry in entries:
        yield json.dumps(_record(entry), ensure_ascii=False) + "\n"


def _record(entry: BankEntry) -> dict[str, object]:
    record: dict[str, object] = {
        "key": entry.key,
        "section": entry.section,
        "dimension": in_language(entry.dimension, "en"),
        "points": entry.points,
        "tags": list(entry.tags),
        "applies_to": list(entry.applies_to),
    }
    for name, texts in (("text", entry.text), ("guidance", entry.guidance)):
        record |= {f"{name}_{language}" if language else name: text for language, text in texts.items()}
    return record


def as_csv(entries: Iterable[BankEntry]) -> Iterator[str]:
    """The same as a table with a column for each language."""
    rows = [_record(entry) for entry in entries]
    others = sorted({name for row in rows for name in row} - {*COLUMNS})
    columns = [*COLUMNS, *others]
    for row in rows:
        for name in ("tags", "applies_to"):
            row[name] = "; ".join(row[name])  # type: ignore[arg-type]
    return stream_csv(columns, rows, text_columns={*columns} - {"points"})
