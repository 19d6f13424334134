"""Punctuation between parts of a sentence follows the language of the reader: no template writes it after a value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from consilium.templatetags import consilium_tags as tags

ROOT = Path(__file__).parents[2] / "templates"
FOLDERS = ("agreement", "releases", "scoring")
UNTRANSLATED = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}", re.DOTALL)
TRANSLATED = re.compile(r"{% blocktranslate.*?{% endblocktranslate %}", re.DOTALL)
JOINED = re.compile(r"(?:\}\}|%\}|</\w+>)\s*[.:](?=[\s<{])")
NUMBERED = re.compile(r"(?:position|number) }}\.")  # "3." before a criterion is the same in every language
ATTRIBUTE = re.compile(r"<[^<>]*$")


def joined(source: str) -> list[str]:
    """The full stops and colons that follow a tag outside of any message, with the line that they are in."""
    text = TRANSLATED.sub("", UNTRANSLATED.sub("", source))
    places = [m for m in JOINED.finditer(text) if not ATTRIBUTE.search(text[: m.start()])]
    lines = [text[text.rfind("\n", 0, m.end() - 1) + 1 :].partition("\n")[0].strip() for m in places]
    return [line for line in lines if not NUMBERED.search(line)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_template_joins_parts_by_a_full_stop_or_colon_of_its_own(folder: str) -> None:
    by_path = {str(path.relative_to(ROOT)): joined(path.read_text("utf-8")) for path in (ROOT / folder).rglob("*.html")}
    assert {path: lines for path, lines in by_path.items() if lines} == {}


def test_it_is_found_outside_of_messages_alone() -> None:
    assert joined("<b>{{ group }}.</b>{% blocktranslate %}{{ n }}: {{ m }}.{% endblocktranslate %}") == [
        "<b>{{ group }}.</b>"
    ]
    assert joined('{{ position }}. {{ text }} <a title="{{ a }}: {{ b }}">{{ c }}</a>') == []


def test_the_filters_punctuate_as_the_language_does() -> None:
    assert [tags.stopped("a"), tags.comma("a"), tags.colon("a"), tags.labels("a", 1), tags.bracketed("a")] == [
        "a.", "a,", "a:", "a: 1", "(a)",
    ]  # fmt: skip
