"""Pages, API, commands and the report of refinement, over HTTP and the command line, from order to figures."""

from __future__ import annotations

import csv
import io
import re
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services as report_services
from agreement.kinds import kind_of
from agreement.kinds.refinement_page import body
from agreement.models import Report
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from consilium.llm.rules.names import MODEL
from rubrics.models import Response, Rubric
from scoring.models import Judge, JudgeRun
from tests.factories import JudgeFactory
from tests.validation.coverage.coverage_world import QUICK
from tests.validation.files.made_up import rows
from tests.validation.pairs.pair_world import work
from tests.validation.refinement.conftest import RuleEndpoint
from tests.validation.refinement.refinement_world import (
    BASE_TEXT,
    GOLD,
    GUIDE,
    HUNDRED,
    RefinementWorld,
    make_world,
    publish,
    worked_verdict,
)
from validation.models import RefinementRun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def report_on(world: RefinementWorld, run: RefinementRun, graded: JudgeRun) -> Report:
    report = report_services.create_report(
        benchmark=world.benchmark,
        kind="refinement",
        parameters={"run": run.public_id, "rater": f"run:{graded.public_id}"},
        at=timezone.now(),
    )
    report_services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def test_report_page_api_and_command_have_the_figures_of_the_worked_example(
    rules: RuleEndpoint, client: Client, tmp_path: Path
) -> None:
    world = make_world("shown", HUNDRED, cases=12, sets={"Guide": GUIDE}, tags=[])
    run = world.run(rules.url, "Guide")
    graded = world.judged(run, worked_verdict(world))
    report = report_on(world, run, graded)
    row = table_of(report, "refinement").dicts()[0]
    expected = {"base": 54.5, "refined": 62.5, "gain": 8, "relative": 0.146788990826, "p_sign_flip": 0.0078125}
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-9)
    call_command(
        "refinement", benchmark="shown", rater=f"run:{graded.public_id}", out=tmp_path / "out", stdout=StringIO()
    )
    client.force_login(world.admin)
    address = f"/b/shown/validity/{report.public_id}/"
    page = client.get(address).content.decode()
    for words in (
        "54.5",
        "62.5",
        "+8.0",
        "9 / 1 / 2",
        "These answers come from fixed rules, not from a language model",
        "0.147",
        "0.176",
    ):
        assert words in page
    file = b"".join(client.get(f"{address}tables/refinement.csv")).decode()
    assert list(csv.DictReader(io.StringIO(file))) == rows(tmp_path, "refinement")
    api = client.get(f"/api/v1/benchmarks/shown/reports/{report.public_id}/").json()
    assert api["kind"] == "refinement"
    methods = " ".join(methods_of(report).paragraphs)
    assert "no language model" in methods
    assert "not independent" not in methods


def test_a_judge_that_refined_is_named_first(rules: RuleEndpoint, client: Client) -> None:
    world = make_world("own", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide")
    graded = world.judged(run, lambda *_: True, config={"model": MODEL})
    report = report_on(world, run, graded)
    client.force_login(world.admin)
    page = client.get(f"/b/own/validity/{report.public_id}/").content.decode()
    warning = "Grader graded texts that its own model planned or edited"
    assert warning in page
    assert page.index(warning) < page.index("Scores before and after")
    assert "these gains are not independent" in " ".join(methods_of(report).paragraphs)


def test_a_report_counts_the_cases_that_were_graded(rules: RuleEndpoint, client: Client) -> None:
    world = make_world("few", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide")
    world.benchmark.cases.filter(key="c1").update(
        excluded_at=timezone.now(), exclusion="admin", exclusion_reason="Wrong."
    )
    client.force_login(world.admin)
    page = client.get(f"/b/few/validity/{report_on(world, run, world.judged(run, lambda *_: True)).public_id}/")
    assert "There are only 2 cases: too few to draw conclusions" in page.content.decode()


def test_an_interval_by_the_number_of_cases_alone_says_so_on_every_axis(rules: RuleEndpoint, client: Client) -> None:
    """Every case gains 0 on every axis, so only the number of cases makes the intervals."""
    world = make_world("alike", HUNDRED, cases=6, sets={"Guide": GUIDE}, tags=[])
    run = world.run(rules.url, "Guide")
    report = report_on(world, run, world.judged(run, lambda _response, item: item.position <= 4))
    client.force_login(world.admin)
    page = " ".join(client.get(f"/b/alike/validity/{report.public_id}/").content.decode().split())
    remark = "; interval from the number of cases alone"
    by_axis = page[page.index("By axis") :]
    cells = re.findall(r'<span class="ci by-cases-alone" title="([^"]*)">', by_axis)
    assert len(cells) >= 2 and all(remark in each for each in cells), cells
    assert all(re.match(r"−\d+\.\d to \d+\.\d; ", each) for each in cells), cells
    assert re.search(r"\+0\.0 <span class=\"ci by-cases-alone\"[^>]*>too few cases to say anything†<", by_axis)


def test_a_set_whose_criteria_the_gold_rubric_takes_in_later_is_named(rules: RuleEndpoint, client: Client) -> None:
    world = make_world("later", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide")
    case = world.benchmark.cases.get(key="c1")
    Rubric.objects.filter(case=case).update(status="superseded")
    publish(case, [*GOLD, GUIDE[0]], version=2)
    report = report_on(world, run, world.judged(run, lambda *_: True))
    assert report.result["facts"]["taught_since"] == {"Guide": 1}
    client.force_login(world.admin)
    page = client.get(f"/b/later/validity/{report.public_id}/").content.decode()
    assert "Guide: 1 criterion that guided refinement is now also used for grading" in " ".join(page.split())
    assert "have taken in 1 guiding criterion of Guide: its gain" in " ".join(methods_of(report).paragraphs)


def test_lists_of_ungraded_texts_claim_nothing(rules: RuleEndpoint) -> None:
    world = make_world("ungraded", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide")
    of_bases: Any = SimpleNamespace(derived_names=[])
    graded = world.judged(of_bases, lambda *_: True)
    assert body(report_on(world, run, graded), "")["harms"].empty == "No text has been graded yet."


def test_a_report_is_stale_once_a_verdict_changes(rules: RuleEndpoint) -> None:
    world = make_world("stale", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide")
    graded = world.judged(run, lambda *_: True)
    report = report_on(world, run, graded)
    digest = kind_of(report).digest
    assert digest is not None
    assert digest(world.benchmark, report.parameters) == report.input_digest
    world.benchmark.cases.filter(key="c1").update(
        excluded_at=timezone.now(), exclusion="admin", exclusion_reason="Wrong."
    )
    assert digest(world.benchmark, report.parameters) != report.input_digest


def test_order_by_the_page_and_look_at_the_texts(rules: RuleEndpoint, client: Client) -> None:
    world = make_world("page", sets={"Guide": GUIDE})
    client.force_login(world.admin)
    assert "No runs yet" in client.get("/b/page/refinement/").content.decode()
    form: dict[str, Any] = {
        **{name: value for name, value in QUICK.items() if name != "concurrency"},
        "candidate": "Base", "sets": [world.sets["Guide"].public_id], "endpoint": rules.url, "model": "rules-new-dose",
        "max_tokens": 500, "temperature": 0, "concurrency": 2, "attempts": 1, "draw_seed": 0, "currency": "USD",
        "price_in": 1, "price_out": 1,
    }  # fmt: skip
    assert client.get("/b/page/refinement/new/").status_code == 200
    size = client.post("/b/page/refinement/new/size", form).content.decode()
    assert "3 texts, 3 cases" in size
    assert not RefinementRun.objects.exists()
    answer = client.post("/b/page/refinement/new/", form)
    assert answer.status_code == 302, answer.content.decode()[-3000:]
    run = RefinementRun.objects.get()
    assert answer["Location"] == f"/b/page/refinement/{run.public_id}/"
    work(run)
    page = client.get(f"/b/page/refinement/{run.public_id}/").content.decode()
    assert "Refinement of Base" in page
    assert "/b/page/judges/runs/new/?with_bases=on&amp;candidate=Base+%2B+Guide" in page
    own = run.steps.first()
    assert own is not None
    case = client.get(f"/b/page/refinement/{run.public_id}/cases/{own.case.public_id}/").content.decode()
    assert "<mark>750 mg</mark>" in case
    assert "<ins\n" in case
    texts = client.get(f"/b/page/refinement/{run.public_id}/texts.csv")
    table = list(csv.DictReader(io.StringIO(b"".join(texts).decode())))
    assert [row["new_numbers"] for row in table] == ["750 mg"] * 3
    assert {row["base"] for row in table} == {BASE_TEXT}
    judged = client.get("/b/page/judges/runs/new/?candidate=Base").content.decode()
    assert 'value="Base"' not in judged or "checked" in judged


def test_an_overlap_is_refused_on_the_page_with_the_way_out(rules: RuleEndpoint, client: Client) -> None:
    world = make_world("taught", sets={"Same": GOLD})
    client.force_login(world.admin)
    form = {
        "candidate": "Base", "sets": [world.sets["Same"].public_id], "endpoint": rules.url, "model": MODEL,
        "max_tokens": 500, "temperature": 0, "concurrency": 2, "attempts": 1, "draw_seed": 0, "currency": "USD",
        "timeout_s": 10, "pauses": 0,
    }  # fmt: skip
    answer = client.post("/b/taught/refinement/new/", form)
    assert answer.status_code == 422
    assert "shares 12 criteria with the gold rubric" in answer.content.decode()
    labelled = client.post("/b/taught/refinement/new/size", {**form, "upper_bounds": form["sets"]}).content.decode()
    assert "its arm is an upper bound" in labelled
    halved = client.post("/b/taught/refinement/new/size", {**form, "split": "on"}).content.decode()
    assert "are removed because" in halved


def test_the_api_orders_shows_and_lets_a_judge_grade(rules: RuleEndpoint, client: Client) -> None:
    world = make_world("api", sets={"Guide": GUIDE})
    client.force_login(world.admin)
    order = {
        "candidate": "Base", "sets": [world.sets["Guide"].public_id], "self_critique": True,
        "config": {**QUICK, "endpoint": rules.url, "model": MODEL},
    }  # fmt: skip
    address = "/api/v1/benchmarks/api/refinements/"
    size = client.post(f"{address}size/", order, content_type="application/json").json()
    assert (size["requests"], size["texts"]) == (12, 6)
    begun = client.post(address, {**order, "sets": ["Guide"]}, content_type="application/json")
    assert begun.status_code == 201, begun.content
    run = RefinementRun.objects.get()
    assert [arm["candidate"] for arm in begun.json()["arms"]] == ["Base + Guide", "Base + self"]
    judge = JudgeFactory(benchmark=world.benchmark, kind=Judge.Kind.CHAT, name="Chat", config={
        **QUICK, "endpoint": rules.url, "model": "other",
    })  # fmt: skip
    early = client.post(f"{address}{run.public_id}/grade/", {"judge": judge.public_id}, content_type="application/json")
    assert early.status_code == 409
    work(run)
    shown = client.get(f"{address}{run.public_id}/").json()
    assert (shown["status"], shown["endpoint_kind"], shown["graded_by"]) == ("finished", "rules", [])
    graded = client.post(
        f"{address}{run.public_id}/grade/", {"judge": judge.public_id}, content_type="application/json"
    )
    assert graded.status_code == 201, graded.content
    items = JudgeRun.objects.get(public_id=graded.json()["id"]).items
    # Base and refined responses alike, and nothing else.
    assert set(items.values_list("response", flat=True)) == set(Response.objects.values_list("pk", flat=True))
    assert client.get(f"{address}{run.public_id}/").json()["graded_by"] == [graded.json()["rater"]]
    assert client.post(address, {**order, "sets": ["nothing"]}, content_type="application/json").status_code == 422
    assert client.post(address, {**order, "more": 1}, content_type="application/json").status_code == 400


def test_the_command_orders_and_follows(rules: RuleEndpoint, tmp_path: Path) -> None:
    world = make_world("line", sets={"Guide": GUIDE})
    printed = StringIO()
    options = {"benchmark": "line", "candidate": "Base", "endpoint": rules.url, "model": MODEL, "wait": True}
    call_command("refine", **options, set=["Guide"], gold=True, stdout=printed)
    text = printed.getvalue()
    assert "12 requests for 6 texts on 3 cases" in text
    assert "Base + Guide, Base + gold" in text
    assert "Numbers with units that nothing accounts for: 0" in text
    with pytest.raises(CommandError, match="Nobody has graded"):
        call_command("refinement", benchmark="line", out=tmp_path / "out")
    run = RefinementRun.objects.get()
    world.judged(run, lambda *_: True)
    call_command("refinement", benchmark="line", out=tmp_path / "out", stdout=printed)
    assert {row["arm"] for row in rows(tmp_path, "refinement")} == {"Guide", "gold"}


def test_a_run_whose_plan_failed_is_shown_with_the_text_that_was_skipped(rules: RuleEndpoint, client: Client) -> None:
    world = make_world("skipped", cases=2, sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide", model="rules-unknown")
    assert sorted(run.steps.values_list("stage", "state")) == [("edit", "skipped")] * 2 + [("plan", "failed")] * 2
    client.force_login(world.admin)
    at = f"/b/skipped/refinement/{run.public_id}/"
    case = world.benchmark.cases.get(key="c0")
    for address in ("/b/skipped/refinement/", at, f"{at}progress", f"{at}cases/{case.public_id}/"):
        assert client.get(address).status_code == 200, address
    answer = client.get(f"/api/v1/benchmarks/skipped/refinements/{run.public_id}/")
    assert answer.status_code == 200
    assert (answer.json()["progress"]["failed"], answer.json()["progress"]["done"]) == (4, 0)
    file = b"".join(client.get(f"{at}texts.csv").streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    assert [row["status"] for row in csv.DictReader(io.StringIO(file))] == ["failed", "failed"]
