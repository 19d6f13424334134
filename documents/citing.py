"""Citations of criteria: checked when a draft is saved, described for pages and files, and resolved from locators.

`rubrics` knows of citations only what `rubrics.editor.citation` says. It calls this module through its registries.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consilium.core.errors import LineError
from documents.models import CarriedCitation, Document, Passage
from documents.quoting import Match, find_quote, nearest_words, parts_a_word
from documents.references import page_label, passages_with_age, short_reference
from documents.selectors import STATE_MARKS, marks_of
from rubrics.cited import LaterPlace, ShownCitation
from rubrics.editor.citation import Citation, citation_row
from rubrics.editor.draft_content import DraftItem
from rubrics.hooks import DraftSave
from rubrics.imports.bulk import chunks
from rubrics.models import Benchmark

_LOCATOR = re.compile(r"(?P<key>.+)@(?P<sha>[0-9a-f]{8})#(?:p\d{1,9})?:(?P<start>\d{1,9})-(?P<end>\d{1,9})", re.DOTALL)
LOCATORS_AT_ONCE = 400
_SHOWN_WORDS = 120  # of a quotation, in a message


def check_citations(save: DraftSave, items: Sequence[DraftItem]) -> tuple[Sequence[DraftItem], Sequence[LineError]]:
    """The items with the places and the words that the passages have; faults where a passage has no such words.

    One query, and none where nothing is cited.
    """
    cited = {citation.passage for item in items for citation in item.citations}
    if not cited:
        return items, ()
    passages = Passage.objects.filter(
        public_id__in=cited, document__collection__benchmark=save.rubric.case.benchmark_id
    )
    texts = dict(passages.values_list("public_id", "text"))
    faults: list[LineError] = []
    checked = []
    for place, item in enumerate(items, start=1):
        citations = []
        for citation in item.citations:
            result = _checked(citation, texts)
            if isinstance(result, str):
                faults.append(LineError(place, "citations", result))
            else:
                citations.append(result)
        checked.append(replace(item, citations=tuple(dict.fromkeys(citations))))
    return checked, faults


def _checked(citation: Citation, texts: dict[str, str]) -> Citation | str:
    """The citation with the words of its passage, or the reason why it cannot stand."""
    text = texts.get(citation.passage)
    if text is None:
        return _("This passage does not exist in this benchmark.")
    if not citation.quote:
        return citation
    start, end = citation.start or 0, citation.end or 0
    # Also where the words are few, since their place is given.
    is_here = 0 < end <= len(text) and text[start:end] == citation.quote
    if is_here and not parts_a_word(text, start, end):
        return _citation_of(citation.passage, text, start, end)
    quote = find_quote(citation.quote, text, near=start)
    if quote.holds:
        return _citation_of(citation.passage, text, quote.start, quote.end)
    words = {"quote": citation.quote[:_SHOWN_WORDS], "nearest": nearest_words(citation.quote, text)[:_SHOWN_WORDS]}
    if quote.match is Match.TOO_SHORT:
        return _("“%(quote)s” is too short to be found in the passage. Quote more words.") % words
    if not words["nearest"]:
        return _("The passage does not contain “%(quote)s”.") % words
    return _("The passage does not contain “%(quote)s”. The nearest words are “%(nearest)s”.") % words


def _citation_of(passage: str, text: str, start: int, end: int) -> Citation:
    """A citation of these words; all words of a passage are the passage as a whole."""
    if (start, end) == (0, len(text)):
        return Citation(passage)
    return Citation(passage, start, end, text[start:end])


# Shown ----------------------------------------------------------------------------------------------------------------


def describe(benchmark: Benchmark, citations: Iterable[Citation]) -> dict[Citation, ShownCitation]:
    """What pages and files show of citations; one query for all of them, and one more where editions are superseded."""
    cited = list(citations)
    rows = Passage.objects.filter(
        public_id__in={citation.passage for citation in cited}, document__collection__benchmark=benchmark
    )
    passages: dict[str, Any] = {passage.public_id: passage for passage in passages_with_age(rows)}
    later = _later_places(benchmark, [passage for passage in passages.values() if passage.is_superseded])
    return {
        citation: _described(benchmark, citation, passages[citation.passage], later)
        for citation in cited
        if citation.passage in passages
    }


Places = dict[tuple[int, int, int], LaterPlace]  # by passage, start and end of the cited words


def _later_places(benchmark: Benchmark, passages: Sequence[Passage]) -> Places:
    """What became of the words of these passages in the latest editions that have been looked at."""
    if not passages:
        return {}
    rows = CarriedCitation.objects.filter(passage__in=[passage.pk for passage in passages])
    rows = rows.select_related("new_passage__document").defer("new_passage__document__text")
    places: Places = {}
    for row in rows.order_by("edition__edition"):  # a later edition replaces an earlier one
        new = row.new_passage
        place = LaterPlace()
        if new is not None:
            words = Citation(new.public_id, row.new_start, row.new_end, row.quote)
            place = LaterPlace(locator_of(words, new), passage_address(benchmark, words))
        places[row.passage_id, row.start, row.end] = place
    return places


def _described(benchmark: Benchmark, citation: Citation, passage: Any, later: Places) -> ShownCitation:
    document: Any = passage.document
    document.is_superseded = passage.is_superseded  # which `marks_of` would else look for
    start, end = (citation.start or 0, citation.end or 0) if citation.quote else (0, len(passage.text))
    return ShownCitation(
        citation=citation,
        locator=locator_of(citation, passage),
        address=passage_address(benchmark, citation),
        reference=short_reference(passage),
        words=citation.quote or passage.text,
        document=document.title,
        publisher=document.publisher,
        version=document.version_label,
        page=page_label(passage),
        licence=document.licence,
        published_on=document.published_on,
        may_quote=document.may_quote,
        marks=tuple(str(STATE_MARKS[mark]) for mark in marks_of(document, timezone.localdate())),
        is_superseded=passage.is_superseded,
        later=later.get((passage.pk, start, end)),
    )


def citation_json(passage: Passage, start: int, end: int) -> dict[str, Any]:
    """A citation of the words at these places, with what the script of the editor shows of it."""
    citation = _citation_of(passage.public_id, passage.text, start, end)
    benchmark = passage.document.collection.benchmark
    return {**citation_row(citation), **describe(benchmark, [citation])[citation].as_json()}


def passage_address(benchmark: Benchmark, citation: Citation) -> str:
    """The page of the passage; the quoted words are marked there."""
    address = reverse("documents:passage", args=[benchmark.slug, citation.passage])
    return f"{address}?start={citation.start}&end={citation.end}" if citation.quote else address


# Locators -------------------------------------------------------------------------------------------------------------


def locator_of(citation: Citation, passage: Passage) -> str:
    """The locator of the cited words: like that of a passage, with the places of the words in the document."""
    if not citation.quote:
        return passage.locator
    head, _places = passage.locator.rsplit(":", 1)
    return f"{head}:{passage.start + (citation.start or 0)}-{passage.start + (citation.end or 0)}"


def resolve(benchmark: Benchmark, locators: Iterable[str]) -> dict[str, Citation]:
    """The citations that locators stand for; two queries for each few hundred of them.

    A locator that lies in no passage is missing.
    """
    citations: dict[str, Citation] = {}
    for names in chunks(locators, LOCATORS_AT_ONCE):
        citations |= _resolve_some(benchmark, names)
    return citations


def _resolve_some(benchmark: Benchmark, locators: Sequence[str]) -> dict[str, Citation]:
    parsed = {name: match for name in locators if (match := _LOCATOR.fullmatch(name))}
    if not parsed:
        return {}
    editions = Q()
    for match in parsed.values():
        editions |= Q(key=match["key"], sha256__startswith=match["sha"])
    documents: dict[tuple[str, str], int] = {}
    rows = Document.objects.filter(editions, collection__benchmark=benchmark).order_by("pk")
    for pk, key, digest in rows.values_list("pk", "key", "sha256"):
        documents.setdefault((key, digest[:8]), pk)
    places: dict[str, tuple[int, int, int]] = {}
    lookup = Q()
    for name, match in parsed.items():
        document = documents.get((match["key"], match["sha"]))
        start, end = int(match["start"]), int(match["end"])
        if document is not None and start < end:
            places[name] = (document, start, end)
            lookup |= Q(document=document, start__lte=start, end__gte=end)
    if not places:
        return {}
    passages: defaultdict[int, list[Passage]] = defaultdict(list)
    for passage in Passage.objects.filter(lookup):
        passages[passage.document_id].append(passage)
    citations = {}
    for name, (document, start, end) in places.items():
        for passage in passages[document]:
            if passage.start <= start and end <= passage.end:
                citations[name] = _citation_of(
                    passage.public_id, passage.text, start - passage.start, end - passage.start
                )
                break
    return citations
