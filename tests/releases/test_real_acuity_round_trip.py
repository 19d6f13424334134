"""Real panels and results of acuity come back from a release to the same reports, byte for byte."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import pytest

from tests.factories import BenchmarkFactory
from tests.releases.acuity_trips import back, release_of, reports
from tests.releases.releasing import command

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DATA = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "acuity"


def test_the_panel_comes_back_to_the_same_reports(tmp_path: Path) -> None:
    benchmark = BenchmarkFactory(slug="panel", licence="CC-BY-4.0")
    command("import_acuity", str(DATA / "readings.csv"), "--benchmark", "panel", "--dataset", "fixture")
    command("import_votes", str(DATA / "votes.csv"), "--benchmark", "panel", "--group", "Panel")
    command("reference_set", "--benchmark", "panel")
    root = release_of(benchmark, tmp_path / "release")
    assert "readings: 800 created" in back(root)
    before = reports("panel", tmp_path / "panel")
    assert before == reports("other", tmp_path / "other")
    assert {
        "acuity/acuity.csv",
        "acuity/unusable.csv",
        "acuity/settings.json",
        "acuity_uncertainty/uncertainty.csv",
    } <= {*before}


def test_results_of_a_public_set_come_back_to_the_same_report(tmp_path: Path) -> None:
    benchmark = BenchmarkFactory(slug="public", licence="CC-BY-4.0")
    for name in ("gpt-4.5", "medask"):
        arguments = ("--benchmark", "public", "--dataset", "semigran", "--scheme", "em-ne-sc", "--candidate", name)
        command("import_acuity", str(DATA / "medask" / f"semigran_{name}.jsonl"), *arguments)
    command("reference_set", "--benchmark", "public")
    root = release_of(benchmark, tmp_path / "release")
    shutil.rmtree(root / "cases")  # the folder of acuity alone is enough
    back(root / "acuity")
    before = reports("public", tmp_path / "public", "acuity")
    assert before == reports("other", tmp_path / "other", "acuity")
    rows = list(csv.DictReader(before["acuity/acuity.csv"].decode().splitlines()))
    pooled = {row["candidate"]: row for row in rows if row["aggregate"] == "pooled"}
    assert float(pooled["gpt-4.5"]["accuracy"]) == pytest.approx(155 / 225)
