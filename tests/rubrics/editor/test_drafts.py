"""Drafts of rubrics: one at a time, never overwritten, and read strictly."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from consilium.core.versioning import StaleSave
from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import DraftItem, digest_for_review, digest_of, items_of, read_items, unready
from rubrics.editor.editing import saved_json
from rubrics.editor.rules import AuthoringRules, broken_rules
from rubrics.models import Case, RubricDraft
from rubrics.services.drafts import open_draft, save_draft
from tests import factories


@pytest.mark.parametrize(
    ("element", "field"),
    [
        ({"id": "a", "points": True}, "points"),
        ({"id": "a", "points": 11}, "points"),
        ({"id": "a", "points": 2.0}, "points"),
        ({"id": "a", "text": 3}, "text"),
        ({"id": "a", "text": "\x00"}, "text"),
        ({"id": "a", "text": "\ud800"}, "text"),
        ({"id": "a", "tags": "axis:accuracy"}, "tags"),
        ({"id": "a", "criterion": "1"}, "criterion"),
        ({"id": "a", "status": "published"}, "status"),
        ({"id": "a", "suggestion": 5}, "suggestion"),
        ({"id": "a", "suggestion": "x" * 17}, "suggestion"),
        ({"id": "a", "citations": {}}, "citations"),
        ({"id": "a", "citations": ["Passage1"]}, "citations"),
        ({"id": "a", "citations": [{"passage": ""}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "../x"}]}, "citations"),
        ({"id": "a", "citations": [{"passage": 1}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "page": 2}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "start": 0, "end": 9}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "quote": "dose", "start": 4}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "quote": "dose", "start": 4, "end": 1}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "quote": "dose", "start": True, "end": 4}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "quote": "dose", "start": -1, "end": 4}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "quote": " "}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "quote": "\x00"}]}, "citations"),
        ({"id": "a", "citations": [{"passage": "P", "quote": "x" * 2_001}]}, "citations"),
        ({"id": "a", "citations": [{"passage": f"P{n}"} for n in range(21)]}, "citations"),
        ({"text": "no id"}, "id"),
        ("text", ""),
    ],
)
def test_what_is_no_criterion_is_refused_by_its_place_and_field(element: object, field: str) -> None:
    reading = read_items([{"id": "first", "text": "One", "points": 1}, element])
    assert [(fault.line, fault.field) for fault in reading.faults] == [(2, field)]


def test_a_draft_may_be_half_done_and_is_then_not_ready() -> None:
    items = read_items([{"id": "a"}]).items
    assert [fault.field for fault in unready(items)] == ["points", "text", "points"]


def test_a_gap_that_the_bank_left_is_not_ready() -> None:
    gap = DraftItem("a", "Warns that [drug] is contraindicated", 9, bank="consensus/x")
    own = DraftItem("b", "Asks for the eGFR [mL/min]", 5)
    assert [(fault.line, fault.field) for fault in unready([gap, own])] == [(1, "text")]


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("Names [drug] as the cause.", "[drug]"),
        ("Names [drug 1] and [drug 2]", "[drug 1]"),
        ("Gives a potassium [K+] of [value] or less", "[value]"),
        ("Names {name of the test}", "{name of the test}"),
        ("Gives a dose of ____ mg", "____"),
        ("States the [DOSE, in mg/day]", "[DOSE, in mg/day]"),
        ("说明【药物】的剂量", "【药物】"),
        ("Names [XXX]", "[XXX]"),
        ("Names [X] and [INR]", "[X]"),
        ("States [TBD]", "[TBD]"),
        ("States the [lab] value of [lab value in mg/dL]", "[lab value in mg/dL]"),
        ("Advises [insert the advice here]", "[insert the advice here]"),
        ("Advises [Fill in: advice]", "[Fill in: advice]"),
        ("Names [life-threatening diagnosis]", "[life-threatening diagnosis]"),  # of the consensus bank
        ("Asks for the [symptoms]", "[symptoms]"),
        ("States the [patient's age]", "[patient's age]"),
        ("建议[请填写剂量]", "[请填写剂量]"),
        ("说明[药物名称]的剂量", "[药物名称]"),
        ("说明[指南及年份]", "[指南及年份]"),
    ],
)
def test_a_gap_in_an_authors_own_text_is_not_ready(text: str, gap: str) -> None:
    faults = unready([DraftItem("a", "Asks the age", 5), DraftItem("b", text, 5)])
    message = f"“{gap}” is a placeholder: fill it in, or write it without brackets."
    assert [(fault.line, fault.field, fault.message) for fault in faults] == [(2, "text", message)]


@pytest.mark.parametrize(
    "text",
    [
        *("Asks for the eGFR [mL/min]", "Asks for the eGFR [mL/min/1.73 m2]", "Asks for the lactate [mmol/L]"),
        *("Names a low [K+] and a low [Na]", "Notes that [HCO3-] is low", "Recommends [18F]FDG PET"),
        *("Names the target [INR]", "Cites the trial [1, 2]", "Gives the range [0.5–2]", "States the age [years]"),
        *("Asks for vitamin D [nmol/L]", "Asks for the hormone [pmol/L]", "Asks for bilirubin [µmol/L] [umol/L]"),
        *("Asks for potassium [mEq/L] and TSH [mIU/L]", "Gives the pressure [kPa]", "Gives the dose [mcg]"),
        *("States the pulse [bpm]", "States the pulse [beats/min]", "Names 10 [units]", "Names the disease [COPD]"),
        *("Names the germ [MRSA]", "Names the drug [NSAID]", "Names the value [eGFR]", "Names the drug [see note]"),
        *(
            "Names the drug [ref 3]",
            "Names paracetamol [or ibuprofen]",
            "Cites [the guideline on stroke](http://a.org)",
        ),
        *("Cites [guideline](https://example.org)", "说明血压 [收缩压低于 90]", "Names the age [age 65 or older]"),
        *("Names the drug (apixaban)", "Quotes “it hurted [sic]”", "说明血钾 [mmol/L]"),
    ],
)
def test_ordinary_text_in_brackets_is_no_gap(text: str) -> None:
    assert unready([DraftItem("a", text, 5)]) == []


def test_rules_of_the_benchmark_name_the_criterion() -> None:
    items = [DraftItem("a", "Names the dose", -3), DraftItem("b", "Names the drug", 9, ("axis:safety",))]
    rules = AuthoringRules(only_positive=True, highest=5, fewest=3, safety=2)
    faults = [(fault.line, fault.field) for fault in broken_rules(items, rules)]
    assert faults == [(1, "points"), (2, "points"), (0, "items"), (0, "tags")]


def test_ids_of_the_browser_are_no_part_of_what_is_approved() -> None:
    assert digest_of([DraftItem("a", "x", 1)]) == digest_of([DraftItem("b", "x", 1)])
    assert digest_of([DraftItem("a", "x", 1)]) != digest_of([DraftItem("a", "x", 2)])


# SHA-256 as the code before citations computed them.
WITHOUT_CITATIONS = "436afb0b7f417b23f7e1ee23103b6a4e5a0723007f90170441657b0290216fee"
WITHOUT_CITATIONS_FOR_REVIEW = "1f9c42b152af0fe6f63bf5623aac2eb57463259ce9847b4ad4f139f9b376e826"


def test_citations_enter_the_digest_only_where_there_are_any() -> None:
    first = DraftItem(
        "a", "Names the dose of 15 mg/kg", 7, ("axis:accuracy", "level:example"), source="WHO 2023, p. 4",
        element="the child’s weight", expectation="计算剂量", bank="consensus/x", criterion=3,
    )  # fmt: skip
    second = DraftItem("b", "Prescribes aspirin", -9)
    conversation = [{"role": "user", "content": "My son has a fever"}]
    case = Case(conversation=conversation, reference_answer="Give it by weight.")
    assert digest_of([first, second]) == WITHOUT_CITATIONS
    assert digest_for_review([first, second], case) == WITHOUT_CITATIONS_FOR_REVIEW
    cited = replace(first, citations=(Citation("Passage1"),))
    variants = [
        cited,
        replace(first, citations=(Citation("Passage2"),)),
        replace(first, citations=(Citation("Passage1", 0, 5, "Doses"),)),
        replace(first, suggestion="Passage1"),
    ]
    assert len({WITHOUT_CITATIONS, *(digest_of([item, second]) for item in variants)}) == 5


def test_a_draft_without_citations_is_read_as_before() -> None:
    row = {"id": "a", "text": "x", "points": 1, "tags": [], "source": "", "element": "", "expectation": "", "bank": ""}
    assert items_of({"items": [{**row, "criterion": None}]}) == [DraftItem("a", "x", 1)]
    whole, words = Citation("Passage1"), Citation("Passage1", 3, 8, "dose ")
    item = DraftItem("a", "x", 1, citations=(whole, words), suggestion="S1")
    assert items_of({"items": [item.as_json()]}) == [item] == read_items([item.as_json()]).items


@pytest.mark.django_db
def test_a_save_names_the_version_that_it_saw() -> None:
    case, by, at = factories.CaseFactory(rubric=[5]), factories.UserFactory(), timezone.now()
    item = case.rubrics.get().items.get()
    rubric = open_draft(case=case, by=by, at=at)
    assert open_draft(case=case, by=by, at=at) == rubric and rubric.version == 2
    began = rubric.draft.content["items"]
    assert [(row["text"], row["criterion"]) for row in began] == [(item.criterion.text, item.criterion_id)]
    assert not rubric.contributors.exists()
    key = uuid.uuid4()
    items = [DraftItem("a", "Names the dose", 5)]
    saved = save_draft(rubric=rubric, items=items, version=1, client_id=key, by=by, at=at)
    assert saved.version == 2
    assert save_draft(rubric=rubric, items=[], version=1, client_id=key, by=by, at=at).version == 2
    with pytest.raises(StaleSave) as stale:
        save_draft(rubric=rubric, items=[], version=1, client_id=uuid.uuid4(), by=by, at=at)
    assert stale.value.current.content["items"][0]["text"] == "Names the dose"
    assert rubric.contributors.get().user == by


@pytest.mark.slow
@pytest.mark.django_db
def test_what_a_save_answers_loads_no_case_again() -> None:
    case = factories.CaseFactory(rubric=0, conversation=[{"role": "user", "content": "Call 212-555-0143."}])
    rubric = open_draft(case=case, by=factories.UserFactory(), at=timezone.now())
    draft = RubricDraft.objects.get(rubric=rubric)
    with CaptureQueriesContext(connection) as queries:
        missing = saved_json(draft, case=case)["missing"]
    assert [row["line"] for row in missing if row["field"] == "privacy"] == [0]
    assert [query["sql"] for query in queries if 'FROM "rubrics_case"' in query["sql"]] == []
