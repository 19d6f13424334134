"""Whole runs of drafting: what arrives as suggestions, what no request holds, and what a replay comes to."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from documents.models import Document
from drafting.models import Fact, Need, Suggestion
from rubrics.models import Rubric
from scoring.models import PipelineStep
from scoring.pipelines.runs import replay_run, resume_run
from tests.drafting.drafting_world import (
    ASPIRIN,
    DOSE,
    GOLD_CANARY,
    REFERENCE_CANARY,
    URGENT,
    DraftingWorld,
    ScriptedEndpoint,
    output,
)
from tests.scoring.pipelines.verdict_chain import work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FULL = ["draft_plan", "rank", "evidence", "facts", "relevance", "support", "needs", "synthesis", "audit"]


def test_facts_needs_and_suggestions_of_a_run(nursery: DraftingWorld, scripted: ScriptedEndpoint) -> None:
    run = nursery.run(scripted.url)
    assert run.status == "finished"
    # What is asked in the second case as in the first is answered from the store, if the first was answered by then.
    assert set(scripted.stages()) == set(FULL)
    assert run.steps.exclude(call=None).count() == len(2 * FULL)
    case = nursery.cases[0]
    passages = nursery.passages()

    facts = list(Fact.objects.filter(run=run, case=case))
    assert [(fact.kind, fact.quote_state, fact.words, fact.passage_id, fact.is_usable) for fact in facts] == [
        ("number", "exact", DOSE, passages["Medicine"].pk, True),
        ("number", "exact", DOSE, passages["Medicine"].pk, True),
        ("prohibition", "exact", ASPIRIN, passages["Medicine"].pk, True),
        ("red_flag", "exact", URGENT, passages["When to seek help"].pk, True),
        ("red_flag", "exact", URGENT, passages["When to seek help"].pk, True),
    ]
    needs = list(Need.objects.filter(run=run, case=case).values_list("kind", "quote_state"))
    assert needs == [("asks", "exact"), ("missing", "none"), ("tone", "none")]

    suggestions = list(Suggestion.objects.filter(run=run, case=case))
    assert [(each.points, each.facts, each.needs, each.state) for each in suggestions] == [
        (7, [1], [], "open"),
        (6, [2], [], "open"),
        (-9, [3], [], "open"),
        (9, [4], [], "open"),
        (9, [5], [], "open"),
        (5, [], [2], "open"),
    ]
    assert [each.findings for each in suggestions] == [[]] * 6
    medicine = passages["Medicine"]
    start = medicine.text.index(ASPIRIN)
    assert suggestions[2].citations == [
        {"passage": medicine.public_id, "start": start, "end": start + len(ASPIRIN), "quote": ASPIRIN}
    ]
    assert suggestions[2].source == "Invented guideline: fever in small children"
    assert suggestions[5].citations == [] and suggestions[5].source == ""

    assert output(run, case, "result")["ledger"] == [
        *({"kind": "fact", "number": n, "criteria": [n], "reason": ""} for n in range(1, 6)),
        {"kind": "need", "number": 1, "criteria": [], "reason": "no_criterion"},
        {"kind": "need", "number": 2, "criteria": [6], "reason": ""},
        {"kind": "need", "number": 3, "criteria": [], "reason": "no_criterion"},
    ]


def test_no_request_holds_the_reference_answer_or_a_gold_criterion(
    nursery: DraftingWorld, scripted: ScriptedEndpoint
) -> None:
    for rubric in Rubric.objects.filter(case__in=nursery.cases):
        assert all(GOLD_CANARY in item.criterion.text for item in rubric.items.all())
    assert all(case.reference_answer == REFERENCE_CANARY for case in nursery.cases)
    nursery.run(scripted.url)
    nursery.run(scripted.url, form="direct")
    sent = json.dumps(scripted.requests)
    assert len(scripted.requests) > 20
    assert GOLD_CANARY not in sent and REFERENCE_CANARY not in sent


def test_a_document_that_may_not_be_sent_is_in_no_request(nursery: DraftingWorld, scripted: ScriptedEndpoint) -> None:
    Document.objects.update(may_send=False)
    run = nursery.run(scripted.url)
    assert run.status == "finished"
    assert "paracetamol every" not in json.dumps(scripted.requests)
    # The needs of the asker are left.
    assert set(scripted.stages()) == {"draft_plan", "needs", "synthesis", "audit"}
    assert [each.facts for each in Suggestion.objects.filter(run=run, case=nursery.cases[0])][-1] == []


def test_a_document_that_is_withdrawn_while_a_run_goes_on_is_sent_no_more(
    nursery: DraftingWorld, scripted: ScriptedEndpoint
) -> None:
    scripted.answers["evidence"] = lambda texts: {}
    run = nursery.run(scripted.url)
    assert run.status == "incomplete"
    assert output(run, nursery.cases[0], "retrieve")["passages"]
    Document.objects.update(may_send=False)
    del scripted.answers["evidence"], scripted.requests[:]
    resume_run(run=run, at=timezone.now())
    work(run)
    assert not scripted.requests
    withheld = PipelineStep.objects.filter(run=run, stage="evidence")
    assert {(step.state, step.error_kind) for step in withheld} == {("failed", "withheld")}
    assert not Suggestion.objects.filter(run=run).exists()


def test_a_replay_takes_what_was_found_and_comes_to_the_same(
    nursery: DraftingWorld, scripted: ScriptedEndpoint
) -> None:
    run = nursery.run(scripted.url)
    n_requests = len(scripted.requests)
    Document.objects.update(retired_at=timezone.now())  # a search would find nothing now
    replay = work(replay_run(run=run, by=None, at=timezone.now()))
    assert replay.status == "finished"
    assert len(scripted.requests) == n_requests

    def outputs(of: object) -> list[tuple[object, ...]]:
        steps = PipelineStep.objects.filter(run=of).order_by("case", "stage", "round")
        return list(steps.values_list("case", "stage", "round", "state", "output", "findings"))

    assert outputs(replay) == outputs(run)
    assert not Suggestion.objects.filter(run=replay).exists()


def test_the_baseline_asks_once_and_rests_on_nothing(nursery: DraftingWorld, scripted: ScriptedEndpoint) -> None:
    stages = {"audit": {"on": False}}
    run = nursery.run(scripted.url, form="direct", stages=stages)
    assert scripted.stages() == ["direct", "direct"]
    findings = [[each["code"] for each in own.findings] for own in Suggestion.objects.filter(run=run)]
    assert findings == [["ungrounded"]] * 4


def test_the_generic_criteria_ask_nobody(nursery: DraftingWorld, scripted: ScriptedEndpoint) -> None:
    run = nursery.run(scripted.url, form="generic", models={})
    assert run.status == "finished" and not scripted.requests
    assert Suggestion.objects.filter(run=run, case=nursery.cases[0]).count() == 6
