"""How a passage is referred to in a few words, and what speaks against its document by now."""

from __future__ import annotations

from datetime import date

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, QuerySet
from django.utils.translation import gettext as _

from documents.models import Document, Passage


def page_of(passage: Passage) -> str:
    """The page or pages of a passage: ``4`` or ``4–5``; empty where its document has none."""
    if passage.page_from is None:
        return ""
    last = passage.page_to
    return f"{passage.page_from}–{last}" if last and last != passage.page_from else str(passage.page_from)


def short_reference(passage: Passage) -> str:
    """Publisher, title, version and page: what a criterion names as its source."""
    document, page = passage.document, page_of(passage)
    version = document.version_label or (str(document.published_on.year) if document.published_on else "")
    page_words = _("p. %(page)s") % {"page": page} if page else ""
    return ", ".join(part for part in (document.publisher, document.title, version, page_words) if part)


def passages_with_age(passages: QuerySet[Passage]) -> QuerySet[Passage]:
    """Passages with their documents, and whether a later edition of the document exists (``is_superseded``)."""
    later = Document.objects.filter(supersedes=OuterRef("document"))
    superseded = ExpressionWrapper(Exists(later), output_field=BooleanField())
    return passages.select_related("document").defer("document__text").annotate(is_superseded=superseded)


def age_marks(document: Document, *, is_superseded: bool, today: date) -> tuple[str, ...]:
    """What speaks against resting on a document, in words: superseded, retired, its review is due."""
    marks = []
    if is_superseded:
        marks.append(_("superseded"))
    if document.retired_at is not None:
        marks.append(_("retired"))
    if document.is_overdue(today):
        marks.append(_("past its review date"))
    return tuple(marks)
