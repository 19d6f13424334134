"""A criterion ruled faulty on a response leaves every rater's score of it: it is counted, and the exports agree."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.stored import table_of
from annotation.models import Assignment, Physician
from rubrics.models import Benchmark, Response, Rubric
from tests.factories import BenchmarkRoleFactory, UserFactory
from tests.scoring.conftest import decide, mark_faulty
from tests.scoring.scores.test_scores_command import judged, row_of, write_scores

pytestmark = pytest.mark.django_db

K = 1
CASES = [f"case-{number}" for number in range(4)]
# By physicians and by the judge, on criteria of +5, +3 and −4 points.
GROUP = [["met", "met", "not_met"], ["met", "not_met", "met"], ["not_met", "met", "not_met"], ["met", "met", "met"]]
JUDGE = [["met", "not_met", "not_met"], ["met", "met", "met"], ["met", "met", "not_met"], ["not_met", "met", "met"]]


@pytest.fixture
def ruled(answered: Benchmark) -> Benchmark:
    """Decisions and verdicts on alpha; faulty are criterion 2 of the first response, and all three of the last."""
    decide(answered, "A", {(case, "alpha"): outcomes for case, outcomes in zip(CASES, GROUP, strict=True)})
    judged(answered, {(case, "alpha"): outcomes for case, outcomes in zip(CASES, JUDGE, strict=True)})
    for case, positions in (("case-0", [2]), ("case-3", [1, 2, 3])):
        assignment = Assignment.objects.get(response__case__key=case, response__candidate__name="alpha")
        criteria = dict(assignment.rubric.items.values_list("position", "criterion"))
        mark_faulty(assignment, *(criteria[position] for position in positions))
    return answered


def points_of(benchmark: Benchmark) -> dict[tuple[str, str], int]:
    rows = Rubric.objects.current().filter(case__benchmark=benchmark)
    return {
        (case, text): points
        for case, text, points in rows.values_list("case__key", "items__criterion__text", "items__points")
    }


def figures_from(benchmark: Benchmark, elements: list[dict[str, Any]]) -> dict[str, float]:
    """What another program makes of a judgement list: all figures from what is in it, and nothing else."""
    points = points_of(benchmark)
    scores: list[Fraction] = []
    hits: list[tuple[int, int]] = []
    for element in elements:
        pairs = [(points[element["case_id"], result["criterion"]], result["criteria_met"]) for result in
                element["criteria_results"]]  # fmt: skip
        positive = [(p, met) for p, met in pairs if p > 0]
        if positive:
            scores.append(Fraction(sum(p for p, met in pairs if met), sum(p for p, _met in positive)))
            hits.append((sum(met for _p, met in positive), len(positive)))
    return {
        "n": len(scores),
        "rubric_score": float(min(max(sum(scores) / len(scores), Fraction(0)), Fraction(1))),
        "rubric_accuracy": 100 * sum(s for s, _n in hits) / sum(n for _s, n in hits),
        "pass_at_k": sum(s >= K for s, _n in hits) / len(hits),
        "cacs_at_k": 100 * sum(max(0, s - K + 1) / (n - K + 1) for s, n in hits) / len(hits),
    }


def exported(benchmark: Benchmark, rater: str, out: Path) -> tuple[list[dict[str, Any]], str]:
    stdout, stderr = StringIO(), StringIO()
    call_command(
        "export_judgements", benchmark=benchmark.slug, rater=rater, candidate="alpha", out=out, stdout=stdout,
        stderr=stderr,
    )  # fmt: skip
    return json.loads(out.read_text(encoding="utf-8")), stderr.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("rater", ["group:A", "group:A@final", "J"])
def test_scores_are_those_that_another_program_computes_from_the_export(
    ruled: Benchmark, rater: str, tmp_path: Path
) -> None:
    elements, output = exported(ruled, rater, tmp_path / "list.json")
    assert "4 at fault" in output
    assert [len(element["criteria_results"]) for element in elements] == [2, 3, 3, 0]
    assert {key for element in elements for result in element["criteria_results"] for key in result} == {
        "criterion", "criteria_met", "explanation",
    }  # fmt: skip
    own = row_of(write_scores(ruled, rater, K, tmp_path)["scores"], candidate="alpha", slice="overall_score")
    for name, value in figures_from(ruled, elements).items():
        assert float(own[name]) == pytest.approx(value, abs=1e-12), name


@pytest.mark.slow
def test_the_header_is_that_of_the_contract(ruled: Benchmark, tmp_path: Path) -> None:
    write_scores(ruled, "group:A", K, tmp_path)
    first = (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()[0]
    assert first == (
        "rater,candidate,slice,n,rubric_score,rubric_score_se,rubric_accuracy,pass_at_k,cacs_at_k,k,"
        "n_invalid,n_missing,n_cannot,n_faulty,note"
    )


@pytest.mark.slow
@pytest.mark.parametrize("rater", ["group:A", "J"])
def test_faulty_pairs_are_counted_with_a_note(ruled: Benchmark, rater: str, tmp_path: Path) -> None:
    tables = write_scores(ruled, rater, K, tmp_path)
    own = row_of(tables["scores"], candidate="alpha", slice="overall_score")
    assert (own["n_faulty"], own["n"], own["n_missing"], own["n_cannot"]) == ("4", "3", "0", "0")
    assert "4 pairs excluded: criterion faulty" in own["note"]
    # All criteria of the last response are faulty: it has no score, and does not vanish.
    assert "1 response without a score" in own["note"]
    last = row_of(tables["responses"], case="case-3")
    assert (last["n_criteria"], last["hits"], last["rubric_score"]) == ("0", "", "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["axis:accuracy", "theme:hedging", "difficulty:low"])
def test_slices_of_criteria_and_of_cases_count_their_own(ruled: Benchmark, name: str, tmp_path: Path) -> None:
    own = row_of(write_scores(ruled, "group:A", K, tmp_path)["scores"], candidate="alpha", slice=name)
    assert (own["n"], own["n_faulty"]) == ("3", "4")


@pytest.mark.slow
def test_a_verdict_that_never_came_is_not_missed_where_the_criterion_is_faulty(
    answered: Benchmark, tmp_path: Path
) -> None:
    decide(answered, "A", {("case-0", "alpha"): GROUP[0]})
    judged(answered, {("case-0", "alpha"): ["met", "", ""]})
    assignment = Assignment.objects.get()
    mark_faulty(assignment, assignment.rubric.items.get(position=2).criterion_id)
    own = row_of(write_scores(answered, "J", K, tmp_path)["scores"], candidate="alpha", slice="overall_score")
    assert (own["n_faulty"], own["n_missing"]) == ("1", "1")
    _elements, output = exported(answered, "J", tmp_path / "list.json")
    assert "1 at fault, 10 missing" in output


@pytest.mark.slow
def test_exported_decisions_leave_faulty_pairs_out_and_say_how_many(ruled: Benchmark, tmp_path: Path) -> None:
    for rater in ("group:A@first", "group:A", "group:A@final"):
        out, stderr = tmp_path / "decisions.csv", StringIO()
        call_command("export_decisions", benchmark=ruled.slug, rater=rater, out=out, stdout=StringIO(), stderr=stderr)
        with out.open(encoding="utf-8", newline="") as file:
            rows = [(row["case"], row["criterion"]) for row in csv.DictReader(file)]
        assert len(rows) == 8 and ("case-0", "2") not in rows and not [row for row in rows if row[0] == "case-3"]
        assert stderr.getvalue() == "note: 4 pairs whose criterion was ruled faulty are left out\n"


@pytest.mark.slow
def test_a_supervision_export_names_them(ruled: Benchmark, tmp_path: Path) -> None:
    others = {(case, "beta"): outcomes for case, outcomes in zip(CASES, JUDGE, strict=True)}
    decide(ruled, "A", {**others, **{(case, "physician"): GROUP[0] for case in CASES}})
    stdout = StringIO()
    call_command(
        "export_sft", benchmark=ruled.slug, group="A", held_out=[["physician"]], out=tmp_path / "sft", stdout=stdout
    )
    assert "faulty 4" in stdout.getvalue()
    assert json.loads((tmp_path / "sft" / "manifest.json").read_text())["left_out"]["faulty"] == 4


@pytest.fixture
def report(ruled: Benchmark) -> Report:
    report = services.create_report(
        benchmark=ruled, kind="scores", parameters={"rater": "J", "k": K}, by=None, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def admin_of(benchmark: Benchmark, client: Client) -> Client:
    client.force_login(BenchmarkRoleFactory(benchmark=benchmark, user=UserFactory(), role="admin").user)
    return client


@pytest.mark.slow
def test_the_scoreboard_shows_the_count_on_the_page_and_in_every_file(report: Report, client: Client) -> None:
    admin_of(report.benchmark, client)
    place = f"/b/{report.benchmark.slug}/scores/{report.public_id}/"
    page = " ".join(client.get(place).content.decode().split())
    assert "4 pairs are excluded: an adjudicator ruled their criterion faulty" in page
    assert table_of(report, "scoreboard").dicts()[0]["n_faulty"] == 4

    def text(ending: str) -> str:
        return b"".join(client.get(f"{place}tables/scoreboard.{ending}").streaming_content).decode()

    rows = list(csv.DictReader(StringIO(text("csv"))))
    assert [row["n_faulty"] for row in rows] == ["4"]
    assert "4 pairs excluded: criterion faulty" in text("md")
    assert "4 pairs excluded: criterion faulty" in text("tex")
    methods = client.get(f"{place}methods.txt").content.decode()
    assert "4 pairs whose criterion an adjudicator found faulty on the response are part of no score." in methods


@pytest.mark.slow
def test_a_report_of_before_without_the_count_opens(report: Report, client: Client) -> None:
    from agreement.models import ReportRows, ReportTable

    for table in ReportTable.objects.filter(report=report):
        if "n_faulty" in table.columns:
            place = table.columns.index("n_faulty")
            table.columns = [name for name in table.columns if name != "n_faulty"]
            table.save()
            for piece in ReportRows.objects.filter(table=table):
                piece.rows = [row[:place] + row[place + 1 :] for row in piece.rows]
                piece.save()
    page = admin_of(report.benchmark, client).get(f"/b/{report.benchmark.slug}/scores/{report.public_id}/")
    assert page.status_code == 200 and "criterion faulty" not in page.content.decode()


def pairs_left_out(report: Report) -> Iterator[str]:
    yield from (note for note in report.result["notes"] if "faulty" in note)


@pytest.mark.slow
def test_calibration_names_responses_with_a_faulty_criterion_apart(answered: Benchmark, tmp_path: Path) -> None:
    outcomes = {(case, "physician"): ["met", "met", "not_met"] for case in CASES}
    outcomes["case-1", "physician"] = ["met", "cannot_assess", "not_met"]
    decide(answered, "A", outcomes)
    assignment = Assignment.objects.get(response__case__key="case-0")
    mark_faulty(assignment, assignment.rubric.items.get(position=2).criterion_id)
    output = StringIO()
    call_command(
        "calibrate", benchmark="answered", group="A", candidate="physician", out=tmp_path, stdout=output, stderr=output
    )
    assert "1 response excluded: a positive criterion is faulty" in output.getvalue()
    assert "1 response excluded: a positive criterion is undecided" in output.getvalue()
    assert json.loads((tmp_path / "calibration.json").read_text())["n"] == 2


@pytest.mark.slow
def test_other_reports_count_them(ruled: Benchmark) -> None:
    decide(ruled, "B", {(case, "alpha"): outcomes for case, outcomes in zip(CASES, JUDGE, strict=True)})
    for number, user in enumerate(
        Assignment.objects.order_by("annotator").values_list("annotator", flat=True).distinct()
    ):
        Physician.objects.create(benchmark=ruled, user_id=user, pseudonym=f"physician {number}")
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("fidelity", {"judge": "J", "group_a": "group:A", "group_b": "group:B"}),
        ("alternative", {"judge": "J"}),
        ("powered", {"judge": "J", "reference": "group:A", "k": K}),
    ]
    for kind, parameters in kinds:
        report = services.create_report(benchmark=ruled, kind=kind, parameters=parameters, by=None, at=timezone.now())
        services.run(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        assert report.status == "done", (kind, report.error)
        assert list(pairs_left_out(report)) == ["4 pairs excluded: criterion faulty"], kind


@pytest.mark.slow
def test_the_response_is_the_one_that_was_ruled_on(ruled: Benchmark, tmp_path: Path) -> None:
    """The same criterion still counts for another candidate."""
    decide(ruled, "A", {("case-0", "beta"): GROUP[0]})
    own = row_of(write_scores(ruled, "group:A", K, tmp_path)["scores"], candidate="beta", slice="overall_score")
    assert (own["n"], own["n_faulty"]) == ("1", "0")
    assert Response.objects.filter(case__key="case-0", candidate__name="beta").exists()
