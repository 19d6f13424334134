"""Countries and regions by the codes of ISO 3166, named in the reader's language.

`countries.json` holds the names of the Unicode CLDR 47 (Unicode License v3), sorted for each language in its own order.
A new language of the interface needs its names there, and shows the English ones until then.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _


@cache
def _names() -> dict[str, dict[str, str]]:
    names: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("countries.json").read_text("utf-8"))
    return names


def country_choices() -> list[tuple[str, str]]:
    """Code and name of each country, after an empty choice."""
    names = _names().get(get_language() or "en", _names()["en"])
    return [("", "–"), *names.items()]


@lru_cache(maxsize=32)
def _options(_language: str | None, chosen: str | None) -> SafeString:
    """Cached, because Django renders a template for each of the 250 options, 11 ms of CPU for a page."""
    rows = ((code, " selected" if code == chosen else "", name) for code, name in country_choices())
    return format_html_join("\n", '<option value="{}"{}>{}</option>', rows)


class CountrySelect(forms.Select):
    """A list of all countries that takes no time to draw."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The list, with the country of ``value`` chosen; none is if ``value`` is no code of a country."""
        known = {code for code, _name in country_choices()}
        attributes = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        code = "" if value is None else str(value)
        options = _options(get_language(), code if code in known else None)
        return format_html("<select{}>{}</select>", flatatt(attributes), options)


class CountryField(forms.ChoiceField):
    """The country or region in which a physician is licensed; optional."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            label=_("Country or region of licence"),
            choices=country_choices,
            required=False,
            widget=CountrySelect(attrs={"autocomplete": "country"}),
            **options,
        )
