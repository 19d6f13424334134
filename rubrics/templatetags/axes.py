"""Axes of criteria, and tags of cases, in templates."""

from __future__ import annotations

from django import template

from consilium.core.i18n import translate
from rubrics.axes import PREFIX, axis_word
from rubrics.slice_words import slice_words

register = template.Library()


@register.filter
def tag_words(tag: str) -> str:
    """``{{ tag|tag_words }}``: the words for the axis that a tag names, in the reader's language; else the tag."""
    return str(translate(axis_word(tag.removeprefix(PREFIX)))) if tag.startswith(PREFIX) else tag


@register.filter
def case_tag_words(tag: str) -> str:
    """``{{ tag|case_tag_words }}``: the tag of a case, such as ``task:diagnosis``, in the reader's language."""
    return slice_words(tag)


@register.filter
def axis_words(axis: str) -> str:
    """``{{ row.axis|axis_words }}``: the words for an axis, in the reader's language."""
    return str(translate(axis_word(axis)))
