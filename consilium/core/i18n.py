"""Messages of pure code in the reader's language: a code or template and its parameters become a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.utils.formats import get_format
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, override

from consilium.core.from_english import from_english
from consilium.core.phrases import AFTER_LABEL, BETWEEN_PHRASES, Joined, Labelled, Phrase

# Codes among the values of phrases → their words, by the name of the value.
_codes: dict[str, Mapping[str, str | Promise]] = {}


def register_codes(name: str, words: Mapping[str, str | Promise]) -> None:
    """Show the codes that phrases have as their value ``name`` in words, in every language; files keep the codes."""
    _codes[name] = words


def translate(text: Any) -> str:
    """A phrase, or several joined, in the active language; any other text as it is."""
    if not isinstance(text, Phrase | Labelled | Joined):
        return str(text)
    if isinstance(text, Joined):
        return _punctuation("BETWEEN_PHRASES", BETWEEN_PHRASES).join(map(translate, text.parts))
    if isinstance(text, Labelled):
        return f"{text.label}{_punctuation('AFTER_LABEL', AFTER_LABEL)}{translate(text.phrase)}"
    values = {name: _value(name, value) for name, value in text.values.items()}
    if (get_language() or "en").startswith("en") and values == text.values:
        return str(text)
    template = gettext(text.template)
    return template % values if values else template


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Phrase | Joined):
        return translate(value)
    word = _codes.get(name, {}).get(value) if isinstance(value, str) else None
    return value if word is None else str(word)


def _punctuation(name: str, english: str) -> str:
    """The mark ``name`` of the active language, from its module in `consilium.formats`; else ``english``."""
    mark: str = get_format(name)
    return english if mark == name else mark


def listed(names: Iterable[str]) -> str:
    """Names one after the other in a line of text, with the mark of the active language between them: 德语、英语."""
    return _punctuation("BETWEEN_ITEMS", ", ").join(names)


def translate_remark(text: str) -> str:
    """A remark in the active language, whether it has its codes or was stored as English text."""
    return translate(from_english(text))


def english(text: Any) -> str:
    """A lazy text as it is in the source: what `gettext` translates for each reader later."""
    with override(settings.LANGUAGE_CODE):
        return str(text)


def language_of(person: Any) -> override:
    """``with language_of(job.created_by):`` texts that a worker writes are in the language of that person.

    ``person`` is a user or None. Only words depend on the language: figures and files are the same in all of them.
    """
    return override(getattr(person, "language", "") or settings.LANGUAGE_CODE)
