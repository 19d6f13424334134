"""The calibration workbench: what judges' errors do, why ranks are undefined, and the signed threshold."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone
from django.utils.translation import get_language
from scipy.stats import binom

from agreement import services
from agreement.calibration import thresholds
from agreement.kinds import kind_of
from agreement.models import Report, ThresholdChoice
from agreement.reports.files import table_text
from agreement.reports.stored import table_of
from agreement.reports.tables import Result
from consilium.core.errors import Conflict
from scoring.models import JudgeRun, JudgeRunItem
from tests.agreement.calibration.test_calibrate_command import first_hits, physicians_study
from tests.agreement.study import Pair, Study, coin
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, CaseFactory, ResponseFactory, UserFactory
from tests.statistics.by_hand import effective_number

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

HITS = {"one": 5, "two": 3, "three": 1}


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    """Ten cases of six criteria; physicians meet two of them, three models five, three and one. The judge ``sharp``
    says what the group says; ``blunt`` calls the first criterion not met throughout and is invalid on the last.
    """
    study, _written = physicians_study(cases=10)
    hits = {response.pk: HITS.get(response.candidate.name, 2) for response in study.responses()}
    study.group("A", first_hits(study, hits, coin(1, "met")))
    place = {criterion: n for criteria in study.criteria.values() for n, criterion in enumerate(criteria)}

    def blunt(pair: Pair) -> str:
        return {0: "not_met", 5: "invalid"}.get(place[pair[1]], study.outcomes["A"][pair])

    study.judge("sharp", lambda pair: study.outcomes["A"][pair])
    study.judge("blunt", blunt)
    return study


def calibrated(study: Study) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="calibration",
        parameters={"group": "A", "candidate": "doctor"},
        by=study.admin,
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def signed_in(user: object) -> Client:
    client = Client()
    client.force_login(user)
    return client


def rows(report: Report, name: str) -> list[dict[str, object]]:
    return table_of(report, name).dicts()


def test_the_errors_of_judges_are_measured_and_carried_on(study: Study) -> None:
    report = calibrated(study)
    judges = {row["judge"]: row for row in rows(report, "judges")}
    # The group calls 10 · (5 + 3 + 1) = 90 pairs of the models met and 90 not met. The first criterion of each of the
    # 30 responses is met, and blunt says it is not; its 30 invalid verdicts are on criteria that are not met.
    blunt = judges["blunt"]
    assert (blunt["role"], blunt["n_pairs"], blunt["n_invalid"]) == ("worst", 180, 30)
    assert blunt["sensitivity"] == pytest.approx(60 / 90)
    assert blunt["specificity"] == 1
    # For MF1 an invalid verdict is the opposite: tp 60, fn 30, fp 30, tn 60, and both F1 are 120/180.
    assert blunt["mf1"] == pytest.approx(120 / 180)
    assert (judges["sharp"]["role"], judges["sharp"]["mf1"], judges["sharp"]["spearman"]) == ("best", 1, 1)

    error = {(row["role"], row["candidate"], row["measure"]): row for row in rows(report, "judge_error")}
    assert error["best", "one", "cacs_at_k"]["bias"] == pytest.approx(0, abs=1e-9)
    for name, s in HITS.items():
        row = error["worst", name, "cacs_at_k"]
        score = 100 * np.maximum(0, np.arange(s + 1) - 1) / 5  # k = 2 of 6
        chance = binom.pmf(np.arange(s + 1), s, 2 / 3)
        mean, deviation = chance @ score, (chance @ score**2 - (chance @ score) ** 2) ** 0.5
        assert row["by_physicians"] == pytest.approx(score[-1])
        assert row["by_judge"] == pytest.approx(mean, abs=4 * deviation / (10 * report.result["facts"]["draws"]) ** 0.5)
        assert row["bias"] == pytest.approx(row["by_judge"] - row["by_physicians"])
        accuracy = error["worst", name, "rubric_accuracy"]
        assert accuracy["by_judge"] == pytest.approx(100 * s / 6 * 2 / 3, abs=1)
    order = [row for row in rows(report, "judge_order") if row["role"] == "worst"]
    assert [(row["candidate"], row["next_candidate"]) for row in order] == [("one", "two"), ("two", "three")]
    assert all(row["turned"] < 0.01 for row in order)
    # The ranges of simulated errors are no intervals over cases, and no caption calls them so.
    for name in ("judge_error", "judges"):
        assert "intervals" not in next(iter(table_text(report, name, "md")))
    assert "jackknife over cases" in next(iter(table_text(report, "candidates", "md")))


def test_a_judge_of_four_responses_is_called_worst_with_its_number_and_a_remark() -> None:
    """Six criteria of four responses to two cases: 24 pairs, too few for an interval and for a claim."""
    study, _written = physicians_study(cases=10)
    study.group("A", first_hits(study, {response.pk: 3 for response in study.responses()}, coin(1, "met")))
    graded = [response.pk for response in study.responses() if response.candidate.name in ("one", "two")][:4]
    run = study.judge("four", lambda pair: "met" if pair[0] in graded else "")
    JudgeRunItem.objects.filter(run=run).exclude(response__in=graded).delete()
    study.judge("all", lambda pair: study.outcomes["A"][pair])
    report = calibrated(study)
    judges = {row["judge"]: row for row in rows(report, "judges")}
    assert {(row["role"], row["n_responses"], row["n_pairs"]) for row in judges.values()} == {
        ("worst", 4, 24),
        ("best", 30, 180),
    }
    assert judges["four"]["mf1_effective"] == pytest.approx(2)
    assert "too few cases for a conclusion: 2.0 of the 30 effective cases needed" in judges["four"]["note"]
    html = signed_in(study.admin).get(f"/b/{study.benchmark.slug}/calibration/{report.public_id}/").content.decode()
    words = " ".join(html.split())
    assert '<th scope="col" class="num">four (worst judge, 4 responses)</th>' in words
    assert "too few cases for a conclusion: 2.0 of the 30 effective cases needed" in words
    assert "four (worst: sensitivity 1.000, specificity 0.000, measured on 4 responses)" in words


def test_worst_and_best_whose_intervals_overlap_have_a_remark() -> None:
    """Both judges err on one criterion of each case, of other responses; a third errs on half of all."""
    study, _written = physicians_study(cases=10)
    study.group("A", first_hits(study, {response.pk: 3 for response in study.responses()}, coin(1, "met")))
    place = {response.pk: n for n, response in enumerate(study.responses())}

    def wrong_on(share: int, pair: Pair) -> str:
        other = {"met": "not_met", "not_met": "met"}[study.outcomes["A"][pair]]
        return other if place[pair[0]] % share == 0 and pair[1] % 3 == 0 else study.outcomes["A"][pair]

    study.judge("three", lambda pair: wrong_on(3, pair))
    study.judge("four", lambda pair: wrong_on(4, pair))
    overlapping = rows(calibrated(study), "judges")
    assert overlapping[0]["mf1_low"] < overlapping[1]["mf1_high"]
    assert overlapping[1]["mf1_low"] < overlapping[0]["mf1_high"]
    assert all("the intervals of the worst and the best judge overlap" in row["note"] for row in overlapping)


def test_a_rate_from_five_cases_has_an_interval() -> None:
    """Of twelve cases the group calls criteria met in three alone: a sensitivity rests on three cases."""
    study, _written = physicians_study(cases=12)
    some = {
        response.pk
        for response in study.responses()
        if response.case.key < "case-03" or response.candidate.name == "doctor"
    }
    place = {criterion: n for criteria in study.criteria.values() for n, criterion in enumerate(criteria)}
    study.group("A", lambda pair: "met" if pair[0] in some and place[pair[1]] < 3 else "not_met")
    study.judge("judge", lambda pair: "not_met" if place[pair[1]] in (0, pair[0] % 6) else study.outcomes["A"][pair])
    (judge,) = rows(calibrated(study), "judges")
    assert (judge["n_cases"], judge["sensitivity_low"]) == (12, None)
    assert "sensitivity: no interval: 3.0 of the 5 effective cases needed" in judge["note"]
    assert (judge["specificity"], judge["specificity_high"]) == (1, 1)
    # The first three cases hold fewer criteria that are not met: nine of each 18, else all 18.
    assert judge["specificity_low"] == pytest.approx(0.05 ** (1 / effective_number([9] * 3 + [18] * 9)))
    assert "specificity: without one case the figure is at its limit" in judge["note"]


def test_mf1_of_a_judge_with_few_pairs_a_case_needs_the_rarer_answer() -> None:
    """Three pairs a case: the group and the judge call met what three cases alone hold."""
    study, _written = physicians_study(cases=12, points=(1,))
    few = {response.pk for response in study.responses() if response.case.key < "case-03"}
    study.group("A", lambda pair: "met" if pair[0] in few else "not_met")
    study.judge("judge", lambda pair: study.outcomes["A"][pair])
    (judge,) = rows(calibrated(study), "judges")
    assert (judge["n_pairs"], judge["mf1"], judge["mf1_low"]) == (36, 1, None)
    assert "mf1: no interval: 3 of the 5 cases needed with the rarer answer" in judge["note"]


def test_the_page_says_why_k_has_no_interval() -> None:
    study, _written = physicians_study(cases=4)
    study.group("A", lambda pair: "met" if pair[1] % 2 else "not_met")
    report = calibrated(study)
    page = signed_in(study.admin).get(f"/b/{study.benchmark.slug}/calibration/{report.public_id}/")
    assert "No interval: 4.0 of the 5 effective cases needed." in page.content.decode()


def test_a_report_computed_again_is_the_same_though_a_judge_has_a_newer_run(study: Study) -> None:
    report = calibrated(study)
    assert len(report.parameters["judges"]) == 2
    study.judge("newer", coin(3, "met", "not_met"))
    again = services.recompute_report(report=report, at=timezone.now())
    services.run(report_id=again.pk, clock=timezone.now)
    again.refresh_from_db()
    assert again.input_digest == report.input_digest
    for name in ("candidates", "sensitivity_all", "judges", "judge_error", "judge_order", "case_accuracy"):
        assert "".join(table_of(again, name).csv()) == "".join(table_of(report, name).csv())
    assert kind_of(report).digest(study.benchmark, report.parameters) == report.input_digest
    fresh = calibrated(study)
    assert fresh.input_digest != report.input_digest


def test_the_page_leads_to_the_decisions_and_draws_every_figure(study: Study) -> None:
    report = calibrated(study)
    client, place = signed_in(study.admin), f"/b/{study.benchmark.slug}/calibration/{report.public_id}"
    html = client.get(f"{place}/").content.decode()
    assert "Top 3 undefined at every setting: only 3 candidates: all are in the top 3." in html
    assert "10 effective cases support these figures" in html
    for name in ("hits", "accuracy", "cacs_by_k", "sensitivity", "judge_error"):
        assert f'id="figure-{name}"' in html
    run = JudgeRun.objects.get(judge__name="blunt").public_id
    behind = client.get(f"{place}/decisions/", {"slice": "candidate:one", "side": run})
    assert behind.context["counts"] == {"differ": 20, "agree": 40, "left_out": 0}
    own = client.get(f"{place}/decisions/", {"slice": "candidate:doctor"})
    assert own.context["counts"] == {"not_met": 40, "met": 20, "other": 0}
    assert not own.context["changed"]
    assert client.get(f"{place}/decisions/", {"side": "nobody"}).status_code == 404


def test_differing_numbers_of_criteria_are_shown_before_and_refused_in_the_reader_s_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four cases with six positive criteria and one with two. A refusal is computed once."""
    kind, languages = services.KINDS["calibration"], []

    def compute(*args: Any, **options: Any) -> Result:
        languages.append(get_language())
        return kind.compute(*args, **options)

    monkeypatch.setitem(services.KINDS, "calibration", replace(kind, compute=compute))
    study, written = physicians_study()
    other = CaseFactory(benchmark=study.benchmark, key="case-99", rubric=[1, 1, -3])
    ResponseFactory(case=other, candidate=written[0].candidate, writing_mode="unaided")
    study.group("A", lambda pair: "met")
    base = f"/b/{study.benchmark.slug}/calibration"
    form = " ".join(signed_in(study.admin).get(f"{base}/").content.decode().split())
    counts = "2 positive criteria: 1 case; 6 positive criteria: 4 cases"
    assert f"Cases with responses by physicians: {counts}. The calibration is" in form
    assert "refused if the cases of the chosen candidate have different numbers." in form
    errors = {}
    for language in ("en", "zh-hans"):
        study.admin.language = language
        study.admin.save(update_fields=["language"])
        report = services.create_report(
            benchmark=study.benchmark,
            kind="calibration",
            parameters={"group": "A", "candidate": "doctor"},
            by=study.admin,
            at=timezone.now(),
        )
        services.run(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        assert report.status == "failed"
        errors[language] = report.error
    assert "the number of positive criteria is not constant (2 to 6)" in errors["en"]
    assert "number of positive criteria of their case: 2: 1, 6: 4. To calibrate k," in errors["en"]
    assert languages == ["en", "zh-hans"]
    assert "正分标准" in errors["zh-hans"] and "k is undefined" not in errors["zh-hans"]


def test_what_cannot_be_compared_says_why() -> None:
    study, written = physicians_study()
    doctors = {response.pk for response in written}
    study.group("A", lambda pair: "met" if pair[0] in doctors else "cannot_assess")
    report = calibrated(study)
    html = signed_in(study.admin).get(f"/b/{study.benchmark.slug}/calibration/").content.decode()
    assert "There are no ranks to compare" in html
    assert "Grading of 12 responses has been started, but a positive criterion is undecided." in html
    assert "no judge has a finished run" in html
    assert rows(report, "judge_error") == rows(report, "sensitivity_all") == []


def test_a_threshold_is_signed_and_signed_again(study: Study) -> None:
    report = calibrated(study)
    client, base = signed_in(study.admin), f"/b/{study.benchmark.slug}"
    assert "No threshold has been signed yet" in client.get(f"{base}/calibration/").content.decode()
    address = f"{base}/calibration/sign/?report={report.public_id}"
    form = client.get(address).context["form"]
    assert (form["k"].value(), form["seen"].value()) == (2, 0)

    refused = client.post(address, {"k": "3", "reason": " ", "seen": "0"})
    assert (refused.status_code, ThresholdChoice.objects.count()) == (422, 0)
    assert "Explain why you are signing 3" in refused.content.decode()
    assert client.post(address, {"k": "7", "reason": "too many", "seen": "0"}).status_code == 422
    assert client.post(address, {"k": "2", "reason": "", "seen": "0"}).status_code == 302
    first = ThresholdChoice.objects.get()
    assert (first.version, first.k, first.signed_by, first.signed_as) == (1, 2, study.admin, str(study.admin))
    assert (first.report, first.input_digest, first.facts["n"]) == (report, report.input_digest, 10)

    # Somebody who still sees nothing signed is shown what is, and then may sign.
    late = client.post(address, {"k": "3", "reason": "rubrics were cut", "seen": "0"})
    assert late.status_code == 409
    assert "has signed k = 2 in the meantime" in late.content.decode()
    assert late.context["form"]["seen"].value() == "1"
    assert client.post(address, {"k": "3", "reason": "rubrics were cut", "seen": "1"}).status_code == 302
    html = client.get(f"{base}/calibration/").content.decode()
    assert "k = 3 is in force." in html
    assert html.index("rubrics were cut") < html.index("Reports</h2>")
    written = list(csv.DictReader(client.get(f"{base}/calibration/thresholds.csv").getvalue().decode().splitlines()))
    assert [(row["version"], row["k"], row["calibrated_k"], row["reason"]) for row in written] == [
        ("2", "3", "2", "rubrics were cut"),
        ("1", "2", "2", ""),
    ]
    # Scores go by it, and say by whom.
    field = client.get(f"{base}/scores/").context["entries"][0].form.fields["k"]
    assert field.initial == 3
    assert str(study.admin) in field.help_text


def test_signed_content_cannot_be_changed(study: Study) -> None:
    report, now = calibrated(study), timezone.now()

    def sign(k: int, seen: int, **changes: object) -> ThresholdChoice:
        given = {"benchmark": study.benchmark, "report": report, "reason": "", "by": study.admin, "at": now, **changes}
        return thresholds.sign_threshold(k=k, seen=seen, **given)

    assert thresholds.threshold_in_force(study.benchmark) is None
    first = sign(2, 0)
    second = sign(4, 1, report=None, reason="as ClinConsensus", at=now + timedelta(hours=1))
    assert (second.facts, second.input_digest) == ({}, "")
    assert thresholds.threshold_in_force(study.benchmark) == second
    assert thresholds.threshold_in_force(study.benchmark, at=now + timedelta(minutes=1)) == first
    assert thresholds.threshold_in_force(study.benchmark, at=now - timedelta(minutes=1)) is None
    for k, changes in ((2, {"report": None}), (0, {}), (7, {"reason": "x"}), (True, {"reason": "x"})):
        with pytest.raises(thresholds.WrongThreshold):
            sign(k, 2, **changes)
    with pytest.raises(thresholds.WrongThreshold):
        sign(2, 0, benchmark=BenchmarkFactory())
    with pytest.raises(Conflict):
        sign(2, 1)
    for change in (lambda: first.delete(), lambda: ThresholdChoice.objects.update(k=9)):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_the_api_lists_and_signs(study: Study) -> None:
    report = calibrated(study)
    researcher = UserFactory()
    BenchmarkRoleFactory(benchmark=study.benchmark, user=researcher, role="researcher")
    client, address = signed_in(researcher), f"/api/v1/benchmarks/{study.benchmark.slug}/thresholds/"

    def post(**given: object):
        return client.post(address, json.dumps(given), content_type="application/json")

    response = post(k=2, report=report.public_id, seen=0)
    assert response.status_code == 201
    assert (response.json()["version"], response.json()["report"], response.json()["facts"]["k"]) == (
        1,
        report.public_id,
        2,
    )
    assert post(k=2, report=report.public_id, seen=0).status_code == 409
    assert post(k=2, seen=1).status_code == 422
    elsewhere = post(k=2, report="elsewhere", seen=1)
    assert (elsewhere.status_code, list(elsewhere.json())) == (400, ["report"])
    assert post(k=5, reason="by convention", seen=1).json()["report"] is None
    assert [(row["version"], row["k"], row["signed_by"]) for row in client.get(address).json()] == [
        (2, 5, str(researcher)),
        (1, 2, str(researcher)),
    ]
