"""Citations of criteria as pages and files show them, and as files name them.

The app of documents, a layer above this one, knows the passages. It registers itself in ``AppConfig.ready``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from consilium.core.phrases import Phrase
from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Benchmark
from rubrics.parsing.faults import Faults
from rubrics.tables import Row


@dataclass(frozen=True, slots=True)
class LaterPlace:
    """What became of cited words in the latest edition of their document. Without the words, both texts are empty."""

    locator: str = ""
    address: str = ""  # of the page of the passage that has them now


@dataclass(frozen=True, slots=True)
class ShownCitation:
    """A citation with what there is to know of its document.

    ``words`` are those that it quotes, or the whole passage. Files hold them only where ``may_quote``.
    """

    citation: Citation
    locator: str
    address: str  # of the page of the passage, with the words marked
    reference: str  # publisher, title, version, page
    words: str
    document: str
    publisher: str
    version: str
    page: str
    licence: str
    published_on: date | None
    may_quote: bool
    marks: tuple[str, ...] = ()  # what speaks against the document: superseded, retired, its review is due
    is_superseded: bool = False  # a later edition of the document exists
    later: LaterPlace | None = None  # None where the edition is the latest, or nobody has looked yet

    @property
    def is_gone(self) -> bool:
        """Whether the latest edition of the document is known not to contain the words."""
        return self.later is not None and not self.later.address

    @property
    def exported_words(self) -> str:
        """The words, where the licence lets a file hold them."""
        return self.words if self.may_quote else ""

    def as_json(self) -> dict[str, Any]:
        """What the script of the editor shows of it."""
        return {
            "reference": self.reference,
            "address": self.address,
            "words": self.words,
            "marks": list(self.marks),
            "superseded": self.is_superseded,
            "gone": self.is_gone,
        }


@dataclass(frozen=True, slots=True)
class Counterpart:
    """What the latest edition of a document says at the place of a citation of an earlier one.

    ``text`` is the passage below the same heading, or the one most like the cited words; empty where there is none.
    """

    edition: str  # its name
    edition_address: str
    text: str
    headings: tuple[str, ...]  # of the passage, the outermost first
    address: str  # of the page of the passage; empty where there is none
    has_words: bool  # whether the passage has the cited words


@dataclass(frozen=True, slots=True)
class Source:
    """How citations are described and compared with the latest editions, and locators resolved.

    ``describe`` and ``resolve`` take a fixed number of queries, for many at once; ``compare`` two for each document.
    """

    describe: Callable[[Benchmark, Iterable[Citation]], dict[Citation, ShownCitation]]
    resolve: Callable[[Benchmark, Iterable[str]], dict[str, Citation]]
    compare: Callable[[Benchmark, Iterable[Citation]], dict[Citation, Counterpart]]


_sources: list[Source] = []


def register(source: Source) -> None:
    """Add where citations come from."""
    if source not in _sources:
        _sources.append(source)


def describe(benchmark: Benchmark, citations: Iterable[Citation]) -> dict[Citation, ShownCitation]:
    """Citations of criteria of ``benchmark`` as they are shown; no query where there are none."""
    distinct = list(dict.fromkeys(citations))
    shown: dict[Citation, ShownCitation] = {}
    for source in _sources if distinct else ():
        shown |= source.describe(benchmark, distinct)
    return shown


def compare(benchmark: Benchmark, shown: Iterable[ShownCitation]) -> dict[Citation, Counterpart]:
    """What the latest editions say in place of citations of superseded ones; no query where there are none."""
    superseded = list(dict.fromkeys(each.citation for each in shown if each.is_superseded))
    counterparts: dict[Citation, Counterpart] = {}
    for source in _sources if superseded else ():
        counterparts |= source.compare(benchmark, superseded)
    return counterparts


def describe_lists(benchmark: Benchmark, lists: Sequence[Iterable[Citation]]) -> list[list[ShownCitation]]:
    """The citations of many criteria as they are shown, in the same order."""
    lists = [list(citations) for citations in lists]
    shown = describe(benchmark, (citation for citations in lists for citation in citations))
    return [[shown[citation] for citation in citations if citation in shown] for citations in lists]


def resolve(benchmark: Benchmark, locators: Iterable[str]) -> dict[str, Citation]:
    """The citation that each locator stands for; those that name no passage of ``benchmark`` are missing."""
    distinct = list(dict.fromkeys(locators))
    citations: dict[str, Citation] = {}
    for source in _sources if distinct else ():
        citations |= source.resolve(benchmark, distinct)
    return citations


def locators_of(benchmark: Benchmark, items: Sequence[DraftItem]) -> list[list[str]]:
    """The locators that each item cites."""
    lists = describe_lists(benchmark, [item.citations for item in items])
    return [[shown.locator for shown in citations] for citations in lists]


def resolve_rows(benchmark: Benchmark, rows: Sequence[Row], faults: Faults) -> None:
    """Set the citations of the rows of a table by their locators; a locator without a passage is a fault."""
    citations = resolve(benchmark, (locator for row in rows for locator in row.locators or ()))
    for row in rows:
        if row.locators is None:
            continue
        row.citations = tuple(dict.fromkeys(citations[name] for name in row.locators if name in citations))
        for name in row.locators:
            if name not in citations:
                message = Phrase("No passage of this benchmark has the locator “%(locator)s”.", locator=name[:80])
                faults.add(row.line, "citations", message)
