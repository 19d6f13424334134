"""How a passage is named in one line, for a criterion's source and for lists."""

from __future__ import annotations

from documents.models import Passage


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
