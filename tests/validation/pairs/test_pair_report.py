"""Reports on pairs: their files, when they are stale, and answers of the endpoint that follows rules."""

from __future__ import annotations

import re
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.kinds.pairs_page import body
from agreement.models import Report
from agreement.reports.endpoint_facts import footnote
from agreement.reports.files import archive, figure_bytes
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from consilium.llm.rules.completion import MODELS, completion
from consilium.llm.rules.server import serving
from tests.scoring.conftest import Loopback
from tests.validation.pairs.pair_world import NINE, PairWorld, make_world, scripted, worked_example
from validation.coverage.building import set_config
from validation.models import TrialRun
from validation.trials import building

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def report_on(world: PairWorld, run: TrialRun, **parameters: Any) -> Report:
    report = services.create_report(
        benchmark=world.benchmark, kind="pairs", parameters={"run": run.public_id, **parameters}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report = Report.objects.get(pk=report.pk)
    assert report.status == "done", report.error
    return report


def test_the_archive_has_every_table_and_figure_and_is_the_same_twice(loopback: Loopback) -> None:
    world = worked_example("ward")
    world.confirm_all()
    report = report_on(world, world.run(loopback.url, config={"no_rubric": True}))
    with archive(report) as first, archive(report) as second:
        assert first.read() == second.read()
        with zipfile.ZipFile(second) as file:
            names = set(file.namelist())
            methods = file.read("methods.txt").decode()
    tables = (
        "pairs", "pairs_apart", "pair_comparisons", "mutation", "unnoticed", "each_pair", "deciding",
        "never_decisive", "answers", "trials",
    )  # fmt: skip
    assert {f"tables/{name}.csv" for name in tables} <= names
    assert {
        f"figures/{name}.{ending}" for name in ("outcomes", "deltas", "mutation") for ending in ("svg", "pdf")
    } <= names
    assert "7 near-miss pairs of 7 cases" in methods and "3 trials with the reference first" in methods
    assert "McNemar" in methods and "Chen et al. 2026" in methods
    # The list of reports shows the figure of the set that the title names first, not that of no rubric.
    assert report.result["facts"]["headline"]["value"] == pytest.approx(2 / 7)
    first, second = (row[0] for row in body(report, "")["pairs"].groups[""])
    assert (first, second) == ("A", "no rubric")


def test_a_judgement_makes_a_report_stale(loopback: Loopback) -> None:
    pairs = [scripted("P1 5-3w | 5-3w"), scripted("P2 4-4s | 4-4s")]
    world = make_world("ward", pairs, {"A": {pair["case"]: NINE for pair in pairs}})
    world.judge("P1")
    report = report_on(world, world.run(loopback.url, which="all", config={"trials": 1}))
    assert freshness_of(report).fresh
    world.judge("P2")
    freshness = freshness_of(Report.objects.get(pk=report.pk))
    assert freshness.fresh is False
    assert [(change.what, change.n) for change in freshness.changes] == [("pairs_judged", 1)]
    assert table_of(report, "pairs").dicts()[0]["n_pairs"] == 1


def test_lists_without_a_confirmed_pair_claim_nothing(loopback: Loopback) -> None:
    world = make_world("ward", [scripted("P1 5-3w | 5-3w")], {"A": {"P1": NINE}})
    page = body(report_on(world, world.run(loopback.url, which="all", config={"trials": 1})), "")
    for name in ("unnoticed", "deciding"):
        assert page[name].groups == {"": []}
        assert page[name].empty == "No confirmed dangerous pair has been judged by criteria in enough trials."


def test_a_run_without_a_rubric_claims_nothing_about_criteria(loopback: Loopback) -> None:
    world = make_world("ward", [scripted("P1 5-3w | 5-3w")], {})
    world.confirm_all()
    page = body(report_on(world, world.run(loopback.url, config={"trials": 1, "no_rubric": True})), "")
    assert page["never_decisive"].empty == "No pair was judged by criteria."
    assert page["unnoticed"].empty == "No confirmed dangerous pair has been judged by criteria in enough trials."


def test_a_judge_that_a_set_names_is_named(loopback: Loopback) -> None:
    world = make_world("ward", [scripted("P1 5-3w | 5-3w")], {"drafted": {"P1": NINE}})
    report = report_on(world, world.run(loopback.url, model="drafted", which="all", config={"trials": 1}))
    client = Client()
    client.force_login(world.admin)
    page = client.get(f"/b/ward/validity/{report.public_id}/").content.decode()
    assert "it may have judged criteria that it wrote" in page
    assert "The model drafted the criteria of drafted" in methods_of(report).text


def test_criteria_by_rules_mark_the_figures_of_a_model(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    drafted = {"recipe": "Simple", "version": 2, "models": [], "by_rules": True}
    monkeypatch.setattr(building, "set_config", lambda own: {**set_config(own), "drafted": drafted})
    world = make_world("ward", [scripted("P1 5-3w | 5-3w")], {"A": {"P1": NINE}})
    report = report_on(world, world.run(loopback.url, which="all", config={"trials": 1}))
    assert {row["endpoint_kind"] for row in table_of(report, "each_pair").dicts()} == {"rules"}
    text = methods_of(report).text
    assert "The model ok saw both texts" in text
    assert "version 2 of the recipe Simple drafted, by rules, and no language model, before any physician" in text


def test_answers_by_rules_say_so_wherever_they_are_shown(settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    reference = "Take 15 mg of this medicine per day and see a doctor within 24 hours."
    criteria = [("Says to take 15 mg of the medicine per day.", 5, "accuracy")]
    pairs = [
        {"case": f"P{number}", "kind": "dose", "reference": reference, "candidate": reference.replace("15", "30")}
        for number in range(3)
    ]
    world = make_world("ward", pairs, {"A": {pair["case"]: criteria for pair in pairs}})
    world.confirm_all()
    with serving(completion, MODELS) as address:
        run = world.run(
            f"http://{address}/v1", model="rules (no language model)", config={"trials": 1, "no_rubric": True}
        )
    assert (run.status, run.endpoint_kind) == ("finished", "rules")
    report = report_on(world, run)
    (own,) = [row for row in table_of(report, "pairs").dicts() if (row["set"], row["slice"]) == ("A", "all")]
    assert (own["win"], own["mean_delta"], own["endpoint_kind"]) == (1, 5, "rules")
    client = Client()
    client.force_login(world.admin)
    text = client.get(f"/b/ward/validity/{report.public_id}/").content.decode()
    assert "These answers come from fixed rules" in text
    # Every chart has a footnote, and every table the column.
    assert footnote() in figure_bytes(report, "outcomes", "svg").decode()
    assert "endpoint_kind" in table_of(report, "unnoticed").columns
    assert "is no language model" in methods_of(report).text
    assert "These answers come from fixed rules" in client.get(f"/b/ward/pair-runs/{run.public_id}/").content.decode()


def test_the_page_names_pairs_that_are_not_in_the_run_and_no_meaningless_interval(loopback: Loopback) -> None:
    pairs = [scripted(f"P{number} 4-4s | 4-4s") for number in range(1, 8)]
    world = make_world("ward", pairs, {"A": {pair["case"]: NINE for pair in pairs}})
    for key in ("P1", "P2", "P3", "P4", "P5", "P6"):
        world.judge(key)
    run = world.run(loopback.url, config={"trials": 1})  # of confirmed pairs
    report = report_on(world, run)
    assert report.result["facts"]["n_elsewhere"] == {"open": 1, "confirmed": 0}
    client = Client()
    client.force_login(world.admin)
    page = " ".join(client.get(f"/b/ward/validity/{report.public_id}/").content.decode().split())
    assert "pairs of this run have been confirmed as dangerous" in page
    waiting = "1 more pair of the benchmark was waiting for physicians when this report was computed"
    assert f"{waiting}, and was not in the run." in page
    assert "that of the text with the error" in page and "that of the candidate" not in page
    # Δ is 0 in all pairs: an interval from six cases alone, to both sides of 0, says nothing.
    assert re.search(r"0\.000 <span class=\"ci by-cases-alone\"[^>]*>too few cases to say anything†<", page)
