"""Scores by axis within a named slice, counted by hand, as the figure of HealthBench Hard has them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import NamedSlice, Report
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import table_of
from agreement.writers.words import title_of, value_in_words
from rubrics.models import Case
from tests.agreement.composition.reports import slice_of
from tests.agreement.study import Study, coin, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
COMMUNICATION, COMPLETENESS = "subset_axis:hard/communication_quality", "subset_axis:hard/completeness"
HARD = ["case-01", "case-03"]


@pytest.fixture
def study() -> Study:
    """Five cases with two criteria of communication, 5 and -4 points, and one of completeness, 3 points."""
    tags = (["axis:communication_quality"], ["axis:completeness"], ["axis:communication_quality"])
    study = make_study(candidates=("alpha",), cases=5, points=(5, 3, -4), tags=tags, samples=2)
    study.group("A", coin(1, "met", "not_met"))
    slice_of(study.benchmark, "hard", HARD)
    return study


def scores(study: Study, **parameters: Any) -> Report:
    given = {"rater": "group:A", "k": 1, **parameters}
    report = services.create_report(benchmark=study.benchmark, kind="scores", parameters=given, at=timezone.now())
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def by_hand(study: Study, points_by_position: dict[int, int]) -> float:
    """The mean over responses to the hard cases: points met of the criteria at these positions, of those above 0."""
    hard = set(Case.objects.filter(key__in=HARD).values_list("pk", flat=True))
    criteria = [ids for case, ids in study.criteria.items() if case in hard]
    points = {ids[position]: points for ids in criteria for position, points in points_by_position.items()}
    met: dict[int, int] = {}
    for (response, criterion), outcome in study.outcomes["A"].items():
        if criterion in points:
            met[response] = met.get(response, 0) + points[criterion] * (outcome == "met")
    largest = sum(value for value in points_by_position.values() if value > 0)
    return min(1.0, max(0.0, sum(value / largest for value in met.values()) / len(met)))


def test_each_axis_is_scored_on_the_cases_of_the_slice_alone(study: Study) -> None:
    report = scores(study, subset_axes=True)
    rows = {row["slice"]: row for row in table_of(report, "scoreboard_slices").dicts()}
    assert rows[COMMUNICATION]["rubric_score"] == pytest.approx(by_hand(study, {0: 5, 2: -4}))
    assert rows[COMPLETENESS]["rubric_score"] == pytest.approx(by_hand(study, {1: 3}))
    assert [rows[name]["n_cases"] for name in (COMMUNICATION, "subset:hard", "axis:communication_quality")] == [2, 2, 5]
    assert rows[COMMUNICATION]["n"] == 4 and rows[COMMUNICATION]["n_criteria"] == 8
    assert rows[COMMUNICATION]["rubric_score"] != rows["axis:communication_quality"]["rubric_score"]


def test_they_are_there_only_where_they_are_asked_for(study: Study) -> None:
    plain = scores(study)
    assert not [row for row in table_of(plain, "scoreboard_slices").dicts() if row["slice"].startswith("subset_axis")]
    assert "subset_axes" not in plain.parameters
    chosen = scores(study, subset_axes=True, subsets=[])
    assert not [name for name in chosen.result["facts"]["slices"] if name.startswith("subset_axis")]
    with pytest.raises(WrongParameters, match=r"“subset_axes” must be true or false\."):
        scores(study, subset_axes="yes")


def test_named_slices_with_one_title_keep_their_own_rows(study: Study) -> None:
    slice_of(study.benchmark, "harder", ["case-02"])
    NamedSlice.objects.update(title="Difficult")
    report = scores(study, subset_axes=True)
    client = Client()
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/{report.section}/{report.public_id}/"
    figure = client.get(f"{place}figures/values-subset_axis-rubric_score.svg").content.decode()
    assert "hard · completeness" in figure and "harder · completeness" in figure
    assert "Difficult" not in figure


def test_the_page_names_them_and_leads_to_their_decisions(study: Study) -> None:
    report = scores(study, subset_axes=True)
    client = Client()
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/{report.section}/{report.public_id}/"
    html = client.get(place, {"slice": COMMUNICATION}).content.decode()
    assert "Axis within a named slice" in html and "Hard · communication quality" in html
    behind = client.get(f"{place}decisions/", {"slice": COMMUNICATION})
    assert sum(behind.context["counts"].values()) == 8  # two criteria on two samples of two cases
    figure = client.get(f"{place}figures/values-subset_axis-rubric_score.svg")
    assert figure.status_code == 200
    assert "Hard · completeness" in figure.content.decode()


def test_print_names_them_in_words() -> None:
    assert value_in_words("slice", COMMUNICATION) == "subset: hard, axis: communication quality"
    assert title_of("modes", "axes") == "scores by mode and axis"
