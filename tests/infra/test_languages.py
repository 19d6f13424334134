"""Tags of languages, who reads a text in one, and their names."""

from __future__ import annotations

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.language_tags import MAX_LANGUAGE_LENGTH, can_read, normalise_language
from consilium.core.languages import language_choices, language_name, language_named


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        # RFC 5646, section 2.1.1: the language in lower case, the script with a capital, the region in capitals.
        ("EN", "en"),
        ("zh_hans", "zh-Hans"),
        ("PT-br", "pt-BR"),
        ("sr-latn-rs", "sr-Latn-RS"),
        ("es-419", "es-419"),
        ("de-CH-1996", "de-CH-1996"),
        ("yue-hant-hk", "yue-Hant-HK"),
        # The registry of language subtags names another one for these.
        ("iw", "he"),
        ("in", "id"),
        ("cmn", "zh"),
    ],
)
def test_a_tag_is_written_in_one_way(tag: str, written: str) -> None:
    assert normalise_language(tag) == written
    assert normalise_language(written) == written


@pytest.mark.parametrize(
    "tag",
    [
        "",
        "e",
        "english",
        "xx",
        "en-XX",
        "en-Xxxx",
        "zh-yue",
        "x-own",
        "zh-Simplified",
        "en-ééééé",
        "en-latin1~",
        "en-x-own",
        "und",
        "mul",
        "en gb",
        "中文",
        "\x00",
    ],
)
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(ValueError):
        normalise_language(tag)


@given(st.text(alphabet="abzhENLatn-_ 0149é中", max_size=40))
def test_a_written_tag_fits_and_stays_as_it_is(text: str) -> None:
    try:
        tag = normalise_language(text)
    except ValueError:
        return
    assert 2 <= len(tag) <= MAX_LANGUAGE_LENGTH
    assert normalise_language(tag) == tag


@pytest.mark.parametrize(
    ("languages", "tag", "readable"),
    [
        (["en"], "en", True),
        (["en"], "en-GB", True),
        (["zh"], "zh-Hant", True),
        (["pt-BR"], "pt", True),
        (["hi"], "hi-Latn", True),
        (["en"], "zh", False),
        (["en", "zh"], "zh", True),
        (["en"], "", True),
        ([], "zh", True),
        (["fi"], "fil", False),
    ],
)
def test_who_reads_a_text(languages: list[str], tag: str, readable: bool) -> None:
    assert can_read(languages, tag) is readable


def test_languages_have_their_names_in_the_language_of_the_reader() -> None:
    tags = ("zh", "zh-Hans", "pt-BR", "hi-Latn", "sr-Latn-RS", "tlh", "xx")
    names = "Chinese", "Simplified Chinese", "Brazilian Portuguese", "Hindi (Latin)", "Serbian (Latin, Serbia)"
    assert tuple(map(language_name, tags)) == (*names, "Klingon", "xx")
    with override("zh-hans"):
        assert (language_name("en"), language_name("tr")) == ("英语", "土耳其语")
        assert dict(language_choices("sw"))["sw"] == "斯瓦希里语"


@pytest.mark.parametrize(
    ("text", "tag"), [("Spanish", "es"), (" español ", "es"), ("西班牙语", "es"), ("ES", "es"), ("pt_br", "pt-BR")]
)
def test_a_language_is_known_by_tag_or_name(text: str, tag: str) -> None:
    assert language_named(text) == tag
