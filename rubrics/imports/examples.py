"""Example files of the kinds of imports: small, made up, and read by their import as they are."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rubrics.imports.previews import PREVIEWED
from rubrics.imports.registry import ImportKind
from rubrics.tables.writing import xlsx_of

XLSX = ".xlsx"


@dataclass(frozen=True, slots=True)
class Example:
    """An example file, as it is called for whoever downloads it."""

    name: str
    path: Path  # of the file itself, or of the CSV that a workbook is made of

    @property
    def suffix(self) -> str:
        """What the file is, in capitals: CSV, JSONL, XLSX …"""
        return Path(self.name).suffix.lstrip(".").upper()

    @property
    def stem(self) -> str:
        """The name without the suffix."""
        return Path(self.name).stem

    def content(self, language: str = "en") -> bytes:
        """The file; the headings of a workbook are Chinese for readers of Chinese."""
        if self.path.suffix == Path(self.name).suffix:
            return self.path.read_bytes()
        with self.path.open(encoding="utf-8", newline="") as file:
            heading, *rows = csv.reader(file)
        return xlsx_of(_in_language(self.stem, heading, language), rows, sheet=self.stem[:31], width=24)


def examples_of(kind: ImportKind) -> list[Example]:
    """The examples of a kind; those of kinds that take any table are there as a workbook first."""
    examples = []
    for path in kind.examples:
        if kind.kind in PREVIEWED and path.suffix == ".csv":
            examples.append(Example(f"{path.stem}{XLSX}", path))
        examples.append(Example(path.name, path))
    return examples


def _in_language(stem: str, heading: Sequence[str], language: str) -> list[str]:
    kinds = [kind for name, (kind, _rows) in PREVIEWED.items() if stem.startswith(name)]
    if not language.startswith("zh") or not kinds:
        return list(heading)
    fields = [kinds[0].field_of(name) for name in heading]
    return [
        next((each for each in kinds[0].headings.get(field, ()) if not each.isascii()), name)
        for field, name in zip(fields, heading, strict=True)
    ]
