"""Where criteria come from, in templates."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

from rubrics.editor.draft_content import DraftItem
from rubrics.origins import ShownOrigin, ShownSuggestion, origin_of

register = template.Library()


@register.filter
def origin_in(item: DraftItem, shown: Mapping[str, ShownSuggestion] | str | None) -> ShownOrigin | None:
    """``{{ item|origin_in:suggested }}``: where a criterion comes from; None where the page does not say."""
    return origin_of(item, shown) if isinstance(shown, Mapping) else None
