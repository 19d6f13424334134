"""The list of countries: the same as Django's own, without a template for each country."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django import forms
from django.forms.renderers import DjangoTemplates
from django.utils import translation

from accounts.countries import CountryField, country_choices


class CountingRenderer(DjangoTemplates):
    """Django's renderer, which remembers the templates."""

    def __init__(self) -> None:
        super().__init__()
        self.templates: list[str] = []

    def render(self, template_name: str, context: Any, request: Any = None) -> Any:
        self.templates.append(template_name)
        return super().render(template_name, context, request)


class CountryForm(forms.Form):
    country = CountryField()


class PlainForm(forms.Form):
    country = forms.ChoiceField(
        choices=country_choices, required=False, widget=forms.Select(attrs={"autocomplete": "country"})
    )


class Tags(HTMLParser):
    """Tags with their attributes in the order of names, and texts without white space around them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[Any] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append((tag, sorted((name, value or "") for name, value in attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.parts.append(data.strip())


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_list_is_the_one_that_django_draws(language: str) -> None:
    with translation.override(language):
        for chosen in ({}, *({"country": value} for value in ("", "CN", "de", '"><script>'))):
            drawn, plain = str(CountryForm(chosen)["country"]), str(PlainForm(chosen)["country"])
            assert Tags(drawn).parts == Tags(plain).parts, chosen


def test_no_template_is_rendered_for_a_country() -> None:
    renderer = CountingRenderer()
    drawn = str(CountryForm({"country": "CN"}, renderer=renderer)["country"])
    assert len(re.findall("<option", drawn)) > 200
    assert [name for name in renderer.templates if "option" in name or "select" in name] == []
