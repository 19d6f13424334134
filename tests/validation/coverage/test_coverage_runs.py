"""Runs of coverage: requests, faulty answers, gates, size, budget, replay, and archives."""

from __future__ import annotations

import json
import zipfile
import zlib
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, transaction
from django.test import Client
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.models import Case
from scoring.models import EndpointCall, PipelineRun
from scoring.pipelines.archive import read_archive, write_archive
from scoring.pipelines.runs import replay_run
from tests.scoring.conftest import Loopback
from tests.validation.coverage.coverage_world import QUICK, CoverageWorld, make_set, make_world, matching, work
from validation.coverage.building import build, size_of
from validation.coverage.inputs import read_coverage
from validation.coverage.services import ask_physicians, decide
from validation.models import CoverageDecision, CoverageRun

pytestmark = pytest.mark.django_db
AXIS = "accuracy"


def two_cases(slug: str = "two", **case: Any) -> CoverageWorld:
    """Two cases with two gold points each; A covers the first of each, and has nothing for the second case."""
    return make_world(
        slug,
        {
            "gold": {key: [(f"{key} one", 5, AXIS), (f"{key} two", -3, AXIS)] for key in ("a", "b")},
            "A": {"a": [("full: a one;", 4, AXIS)]},
        },
        **case,
    )


def bodies(run: CoverageRun) -> list[dict[str, Any]]:
    return [json.loads(zlib.decompress(bytes(call.request))) for call in EndpointCall.objects.filter(run=run)]


@pytest.mark.slow
def test_each_point_and_criterion_is_one_request_in_fences(loopback: Loopback) -> None:
    run = two_cases().run(loopback.url)
    assert (run.status, run.error) == ("finished", "")
    # A: 2 points of a. Gold against itself: 4. A for the next case: b's points against a's criteria, 2. Back: 1.
    assert (loopback.requests(), run.calls) == (9, 9)
    assert run.steps.count() == 4 + 4 + 4 + 1  # what has no criteria is computed
    texts = [body["messages"] for body in bodies(run)]
    assert all(
        messages[0]["content"].splitlines()[-1] in ("Stage: coverage", "Stage: coverage_back") for messages in texts
    )
    forward = next(
        m[1]["content"] for m in texts if "\na two\n" in m[1]["content"] and "full: a one;" in m[1]["content"]
    )
    assert "<<<CASE " in forward and "sore throat" in forward
    assert "1. [+4, accuracy] full: a one;" in forward
    assert "An answer loses 3 points by doing what POINT says." in forward
    inputs = read_coverage(run)
    extents = {
        (own.case, own.number): answer.extent.name for own, answer in zip(inputs.gold, inputs.answers["0"], strict=True)
    }
    assert extents == {("a", 1): "FULL", ("a", 2): "NONE", ("b", 1): "NONE", ("b", 2): "NONE"}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["extent-unnamed", "extent-unknown", "extent-extra", "extent-other", "html", "array"])
def test_an_answer_that_stays_faulty_is_invalid_after_two_more(loopback: Loopback, model: str) -> None:
    """A transport failure is no answer: its step fails, and its point is missing."""
    run = two_cases().run(loopback.url, model=model)
    answers = read_coverage(run).answers["0"][:2]
    if model == "html":
        assert run.status == "incomplete"
        assert [answer.extent.name for answer in answers] == ["MISSING", "MISSING"]
        return
    assert run.status == "finished"
    assert [answer.extent.name for answer in answers] == ["INVALID", "INVALID"]
    assert loopback.requests() == 3 * 9


def test_cases_that_may_not_be_sent_are_left_out(loopback: Loopback) -> None:
    """An excluded case, and one whose text may name a person and whose rubric is not public."""
    world = two_cases()
    named = "Please call me at 13800138000, my name is Zhang Wei."
    secret = Case.objects.create(
        benchmark=world.benchmark, key="c", language="en", conversation=[{"role": "user", "content": named}]
    )
    sets = make_world("spare", {"gold": {"x": [("x", 1, AXIS)]}, "A": {"x": [("x", 1, AXIS)]}})
    assert sets.benchmark.pk != world.benchmark.pk

    gold = make_set(world.benchmark, "gold of all", {key: [("One thing", 1, AXIS)] for key in ("a", "b", "c")})
    Case.objects.filter(key="b").update(excluded_at=timezone.now(), exclusion_reason="Twice.")
    config = {"endpoint": loopback.url, "model": "ok", **QUICK}
    built = build(world.benchmark, gold, [world.sets["A"]], config)
    assert [case.key for case in built.config.cases] == ["a"]
    assert (built.excluded, built.with_findings) == (1, 1)
    assert secret.pk not in built.case_ids
    with pytest.raises(DomainError, match="compared with itself in every run"):
        build(world.benchmark, gold, [gold], config)
    with pytest.raises(DomainError, match="rubric set does not exist"):
        build(world.benchmark, gold, [sets.sets["A"]], config)
    with pytest.raises(DomainError, match="operator’s list"):
        build(world.benchmark, gold, [world.sets["A"]], {**config, "endpoint": "https://elsewhere.example.org/v1"})


@pytest.mark.slow
def test_a_case_that_is_excluded_while_a_run_waits_is_not_sent(loopback: Loopback) -> None:
    run = two_cases().begin(loopback.url)
    Case.objects.filter(key="a").update(excluded_at=timezone.now(), exclusion_reason="Twice.")
    run = work(run)
    assert run.status == "incomplete"
    assert {(step.case.key, step.state, step.error_kind) for step in run.steps.select_related("case")} == {
        ("a", "failed", "withheld"), ("b", "done", ""),
    }  # fmt: skip


@pytest.mark.slow
def test_the_preview_counts_what_is_asked_and_bounds_its_cost(loopback: Loopback, client: Client) -> None:
    world = two_cases()
    prices = {"price_in": 1.0, "price_out": 2.0, "max_tokens": 100}
    config = {"endpoint": loopback.url, "model": "ok", **QUICK, **prices}
    size = size_of(build(world.benchmark, world.sets["gold"], [world.sets["A"]], config))
    assert {stage.stage: stage.requests for stage in size.stages} == {"coverage": 2, "controls": 6, "coverage_back": 1}
    client.force_login(world.admin)
    fields = {"gold": world.sets["gold"].public_id, "sets": [world.sets["A"].public_id], "endpoint": loopback.url,
              "model": "ok", "max_tokens": 100, "temperature": 0, "share": 0.2, "draw_seed": 0, "concurrency": 8,
              "timeout_s": 30, "attempts": 2, "pauses": 0, "price_in": 1, "price_out": 2,
              "currency": "USD"}  # fmt: skip
    shown = client.post(f"/b/{world.benchmark.slug}/rubric-coverage/new/size", fields).content.decode()
    assert "4 gold points, 2 cases" in shown
    assert "A has no criteria for 1 of 2 cases" in shown
    begun = client.post(f"/b/{world.benchmark.slug}/rubric-coverage/new/", {**fields, "budget": "5"})
    run = CoverageRun.objects.get(benchmark=world.benchmark)
    assert begun.status_code == 302 and begun["Location"].endswith(f"/rubric-coverage/{run.public_id}/")
    run = work(run)
    assert (run.status, run.calls, run.currency) == ("finished", size.requests, "USD")
    assert size.cost_at_most is not None
    assert 0 < run.spent <= size.cost_at_most
    page = client.get(f"/b/{world.benchmark.slug}/rubric-coverage/{run.public_id}/").content.decode()
    assert "By case" in page and loopback.url in page


@pytest.mark.slow
def test_no_request_passes_the_budget(loopback: Loopback) -> None:
    world = two_cases()
    prices = {"price_out": 1_000.0, "max_tokens": 100}
    run = world.run(loopback.url, config=prices, budget=Decimal("0.25"))
    assert run.status == "incomplete" and "budget" in run.error
    assert 0 < run.calls < 9
    assert run.spent <= 0.25
    with pytest.raises(DomainError, match="prices"):
        world.begin(loopback.url, budget=Decimal(1))


@pytest.mark.slow
def test_a_replay_and_an_archive_give_the_same_figures_without_a_request(loopback: Loopback, settings: Any) -> None:
    run = matching().run(loopback.url)
    before, n_requests = read_coverage(run), loopback.requests()
    again = work(CoverageRun.objects.get(pk=replay_run(run=run, by=None, at=timezone.now()).pk))
    assert (again.status, again.calls) == ("finished", 0)
    assert read_coverage(again).digest == before.digest
    file = BytesIO()
    write_archive(run, file)
    PipelineRun.objects.filter(pk=run.pk).update(public_id="elsewhere")
    settings.JUDGE_ALLOWED_HOSTS = []
    imported = CoverageRun.objects.get(pk=read_archive(file, slug="elsewhere", by=None, at=timezone.now()).pk)
    assert imported.benchmark.slug == "elsewhere"
    figures = read_coverage(imported)
    assert figures.answers == before.answers and figures.names == ["drafted"]
    replayed = work(CoverageRun.objects.get(pk=replay_run(run=imported, by=None, at=timezone.now()).pk))
    assert replayed.status == "finished"
    assert read_coverage(replayed).answers == before.answers
    assert loopback.requests() == n_requests
    with zipfile.ZipFile(file) as archive:
        assert "outputs.jsonl" in archive.namelist()


@pytest.mark.slow
def test_the_endpoint_of_rules_is_named(loopback: Loopback, client: Client) -> None:
    """The model of the answers, and not the name that was sent, says that rules gave them."""
    world = two_cases()
    run = world.run(loopback.url, model="rules-by-name")
    assert run.endpoint_kind == "rules"
    client.force_login(world.admin)
    page = client.get(f"/b/{world.benchmark.slug}/rubric-coverage/{run.public_id}/").content.decode()
    assert "These answers come from fixed rules, not from a language model." in page


@pytest.mark.slow
def test_the_database_holds_decisions_to_their_step_and_person(loopback: Loopback) -> None:
    world = matching()
    run = world.run(loopback.url)
    first, second = world.physicians
    ask_physicians(run=run, at=timezone.now())
    decision = CoverageDecision.objects.filter(run=run, stage="coverage").first()
    assert decision is not None
    decide(decision=decision, answer="full", by=first, at=timezone.now())
    for change, reason in (
        ({"decided_by": second}, "stays with whoever made it"),
        ({"answer": ""}, "validation_coveragedecision_made"),
        ({"answer": "needed"}, "validation_coveragedecision_of_stage"),
        ({"stage": "coverage_back"}, "Cannot update"),
        ({"step": run.steps.order_by("pk").last()}, "Cannot update"),
    ):
        with pytest.raises((IntegrityError, ProgrammingError), match=reason), transaction.atomic():
            CoverageDecision.objects.filter(pk=decision.pk).update(**change)
    with pytest.raises(ProgrammingError, match="Cannot delete"), transaction.atomic():
        CoverageDecision.objects.filter(pk=decision.pk).delete()
    other = matching("other").run(loopback.url)
    with pytest.raises(IntegrityError, match="about a step of its run"), transaction.atomic():
        CoverageDecision.objects.create(
            run=run, step=other.steps.filter(stage="coverage").first(), stage="coverage", created_at=timezone.now()
        )
    decision.refresh_from_db()
    assert (decision.answer, decision.decided_by) == ("full", first)


@pytest.mark.slow
def test_a_run_by_the_api(loopback: Loopback, client: Client) -> None:
    world = two_cases()
    client.force_login(world.admin)
    at = f"/api/v1/benchmarks/{world.benchmark.slug}/coverage-runs/"
    sent = {"gold": world.sets["gold"].public_id, "sets": [world.sets["A"].public_id],
            "config": {"endpoint": loopback.url, "model": "ok", **QUICK}}  # fmt: skip
    assert client.post(at, {**sent, "more": 1}, content_type="application/json").status_code == 400
    wrong = client.post(at, {**sent, "config": {"model": "ok"}}, content_type="application/json")
    assert wrong.status_code in (400, 422)
    unknown = client.post(at, {**sent, "sets": ["A", "nowhere"]}, content_type="application/json")
    [fault] = unknown.json()["errors"]
    assert (unknown.status_code, fault["field"]) == (422, "sets")
    assert fault["message"] == "There is no rubric set “nowhere” in this benchmark."
    first = client.post(at, sent, content_type="application/json").json()
    client.post(f"{at}{first['id']}/cancel/")
    CoverageRun.objects.all().delete()
    # Its answer has names, which a request may have as well.
    sent |= {"gold": first["gold"], "sets": first["sets"]}
    assert (sent["gold"], sent["sets"]) == (world.sets["gold"].name, ["A"])
    begun = client.post(at, sent, content_type="application/json")
    assert begun.status_code == 201, begun.content
    run = work(CoverageRun.objects.get(public_id=begun.json()["id"]))
    detail = client.get(f"{at}{run.public_id}/").json()
    assert (detail["status"], detail["progress"]["done"], detail["sets"]) == ("finished", 13, ["A"])
    assert client.get(at).json()["count"] == 1
    detail_after = client.post(f"{at}{run.public_id}/ask/").json()
    # One of the two strata of points each (one full, three none), and no criterion: A's is matched.
    assert detail_after["decisions"] == {"decided": 0, "total": 2}
    replayed = client.post(f"{at}{run.public_id}/replay/")
    assert replayed.status_code == 201 and replayed.json()["replay"]


@pytest.mark.slow
def test_a_service_takes_no_run_that_is_live(loopback: Loopback) -> None:
    world = two_cases()
    run = world.begin(loopback.url)
    with pytest.raises(DomainError, match="has not ended"):
        ask_physicians(run=run, at=timezone.now())
