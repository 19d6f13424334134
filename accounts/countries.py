"""Countries and regions by the codes of ISO 3166, named in the reader's language.

`countries.json` holds the names of the Unicode CLDR 47 (Unicode License v3), sorted for each language in its own order.
A new language of the interface needs its names there, and shows the English ones until then.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from django.utils.translation import get_language


@cache
def _names() -> dict[str, dict[str, str]]:
    names: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("countries.json").read_text("utf-8"))
    return names


def country_choices() -> list[tuple[str, str]]:
    """Code and name of each country, after an empty choice."""
    names = _names().get(get_language() or "en", _names()["en"])
    return [("", "–"), *names.items()]
