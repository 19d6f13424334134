"""Numbers with units, times and medicines, in forms that compare equal."""

from __future__ import annotations

import pytest

from consilium.llm.quantities import drugs_in, figures_in, missing_numbers, numbers_in, times_in


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("Give 15 mg/kg every 4–6 hours", {"15 mg/kg", "4 hour", "6 hour"}),
        ("15 mg per kg, 4 to 6 h", {"15 mg/kg", "4 hour", "6 hour"}),
        ("15毫克/公斤，每4至6小时", {"15 mg/kg", "4 hour", "6 hour"}),
        ("1,000 mg or 1000.0mg", {"1000 mg"}),
        ("0.50 mL and 0,5 ml", {"0.5 ml"}),
        ("three times a day", {"3 time/day"}),
        ("3 times daily", {"3 time/day"}),
        ("twice daily", {"2 time/day"}),
        ("no more than four doses in 24h", {"4 dose", "24 hour"}),
        ("一天两次，每次半片", {"1 day", "2 time", "0.5 tablet"}),
        ("39 °C or 39℃", {"39 °c"}),
        ("a 65-year-old, aged 19 months", {"65 year", "19 month"}),
        ("成人每日不超过４克", {"4 g"}),
        ("vitamin B12, H1N1, CD4, SpO2", set()),
        ("one of the signs", set()),
        ("pH 7.35", set()),
    ],
)
def test_numbers_with_units(text: str, forms: set[str]) -> None:
    assert {form for form in figures_in(text) if " " in form} == forms


@pytest.mark.parametrize(
    ("text", "source", "missing"),
    [
        ("Give 15 mg/kg.", "Give 15 mg per kg.", []),
        ("Give 15 mg.", "Give 15 mg/kg.", ["15 mg"]),
        ("Give 15 mg/kg.", "Give 15 mg/kg/day.", ["15 mg/kg"]),
        ("Give 5 g.", "Give 5 mg.", ["5 g"]),
        ("1 g is given.", "1000 mg are given.", ["1 g"]),  # nothing is converted
        ("BMI above 35.", "BMI above 30.", ["35"]),
        ("A score of 3 counts.", "Score 3 points.", []),
        ("A score of 3 counts.", "Give 3 mg.", []),  # a number without a unit is there with any
        ("Give 3 mg.", "A score of 3.", ["3 mg"]),
        ("five doses in 24 hours", "four doses in 24 hours", ["five doses"]),
        ("10 minutes", "10⁵ per mL, 20 minutes", ["10 minutes"]),
        ("105 red cells", "10⁵ red cells", ["105"]),
        ("每4小时一次", "每6小时一次", ["4小时"]),
        ("No number.", "", []),
    ],
)
def test_numbers_that_a_source_does_not_have(text: str, source: str, missing: list[str]) -> None:
    assert missing_numbers(text, [source]) == missing


def test_numbers_in_figures_alone() -> None:
    assert numbers_in("5 mL three times daily, twice a day, BMI 35") == {"5 ml": "5 mL"}


def test_words_as_they_stand_there() -> None:
    assert figures_in("BMI 35, then 2 tablets") == {"35": "35", "2 tablet": "2 tablets"}


def test_times_and_medicines() -> None:
    assert set(times_in("Call immediately, and again the same day. 立即就医")) == {"immediately", "same day", "立即"}
    assert set(drugs_in("Ibuprofen, 5 mg of xylitolum; 对乙酰氨基酚")) == {"ibuprofen", "xylitolum", "对乙酰氨基酚"}
    assert not drugs_in("Someone gave 5 mL per kg of body weight as a medicine for a reason.")
