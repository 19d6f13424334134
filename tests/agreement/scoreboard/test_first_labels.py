"""Slices by the first label of a case, in agreement and scores, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.stored import table_of
from rubrics.models import Case
from tests.agreement.composition.reports import slice_of
from tests.agreement.study import Study, coin, make_study, noisy

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
# Specialties of the six cases in turn: by the first label a 3, b 2, c 1; by any label a 5, b 3, c 1.
TAGS = [["a"], ["a", "b"], ["b", "a"], ["a"], ["b", "a"], ["c"]]
MAPS = {"specialty": {"a": "Inner", "b": "Outer"}}


@pytest.fixture
def study() -> Study:
    study = make_study(cases=6, points=(1, 1, 1))
    study.benchmark.maps = MAPS
    study.benchmark.save()
    for case, names in zip(Case.objects.order_by("key"), TAGS, strict=True):
        Case.objects.filter(pk=case.pk).update(tags=[f"specialty:{name}" for name in names])
    study.group("A", coin(1, "met", "not_met", "met"))
    study.group("B", noisy(study, "A", 2, 0.3))
    return study


def report_of(study: Study, kind: str, **parameters: Any) -> Report:
    report = services.create_report(benchmark=study.benchmark, kind=kind, parameters=parameters, at=timezone.now())
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


FIRST = {
    "specialty_first:a": 3, "specialty_first:b": 2, "specialty_first:c": 1,
    "specialty_group_first:Inner": 3, "specialty_group_first:Outer": 2,
}  # fmt: skip
ANY = {"specialty:a": 5, "specialty:b": 3, "specialty:c": 1}
GROUPS = {"specialty_group:Inner": 5, "specialty_group:Outer": 3}


def cases_by_slice(report: Report, table: str) -> dict[str, int]:
    """The number of cases of each slice by specialty."""
    rows = table_of(report, table).dicts()
    return {row["slice"]: row["n_cases"] for row in rows if row["slice"].startswith("specialty")}


def test_agreement_has_them_where_they_are_asked_for(study: Study) -> None:
    raters = {"rater_a": "group:A", "rater_b": "group:B"}
    plain = report_of(study, "agreement", **raters)
    assert cases_by_slice(plain, "slices") == ANY
    assert plain.parameters.keys() == {"rater_a", "rater_b"}
    by_first = report_of(study, "agreement", **raters, first_labels=True)
    assert cases_by_slice(by_first, "slices") == ANY | FIRST
    every = report_of(study, "agreement", **raters, first_labels=True, slices=True)
    assert cases_by_slice(every, "slices") == ANY | FIRST | GROUPS
    a, b = study.outcomes["A"], study.outcomes["B"]
    # By hand: the pairs of the cases whose first specialty is b, the third and the fifth.
    own = [pair for pair in a if pair[1] in {pk for n in (2, 4) for pk in list(study.criteria.values())[n]}]
    row = next(row for row in table_of(every, "slices").dicts() if row["slice"] == "specialty_first:b")
    assert row["n_pairs"] == len(own) == 12
    assert row["raw"] == pytest.approx(sum(a[pair] == b[pair] for pair in own) / 12)
    client = Client()
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/agreement/{every.public_id}/"
    html = client.get(place).content.decode()
    assert "Specialty, first label: b" in html
    behind = client.get(f"{place}decisions/", {"slice": "specialty_first:b"})
    assert sum(behind.context["counts"].values()) == 12


def test_named_slices_in_agreement(study: Study) -> None:
    slice_of(study.benchmark, "two", ["case-00", "case-05"])
    raters = {"rater_a": "group:A", "rater_b": "group:B"}
    assert "subset:two" not in {
        row["slice"] for row in table_of(report_of(study, "agreement", **raters), "slices").dicts()
    }
    report = report_of(study, "agreement", **raters, slices=True)
    assert report.parameters["subsets"] == ["two"]
    (row,) = [row for row in table_of(report, "slices").dicts() if row["slice"] == "subset:two"]
    assert (row["n_cases"], row["n_pairs"]) == (2, 12)
    client = Client()
    client.force_login(study.admin)
    assert ">Two<" in client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/").content.decode()


def test_scores_have_them_where_they_are_asked_for(study: Study) -> None:
    given = {"rater": "group:A", "k": 2}
    plain = report_of(study, "scores", **given)
    cases = cases_by_slice(plain, "scoreboard_slices")
    assert cases == ANY | GROUPS
    assert "first_labels" not in plain.parameters
    report = report_of(study, "scores", **given, first_labels=True)
    assert cases_by_slice(report, "scoreboard_slices") == ANY | GROUPS | FIRST
    # A case counts once by its first specialty.
    firsts = {name: n for name, n in FIRST.items() if name.startswith("specialty_first")}
    assert sum(firsts.values()) == 6


def test_the_order_of_labels_and_the_maps_are_part_of_the_inputs(study: Study) -> None:
    raters = {"rater_a": "group:A", "rater_b": "group:B"}
    plain = report_of(study, "agreement", **raters)
    agreement = report_of(study, "agreement", **raters, first_labels=True)
    scores = report_of(study, "scores", rater="group:A", k=2, first_labels=True)
    study.benchmark.maps = {"specialty": {"a": "Inner", "b": "Elsewhere"}}
    study.benchmark.save()
    for report, fresh in ((plain, True), (agreement, False), (scores, False)):
        assert freshness_of(Report.objects.get(pk=report.pk)).fresh is fresh
    study.benchmark.maps = MAPS
    study.benchmark.save()
    for report in (plain, agreement, scores):
        assert freshness_of(Report.objects.get(pk=report.pk)).fresh is True
    Case.objects.filter(key="case-02").update(tags=["specialty:a", "specialty:b"])
    assert freshness_of(Report.objects.get(pk=scores.pk)).fresh is False


@pytest.mark.parametrize("kind", ["agreement", "scores"])
def test_anything_but_true_and_false_is_refused(study: Study, kind: str) -> None:
    client = Client()
    client.force_login(study.admin)
    raters = {"rater_a": "group:A", "rater_b": "group:B"} if kind == "agreement" else {"rater": "group:A", "k": 2}
    payload = {"kind": kind, "parameters": {**raters, "first_labels": "yes"}}
    address = f"/api/v1/benchmarks/{study.benchmark.slug}/reports/"
    assert client.post(address, payload, content_type="application/json").status_code == 422
