"""The published HealthBench labels imported into a benchmark: a report has what the official code computes of them."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from rubrics.models import Benchmark, Response
from tests.factories import BenchmarkRoleFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """The labels with made-up texts, and the judge's verdicts on the same items."""
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    labels, verdicts = rows(folder / "meta_gold.jsonl"), {r["item_id"]: r for r in rows(folder / "judge_labels.jsonl")}
    made_up = [
        {**row, "prompt": [{"role": "user", "content": "Made up."}], "completion": row["completion_id"]}
        | {"rubric": f"About {row['category']}."}
        for row in labels
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, made_up)), "utf-8")
    call_command("import_meta_eval", tmp_path / "labels.jsonl", "--benchmark", "real", verbosity=0)
    sample = dict(Response.objects.values_list("external_id", "sample"))
    verdict_rows = [
        {
            "case": row["prompt_id"],
            "candidate": "meta-eval completions",
            "sample": sample[row["completion_id"]],
            "criterion": row["rubric"],
            "outcome": "met" if verdicts[row["item_id"]]["criteria_met"] else "not_met",
        }
        for row in made_up
    ]
    (tmp_path / "verdicts.jsonl").write_text("\n".join(map(json.dumps, verdict_rows)), "utf-8")
    call_command("import_verdicts", tmp_path / "verdicts.jsonl", "--benchmark", "real", "--judge", "J", verbosity=0)
    benchmark = Benchmark.objects.get(slug="real")
    report = services.create_report(
        benchmark=benchmark, kind="alternative", parameters={"judge": "J"}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def test_all_pairs_of_raters_are_those_of_the_official_code(report: Report) -> None:
    judged, ceiling = (table_of(report, name).dicts() for name in ("meta_judge", "meta_ceiling"))
    assert (judged[0]["n_pairs"], ceiling[0]["n_pairs"]) == (250, 282)
    # Printed by the official code of the same labels, to six places.
    expected = {"f1_balanced": 0.696691, "f1_met": 0.805882, "f1_not_met": 0.587500, "kappa": 0.393784}
    assert {name: judged[0][name] for name in expected} == pytest.approx(expected, abs=1e-6)
    expected = {"f1_balanced": 0.718500, "f1_met": 0.804348, "f1_not_met": 0.632653, "kappa": 0.437001}
    assert {name: ceiling[0][name] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert ceiling[0]["alpha"] == pytest.approx(0.42515, abs=1e-5)
    assert len(judged) == len(ceiling) == 1 + 33  # categories
    assert sum(row["n_pairs"] for row in judged[1:]) == 250
    assert {row["physician"] for row in table_of(report, "meta_physicians").dicts()} == {
        row["physician"] for row in table_of(report, "physicians").dicts()
    }
    methods = methods_of(report).text
    assert "every physician (250 pairs)" in methods and "(282 ordered pairs)" in methods
    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=report.benchmark, role="researcher").user)
    page = f"/b/real/agreement/{report.public_id}/"
    html = client.get(page).content.decode()
    assert "Agreement among physicians" in html and "33 categories" in html
    assert "107 physicians</summary>" in html
    assert "Up to date" in client.get(f"{page}freshness").content.decode()


def test_judges_among_physicians_are_those_of_the_label_files(report: Report, tmp_path: Path) -> None:
    """By theme, from the database and from files: the same figures; over all items those of the official code."""
    meta = services.create_report(
        benchmark=report.benchmark, kind="metaeval", parameters={"judges": ["J"], "minimum": 4}, at=timezone.now()
    )
    services.run(report_id=meta.pk, clock=timezone.now)
    meta.refresh_from_db()
    assert meta.status == "done", meta.error
    themes = table_of(meta, "themes").dicts()
    expected = {"f1_met": 0.805882, "f1_not_met": 0.587500, "mf1": 0.696691, "ceiling": 0.718500}
    assert {name: themes[0][name] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert (themes[0]["n_pairs"], themes[0]["n_ceiling"]) == (250, 282)
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    call_command(
        *("agreement_file", folder / "meta_gold.jsonl", "--themes", "--minimum-pairs", "4"),
        judge=folder / "judge_labels.jsonl",
        out=tmp_path / "out",
        stdout=io.StringIO(),
    )
    for name in ("themes", "percentiles"):
        with (tmp_path / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            of_files = list(csv.DictReader(file))
        of_report = table_of(meta, name).dicts()
        assert len(of_report) == len(of_files) == 9
        for row, other in zip(of_report, of_files, strict=True):
            for column, value in row.items():
                if isinstance(value, float):
                    assert float(other[column]) == pytest.approx(value), (name, row["theme"], column)
                elif column != "judge":
                    assert other[column] == ("" if value is None else str(value))
    assert table_of(meta, "percentiles").dicts()[0]["n_physicians"] == 19
