"""Readings that say no one level: each word for word, with the file and line that it came from."""

from __future__ import annotations

from typing import Any

from rubrics.parsing.acuity_files import AcuityRecords
from rubrics.parsing.acuity_levels import State

UNUSABLE_COLUMNS = ("candidate", "format", "case", "sample", "state", "text", "file", "line")
TEXT_COLUMNS = ("candidate", "format", "case", "state", "text", "file")


def unusable_rows(records: AcuityRecords) -> list[dict[str, Any]]:
    """Rows of ``unusable.csv``, by candidate, format, case and sample. Missing readings have no line."""
    rows = [
        {
            "candidate": reading.candidate,
            "format": reading.format,
            "case": reading.case,
            "sample": reading.sample,
            "state": reading.answer.state.word,
            "text": reading.text,
            "file": records.files[reading.file],
            "line": reading.line,
        }
        for reading in records.readings
        if reading.answer.state is not State.LEVEL
    ]
    return sorted(rows, key=lambda row: (row["candidate"], row["format"] != "qa", row["case"], row["sample"]))
