"""Names of languages in the reader's language.

They come from the Unicode CLDR, by Babel, which names some 600 languages in every language that the interface may get.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from babel import Locale, UnknownLocaleError
from django.conf import settings
from django.utils.translation import get_language

from consilium.core.i18n import listed
from consilium.core.language_tags import normalise_language

# The usual languages of texts, which forms offer first; any other can be typed.
COMMON_LANGUAGES = ("en", "zh", "es", "hi", "ar", "fr", "pt", "ru", "de", "ja", "ko", "it", "tr", "vi", "id", "pl")


def language_name(tag: str) -> str:
    """``zh`` → Chinese, 中文; ``hi-Latn`` → Hindi (Latin). An unknown tag stays as it is."""
    return _name(tag, get_language() or "en")


def language_names(tags: Iterable[str]) -> str:
    """The names of several languages, for a line of text."""
    return listed(map(language_name, tags))


@lru_cache(maxsize=4096)
def _name(tag: str, interface: str) -> str:
    locale = _locale(interface)
    language, *rest = tag.replace("_", "-").split("-")
    # The CLDR has names for some tags with a script or region: Simplified Chinese, Brazilian Portuguese.
    for count in range(len(rest), -1, -1):
        if name := locale.languages.get("_".join([language, *rest[:count]])):
            more = [locale.scripts.get(part) or locale.territories.get(part) or part for part in rest[count:]]
            return f"{name} ({', '.join(more)})" if more else name
    return tag


@cache
def _locale(interface: str) -> Locale:
    try:
        return Locale.parse(interface, sep="-")
    except (UnknownLocaleError, ValueError):
        return Locale("en")


def own_language_name(tag: str) -> str:
    """What the speakers of a language call it: ``es`` → español; empty where the CLDR does not say."""
    try:
        locale = Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return ""
    return locale.languages.get(locale.language, "")


def language_choices(*more: str) -> list[tuple[str, str]]:
    """Tag and name of the common languages, and of ``more``, by name."""
    tags = dict.fromkeys([*COMMON_LANGUAGES, *filter(None, more)])
    return sorted(((tag, language_name(tag)) for tag in tags), key=lambda choice: choice[1].casefold())


@cache
def _tags_by_name() -> dict[str, str]:
    """Names of languages in every language of the interface, and of common ones in their own → tag."""
    names: dict[str, str] = {}
    interfaces = [code for code, _label in settings.LANGUAGES]
    for tag in Locale("en").languages:
        own = [own_language_name(tag)] if tag in COMMON_LANGUAGES else []
        for name in filter(None, [*own, *(_name(tag, interface) for interface in interfaces)]):
            names.setdefault(str(name).casefold(), str(tag).replace("_", "-"))
    return names


def language_named(text: str) -> str:
    """The tag of a language that a person wrote: a tag, or a name (Spanish, español, 西班牙语); else `ValueError`."""
    text = re.sub(r"\s+", " ", text.strip())
    named = _tags_by_name().get(text.casefold())
    return named or normalise_language(text)
