"""What a person reads of an answer, and what of it is English that nobody wrote into the database."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any

from django.apps import apps

from consilium import translations

LETTERS = re.compile(r"[A-Za-z]{2}")
READ_ALOUD = ("title", "aria-label", "placeholder", "alt", "aria-description")
GAP = "\ue000"  # stands where a template tag stood


ENGLISH = re.compile(r"[A-Za-z][a-z’']+(?:,? [a-z][a-z’']+){2,}")


class Words(HTMLParser):
    """What a person sees or hears of some HTML: texts, attributes that are read out, and the words of scripts."""

    SILENT = {"script", "style", "code", "pre", "kbd", "svg", "samp"}

    def __init__(self) -> None:
        super().__init__()
        self.silent: list[str] = []
        self.in_script_words = False
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # An English text that is edited on a page, such as that of a request, stays English for every reader.
        if tag in self.SILENT or (tag == "textarea" and ("lang", "en") in attrs):
            self.silent.append(tag)
        self.in_script_words = tag == "script" and (dict(attrs).get("id") or "").endswith("-words")
        for name, value in attrs:
            if name in READ_ALOUD or name.startswith("data-text"):
                self.texts += (value or "").split(GAP)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.silent and self.silent[-1] == tag:
            self.silent.pop()
        self.in_script_words = False

    def handle_data(self, data: str) -> None:
        if self.in_script_words:
            self.texts += json.loads(data).values()
        elif not self.silent:
            self.texts += data.split(GAP)


def words_of(html: str) -> list[str]:
    parser = Words()
    parser.feed(html)
    parser.close()
    return [" ".join(text.split()) for text in parser.texts if LETTERS.search(text)]


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)


def stored_texts() -> list[str]:
    """Every text of the database: what people wrote is in their own language on every page."""
    texts: set[str] = set()
    for model in apps.get_models():
        if model._meta.app_label in translations.APPS and model._meta.managed:
            for row in model._default_manager.values():
                texts.update(" ".join(text.split()) for text in texts_in(list(row.values())))
    return sorted((text for text in texts if " " in text), key=len, reverse=True)


def english_in(answer: Any, stored: list[str], *, beside: Iterable[str] = ()) -> set[str]:
    """English sentences of an answer, and of what is said ``beside`` it, that are not of the texts ``stored``."""
    if answer.streaming:
        return set()
    html = answer["Content-Type"].startswith("text/html")
    texts = words_of(answer.content.decode()) if html else [answer.content.decode(errors="replace")]
    sentences = set()
    for text in [*texts, answer.headers.get("HX-Trigger", ""), *beside]:
        if not ENGLISH.search(text):
            continue  # thousands of texts need not be looked for in it
        for known in stored:
            text = text.replace(known, " · ")
        if ENGLISH.search(text):
            sentences.add(text[:300])
    return sentences
