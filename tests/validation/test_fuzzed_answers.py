"""Ten thousand mangled answers about coverage, trials, pairs and points each: none crashes a run, and none is coerced.

The oracle reads for itself: an answer counts only if plain JSON finds exactly the keys of the form, each once, with
values of their types and with numbers of the list. Chance is seeded, so an answer that fails can be had again.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from scoring.pipelines.asking import read_answer
from scoring.pipelines.kind import Answer, AnyKind, StepName
from scoring.pipelines.steps import ReadyStep
from tests.llm.test_fuzz import TIMES, mangled, no_constant, plainly
from validation.coverage import kind as coverage
from validation.coverage.config import coverage_config
from validation.making import kind as making
from validation.making.config import making_config
from validation.splitting import kind as splitting
from validation.splitting.config import splitting_config
from validation.trials import kind as trials
from validation.trials.config import trial_config

pytestmark = pytest.mark.slow

MODEL = {"endpoint": "http://127.0.0.1:1/v1", "model": "m"}
CRITERIA = [["Gives 5 mg.", 5, "accuracy"], ["Gives 10 mg.", -8, ""], ["Names a doctor.", 3, ""]]
SET = {"name": "A", "id": "a", "digest": "0"}
REFERENCE = "Take 5 mg once a day, and see a doctor if it lasts."
PAIR = {"id": "p", "key": "p", "kind": "dose", "axis": "", "reference": REFERENCE, "candidate": "Take 50 mg.",
        "change": "", "why": "", "grade": "dangerous"}  # fmt: skip
EXTENTS = ("full", "partly", "none")
DECISIONS = ("A", "B", "same")
KINDS = {"dose", "unit", "timing", "number", "drug", "contraindication", "urgency", "red_flag", "negation", "modality",
         "exception", "population"}  # fmt: skip
ODD = (0, 4, -1, 1.0, 2.5, True, False, "1", None, [], [1], {}, 10**30, "full", "Full", "A ", "", "true")


def plain_object(text: str, keys: set[str]) -> dict[str, Any] | None:
    """The object of an answer with these keys, alone or alone inside one fence."""
    text = text.strip(" \t\r\n")
    fenced = re.fullmatch(r"```(?:json|JSON)?[ \t]*\r?\n(.*)```", text, re.DOTALL)
    value = plainly(fenced[1] if fenced else text, parse_constant=no_constant)
    return value if isinstance(value, dict) and value.keys() == keys else None


def is_text(value: Any) -> bool:
    """Whether a column can hold it."""
    return type(value) is str and not re.search("[\x00\ud800-\udfff]", value)


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 10


def read_extent(text: str) -> dict[str, Any] | None:
    value = plain_object(text, {"extent", "by", "why"})
    if value is None or not is_text(value["why"]) or type(value["extent"]) is not str or type(value["by"]) is not list:
        return None
    numbers = value["by"]
    if value["extent"] not in EXTENTS or any(type(own) is not int or not 1 <= own <= 3 for own in numbers):
        return None
    if value["extent"] == "full" and not numbers:
        return None
    return {**value, "by": sorted(set(numbers))}


def read_items(text: str) -> dict[str, Any] | None:
    value = plain_object(text, {"items", "decision"})
    if value is None or type(value["items"]) is not list or value["decision"] not in DECISIONS:
        return None
    met = {}
    for item in value["items"]:
        if not isinstance(item, dict) or item.keys() != {"criterion", "met_a", "met_b"}:
            return None
        number, of_a, of_b = item["criterion"], item["met_a"], item["met_b"]
        if type(number) is not int or type(of_a) is not bool or type(of_b) is not bool:
            return None
        met[number] = (of_a, of_b)
    if met.keys() != {1, 2, 3} or len(value["items"]) != 3:
        return None
    # The candidate stands first: its text is A.
    points = {1: 5, 2: -8, 3: 3}
    return {
        "total_candidate": sum(points[number] for number in met if met[number][0]),
        "total_reference": sum(points[number] for number in met if met[number][1]),
        "stated": {"A": "candidate", "B": "reference", "same": "same"}[value["decision"]],
        "decision": value["decision"],
        "met_candidate": [met[number][0] for number in (1, 2, 3)],
        "met_reference": [met[number][1] for number in (1, 2, 3)],
    }


def read_scores(text: str) -> dict[str, Any] | None:
    value = plain_object(text, {"score_a", "score_b", "decision"})
    if value is None or not (is_number(value["score_a"]) and is_number(value["score_b"])):
        return None
    if value["decision"] not in DECISIONS:
        return None
    stated = {"A": "candidate", "B": "reference", "same": "same"}[value["decision"]]
    scores = {"total_candidate": float(value["score_a"]), "total_reference": float(value["score_b"])}
    return {**scores, "stated": stated, "decision": value["decision"]}


def read_edit(text: str) -> dict[str, Any] | None:
    value = plain_object(text, {"kind", "find", "replace", "why"})
    if value is None or not all(map(is_text, value.values())) or value["kind"] not in KINDS:
        return None
    find, replace = value["find"], value["replace"]
    if not find.strip() or len(find) > 200 or find == replace or REFERENCE.count(find) != 1:
        return None
    return {"candidate": REFERENCE.replace(find, replace)}


def read_points(text: str) -> dict[str, Any] | None:
    value = plain_object(text, {"points"})
    if value is None or type(value["points"]) is not list:
        return None
    points = []
    for point in value["points"]:
        if not isinstance(point, dict) or point.keys() != {"text", "criterion"} or not is_text(point["text"]):
            return None
        if type(point["criterion"]) is not int or not point["text"].strip():
            return None
        points.append([point["criterion"], point["text"].strip()])
    if {number for number, _text in points} != {1, 2, 3}:
        return None
    return {"points": sorted(points, key=lambda point: point[0])}


def extents(draw: random.Random) -> Any:
    by = draw.choice(([1], [2, 3], [3, 3], [], [draw.choice(ODD)]))
    return {"extent": draw.choice((*EXTENTS, *EXTENTS, draw.choice(ODD))), "by": by, "why": "It names “5 mg”."}


def compared(draw: random.Random) -> Any:
    items = [{"criterion": n, "met_a": draw.random() < 0.5, "met_b": draw.random() < 0.5} for n in (1, 2, 3)]
    draw.shuffle(items)
    if draw.random() < 0.1:
        items[0][draw.choice(("criterion", "met_a", "met_b"))] = draw.choice(ODD)
    return {"items": items, "decision": draw.choice((*DECISIONS, *DECISIONS, draw.choice(ODD)))}


def scored(draw: random.Random) -> Any:
    score = draw.choice((0, 10, 7, 2.5, 11, draw.choice(ODD)))
    return {"score_a": score, "score_b": draw.choice((3, 9.5, 10)), "decision": draw.choice(DECISIONS)}


def edited(draw: random.Random) -> Any:
    find, replace = draw.choice((("5 mg", "50 mg"), ("once", "twice"), ("a", "b"), ("lasts.", ""), ("x", "y")))
    kind = draw.choice(("dose", "dose", "timing", draw.choice(ODD)))
    return {"kind": kind, "find": find, "replace": replace, "why": "Ten times as much."}


def pointed(draw: random.Random) -> Any:
    points = [{"text": f"Point {n}.", "criterion": 1 + n % 3} for n in range(draw.choice((2, 3, 4, 5)))]
    draw.shuffle(points)
    if draw.random() < 0.3:
        points[0][draw.choice(("text", "criterion"))] = draw.choice(ODD)
    return {"points": points}


COVERAGE = coverage_config(
    {**MODEL, "gold": SET, "sets": [SET], "cases": [{"key": "c", "gold": CRITERIA, "sets": [CRITERIA]}]}, may_call=False
)
CASE = {"key": "c", "tags": [], "pairs": [PAIR], "sets": [CRITERIA]}
TRIALS = trial_config({**MODEL, "sets": [SET], "trials": 1, "no_rubric": True, "cases": [CASE]}, may_call=False)
MAKING = making_config(
    {**MODEL, "kinds": ["dose"], "each": 1, "cases": [{"key": "c", "reference": REFERENCE}]}, may_call=False
)
SPLITTING = splitting_config({**MODEL, "gold": SET, "cases": [{"key": "c", "criteria": CRITERIA}]}, may_call=False)
Case = tuple[AnyKind, Any, StepName, Any, Callable[[random.Random], Any], Callable[[str], dict[str, Any] | None]]
CASES: dict[str, Case] = {
    "coverage": (coverage.KIND, COVERAGE, StepName("coverage", "0.1"), {"criteria": CRITERIA}, extents, read_extent),
    "side_by_side": (
        trials.KIND, TRIALS, StepName("side_by_side", "0.0.c.0"),
        {"criteria": CRITERIA, "is_reference_first": False}, compared, read_items,
    ),
    "no_rubric": (
        trials.KIND, TRIALS, StepName("no_rubric", "n.0.c.0"), {"criteria": [], "is_reference_first": False}, scored,
        read_scores,
    ),
    "near_miss": (making.KIND, MAKING, StepName("near_miss", "0"), {"reference": REFERENCE}, edited, read_edit),
    "split_points": (
        splitting.KIND, SPLITTING, StepName("split_points"), {"criteria": CRITERIA}, pointed, read_points,
    ),
}  # fmt: skip


@pytest.mark.parametrize("stage", CASES)
def test_ten_thousand_answers(stage: str) -> None:
    kind, settings, name, value, drawn, oracle = CASES[stage]
    draw = random.Random(11)
    step = ReadyStep(1, 1, name, value=value)
    n_good = 0
    for number in range(TIMES):
        text = mangled(json.dumps(drawn(draw), ensure_ascii=draw.random() < 0.5), draw)
        fault = draw.choice(("", "", "", "", "", "", "", "refusal", "truncated", "empty"))
        result = read_answer(kind, settings, step, Answer(text, fault=fault, message=fault), is_last=True)
        expected = None if fault else oracle(text)
        if expected is not None:
            n_good += 1
            assert result.state == "done" and result.output is not None, (number, text[:500])
            read = {key: result.output[key] for key in expected}
            assert read == expected, (number, text[:500])
            # 1 and true are equal in Python, and not in an answer.
            assert json.dumps(read) == json.dumps(expected), (number, text[:500])
        elif stage == "coverage":
            assert result.state == "done" and result.output is not None, (number, text[:500])
            assert (result.output["extent"], result.output["by"]) == ("invalid", []), (number, text[:500])
        elif stage == "split_points":
            assert result.state == "done" and result.output is not None, (number, text[:500])
            assert result.output["fault"], (number, text[:500])
            assert result.output["points"] == [[n, own[0]] for n, own in enumerate(CRITERIA, 1)]
        else:
            assert (result.state, result.output) == ("failed", None), (number, text[:500])
            assert result.error_kind and len(result.error) <= 1000
    assert TIMES // 20 < n_good < TIMES // 2  # both kinds were tried
