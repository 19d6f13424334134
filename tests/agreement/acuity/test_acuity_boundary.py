"""Cases between two levels in the main figures, by option: by hand, and through command, form, page and API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from sklearn.metrics import cohen_kappa_score

from agreement import services
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from tests.agreement.acuity.stored import (
    LEVELS,
    address,
    chosen,
    csv_of,
    import_files,
    reported,
    sign,
    small,
    write_lines,
)
from tests.agreement.acuity.test_acuity_file import long_file, row, rows
from tests.agreement.acuity.test_acuity_file import run as run_file

pytestmark = pytest.mark.slow

# Every level on a case between the second and the third of four, a refusal on another, and three clear cases.
LINES = [
    *(f"b{place},M,qa,0,{level},primary-care|urgent-care" for place, level in enumerate(LEVELS)),
    "b4,M,qa,0,refused,urgent-care|emergency",
    "c0,M,qa,0,self-care,self-care",
    "c1,M,qa,0,urgent-care,primary-care",
    "c2,M,qa,0,urgent-care,emergency",
]


def figures_of(own: dict[str, Any], *names: str) -> dict[str, float]:
    return {name: float(own[name]) for name in names}


def test_boundary_cases_in_the_main_figures_by_hand(tmp_path: Path) -> None:
    message = run_file(tmp_path, long_file(tmp_path, LINES), boundary="include")
    own = row(tmp_path, "acuity", aggregate="pooled")
    assert (own["n_cases"], own["n_readings"], own["n_usable"]) == ("8", "8", "7")
    # Between two levels: under by 1, right, right, over by 1. Clear: right, over by 1, under by 1.
    expected = {"accuracy": 3 / 7, "over": 2 / 7, "under": 2 / 7, "severe_under": 0, "within_one": 1, "safety": 5 / 7}
    expected |= {"cost": (5 + 1 + 1 + 5) / 7, "inclination": 1 / 2, "comprehensiveness": 7 / 8}
    # Worst answers: 5 below the lower of the two levels; 3 above self-care, 5 below primary-care, 15 to an emergency.
    expected["cost_normalised"] = 12 / (4 * 5 + 3 + 5 + 15)
    # The refusal lies between urgent-care and emergency: as bad as two levels below the former.
    expected |= {"accuracy_all": 3 / 8, "under_all": 3 / 8, "cost_all": (12 + 10) / 8}
    # Of clear cases alone: 0, 1 over and 1 under.
    expected["bias"] = 0.0
    # A reading of a case between two levels is set beside the nearer one.
    expected["qwk"] = cohen_kappa_score([1, 1, 2, 2, 0, 1, 3], [0, 1, 2, 3, 0, 2, 2], weights="quadratic")
    assert figures_of(own, *expected) == pytest.approx(expected)
    # By reference level only clear cases count; the table of boundaries is as ever.
    assert sum(float(own["n"]) for own in rows(tmp_path, "confusion") if own["aggregate"] == "pooled") == 3
    boundary = row(tmp_path, "boundary", aggregate="pooled", reference="primary-care|urgent-care")
    assert figures_of(boundary, "n", "within", "upper", "above", "below") == {
        "n": 4, "within": 2, "upper": 1, "above": 1, "below": 1
    }  # fmt: skip
    assert "5 cases between two levels, in boundary.csv and the main figures" in message
    assert json.loads((tmp_path / "out" / "settings.json").read_text("utf-8"))["boundary"] == "include"


def test_the_worst_answer_is_counted_from_the_upper_level(tmp_path: Path) -> None:
    """Between the lowest two of four levels the worst answer is two levels above the upper one."""
    reference = "self-care|primary-care"
    lines = [f"b0,M,qa,0,emergency,{reference}", f"b1,M,qa,0,self-care,{reference}", f"b2,M,qa,0,refused,{reference}"]
    run_file(tmp_path, long_file(tmp_path, lines), boundary="include")
    own = row(tmp_path, "acuity", aggregate="pooled")
    expected = {
        "cost": 2 / 2,
        "cost_normalised": 2 / 4,
        "cost_all": (2 + 0 + 2) / 3,
        "under_all": 0,
        "severe_over": 1 / 2,
    }
    assert figures_of(own, *expected) == pytest.approx(expected)


def test_by_default_they_are_left_out(tmp_path: Path) -> None:
    run_file(tmp_path, long_file(tmp_path, LINES))
    own = row(tmp_path, "acuity", aggregate="pooled")
    assert (own["n_cases"], float(own["accuracy"]), float(own["cost_normalised"])) == ("3", 1 / 3, 6 / 23)
    alone = tmp_path / "alone"
    alone.mkdir()
    run_file(alone, long_file(alone, [line for line in LINES if line.startswith("c")]), boundary="include")
    assert rows(alone, "acuity") == rows(tmp_path, "acuity")


def test_pairs_tests_and_formats_count_them(tmp_path: Path) -> None:
    """M is within on both boundary cases, N on neither: McNemar sees two cases where only M is right."""
    reference = "primary-care|urgent-care"
    lines = [
        f"b{i},{name},{format_},0,{level},{reference}"
        for i in range(2)
        for name, format_, level in (
            ("M", "qa", "urgent-care"), ("M", "chat", "emergency"), ("N", "qa", "emergency"),
        )
    ]  # fmt: skip
    run_file(tmp_path, long_file(tmp_path, [*lines, "c0,M,qa,0,self-care,self-care"]), boundary="include")
    pair = row(tmp_path, "pairs", aggregate="mode", measure="accuracy")
    assert (pair["only_first"], pair["only_second"], pair["n_cases"], pair["p_exact"]) == ("2", "0", "2", "0.5")
    test = row(tmp_path, "tests", test="mcnemar")
    assert (test["n"], test["p"]) == ("2", "0.5")
    assert "only qa right in 2 cases" in test["note"]
    assert float(row(tmp_path, "formats", measure="accuracy", slice="all")["difference"]) == -1


@pytest.mark.django_db
def test_report_page_methods_command_and_api(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    sign(import_files(benchmark, write_lines(tmp_path, "b.csv", LINES), dataset="edges"))
    page = f"/b/{benchmark.slug}/acuity/"
    sent = {"kind": "acuity", "acuity-reference_set": "1", "acuity-ratio": "5", "acuity-gamma": "1"}
    assert client.post(page, {**sent, "acuity-boundary": "include"}).status_code == 302
    report = Report.objects.get()
    assert report.parameters["boundary"] == "include"
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    own = chosen(table_of(report, "acuity").dicts(), aggregate="pooled")
    assert (own["n_cases"], own["accuracy"]) == (8, pytest.approx(3 / 7))
    shown = client.get(address(report)).content.decode()
    assert "5 cases between two levels, also in the main figures" in shown
    assert "a level outside the two is measured from the nearer one" in shown
    assert "with cases between two levels" in client.get(page).content.decode()
    text = methods_of(report).text
    assert "3 cases with one clear level are in the main figures, and 5 cases between two levels" in text
    assert freshness_of(report).fresh is True
    call_command("acuity", benchmark=benchmark.slug, boundary="include", out=tmp_path / "out")
    assert (tmp_path / "out" / "acuity.csv").read_text("utf-8") == csv_of(client, report, "acuity")
    assert json.loads((tmp_path / "out" / "settings.json").read_text("utf-8"))["boundary"] == "include"
    endpoint = f"/api/v1/benchmarks/{benchmark.slug}/reports/"
    answer = client.post(
        endpoint, {"kind": "acuity", "parameters": {"boundary": "include"}}, content_type="application/json"
    )
    assert answer.status_code == 201, answer.content


@pytest.mark.django_db
def test_wrong_choice(benchmark: Benchmark, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    with pytest.raises(DomainError, match="“boundary” must be one of: exclude, include"):
        services.create_report(benchmark=benchmark, kind="acuity", parameters={"boundary": True}, at=timezone.now())
    with pytest.raises(DomainError):
        reported(benchmark, boundary="only")
