"""Citations in templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django import template

from rubrics.cited import ShownCitation
from rubrics.editor.citation import Citation

register = template.Library()


@register.filter
def shown_in(citations: Iterable[Citation], shown: Mapping[Citation, ShownCitation] | str) -> list[ShownCitation]:
    """``{{ item.citations|shown_in:cited }}``: what there is to show of them; nothing where the page has none."""
    return [shown[citation] for citation in citations if citation in shown] if isinstance(shown, Mapping) else []
