"""What a label from elsewhere becomes on a scale, and what a candidate's answer says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrics.acuity.scales import FIVE, FOUR, STARTERS, THREE, Level, Scale
from rubrics.acuity.scheme_files import WrongFile, scale_named, scheme_named
from rubrics.acuity.schemes import SCHEMES, How, NoScheme, scheme_of
from rubrics.parsing.acuity_levels import State, answer_of


def becomes(scheme: str, scale: Scale, label: str) -> tuple[str, str] | None:
    mapped = scheme_of(scheme, scale).mapped(label)
    if mapped is None:
        return None
    return str(mapped.how), "" if mapped.low is None else scale.named(mapped.low, mapped.high or 0)


def test_three_labels_are_direct_on_three_levels_and_too_coarse_for_four() -> None:
    for label, three, four in (
        ("em", ("direct", "emergency"), ("direct", "emergency")),
        ("Non-Emergency", ("direct", "non-emergency"), ("panel", "")),
        (" SC ", ("direct", "self-care"), ("direct", "self-care")),
    ):
        assert becomes("em-ne-sc", THREE, label) == three
        assert becomes("em-ne-sc", FOUR, label) == four
    assert becomes("em-ne-sc", FOUR, "nonurgent") is None
    with pytest.raises(NoScheme, match="no rules for the scale 'five'"):
        scheme_of("em-ne-sc", FIVE)


def test_portal_messages_and_the_halves_between_them() -> None:
    levels = {
        "1": "emergency", "1.5": "urgent-care|emergency", "2": "urgent-care", "2.5": "urgent-care", "3": "urgent-care",
        "3.5": "primary-care|urgent-care", "4": "primary-care", "4.5": "self-care|primary-care", "5": "self-care",
        "5.5": "self-care", "6": "self-care",
    }  # fmt: skip
    for label, level in levels.items():
        how = "boundary" if "|" in level else "direct"
        assert becomes("portal-1-6", FOUR, label) == (how, level), label
    assert becomes("portal-1-6", FOUR, "7") is None


def test_letters_and_two_of_them() -> None:
    assert becomes("letters", FOUR, "a") == ("direct", "self-care")
    for label in ("B/C", "C/B", "b|c"):
        assert becomes("letters", FOUR, label) == ("boundary", "primary-care|urgent-care")
    assert becomes("letters", FOUR, "A/C") is None
    assert becomes("letters", THREE, "D") is None


def test_scales_of_those_who_came_say_nothing_of_where_they_should_go() -> None:
    assert {becomes("emergency-department", FOUR, f"{n}") for n in range(1, 6)} == {("panel", "")}
    assert becomes("emergency-department", FIVE, "1") == ("direct", "1")
    assert FIVE.place("5") == 0  # the least urgent
    assert becomes("healthbench-emergencies", FOUR, "emergent") == ("direct", "emergency")
    assert becomes("healthbench-emergencies", FOUR, "conditionally-emergent") == ("panel", "")


def test_names_of_levels() -> None:
    for name in ("SELF_CARE", "Self-care", "self care", " self-care "):
        assert FOUR.place(name) == 0
    assert FOUR.place("A") is None  # a letter is a label of the scheme *letters*
    assert becomes("direct", FOUR, "Emergency") == ("direct", "emergency")
    assert becomes("direct", FOUR, "emergency|urgent-care") == ("boundary", "urgent-care|emergency")


@pytest.mark.parametrize("scale", STARTERS.values(), ids=str)
def test_starters_have_both_languages_and_their_schemes_are_sound(scale: Scale) -> None:
    for level in scale.levels:
        assert level.label_zh and level.definition_en.endswith(".") and level.definition_zh.endswith("。")
    for name in SCHEMES:
        try:
            scheme = scheme_of(name, scale)
        except NoScheme:
            continue
        for mapped in scheme.rules.values():
            if mapped.how in (How.PANEL, How.EXCLUDE):
                assert mapped.low is mapped.high is None
            else:
                assert mapped.low is not None and mapped.high is not None
                assert 0 <= mapped.low <= mapped.high < len(scale)
                assert mapped.high - mapped.low == (mapped.how is How.BOUNDARY)


def test_scales_that_are_none() -> None:
    level = Level("only", "Only", "唯一", "One.", "一。")
    with pytest.raises(ValueError, match="2 to 6 levels"):
        Scale("one", (level,))
    with pytest.raises(ValueError, match="same name"):
        Scale("twins", (level, level))
    for value in ("refused", "NA", "a|b"):
        with pytest.raises(ValueError, match="cannot name a level"):
            Scale("reserved", (level, Level(value, "Another", "另一", "", "")))
    with pytest.raises(ValueError, match="same name"):
        Scale("crossed", (level, Level("other", "Only", "另一", "", "")))


def test_answers() -> None:
    scheme = scheme_of("em-ne-sc", FOUR)
    for text, state, place in (
        ("em", State.LEVEL, 3),
        ("URGENT_CARE", State.LEVEL, 2),
        ("refused", State.REFUSED, -1),
        ("I cannot give medical advice.", State.REFUSED, -1),
        ("抱歉，我无法判断", State.REFUSED, -1),
        ("no-level", State.NO_LEVEL, -1),
        ("no_level", State.NO_LEVEL, -1),
        ("self-care|primary-care", State.SEVERAL, -1),
        ("em|sc", State.SEVERAL, -1),
        ("em|perhaps", State.INVALID, -1),
        ("ne", State.SEVERAL, -1),  # primary or urgent care
        ("perhaps tomorrow", State.INVALID, -1),
        ("I’m sorry, I can’t help with that.", State.REFUSED, -1),
        ("I cannot rule out an emergency: go to the emergency department.", State.INVALID, -1),
    ):
        answer = answer_of(text, FOUR, scheme)
        assert answer is not None
        assert (answer.state, answer.place) == (state, place), text
    for nothing in ("", "  ", "NA", "nan", None):
        assert answer_of(nothing, FOUR, scheme) is None


@given(st.text(max_size=30))
def test_nothing_is_read_as_a_level_by_default(text: str) -> None:
    answer = answer_of(text, FOUR, scheme_of("direct", FOUR))
    if answer is not None and answer.state is State.LEVEL:
        assert FOUR.place(text) == answer.place
    elif answer is not None:
        assert answer.place == -1


def test_files_of_ones_own(tmp_path: Path) -> None:
    scale_file, scheme_file = tmp_path / "scale.json", tmp_path / "scheme.json"
    levels = [{"value": "home", "label_en": "Home"}, {"value": "clinic", "label_en": "Clinic"}]
    scale_file.write_text(json.dumps({"name": "two", "levels": levels}), "utf-8")
    scale = scale_named(str(scale_file))
    assert (scale.name, scale.values) == ("two", ("home", "clinic"))
    rules = [
        {"source_label": "H", "how": "direct", "level": "home"},
        {"source_label": "HC", "how": "boundary", "low": "home", "high": "clinic"},
        {"source_label": "?", "how": "panel"},
        {"source_label": "X", "how": "exclude"},
    ]
    scheme_file.write_text(json.dumps({"name": "mine", "rules": rules}), "utf-8")
    scheme = scheme_named(str(scheme_file), scale)
    mapped = [scheme.mapped(label) for label in ("h", "hc", "?", "x")]
    assert [str(own.how) for own in mapped if own] == ["direct", "boundary", "panel", "exclude"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "must be an object"),
        ('{"name": "n"}', "rules: must be a list"),
        ('{"name": "n", "rules": [{"how": "direct"}]}', r"rules\[0\].source_label: must be a text"),
        ('{"name": "n", "rules": [{"source_label": "a", "how": "guess"}]}', r"rules\[0\].how: 'guess' is none of"),
        (
            '{"name": "n", "rules": [{"source_label": "a", "how": "direct", "level": "soon"}]}',
            r"rules\[0\].level: 'soon' is no level of the scale",
        ),
        (
            '{"name": "n", "rules": [{"source_label": "a", "how": "boundary", "low": "self-care", '
            '"high": "emergency"}]}',
            r"rules\[0\].high: must be the level next above low",
        ),
        (
            '{"name": "n", "rules": [{"source_label": "a", "how": "panel"}, {"source_label": " A", "how": "panel"}]}',
            r"rules\[1\].source_label: there is a rule for it before",
        ),
    ],
)
def test_scheme_files_that_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "scheme.json"
    path.write_text(content, "utf-8")
    with pytest.raises(WrongFile, match=message):
        scheme_named(str(path), FOUR)


def test_a_name_that_is_no_file() -> None:
    with pytest.raises(WrongFile, match="there is no scheme 'guess'"):
        scheme_named("guess", FOUR)
    with pytest.raises(WrongFile, match="there is no scale 'seven'"):
        scale_named("seven")
