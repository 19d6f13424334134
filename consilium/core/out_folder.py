"""Writes the files of a command into its ``--out`` folder, and leaves those of other commands alone.

A command writes its own files again. It never replaces a file of another command: a CSV with other columns, or JSON
with other keys, was written by something else, and is kept unless ``--overwrite`` is given. Tables that several
commands write in the same columns have a name for each command.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from consilium.core.csvfile import write_csv


@dataclass(frozen=True)
class OutTable:
    """A table to write as ``NAME.csv``; ``rows`` as `consilium.core.csvfile.write_csv` takes them."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Mapping[str, Any] | Sequence[Any]]
    text_columns: Collection[str] = ()


@dataclass(frozen=True)
class OutFolder:
    """A folder for files, which is made if missing. ``overwrite`` lets them replace whatever has their name."""

    path: Path
    overwrite: bool = field(default=False)

    def write(self, tables: Iterable[OutTable], documents: Mapping[str, Mapping[str, Any]] | None = None) -> str:
        """Write tables as CSV and ``documents`` as ``NAME.json``.

        Returns the names of the files for the last line of a command, those that were there before marked as replaced.
        `CommandError` where a file of another command is in the way, before anything is written, or where the folder
        cannot be written.
        """
        files, objects = list(tables), documents or {}
        try:
            before = [
                *(name for name in (f"{name}.json" for name in objects) if (self.path / name).exists()),
                *(f"{table.name}.csv" for table in files if (self.path / f"{table.name}.csv").exists()),
            ]
            if not self.overwrite:
                foreign = [name for name, keys in objects.items() if self._has_other_keys(f"{name}.json", keys)]
                foreign = [f"{name}.json" for name in foreign]
                foreign += [f"{table.name}.csv" for table in files if self._has_other_columns(table)]
                self._refuse(foreign)
            self.path.mkdir(parents=True, exist_ok=True)
            for name, content in objects.items():
                (self.path / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            for table in files:
                write_csv(self.path / f"{table.name}.csv", table.columns, table.rows, text_columns=table.text_columns)
        except OSError as error:
            raise CommandError(f"{self.path} cannot be written: {error.strerror}") from None
        names = [*(f"{name}.json" for name in objects), *(f"{table.name}.csv" for table in files)]
        return ", ".join(f"{name} (replaced)" if name in before else name for name in names)

    def refuse_foreign(self, mark: str, own: Mapping[str, Any]) -> None:
        """`CommandError` where the folder has files, and no ``mark`` (a JSON file) of the same command whose values are
        those of ``own``; with ``overwrite`` never.
        """
        if self.overwrite or not self.path.exists():
            return
        if not self.path.is_dir():
            raise CommandError(f"{self.path} is not a folder.")
        existing = self._marked(mark)
        if any(self.path.iterdir()) and not (existing and all(existing.get(key) == own[key] for key in own)):
            raise CommandError(
                f"Nothing was written: {self.path} has other files. Name another folder, or write beside them with "
                "--overwrite."
            )

    def write_files(self, files: Iterable[tuple[str, bytes | Iterable[str]]], *, mark: str) -> int:
        """Write files by their names, which may have folders in them; their number.

        ``mark`` lists them. Those that the mark of an earlier call lists, and that are not among them now, are removed,
        so that no earlier figure stays beside the new ones.
        """
        earlier = self._marked(mark) or {}
        names = set()
        try:
            for name, content in files:
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as file:
                    for piece in [content] if isinstance(content, bytes) else content:
                        file.write(piece if isinstance(piece, bytes) else piece.encode())
                names.add(name)
            for name in {*map(str, earlier.get("files", ()))} - names:
                path = (self.path / name).resolve()
                if path.is_file() and self.path.resolve() in path.parents:
                    path.unlink()
        except OSError as error:
            raise CommandError(f"{self.path} cannot be written: {error.strerror}") from None
        return len(names)

    def _marked(self, mark: str) -> dict[str, Any] | None:
        """The JSON object in ``mark``; None where there is none."""
        try:
            content = json.loads((self.path / mark).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def _has_other_columns(self, table: OutTable) -> bool:
        path = self.path / f"{table.name}.csv"
        if not path.exists():
            return False
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                return next(csv.reader(file), []) != list(table.columns)
        except (UnicodeDecodeError, csv.Error):
            return True

    def _has_other_keys(self, name: str, content: Mapping[str, Any]) -> bool:
        path = self.path / name
        if not path.exists():
            return False
        try:
            existing = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            return True
        return not isinstance(existing, dict) or existing.keys() != content.keys()

    def _refuse(self, names: Sequence[str]) -> None:
        if names:
            raise CommandError(
                f"Nothing was written: {self.path} has {', '.join(names)} with other content than this command "
                "writes. Name another folder, or replace such files with --overwrite."
            )


def add_out_arguments(parser: CommandParser, *, required: bool = True, more: str = "") -> None:
    """The options ``--out`` and ``--overwrite`` of a command that writes files into a folder."""
    parser.add_argument(
        "--out", type=Path, required=required, metavar="DIR", help=f"folder for the files; made if missing{more}"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files in it that another command wrote")
