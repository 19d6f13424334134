"""`replicate` over public data: HealthBench's meta-evaluation labels, and its sample of cases with made-up verdicts."""

from __future__ import annotations

import csv
import json
import os
from io import StringIO
from pathlib import Path
from statistics import fmean

import pytest
from django.core.management import call_command

from rubrics.models import Response
from tests.agreement.replication.test_replicate import assert_same_as_reports, by_artefact
from tests.agreement.test_real_many_raters import rows as lines_of
from tests.scoring.verdict_files.test_real_result_files import result_files

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
THEMES = 7


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def replicate(paper: str, out: Path) -> None:
    call_command("replicate", "--benchmark", "real", "--paper", paper, "--out", str(out), stdout=StringIO())


def test_the_meta_evaluation_is_what_the_official_code_computes(tmp_path: Path) -> None:
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    labels = lines_of(folder / "meta_gold.jsonl")
    verdicts = {row["item_id"]: row for row in lines_of(folder / "judge_labels.jsonl")}
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
            "sample": sample[str(row["completion_id"])],
            "criterion": row["rubric"],
            "outcome": "met" if verdicts[row["item_id"]]["criteria_met"] else "not_met",
        }
        for row in made_up
    ]
    (tmp_path / "verdicts.jsonl").write_text("\n".join(map(json.dumps, verdict_rows)), "utf-8")
    call_command("import_verdicts", tmp_path / "verdicts.jsonl", "--benchmark", "real", "--judge", "J", verbosity=0)
    out = tmp_path / "out"
    replicate("healthbench", out)
    assert_same_as_reports(out, "healthbench")
    # What the official code computes of the same labels (README of the data).
    (judged,) = rows(out / "meta-graders" / "meta-graders.csv")
    assert judged["judge"] == "J"
    assert float(judged["f1_met"]) == pytest.approx(0.805882, abs=5e-7)
    assert float(judged["f1_not_met"]) == pytest.approx(0.587500, abs=5e-7)
    assert float(judged["mf1"]) == pytest.approx(0.696691, abs=5e-7)
    assert float(judged["kappa"]) == pytest.approx(0.393784, abs=5e-7)
    (ceiling,) = rows(out / "meta-physicians" / "meta-physicians.csv")
    assert float(ceiling["mf1"]) == pytest.approx(0.718500, abs=5e-7)
    assert float(ceiling["kappa"]) == pytest.approx(0.437001, abs=5e-7)
    assert by_artefact(out)["meta-each-physician"]["state"] in ("made", "in part")
    # There is one group: what compares two says so.
    replicate("clinconsensus", tmp_path / "other")
    assert by_artefact(tmp_path / "other")["groups"]["missing"] == (
        "Only one expert group has submitted work; two are needed."
    )


def test_the_sample_of_healthbench_gives_scores_by_theme_and_axis(tmp_path: Path) -> None:
    sample = Path(os.environ["CONSILIUM_REAL_DATA"]) / "healthbench_sample.jsonl"
    call_command("import_cases", str(sample), "--benchmark", "real", stdout=StringIO())
    files = result_files(tmp_path)
    for name, (path, _rows) in files.items():
        call_command(
            "import_verdicts", str(path), benchmark="real", judge="grader", candidate=name,
            stdout=StringIO(), stderr=StringIO(),
        )  # fmt: skip
    out = tmp_path / "out"
    replicate("healthbench", out)
    assert_same_as_reports(out, "healthbench")
    overall = {row["candidate"]: row for row in rows(out / "overall" / "overall.csv")}
    for name, (_path, examples) in files.items():
        # The mean of the scores of examples, and no less than 0, as the official code has it.
        assert float(overall[name]["rubric_score"]) == pytest.approx(max(0, fmean(row["score"] for row in examples)))
    by_key = by_artefact(out)
    present = {row["slice"] for row in rows(out / "themes" / "themes.csv")}
    assert present <= {f"theme:{name}" for name in (
        *("emergency_referrals", "communication", "hedging", "complex_responses", "health_data_tasks"),
        *("global_health", "context_seeking"),
    )}  # fmt: skip
    if len(present) < THEMES:
        assert f"{len(present)} of {THEMES} are there" in by_key["themes"]["missing"]
    assert {row["slice"] for row in rows(out / "axes" / "axes.csv")} == {
        f"axis:{name}"
        for name in (
            *("communication_quality", "instruction_following", "accuracy", "context_awareness", "completeness"),
        )
    }
    assert "several samples" in by_key["worst-at-k"]["missing"] or by_key["worst-at-k"]["state"] == "in part"
