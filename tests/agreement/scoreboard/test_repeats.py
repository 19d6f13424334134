"""Variation from run to run: means and standard deviations against the standard library, over naive scores."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from statistics import mean, stdev
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from rubrics.models import Case, Response
from tests.agreement.study import Pair, Study, coin, make_study
from tests.factories import CaseFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
POINTS = (5, 3, 2, -4)
K = 2
SAMPLES = 3
Outcomes = Callable[[Pair], str]


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    """Eight cases with three samples, of which one has a fourth of alpha, and one case with one sample.

    The judge answered three times; once it broke.
    """
    study = make_study(cases=8, points=POINTS, samples=SAMPLES)
    alpha, beta = study.candidates
    ResponseFactory(case=Case.objects.get(key="case-00", benchmark=study.benchmark), candidate=alpha, sample=3)
    single = CaseFactory(benchmark=study.benchmark, key="single", rubric=list(POINTS))
    for candidate in (alpha, beta):
        ResponseFactory(case=single, candidate=candidate)
    answers = [coin(seed, "met", "met", "not_met") for seed in (1, 2)]
    study.judge("J", coin(3, "met", "met", "not_met"), replicates=[answers[0], answers[1]])
    study.outcomes["J1"] = {pair: answers[0](pair) for pair in study.outcomes["J"]}
    study.outcomes["J2"] = {pair: answers[1](pair) for pair in study.outcomes["J"]}
    return study


def compute(study: Study, rater: str = "J") -> Report:
    report = services.create_report(
        benchmark=study.benchmark, kind="repeats", parameters={"rater": rater, "k": K}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def rows(report: Report, by: str, name: str = "repeats") -> list[dict[str, Any]]:
    return [row for row in table_of(report, name).dicts() if row["by"] == by]


def naive(study: Study, outcome: Outcomes, responses: list[Response]) -> dict[str, float]:
    """Rubric score, Rubric Accuracy and CACS@2 over some responses; every rubric has three positive criteria."""
    scores, hits, cacs = [], [], []
    for response in responses:
        pairs = zip(study.criteria[response.case_id], POINTS, strict=True)
        met = [points for criterion, points in pairs if outcome((response.pk, criterion)) == "met"]
        scores.append(sum(met) / 10)
        s = sum(points > 0 for points in met)
        hits.append(s)
        # max(0, s − k + 1) / (N − k + 1), with N = 3.
        cacs.append(100 * max(0, s - K + 1) / (3 - K + 1))
    return {
        "rubric_score": min(1.0, max(0.0, mean(scores))),
        "rubric_accuracy": 100 * sum(hits) / (3 * len(hits)),
        "cacs_at_k": mean(cacs),
    }


def majority(study: Study) -> Outcomes:
    return lambda pair: Counter(study.outcomes[name][pair] for name in ("J", "J1", "J2")).most_common(1)[0][0]


def responses_of(study: Study, candidate: str) -> list[Response]:
    return [row for row in study.responses() if row.candidate.name == candidate]


def test_samples_are_compared_over_the_cases_that_have_all_of_them(study: Study) -> None:
    report = compute(study)
    for name in ("alpha", "beta"):
        by_sample: dict[int, list[Response]] = defaultdict(list)
        for response in responses_of(study, name):
            if response.case.key != "single" and response.sample < SAMPLES:
                by_sample[response.sample].append(response)
        repeats = [naive(study, majority(study), own) for own in by_sample.values()]
        row_by_name = {row["measure"]: row for row in rows(report, "sample") if row["candidate"] == name}
        assert set(row_by_name) == {"rubric_score", "rubric_accuracy", "cacs_at_k"}
        for measure, row in row_by_name.items():
            values = [repeat[measure] for repeat in repeats]
            assert (row["n_repeats"], row["n_cases"], row["n_responses"], row["k"]) == (3, 8, 8, K)
            assert row["average"] == pytest.approx(mean(values)), measure
            assert row["sd"] == pytest.approx(stdev(values))
            assert (row["minimum"], row["maximum"]) == pytest.approx((min(values), max(values)))
            assert row["note"] == "1 case excluded: not scored in every repeat"
        shown = [row for row in rows(report, "sample", "repeat_values") if row["candidate"] == name]
        assert [row["repeat"] for row in shown] == ["0", "1", "2"]
        assert [row["rubric_score"] for row in shown] == pytest.approx([repeat["rubric_score"] for repeat in repeats])


def test_replicates_are_scored_apart_on_all_responses(study: Study) -> None:
    report = compute(study)
    for name in ("alpha", "beta"):
        responses = responses_of(study, name)
        repeats = [naive(study, study.outcomes[answers].__getitem__, responses) for answers in ("J", "J1", "J2")]
        for row in rows(report, "replicate"):
            if row["candidate"] == name:
                values = [repeat[row["measure"]] for repeat in repeats]
                assert (row["n_repeats"], row["n_cases"], row["n_responses"]) == (3, 9, len(responses))
                assert (row["average"], row["sd"]) == pytest.approx((mean(values), stdev(values)))
                assert row["note"] == ""
    assert rows(report, "run") == []


def test_runs_of_one_judge_are_repeats_on_the_same_responses(study: Study) -> None:
    first, second = coin(11, "met", "not_met"), coin(12, "met", "met", "not_met")
    study.judge("twice", first)
    study.outcomes["first"] = dict(study.outcomes["twice"])
    study.judge("twice", second)
    report = compute(study, "twice")
    assert rows(report, "replicate") == []
    for name in ("alpha", "beta"):
        responses = responses_of(study, name)
        repeats = [naive(study, study.outcomes[run].__getitem__, responses) for run in ("first", "twice")]
        values = [repeat["rubric_score"] for repeat in repeats]
        row = next(r for r in rows(report, "run") if (r["candidate"], r["measure"]) == (name, "rubric_score"))
        assert (row["n_repeats"], row["n_responses"]) == (2, len(responses))
        assert (row["average"], row["sd"]) == pytest.approx((mean(values), stdev(values)))
    alone = report.result["facts"]["runs"][0]
    assert rows(compute(study, f"run:{alone}"), "run") == []


def test_a_missing_answer_of_a_replicate_counts_against_the_candidate(study: Study) -> None:
    silent = coin(21, "met", "")
    study.judge("gaps", coin(22, "met"), replicates=[silent, coin(23, "met")])
    report = compute(study, "gaps")
    against = {
        (pair, points): silent(pair) or ("met" if points < 0 else "not_met")
        for pair in study.outcomes["gaps"]
        for points in POINTS
    }
    place = {c: p for own in study.criteria.values() for c, p in zip(own, POINTS, strict=True)}
    # A response about which the replicate says nothing at all is no part of it.
    answered = {pair[0] for pair in study.outcomes["gaps"] if silent(pair)}
    responses = [response for response in responses_of(study, "alpha") if response.pk in answered]
    assert len(responses) < len(responses_of(study, "alpha"))
    expected = naive(study, lambda pair: against[pair, place[pair[1]]], responses)
    value = [row for row in rows(report, "replicate", "repeat_values") if row["candidate"] == "alpha"][1]
    assert value["rubric_score"] == pytest.approx(expected["rubric_score"])
    (row,) = (
        row for row in rows(report, "replicate") if (row["candidate"], row["measure"]) == ("alpha", "rubric_score")
    )
    n_left_out = len(responses_of(study, "alpha")) - len(responses)
    assert row["note"] == f"{n_left_out} responses excluded: not scored in every repeat"
    assert n_left_out > 1


def test_one_repeat_has_no_deviation_and_says_so(client: Client) -> None:
    study = make_study(cases=3, points=(1, 1))
    study.group("A", coin(1, "met", "not_met"))
    report = compute(study, "group:A")
    for row in rows(report, "sample"):
        assert (row["n_repeats"], row["n_cases"], row["sd"]) == (1, 3, None)
        assert row["average"] == row["minimum"] == row["maximum"] is not None
        assert row["note"] == "sd: 1 of the 2 repeats needed"
    client.force_login(study.admin)
    page = client.get(f"/b/{study.benchmark.slug}/scores/{report.public_id}/").content.decode()
    assert "1 of the 2 repeats needed" in page and "figure-svg" not in page
    assert "No candidate has been judged in several: replicates, further runs." in page


def test_samples_in_two_settings_are_repeats_of_their_own() -> None:
    """Six cases in each of two settings, two samples; of one case in one setting the second is missing."""
    study = make_study(cases=6, points=POINTS, candidates=("alpha",), samples=2)
    for response in study.responses():
        if (response.case.key, response.sample) != ("case-00", 1):
            ResponseFactory(case=response.case, candidate=response.candidate, setting="api", sample=response.sample)
    study.group("A", coin(1, "met", "met", "not_met"))
    report = compute(study, "group:A")
    repeats = [
        naive(
            study,
            study.outcomes["A"].__getitem__,
            [
                response
                for response in study.responses()
                if response.sample == sample and (response.case.key, response.setting) != ("case-00", "api")
            ],
        )
        for sample in (0, 1)
    ]
    for row in rows(report, "sample"):
        values = [repeat[row["measure"]] for repeat in repeats]
        assert (row["n_repeats"], row["n_cases"], row["n_responses"]) == (2, 6, 11)
        assert (row["average"], row["sd"]) == pytest.approx((mean(values), stdev(values)))
        assert row["note"] == "1 case excluded: not scored in every repeat"


def test_physicians_open_work_leaves_a_sample_out(client: Client) -> None:
    study = make_study(cases=4, points=(1, 1), samples=2)
    cannot = {study.responses()[0].pk}
    vote = coin(1, "met", "not_met")
    study.group("A", lambda pair: "cannot_assess" if pair[0] in cannot else vote(pair))
    report = compute(study, "group:A")
    row_by_name = {row["candidate"]: row for row in rows(report, "sample") if row["measure"] == "rubric_score"}
    assert {name: row["n_cases"] for name, row in row_by_name.items()} == {"alpha": 3, "beta": 4}
    assert row_by_name["alpha"]["note"] == "1 case excluded: not scored in every repeat"


def test_the_page_the_api_and_the_files(study: Study, client: Client) -> None:
    report = compute(study)
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/scores/{report.public_id}/"
    page = client.get(place).content.decode()
    row = rows(report, "sample")[0]
    assert f"{row['sd']:.4f}" in page and f"{row['average']:.3f}" in page
    assert page.count("figure-svg") == 2 and "Replicates of the judge’s run" in page
    csv = b"".join(client.get(f"{place}tables/repeats.csv").streaming_content).decode().splitlines()
    assert csv[0] == "candidate,by,measure,n_repeats,n_cases,n_responses,average,sd,minimum,maximum,k,note"
    assert len(csv) == 1 + 2 * 2 * 3
    detail = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/reports/{report.public_id}/").json()
    assert detail["tables"] == ["raters", "repeat_values", "repeats"]
    assert detail["figures"] == ["sample", "replicate"]
    largest = max(own["sd"] for own in table_of(report, "repeats").dicts() if own["measure"] == "rubric_score")
    assert detail["facts"]["headline"]["value"] == largest
    assert f"{largest:.4f}" in client.get(f"/b/{study.benchmark.slug}/scores/").content.decode()
    assert "standard deviations (n − 1" in methods_of(report).text
    refused = client.post(
        f"/api/v1/benchmarks/{study.benchmark.slug}/reports/",
        {"kind": "repeats", "parameters": {"rater": "J", "k": 0}},
        content_type="application/json",
    )
    assert refused.status_code == 422 and "k must be" in refused.content.decode()


def test_another_answer_of_a_run_makes_a_report_stale(study: Study) -> None:
    report = compute(study)
    assert freshness_of(report).fresh is True
    study.judge("J", coin(9, "met", "not_met"))
    assert freshness_of(report).fresh is False
