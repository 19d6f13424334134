"""Axes of criteria in templates."""

from __future__ import annotations

from django import template

from consilium.core.i18n import translate
from rubrics.axes import PREFIX, axis_word

register = template.Library()


@register.filter
def tag_words(tag: str) -> str:
    """``{{ tag|tag_words }}``: the words for the axis that a tag names, in the reader's language; else the tag."""
    return str(translate(axis_word(tag.removeprefix(PREFIX)))) if tag.startswith(PREFIX) else tag


@register.filter
def axis_words(axis: str) -> str:
    """``{{ row.axis|axis_words }}``: the words for an axis, in the reader's language."""
    return str(translate(axis_word(axis)))
