"""Simulated physicians disagree about as much as real ones do."""

from __future__ import annotations

import random
from itertools import combinations, product
from statistics import mean

import pytest
from sklearn.metrics import f1_score

from demo import GROUPS, PASSWORD, PEOPLE, SEED, SIGN_INS, DemoPerson
from demo.cases import read_cases
from demo.responses import compose_all
from demo.simulator import CANNOT_ASSESS, MET, Simulator

CASES = {case.key: case for case in read_cases()}
RESPONSES = [r for r in compose_all(tuple(CASES.values()), random.Random(SEED)) if r.candidate.kind == "model"]
SIMULATOR = Simulator(SEED)


def people(group: str, role: str) -> list[DemoPerson]:
    return [person for person in PEOPLE if person.group == group and person.role == role]


GRADINGS = {
    person: [SIMULATOR.grade(CASES[r.case], r, person) for r in RESPONSES]
    for group in GROUPS
    for person in people(group, "annotator")
}


def macro_f1(person: DemoPerson, other: DemoPerson) -> float:
    pairs = [
        (a.outcome, b.outcome)
        for first, second in zip(GRADINGS[person], GRADINGS[other], strict=True)
        for a, b in zip(first, second, strict=True)
        if CANNOT_ASSESS not in (a.outcome, b.outcome)
    ]
    return float(f1_score([a == MET for a, _ in pairs], [b == MET for _, b in pairs], average="macro"))


def test_each_group_has_four_annotators_two_checkers_and_an_adjudicator() -> None:
    for group in GROUPS:
        assert [len(people(group, role)) for role in ("annotator", "checker", "adjudicator")] == [4, 2, 1]
    assert len({person.email for person in PEOPLE}) == len(PEOPLE)
    assert all(person.email.endswith("@example.org") and "Demo" in person.name for person in PEOPLE)


def test_there_is_a_sign_in_for_every_role_of_both_groups() -> None:
    by_email = {person.email: person for person in PEOPLE}
    assert {(by_email[email].role, by_email[email].group) for _, email, _ in SIGN_INS} == {
        ("admin", ""),
        ("researcher", ""),
        ("author", ""),
        ("auditor", ""),
        *product(("annotator", "checker", "adjudicator"), GROUPS),
    }
    assert {password for *_, password in SIGN_INS} == {PASSWORD}


@pytest.mark.slow
def test_colleagues_agree_more_than_groups_do() -> None:
    within = [macro_f1(a, b) for group in GROUPS for a, b in combinations(people(group, "annotator"), 2)]
    between = [macro_f1(a, b) for a, b in product(*(people(group, "annotator") for group in GROUPS))]
    assert all(0.80 <= value <= 0.88 for value in within)
    assert all(0.70 <= value <= 0.80 for value in between)
    assert mean(within) - mean(between) > 0.04


def test_rare_marks_are_rare_and_there() -> None:
    gradings = [grading for rows in GRADINGS.values() for row in rows for grading in row]

    def share(flags: list[bool]) -> float:
        return mean(flags)

    assert 0.003 <= share([g.outcome == CANNOT_ASSESS for g in gradings]) <= 0.015
    assert 0.02 <= share([g.borderline for g in gradings]) <= 0.06
    assert 0.03 <= share([bool(g.note) for g in gradings]) <= 0.10
    assert 0.25 <= share([bool(g.evidence) for g in gradings if g.outcome == MET]) <= 0.6
    assert all(g.note for g in gradings if g.outcome == CANNOT_ASSESS)
    assert not [g for g in gradings if g.evidence and g.outcome != MET]


def test_evidence_quotes_the_response() -> None:
    for rows in GRADINGS.values():
        for response, row in zip(RESPONSES, rows, strict=True):
            for grading in row:
                for span in grading.evidence:
                    assert response.text[span.start : span.end] == span.quote


def test_notes_are_in_the_language_of_the_case() -> None:
    for rows in GRADINGS.values():
        for response, row in zip(RESPONSES, rows, strict=True):
            chinese = CASES[response.case].language == "zh-Hans"
            assert all(grading.note.isascii() != chinese for grading in row if grading.note)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_checkers_amend_a_few_percent_with_reasons(group: str) -> None:
    amended = total = 0
    for person, checker in product(people(group, "annotator"), people(group, "checker")):
        for response, row in zip(RESPONSES, GRADINGS[person], strict=True):
            corrections = SIMULATOR.check(CASES[response.case], response, row, checker)
            assert all(c.reason and c.outcome != row[c.position].outcome for c in corrections)
            amended, total = amended + len(corrections), total + len(row)
    assert 0.02 <= amended / total <= 0.08


@pytest.mark.slow
def test_the_reason_of_an_amendment_fits_its_outcome() -> None:
    """A sentence that a physician reads as "met" is never the reason for "not met", nor the other way round."""
    met = {"The response does say this.", "The meaning is there, in other words."}
    met |= {"回答中确有这一内容。", "意思已经表达，只是措辞不同。"}
    given: dict[str, set[str]] = {"met": set(), "not_met": set()}
    for person, checker in product(people("Group A", "annotator"), people("Group A", "checker")):
        for response, row in zip(RESPONSES, GRADINGS[person], strict=True):
            for correction in SIMULATOR.check(CASES[response.case], response, row, checker):
                given[correction.outcome].add(correction.reason)
    assert given["met"] and given["met"] <= met
    assert given["not_met"] and not given["not_met"] & met


def test_a_decision_does_not_depend_on_what_was_drawn_before() -> None:
    response, person = RESPONSES[17], people("Group B", "annotator")[2]
    assert Simulator(SEED).grade(CASES[response.case], response, person) == GRADINGS[person][17]
    assert Simulator(SEED + 1).grade(CASES[response.case], response, person) != GRADINGS[person][17]
