"""The messages of pure code, in the language of whoever reads it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.translation import gettext, override

from consilium.lib.phrases import Phrase


def translate(text: Any) -> str:
    """A phrase in the active language; any other text as it is."""
    if not isinstance(text, Phrase):
        return str(text)
    template = gettext(text.template)
    values = {name: translate(value) if isinstance(value, Phrase) else value for name, value in text.values.items()}
    return template % values if values else template


def language_of(person: Any) -> override:
    """``with speaking_to(job.created_by):`` what a worker writes down is in the language of who will read it.

    ``person`` is a user or None. Only words depend on it: figures and files are the same in every language.
    """
    return override(getattr(person, "language", "") or settings.LANGUAGE_CODE)
