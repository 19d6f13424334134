"""The report *Where physicians disagree* on the made-up panel, against figures that other code computed of it."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agreement.kinds.acuity_uncertainty import finding
from agreement.models import Report
from agreement.replication import gaps
from agreement.replication.checks import some_datasets
from agreement.reports.parameters import WrongParameters
from agreement.services import create_report, run
from rubrics.models import Benchmark
from tests.agreement.acuity.test_acuity_file import rows as rows_of_file
from tests.agreement.acuity.test_acuity_file import run as run_file
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory
from tests.regions import region_names

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"
EXACT = 1e-9


def command(*arguments: object) -> None:
    call_command(*map(str, arguments), stdout=io.StringIO(), stderr=io.StringIO())


@pytest.fixture
def benchmark() -> Benchmark:
    benchmark = BenchmarkFactory(slug="panel")
    command("import_acuity", DATA / "readings.csv", "--benchmark", "panel", "--dataset", "fixture")
    return benchmark


@pytest.fixture
def voted(benchmark: Benchmark) -> Benchmark:
    command("import_votes", DATA / "votes.csv", "--benchmark", "panel", "--group", "Panel")
    command("reference_set", "--benchmark", "panel")
    return benchmark


@pytest.fixture
def report(voted: Benchmark) -> Report:
    kind = Report.Kind.ACUITY_UNCERTAINTY
    new = create_report(benchmark=voted, kind=kind, parameters={}, at=timezone.now())
    run(report_id=new.pk, clock=timezone.now)
    new.refresh_from_db()
    assert new.status == "done", new.error
    return new


@pytest.fixture
def staff(voted: Benchmark, client: Client) -> Client:
    client.force_login(BenchmarkRoleFactory(benchmark=voted, role="researcher").user)
    return client


def table(staff: Client, report: Report, name: str) -> list[dict[str, str]]:
    answer = staff.get(f"/b/panel/acuity/{report.public_id}/tables/{name}.csv")
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))  # type: ignore[attr-defined]


def summary(rows: list[dict[str, str]], **which: str) -> dict[str, str]:
    (own,) = [row for row in rows if all(row[name] == value for name, value in which.items())]
    return own


def test_the_figures_are_those_of_other_code(report: Report, staff: Client) -> None:
    own = summary(table(staff, report, "uncertainty"), candidate="Model A", format="qa", set="ambiguous")
    expected = {
        "tvd": 0.525, "w1": 0.745, "jsd": 0.2640030087389268, "rps": 0.25633333333333336, "cdf2": 0.10808333333333335,
        "cdf2_corrected": 0.06705555555555556, "uncertainty_error": 0.6042705653054944, "cost": 1.901,
        "cost_best": 0.995, "regret": 0.906, "ceiling_rps": 0.2319675925925926, "ceiling_tvd": 0.5566666666666668,
        "ceiling_w1": 0.8766666666666667, "ceiling_jsd": 0.34364597166532923,
    }  # fmt: skip
    assert {name: float(own[name]) for name in expected} == pytest.approx(expected, abs=EXACT)
    (panel,) = table(staff, report, "panel")
    assert (panel["n_clear"], panel["n_boundary"], panel["n_ambiguous"]) == ("29", "1", "10")
    assert float(panel["alpha_ordinal_single"]) == pytest.approx(0.7100872054488576, abs=EXACT)
    assert float(panel["alpha_set"]) == pytest.approx(0.7297059201621258, abs=EXACT)


def test_every_table_is_that_of_the_files(report: Report, staff: Client, tmp_path: Path) -> None:
    run_file(tmp_path, DATA / "readings.csv", votes=DATA / "votes.csv")
    for name in ("uncertainty", "uncertainty_cases", "panel", "panel_cases"):
        assert table(staff, report, name) == rows_of_file(tmp_path, name), name


def labelled_panel(tmp_path: Path, *datasets: tuple[str, set[str]]) -> tuple[Report, Client]:
    """The panel with labels of some of its cases, by dataset, and a dataset none of whose cases has votes."""
    benchmark, client = BenchmarkFactory(slug="panel"), Client()
    client.force_login(BenchmarkRoleFactory(benchmark=benchmark, role="researcher").user)
    with (DATA / "readings.csv").open(encoding="utf-8") as file:
        readings = list(csv.DictReader(file))
    named = {case for _name, cases in datasets for case in cases}
    parts = [(name, [{**row, "reference": "urgent-care"} for row in readings if row["case"] in cases])
             for name, cases in datasets]  # fmt: skip
    parts.append(("without-votes", [{**readings[0], "case": "elsewhere", "reference": "self-care"}]))
    parts.append(("unlabelled", [row for row in readings if row["case"] not in named]))
    for name, own in parts:
        if not own:
            continue
        path = tmp_path / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, own[0])
            writer.writeheader()
            writer.writerows(own)
        command("import_acuity", path, "--benchmark", "panel", "--dataset", name)
    command("import_votes", DATA / "votes.csv", "--benchmark", "panel", "--group", "Panel")
    command("reference_set", "--benchmark", "panel")
    report = create_report(benchmark=benchmark, kind=Report.Kind.ACUITY_UNCERTAINTY, parameters={}, at=timezone.now())
    run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report, client


FIRST, SECOND = ({f"case-{n:02d}" for n in numbers} for numbers in (range(1, 11), range(11, 21)))


def test_the_panel_is_counted_by_the_datasets_of_its_labels(tmp_path: Path) -> None:
    report, client = labelled_panel(tmp_path, ("first", FIRST), ("second", SECOND))
    statuses = {row["case"]: row["panel_status"] for row in table(client, report, "panel_cases")}
    rows = {row["dataset"]: row for row in table(client, report, "panel_datasets")}
    assert list(rows) == ["all", "first", "second", ""]  # none of those without votes
    rest = set(statuses) - FIRST - SECOND
    assert len(rest) == 20
    for name, cases in (("all", set(statuses)), ("first", FIRST), ("second", SECOND), ("", rest)):
        own = [statuses[case] for case in cases]
        counts = [len(own), *(own.count(status) for status in ("clear", "boundary", "ambiguous"))]
        assert [int(rows[name][f"n_{n}"]) for n in ("cases", "clear", "boundary", "ambiguous")] == counts, name
    (panel,) = table(client, report, "panel")
    assert {**rows["all"], "set": "panel"} == {**panel, "dataset": "all"}
    html = client.get(f"/b/panel/acuity/{report.public_id}/").content.decode()
    assert "Panel cases by dataset" in html and "No dataset" in html


def test_a_panel_with_labels_of_other_cases_alone_has_no_datasets(tmp_path: Path) -> None:
    report, client = labelled_panel(tmp_path)
    rows = table(client, report, "panel_datasets")
    assert [row["dataset"] for row in rows] == ["all"]
    assert some_datasets([dict(row) for row in rows]) == [gaps.DATASETS]
    report.tables.filter(name="panel_datasets").delete()  # as in a report from before there was the table
    answer = client.get(f"/b/panel/acuity/{report.public_id}/")
    assert answer.status_code == 200 and "Panel cases by dataset" not in answer.content.decode()


def test_the_distributions_behind_it_are_those_of_the_panel(report: Report, staff: Client) -> None:
    cases: dict[str, Any] = json.loads((DATA / "expected.json").read_text("utf-8"))["cases"]
    spread: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for row in table(staff, report, "spread"):
        key = row["case"], row["candidate"], row["format"]
        spread.setdefault(key, []).append((float(row["q"]), float(row["f"])))
    assert spread
    for (case, _candidate, _format), shares in spread.items():
        assert [q for q, _f in shares] == pytest.approx(cases[case]["distribution"], abs=EXACT)
        assert sum(f for _q, f in shares) == pytest.approx(1)


def test_the_page_shows_them(report: Report, staff: Client) -> None:
    page = staff.get(f"/b/panel/acuity/{report.public_id}/").content.decode()
    assert "On 10 ambiguous cases" in page
    for shown in ("0.256", "0.232", "0.710", "0.730"):
        assert shown in page
    assert "Error compared with the panel’s own spread" in page
    assert "No ambiguous cases to compare" not in page
    methods = staff.get(f"/b/panel/acuity/{report.public_id}/methods.txt").content.decode()
    assert "10 cases were ambiguous by the rule dispersion:0.75" in methods


def test_it_says_which_candidates_are_alike_or_not_drawn(report: Report, staff: Client) -> None:
    page = " ".join(staff.get(f"/b/panel/acuity/{report.public_id}/").content.decode().split())
    # Ten cases are fewer than a claim takes.
    assert "There are too few cases to draw conclusions." in page
    assert "Shown: the candidate closest to the panel and the next one:" in page
    rows = table(staff, report, "uncertainty")
    ambiguous = [{**row, "rps": 0.25, "ceiling_rps": 0.3, "n_cases": 2} for row in rows if row["set"] == "ambiguous"]
    ambiguous[0]["rps"], ambiguous[3]["rps"] = 0.26, None
    assert finding(ambiguous).endswith("Equally close: Model B (Forced choice).")
    assert "Equally close" not in finding(ambiguous[:2])


def test_each_table_has_a_name_of_its_own(report: Report, staff: Client) -> None:
    page = staff.get(f"/b/panel/acuity/{report.public_id}/").content.decode()
    names = region_names(page)
    assert len(names) >= 4 and len(set(names)) == len(names)


def test_a_set_without_ambiguous_cases_says_what_to_do(voted: Benchmark, staff: Client) -> None:
    command("reference_set", "--benchmark", "panel", "--ambiguous", "dispersion:9")
    report = create_report(
        benchmark=voted,
        kind=Report.Kind.ACUITY_UNCERTAINTY,
        parameters={"reference_set": 2},
        at=timezone.now(),
    )
    run(report_id=report.pk, clock=timezone.now)
    page = staff.get(f"/b/panel/acuity/{report.public_id}/").content.decode()
    assert "Reference set 2 classifies no case with a panel as ambiguous." in page
    assert 'href="/b/panel/reference-sets/"' in page
    assert "undefined" not in page
    assert "All panel cases" in page


def test_it_is_fresh_until_somebody_reads_something_else(report: Report, voted: Benchmark, tmp_path: Path) -> None:
    from agreement.kinds import KINDS

    kind = KINDS[report.kind]
    assert kind.digest is not None
    assert kind.digest(voted, report.parameters) == report.input_digest
    more = tmp_path / "more.csv"
    more.write_text("case,candidate,format,sample,level\ncase-01,Model A,qa,5,emergency\n", encoding="utf-8")
    command("import_acuity", more, "--benchmark", "panel", "--dataset", "fixture")
    assert kind.digest(voted, report.parameters) != report.input_digest


def test_a_set_without_votes_is_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("case,candidate,level,reference\ncase-01,Model C,emergency,emergency\n", encoding="utf-8")
    command("import_acuity", labels, "--benchmark", "panel", "--dataset", "labels")
    command("reference_set", "--benchmark", "panel")
    with pytest.raises(WrongParameters, match="Reference set 1 contains no physicians’ votes"):
        create_report(benchmark=benchmark, kind=Report.Kind.ACUITY_UNCERTAINTY, parameters={}, at=timezone.now())


def test_the_command_writes_the_tables_of_the_report(report: Report, staff: Client, tmp_path: Path) -> None:
    command("acuity_uncertainty", "--benchmark", "panel", "--out", tmp_path / "out")
    for name in ("uncertainty", "uncertainty_cases", "panel", "panel_cases", "spread"):
        assert table(staff, report, name) == rows_of_file(tmp_path, name), name
