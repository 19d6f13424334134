"""Runs of refinement: what is asked, stored and refused, and what a replay comes to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.llm.prompts import FENCE_RULE
from consilium.llm.rules.names import MODEL
from rubrics.models import Candidate, Response
from scoring.models import PipelineStep
from scoring.pipelines.runs import replay_run
from tests.validation.pairs.pair_world import work
from tests.validation.refinement.conftest import RuleEndpoint
from tests.validation.refinement.refinement_world import BASE_TEXT, GOLD, GUIDE, make_world
from validation.models import RefinementRun
from validation.refinement.building import Order, Overlapping, build, size_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_each_arm_has_a_candidate_of_its_own_and_bases_stay(rules: RuleEndpoint) -> None:
    world = make_world("arms", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide", self_critique=True, gold=True)
    assert (run.status, run.endpoint_kind) == ("finished", "rules")
    assert run.derived_names == ["Base + Guide", "Base + self", "Base + gold"]
    kinds = dict(Candidate.objects.filter(benchmark=world.benchmark).values_list("name", "kind"))
    assert kinds == {"Base": "model", **dict.fromkeys(run.derived_names, "derived")}
    guided = world.refined(run)
    assert [row.derived_from.text for row in guided if row.derived_from] == [BASE_TEXT] * 3
    # The rules add the sentence of every criterion that is not met, and change nothing without criteria.
    assert {row.text for row in guided} == {f"{BASE_TEXT}\n\n{GUIDE[0][0]} {GUIDE[1][0]}"}
    assert {row.text for row in world.refined(run, 1)} == {BASE_TEXT}
    assert set(Response.objects.filter(candidate=world.base).values_list("text", flat=True)) == {BASE_TEXT}
    # A plan without edits is carried out by nobody: 9 plans, and the edits of two arms.
    assert sorted(rules.stages()) == ["edit"] * 6 + ["plan"] * 9


def test_texts_stand_in_fences_and_self_critique_sees_no_criterion(rules: RuleEndpoint) -> None:
    world = make_world("fences", cases=1, sets={"Guide": GUIDE})
    world.run(rules.url, "Guide", self_critique=True)
    plans = [request for request in rules.requests if "Stage: plan" in request["messages"][0]["content"]]
    guided, alone = sorted(plans, key=lambda request: "<<<CRITERIA" not in request["messages"][1]["content"])
    assert f"1. [+2, completeness] {GUIDE[0][0]}\n2. [+4, accuracy]" in guided["messages"][1]["content"]
    assert GUIDE[0][0] not in json.dumps(alone)
    for request in rules.requests:
        assert FENCE_RULE.partition("{{nonce}}")[0] in request["messages"][0]["content"]
        # The gold criteria are in no request of an arm that they do not guide.
        assert not any(text in json.dumps(request) for text, _points, _axis in GOLD)


@pytest.mark.parametrize("as_row", [True, False])
def test_a_set_that_teaches_to_the_test_is_refused(rules: RuleEndpoint, as_row: bool) -> None:
    alike = GOLD[0][0] if as_row else "The response advises the drinking of plenty of water every day"
    world = make_world("overlap", sets={"Guide": [*GUIDE, (alike, 2, "completeness")]})
    order = Order(candidate="Base", sets=[world.sets["Guide"]])
    config = {"endpoint": rules.url, "model": MODEL}
    with pytest.raises(Overlapping, match="shares 3 criteria"):
        build(world.benchmark, order, config)
    assert not rules.requests
    assert not RefinementRun.objects.exists()
    bound = Order(candidate="Base", sets=[world.sets["Guide"]], upper_bounds=[world.sets["Guide"].public_id])
    (arm,) = build(world.benchmark, bound, config).config.arms
    assert (arm.upper_bound, arm.overlaps) == (True, 3)
    # Split, a criterion that would grade is taken out, and one that guides anyway stays.
    halves = build(world.benchmark, Order(candidate="Base", sets=[world.sets["Guide"]], split=True), config)
    for case in halves.config.cases:
        guiding = [text for text, _points, _axis in case.arms[0] or []]
        assert (alike in guiding) == (GOLD[0][0] not in (case.graded_by or []))


def test_halves_are_disjoint_whole_and_drawn_by_the_seed(rules: RuleEndpoint) -> None:
    world = make_world("halves", cases=8)
    texts = {text for text, _points, _axis in GOLD}

    def drawn(seed: int) -> list[tuple[set[str], set[str]]]:
        config = {"endpoint": rules.url, "model": MODEL, "draw_seed": seed}
        built = build(world.benchmark, Order(candidate="Base", split=True), config)
        return [
            ({text for text, _points, _axis in case.arms[0] or []}, set(case.graded_by or []))
            for case in built.config.cases
        ]

    halves = drawn(1)
    for guide, grade in halves:
        assert not guide & grade
        assert guide | grade == texts
        assert len(guide & {GOLD[0][0], GOLD[1][0], GOLD[3][0]}) == 1  # of three with positive points
        assert GOLD[2][0] in guide
    assert drawn(1) == halves
    assert drawn(2) != halves
    assert len({frozenset(grade) for _guide, grade in halves}) > 1  # each case draws for itself


def test_a_new_dose_is_found(rules: RuleEndpoint) -> None:
    world = make_world("dose", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide", model="rules-new-dose")
    findings = run.steps.filter(stage="edit").values_list("findings", flat=True)
    assert len(findings) == 3
    for own in findings:
        assert [(finding["kind"], finding.get("text")) for finding in own] == [
            ("new_number", "750 mg"),
            ("new_drug", "paracetamol"),
            ("stray", "Take 750 mg of paracetamol twice a day."),
            ("size", None),
        ]
    honest = world.run(rules.url, "Guide")
    assert {f["kind"] for own in honest.steps.filter(stage="edit").values_list("findings", flat=True) for f in own} == {
        "size"
    }
    assert honest.derived_names == ["Base + Guide 2"]  # an earlier candidate is not written to


def test_answers_with_unknown_numbers_are_asked_again_and_fail(rules: RuleEndpoint) -> None:
    world = make_world("unknown", cases=1, sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide", model="rules-unknown")
    assert run.status == "incomplete"
    assert run.steps.get(stage="plan").error_kind == "wrong_numbers"
    assert run.steps.get(stage="edit").state == "skipped"
    assert rules.stages() == ["plan"] * 3
    assert not world.refined(run)


def test_a_replay_asks_nobody_and_comes_to_the_same_bytes(rules: RuleEndpoint) -> None:
    world = make_world("replay", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide", self_critique=True)
    n_requests, n_responses = len(rules.requests), Response.objects.count()
    again = work(replay_run(run=run, by=None, at=timezone.now()))
    assert again.status == "finished"
    assert (len(rules.requests), Response.objects.count()) == (n_requests, n_responses)

    def outputs(own: Any) -> bytes:
        steps = PipelineStep.objects.filter(run=own).order_by("case__key", "stage", "key")
        return json.dumps(list(steps.values_list("case__key", "stage", "key", "output", "findings"))).encode()

    assert outputs(again) == outputs(run)


def test_the_size_counts_the_requests_that_are_made(rules: RuleEndpoint) -> None:
    world = make_world("size", sets={"Guide": GUIDE})
    config = {"endpoint": rules.url, "model": MODEL, "price_in": 1.0, "price_out": 2.0}
    built = build(world.benchmark, Order(candidate="Base", sets=[world.sets["Guide"]], gold=True), config)
    size = size_of(built)
    assert (size.cases, size.texts, size.requests) == (3, 6, 12)
    assert size.cost_at_most and size.cost_at_most > 12 * 4096 * 2 / 1e6  # the answers alone
    world.run(rules.url, "Guide", gold=True)
    assert len(rules.requests) == size.requests


def test_what_cannot_be_refined_is_refused(rules: RuleEndpoint) -> None:
    world = make_world("refused", cases=1)
    config = {"endpoint": rules.url, "model": MODEL}
    run = world.run(rules.url, gold=True)
    for order, words in (
        (Order(candidate="Base"), "Choose at least one set"),
        (Order(candidate="Nobody", gold=True), "no candidate"),
        (Order(candidate=run.derived_names[0], gold=True), "already been refined"),
    ):
        with pytest.raises(DomainError, match=words):
            build(world.benchmark, order, config)
    world.benchmark.cases.update(excluded_at=timezone.now(), exclusion_reason="test", exclusion="admin")
    with pytest.raises(DomainError, match="No case"):
        build(world.benchmark, Order(candidate="Base", gold=True), config)
