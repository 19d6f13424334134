"""Rows of a CSV with figures about sets of criteria: names, numbers and slices, refused by line and field. Pure."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.limits import MAX_TAG_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.decisions import read_table
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields

ALL = "all"  # the slice of everything, so that no set may have that name
MAX_NUMBER_LENGTH = 40
# `float` reads more than that: underscores, digits of any script, and infinity in words.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[0-9]{1,6}")


@dataclass
class TableRows:
    """Reads the rows of a file whose header must name the ``required`` columns.

    ``columns`` are those of its header, once there is a row.
    """

    path: Path
    required: tuple[str, ...]
    faults: Faults = field(default_factory=Faults)
    columns: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Fields]:
        """The fields of each row. `ImportRefused` for a fault in them or in the file, once all rows were taken."""
        with self.path.open("rb") as file:
            table = read_table(file, self.faults, columns=self.required, required=self.required, keep_empty=True)
            for line, record in table:
                self.columns = self.columns or tuple(record)
                yield Fields(line, record, self.faults)
        if not self.columns and not self.faults.total:
            self.faults.add(0, "", Phrase("There are no rows below the header."))
        self.faults.refuse_if_any()

    def unused(self, *columns: str) -> list[str]:
        """The columns of the file that are none of ``columns``."""
        return [name for name in self.columns if name and name not in columns]


def nfc(text: str) -> str:
    """The text as files are read."""
    return unicodedata.normalize("NFC", text)


def name_in(fields: Fields, column: str) -> str:
    """The name in a cell, in NFC; an empty cell is a fault."""
    return nfc(fields.key(column))


def set_name_in(fields: Fields, column: str) -> str:
    """The same, of a set or an arm, which cannot be called “all”."""
    name = name_in(fields, column)
    if name.casefold() == ALL:
        fields.fault(column, Phrase("“%(name)s” is reserved for everything. Choose another name.", name=name))
    return name


def number_in(fields: Fields, column: str) -> float | None:
    """The number in a cell; None where it is empty or the file has no such column."""
    text = fields.text(column, required=False).strip()
    if not text:
        return None
    number = float(text) if len(text) <= MAX_NUMBER_LENGTH and _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(number):
        fields.fault(column, Phrase("“%(value)s” is not a number.", value=text[:40]))
        return None
    return number


def whole_number_in(fields: Fields, column: str) -> int:
    """The whole number, from 0, in a cell that must not be empty."""
    text = fields.text(column).strip()
    if text and not _WHOLE.fullmatch(text):
        fields.fault(column, Phrase("“%(value)s” is not a whole number from 0 to 999999.", value=text[:40]))
        return 0
    return int(text or 0)


def slices_in(fields: Fields, columns: Sequence[str]) -> dict[str, str]:
    """What a row says in the columns that make slices, empty cells left out."""
    cells = {name: fields.text(name, required=False, longest=MAX_TAG_LENGTH).strip() for name in columns}
    return {name: nfc(cell) for name, cell in cells.items() if cell}


def slice_masks(values: Sequence[Mapping[str, str]], columns: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Which row is in which slice: ``all``, then ``COLUMN:VALUE`` by column and value."""
    masks = {ALL: np.ones(len(values), dtype=bool)}
    for column in columns:
        for value in sorted({row[column] for row in values if column in row}):
            masks[f"{column}:{value}"] = np.array([row.get(column) == value for row in values], dtype=bool)
    return masks


def numbered(names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The different names, sorted, and the number of each name in them."""
    different = sorted(set(names))
    place = {name: number for number, name in enumerate(different)}
    return different, np.array([place[name] for name in names], dtype=np.int64)


def with_missing(numbers: Sequence[float | None]) -> NDArray[np.float64]:
    """The numbers, NaN where there is none."""
    return np.array([math.nan if number is None else number for number in numbers], dtype=np.float64)


def stacked(masks: Mapping[str, ArrayLike]) -> NDArray[np.bool_]:
    """Masks side by side, (rows, slices)."""
    return np.stack([np.asarray(mask, dtype=bool) for mask in masks.values()], axis=1)
