"""Readings that say no one level: each word for word, with the file and line that it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rubrics.parsing.acuity_files import AcuityRecords
from rubrics.parsing.acuity_levels import State

UNUSABLE_COLUMNS = ("candidate", "format", "case", "sample", "state", "text", "file", "line")
TEXT_COLUMNS = ("candidate", "format", "case", "state", "text", "file")


@dataclass(frozen=True, slots=True)
class UnusableReading:
    """A reading without a level; ``state`` is the word for why, ``file`` the name of the file."""

    candidate: str
    format: str
    case: str
    sample: int
    state: str
    text: str
    file: str
    line: int | None  # None for an answer that a run asked for


def unusable_of(records: AcuityRecords) -> Iterator[UnusableReading]:
    """Those of files. Missing readings have no line."""
    for reading in records.readings:
        if reading.answer.state is not State.LEVEL:
            yield UnusableReading(
                reading.candidate,
                reading.format,
                reading.case,
                reading.sample,
                reading.answer.state.word,
                reading.text,
                records.files[reading.file],
                reading.line,
            )


def unusable_rows(readings: Iterable[UnusableReading]) -> list[dict[str, Any]]:
    """Rows of ``unusable.csv``, by candidate, format, case and sample."""
    rows = [asdict(reading) for reading in readings]
    return sorted(rows, key=lambda row: (row["candidate"], row["format"] != "qa", row["case"], row["sample"]))
