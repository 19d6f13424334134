"""The report on drafting: by page, API, files and command; expected values are counted by hand in `decided_world`."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.drafted.inputs import DecidedSuggestion, DraftedCase, DraftedInputs
from agreement.drafted.missed import missed_by
from agreement.drafted.rubric_tables import rubric_rows
from agreement.models import Report
from agreement.reports.stored import table_of
from consilium.core.errors import DomainError
from consilium.statistics.intervals import DEFAULT_RULE
from rubrics.services.drafts import open_draft
from tests import factories
from tests.agreement.drafted.decided_world import DecidedWorld, decided_world
from tests.drafting.suggestions.drafted import own
from tests.scoring.conftest import Loopback
from tests.validation.coverage.coverage_world import worked_example

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
EXACT: dict[str, Any] = {"rel": 0, "abs": 1e-9}


@pytest.fixture(scope="module")
def shared_world(rows_of_the_module: None) -> DecidedWorld:
    return decided_world()


@pytest.fixture
def world(shared_world: DecidedWorld) -> DecidedWorld:
    return shared_world


def report_on(world: DecidedWorld, **parameters: Any) -> Report:
    report = services.create_report(
        benchmark=world.benchmark, kind="drafting", parameters=parameters, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def rows_of(report: Report, table: str, key: str = "slice") -> dict[str, Any]:
    return {row[key]: row for row in table_of(report, table).dicts()}


def test_figures_counted_by_hand(world: DecidedWorld) -> None:
    rows = rows_of(report_on(world), "drafting")
    whole = rows["all"]
    assert {name: whole[f"n_{name}"] for name in ("cases", "decided", "accepted", "edited", "rejected")} == {
        "cases": 2, "decided": 6, "accepted": 1, "edited": 2, "rejected": 3,
    }  # fmt: skip
    assert whole["acceptance"] == pytest.approx(3 / 6, **EXACT)
    assert whole["as_is"] == pytest.approx(1 / 6, **EXACT)
    # One reworded by 32/70, one with other points alone.
    assert whole["distance_mean"] == pytest.approx(16 / 70, **EXACT)
    assert whole["distance_median"] == pytest.approx(16 / 70, **EXACT)
    assert (whole["distance_q1"], whole["distance_q3"]) == pytest.approx((8 / 70, 24 / 70), **EXACT)
    assert whole["points_changed"] == pytest.approx(1 / 3, **EXACT)
    assert whole["points_shift"] == pytest.approx(2 / 3, **EXACT)  # 5 became 7
    # Four were taken at some time; one of them was removed again.
    assert (whole["n_once_taken"], whole["n_surviving"]) == (4, 3)
    assert whole["survival"] == pytest.approx(3 / 4, **EXACT)
    # Rejected: problem, none, none. Taken: note, none, none. Of nine pairs 3 are won, and 4 are ties.
    assert whole["auroc"] == pytest.approx((3 + 4 / 2) / 9, **EXACT)
    assert whole["acceptance_low"] is None
    assert "2 of the 10 cases needed" in whole["note"]
    assert whole["endpoint_kind"] == "rules" and rows["recipe:full 1"]["endpoint_kind"] == "model"
    decided = {name: row["n_decided"] for name, row in rows.items()}
    month = f"{timezone.now():%Y-%m}"
    assert decided == {
        "all": 6, "recipe:direct 2": 2, "recipe:full 1": 4,
        "kind:need": 1, "kind:none": 3, "kind:number": 2, "kind:red_flag": 1,
        "axis:accuracy": 4, "axis:communication": 1, "axis:completeness": 1,
        "author:author 1": 4, "author:author 2": 2, f"month:{month}": 6,
    }  # fmt: skip


def test_rubrics_time_and_own_lists(world: DecidedWorld) -> None:
    rows = rows_of(report_on(world), "drafting_rubrics")
    whole = rows["all"]
    assert (whole["n_criteria"], whole["n_from_suggestions"]) == (6, 3)
    assert whole["share_of_rubric"] == pytest.approx(0.5, **EXACT)
    assert rows["recipe:full 1"]["share_of_rubric"] == pytest.approx(2 / 3, **EXACT)
    assert whole["missed"] is None and "no run of coverage was named" in whole["note"]
    assert (whole["n_timed"], whole["author_minutes"]) == (2, 7.5)
    assert (whole["n_reviewed"], whole["reviewer_minutes"]) == (1, 1.5)
    # a was opened with nothing written, b with two criteria; one of its suggestions said one of them twice.
    assert (whole["n_lists"], whole["own_criteria"], whole["n_added"], whole["n_double"]) == (2, 1.0, 3, 1)


def test_reasons_findings_and_every_suggestion(world: DecidedWorld) -> None:
    report = report_on(world)
    reasons = [row for row in table_of(report, "drafting_reasons").dicts() if row["slice"] == "all"]
    assert {row["reason"]: row["n"] for row in reasons if row["n"]} == {"wrong": 1, "double": 1, "none_given": 1}
    assert [row["share"] for row in reasons if row["n"]] == [pytest.approx(1 / 3, **EXACT)] * 3
    findings = rows_of(report, "drafting_findings", "finding")
    assert list(findings) == ["unsupported", "moved_quote", "none"]
    assert [row["rejected"] for row in findings.values()] == [1.0, 0.0, 0.5]
    suggestions = table_of(report, "drafting_suggestions").dicts()
    assert [(row["case"], row["number"], row["state"]) for row in suggestions] == [
        ("a", 1, "accepted"), ("a", 2, "edited"), ("a", 3, "rejected"), ("a", 4, "rejected"),
        ("b", 1, "edited"), ("b", 2, "rejected"),
    ]  # fmt: skip
    assert suggestions[1]["distance"] == pytest.approx(32 / 70, **EXACT)
    assert suggestions[1]["rests_on"] == "need; red_flag"
    assert [row["n_decided"] for row in table_of(report, "drafting_cases").dicts()] == [4, 2]


def test_page_files_and_api(world: DecidedWorld, client: Client) -> None:
    report = report_on(world)
    client.force_login(world.admin)
    slug = world.benchmark.slug
    place = f"/b/{slug}/validity/{report.public_id}"
    page = client.get(f"{place}/").content.decode()
    for words in (
        "0.500",
        "Not supported by its facts",
        "Duplicate criterion",
        "rules, not by a language model",
        "too few",
    ):
        assert words in page, words
    keys = [row["case"] for row in table_of(report, "drafting_cases").dicts()]
    for case in world.benchmark.cases.filter(key__in=keys):
        assert f'href="/b/{slug}/cases/{case.public_id}/"' in page
    assert "saves time" in page and "does not say whether drafting saves time" in page
    assert "Up to date" in client.get(f"{place}/freshness").content.decode()
    svg = b"".join(client.get(f"{place}/figures/axes.svg")).decode()
    assert "completeness" in svg and "rules" in svg
    assert client.get(f"{place}/figures/months.svg").status_code == 200
    text = b"".join(client.get(f"{place}/tables/drafting.csv")).decode()
    assert next(row["acceptance"] for row in csv.DictReader(StringIO(text))) == "0.5"
    detail = client.get(f"/api/v1/benchmarks/{slug}/reports/{report.public_id}/").json()
    assert detail["figures"] == ["axes", "months"]
    assert "drafting_rubrics" in detail["tables"]
    methods = client.get(f"{place}/methods.txt").content.decode()
    assert "Levenshtein 1966" in methods and "Hanley, McNeil 1982" in methods
    other = factories.UserFactory()
    client.force_login(other)
    assert client.get(f"{place}/").status_code == 404


def test_a_later_decision_makes_it_stale(world: DecidedWorld, client: Client) -> None:
    report = report_on(world)
    c = world.drafted["c"]
    client.force_login(world.admin)
    place = f"/b/{world.benchmark.slug}/validity/{report.public_id}"
    c.publish()
    fragment = client.get(f"{place}/freshness").content.decode()
    assert "Stale" in fragment
    assert rows_of(report_on(world), "drafting")["all"]["n_decided"] == 10


def test_a_criterion_dropped_by_a_later_version_survives_no_more(world: DecidedWorld) -> None:
    b = world.drafted["b"]
    open_draft(case=b.case, by=b.author, at=timezone.now())
    b.publish([own("Names fever"), own("Names drowsiness")], note="The rash goes.")
    rows = rows_of(report_on(world), "drafting")
    assert (rows["all"]["n_accepted"], rows["all"]["n_edited"], rows["all"]["n_surviving"]) == (1, 2, 2)
    assert rows["recipe:direct 2"]["survival"] == 0.0


def test_the_command_writes_what_the_report_has(world: DecidedWorld, tmp_path: Path) -> None:
    out = StringIO()
    call_command("drafting_report", benchmark=world.benchmark.slug, out=tmp_path, stdout=out)
    rows = list(csv.DictReader(StringIO((tmp_path / "drafting.csv").read_text(encoding="utf-8"))))
    stored = table_of(report_on(world), "drafting").dicts()
    assert [row["slice"] for row in rows] == [row["slice"] for row in stored]
    assert [float(row["acceptance"]) for row in rows] == [row["acceptance"] for row in stored]
    assert "drafted by rules" in out.getvalue()


def test_what_no_suggestion_covers_by_a_run_of_coverage(loopback: Loopback) -> None:
    """The worked example: set A covers 17 of 25 gold points in full, and 1 answer is invalid; case 6 has 3 points."""
    world = worked_example()
    run = world.run(loopback.url)
    missed = missed_by(world.benchmark, f"{run.public_id}/A")
    assert (sum(missed.points.values()), sum(missed.missed.values()), sum(missed.unanswered.values())) == (25, 8, 1)
    kept = {"run": "r", "recipe": "full 1", "number": 1, "axis": "", "kinds": ("none",), "findings": (), "month": ""}
    decided = {"state": "rejected", "reason": None, "author": "", "points": 1, "final_points": None, "distance": None}
    rest = {"seconds_read": 0, "once_taken": False, "stands": False, "endpoint_kind": "model"}
    inputs = DraftedInputs(
        [DecidedSuggestion(suggestion=key, case=key, **kept, **decided, **rest) for key in ("c1", "c6")],
        [DraftedCase(key, key, 1, 3, 0, None, None, ()) for key in ("c1", "c6")],
    )
    (whole, _recipe) = rubric_rows(inputs, rule=DEFAULT_RULE, missed=missed)
    # c1: one of three points is not covered in full; c6: one of three.
    assert (whole["n_points"], whole["n_missed"]) == (6, 2)
    assert whole["missed"] == pytest.approx(1 / 3, **EXACT)


def test_nothing_decided_is_refused(tmp_path: Path) -> None:
    benchmark = factories.BenchmarkFactory()
    with pytest.raises(CommandError, match="No suggestion has been decided on"):
        call_command("drafting_report", benchmark=benchmark.slug, out=tmp_path)
    with pytest.raises(DomainError, match="does not name a set from a coverage run"):
        services.create_report(
            benchmark=benchmark, kind="drafting", parameters={"coverage": "nothing/here"}, at=timezone.now()
        )
