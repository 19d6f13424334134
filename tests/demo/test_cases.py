"""The made-up cases have the size, spread and shape that the demo promises."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from demo.benchmark import DESCRIPTION, MAPS, TITLE, guidelines, rule_sheet
from demo.cases import DemoCase, read_cases
from demo.responses import case_row

CASES = read_cases()
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def test_there_are_twelve_cases_of_thirty_criteria() -> None:
    assert [len(case.criteria) for case in CASES] == [30] * 12


def test_cases_spread_over_difficulties_registers_languages_and_specialties() -> None:
    assert Counter(case.difficulty for case in CASES) == {"low": 4, "medium": 4, "high": 4}
    registers = Counter(MAPS["register"][case.fields["user_role"]] for case in CASES)
    assert registers == {"lay": 6, "professional": 6}
    assert Counter(case.language for case in CASES) == {"en": 9, "zh-Hans": 3}
    assert len({case.fields["subject"] for case in CASES}) >= 8


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_every_label_is_on_a_map(case: DemoCase) -> None:
    assert set(case.fields["subject_labels"]) <= MAPS["specialty"].keys()
    assert set(case.fields["task_labels"]) <= MAPS["task"].keys()
    assert case.fields["task_labels"][0] == case.fields["task"]
    assert case.fields["subject_labels"][0] == case.fields["subject"]


def test_criteria_and_sentences_all_differ() -> None:
    criteria = [item.text for case in CASES for item in case.criteria]
    assert len(set(criteria)) == 360
    sentences = [s for case in CASES for item in case.criteria for s in (item.met_by, item.near_miss) if s]
    sentences += [s for case in CASES for s in (*case.openings, *case.closings, *case.asides)]
    inside = [(a, b) for i, a in enumerate(sentences) for j, b in enumerate(sentences) if i != j and a in b]
    # A sentence within another would make a criterion look met where it is not.
    assert inside == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_each_case_has_near_misses_and_a_language_of_its_own(case: DemoCase) -> None:
    assert sum(bool(item.near_miss) for item in case.criteria) >= 10
    for item in case.criteria:
        assert bool(CHINESE.search(item.text + item.met_by)) == (case.language == "zh-Hans")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_a_row_is_a_clinconsensus_case_marked_as_made_up(case: DemoCase) -> None:
    row = json.loads(json.dumps(case_row(case), ensure_ascii=False))
    for name in ("case_id", "difficulty", "task", "subject", "user_role", "clinical_context", "user_request"):
        assert isinstance(row[name], str)
        assert row[name]
    assert row["made_up"]
    assert [item["criterion"] for item in row["rubrics"]] == [item.text for item in case.criteria]
    assert all(len(item["tags"]) == 1 and item["tags"][0].startswith("axis:") for item in row["rubrics"])
    for item in case.criteria:
        assert item.met_by in row["reference_answer"]


def test_the_benchmark_says_that_it_is_made_up() -> None:
    assert "made up" in TITLE.lower()
    assert "made up" in DESCRIPTION.lower()
    assert "made up" in guidelines().lower()
    for word in ("such as", "All parts count", "Borderline", "Cannot assess", "Implied"):
        assert word in rule_sheet()
