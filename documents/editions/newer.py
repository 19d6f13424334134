"""Where the words of a citation of an earlier edition are in the latest edition of the document."""

from __future__ import annotations

from documents.editions.services import place_in
from documents.models import Document, Passage
from documents.quoting import Source


def latest_edition(document: Document) -> Document | None:
    """The latest edition of a document that is superseded; None if there is no later one."""
    editions = Document.objects.filter(
        collection=document.collection_id, key=document.key, edition__gt=document.edition
    )
    return editions.order_by("-edition").first()


def newer_place(passage: Passage, start: int, end: int, edition: Document) -> tuple[Passage, int, int] | None:
    """The passage of ``edition`` that has the words of ``passage`` at ``start``:``end``, and their place in it.

    Places are code points. None if the edition does not contain the words.
    """
    quote = Source(edition.text).find(passage.text[start:end], near=passage.start + start)
    if not quote.holds:
        return None
    passages = edition.passages.select_related("document").defer("document__text").order_by("start")
    return place_in(list(passages), quote)
