"""Consensus criteria: error rates and scores against a count one by one."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import table_of
from rubrics.bank.consensus import consensus
from rubrics.models import Response
from tests.agreement.study import Study, coin, make_study
from tests.factories import BenchmarkRoleFactory, CaseFactory, ResponseFactory, publish_rubric
from tests.statistics.by_hand import mid_p

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
POINTS = (5, 3, -4, 2, 6)
TAGS = (
    ["level:cluster", "cluster:hedging_a"],
    ["cluster:communication_b"],  # without a level: a consensus criterion all the same
    ["cluster:own_c", "level:cluster"],
    [],
    ["level:example", "cluster:hedging_a"],  # a level of its own: none
)
CLUSTERS = ("hedging_a", "communication_b", "own_c")


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    """Twelve cases with five criteria, and three cases without a consensus criterion."""
    study = make_study(cases=12, points=POINTS, tags=TAGS)
    for n in range(3):
        case = CaseFactory(benchmark=study.benchmark, key=f"plain-{n}", rubric=[1])
        for candidate in study.candidates:
            ResponseFactory(case=case, candidate=candidate)
    study.benchmark.maps = {"cluster": {"own_c": "mine"}}
    study.benchmark.save(update_fields=["maps"])
    study.judge("J", coin(3, *("met",) * 5, "not_met", "invalid", ""))
    study.group("A", coin(4, "met", "not_met", "cannot_assess"))
    return study


def compute(study: Study, **parameters: Any) -> Report:
    report = services.create_report(
        benchmark=study.benchmark, kind="consensus", parameters=parameters, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def rows(report: Report, name: str) -> list[dict[str, Any]]:
    return table_of(report, name).dicts()


def place_of_criterion(study: Study) -> dict[int, int]:
    """The place, from 0, of each criterion in the rubric of its case, of the cases with consensus criteria."""
    return {
        criterion: place
        for criteria in study.criteria.values()
        if len(criteria) == len(POINTS)
        for place, criterion in enumerate(criteria)
    }


def is_error(outcome: str, points: int) -> bool:
    """Not met where it is desired, met where it is not; a broken verdict is an error either way."""
    return outcome != ("met" if points > 0 else "not_met")


def errors_of(study: Study, rater: str, left_out: tuple[str, ...] = ()) -> dict[tuple[int, str], list[bool]]:
    """Whether each pair is an error, by the place of its criterion and by candidate."""
    candidate = dict(Response.objects.values_list("pk", "candidate__name"))
    places = place_of_criterion(study)
    errors: dict[tuple[int, str], list[bool]] = defaultdict(list)
    for (response, criterion), outcome in study.outcomes[rater].items():
        place = places.get(criterion)
        if place is not None and place < 3 and outcome not in left_out:
            errors[place, candidate[response]].append(is_error(outcome, POINTS[place]))
    return errors


def test_error_rates_of_a_judge_are_those_of_a_count_with_mid_p_intervals(study: Study) -> None:
    report = compute(study, rater="J")
    expected = errors_of(study, "J")
    row_by_place = {(row["cluster"], row["candidate"]): row for row in rows(report, "consensus_errors")}
    assert set(row_by_place) == {(cluster, name) for cluster in CLUSTERS for name in ("alpha", "beta")}
    for (place, name), errors in expected.items():
        row = row_by_place[CLUSTERS[place], name]
        assert (row["n_pairs"], row["n_responses"], row["n_cases"]) == (12, 12, 12)
        assert row["error_rate"] == sum(errors) / 12
        # One pair a case: the mid-p interval of a share.
        assert (row["error_rate_low"], row["error_rate_high"]) == pytest.approx(mid_p(sum(errors), 12), abs=1e-6)
    counts = defaultdict(int)
    places = place_of_criterion(study)
    for (_response, criterion), outcome in study.outcomes["J"].items():
        if places.get(criterion, 9) < 3:
            counts[outcome] += 1
    whole = rows(report, "consensus")
    assert sum(row["n_invalid"] for row in whole) == counts["invalid"] > 0
    assert sum(row["n_missing"] for row in whole) == counts[""] > 0


def test_the_table_of_criteria_pools_candidates_and_begins_with_the_worst(study: Study) -> None:
    report = compute(study, rater="J")
    criteria = rows(report, "consensus_criteria")
    pooled: dict[str, list[bool]] = defaultdict(list)
    for (place, _name), errors in errors_of(study, "J").items():
        pooled[CLUSTERS[place]] += errors
    assert {row["cluster"]: row["error_rate"] for row in criteria} == {
        name: sum(errors) / 24 for name, errors in pooled.items()
    }
    rates = [row["error_rate"] for row in criteria]
    assert rates == sorted(rates, reverse=True)
    by_name = {row["cluster"]: row for row in criteria}
    assert {name: row["theme"] for name, row in by_name.items()} == {
        "hedging_a": "hedging",
        "communication_b": "communication",
        "own_c": "mine",
    }
    assert [by_name[name]["n_negative"] for name in CLUSTERS] == [0, 0, 12]
    assert {row["n_criteria"] for row in criteria} == {12}
    places = place_of_criterion(study)
    votes = [vote for (_r, criterion), vote in study.outcomes["J"].items() if places.get(criterion) == 0]
    assert by_name["hedging_a"]["prevalence"] == votes.count("met") / (votes.count("met") + votes.count("not_met"))


def test_the_score_is_over_consensus_criteria_alone(study: Study) -> None:
    report = compute(study, rater="J")
    candidate = dict(Response.objects.values_list("pk", "candidate__name"))
    places = place_of_criterion(study)
    points: dict[int, float] = defaultdict(float)
    for (response, criterion), outcome in study.outcomes["J"].items():
        place = places.get(criterion)
        if place is not None and place < 3:
            gains = is_error(outcome, POINTS[place]) == (POINTS[place] < 0)  # the points count, lost or won
            points[response] += POINTS[place] if gains else 0
    for row in rows(report, "consensus"):
        own = [total / 8 for response, total in points.items() if candidate[response] == row["candidate"]]
        assert (row["n"], row["n_cases"]) == (len(own), 12) == (12, 12)
        assert row["rubric_score"] == pytest.approx(float(np.clip(np.mean(own), 0, 1)))
        assert row["rubric_score_low"] < row["rubric_score"] < row["rubric_score_high"]
    # The same as the slice of a report of scores.
    scores = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": "J", "k": 1}, at=timezone.now()
    )
    services.run(report_id=scores.pk, clock=timezone.now)
    of_slice = {row["candidate"]: row for row in rows(scores, "scoreboard_slices") if row["slice"] == "level:cluster"}
    for row in rows(report, "consensus"):
        own_slice = of_slice[row["candidate"]]
        for name in ("rubric_score", "rubric_score_low", "rubric_score_high", "n", "n_cases"):
            assert row[name] == pytest.approx(own_slice[name])


def test_what_physicians_could_not_assess_is_left_out_and_counted(study: Study) -> None:
    report = compute(study, rater="group:A")
    expected = errors_of(study, "A", left_out=("cannot_assess",))
    for row in rows(report, "consensus_errors"):
        errors = expected[CLUSTERS.index(row["cluster"]), row["candidate"]]
        assert (row["n_pairs"], row["error_rate"]) == (len(errors), pytest.approx(sum(errors) / len(errors)))
        assert row["n_cannot"] == 12 - len(errors)
        if len(errors) < 12:
            assert "excluded: undecided, not assessed or faulty" in row["note"]
    assert sum(row["n_cannot"] for row in rows(report, "consensus_errors")) > 0


def test_criteria_of_the_bank_count_under_the_key_of_their_item(study: Study) -> None:
    entry = next(entry for entry in consensus() if entry.applies_to)
    case = CaseFactory(benchmark=study.benchmark, key="bank", rubric=0)
    publish_rubric(case, [4], banks=[entry.name])
    for candidate in study.candidates:
        ResponseFactory(case=case, candidate=candidate)
    study.__dict__.pop("criteria", None)
    study.judge("K", coin(5, "met"))
    report = compute(study, rater="K")
    row = next(row for row in rows(report, "consensus_criteria") if row["cluster"] == entry.key)
    assert (row["n_criteria"], row["n_cases"], row["n_responses"], row["error_rate"]) == (1, 1, 2, 0.0)
    assert row["note"].startswith("error_rate: no interval: 1.0 of the 5 effective cases needed")


def test_the_page_the_api_and_the_files(study: Study, client: Client) -> None:
    report = compute(study, rater="J", candidates=["beta"])
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/scores/{report.public_id}/"
    page = client.get(place).content.decode()
    worst = rows(report, "consensus_criteria")[0]
    assert f"{100 * worst['error_rate']:.1f}%" in page
    assert worst["cluster"].replace("_", " ") in page
    assert "36 consensus criteria in 3 clusters" in page
    assert page.count("figure-svg") == 1 and "hedging a, n = 12, beta" in page and ", alpha: 0." not in page
    address = f"{place}decisions/?slice=cluster%3Aown_c"
    assert f'href="{address}"' in page
    assert client.get(address).status_code == 200
    csv = b"".join(client.get(f"{place}tables/consensus_errors.csv").streaming_content).decode()
    assert csv.splitlines()[0].startswith("cluster,theme,candidate,n_pairs,n_responses,n_cases,error_rate,")
    assert len(csv.splitlines()) == 1 + 6
    detail = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/reports/{report.public_id}/").json()
    assert detail["tables"] == ["consensus", "consensus_criteria", "consensus_errors", "raters"]
    assert detail["figures"] == ["consensus_errors"]
    best = max(rows(report, "consensus"), key=lambda row: row["rubric_score"])
    assert detail["facts"]["headline"]["of"] == best["candidate"]
    listed = client.get(f"/b/{study.benchmark.slug}/scores/").content.decode()
    assert "Consensus criteria by J" in listed and f"{best['rubric_score']:.3f}" in listed
    text = methods_of(report).text
    assert "36 criteria in 3 clusters, of which 12 have negative points" in text and "Arora et al. 2025" in text
    researcher = BenchmarkRoleFactory(benchmark=study.benchmark, role="researcher").user
    client.force_login(researcher)
    assert client.get(place).status_code == 200
    client.force_login(BenchmarkRoleFactory(role="researcher").user)
    assert client.get(place).status_code == 404


def test_a_request_that_makes_no_report(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    api = f"/api/v1/benchmarks/{study.benchmark.slug}/reports/"

    def refused(parameters: dict[str, Any]) -> dict[str, Any]:
        answer = client.post(api, {"kind": "consensus", "parameters": parameters}, content_type="application/json")
        assert answer.status_code == 422
        return dict(answer.json())

    assert "nobody" in json.dumps(refused({"rater": "J", "candidates": ["nobody"]}))
    assert "must be a list" in json.dumps(refused({"rater": "J", "candidates": "alpha"}))
    plain = make_study(cases=2, points=(1,))
    plain.judge("J", coin(1, "met"))
    with pytest.raises(WrongParameters, match="No published rubric"):
        services.create_report(
            benchmark=plain.benchmark, kind="consensus", parameters={"rater": "J"}, at=timezone.now()
        )
    client.force_login(plain.admin)
    page = client.get(f"/b/{plain.benchmark.slug}/scores/").content.decode()
    assert "This report requires decisions, and published rubrics with consensus criteria." in page


def test_another_theme_makes_a_report_stale(study: Study) -> None:
    report = compute(study, rater="J")
    assert freshness_of(report).fresh is True
    study.benchmark.maps = {"cluster": {"own_c": "another"}}
    study.benchmark.save(update_fields=["maps"])
    report.benchmark.refresh_from_db()
    assert freshness_of(report).fresh is not True
