"""The report on both formats of the made-up panel, against figures that other code computed of it."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement.models import Report
from agreement.services import create_report, run
from rubrics.models import Benchmark
from tests.agreement.acuity.test_acuity_file import rows as rows_of_file
from tests.agreement.acuity.test_acuity_file import run as run_file
from tests.agreement.acuity.test_real_uncertainty_report import (  # noqa: F401  # fixtures
    DATA,
    EXACT,
    benchmark,
    command,
    staff,
    summary,
    table,
    voted,
)
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def reported(voted: Benchmark, kind: str) -> Report:  # noqa: F811
    new = create_report(benchmark=voted, kind=kind, parameters={}, at=timezone.now())
    run(report_id=new.pk, clock=timezone.now)
    new.refresh_from_db()
    assert new.status == "done", new.error
    return new


@pytest.fixture
def report(voted: Benchmark) -> Report:  # noqa: F811
    return reported(voted, Report.Kind.ACUITY_FORMATS)


def test_the_figures_are_those_of_other_code(report: Report, staff: Client) -> None:  # noqa: F811
    tests = table(staff, report, "tests")
    mcnemar, bowker, margins = (
        summary(tests, candidate="Model A", test=name) for name in ("mcnemar", "bowker", "stuart_maxwell")
    )
    assert float(mcnemar["p"]) == pytest.approx(0.4239501953125, abs=EXACT)
    assert re.findall(r"\d+", mcnemar["note"]) == ["9", "5"]
    assert float(bowker["statistic"]) == pytest.approx(3.533333333333333, abs=EXACT)
    assert bowker["df"] == "4"
    assert float(margins["statistic"]) == pytest.approx(3.32258064516129, abs=EXACT)
    assert margins["df"] == "3"
    shift = summary(table(staff, report, "formats"), candidate="Model A", slice="all", measure="shift")
    assert float(shift["difference"]) == pytest.approx(-0.225, abs=EXACT)
    assert shift["n_cases"] == "40"


def test_the_page_shows_them(report: Report, staff: Client) -> None:  # noqa: F811
    page = staff.get(f"/b/panel/acuity/{report.public_id}/").content.decode()
    for shown in (
        "Model A",
        "0.42",
        "−0.225",
        "df 3",
        "Forced choice compared with advice",
        "From forced choice to advice",
    ):
        assert shown in page, shown
    for name in ("gaps", "slopes"):
        figure = staff.get(f"/b/panel/acuity/{report.public_id}/figures/{name}.svg")
        assert figure.status_code == 200
        assert b"<svg" in figure.content
    methods = staff.get(f"/b/panel/acuity/{report.public_id}/methods.txt").content.decode()
    assert "Stuart–Maxwell" in methods


def test_the_command_and_the_files_say_the_same(
    report: Report, voted: Benchmark, staff: Client, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    run_file(tmp_path / "files", DATA / "readings.csv", votes=DATA / "votes.csv")
    command("acuity_formats", "--benchmark", "panel", "--out", tmp_path / "own" / "out")
    for name in ("formats", "joint", "tests"):
        own = table(staff, report, name)
        assert own == rows_of_file(tmp_path / "files", name), name
        assert own == rows_of_file(tmp_path / "own", name), name


def test_the_confidence_is_that_of_other_code(voted: Benchmark, staff: Client) -> None:  # noqa: F811
    rows = table(staff, reported(voted, Report.Kind.ACUITY), "confidence")
    stated = summary(rows, candidate="Model A", format="qa", confidence_source="stated")
    expected = {
        "ece_mass": 0.20930069930069928, "ece_width": 0.17573426573426582, "brier": 0.2681503496503497,
        "auroc": 0.458494623655914,
    }  # fmt: skip
    assert stated["n"] == "143"
    assert {name: float(stated[name]) for name in expected} == pytest.approx(expected, abs=EXACT)


def test_one_format_says_what_to_do(benchmark: Benchmark, staff: Client, tmp_path: Path) -> None:  # noqa: F811
    """Of a benchmark whose candidates have the forced choice alone."""
    lines = list(csv.reader(io.StringIO((DATA / "readings.csv").read_text("utf-8"))))
    place = lines[0].index("format")
    kept = tmp_path / "qa.csv"
    kept.write_text("\n".join(",".join(line) for line in lines if line[place] != "chat"), "utf-8")
    other = BenchmarkFactory(slug="alone")
    command("import_acuity", kept, "--benchmark", "alone", "--dataset", "fixture")
    command("import_votes", DATA / "votes.csv", "--benchmark", "alone", "--group", "Panel")
    command("reference_set", "--benchmark", "alone")
    report = reported(other, Report.Kind.ACUITY_FORMATS)
    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=other, role="researcher").user)
    page = client.get(f"/b/alone/acuity/{report.public_id}/").content.decode()
    assert "One format only" in page
    assert 'href="/b/alone/case-acuity/runs/new/"' in page
    with pytest.raises(CommandError, match="both formats"):
        call_command("acuity_formats", benchmark="alone", out=tmp_path / "none", stdout=io.StringIO())
