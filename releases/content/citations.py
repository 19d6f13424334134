"""What the criteria of a release cite: ``citations.csv`` and ``documents.csv``.

A locator is always there. The words of a passage are there only where its document may be quoted, and the whole passage
only where the document may be passed on; its headings where either is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from documents.citing import locator_of
from documents.models import Document, Passage
from documents.references import page_label, passages_with_age
from releases.content.record import CitedPlace, ReleasedCase
from rubrics.editor.citation import Citation
from rubrics.imports.bulk import chunks
from rubrics.models import Benchmark

CITATION_COLUMNS = ("case", "criterion", "locator", "quote", "document", "sha256", "page", "headings", "text")
CITATION_TEXT = ("case", "locator", "quote", "document", "headings", "text")
DOCUMENT_COLUMNS = (
    *("document", "sha256", "collection", "title", "publisher", "version", "kind", "tier", "language", "jurisdictions"),
    *("url", "published_on", "review_by", "superseded", "retired_on", "licence", "may_quote", "may_redistribute"),
)
DOCUMENT_TEXT = ("document", "collection", "title", "publisher", "version", "jurisdictions", "url", "licence")
_AT_ONCE = 500


def cited_places(case: ReleasedCase) -> Iterator[CitedPlace]:
    """What the criteria of a case cite, in their order."""
    for criterion in case.criteria:
        yield from criterion.cited


@dataclass(slots=True)
class CitedDocuments:
    """The documents that criteria, suggestions and facts rest on, gathered while these are written."""

    documents: dict[int, tuple[Document, bool]]

    def note(self, passage: Any) -> None:
        """Note the document of a passage of `passages_with_age`."""
        self.documents[passage.document.pk] = (passage.document, passage.is_superseded)

    def rows(self) -> Iterator[Sequence[Any]]:
        """`DOCUMENT_COLUMNS`, by collection, key and edition."""
        ordered = sorted(self.documents.values(), key=lambda row: (row[0].collection.name, row[0].key, row[0].edition))
        for document, superseded in ordered:
            retired = document.retired_at.date().isoformat() if document.retired_at else ""
            yield (
                *(document.key, document.sha256, document.collection.name, document.title, document.publisher),
                *(document.version_label, document.kind, document.tier, document.language),
                *("; ".join(document.jurisdictions), document.url, _day(document.published_on)),
                *(_day(document.review_by), _flag(superseded), retired, document.licence),
                *(_flag(document.may_quote), _flag(document.may_redistribute)),
            )


def _day(day: Any) -> str:
    return day.isoformat() if day else ""


def _flag(flag: bool) -> str:
    return "true" if flag else "false"


def citation_rows(
    benchmark: Benchmark, places: Iterable[CitedPlace], documents: CitedDocuments
) -> Iterator[Sequence[Any]]:
    """`CITATION_COLUMNS`, a few hundred at a time; notes the documents."""
    for some in chunks(places, _AT_ONCE):
        passages = _passages(benchmark, {place.citation.passage for place in some if place.citation})
        for place in some:
            passage = passages.get(place.citation.passage) if place.citation else None
            if passage is None or place.citation is None:  # of a file whose documents are not in this benchmark
                yield (place.case, place.criterion, place.locator, *[""] * (len(CITATION_COLUMNS) - 3))
                continue
            document = passage.document
            documents.note(passage)
            yield (
                *(place.case, place.criterion, place.locator, place.citation.quote if document.may_quote else ""),
                *(document.key, document.sha256, page_label(passage)),
                " › ".join(passage.headings) if document.may_quote or document.may_redistribute else "",
                passage.text if document.may_redistribute else "",
            )


def locators(
    benchmark: Benchmark, cited: Iterable[Citation], documents: CitedDocuments | None = None
) -> dict[Citation, str]:
    """The locator of each citation; ``documents`` takes their documents."""
    citations = list(cited)
    passages = _passages(benchmark, {citation.passage for citation in citations})
    if documents is not None:
        for passage in passages.values():
            documents.note(passage)
    return {
        citation: locator_of(citation, passages[citation.passage])
        for citation in citations
        if citation.passage in passages
    }


def _passages(benchmark: Benchmark, names: set[str]) -> dict[str, Any]:
    """Passages with their documents and collections, by their public ids; no query for none."""
    if not names:
        return {}
    rows = Passage.objects.filter(public_id__in=names, document__collection__benchmark=benchmark)
    return {passage.public_id: passage for passage in passages_with_age(rows).select_related("document__collection")}
