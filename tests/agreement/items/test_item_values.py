"""Item analysis shows values that have an order in that order, with their units, on the page and in the figure."""

from __future__ import annotations

import csv
import io
import re

import pgtrigger
import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.figures import figures_of
from agreement.reports.files import table_text
from agreement.reports.stored import table_of
from rubrics.models import Case, Response
from tests.agreement.study import Study, coin, make_study, noisy

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

LEVELS = ("low", "medium", "high")


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=24, points=(1, 3, -2, 5), candidates=("alpha", "beta"))
    # Responses of four lengths from 10 to 1,999 characters.
    with pgtrigger.ignore():
        for number, response in enumerate(Response.objects.filter(case__benchmark=study.benchmark).order_by("pk")):
            Response.objects.filter(pk=response.pk).update(text="x" * (10, 200, 1000, 1999)[number % 4])
        for number, case in enumerate(Case.objects.filter(benchmark=study.benchmark).order_by("pk")):
            Case.objects.filter(pk=case.pk).update(difficulty=LEVELS[number % 3])
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.3))
    return study


@pytest.fixture
def report(study: Study) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="items",
        parameters={"rater_a": "group:A", "rater_b": "group:B"},
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


@pytest.fixture
def shown(study: Study, report: Report, client: Client) -> dict[str, list[str]]:
    """The labels of the values on the page by attribute."""
    client.force_login(study.admin)
    page = client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/")
    return {row["attribute"]: [value["label"] for value in row["values"]] for row in page.context["attributes"]}


def test_lengths_are_in_order_with_their_unit(shown: dict[str, list[str]]) -> None:
    labels = shown["response_length"]
    assert len(labels) > 1
    starts = [int(re.match(r"[\d,]+", label)[0].replace(",", "")) for label in labels]  # type: ignore[index]
    assert starts == sorted(starts)
    assert all(re.fullmatch(r"[\d,]+(–[\d,]+)? characters?", label) for label in labels), labels


def test_levels_of_difficulty_and_signs_are_in_order(shown: dict[str, list[str]]) -> None:
    assert shown["difficulty"] == ["Low", "Medium", "High"]
    assert shown["points"] == ["negative points", "positive points"]


def test_values_without_an_order_go_by_how_often_the_raters_differ(report: Report, shown: dict[str, list[str]]) -> None:
    rates = {row["value"]: row["rate"] for row in table_of(report, "where").dicts() if row["attribute"] == "candidate"}
    assert shown["candidate"] == sorted(rates, key=lambda name: -rates[name])


def test_the_figure_has_the_same_labels_in_the_same_order(report: Report, shown: dict[str, list[str]]) -> None:
    (figure,) = [drawn for drawn in figures_of(report) if drawn.name == "where"]
    from consilium.figures.render import svg_file

    drawn = svg_file(figure.drawing)
    whole = 0
    for attribute in ("response_length", "difficulty", "points"):
        positions = [drawn.find(f": {label}<") for label in shown[attribute]]
        if -1 not in positions:
            assert positions == sorted(positions), attribute
            whole += 1
    assert whole
    assert not re.search(r">[^<]*\d-\d[^<]*</text>", drawn), "a range with a hyphen"


def test_the_file_stays_readable_by_programs(report: Report) -> None:
    rows = csv.DictReader(io.StringIO("".join(table_text(report, "where", "csv"))))
    bands = [(row["value"], row["slice"]) for row in rows if row["attribute"] == "response_length"]
    assert bands and all(re.fullmatch(r"\d+-\d+", value) for value, _slice in bands)
    assert all(part == f"response_length:{value}" for value, part in bands)


def test_printed_tables_have_an_en_dash(report: Report) -> None:
    text = "".join(table_text(report, "where", "md"))
    assert re.search(r"\| [\d,]+–[\d,]+ \|", text) or "| 1,999 |" in text
    assert not re.search(r"\| \d+-\d+ \|", text)
