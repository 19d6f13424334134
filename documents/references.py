"""How a passage is named in one line, for a criterion's source and for lists, and read with the age of its document."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from documents.models import Document, Passage


def short_reference(passage: Passage) -> str:
    """Publisher, title, version and page, as far as they are known: ``WHO, Fever in children, 2024, p. 3``."""
    document = passage.document
    return ", ".join(filter(None, [document.publisher, document.title, document.version_label, page_label(passage)]))


def page_label(passage: Passage) -> str:
    """``p. 3``, ``pp. 3–4``, or nothing where the document has no pages. The same in every language."""
    first, last = passage.page_from, passage.page_to
    if first is None:
        return ""
    return f"p. {first}" if last in (None, first) else f"pp. {first}–{last}"


def passages_with_age(passages: QuerySet[Passage]) -> QuerySet[Passage]:
    """Passages with their documents, and whether a later edition of the document exists (``is_superseded``)."""
    later = Document.objects.filter(supersedes=OuterRef("document"))
    return passages.select_related("document").defer("document__text").annotate(is_superseded=Exists(later))
