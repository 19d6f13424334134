"""Quotations in a text: where they stand, and what does not count as one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.quoting import Match, Quote, _canonical, find_quote, nearest_words

TEXT = "Give 15 mg/kg of para-\ncetamol every 4–6 hours; do not\nexceed “four doses” in 24 hours. 成人每日不超过４克。"


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("15 mg/kg of paracetamol every 4-6 hours", Quote(Match.NORMALISED, 5, 46)),
        ("成人每日不超过4克", Quote(Match.NORMALISED, 88, 97)),
        ("10 mg/kg of paracetamol", Quote(Match.ABSENT)),
        ("15 mg/kg of para-cetamol every", Quote(Match.NORMALISED, 5, 36)),  # the hyphen kept
        ("15 mg/kg of para-\ncetamol every", Quote(Match.EXACT, 5, 36)),
        ("do not exceed 'four doses' in 24 hours", Quote(Match.NORMALISED, 48, 86)),
        ("成人 每日\n不超过４克", Quote(Match.NORMALISED, 88, 97)),
        ("15 mg/kg of … every 4-6 hours", Quote(Match.ABSENT)),
        ("15 mg/kg of paracetamol every 46 hours", Quote(Match.ABSENT)),  # a dash is not left out within a line
        ("do notexceed “four doses”", Quote(Match.ABSENT)),  # the end of a line parts words
        ("Give 15 mg/kg", Quote(Match.TOO_SHORT)),  # ten letters and figures
        ("成人每", Quote(Match.TOO_SHORT)),
        ("成人每日", Quote(Match.EXACT, 88, 92)),
        ("", Quote(Match.TOO_SHORT)),
    ],
)
def test_where_a_quotation_stands(quote: str, expected: Quote) -> None:
    assert find_quote(quote, TEXT) == expected


def test_a_soft_hyphen_has_a_place_in_the_text_and_none_in_the_words() -> None:
    text = TEXT.replace("exceed", "ex\u00adceed")
    assert find_quote("成人每日不超过4克", text) == Quote(Match.NORMALISED, 89, 98)
    assert find_quote("do not exceed “four doses”", text) == Quote(Match.NORMALISED, 48, 75)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("first-line treatment", "The first-\nline treatment"),  # a true hyphen that happens to end a line
        ("well tolerated by most adults", "well tol\u00aderated by most adults"),
        ("well tolerated by most adults", "well tol\u00ad\nerated by most adults"),
        ("tolerated by most adults", "tol-\r\n  erated by most adults"),
        ("efficacy of five tablets", "e\ufb03cacy of \ufb01ve tablets"),
        ("a caf\u00e9 in the morning", "a cafe\u0301 in the morning"),
        ("a cafe\u0301 in the morning", "a caf\u00e9 in the morning"),
        ("\ud55c\uad6d\uc5b4 \uc9c4\ub8cc \uc9c0\uce68\uc785\ub2c8\ub2e4 \uc758\uc0ac", unicodedata.normalize(
            "NFD", "\ud55c\uad6d\uc5b4 \uc9c4\ub8cc \uc9c0\uce68\uc785\ub2c8\ub2e4 \uc758\uc0ac")),
        ("more than 10⁵ CFU/mL", "more than  10⁵ CFU/mL"),
        ("30 kg/m2 and above", "30 kg/m² and above"),
        ("no more than two tablets", "no\u00a0more than  two\u2003tablets"),
        ("between −5 and 10 degrees", "between -5 and 10 degrees"),
        ("the tol-\nerated upper dose", "the tolerated upper dose"),  # copied from elsewhere, with its line ends
    ],
)  # fmt: skip
def test_typesetting_does_not_count(quote: str, text: str) -> None:
    assert find_quote(quote, text).match in (Match.EXACT, Match.NORMALISED)


def test_a_hyphen_between_other_characters_stays() -> None:
    """Only small letters on both sides make a hyphen at a line's end one of typesetting."""
    assert find_quote("vitamin B12 in COVID19 patients", "vitamin B12 in COVID-\n19 patients").match is Match.ABSENT
    assert find_quote("vitamin B12 in COVID- 19 patients", "vitamin B12 in COVID-\n19 patients").holds


def test_of_several_places_the_closest_counts() -> None:
    text = "take two tablets; then take two tablets"
    assert find_quote("take two tablets", text).start == 0
    assert find_quote("take two tablets", text, near=20).start == 23
    assert find_quote("take  two tablets", text, near=20).start == 23


def test_a_sign_of_the_form_itself_joins_nothing() -> None:
    assert find_quote("para\uffffcetamol every day", "paracetamol every day").match is Match.ABSENT
    assert find_quote("paracetamol every day", "para\uffffcetamol every day").match is Match.ABSENT


def test_the_nearest_words_are_whole_words() -> None:
    assert nearest_words("10 mg/kg of paracetamol", "Children: give 15 mg/kg of paracetamol every 4 hours.") == (
        "15 mg/kg of paracetamol"
    )
    assert nearest_words("anything", "") == ""


SIGNS = "abc -\n\u00ad\u0301\ufb01\u2013“”药克\u1100\u1161\u11a8"
texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(SIGNS), max_size=60)


@given(texts)
def test_the_canonical_form_is_that_of_the_whole_text(text: str) -> None:
    """Normalising stretch by stretch gives the same characters as normalising everything at once."""
    normal, starts, ends = _canonical(text)
    assert len(normal) == len(starts) == len(ends)
    kept = [sign for sign in unicodedata.normalize("NFKC", text) if sign.isalnum()]
    # A raised figure behind a figure stays as it is.
    assert [sign for sign in unicodedata.normalize("NFKC", normal) if sign.isalnum()] == kept
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))
    assert starts == sorted(starts)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("5 mg/kg of paracetamol", "Give 15 mg/kg of paracetamol."),
        ("more than 105 CFU/mL", "more than 10⁵ CFU/mL"),
        ("indicated in pregnancy", "contra-\nindicated in pregnancy"),
        ("indicated in pregnancy", "contra\u00adindicated in pregnancy"),
        ("it is strictly contra", "it is strictly contra-\nindicated"),
        ("5 mg/kg of paracetamol", "Give 1.5 mg/kg of paracetamol."),
        ("500 mg of paracetamol", "Give 1,500 mg of paracetamol."),
        ("a dose of paracetamol of 1", "Give a dose of paracetamol of 15 mg."),
        ("a dose of paracetamol of 1", "Give a dose of paracetamol of 1.5 g."),
        ("indicated in pregnancy", "It is contraindicated in pregnancy."),
        ("indicated  in pregnancy", "It is contraindicated in pregnancy."),
    ],
)
def test_words_and_numbers_are_not_parted(quote: str, text: str) -> None:
    assert find_quote(quote, text).match is Match.ABSENT


def test_a_whole_number_is_found_behind_one_that_is_only_a_part() -> None:
    text = "Not 15 mg/kg of paracetamol, but 5 mg/kg of paracetamol."
    assert find_quote("5 mg/kg of paracetamol", text) == Quote(Match.EXACT, 33, 55)
    assert find_quote("no more than two doses of 5", "Take no more than two doses of 5, 6 hours apart.").holds


@given(texts, st.data())
def test_every_stretch_of_whole_words_stands_in_its_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    text = f"{text[:start]} {text[start:end]} {text[end:]}"
    start, end = start + 1, end + 1
    quote = find_quote(text[start:end], text, near=start)
    assert quote.match is Match.TOO_SHORT or quote == Quote(Match.EXACT, start, end)


@given(texts)
def test_what_is_found_has_the_same_letters(text: str) -> None:
    quote = "take two tablets a day"
    place = find_quote(quote.upper().lower(), f"{text} take two\ntab-\nlets a day {text}")
    assert place.holds
    marked = f"{text} take two\ntab-\nlets a day {text}"[place.start : place.end]
    assert [sign for sign in marked if sign.isalpha()] == [sign for sign in quote if sign.isalpha()]
