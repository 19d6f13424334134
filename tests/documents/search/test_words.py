"""From text to terms: units, pairs of characters, stems."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.search.index import Terms
from documents.search.words import normalize, pairs, query_pairs, stems

pytestmark = pytest.mark.slow

HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=30)
NUMBERS = st.one_of(st.integers(0, 9999).map(str), st.decimals("0.01", "99", places=2).map(str))
# Spellings of one unit; each list was written by hand.
UNITS = st.sampled_from(
    [["mg", "MG", "Mg", "毫克"], ["µg", "μg", "ug", "mcg", "微克"], ["ml", "mL", "ML", "毫升"], ["kg", "公斤", "千克"],
     ["mmol", "毫摩尔"], ["IU", "iu", "国际单位"], ["%", "％"], ["°C", "℃", "摄氏度"], ["mmHg", "毫米汞柱"]]
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("15mg/kg", ["15mg_kg"]),
        ("15 mg / kg", ["15mg_kg"]),
        ("15-mg/kg", ["15mg_kg"]),
        ("15 mg per kilogram", ["15mg", "per", "kilogram"]),  # only the symbols of units are joined
        ("10–15 mg/kg", ["10", "15mg_kg"]),
        ("15 mg/kg/day", ["15mg_kg_day", "15mg_kg"]),
        ("15毫克/公斤/天", ["15mg_kg_day", "15mg_kg"]),
        ("1,000 mg", ["1000mg"]),
        ("0.9% saline", ["0.9%", "salin"]),
        ("2 patients", ["2", "patient"]),
        ("2 units", ["2u"]),
        ("5 grams", ["5", "gram"]),
        ("vitamin B12 g", ["vitamin", "b12", "g"]),
        ("HbA1c 48 mmol/mol", ["hba1c", "48mmol_mol"]),
        ("3.25", ["3.25"]),
        ("COVID-19", ["covid", "19"]),
        ("1,5 mg", ["1", "5", "mg"]),  # what a comma means here is not guessed
    ],
)
def test_words_and_quantities(text: str, terms: list[str]) -> None:
    assert stems(normalize(text)) == terms


@given(NUMBERS, UNITS, st.sampled_from(["", " ", "\u00a0", "\u202f", "-"]), st.data())
def test_all_spellings_of_a_quantity_are_one_term(
    number: str, unit: list[str], space: str, data: st.DataObject
) -> None:
    """Whatever unit, space, case and language: a query finds the passage."""
    spelling, other = data.draw(st.sampled_from(unit)), data.draw(st.sampled_from(unit))
    passage, query = f"Give {number}{space}{spelling}, then wait.", f"{number} {other}"
    (term,) = Terms.of(query).words
    assert term in stems(normalize(passage))
    assert number.lstrip("0").split(".")[0] in term


@given(HAN)
def test_a_run_of_characters_has_a_pair_for_each_neighbour(run: str) -> None:
    normalized = normalize(run)  # compatibility characters change
    assert list(pairs(normalized))[:-1] == list(map("".join, pairwise(normalized)))
    assert list(pairs(normalized))[-1] == normalized[-1]


@given(HAN, HAN, HAN)
def test_each_pair_of_a_query_is_in_a_text_that_contains_it(before: str, query: str, after: str) -> None:
    text = set(pairs(before + query + after))
    if len(query) > 1:
        assert set(query_pairs(query)) <= text
    else:
        assert any(term.startswith(query) for term in text)


@given(st.text(max_size=300))
def test_a_text_finds_itself(text: str) -> None:
    """Any text at all, of any script: each word of it as a query is a word of it as a passage."""
    terms = Terms.of(text)
    normalized = normalize(text.encode("utf-8", "replace").decode())
    assert set(terms.words) == set(stems(normalized))
    assert {pair for pair in terms.pairs if len(pair) == 2} <= set(pairs(normalized))


@given(st.text(max_size=200))
def test_no_query_can_name_the_padding(text: str) -> None:
    assert "_" not in Terms.of(text + " _ __ ＿").words
