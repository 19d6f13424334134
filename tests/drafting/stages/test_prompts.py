"""The texts of the stages: each request has its lists in fences, whatever a recipe or a passage says."""

from __future__ import annotations

import pytest

from consilium.llm.staged import read_fences, read_numbered, read_stage
from drafting.stages.names import ASKING
from drafting.stages.prompts import (
    LANGUAGES,
    PLACES,
    VALUES,
    PlaceFault,
    StageTexts,
    default_texts,
    place_faults,
    prompt_language,
    stage_messages,
)
from drafting.stages.requests import material_of
from tests.drafting.stages.rows import POOL, criterion, fact, need, passage

NONCE = "n" * 24
VALUE = {
    "conversation": [{"role": "user", "content": "What may he drink?"}],
    "passages": POOL,
    "statements": [{"kind": "red_flag", "text": "No urine.", "passage": 2, "quote": "no urine"}],
    "facts": [fact(4, "red_flag", "No urine."), fact(9, "number", "5 mL.")],
    "needs": [need(2, "missing", "How old?")],
    "axes": ["accuracy", "[odd] axis"],
    "criteria": [criterion("Names no urine.", 9, (4, 9), (2,)), criterion("Recommends cola.", -3)],
    "findings": ["No criterion has negative points."],
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("stage", ASKING)
def test_a_request_of_each_stage_can_be_read_back(stage: str, language: str) -> None:
    texts = default_texts(stage, language)
    assert not place_faults(stage, texts)
    values = dict.fromkeys(VALUES.get(stage, ()), 7)
    messages = stage_messages(stage, language, texts, material_of(stage, VALUE), NONCE, values=values)
    assert read_stage(messages) == stage
    fences = read_fences(messages)
    assert list(fences) == [place.upper() for place in PLACES[stage]]
    assert "{{" not in messages[0]["content"] + messages[1]["content"]
    for name, text in fences.items():
        if name != "CASE":
            assert read_numbered(text)


def test_the_lists_of_a_request() -> None:
    material = material_of("audit", VALUE)
    items = {name: [item.text for item in read_numbered(material[name])] for name in ("facts", "needs", "links")}
    assert items == {
        "facts": ["red_flag: No urine.", "number: 5 mL."],
        "needs": ["missing: How old?"],
        "links": ["facts 1, 2; needs 1", ""],  # by their places in the lists
    }
    assert [(item.points, item.axis) for item in read_numbered(material["criteria"])] == [
        (9, "accuracy"), (-3, "accuracy"),
    ]  # fmt: skip
    assert [item.text for item in read_numbered(material_of("support", VALUE)["facts"])] == ["No urine.", "5 mL."]
    assert [item.text for item in read_numbered(material_of("facts", VALUE)["statements"])] == [
        "[red flag] No urine. | passage 2 | no urine"
    ]


def test_only_the_text_of_a_passage_is_behind_its_second_line_break() -> None:
    odd = passage(1, "Line one.\nLine two.", title="A title\nwith a break", headings=["First", "Second"],
                  table_header="Drug | Dose")  # fmt: skip
    [item] = read_numbered(material_of("rank", {**VALUE, "passages": [odd]})["passages"])
    assert item.text.split("\n", 2) == [
        "A title with a break, College, 2025, p. 1", "First › Second › Drug | Dose", "Line one.\nLine two.",
    ]  # fmt: skip


def test_places_of_a_recipe_are_checked() -> None:
    texts = StageTexts("Order {{case}}. Keep {{keep}}.", "{{case}} {{case}} {{pasages}} {{ keep }}")
    assert place_faults("rank", texts) == [
        PlaceFault("system", "case", "unknown"),
        PlaceFault("user", "pasages", "unknown"),
        PlaceFault("user", "case", "twice"),
        PlaceFault("user", "passages", "missing"),
    ]


def test_a_text_that_leaves_a_list_out_gets_it_at_the_end() -> None:
    messages = stage_messages("rank", "en", StageTexts("Order.", "{{case}}"), material_of("rank", VALUE), NONCE)
    assert list(read_fences(messages)) == ["CASE", "PASSAGES"]
    assert '{"order":' in messages[0]["content"]


def test_words_of_a_case_are_no_places() -> None:
    value = {**VALUE, "conversation": [{"role": "user", "content": "What is {{passages}}? {{keep}}"}]}
    messages = stage_messages("rank", "en", default_texts("rank", "en"), material_of("rank", value), NONCE)
    assert read_fences(messages)["CASE"] == "[User]\nWhat is {{passages}}? {{keep}}"


def test_chinese_cases_get_chinese_texts() -> None:
    assert [prompt_language(code) for code in ("zh-Hans", "zh", "en", "de", "")] == ["zh", "zh", "en", "en", "en"]
