"""What the latest edition says at the place of a citation of a superseded one, for people who compare the two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.urls import reverse
from rapidfuzz import fuzz

from documents.citing import passage_address
from documents.editions.services import place_in
from documents.models import Document, Passage
from documents.quoting import Source
from documents.references import passages_with_age
from rubrics.cited import Counterpart
from rubrics.editor.citation import Citation
from rubrics.models import Benchmark

# Of texts without a common heading, in percent: below it, they say different things.
MIN_LIKENESS = 55


def counterparts(benchmark: Benchmark, citations: Iterable[Citation]) -> dict[Citation, Counterpart]:
    """The counterpart of each citation of a superseded edition; two queries, and two for each latest edition."""
    cited = list(citations)
    rows = Passage.objects.filter(
        public_id__in={citation.passage for citation in cited}, document__collection__benchmark=benchmark
    )
    aged: Iterable[Any] = passages_with_age(rows)
    passages: dict[str, Passage] = {passage.public_id: passage for passage in aged if passage.is_superseded}
    by_document: defaultdict[tuple[int, str], list[Citation]] = defaultdict(list)
    for citation in cited:
        passage = passages.get(citation.passage)
        if passage is not None:
            by_document[passage.document.collection_id, passage.document.key].append(citation)
    shown: dict[Citation, Counterpart] = {}
    for (collection, key), of_document in by_document.items():
        edition = Document.objects.filter(collection=collection, key=key).order_by("-edition").first()
        assert edition is not None
        new = list(edition.passages.order_by("start"))
        source = Source(edition.text)
        for citation in of_document:
            shown[citation] = _counterpart(benchmark, citation, passages[citation.passage], edition, new, source)
    return shown


def _counterpart(
    benchmark: Benchmark, citation: Citation, old: Passage, edition: Document, new: list[Passage], source: Source
) -> Counterpart:
    words = citation.quote or old.text
    quote = source.find(words, near=old.start + (citation.start or 0))
    place = place_in(new, quote) if quote.holds else None
    passage = place[0] if place else _nearest(old, words, new)
    address = ""
    if place:
        start, end = place[1:]
        address = passage_address(benchmark, Citation(place[0].public_id, start, end, place[0].text[start:end]))
    elif passage:
        address = passage_address(benchmark, Citation(passage.public_id))
    return Counterpart(
        edition=edition.edition_name,
        edition_address=reverse("documents:document", args=[benchmark.slug, edition.public_id]),
        text=passage.text if passage else "",
        headings=tuple(passage.headings) if passage else (),
        address=address,
        has_words=place is not None,
    )


def _nearest(old: Passage, words: str, new: Sequence[Passage]) -> Passage | None:
    """The passage below the same headings, or the same innermost one, that is most like the old words; else of all."""
    same = [passage for passage in new if old.headings and passage.headings == old.headings]
    same = same or [passage for passage in new if old.headings and passage.headings[-1:] == old.headings[-1:]]
    likeness = {passage.pk: _likeness(words, passage.text) for passage in same or new}
    nearest = max(same or new, key=lambda passage: likeness[passage.pk], default=None)
    if nearest is None or (not same and likeness[nearest.pk] < MIN_LIKENESS):
        return None
    return nearest


def _likeness(words: str, text: str) -> float:
    """In percent; words are compared with the stretch of a longer text that is most like them."""
    return float(fuzz.partial_ratio(words, text) if len(text) > len(words) else fuzz.ratio(words, text))
