"""A file of cases or responses that is a table: its columns, and its rows with what each cell holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import BinaryIO

from consilium.core.csvfile import bare
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import BOM, archive_of
from rubrics.tables.columns import Cell, refusal_of, text_of
from rubrics.tables.encodings import NAMES, UTF8, encoding_of
from rubrics.tables.mapping import (
    KEPT,
    KEPT_WITH_CRITERION,
    LEFT_OUT,
    Column,
    Places,
    TableKind,
    check_columns,
    chosen_columns,
    columns_of,
)
from rubrics.tables.reading import DELIMITERS, MAX_BYTES, TextForm, rows_of_file
from rubrics.tables.workbooks import Rows, is_workbook

SUFFIXES = (".csv", ".tsv", ".xlsx")
HEAD_BYTES = 1 << 16
N_EXAMPLE_ROWS = 20
# The options of an import that are about its table.
COLUMNS, ENCODING, DELIMITER = "columns", "encoding", "delimiter"
TABLE_OPTIONS = (COLUMNS, ENCODING, DELIMITER)
DELIMITER_NAMES = dict(zip(("comma", "semicolon", "tab", "bar"), DELIMITERS, strict=True))
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


class OptionError(ValueError):
    """An option of an import that cannot be right; its argument is a phrase."""

    def __init__(self, message: Phrase, option: str) -> None:
        self.option = option
        super().__init__(message)


class Table:
    """A table and how it is read. ``columns`` and ``notes`` are there once its first row has been read.

    ``place`` turns the place in a record that was made of a row, such as ``rubrics[2].points``, into row and heading.
    """

    def __init__(
        self, kind: TableKind, *, chosen: Mapping[str, str], encoding: str, delimiter: str, is_workbook: bool
    ) -> None:
        self.kind = kind
        self.chosen = chosen
        self.encoding = encoding
        self.delimiter = delimiter
        self.is_workbook = is_workbook
        self.columns: list[Column] = []
        self.examples: dict[str, str] = {}  # the first text of each column, by its heading
        self.is_readable = False
        self.places = Places()
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> list[str]:
        """What a person should know before the table is imported: sheets and columns that are not read, and so on."""
        return list(self._notes)

    def note(self, text: str) -> None:
        """Add a note, once however often the table is read."""
        self._notes[text] = None

    def place(self, line: int, field: str) -> tuple[int, str]:
        """Row and heading of a field of the record that begins in row ``line``."""
        return self.kind.place(self.places, line, field)

    @property
    def targets(self) -> set[str]:
        """What the columns hold."""
        return {column.target for column in self.columns}

    def rows(
        self, file: BinaryIO, faults: Faults, progress: Progress = no_progress
    ) -> Iterator[tuple[int, list[tuple[Column, str]]]]:
        """The rows under the heading with the text of each cell that is not empty; nothing if the heading is faulty."""
        rows = self.raw_rows(file, faults, progress)
        first = next(rows, None)
        if first is None:
            if not faults.total:
                faults.add(0, "", Phrase("The table is empty."))
            return
        self.is_readable = check_columns(self.columns, self.kind, self.chosen, first[0], faults)
        if not self.is_readable:
            for _row in islice(rows, N_EXAMPLE_ROWS):
                pass
            return
        for number, row in rows:
            before = faults.total
            texts = list(self._texts(number, row, faults))
            if faults.total == before:
                yield number, texts

    def raw_rows(self, file: BinaryIO, faults: Faults, progress: Progress = no_progress) -> Rows:
        """All rows with their cells as they are, the heading first."""
        notes: list[str] = []
        form = TextForm(self.encoding, self.delimiter, self.kind.field_of, by_row=True, notes=notes)
        rows = rows_of_file(file, faults, progress, form=form)
        first = next(rows, None)
        for text in notes:
            self.note(text)
        if first is None:
            return
        cells = list(first[1])
        while cells and not text_of(cells[-1]):
            cells.pop()
        self.columns = columns_of(cells, self.kind, self.chosen)
        self.places.headings = {column.target: column.heading for column in reversed(self.columns) if column.target}
        self._note_columns()
        yield first
        for count, row in enumerate(rows):
            if count < N_EXAMPLE_ROWS:
                for column, cell in zip(self.columns, row[1], strict=False):
                    if text := text_of(cell):
                        self.examples.setdefault(column.heading, text)
            yield row

    def _texts(self, number: int, cells: list[Cell], faults: Faults) -> Iterator[tuple[Column, str]]:
        if any(cell is not None and text_of(cell) for cell in cells[len(self.columns) :]):
            faults.add(number, "", Phrase("The row has more cells than the header."))
        for column, cell in zip(self.columns, cells, strict=False):
            if cell is None or cell == "" or column.target == LEFT_OUT:
                continue
            if refusal := refusal_of(cell):
                faults.add(number, column.heading, refusal)
                continue
            text = self._text(cell)
            if _NOT_STORABLE.search(text):
                faults.add(number, column.heading, Phrase("The text contains a character that cannot be stored."))
            elif not column.target and text.strip():
                faults.add(
                    number,
                    column.heading,
                    Phrase("This column has no heading. Add a heading, or choose “Do not import”."),
                )
            elif text:
                yield column, text

    def _text(self, cell: Cell) -> str:
        if isinstance(cell, float) and cell.is_integer():
            cell = int(cell)
        text = str(cell).replace("\r\n", "\n").replace("\r", "\n")
        return text if self.is_workbook else bare(text)

    def _note_columns(self) -> None:
        if self.encoding != UTF8 and not self.is_workbook:
            self.note(
                Phrase(
                    "The file was read as %(encoding)s. If a text looks wrong, choose another encoding.",
                    encoding=NAMES[self.encoding],
                )
            )
        kept = [column.heading for column in self.columns if column.target in (KEPT, KEPT_WITH_CRITERION)]
        if kept:
            self.note(Phrase("Kept only as additional information: %(names)s.", names=_quoted(kept)))
        left_out = [column.heading for column in self.columns if column.target == LEFT_OUT]
        if left_out:
            self.note(Phrase("Not imported: %(names)s.", names=_quoted(left_out)))


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


def table_of(file: BinaryIO, kind: TableKind, options: Mapping[str, str]) -> Table | None:
    """The table that a file is; None if it is no table, where a file need not be one.

    `OptionError` on an option that cannot be right.

    Options: ``columns`` is JSON, what the column with each heading holds; ``encoding`` one of `NAMES` and ``delimiter``
    one of `DELIMITER_NAMES`, both recognised if they are not given; ``file_name``.
    """
    if not kind.always and not is_table(file, kind, options):
        return None
    workbook = is_workbook(file)
    chosen = check_options(options)
    return Table(
        kind,
        chosen=chosen,
        encoding=options.get(ENCODING) or (UTF8 if workbook else encoding_of(file, MAX_BYTES)),
        delimiter=DELIMITER_NAMES.get(options.get(DELIMITER, ""), ""),
        is_workbook=workbook,
    )


def check_options(options: Mapping[str, str]) -> dict[str, str]:
    """What is chosen for columns, by heading. `OptionError` on an option of a table that cannot be right."""
    encoding, delimiter = options.get(ENCODING, ""), options.get(DELIMITER, "")
    if encoding and encoding not in NAMES:
        raise OptionError(Phrase("The encoding must be one of: %(names)s.", names=", ".join(NAMES)), ENCODING)
    if delimiter and delimiter not in DELIMITER_NAMES:
        names = ", ".join(DELIMITER_NAMES)
        raise OptionError(Phrase("The delimiter must be one of: %(names)s.", names=names), DELIMITER)
    try:
        return chosen_columns(options.get(COLUMNS, ""))
    except (ValueError, RecursionError) as error:
        message = Phrase("“columns” must be a JSON object that gives the content of each heading.")
        raise OptionError(message, COLUMNS) from error


def is_table(file: BinaryIO, kind: TableKind, options: Mapping[str, str]) -> bool:
    """Whether a seekable file is a workbook, or a text that looks like a table; the file is left at its start.

    A text is a table if it is called so (``file_name``), if ``columns`` are chosen, or if its first line has a heading
    that the kind knows. A text that begins like JSON is none.
    """
    if is_workbook(file):
        return True
    head = file.read(HEAD_BYTES)
    file.seek(0)
    text = head.removeprefix(BOM).lstrip()
    if not text or archive_of(head) or text.startswith((b"{", b"[")):
        return False
    if options.get(COLUMNS) or options.get("file_name", "").lower().endswith(SUFFIXES):
        return True
    encoding = encoding_of(file, HEAD_BYTES)
    first = text.splitlines()[0].decode(encoding, "replace")
    names = re.split("[,;\t|]", first)
    return any(kind.field_of(name.strip("\" '")) for name in names)
