"""Length-adjusted scores in the command ``scores`` and in reports, against arithmetic by hand."""

from __future__ import annotations

import csv
import random
from io import StringIO
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.figures import figures_of
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from consilium.core.errors import DomainError
from consilium.figures.style import PAGE
from rubrics.models import Case
from tests.agreement.study import Study, coin, make_study
from tests.factories import CandidateFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# How many of the criteria, worth 10, 8, 1 and 1 points, each candidate meets, and how long its responses are.
MET = {"long": 3, "short": 2, "silent": 0}
LENGTHS = {"long": 4000, "short": 500, "silent": 0}


@pytest.fixture
def study() -> Study:
    """Six cases, each answered once; the responses of *long* are 3,900 and 4,100 characters long in turn."""
    study = make_study(cases=6, points=(10, 8, 1, 1), candidates=())
    for name in MET:
        candidate = CandidateFactory(benchmark=study.benchmark, name=name)
        for n, case in enumerate(Case.objects.filter(benchmark=study.benchmark).order_by("key")):
            more = (-100, 100)[n % 2] if name == "long" else 0
            ResponseFactory(case=case, candidate=candidate, text="é" * (LENGTHS[name] + more))
    names = {response.pk: response.candidate.name for response in study.responses()}
    place = {criterion: n for criteria in study.criteria.values() for n, criterion in enumerate(criteria)}
    study.judge("J", lambda pair: "met" if place[pair[1]] < MET[names[pair[0]]] else "not_met")
    return study


def scores(study: Study, out: Path, **options: Any) -> dict[tuple[str, str], dict[str, str]]:
    call_command(
        "scores", benchmark=study.benchmark.slug, rater="J", k=1, out=out, stdout=StringIO(), **options
    )  # fmt: skip
    with (out / "length_adjusted.csv").open(encoding="utf-8", newline="") as file:
        return {(row["slice"], row["candidate"]): row for row in csv.DictReader(file)}


def test_the_order_turns_round_by_default(study: Study, tmp_path: Path) -> None:
    rows = scores(study, tmp_path)
    long, short, silent = (rows["overall_score", name] for name in MET)
    # 19 of 20 points less 0.0147 · 2,000 / 500; 18 of 20 and 0.0147 · 1,500 / 500 more.
    assert (float(long["rubric_score"]), float(long["length_adjusted"])) == pytest.approx((0.95, 0.95 - 0.0588))
    assert (float(short["rubric_score"]), float(short["length_adjusted"])) == pytest.approx((0.9, 0.9 + 0.0441))
    # 0 points, and 0.0588 for saying nothing.
    assert float(silent["length_adjusted"]) == pytest.approx(0.0588)
    assert (long["rubric_score_rank"], long["length_adjusted_rank"], long["rank_change"]) == ("1.0", "2.0", "-1.0")
    assert (short["rubric_score_rank"], short["length_adjusted_rank"], short["rank_change"]) == ("2.0", "1.0", "1.0")
    assert (long["n"], long["n_cases"], float(long["mean_length"])) == ("6", "6", 4000)
    assert (long["length_centre"], long["length_penalty"]) == ("2000.0", "0.0147")
    # Its score is the same on all cases, so that the interval is that of the score less the charge of 0.0588.
    assert float(long["length_adjusted_low"]) == pytest.approx(float(long["rubric_score_low"]) - 0.0588)
    assert float(long["length_adjusted_high"]) == pytest.approx(float(long["rubric_score_high"]) - 0.0588)
    # Slices of cases have the figure: three responses of 3,900 characters.
    even = rows["theme:even", "long"]
    assert float(even["length_adjusted"]) == pytest.approx(0.95 - 0.0147 * 1900 / 500)


def test_an_interval_by_hand_where_scores_vary(tmp_path: Path) -> None:
    """The adjusted scores of 30 cases: the interval is near Student's t of their mean."""
    study = make_study(cases=30, points=(1,) * 10, candidates=("one", "two"))
    rng, names, met, adjusted = random.Random(4), {}, {}, []
    for response in study.responses():
        names[response.pk] = response.candidate.name
        met[response.pk] = rng.randint(2, 8)
        if response.candidate.name == "one":
            adjusted.append(met[response.pk] / 10 - 0.0147 * (len(response.text) - 2000) / 500)
    place = {criterion: n for criteria in study.criteria.values() for n, criterion in enumerate(criteria)}
    study.judge("J", lambda pair: "met" if place[pair[1]] < met[pair[0]] else "not_met")
    row = scores(study, tmp_path)["overall_score", "one"]
    centre = mean(adjusted)
    half = 2.0452 * stdev(adjusted) / 30**0.5  # 97.5% of Student's t with 29 degrees of freedom
    assert float(row["length_adjusted"]) == pytest.approx(centre)
    assert float(row["length_adjusted_low"]) == pytest.approx(centre - half, abs=0.01)
    assert float(row["length_adjusted_high"]) == pytest.approx(centre + half, abs=0.01)


def test_other_centre_and_penalty_and_the_clip(study: Study, tmp_path: Path) -> None:
    rows = scores(study, tmp_path, length_centre=0, length_penalty=0.2)
    # 0.95 less 0.2 · 8 is below 0, and 0.9 less 0.2 above.
    assert float(rows["overall_score", "long"]["length_adjusted"]) == 0
    assert float(rows["overall_score", "short"]["length_adjusted"]) == pytest.approx(0.7)
    assert "clipped" in rows["overall_score", "long"]["note"]
    for options in ({"length_centre": -1}, {"length_penalty": float("nan")}):
        with pytest.raises(CommandError, match="must be numbers from 0"):
            scores(study, tmp_path / "other", **options)


def test_a_slice_of_criteria_has_no_length(study: Study, tmp_path: Path) -> None:
    rows = scores(study, tmp_path)
    assert {part.partition(":")[0] for part, _name in rows} == {"overall_score", "theme", "difficulty", "register"}


def test_in_a_report_with_page_and_recomputation(study: Study, client: Client, tmp_path: Path) -> None:
    client.force_login(study.admin)
    address = f"/b/{study.benchmark.slug}/scores/"
    form = client.get(address).content.decode()
    assert 'name="scores-length_penalty" value="0.0147"' in form
    refused = client.post(
        address, {"kind": "scores", "scores-rater": "J", "scores-k": "1", "scores-length_penalty": "2"}
    )
    assert refused.status_code == 422
    form_data = {"kind": "scores", "scores-rater": "J", "scores-k": "1"}
    client.post(address, {**form_data, "scores-length_centre": "1000", "scores-length_penalty": "0.01"})
    report = Report.objects.get()
    assert (report.parameters["length_centre"], report.parameters["length_penalty"]) == (1000, 0.01)
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    whole = (row for row in table_of(report, "length_adjusted").dicts() if row["slice"] == "overall_score")
    rows = {row["candidate"]: row for row in whole}
    assert rows["long"]["length_adjusted"] == pytest.approx(0.95 - 0.06)
    assert rows["short"]["length_adjusted"] == pytest.approx(0.9 + 0.01)
    page = " ".join(client.get(f"{address}{report.public_id}/").content.decode().split())
    assert "minus 0.01 for each 500 characters beyond 1,000" in page
    assert 'id="figure-length_adjusted"' in page
    section = page[page.index('id="part-adjusted"') :]
    section = section[section.index("<tbody>") : section.index("</tbody>")]
    assert section.index(">short<") < section.index(">long<")
    assert "+1" in section[section.index(">short<") : section.index(">long<")]
    assert "less 0.01 · (characters − 1,000) / 500" in methods_of(report).text
    # A report from before has neither parameter: it has no such section, and is computed again with the usual ones.
    old = {name: value for name, value in report.parameters.items() if not name.startswith("length_")}
    Report.objects.filter(pk=report.pk).update(parameters=old)
    report.refresh_from_db()
    facts = {name: value for name, value in report.result["facts"].items() if not name.startswith("length_")}
    report.result["facts"] = facts
    report.save(update_fields=["result"])
    report.tables.filter(name="length_adjusted").delete()
    page = client.get(f"{address}{report.public_id}/").content.decode()
    assert "part-adjusted" not in page
    assert "Up to date" in client.get(f"{address}{report.public_id}/freshness").content.decode()
    again = services.recompute_report(report=report, at=timezone.now())
    assert (again.parameters["length_centre"], again.parameters["length_penalty"]) == (2000, 0.0147)


def test_other_parameters_are_refused(study: Study) -> None:
    for name, value in (("length_centre", -1), ("length_penalty", "much"), ("length_penalty", True)):
        with pytest.raises(DomainError, match=f"“{name}” must be a number from 0"):
            services.create_report(
                benchmark=study.benchmark,
                kind="scores",
                parameters={"rater": "J", "k": 1, name: value},
                at=timezone.now(),
            )


def scores_by_the_group(study: Study) -> Report:
    given = {"rater": "group:A", "k": 1}
    report = services.create_report(benchmark=study.benchmark, kind="scores", parameters=given, at=timezone.now())
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def test_the_figure_of_length_is_of_the_scored_responses_as_its_table_is() -> None:
    study = make_study(cases=4, points=(1, 1), candidates=())
    candidate = CandidateFactory(benchmark=study.benchmark, name="alpha")
    for n, case in enumerate(study.benchmark.cases.order_by("key")):
        ResponseFactory(case=case, candidate=candidate, text="x" * (900 if n == 0 else 300))
    undecided = set(study.criteria[study.benchmark.cases.order_by("key")[0].pk])
    study.group("A", lambda pair: "cannot_assess" if pair[1] in undecided else "met")
    report = scores_by_the_group(study)
    figure = next(figure for figure in figures_of(report) if figure.name == "length-rubric_score")
    assert figure.table == "length_adjusted"
    chart: Any = figure.drawing(PAGE)
    layers = [layer.get("data", {}).get("values", []) for layer in chart.to_dict()["layer"]]
    drawn = [row for rows in layers for row in rows if row.get("name") == "alpha"]
    (row,) = [row for row in table_of(report, "length_adjusted").dicts() if row["slice"] == "overall_score"]
    # The response of 900 characters has no score.
    assert {row["x"] for row in drawn} == {row["mean_length"]} == {300}
    assert {row["y"] for row in drawn} == {row["rubric_score"]} == {1}


def test_a_report_from_before_the_length_adjusted_score_has_one_figure_of_length() -> None:
    study = make_study(cases=2, points=(1, 1))
    study.group("A", coin(1, "met", "not_met"))
    report = scores_by_the_group(study)
    report.tables.filter(name="length_adjusted").delete()
    assert [figure.name for figure in figures_of(report) if figure.name.startswith("length")] == ["length"]
    client = Client()
    client.force_login(study.admin)
    assert client.get(f"/b/{study.benchmark.slug}/scores/{report.public_id}/").status_code == 200
