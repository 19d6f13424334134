"""Each rule on examples that were counted by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from consilium.llm.prompts import TEMPLATES, JudgeItem, Messages, messages_for
from consilium.llm.rules.completion import completion
from consilium.llm.rules.names import MODEL
from consilium.llm.rules.near_miss import doubled
from consilium.llm.rules.stems import numbers, stems
from consilium.llm.staged import Fenced, NumberedItem, UnreadableRequest, numbered, staged_messages


def request(stage: str, model: str = MODEL, **texts: str) -> dict[str, Any]:
    parts = [Fenced(name, text) for name, text in texts.items()]
    return {"model": model, "messages": staged_messages(stage, "Do it.", parts, "abc123")}


def text_of(body: dict[str, Any]) -> str:
    return str(completion(body)["choices"][0]["message"]["content"])


def ask(stage: str, model: str = MODEL, **texts: str) -> Any:
    return json.loads(text_of(request(stage, model, **texts)))


def listed(*items: tuple[str, int] | str) -> str:
    return numbered(NumberedItem(item) if isinstance(item, str) else NumberedItem(*item) for item in items)


# Stems ---------------------------------------------------------------------------------------------------------------


def test_stems_are_words_and_numbers_cut_to_five_characters() -> None:
    text = "The response should recommend Acetaminophen 0.25 mg, e.g. for 100000 patients (5mg)."
    assert stems(text) == {"recom", "aceta", "0.25", "mg", "e", "g", "10000", "patie", "5"}


def test_chinese_stems_are_pairs_of_neighbours() -> None:
    assert stems("建议患者, 去 ER") == {"建议", "议患", "患者", "去", "er"}
    assert stems("") == stems("the of — !") == frozenset()


def test_numbers_are_whole() -> None:
    assert numbers("112 or 1.5 mg, 2. and ５") == {"112", "1.5", "2"}


# Coverage ------------------------------------------------------------------------------------------------------------

# Nine stems: seek emerg care sever chest pain lasts over 20; five: call 911 now sweat arm.
POINT = "Seek emergency care: severe chest pain lasts over 20"


@pytest.mark.parametrize("stage", ["coverage", "coverage_back"])
def test_coverage_takes_the_criterion_with_the_most_stems(stage: str) -> None:
    assert len(stems(POINT)) == 9
    full = ask(
        stage, POINT=POINT, CRITERIA=listed("Advise rest", "Emergency care for pain", "Severe pain in the chest")
    )
    # 0, 3 (emerg care pain) and 3 (sever pain chest) of 9: a third is enough, and of equals the first counts.
    assert (full["extent"], full["by"]) == ("full", [2])
    partly = ask(stage, POINT=POINT, CRITERIA=listed("Rest", "Chest pain"))  # 2 of 9 is more than a fifth
    assert (partly["extent"], partly["by"]) == ("partly", [2])
    none = ask(stage, POINT=POINT, CRITERIA=listed("Pain", "Rest"))  # 1 of 9 is less
    assert (none["extent"], none["by"]) == ("none", [])
    assert set(full) == {"extent", "by", "why"}


def test_coverage_at_its_edges() -> None:
    point = "Call 911 now: sweat, arm"
    assert len(stems(point)) == 5
    assert ask("coverage", POINT=point, CRITERIA=listed("arm"))["extent"] == "partly"  # 1 of 5
    assert ask("coverage", POINT=point, CRITERIA=listed("arm 911"))["extent"] == "full"  # 2 of 5
    assert ask("coverage", POINT=point, CRITERIA="")["extent"] == "none"
    assert ask("coverage", POINT="the", CRITERIA=listed("the"))["extent"] == "none"


# Side by side --------------------------------------------------------------------------------------------------------


def test_side_by_side_by_half_of_the_stems_and_all_numbers() -> None:
    criteria = listed(("Advise 20 mg omeprazole daily", 5), ("Mention alarm signs", 3), ("Claims it is cancer", -8))
    # A has all five stems of the first. B has 4 of its 5, but not its 20. Of the second, 2 of 3 stems are half or more.
    a = "Omeprazole 20 mg daily is what I advise."
    b = "Omeprazole 40 mg daily is what I advise. Alarm signs: weight loss."

    assert ask("side_by_side", A=a, B=b, CRITERIA=criteria) == {
        "items": [
            {"criterion": 1, "met_a": True, "met_b": False},
            {"criterion": 2, "met_a": False, "met_b": True},
            {"criterion": 3, "met_a": False, "met_b": False},
        ],
        "decision": "A",
    }


def test_points_decide_and_negative_points_count_against() -> None:
    claims = "It is cancer, and there are alarm signs."
    criteria = listed(("Claims it is cancer", -8), ("Alarm signs", 3))  # one of two stems, and two of two

    assert ask("side_by_side", A=claims, B="Alarm signs", CRITERIA=criteria)["decision"] == "B"  # -5 and 3
    assert ask("side_by_side", A="x", B="y", CRITERIA=criteria)["decision"] == "same"
    assert ask("side_by_side", A="x", B="alarm signs", CRITERIA=listed("Alarm signs"))["decision"] == "B"


def test_without_a_rubric_the_stems_of_the_case_count() -> None:
    case = "Headache since Monday morning"  # heada since monda morni
    answer = ask("no_rubric", CASE=case, A="A headache on Monday", B="Since when is the headache? Monday morning?")
    assert answer == {"score_a": 5, "score_b": 10, "decision": "B"}
    assert ask("no_rubric", CASE="", A="x", B="y") == {"score_a": 0, "score_b": 0, "decision": "same"}


# Splitting -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "points"),
    [
        ("Names the dose; names the interval.", ["Names the dose", "names the interval."]),
        ("Asks why. Asks when! Asks who? Ends.", ["Asks why.", "Asks when!", "Asks who?", "Ends."]),
        ("Gives 1.5 mg, e.g. at night", ["Gives 1.5 mg, e.g. at night"]),  # no end of a sentence
        ("建议就医；询问年龄。说明风险", ["建议就医", "询问年龄。", "说明风险"]),
        ("One act", ["One act"]),
        ("; ;", ["; ;"]),  # no piece has a word
        ("Two\nlines; here", ["Two\nlines", "here"]),
    ],
)
def test_a_criterion_is_split_at_semicolons_and_ends_of_sentences(criterion: str, points: list[str]) -> None:
    answer = ask("split_points", CASE="x", CRITERIA=listed(("First", 5), (criterion, -3)))
    assert answer["points"] == [
        {"text": "First", "criterion": 1}, *({"text": point, "criterion": 2} for point in points),
    ]  # fmt: skip


# Near miss -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "twice"),
    [("5", "10"), ("2.5", "5.0"), ("0.25", "0.50"), ("0.5", "1.0"), ("500", "1000"), ("05", "10"), ("0", "0")],
)
def test_a_number_is_doubled_with_its_decimals(number: str, twice: str) -> None:
    assert doubled(number) == twice


@pytest.mark.parametrize(
    ("reference", "find", "replace", "kind"),
    [
        ("Take 500 mg twice.", "500", "1000", "dose"),
        ("Wait 2.5 hours.", "2.5", "5.0", "number"),
        # The first 5 is also in 15 and in "5 days", which makes the shortest unique text "5 mg".
        ("Take 5 mg for 5 days, at most 15.", "5 mg", "10 mg", "dose"),
        ("5 5 5", "5 5 5", "10 5 5", "number"),
        ("每次5毫克。", "5", "10", "dose"),
        ("Between 0 and 3.", "3", "6", "number"),
    ],
)
def test_the_first_number_is_doubled(reference: str, find: str, replace: str, kind: str) -> None:
    answer = ask("near_miss", CASE="x", REFERENCE=reference)
    assert (answer["find"], answer["replace"], answer["kind"]) == (find, replace, kind)
    assert reference.count(find) == 1


@pytest.mark.parametrize("reference", ["Rest.", "", "0 pain", "7 7 " * 100])
def test_a_reference_without_a_number_that_can_be_found_once_gives_no_place(reference: str) -> None:
    assert ask("near_miss", REFERENCE=reference)["find"] == ""


# Plan and edit -------------------------------------------------------------------------------------------------------

CRITERIA = listed(("Advises rest", 2), ("Names 20 mg omeprazole", 7), ("Says to call 112", 4), ("Claims cancer", -5))


def test_a_plan_adds_what_is_not_met() -> None:
    answer = ask("plan", CASE="x", BASE="Rest is what everyone advises.", CRITERIA=CRITERIA)

    assert [status["met"] for status in answer["status"]] == ["yes", "no", "no", "no"]
    assert [status["criterion"] for status in answer["status"]] == [1, 2, 3, 4]
    assert answer["edits"] == [
        {
            "number": number,
            "priority": priority,
            "action": "add",
            "find": None,
            "instruction": instruction,
            "criteria": [criterion],
        }
        for number, priority, instruction, criterion in [
            (1, "high", "Names 20 mg omeprazole", 2),
            (2, "medium", "Says to call 112", 3),
        ]
    ]
    assert answer["must_not"] == ["Claims cancer"]


def test_a_plan_without_criteria_changes_nothing() -> None:
    assert ask("plan", CASE="x", BASE="y") == {"status": [], "edits": [], "must_not": []}


def test_an_edit_adds_the_sentences_of_the_plan() -> None:
    plan = listed("Call 112.", "Take a rest.")
    assert ask("edit", CASE="x", BASE="Base.", PLAN=plan) == {
        "edits_done": [1, 2],
        "edits_refused": [],
        "text": "Base.\n\nCall 112. Take a rest.",
    }
    assert ask("edit", CASE="x", BASE="Base.", PLAN="")["text"] == "Base."


# A judge's question --------------------------------------------------------------------------------------------------


def judged(response: str, template: str = "healthbench") -> Any:
    item = JudgeItem([{"role": "user", "content": "Hi"}], response, "Names 20 mg omeprazole")
    messages: Messages = messages_for(TEMPLATES[template], item, nonce="abc")
    return json.loads(text_of({"model": MODEL, "messages": messages}))


@pytest.mark.parametrize("template", ["healthbench", "clinconsensus"])
def test_a_judge_s_question_is_answered_by_the_same_rule(template: str) -> None:
    assert judged("Omeprazole, 20 mg.", template)["criteria_met"] is True
    assert judged("Omeprazole, 40 mg.", template)["criteria_met"] is False
    assert set(judged("x", template)) == {"explanation", "criteria_met"}


# Misbehaviour --------------------------------------------------------------------------------------------------------

TWO = {"A": "x", "B": "alarm signs", "CRITERIA": listed("Alarm signs")}


def test_models_that_always_give_the_same_decision() -> None:
    assert ask("side_by_side", "rules-always-a", **TWO) == {
        "items": [{"criterion": 1, "met_a": True, "met_b": False}],
        "decision": "A",
    }
    assert ask("side_by_side", "rules-always-same", **TWO) == {
        "items": [{"criterion": 1, "met_a": False, "met_b": False}],
        "decision": "same",
    }
    assert ask("no_rubric", "rules-always-a", CASE="c", A="", B="c") == {"score_a": 10, "score_b": 0, "decision": "A"}
    assert ask("coverage", "rules-always-a", POINT="x", CRITERIA=listed("x"))["extent"] == "full"


def test_a_model_that_adds_a_new_dose() -> None:
    text = ask("edit", "rules-new-dose", CASE="x", BASE="Rest.", PLAN="")["text"]
    assert text == "Rest. Take 750 mg of paracetamol twice a day."


def test_a_model_that_writes_around_its_object() -> None:
    text = text_of(request("side_by_side", "rules-prose", **TWO))
    before, _, after = text.partition(json.dumps(ask("side_by_side", **TWO)))
    assert before.strip() and after.strip()


def test_a_model_that_names_criteria_that_do_not_exist() -> None:
    assert ask("coverage", "rules-unknown", POINT="x", CRITERIA=listed("x"))["by"] == [1001]
    assert ask("side_by_side", "rules-unknown", **TWO)["items"][0]["criterion"] == 1001
    plan = ask("plan", "rules-unknown", CASE="x", BASE="y", CRITERIA=CRITERIA)
    assert plan["edits"][0]["criteria"] == [1001] and plan["edits"][0]["number"] == 1
    assert ask("edit", "rules-unknown", BASE="x", PLAN=listed("y"))["edits_done"] == [1001]


def test_the_same_request_has_the_same_answer() -> None:
    body = request("side_by_side", "rules-fuzz", **TWO)
    assert completion(body) == completion(json.loads(json.dumps(body)))
    answers = {text_of(request("coverage", "rules-fuzz", POINT=str(n), CRITERIA="")) for n in range(200)}
    assert len(answers) > 20


# The envelope --------------------------------------------------------------------------------------------------------


def test_usage_is_a_quarter_of_the_characters_and_max_tokens_cuts() -> None:
    body = request("coverage", POINT="x", CRITERIA="")
    answer = completion(body)
    characters = sum(len(message["content"]) for message in body["messages"])
    length = len(text_of(body))
    assert answer["usage"]["prompt_tokens"] == -(-characters // 4)
    assert answer["usage"]["completion_tokens"] == -(-length // 4)
    assert (answer["model"], answer["choices"][0]["finish_reason"]) == (MODEL, "stop")
    cut = completion({**body, "max_tokens": 5})
    assert len(cut["choices"][0]["message"]["content"]) == 20
    assert cut["choices"][0]["finish_reason"] == "length" and cut["usage"]["completion_tokens"] == 5


@pytest.mark.parametrize(
    "body",
    [
        {"model": MODEL},
        {"model": MODEL, "messages": "x"},
        {"model": MODEL, "messages": []},
        {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]},
        request("unheard_of", POINT="x"),
        request("coverage", POINT="x"),
        request("coverage", POINT="x", CRITERIA="no list"),
        {**request("coverage", POINT="x", CRITERIA=""), "n": 2},
        {**request("coverage", POINT="x", CRITERIA=""), "stream": True},
    ],
)
def test_what_no_rule_can_answer_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(UnreadableRequest):
        completion(body)
