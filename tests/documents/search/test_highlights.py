"""The words of a query, marked in a passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.search.highlights import Marker
from documents.search.index import Terms
from documents.search.shown import parts_of

pytestmark = pytest.mark.slow


def marked(query: str, text: str) -> list[str]:
    return [text[start:end] for start, end in Marker(Terms.of(query)).spans(text)]


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("fevers", "Fever and FEVERISH, fever.", ["Fever", "fever"]),
        ("15mg/kg", "Give 15 mg/kg/day, not 5 mg/kg.", ["15 mg/kg/day"]),
        ("15 mg/kg", "口服15毫克/公斤。", ["15毫克/公斤"]),
        ("15 mg/kg", "５ and １５ mg／kg", ["１５ mg／kg"]),
        ("发热咳嗽", "高发热伴咳嗽者", ["发热", "咳嗽"]),
        ("痛", "头痛、痛风", ["痛", "痛"]),
        ("ibuprofen发热", "ibuprofen用于发热", ["ibuprofen", "发热"]),
        ("naive", "naïve", ["naïve"]),
        ("x", "", []),
        ("", "fever", []),
    ],
)
def test_words_are_marked_as_they_are_written(query: str, text: str, words: list[str]) -> None:
    assert marked(query, text) == words


@given(st.text(max_size=60), st.text(max_size=200))
def test_the_parts_of_a_text_are_the_text(query: str, text: str) -> None:
    spans = Marker(Terms.of(query + text[:20])).spans(text)
    assert "".join(part.text for part in parts_of(text, spans)) == text
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)
