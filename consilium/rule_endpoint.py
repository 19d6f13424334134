"""The page *What this is* of the endpoint that follows rules: in the product, and at the endpoint's own address."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.translation import get_supported_language_variant, override
from django.utils.translation.trans_real import parse_accept_lang_header

from consilium.core.i18n import translate
from consilium.llm.rules.names import MODEL
from consilium.llm.rules.words import MISBEHAVIOUR, RULES

STYLE_SHEETS = tuple(f"css/{name}.css" for name in ("pico", "tokens", "base", "components"))
_FILES = frozenset({*STYLE_SHEETS, "vendor/pico/pico.min.css"})


def page_context() -> dict[str, Any]:
    """What both pages show, in the active language."""
    return {
        "model": MODEL,
        "rules": [{"title": translate(rule.title), "text": translate(rule.text)} for rule in RULES],
        "misbehaving": [(name, translate(text)) for name, text in MISBEHAVIOUR.items()],
        "address": settings.RULE_ENDPOINT,
    }


def own_page(path: str, accepted: str) -> tuple[str, str] | None:
    """A page of the endpoint's own address or a style sheet of it, with its type; None where there is none.

    It needs no database, and no web server beside the endpoint. ``accepted`` is the header Accept-Language.
    """
    if path == "/":
        with override(_language_of(accepted)):
            context = {**page_context(), "style_sheets": STYLE_SHEETS, "address": ""}
            return render_to_string("rule_endpoint/own_page.html", context), "text/html"
    name = path.removeprefix("/")
    return (_style_sheet(name), "text/css") if name in _FILES else None


@cache
def _style_sheet(name: str) -> str:
    return Path(str(finders.find(name))).read_text()


def _language_of(accepted: str) -> str:
    """The first accepted language that the interface has, else English."""
    for code, _weight in parse_accept_lang_header(accepted):
        try:
            return get_supported_language_variant(code)
        except LookupError:
            continue
    return settings.LANGUAGE_CODE
