"""Runs that split criteria: requests, faulty answers, gates, replay, and archives."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.llm.rules.server import serving
from rubrics.models import Case
from scoring.models import EndpointCall, PipelineRun
from scoring.pipelines.archive import read_archive, write_archive
from scoring.pipelines.runs import replay_run
from tests.factories import BenchmarkFactory
from tests.validation.coverage.coverage_world import QUICK, make_set
from tests.validation.refinement.conftest import RuleEndpoint
from tests.validation.splitting.splitting_world import AXIS, SPLIT, begin, split, splitting_world, work
from validation.models import SplittingRun
from validation.sets.storing import SetName
from validation.splitting.building import build, size_of
from validation.splitting.selectors import CasePoints, counts_of_points, points_of_run
from validation.splitting.services import freeze, resume_run

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def by_key(run: SplittingRun) -> dict[str, CasePoints]:
    return {own.case.key: own for own in points_of_run(run)}


def texts_of(own: CasePoints) -> list[tuple[int, str]]:
    return [(point.criterion, point.text) for point in own.points]


def test_each_case_is_one_request_with_its_criteria_in_a_fence(rules: RuleEndpoint) -> None:
    run = split(splitting_world(), rules.url)
    assert (run.status, run.error, run.endpoint_kind) == ("finished", "", "rules")
    assert rules.stages() == ["split_points"] * 2
    user = next(text for text in (r["messages"][1]["content"] for r in rules.requests) if "Guesses." in text)
    assert "<<<CASE " in user and "sore throat" in user
    assert "<<<CRITERIA " in user
    assert "1. [+7, accuracy] Names the dose; names the interval. Advises a check after a week." in user
    assert "2. [-4, accuracy] Guesses." in user
    assert {key: texts_of(own) for key, own in by_key(run).items()} == SPLIT
    counts = counts_of_points(points_of_run(run))
    assert (counts.cases, counts.criteria, counts.points, counts.whole, counts.corrected) == (2, 4, 9, 0, 0)


ODD_ANSWERS: dict[str, tuple[Any, str]] = {
    "no object": ("I cannot.", "not_json"),
    "an unknown number": ({"points": [{"text": "x", "criterion": 1}, {"text": "y", "criterion": 3}]}, "wrong_numbers"),
    "number 0": ({"points": [{"text": "x", "criterion": 0}, {"text": "y", "criterion": 1}]}, "wrong_numbers"),
    "a lost criterion": ({"points": [{"text": "x", "criterion": 1}]}, "wrong_numbers"),
    "no point": ({"points": []}, "wrong_numbers"),
    "an empty text": ({"points": [{"text": " \n", "criterion": 1}, {"text": "y", "criterion": 2}]}, "empty_text"),
    "a number as text": ({"points": [{"text": "x", "criterion": "1"}, {"text": "y", "criterion": 2}]}, "wrong_type"),
    "one key more": ({"points": [{"text": "x", "criterion": 1, "points": 5}]}, "extra_field"),
}


@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_a_faulty_answer_is_asked_again_and_then_the_case_keeps_its_criteria(settings: Any, name: str) -> None:
    answer, fault = ODD_ANSWERS[name]
    requests: list[Any] = []

    def answered(request: Any) -> Any:
        requests.append(request)
        content = answer if isinstance(answer, str) else json.dumps(answer)
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}  # fmt: skip

    world = splitting_world()
    with serving(answered, ["m"]) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        run = split(world, f"http://{address}/v1", model="m")
    assert run.status == "finished"
    assert len(requests) == 3 * 2
    own = by_key(run)["a"]
    assert (own.state, own.fault, own.is_split) == ("whole", fault, False)
    assert texts_of(own) == [(1, "Names the dose; names the interval. Advises a check after a week."), (2, "Guesses.")]
    assert counts_of_points(points_of_run(run)).whole == 2
    with pytest.raises(DomainError, match="No case has been split"):
        freeze(run=run, name=SetName("points"), by=None, at=timezone.now())


def test_an_answer_is_put_into_the_order_of_the_criteria(settings: Any) -> None:
    points = [{"text": " second ", "criterion": 2}, {"text": "one", "criterion": 1}, {"text": "other", "criterion": 1}]

    def answered(request: Any) -> Any:
        message = {"role": "assistant", "content": json.dumps({"points": points})}
        return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    world = splitting_world()
    with serving(answered, ["m"]) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        run = split(world, f"http://{address}/v1", model="m")
    assert texts_of(by_key(run)["a"]) == [(1, "one"), (1, "other"), (2, "second")]


def test_cases_that_may_not_be_sent_keep_their_criteria(rules: RuleEndpoint) -> None:
    """An excluded case is in no set; one whose text may name a person is not sent."""
    world = splitting_world()
    named = "Please call me at 13800138000, my name is Zhang Wei."
    Case.objects.create(
        benchmark=world.benchmark, key="c", language="en", conversation=[{"role": "user", "content": named}]
    )
    texts = {key: [("One thing; another", 1, AXIS)] for key in ("a", "b", "c")}
    world.sets["gold"] = make_set(world.benchmark, "gold of all", texts)
    Case.objects.filter(key="b").update(excluded_at=timezone.now(), exclusion_reason="Twice.")
    config = {"endpoint": rules.url, "model": "rules (no language model)", **QUICK}
    built = build(world.benchmark, world.sets["gold"], config)
    assert [case.key for case in built.config.cases] == ["a"]
    assert (built.excluded, built.with_findings) == (1, 1)
    run = split(world, rules.url)
    assert all("13800138000" not in json.dumps(request) for request in rules.requests)
    row = freeze(run=run, name=SetName("points"), by=None, at=timezone.now())
    assert (row.case_count, row.item_count, row.unsplit_count) == (2, 3, 1)
    assert set(row.items.values_list("case__key", flat=True)) == {"a", "c"}
    with pytest.raises(DomainError, match="already been split"):
        build(world.benchmark, row, config)
    with pytest.raises(DomainError, match="rubric set does not exist"):
        build(BenchmarkFactory(slug="other"), world.sets["gold"], config)


def test_the_preview_counts_requests_and_bounds_their_cost(rules: RuleEndpoint) -> None:
    world = splitting_world()
    prices = {"price_in": 1.0, "price_out": 2.0, "max_tokens": 100}
    config = {"endpoint": rules.url, "model": "rules (no language model)", **QUICK, **prices}
    size = size_of(build(world.benchmark, world.sets["gold"], config))
    assert (size.cases, size.criteria, size.stage.requests) == (2, 4, 2)
    run = split(world, rules.url, **prices)
    assert size.stage.cost_at_most is not None
    assert 0 < run.spent <= size.stage.cost_at_most


def test_a_run_that_is_resumed_asks_only_for_what_failed(rules: RuleEndpoint) -> None:
    world = splitting_world()
    run = begin(world, rules.url)
    Case.objects.filter(key="a").update(excluded_at=timezone.now(), exclusion_reason="Twice.")
    run = work(run)
    assert run.status == "incomplete"
    assert {key: own.state for key, own in by_key(run).items()} == {"a": "whole", "b": "split"}
    Case.objects.filter(key="a").update(excluded_at=None, exclusion_reason="")
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"
    assert {key: texts_of(own) for key, own in by_key(run).items()} == SPLIT
    assert len(rules.requests) == 2


def test_a_replay_asks_nobody_and_an_archive_replays_elsewhere_to_the_same(rules: RuleEndpoint) -> None:
    world = splitting_world()
    run = split(world, rules.url)
    n_requests = len(rules.requests)
    replay = work(replay_run(run=run, by=None, at=timezone.now()))
    assert (replay.status, len(rules.requests)) == ("finished", n_requests)
    assert {key: texts_of(own) for key, own in by_key(replay).items()} == SPLIT
    with pytest.raises(DomainError, match="not to its replay"):
        freeze(run=replay, name=SetName("points"), by=None, at=timezone.now())

    archive = BytesIO()
    write_archive(run, archive)
    PipelineRun.objects.filter(pk=run.pk).update(public_id="elsewhere")
    imported = SplittingRun.objects.get(pk=read_archive(archive, slug="elsewhere", by=None, at=timezone.now()).pk)
    assert {key: texts_of(own) for key, own in by_key(imported).items()} == SPLIT
    again = work(replay_run(run=imported, by=None, at=timezone.now()))
    assert (again.status, len(rules.requests)) == ("finished", n_requests)
    assert {key: texts_of(own) for key, own in by_key(again).items()} == SPLIT
    assert EndpointCall.objects.filter(run=again).count() == 0
    with pytest.raises(DomainError, match="not in this benchmark"):
        freeze(run=imported, name=SetName("points"), by=None, at=timezone.now())
