"""The commands on judges write the tables of the reports, and print a summary."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agreement import services
from agreement.reports.stored import table_of
from tests.agreement.study import Study, coin, make_study, noisy


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=12)
    study.group("A", coin(1, "met", "not_met", "cannot_assess"))
    for name, seed in (("B", 2), ("C", 3)):
        study.group(name, noisy(study, "A", seed, 0.2))
    study.judge("good", noisy(study, "A", 4, 0.1))
    study.judge("poor", noisy(study, "A", 5, 0.4))
    return study


@pytest.mark.slow
def test_the_commands_write_what_the_reports_hold(study: Study, tmp_path: Path) -> None:
    given = {
        "comparison": {"reference": "group:A", "judge_a": "good", "judge_b": "poor"},
        "alternative": {"judge": "good", "group": "all"},
    }
    reports = {}
    for kind, parameters in given.items():
        report = services.create_report(
            benchmark=study.benchmark, kind=kind, parameters=parameters, at=timezone.now(), seed=7
        )
        services.run(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        reports[kind] = report
    stdout, slug = io.StringIO(), f"--benchmark={study.benchmark.slug}"
    judges = ["--reference=group:A", "--judge=good", "--judge=poor"]
    call_command("compare_judges", slug, *judges, f"--out={tmp_path}", "--seed=7", stdout=stdout)
    call_command("alternative_test", slug, "--judge=good", f"--out={tmp_path}", "--seed=7", stdout=stdout)
    for kind, names in (
        ("comparison", ("comparison", "slices", "disagreement")),
        ("alternative", ("physicians", "summary")),
    ):
        for name in names:
            written = (tmp_path / f"{name}.csv").read_text(encoding="utf-8")
            assert written == "".join(table_of(reports[kind], name).csv()), name
    assert "A: good, B: poor, against group:A@checked" in stdout.getvalue()
    assert "stand in for a physician of this group" in stdout.getvalue()


@pytest.mark.parametrize(
    ("command", "given", "why"),
    [
        ("compare_judges", ["--reference=group:A", "--judge=good"], "twice"),
        ("compare_judges", ["--reference=group:A", "--judge=good", "--judge=nobody"], "nobody"),
        ("alternative_test", ["--judge=good", "--epsilon=1"], "epsilon"),
        ("alternative_test", ["--judge=group:A"], "judge"),
        ("alternative_test", ["--judge=good", "--group=nobody"], "nobody"),
    ],
)
def test_what_cannot_be_done_is_refused(study: Study, tmp_path: Path, command: str, given: list[str], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        call_command(command, f"--benchmark={study.benchmark.slug}", *given, f"--out={tmp_path / 'none'}")
    assert not (tmp_path / "none").exists()


def test_label_files_need_no_database(tmp_path: Path) -> None:
    """By hand: the instances of `tests/statistics/test_alternative_annotator.py`, and an item without a verdict."""
    labels = [
        ("i1", [True, True, False], ["h1", "h2", "h3"]),
        ("i2", [True, False], ["h1", "h2"]),
        ("i3", [False, False, False], ["h1", "h2", "h3"]),
        ("i4", [True], ["h1"]),
        ("i5", [True, True], ["h2", "h3"]),
    ]
    gold = [
        {"item_id": item, "binary_labels": answers, "anonymized_physician_ids": who, "category": "c"}
        for item, answers, who in labels
    ]
    judge = [{"item_id": item, "criteria_met": met} for item, met in (("i1", True), ("i2", True), ("i3", False))]
    for name, rows in (("gold", gold), ("judge", judge)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = [f"--labels={tmp_path / 'gold.jsonl'}", f"--judge={tmp_path / 'judge.jsonl'}", f"--out={tmp_path}"]
    stdout = io.StringIO()
    call_command("alternative_test", *files, "--minimum=2", stdout=stdout)
    rows = {row["physician"]: row for row in read(tmp_path / "physicians.csv")}
    # i5 has no verdict, which agrees with nobody, while h2 and h3 agree there: ρ_f is 3/4 and 2/3 in place of 1.
    assert [rows[who]["n_instances"] for who in ("h1", "h2", "h3")] == ["3", "4", "3"]
    assert [float(rows[who]["rho_judge"]) for who in ("h1", "h2", "h3")] == [1, 0.75, pytest.approx(2 / 3)]
    assert [float(rows[who]["difference"]) for who in ("h1", "h2", "h3")] == [0, 0, 0]
    assert "No verdict" not in stdout.getvalue() and "may not stand in" in stdout.getvalue()
