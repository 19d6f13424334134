"""Every ink can be read on every ground that it is used on (WCAG 2.2, 1.4.3 and 1.4.11)."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from django.conf import settings

CSS = (Path(settings.BASE_DIR) / "static" / "css" / "tokens.css").read_text()
THEMES = ("light", "dark")
TEXT = [
    (ink, ground)
    for ink in ("ink", "ink-2", "ink-3", "accent", "met", "not", "cannot", "alert")
    for ground in ("paper", "card", "sunk")
] + [
    ("accent", "accent-soft"),
    ("ink", "accent-soft"),
    ("ink-2", "accent-soft"),
    ("ink-3", "accent-soft"),
    ("met", "met-soft"),
    ("not", "not-soft"),
    ("cannot", "cannot-soft"),
    ("alert", "alert-soft"),
    ("accent-ink", "accent"),
    ("accent-ink", "accent-strong"),
    ("ink", "mark"),
    ("ink", "not-soft"),
    *(("ink", f"d{i}") for i in range(1, 8)),
    *(("ink", f"acuity-{i}") for i in range(6)),
]
# Borders of controls and marks of charts need 3 : 1.
MARKS = [
    (mark, ground) for mark in ("line-3", "focus", "c1", "c2", "c3", "c4", "c5", "c6") for ground in ("card", "paper")
]


def blocks() -> dict[str, dict[str, str]]:
    """Colour tokens by theme, read from the file that the pages load."""
    light = re.search(r":root \{(.*?)\}", CSS, re.S)
    dark = re.search(r':root\[data-theme="dark"\] \{(.*?)\}', CSS, re.S)
    assert light is not None
    assert dark is not None
    pattern = re.compile(r"--([\w-]+): (#[0-9a-f]{6});")
    return {"light": dict(pattern.findall(light[1])), "dark": dict(pattern.findall(dark[1]))}


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_measure_is_the_one_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # the known grey that just fails


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_contrast(theme: str) -> None:
    tokens = blocks()[theme]
    low = {pair: round(value, 2) for pair in TEXT if (value := contrast(tokens[pair[0]], tokens[pair[1]])) < 4.5}
    assert low == {}


@pytest.mark.parametrize("theme", THEMES)
def test_controls_and_chart_marks_have_contrast(theme: str) -> None:
    tokens = blocks()[theme]
    low = {pair: round(value, 2) for pair in MARKS if (value := contrast(tokens[pair[0]], tokens[pair[1]])) < 3}
    assert low == {}


@pytest.mark.parametrize("theme", THEMES)
def test_levels_of_acuity_are_one_ramp(theme: str) -> None:
    tokens = blocks()[theme]
    against_card = [contrast(tokens[f"acuity-{i}"], tokens["card"]) for i in range(6)]
    assert against_card == sorted(against_card)
    assert min(high / low for low, high in pairwise(against_card)) > 1.1


def test_errors_of_one_level_and_of_more_differ_in_lightness_in_the_dark() -> None:
    """Levels too low: both are browns, and bars of both touch each other."""
    dark = blocks()["dark"]
    assert contrast(dark["d1"], dark["d2"]) >= 1.9


def test_a_chosen_dark_theme_is_the_one_that_the_system_gives() -> None:
    of_system = re.search(r':root:not\(\[data-theme="light"\]\) \{(.*?)\}', CSS, re.S)
    chosen = re.search(r':root\[data-theme="dark"\] \{(.*?)\}', CSS, re.S)
    assert of_system is not None
    assert chosen is not None
    assert of_system[1].split() == chosen[1].split()


def test_both_themes_define_the_same_tokens() -> None:
    themes = blocks()
    assert themes["light"].keys() == themes["dark"].keys()
