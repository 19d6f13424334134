"""Passages that were found, as pages, the editor's panel and the API show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from documents.references import page_label, short_reference
from documents.search.finding import Hit
from documents.search.highlights import Marker, Part
from documents.search.index import Terms
from documents.selectors import STATE_MARKS


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A passage with the words of the query marked."""

    hit: Hit
    parts: list[Part]  # of the passage's text
    spans: list[tuple[int, int]]  # start and end of each marked stretch
    page: str
    reference: str
    marks: list[tuple[str, Any]]  # why to take care, with the words for it


def shown(hits: Sequence[Hit], query: str) -> list[ShownHit]:
    """The hits with what a reader sees of each."""
    marker = Marker(Terms.of(query))
    return [_shown(hit, marker) for hit in hits]


def _shown(hit: Hit, marker: Marker) -> ShownHit:
    passage, spans = hit.passage, marker.spans(hit.passage.text)
    marks = [(mark, STATE_MARKS[mark]) for mark in hit.marks]
    return ShownHit(hit, parts_of(passage.text, spans), spans, page_label(passage), short_reference(passage), marks)


def parts_of(text: str, spans: Sequence[tuple[int, int]]) -> list[Part]:
    """The text in stretches, those of ``spans`` marked."""
    parts, free = [], 0
    for start, end in spans:
        parts += [Part(text[free:start], False), Part(text[start:end], True)]
        free = end
    return [part for part in [*parts, Part(text[free:], False)] if part.text]


def as_json(shown: ShownHit) -> dict[str, Any]:
    """A hit of the panel and of the API: plain values, texts as they are in the document."""
    passage, document = shown.hit.passage, shown.hit.passage.document
    return {
        "passage": passage.public_id,
        "locator": passage.locator,
        "text": passage.text,
        "matches": [list(span) for span in shown.spans],
        "table_header": passage.table_header,
        "headings": passage.headings,
        "document": document.public_id,
        "collection": document.collection.name,
        "title": document.title,
        "publisher": document.publisher,
        "version": document.version_label,
        "page": shown.page,
        "language": document.language,
        "licence": document.licence,
        "may_send": document.may_send,
        "may_quote": document.may_quote,
        "reference": shown.reference,
        "marks": [str(words) for _mark, words in shown.marks],
        "score": shown.hit.score,
    }
