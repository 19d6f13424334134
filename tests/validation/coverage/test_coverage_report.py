"""The report on coverage: figures by page, API and files, staleness, methods, and who may see it."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.kinds import coverage_page
from agreement.models import Report
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from rubrics.models import Case
from tests.scoring.conftest import Loopback
from tests.validation.coverage.coverage_world import CoverageWorld, matching, worked_example
from validation.coverage.building import names_its_judge
from validation.coverage.services import ask_physicians, decide
from validation.models import CoverageDecision, CoverageRun, RubricSet

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
EXACT: dict[str, Any] = {"rel": 0, "abs": 1e-9}


def report_on(world: CoverageWorld, run: CoverageRun, **more: Any) -> Report:
    report = services.create_report(
        benchmark=world.benchmark,
        kind="coverage",
        parameters={"run": run.public_id, **more.pop("parameters", {})},
        at=timezone.now(),
        **more,
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def test_the_worked_example_by_page_api_and_file(loopback: Loopback, client: Client) -> None:
    world = worked_example()
    report = report_on(world, world.run(loopback.url))
    client.force_login(world.admin)
    slug = world.benchmark.slug
    page = client.get(f"/b/{slug}/validity/{report.public_id}/").content.decode()
    assert "0.680" in page and "0.480" in page
    assert "Gold c1 2" in page  # what a set does not cover
    by_axis = page.split("Axis: accuracy")[1].split("Sign of the points:")[0]
    assert all(f">{name}<" in by_axis for name in ("A", "B", "gold against itself", "B of the next case"))
    assert "rules, not by a language model" not in page
    at = f"/api/v1/benchmarks/{slug}/reports/{report.public_id}"
    body = client.get(f"{at}/tables/coverage/").json()
    rows = {row["set"]: row for row in body["results"] if row["slice"] == "all"}
    assert rows["A"]["cia"] == pytest.approx(0.68, **EXACT)
    assert rows["A"]["cia_mean_of_cases"] == pytest.approx(17 / 24, **EXACT)
    assert rows["B"]["cia"] == pytest.approx(0.48, **EXACT)
    detail = client.get(f"{at}/").json()
    assert {"coverage", "comparisons", "coverage_controls", "only_one", "uncovered"} <= set(detail["tables"])
    assert detail["figures"] == ["sets", "axes"]
    text = b"".join(client.get(f"/b/{slug}/validity/{report.public_id}/tables/comparisons.csv")).decode()
    (compared,) = [row for row in csv.DictReader(StringIO(text)) if row["slice"] == "all"]
    assert float(compared["p_clustered"]) == pytest.approx(0.110553142556, **EXACT)
    svg = client.get(f"/b/{slug}/validity/{report.public_id}/figures/sets.svg")
    assert svg.status_code == 200 and b"A of the next case" in b"".join(svg)


def test_pages_say_what_a_gold_set_a_gold_point_and_the_controls_are(loopback: Loopback, client: Client) -> None:
    world = worked_example()
    report = report_on(world, world.run(loopback.url))
    client.force_login(world.admin)
    gold = "Each of its criteria is a gold point."
    controls = "The two controls are the gold set measured against itself, and each set’s criteria for the next case"
    for address, words in (
        ("validity/", (gold, controls)),
        ("rubric-coverage/", (gold,)),
        (f"validity/{report.public_id}/", (gold, controls)),
    ):
        page = " ".join(client.get(f"/b/{world.benchmark.slug}/{address}").content.decode().split())
        for each in words:
            assert each in page, (address, each)


def test_the_menu_of_runs_has_the_day_in_the_readers_zone(loopback: Loopback, client: Client) -> None:
    world = worked_example()
    run = world.run(loopback.url)
    CoverageRun.objects.filter(pk=run.pk).update(created_at=datetime(2026, 3, 2, 20, 53, tzinfo=UTC))
    world.admin.time_zone = "Asia/Tokyo"
    world.admin.save(update_fields=["time_zone"])
    client.force_login(world.admin)
    entries = client.get(f"/b/{world.benchmark.slug}/validity/").context["entries"]
    (menu,) = [entry.form.fields["run"].choices for entry in entries if entry.kind.value == "coverage"]
    assert [label.rpartition(", ")[2] for _id, label in menu] == ["3 March 2026"]


def test_a_decision_makes_a_report_stale_and_puts_the_figure_right(loopback: Loopback, client: Client) -> None:
    """Physicians find two of the points that A covers in full to be covered in part."""
    world = worked_example()
    run = world.run(loopback.url, "A", config={"share": 1.0})
    before = report_on(world, run)
    client.force_login(world.admin)
    address = f"/b/{world.benchmark.slug}/validity/{before.public_id}"
    assert "Up to date" in client.get(f"{address}/freshness").content.decode()
    assert table_of(before, "coverage_powered").dicts()[0]["cia_powered"] is None
    ask_physicians(run=run, at=timezone.now())
    questions = CoverageDecision.objects.filter(run=run, stage="coverage").select_related("step").order_by("step__key")
    assert questions.count() == 25
    corrected = 0
    for own in questions:
        extent = own.step.output["extent"]
        answer = "none" if extent == "invalid" else extent
        if extent == "full" and corrected < 2:
            answer, corrected = "partly", corrected + 1
        decide(decision=own, answer=answer, by=world.physicians[0], at=timezone.now())
    stale = client.get(f"{address}/freshness").content.decode()
    assert "25 answers decided" in stale
    assert "Check if stale" in client.get(f"/b/{world.benchmark.slug}/validity/").content.decode()
    after = report_on(world, run)
    row = table_of(after, "coverage_powered").dicts()[0]
    # All are decided on, so the figure is that of the physicians: 15 of 25.
    assert (row["n_decided"], row["cia_judge"]) == (25, pytest.approx(0.68, **EXACT))
    assert row["cia_powered"] == pytest.approx(15 / 25, **EXACT)
    judge = table_of(after, "coverage_judge").dicts()[0]
    assert judge["agreement"] == pytest.approx(22 / 25, **EXACT)  # an invalid answer agrees with nothing
    assert judge["agreement_full"] == pytest.approx(23 / 25, **EXACT)
    again = client.post(f"/b/{world.benchmark.slug}/validity/{after.public_id}/recompute")
    second = Report.objects.get(recomputes=after)
    assert again["Location"].endswith(f"/{second.public_id}/")
    services.run(report_id=second.pk, clock=timezone.now)
    for name in ("coverage", "coverage_powered", "uncovered"):
        assert table_of(second, name).dicts() == table_of(after, name).dicts()
    methods = client.get(f"/b/{world.benchmark.slug}/validity/{after.public_id}/methods.txt").content.decode()
    assert "decided on 25 answers" in methods and "Angelopoulos" in methods
    assert "for A of the next case 0.000" in methods


def test_a_decision_weighs_the_inverse_of_its_share(loopback: Loopback) -> None:
    """Of 17 points in full 4 are decided on, 1 of them as partly; of 5 not covered 1; both partly; the invalid one."""
    world = worked_example()
    run = world.run(loopback.url, "A")
    ask_physicians(run=run, at=timezone.now())
    corrected = False
    for own in CoverageDecision.objects.filter(run=run, stage="coverage").select_related("step"):
        extent = own.step.output["extent"]
        answer = "none" if extent == "invalid" else extent
        if extent == "full" and not corrected:
            answer, corrected = "partly", True
        decide(decision=own, answer=answer, by=world.physicians[0], at=timezone.now())
    report = report_on(world, run)
    judge = table_of(report, "coverage_judge").dicts()[0]
    assert judge["n_decided"] == 4 + 1 + 2 + 1
    assert judge["agreement"] == pytest.approx((3 * 17 / 4 + 5 + 2) / 25, **EXACT)
    assert judge["agreement_full"] == pytest.approx((3 * 17 / 4 + 5 + 2 + 1) / 25, **EXACT)
    powered = table_of(report, "coverage_powered").dicts()[0]
    assert powered["cia_physicians"] == pytest.approx(3 * 17 / 4 / 25, **EXACT)
    weighted = {(row["judge"], row["physicians"]): row for row in table_of(report, "coverage_confusion").dicts()}
    assert [weighted["full", "partly"][name] for name in ("n", "weighted")] == [1, 17 / 4]


def test_a_case_that_is_excluded_later_counts_no_more(loopback: Loopback, client: Client) -> None:
    world = worked_example()
    run = world.run(loopback.url)
    before = report_on(world, run)
    # Case c1 has three points; A covers two of them in full, B one.
    Case.objects.filter(benchmark=world.benchmark, key="c1").update(
        excluded_at=timezone.now(), exclusion_reason="It is there twice."
    )
    client.force_login(world.admin)
    freshness = client.get(f"/b/{world.benchmark.slug}/validity/{before.public_id}/freshness").content.decode()
    assert "<strong>Stale</strong>" in freshness
    row = table_of(report_on(world, run), "coverage").dicts()[0]
    assert (row["n_points"], row["n_cases"]) == (22, 11)
    assert row["cia"] == pytest.approx(15 / 22, **EXACT)


def test_few_cases_and_a_judge_named_by_a_set_are_named(loopback: Loopback, client: Client) -> None:
    world = matching()
    run = world.run(loopback.url, model="drafted")
    assert run.terms["names_its_judge"] == ["drafted"]
    report = report_on(world, run)
    client.force_login(world.admin)
    page = client.get(f"/b/{world.benchmark.slug}/validity/{report.public_id}/").content.decode()
    assert "too few to draw conclusions" in page
    assert "it may have judged criteria that it wrote" in page


def test_captions_say_what_intervals_are_over_and_which_controls_there_are(loopback: Loopback) -> None:
    world = matching()  # one case, so there is no next one
    run = world.run(loopback.url)
    for over, words in (("cases", "intervals over cases"), ("points", "intervals over gold points")):
        report = report_on(world, run, parameters={"over": over})
        sets = next(iter(coverage_page.figures(report)))
        assert words in sets.caption and "next case" not in sets.caption
    assert "The run has only one case" in coverage_page.body(report, "")["controls"].remark


def test_a_judge_is_named_by_a_part_of_a_name_a_description_or_a_file() -> None:
    sets = [
        RubricSet(name="By Clever-2, spring"),
        RubricSet(name="B", description="Drafted by clever-2."),
        RubricSet(name="C", file_name="clever-2.jsonl"),
        RubricSet(name="Clever"),
    ]
    assert names_its_judge("somebody/clever-2", sets) == ["By Clever-2, spring", "B", "C"]
    assert names_its_judge("", sets) == []


def test_the_command_writes_what_the_report_has(loopback: Loopback, tmp_path: Any) -> None:
    world = worked_example()
    run = world.run(loopback.url)
    report = report_on(world, run)
    out = StringIO()
    call_command("coverage", benchmark=world.benchmark.slug, set="A", against="B", judge="ok", out=tmp_path, stdout=out)
    written = list(csv.DictReader(StringIO((tmp_path / "coverage.csv").read_text(encoding="utf-8"))))
    stored = table_of(report, "coverage").dicts()
    assert len(written) == len(stored)
    for own, other in zip(written, stored, strict=True):
        assert float(own["cia"]) == pytest.approx(other["cia"], **EXACT)
    assert "0.680000" in out.getvalue()
    # All 2 + 3 that are partly and the invalid one, and of the 17 + 5 and 12 + 10 others a fifth of each, rounded up.
    names = {"benchmark": world.benchmark.slug, "set": "A", "judge": "ok", "out": tmp_path, "overwrite": True}
    call_command("coverage", **names, ask_physicians=True, stdout=out)
    questions = CoverageDecision.objects.filter(run=run)
    assert questions.filter(stage="coverage").count() == 2 + 3 + 1 + 4 + 1 + 3 + 2
    assert f"{questions.count()} more questions wait for physicians" in out.getvalue()
    call_command("coverage", **names, ask_physicians=True, stdout=out)
    assert "0 more questions wait for physicians" in out.getvalue()


def test_methods_say_how_many_of_the_questions_are_decided(loopback: Loopback) -> None:
    world = worked_example()
    run = world.run(loopback.url, "A", config={"share": 1.0})
    ask_physicians(run=run, at=timezone.now())
    questions = list(CoverageDecision.objects.filter(run=run, stage="coverage").order_by("pk"))
    decide(decision=questions[0], answer="none", by=world.physicians[0], at=timezone.now())
    assert "decided on 1 of 25 answers that were put to them in random order: all" in _methods(world, run)
    for question in questions[1:]:
        decide(decision=question, answer="none", by=world.physicians[0], at=timezone.now())
    assert "decided on 25 answers: all that were partly or invalid" in _methods(world, run)


def _methods(world: CoverageWorld, run: CoverageRun) -> str:
    return methods_of(report_on(world, run)).text


def test_each_set_has_rows_in_the_list_of_what_it_lacks_and_p_is_never_0(monkeypatch: pytest.MonkeyPatch) -> None:
    point = {"case": "c", "points": 1, "extent": "none", "why": ""}
    lacking = [{**point, "set": name, "text": f"{name}{number}"} for name in "AB" for number in range(60)]
    compared = {
        "first": "A",
        "second": "B",
        "slice": "all",
        "b": 90,
        "c": 0,
        "difference": 0.5,
        "low": 0.4,
        "high": 0.6,
    }
    tests = {"p_clustered": 1e-9, "p_exact": 0.0004, "p_mid": None, "note": "p_mid: no reason"}
    tables = {"uncovered": lacking, "comparisons": [{**compared, **tests}]}
    monkeypatch.setattr(coverage_page, "table_of", lambda report, name: _Rows(tables[name]))
    table = coverage_page._uncovered(Report())
    assert {name: len(rows) for name, rows in table.groups.items()} == {"A": 50, "B": 50}
    assert "20" in table.remark
    (row,) = coverage_page._comparisons(Report()).groups[""]
    assert row[5:7] == ["&lt; 0.001", "&lt; 0.001"] and "undefined" in row[7]


class _Rows:
    """A stored table."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.dicts = lambda: rows
