"""Registry of the kinds of files that can be imported, each with the handler of its app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from accounts.models import User
from consilium.core.jobs import Progress
from rubrics.imports.recognition import recognising
from rubrics.models import Benchmark, ImportJob

# {"cases": {"created": 120, "unchanged": 0}, …, "warnings": ["3 responses name their author…"]}; an import that only
# shows what it would do has {"previews": [{…}]}
Counts = dict[str, Any]
# What counts hold beside numbers; ``editions`` are new editions of documents that lack words which criteria cite.
LISTS = ("warnings", "previews", "editions")


def merge_counts(first: Counts, other: Counts, file: str = "") -> Counts:
    """The sum of two counts; ``file``, where it is given, is put before the warnings of ``other``."""
    merged: Counts = {name: dict(count) for name, count in first.items() if name not in LISTS}
    for name, count in other.items():
        if name not in LISTS:
            known = merged.setdefault(name, {})
            merged[name] = {**known, **{what: known.get(what, 0) + number for what, number in count.items()}}
    before = f"{file}: " if file else ""
    warnings = [*first.get("warnings", []), *(f"{before}{warning}" for warning in other.get("warnings", []))]
    previews = [*first.get("previews", []), *other.get("previews", [])]
    editions = [*first.get("editions", []), *other.get("editions", [])]
    lists = {"warnings": warnings, "previews": previews, "editions": editions}
    return merged | {name: rows for name, rows in lists.items() if rows}


class Handler(Protocol):
    """Reads ``file`` (binary, at its start) into ``benchmark``: everything, or `ImportRefused` and nothing.

    It runs inside a transaction. ``options`` holds the texts that the person gave (only the registered ones) and, as
    ``file_name``, what the file is called; ``by`` is empty on the command line; ``progress`` takes the number of bytes
    read so far. Returns what it created and what it found unchanged, in the shape of `Counts`.
    """

    def __call__(
        self,
        *,
        benchmark: Benchmark,
        file: BinaryIO,
        options: Mapping[str, str],
        by: User | None,
        at: datetime,
        progress: Progress,
    ) -> Counts: ...


class OptionCheck(Protocol):
    """`DomainError`, with the option as its field, on options with which no file can be imported."""

    def __call__(self, *, benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> None: ...


@dataclass(frozen=True)
class ImportKind:
    """A kind of file: its handler, the options that it takes, those that it requires, and a check of their values.

    ``page`` names the view of the kind's own page, where people import such files instead of on the page *Imports*.
    ``examples`` are small files of the kind that people may download; their contents are made up.
    """

    kind: str
    handler: Handler
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    check: OptionCheck | None = None
    page: str = ""
    examples: tuple[Path, ...] = ()

    @property
    def label(self) -> str:
        """The name of the kind, in the reader's language."""
        return str(ImportJob.Kind(self.kind).label)


_kinds: dict[str, ImportKind] = {}


def register(
    kind: str,
    handler: Handler,
    *,
    options: Sequence[str] = (),
    required: Sequence[str] = (),
    check: OptionCheck | None = None,
    page: str = "",
    examples: Sequence[Path] = (),
) -> None:
    """Let files of ``kind`` (one of `ImportJob.Kind`) be imported. Known options: format, candidate, candidate_kind,
    group, judge, replicate, learned, bank, licence, author, scale, and those of tables and previews, which the page of
    a preview sets; a new one also needs a field in `rubrics.forms.ImportForm`, unless the kind has its own ``page``.
    ``check`` is called before a file is stored; the handler refuses the same values, since commands call it alone.
    """
    value = ImportJob.Kind(kind).value
    _kinds[kind] = ImportKind(
        value, recognising(value, handler), tuple(options), tuple(required), check, page, tuple(examples)
    )


def find(kind: str) -> ImportKind:
    """The registered kind; KeyError if no app reads it."""
    return _kinds[kind]


def kinds() -> list[ImportKind]:
    """All kinds that some app reads, in the order of `ImportJob.Kind`."""
    return [_kinds[kind] for kind in ImportJob.Kind.values if kind in _kinds]
