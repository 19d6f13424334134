"""Tags of languages (BCP 47), and who can read a text in one. No Django.

A language that the Unicode CLDR does not name is refused, because it is nearly always a slip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from babel import Locale
from babel.core import get_global, parse_locale

MAX_LANGUAGE_LENGTH = 35  # RFC 5646, section 4.4.1: no registered tag needs more
# As the check constraint of cases; a variant has at most 8 letters or digits.
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)
_NO_LANGUAGE = {"und", "mul", "zxx", "mis"}  # undetermined, several, none: a text of these has no tag here


@lru_cache(maxsize=4096)
def normalise_language(tag: str) -> str:
    """A tag as RFC 5646 recommends to write it: ``zh_hans`` → ``zh-Hans``, ``iw`` → ``he``, ``PT-br`` → ``pt-BR``.

    It has a language, and may have a script, a region and a variant, but no extension. `ValueError` for anything else,
    and for a language, script or region that the CLDR does not name.
    """
    parts = tag.strip().replace("_", "-").split("-")
    if len(tag) > MAX_LANGUAGE_LENGTH or not parts[0].isascii():
        raise ValueError(tag)
    parts[:1] = get_global("language_aliases").get(parts[0].lower(), parts[0]).split("_")
    language, region, script, variant, *_modifier = parse_locale("-".join(parts), sep="-")
    english = Locale("en")
    known = (
        (language, english.languages),
        (script, english.scripts),
        (region, english.territories),
    )
    if language in _NO_LANGUAGE or any(part and part not in names for part, names in known):
        raise ValueError(tag)
    normalised = "-".join(filter(None, (language, script, region, variant and variant.lower())))
    if not _TAG.fullmatch(normalised):
        raise ValueError(tag)
    return normalised


@lru_cache(maxsize=4096)
def language_read(tag: str) -> str:
    """The part of a tag that decides who can read a text: its language, whatever its script or region."""
    return tag.replace("_", "-").partition("-")[0].lower()


def can_read(languages: Iterable[str], tag: str) -> bool:
    """Whether somebody who reads ``languages`` can read a text in ``tag``.

    A text whose language is not known is read by everybody, and somebody who has named no language reads every text.
    """
    known = {language_read(language) for language in languages}
    return not tag or not known or language_read(tag) in known
