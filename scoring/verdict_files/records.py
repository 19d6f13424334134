"""Detects the shape of a file of verdicts by its beginning, and reads its records: lines, or elements of a list.

Shape (a): a row a verdict. (b): HealthBench's result rows. (c): ClinConsensus' judgement lists. (d): the examples of
the official HealthBench code. Records of (b), (c) and (d) may stand as JSONL or in one JSON list; those of (d) also
where the official code writes them, in its one object.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, BinaryIO

from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import Limits, RecordReader
from scoring.verdict_files.elements import Broken, Cursor, ElementReader

EXAMPLES = ("metadata", "example_level_metadata")
ZIP_MARK = b"PK\x03\x04"


class Shape(Enum):
    """The shapes of FORMATS, and the logs of Inspect."""

    ROWS = "a"
    GRADED_RESPONSES = "b"
    JUDGEMENTS = "c"
    EXAMPLES = "d"
    INSPECT = "inspect"


class Container(Enum):
    """How records stand in the file."""

    LINES = "lines"
    LIST = "list"
    ALL_RESULTS = "all results"


@dataclass(frozen=True, slots=True)
class Layout:
    """What is in a file, and in which layout."""

    shape: Shape
    container: Container = Container.LINES


# The first of these names among a record's keys decides.
_TELLING = {
    "criteria_results": Shape.JUDGEMENTS,
    "rubric_items": Shape.EXAMPLES,
    "responses": Shape.GRADED_RESPONSES,
    "prompt_response": Shape.GRADED_RESPONSES,
    "criterion": Shape.ROWS,
}
_OF_ALL_RESULTS = ("htmls", "convos")


def layout_of(file: BinaryIO) -> Layout:
    """The layout of a seekable file, which is left at its start; any file not recognised counts as rows."""
    try:
        if file.read(len(ZIP_MARK)) == ZIP_MARK:
            # Any other archive is refused as an archive when it is read as lines.
            return Layout(Shape.INSPECT if _holds_a_log(file) else Shape.ROWS)
        file.seek(0)
        return _layout(Cursor(file))
    except Broken:
        return Layout(Shape.ROWS)
    finally:
        file.seek(0)


def _holds_a_log(file: BinaryIO) -> bool:
    """Whether an archive has the parts of a log of Inspect; a damaged one is left to its reader."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return True
    return any(name == "header.json" or name.startswith(("_journal/", "samples/")) for name in names)


def _layout(cursor: Cursor) -> Layout:
    container = Container.LINES
    if cursor.peek() == b"[":
        cursor.take(b"[")
        container = Container.LIST
    if cursor.peek() != b"{":
        return Layout(Shape.ROWS if container is Container.LINES else Shape.JUDGEMENTS, container)
    for name in cursor.names():
        if name in _TELLING:
            return Layout(_TELLING[name], container)
        if container is Container.LINES:
            if name in _OF_ALL_RESULTS:
                return Layout(Shape.EXAMPLES, Container.ALL_RESULTS)
            if name == EXAMPLES[0] and cursor.peek() == b"{":
                for inner in cursor.names():
                    if inner == EXAMPLES[1]:
                        return Layout(Shape.EXAMPLES, Container.ALL_RESULTS)
                    cursor.value(0)
                continue
        cursor.value(0)
    return Layout(Shape.ROWS if container is Container.LINES else Shape.JUDGEMENTS, container)


def read_records(
    file: BinaryIO,
    faults: Faults,
    container: Container,
    *,
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(line, place, object) for each record; the place is empty in JSONL. Anything else is in ``faults`` at the end."""
    if container is Container.LINES:
        for line, record in RecordReader(file, faults, limits=limits, progress=progress):
            yield line, "", record
        return
    path = EXAMPLES if container is Container.ALL_RESULTS else ()
    yield from ElementReader(file, faults, path=path, limits=limits, progress=progress)
