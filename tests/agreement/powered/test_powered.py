"""Prediction-powered scores and plans: from decisions to report, page, files, API and command."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from scipy import stats
from sklearn.metrics import f1_score

from agreement import services, tasks
from agreement.kinds import kind_of
from agreement.models import Report
from agreement.powered.powered_scores import MEASURES, powered_scores
from agreement.reports.methods import methods_of
from agreement.reports.numbers import number
from agreement.reports.stored import table_of
from annotation.models import Assignment, Batch, BatchItem, Decision
from consilium.core.errors import DomainError
from consilium.statistics.case_numbers import in_words
from rubrics.models import Response
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import CaseFactory, ResponseFactory, make_batch
from tests.statistics.by_hand import effective_number, less_mean

pytestmark = pytest.mark.django_db

CASES, DRAWN = 24, 30


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    """A judge on 24 cases of both candidates; a group grades 30 of the 48 responses, and differs on a fifth."""
    study = make_study(cases=CASES, points=(3, 1, 1, 2, -2))
    study.judge("Judge", coin(1, "met", "met", "not_met"))
    study.group("A", noisy(study, "Judge", 2, 0.2), draw=DRAWN)
    return study


def graded(study: Study, candidate: str) -> int:
    return Assignment.objects.filter(response__candidate__name=candidate, case__benchmark=study.benchmark).count()


def by_hand(study: Study, candidate: str, weights: dict[int, float] | None = None) -> tuple[float, float, float]:
    """Rubric Accuracy of a candidate: the estimate, the physicians' and the judge's, from sums over its cases."""
    sums = []
    for response in study.responses():
        if response.candidate.name != candidate:
            continue
        # The last criterion takes points off and is no part of it.
        pairs = [(response.pk, criterion) for criterion in study.criteria[response.case_id][:4]]
        f = sum(study.outcomes["Judge"][pair] == "met" for pair in pairs)
        y = sum(study.outcomes["A"].get(pair) == "met" for pair in pairs)
        drawn = pairs[0] in study.outcomes["A"]
        sums.append((4.0, f, (weights or {}).get(response.pk, 1.0) * drawn, y * drawn))
    d, f, w, y = np.array(sums).T
    judge, physicians, sampled = f.sum() / d.sum(), (w * y).sum() / (w * d).sum(), (w * f).sum() / (w * d).sum()
    a, g = w * (y - physicians * d) / (w * d).sum(), w * (f - sampled * d) / (w * d).sum()
    b = (f - judge * d) / d.sum() - g
    power = min(1, max(0, -(a @ b) / (b @ b)))
    return 100 * (physicians + power * (judge - sampled)), 100 * physicians, 100 * judge


@pytest.mark.slow
def test_a_report_by_the_page_with_figures_files_and_recomputation(study: Study) -> None:
    client = Client()
    client.force_login(study.admin)
    address = f"/b/{study.benchmark.slug}/scores/"
    response = client.post(
        address,
        {"kind": "powered", "powered-judge": "Judge", "powered-reference": "group:A@checked", "powered-k": "2"},
    )
    assert response.status_code == 302, response.content.decode()
    report = Report.objects.get()
    tasks.run_report(report.pk)
    report.refresh_from_db()
    rows = {(row["candidate"], row["slice"], row["measure"]): row for row in table_of(report, "powered").dicts()}
    assert {key[2] for key in rows} == set(MEASURES)
    for candidate in ("alpha", "beta"):
        row = rows[candidate, "overall_score", "rubric_accuracy"]
        values = (row["value"], row["physicians"], row["judge"])
        assert values == pytest.approx(by_hand(study, candidate), abs=1e-9)
        assert row["low"] < row["value"] < row["high"]
        n = graded(study, candidate)
        assert 10 <= n < CASES
        assert (row["n_labelled"], row["n_labelled_cases"], row["n_judged"], row["n_cases"]) == (n, n, CASES, CASES)
        assert row["note"] == ""
        assert rows[candidate, "overall_score", "cacs_at_k"]["k"] == 2
    odd = rows["alpha", "theme:odd", "rubric_score"]
    assert odd["n_cases"] == CASES // 2
    # A mean over responses, one a case: each labelled case counts alike.
    assert odd["effective"] == pytest.approx(odd["n_labelled_cases"], abs=1e-9)
    assert (odd["low"] is not None) is (odd["n_labelled_cases"] >= 5)
    page = client.get(response["Location"]).content.decode()
    assert "Prediction-powered" in page
    row = rows["alpha", "overall_score", "rubric_accuracy"]
    behind = f"{in_words(row['effective'])} effective cases"
    assert f'{row["value"]:.1f} <span class="ci" title="{behind}">{row["low"]:.1f}–{row["high"]:.1f}' in page
    assert page.count("<svg") >= 3
    methods = methods_of(report).text
    assert "48 responses with verdicts of" in methods
    assert "30 of them with decisions of group A" in methods
    assert "the graded responses were drawn at random" in methods
    assert "Angelopoulos, Duchi, Zrnic 2023" in methods
    first = b"".join(client.get(f"{response['Location']}tables/powered.csv").streaming_content)
    again = services.recompute_report(report=report, at=timezone.now())
    tasks.run_report(again.pk)
    again.refresh_from_db()
    assert again.input_digest == report.input_digest == kind_of(report).digest(study.benchmark, report.parameters)
    other = response["Location"].replace(report.public_id, again.public_id)
    assert b"".join(client.get(f"{other}tables/powered.csv").streaming_content) == first


@pytest.mark.slow
@pytest.mark.parametrize("rater", ["Judge", "jury:Judge+Other"])
def test_the_judges_own_figure_is_that_of_its_scores(study: Study, rater: str) -> None:
    """Of a jury of two, ties leave responses without a score; as predictions they still count."""
    study.judge("Other", noisy(study, "Judge", 3, 0.1))
    report = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": rater, "k": 2}, at=timezone.now()
    )
    tasks.run_report(report.pk)
    report.refresh_from_db()
    board = {row["candidate"]: row for row in table_of(report, "scoreboard").dicts()}
    rows = powered_scores(study.benchmark, judge=rater, reference="group:A", k=2).rows
    assert all(row["n_judged"] == CASES for row in rows if row["slice"] == "overall_score")
    for row in rows:
        if row["slice"] == "overall_score":
            assert row["judge"] == pytest.approx(board[row["candidate"]][row["measure"]], abs=1e-12)


@pytest.mark.slow
def test_where_everything_is_graded_it_is_the_physicians_scoreboard(study: Study) -> None:
    study.group("All", noisy(study, "Judge", 5, 0.2))
    report = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": "group:All", "k": 2}, at=timezone.now()
    )
    tasks.run_report(report.pk)
    report.refresh_from_db()
    board = {row["candidate"]: row for row in table_of(report, "scoreboard").dicts()}
    rows = powered_scores(study.benchmark, judge="Judge", reference="group:All", k=2).rows
    for row in (row for row in rows if row["slice"] == "overall_score"):
        own, measure = board[row["candidate"]], row["measure"]
        assert row["low"] is not None
        shown = (own[measure], own[f"{measure}_low"], own[f"{measure}_high"])
        assert (row["value"], row["low"], row["high"]) == pytest.approx(shown, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("n_graded", "due"), [(4, False), (5, True)])
def test_five_graded_cases_are_needed(study: Study, n_graded: int, due: bool) -> None:
    chosen = [response.pk for response in study.responses() if response.candidate.name == "alpha"][:n_graded]
    study.group("Few", noisy(study, "Judge", 6, 0.3))
    Assignment.objects.filter(batch__group=study.groups["Few"]).exclude(response__in=chosen).update(status="open")
    rows = powered_scores(study.benchmark, judge="Judge", reference="group:Few", k=2).rows
    row = next(row for row in rows if row["slice"] == "overall_score" and row["measure"] == "rubric_accuracy")
    assert (row["candidate"], row["n_labelled_cases"], row["effective"]) == ("alpha", n_graded, n_graded)
    assert (row["low"] is not None) is due
    assert ("4.0 of the 5 effective cases needed" in row["note"]) is not due


@pytest.mark.slow
def test_the_judges_own_interval_stays_in_bounds_though_a_tie_keeps_it_apart() -> None:
    study = make_study(cases=12, points=(3, 1, 1, 2, -2))
    first = study.responses()[0].pk
    study.judge("Judge", lambda pair: "not_met" if pair[0] == first else "met")
    tied = {(study.responses()[2].pk, criterion) for criterion in study.criteria[study.responses()[2].case_id][:1]}
    study.judge("Other", lambda pair: "not_met" if pair in tied else study.outcomes["Judge"][pair])
    study.group("A", noisy(study, "Judge", 2, 0.2), draw=20)
    rows = powered_scores(study.benchmark, judge="jury:Judge+Other", reference="group:A", k=2).rows
    ends = [(row["judge"], row["judge_high"]) for row in rows if row["judge_high"] is not None and row["k"] != 0]
    assert max(value for value, _high in ends if value < 100) > 80  # so close that t ends would lie beyond
    assert all(high <= 100 for _value, high in ends)


@pytest.mark.slow
def test_unequal_inclusion_probabilities_weigh(study: Study) -> None:
    rng = random.Random(4)
    weights = {}
    for item in BatchItem.objects.all():
        item.inclusion_probability = rng.choice([0.25, 0.5])
        item.save()
        weights[item.response_id] = 1 / item.inclusion_probability
    scores = powered_scores(study.benchmark, judge="Judge", reference="group:A", k=2)
    row = next(row for row in scores.rows if row["measure"] == "rubric_accuracy" and row["slice"] == "overall_score")
    assert (row["value"], row["physicians"]) == pytest.approx(by_hand(study, "alpha", weights)[:2], abs=1e-9)
    assert row["note"] == "weighted by the inverse of the recorded inclusion probabilities"


@pytest.mark.slow
def test_the_report_names_what_is_unknown_about_the_sample(study: Study) -> None:
    for frame, imported, phrase in (
        ({"filter": {"tags": ["theme:odd"]}}, False, "drawn from some of the cases"),
        ({"imported": True}, True, "not recorded how the graded responses were drawn"),
    ):
        Batch.objects.update(frame=frame, imported=imported)
        assert all(phrase in row["note"] for row in accuracy(study))
    # What is drawn later from the same cases adds to one random sample; from other cases it does not.
    Batch.objects.update(frame={"filter": {}}, imported=False)
    later = make_batch(study.groups["A"], by=study.admin, draw=4)
    assert [row["note"] for row in accuracy(study)] == [
        f"{graded(study, name) - n} of {graded(study, name)} drawn responses are graded so far" if n else ""
        for name in ("alpha", "beta")
        for n in [later.items.filter(response__candidate__name=name).count()]
    ]
    Batch.objects.filter(pk=later.pk).update(frame={"filter": {"registers": ["lay"]}})
    assert any("come from several draws" in row["note"] for row in accuracy(study))


@pytest.mark.slow
def test_what_cannot_be_assessed_counts_as_ungraded_and_a_broken_verdict_against(study: Study) -> None:
    drawn = {response for response, _criterion in study.outcomes["A"]}
    response = next(
        candidate_response
        for candidate_response in study.responses()
        if candidate_response.pk in drawn and candidate_response.candidate.name == "alpha"
    )
    Decision.objects.filter(assignment__response=response, criterion=study.criteria[response.case_id][0]).update(
        outcome="cannot_assess"
    )
    broken = {
        pair for pair in study.outcomes["Judge"] if pair[0] == response.pk and study.outcomes["Judge"][pair] == "met"
    } - {(response.pk, study.criteria[response.case_id][4])}  # of the positive criteria
    study.judge("Broken", lambda pair: "invalid" if pair in broken else study.outcomes["Judge"][pair])
    row = next(row for row in accuracy(study, "Broken") if row["candidate"] == "alpha")
    assert row["n_labelled"] == graded(study, "alpha") - 1
    assert "1 graded response without a score to compare with the judge’s" in row["note"]
    sound = next(row for row in accuracy(study) if row["candidate"] == "alpha")
    assert row["judge"] == pytest.approx(sound["judge"] - 100 * len(broken) / (4 * CASES), abs=1e-9)
    assert broken


@pytest.mark.slow
def test_the_report_says_how_many_responses_correct_each_figure(study: Study) -> None:
    """The criterion that takes points off counts in the rubric score alone: without it, 29 of the 30 have one."""
    response, criterion = next(
        (response, study.criteria[response.case_id][4])
        for response in study.responses()
        if (response.pk, study.criteria[response.case_id][4]) in study.outcomes["A"]
    )
    Decision.objects.filter(assignment__response=response, criterion=criterion).update(outcome="cannot_assess")
    parameters = {"judge": "Judge", "reference": "group:A", "k": 2}
    report = services.create_report(benchmark=study.benchmark, kind="powered", parameters=parameters, at=timezone.now())
    tasks.run_report(report.pk)
    report.refresh_from_db()
    client = Client()
    client.force_login(study.admin)
    page = " ".join(
        client.get(f"/b/{study.benchmark.slug}/scores/{report.public_id}/").content.decode().split()
    ).replace(" ,", ",")
    assert "who graded 30 of them. Only responses with a score by both correct a figure:" in page
    assert "correct a figure: Rubric score 29, Rubric Accuracy 30, CACS@2 30." in page
    text = methods_of(report).text
    assert "Responses with a score by both: 29 for the rubric score, 30 for Rubric Accuracy and 30 for CACS@2." in text


def test_a_threshold_that_no_rubric_reaches_is_a_reason(study: Study) -> None:
    rows = powered_scores(study.benchmark, judge="Judge", reference="group:A", k=5).rows
    cacs = [row for row in rows if row["measure"] == "cacs_at_k"]
    assert len(cacs) * 3 == len(rows)
    assert all(row["value"] is None and row["note"] == "value: no response has 5 positive criteria" for row in cacs)


def test_each_figure_of_a_row_has_its_own_remarks(tmp_path: Path) -> None:
    """Five cases are judged, on four of which physicians graded a response: the judge alone has an interval."""
    small = make_study(cases=6, points=(1, 1, 1), candidates=("alpha",))
    small.judge("Judge", coin(3, "met", "not_met"))
    small.group("A", noisy(small, "Judge", 4, 0.3), draw=4)
    (row,) = accuracy(small)
    for name, effective in (("value", 4), ("physicians", 4), ("judge", 6)):
        figure = number({**row, "value_low": row["low"]}, name)
        few = "no interval: 4.0 of the 5 effective cases needed"
        assert figure.reason == (few if effective < 5 else ""), name
    assert "judge: " not in row["note"]


def accuracy(study: Study, judge: str = "Judge") -> list[dict]:
    rows = powered_scores(study.benchmark, judge=judge, reference="group:A", k=2).rows
    return [row for row in rows if row["measure"] == "rubric_accuracy" and row["slice"] == "overall_score"]


def test_no_figure_for_a_candidate_that_the_judge_was_trained_on(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agreement.powered.powered_scores.learned_candidates", lambda benchmark, runs: ["alpha"])
    learned, other = accuracy(study)
    assert (learned["candidate"], learned["value"], learned["low"], learned["width_ratio"]) == ("alpha", *[None] * 3)
    assert learned["note"] == "value: the judge learned from decisions on this candidate"
    assert learned["physicians"] is not None
    assert other["value"] is not None
    assert "learned from decisions on other candidates" in other["note"]


def test_parameters_that_make_no_report(study: Study) -> None:
    for judge, reference, message in (
        ("group:A", "Judge", "Predictions must come from a judge"),
        ("Judge", "Judge", "different raters"),
        ("Judge", "group:B", "no expert group"),
    ):
        with pytest.raises(DomainError, match=message):
            services.create_report(
                benchmark=study.benchmark,
                kind="powered",
                parameters={"judge": judge, "reference": reference, "k": 2},
                at=timezone.now(),
            )


@pytest.mark.slow
def test_a_plan_by_page_file_api_and_command(study: Study, tmp_path: Path) -> None:
    client = Client()
    client.force_login(study.admin)
    address = f"/b/{study.benchmark.slug}/planning/"
    assert "No plan yet" in client.get(address).content.decode()
    query = {"judge": "Judge", "reference": "group:A@checked", "measure": "rubric_accuracy", "k": 2}
    query |= {"half_width": 12, "n_planned": 100}
    page = client.get(address, query)
    assert page.status_code == 200
    html = page.content.decode()
    assert "<svg" in html
    assert "Smallest detectable difference" in html
    answer = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/planning/", query).json()
    out = tmp_path / "plan"
    call_command(
        "label_budget", "--benchmark", study.benchmark.slug, "--judge", "Judge", "--reference", "group:A", "--k", "2",
        "--half-width", "12", "--cases", "100", "--out", str(out), verbosity=0,
    )  # fmt: skip
    assert json.loads((out / "plan.json").read_text())["budget"] == answer["budget"]
    downloaded = b"".join(client.get(f"{address}budget.csv", query).streaming_content).decode()
    assert downloaded == (out / "budget.csv").read_bytes().decode()
    rows = {row["candidate"]: row for row in csv.DictReader(downloaded.splitlines())}
    for candidate in ("alpha", "beta"):
        row = rows[candidate]
        # Every response has 5 criteria, every case one response.
        if row["cases"]:
            assert int(row["decisions"]) == 5 * int(row["responses"]) == 5 * int(row["cases"])
            assert int(row["cases"]) <= int(row["cases_alone"] or CASES)
    assert set(rows) == {"alpha", "beta", "all candidates"}
    assert client.get(f"{address}curve.svg", query)["Content-Type"] == "image/svg+xml"
    # The paired differences of the case means, by hand.
    shares: dict[str, dict[int, float]] = {"alpha": {}, "beta": {}}
    for response in study.responses():
        pairs = [(response.pk, criterion) for criterion in study.criteria[response.case_id][:4]]
        if pairs[0] in study.outcomes["A"]:
            shares[response.candidate.name][response.case_id] = 25 * sum(
                study.outcomes["A"][pair] == "met" for pair in pairs
            )
    apart = [shares["alpha"][case] - shares["beta"][case] for case in shares["alpha"] if case in shares["beta"]]
    effect = answer["detectable"][0]
    assert effect["difference"] == pytest.approx(np.mean(apart), abs=1e-9)
    assert effect["spread"] == pytest.approx(np.std(apart, ddof=1), abs=1e-9)


@pytest.mark.slow
def test_a_difference_of_macro_f1_needs_ten_effective_cases() -> None:
    """Ten cases of one response and one of twenty: G* = 30² / (10 + 400) = 2.2."""
    uneven = make_study(cases=10, points=(1, 1, 1), candidates=("alpha",))
    large = CaseFactory(benchmark=uneven.benchmark, rubric=[1, 1, 1])
    for sample in range(20):
        ResponseFactory(case=large, candidate=uneven.candidates[0], sample=sample)
    uneven.judge("Judge", coin(3, "met", "not_met"))
    uneven.judge("Other", noisy(uneven, "Judge", 5, 0.3))
    uneven.group("A", noisy(uneven, "Judge", 4, 0.3))
    client = Client()
    client.force_login(uneven.admin)
    query = {"judge": "Judge", "reference": "group:A@checked", "measure": "rubric_accuracy", "k": 2, "half_width": 12}
    answer = client.get(f"/api/v1/benchmarks/{uneven.benchmark.slug}/planning/", {**query, "other": "Other"}).json()
    row = next(row for row in answer["detectable"] if row["measure"] == "mf1")
    assert (row["difference"], row["spread"], row["detectable"]) == (None, None, None)
    assert "both have 2.2 of the 10 effective cases needed" in row["note"]


@pytest.mark.slow
def test_a_plan_counts_effective_cases(tmp_path: Path) -> None:
    """Twelve cases of one response and one of six: G* = 18² / (12 + 36) = 6.75 for the mean over responses."""
    uneven = make_study(cases=12, points=(1, 1, 1), candidates=("alpha",))
    large = CaseFactory(benchmark=uneven.benchmark, rubric=[1, 1, 1])
    for sample in range(6):
        ResponseFactory(case=large, candidate=uneven.candidates[0], sample=sample)
    uneven.judge("Judge", coin(3, "met", "not_met"))
    uneven.group("A", noisy(uneven, "Judge", 4, 0.3))
    client = Client()
    client.force_login(uneven.admin)
    query = {"judge": "Judge", "reference": "group:A@checked", "measure": "rubric_accuracy", "k": 2, "half_width": 12}
    answer = client.get(f"/api/v1/benchmarks/{uneven.benchmark.slug}/planning/", query).json()
    (row,) = answer["budget"]
    assert "the pilot has 6.8 of the 10 effective labelled cases needed" in row["note"]
    assert answer["curve"] == []


@pytest.mark.slow
def test_a_plan_that_cannot_be_made_says_why(study: Study, tmp_path: Path) -> None:
    client = Client()
    client.force_login(study.admin)
    address = f"/b/{study.benchmark.slug}/planning/"
    wrong = client.get(address, {"judge": "nobody", "half_width": "0"})
    assert wrong.status_code == 422
    assert client.get(f"{address}budget.csv", {"half_width": "0"}).status_code == 422
    assert client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/planning/", {"k": 1}).status_code == 400
    # What is not said is as the page has it; how narrow, has to be said.
    least = {"judge": "Judge", "reference": "group:A@checked", "half_width": 12}
    plan = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/planning/", least)
    assert plan.status_code == 200
    # As reports take it, without the stage.
    short = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/planning/", {**least, "reference": "group:A"})
    assert (short.status_code, short.json()) == (200, plan.json())
    unknown = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/planning/", {**least, "reference": "group:Z"})
    assert (unknown.status_code, "group:A@checked" in unknown.json()["reference"][0]) == (400, True)
    narrow = client.get(address, {"judge": "Judge", "half_width": "0.01"}).content.decode()
    assert "out of reach: physicians on all 24 cases give" in narrow
    with pytest.raises(CommandError, match="half-width"):
        call_command(
            "label_budget", "--benchmark", study.benchmark.slug, "--judge", "Judge", "--reference", "group:A",
            "--half-width", "0", "--out", str(tmp_path),
        )  # fmt: skip


@pytest.mark.slow
def test_a_difference_of_macro_f1_is_planned_from_its_standard_error(study: Study, tmp_path: Path) -> None:
    study.judge("Other", noisy(study, "Judge", 3, 0.4))
    call_command(
        "label_budget", "--benchmark", study.benchmark.slug, "--judge", "Judge", "--reference", "group:A", "--k", "2",
        "--half-width", "12", "--cases", "92", "--other", "Other", "--out", str(tmp_path), verbosity=0,
    )  # fmt: skip
    row = json.loads((tmp_path / "plan.json").read_text())["detectable"][-1]
    n = Assignment.objects.values("case").distinct().count()
    assert (row["first"], row["second"], row["measure"], row["n_pilot"]) == ("Judge", "Other", "mf1", n)
    decided: dict[int, list[tuple[int, int, int]]] = {}
    case_of = dict(Response.objects.values_list("pk", "case_id"))
    for pair, reference in study.outcomes["A"].items():
        if reference in ("met", "not_met"):
            outcomes = (reference, study.outcomes["Judge"][pair], study.outcomes["Other"][pair])
            decided.setdefault(case_of[pair[0]], []).append(tuple(outcome == "met" for outcome in outcomes))  # type: ignore[arg-type]

    def apart(left_out: int | None = None) -> float:
        rows = [row for case, pairs in decided.items() if case != left_out for row in pairs]
        reference, *judges = zip(*rows, strict=True)
        first, second = (f1_score(reference, judge, average="macro") for judge in judges)
        return float(first - second)

    without = less_mean([apart(case) for case in decided])
    error = ((n - 1) / n * sum(deviation**2 for deviation in without)) ** 0.5
    assert (row["difference"], row["spread"]) == pytest.approx((apart(), error), abs=1e-9)
    free = effective_number([len(pairs) for pairs in decided.values()]) * 92 / n - 1
    border, shift = stats.t(free).ppf(0.975), row["detectable"] / (error * (n / 92) ** 0.5)
    assert 1 - stats.nct(free, shift).cdf(border) + stats.nct(free, shift).cdf(-border) == pytest.approx(0.8, abs=1e-6)
