"""The published HealthBench labels, read where they lie (CONSILIUM_REAL_DATA): what the official code computes."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pytest
from django.core.management import call_command


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> tuple[str, dict[str, list[dict[str, str]]]]:
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    out, told = tmp_path_factory.mktemp("real"), io.StringIO()
    call_command(
        "agreement_file",
        folder / "meta_gold.jsonl",
        judge=folder / "judge_labels.jsonl",
        out=out,
        stdout=told,
    )
    return told.getvalue(), {
        path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8")))) for path in out.iterdir()
    }


def test_judge_against_all_physicians(tables):
    told, made = tables
    row = made["agreement"][0]
    assert (row["slice"], row["n_pairs"]) == ("all", "250")
    expected = {"f1_balanced": 0.696691, "mf1": 0.696691, "f1_met": 0.805882, "f1_not_met": 0.587500, "kappa": 0.393784}
    for column, value in expected.items():
        assert float(row[column]) == pytest.approx(value, abs=1e-6), column
        assert f"{value:.6f}" in told


def test_ceiling_of_the_physicians(tables):
    told, made = tables
    row = made["ceiling"][0]
    assert (row["slice"], row["n_pairs"]) == ("all", "282")
    expected = {"f1_balanced": 0.718500, "f1_met": 0.804348, "f1_not_met": 0.632653, "kappa": 0.437001}
    for column, value in expected.items():
        assert float(row[column]) == pytest.approx(value, abs=1e-6), column
        assert f"{value:.6f}" in told
    assert float(row["alpha"]) == pytest.approx(0.42515, abs=1e-5)


def test_every_category_and_physician_has_its_row(tables):
    _, made = tables
    assert len(made["agreement"]) == len(made["ceiling"]) == 1 + 33
    assert sum(int(row["n_pairs"]) for row in made["agreement"][1:]) == 250
    assert sum(int(row["n_pairs"]) for row in made["ceiling"][1:]) == 282
    overall = [row for row in made["physicians"] if row["slice"] == "all"]
    assert len(overall) == 107
    assert sum(int(row["n_pairs"]) for row in overall) == 282
