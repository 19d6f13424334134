"""Reads code books for pages and the API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from rubrics.codes.code import FIELDS, Code
from rubrics.models import Benchmark, CodeBook

SEVERITY_WORDS = {"minor": _("Minor"), "moderate": _("Moderate"), "severe": _("Severe")}
FIELD_WORDS = {
    "key": _("Key"),
    "title_en": _("Title, English"),
    "title_zh": _("Title, Chinese"),
    "group_en": _("Group, English"),
    "group_zh": _("Group, Chinese"),
    "definition_en": _("Definition, English"),
    "definition_zh": _("Definition, Chinese"),
    "applies_en": _("When it applies, English"),
    "applies_zh": _("When it applies, Chinese"),
    "not_en": _("When it does not apply, English"),
    "not_zh": _("When it does not apply, Chinese"),
    "examples_en": _("Examples, English"),
    "examples_zh": _("Examples, Chinese"),
    "severity": _("Severity"),
}


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A code as a page shows it in its reader's language."""

    key: str
    title: str
    definition: str
    group: str
    applies: str
    not_applies: str
    examples: tuple[str, ...]
    severity: str
    was: tuple[str, ...] = ()  # earlier keys, other than its own


def line_of(code: Code, language: str = "") -> CodeLine:
    """The code in ``language``, by default that of the page."""
    language = language or get_language() or "en"
    return CodeLine(
        key=code.key,
        title=code.text("title", language),
        definition=code.text("definition", language),
        group=code.text("group", language),
        applies=code.text("applies", language),
        not_applies=code.text("not", language),
        examples=code.examples(language),
        severity=str(SEVERITY_WORDS.get(code.severity, "")),
        was=tuple(key for key in code.was if key != code.key),
    )


def lines_of(book: CodeBook, language: str = "") -> list[CodeLine]:
    """All codes of a book, in ``language``."""
    return [line_of(code, language) for code in book.entries]


@dataclass(frozen=True, slots=True)
class CodeChange:
    """What became of a code from one version to the next; ``kind`` is added, removed or changed."""

    kind: str
    key: str
    title: str
    was: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # that differ, in words


def changes_between(before: Sequence[Code], after: Sequence[Code]) -> Iterator[CodeChange]:
    """What the later version added, changed and removed; codes that stayed are left out."""
    old = {code.key: code for code in before}
    continued: set[str] = set()
    for code in after:
        continued.update(code.was)
        title = line_of(code).title
        sources = [old[key] for key in code.was if key in old]
        if not sources:
            yield CodeChange("added", code.key, title)
            continue
        differing = tuple(
            str(FIELD_WORDS[name])
            for name in FIELDS
            if name != "was" and any(getattr(source, name) != getattr(code, name) for source in sources)
        )
        if differing or len(sources) > 1:
            yield CodeChange("changed", code.key, title, line_of(code).was, differing)
    for key, code in old.items():
        if key not in continued:
            yield CodeChange("removed", key, line_of(code).title)


@dataclass(frozen=True, slots=True)
class BookVersion:
    """A version in the history of a code book, with what it changed."""

    book: CodeBook
    changes: tuple[CodeChange, ...]


def history_of(benchmark: Benchmark) -> list[BookVersion]:
    """All versions, the newest first."""
    rows = list(CodeBook.objects.filter(benchmark=benchmark).select_related("created_by").order_by("version"))
    versions = []
    for before, book in zip([None, *rows], rows, strict=False):
        changes = tuple(changes_between(before.entries, book.entries)) if before else ()
        versions.append(BookVersion(book, changes))
    return versions[::-1]
