"""``scores``: every figure against arithmetic by hand or a second, naive computation."""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Adjudication, Ruling
from rubrics.models import Benchmark, Response, Rubric
from scoring.models import JudgeRun, JudgeRunItem
from scoring.scores.score_tables import compute_scores
from scoring.selectors.raters import resolve_rater
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    JudgeFactory,
    JudgeRunFactory,
    ResponseFactory,
    UserFactory,
    VerdictFactory,
)
from tests.scoring.conftest import decide
from tests.statistics.by_hand import mid_p, ratio_ends

pytestmark = pytest.mark.django_db


def write_scores(benchmark: Benchmark, rater: str, k: int, out: Path) -> dict[str, list[dict[str, str]]]:
    call_command("scores", benchmark=benchmark.slug, rater=rater, k=k, out=out, stdout=StringIO())
    tables = {}
    for name in ("scores", "scores_intervals", "responses", "worst_at_k"):
        with (out / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            tables[name] = list(csv.DictReader(file))
    return tables


def judged(benchmark: Benchmark, outcomes_by_response: dict[tuple[str, str], list[str]], name: str = "J") -> JudgeRun:
    """A finished run; ``outcomes_by_response`` maps (case, candidate) to outcomes, "" for a missing one."""
    judge = JudgeFactory(benchmark=benchmark, name=name)
    run = JudgeRunFactory(judge=judge)
    for (key, candidate), outcomes in outcomes_by_response.items():
        response = Response.objects.get(case__benchmark=benchmark, case__key=key, candidate__name=candidate)
        rubric = Rubric.objects.current().get(case=response.case)
        JudgeRunItem.objects.create(run=run, response=response, rubric=rubric)
        criteria = rubric.items.order_by("position").values_list("criterion", flat=True)
        for criterion, outcome in zip(criteria, outcomes, strict=True):
            if outcome:
                VerdictFactory(run=run, response=response, criterion_id=criterion, outcome=outcome)
    return run


def row_of(rows: list[dict[str, str]], **filters: str) -> dict[str, str]:
    matches = [row for row in rows if all(row[name] == value for name, value in filters.items())]
    assert len(matches) == 1, filters
    return matches[0]


@pytest.mark.slow
def test_figures_by_hand(answered: Benchmark, tmp_path: Path) -> None:
    # Points +5, +3, −4 in each case.
    judged(
        answered,
        {
            ("case-0", "alpha"): ["met", "met", "not_met"],  # 8/8 = 1, s = 2
            ("case-1", "alpha"): ["met", "not_met", "met"],  # 1/8, s = 1
            ("case-2", "alpha"): ["not_met", "not_met", "met"],  # −4/8, s = 0
            ("case-3", "alpha"): ["met", "invalid", ""],  # broken ones count against: 5 − 4 = 1/8, s = 1
            ("case-0", "beta"): ["not_met", "met", "not_met"],  # 3/8, s = 1
        },
    )
    tables = write_scores(answered, "J", 2, tmp_path)
    alpha = row_of(tables["scores"], candidate="alpha", slice="overall_score")
    assert (alpha["rater"], alpha["n"], alpha["k"]) == ("J", "4", "2")
    assert float(alpha["rubric_score"]) == pytest.approx((1 + 1 / 8 - 4 / 8 + 1 / 8) / 4)
    assert float(alpha["rubric_accuracy"]) == pytest.approx(100 * 4 / 8)
    assert float(alpha["pass_at_k"]) == pytest.approx(1 / 4)
    assert float(alpha["cacs_at_k"]) == pytest.approx(100 * 1 / 4)  # (2 − 2 + 1)/(2 − 2 + 1) once in four
    assert (alpha["n_invalid"], alpha["n_missing"], alpha["n_cannot"]) == ("1", "1", "0")
    assert alpha["rubric_score_se"] == ""
    assert "4.0 of the 5 effective cases needed" in alpha["note"]
    printed = StringIO()
    call_command(
        *("scores", f"--benchmark={answered.slug}", "--rater=J", "--k=2", "--interval=percentile", "--seed=3"),
        *("--out", str(tmp_path / "percentile")),
        stdout=printed,
    )
    assert "percentile bootstrap over cases, 1000 resamples, seed 3" in printed.getvalue()
    assert "rubric_score_se: deviation over 1,000 resamples, seed 3." in printed.getvalue()
    assert "4 of the 10 cases needed" in (tmp_path / "percentile" / "scores.csv").read_text(encoding="utf-8")
    case_3 = row_of(tables["responses"], candidate="alpha", case="case-3")
    assert case_3 == {
        "candidate": "alpha",
        "case": "case-3",
        "sample": "0",
        "n_criteria": "2",
        "hits": "1",
        "rubric_score": "0.125",
        "cacs_at_k": "0.0",
    }
    assert not [row for row in tables["scores"] if row["candidate"] == "physician"]  # not in the run
    accuracy = row_of(tables["scores"], candidate="beta", slice="axis:accuracy")
    assert float(accuracy["rubric_score"]) == pytest.approx(3 / 8)
    assert {row["slice"] for row in tables["scores"] if row["candidate"] == "beta"} == {
        "overall_score", "axis:accuracy", "difficulty:low", "register:lay", "specialty:neurology", "theme:hedging",
    }  # fmt: skip


def test_scores_below_zero_are_clipped_and_say_so(answered: Benchmark, tmp_path: Path) -> None:
    judged(answered, {("case-0", "alpha"): ["not_met", "not_met", "met"]})
    row = row_of(write_scores(answered, "J", 1, tmp_path)["scores"], candidate="alpha", slice="overall_score")
    assert float(row["rubric_score"]) == 0
    assert "clipped from -0.5" in row["note"]


@pytest.mark.slow
def test_undefined_figures_are_empty_cells_with_a_reason(answered: Benchmark, tmp_path: Path) -> None:
    judged(answered, {("case-0", "alpha"): ["met", "met", "not_met"]})
    row = row_of(write_scores(answered, "J", 3, tmp_path)["scores"], candidate="alpha", slice="overall_score")
    assert row["cacs_at_k"] == ""
    assert "no response has 3 positive criteria" in row["note"]
    assert float(row["pass_at_k"]) == 0


def test_what_physicians_leave_open_is_no_miss(answered: Benchmark, tmp_path: Path) -> None:
    decide(
        answered,
        "A",
        {
            ("case-0", "alpha"): ["met", "not_met", "not_met"],
            ("case-1", "alpha"): ["met", "cannot_assess", "not_met"],
            ("case-2", "alpha"): ["met", "met", "cannot_assess"],  # no score, but hits
        },
    )
    tables = write_scores(answered, "group:A", 1, tmp_path)
    row = row_of(tables["scores"], candidate="alpha", slice="overall_score")
    assert (row["rater"], row["n"], row["n_cannot"], row["n_missing"]) == ("group:A@checked", "1", "2", "0")
    assert float(row["rubric_score"]) == pytest.approx(5 / 8)
    assert float(row["rubric_accuracy"]) == pytest.approx(100 * 3 / 4)
    assert "2 responses without a score" in row["note"]
    half = row_of(tables["responses"], case="case-2")
    assert (half["rubric_score"], half["hits"], half["cacs_at_k"]) == ("", "2", "100.0")
    none = row_of(tables["responses"], case="case-1")
    assert (none["rubric_score"], none["hits"], none["cacs_at_k"]) == ("", "", "")


@pytest.mark.slow
def test_a_faulty_criterion_does_not_count(answered: Benchmark, tmp_path: Path) -> None:
    group = decide(answered, "A", {("case-0", "alpha"): ["met", "not_met", "not_met"]})
    response = Response.objects.get(case__key="case-0", candidate__name="alpha")
    rubric = Rubric.objects.current().get(case=response.case)
    second = rubric.items.get(position=2).criterion
    from django.utils import timezone

    now = timezone.now()
    adjudication = Adjudication.objects.create(
        response=response,
        rubric=rubric,
        group=group,
        criteria=[second.pk],
        agreement=0.5,
        adjudicator=UserFactory(),
        status="done",
        created_at=now,
        finished_at=now,
    )
    Ruling.objects.create(
        adjudication=adjudication,
        criterion=second,
        outcome="faulty",
        reason="Two readings.",
        final_at=now,
        created_at=now,
        updated_at=now,
    )
    for rater in ("group:A", "group:A@final"):
        row = row_of(write_scores(answered, rater, 1, tmp_path)["responses"], case="case-0")
        assert (row["n_criteria"], row["hits"], row["rubric_score"]) == ("1", "1", "1.0")


@pytest.fixture
def varied(db: None) -> Benchmark:
    """13 cases of varied points, tags and samples, two candidates."""
    rng = random.Random(3)
    benchmark = BenchmarkFactory(slug="varied")
    candidates = [CandidateFactory(benchmark=benchmark, name=name) for name in ("one", "two")]
    for number in range(13):
        points = [rng.choice([-7, -3, 1, 2, 5, 10]) for _ in range(rng.randint(2, 7))]
        case = CaseFactory(
            benchmark=benchmark,
            key=f"v-{number}",
            rubric=points,
            difficulty=rng.choice(["low", "high", ""]),
            tags=[f"theme:{rng.choice('ab')}"],
        )
        for candidate in candidates:
            for sample in range(rng.randint(1, 4)):
                ResponseFactory(case=case, candidate=candidate, sample=sample)
    return benchmark


def naive(run: JudgeRun, k: int, outcome_of: dict[tuple[int, int], str]) -> dict[tuple[str, str], dict[str, Any]]:
    """The scores once more, by loops over dictionaries."""
    per_response = []
    for item in run.items.select_related("response__case", "response__candidate"):
        points_of = [(i.criterion_id, i.points) for i in item.rubric.items.all()]
        met = {}
        for criterion, points in points_of:
            outcome = outcome_of.get((item.response_id, criterion), "missing")
            met[criterion] = outcome == "met" if outcome in ("met", "not_met") else points < 0
        possible = sum(points for _, points in points_of if points > 0)
        hits = sum(met[criterion] for criterion, points in points_of if points > 0)
        positive = sum(1 for _, points in points_of if points > 0)
        score = sum(points for criterion, points in points_of if met[criterion]) / possible if possible else None
        case = item.response.case
        slices = ["overall_score", *case.tags]
        slices += [f"difficulty:{case.difficulty}"] if case.difficulty else []
        per_response.append((item.response.candidate.name, case.key, slices, score, hits, positive))
    figures = {}
    for candidate in {row[0] for row in per_response}:
        for name in {name for row in per_response for name in row[2]}:
            rows = [row for row in per_response if row[0] == candidate and name in row[2]]
            scores = [row[3] for row in rows if row[3] is not None]
            cacs = [max(0, row[4] - k + 1) / (row[5] - k + 1) for row in rows if row[5] >= k]
            with_positive = [row for row in rows if row[5]]
            figures[candidate, name] = {
                "rubric_score": min(1.0, max(0.0, sum(scores) / len(scores))) if scores else None,
                "rubric_accuracy": 100 * sum(r[4] for r in rows) / sum(r[5] for r in rows) if with_positive else None,
                "pass_at_k": sum(r[4] >= k for r in with_positive) / len(with_positive) if with_positive else None,
                "cacs_at_k": 100 * sum(cacs) / len(cacs) if cacs else None,
                "by_case": _grouped((row[1], row[3]) for row in rows if row[3] is not None),
            }
    return figures


def _grouped(pairs: Any) -> dict[str, list[float]]:
    groups = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)


@pytest.mark.slow
def test_every_slice_equals_a_naive_computation(varied: Benchmark, tmp_path: Path) -> None:
    rng = random.Random(8)
    run = JudgeRunFactory(judge=JudgeFactory(benchmark=varied, name="J"))
    outcome_of: dict[tuple[int, int], str] = {}
    for response in Response.objects.filter(case__benchmark=varied):
        rubric = Rubric.objects.current().get(case=response.case)
        JudgeRunItem.objects.create(run=run, response=response, rubric=rubric)
        for criterion in rubric.items.values_list("criterion", flat=True):
            outcome = rng.choice(["met", "met", "not_met", "invalid", "missing"])
            if outcome != "missing":
                VerdictFactory(run=run, response=response, criterion_id=criterion, outcome=outcome)
                outcome_of[response.pk, criterion] = outcome
    tables = write_scores(varied, f"run:{run.public_id}", 2, tmp_path)
    expected = naive(run, 2, outcome_of)
    rows = [row for row in tables["scores"] if row["slice"] != "axis:accuracy" and row["slice"] != "register:lay"]
    assert {(row["candidate"], row["slice"]) for row in rows} == set(expected)
    for row in rows:
        for name in ("rubric_score", "rubric_accuracy", "pass_at_k", "cacs_at_k"):
            value = expected[row["candidate"], row["slice"]][name]
            assert (row[name] == "") == (value is None)
            assert value is None or float(row[name]) == pytest.approx(value, abs=1e-12), (row, name)
    # worst-at-k by drawing every subset
    for row in tables["worst_at_k"]:
        if (row["candidate"], row["slice"]) not in expected:
            continue
        k = int(row["k"])
        by_case = expected[row["candidate"], row["slice"]]["by_case"].values()
        minima = [np.mean([min(c) for c in combinations(scores, k)]) for scores in by_case if len(scores) >= k]
        assert int(row["n_cases"]) == len(minima)
        assert float(row["worst_at_k"]) == pytest.approx(min(1.0, max(0.0, float(np.mean(minima)))), abs=1e-12)
    assert {row["k"] for row in tables["worst_at_k"]} >= {"1", "2", "3"}


@pytest.mark.slow
def test_the_standard_error_is_seeded_and_near_the_analytic_one(db: None, tmp_path: Path) -> None:
    rng = random.Random(1)
    benchmark = BenchmarkFactory(slug="even")
    candidate = CandidateFactory(benchmark=benchmark, name="one")
    outcomes = {}
    for _ in range(30):
        case = CaseFactory(benchmark=benchmark, rubric=4)
        ResponseFactory(case=case, candidate=candidate)
        outcomes[case.key, "one"] = [rng.choice(["met", "not_met"]) for _ in range(4)]
    judged(benchmark, outcomes)
    tables = write_scores(benchmark, "J", 1, tmp_path)
    first = row_of(tables["scores"], slice="overall_score")
    intervals = row_of(tables["scores_intervals"], slice="overall_score")
    second = row_of(write_scores(benchmark, "J", 1, tmp_path)["scores"], slice="overall_score")
    assert first == second
    rater = resolve_rater(benchmark, "J")
    result = compute_scores(benchmark, rater, 1)
    scores = [row["rubric_score"] for row in result.responses if row["rubric_score"] is not None]
    analytic = np.std(scores) / len(scores) ** 0.5
    assert float(first["rubric_score_se"]) == pytest.approx(analytic, rel=0.1)
    board = result.scoreboard[0]
    hits, size = [row["hits"] for row in result.responses], [row["n_criteria"] for row in result.responses]
    ends = [100 * end for end in ratio_ends(hits, size)]
    assert [board["rubric_accuracy_low"], board["rubric_accuracy_high"]] == pytest.approx(ends)
    written = [float(intervals[f"rubric_accuracy{end}"]) for end in ("_low", "_high", "_effective")]
    assert written == pytest.approx([*ends, 30])
    # One response a case: the share of those that pass at 3 has the mid-p interval.
    passing = compute_scores(benchmark, rater, 3).scoreboard[0]
    n = sum(each >= 3 for each in hits)
    assert 0 < n < 30
    assert [passing["pass_at_k_low"], passing["pass_at_k_high"]] == pytest.approx(mid_p(n, 30))
    assert compute_scores(benchmark, rater, 1, seed=1).rows != result.rows
    assert compute_scores(benchmark, rater, 1, seed=1).digest == result.digest


@pytest.mark.slow
@pytest.mark.parametrize("position", [0, 1, 2])
def test_breaking_a_judge_never_pays(answered: Benchmark, position: int) -> None:
    """Whatever a verdict was, making it invalid or missing raises no figure: negative criteria too."""
    for number, outcome in enumerate(("met", "not_met")):
        outcomes = ["met", "met", "not_met"]
        outcomes[position] = outcome
        figures = []
        for variant, broken in enumerate((outcome, "invalid", "")):
            outcomes[position] = broken
            name = f"J{number}{variant}"
            judged(answered, {("case-0", "alpha"): outcomes}, name)
            figures.append(compute_scores(answered, resolve_rater(answered, name), 1).responses[0])
        for broken_row in figures[1:]:
            for name in ("rubric_score", "hits", "cacs_at_k"):
                assert broken_row[name] <= figures[0][name]


@pytest.mark.slow
def test_points_that_change_change_scores_and_no_verdict(answered: Benchmark, tmp_path: Path) -> None:
    judged(answered, {("case-0", "alpha"): ["met", "not_met", "not_met"]})
    old = Rubric.objects.current().get(case__key="case-0")
    items = list(old.items.order_by("position"))
    Rubric.objects.filter(pk=old.pk).update(status="superseded")
    new = Rubric.objects.create(case=old.case, version=2)
    for item, points in zip(items, [1, 9, -4], strict=True):
        new.items.create(criterion=item.criterion, position=item.position, points=points)
    Rubric.objects.filter(pk=new.pk).update(status="published")
    row = row_of(write_scores(answered, "J", 1, tmp_path)["responses"], case="case-0")
    assert float(row["rubric_score"]) == pytest.approx(1 / 10)


@pytest.mark.slow
def test_queries_do_not_grow_with_the_benchmark(answered: Benchmark) -> None:
    judged(answered, {("case-0", "alpha"): ["met", "met", "not_met"]}, "small")
    outcomes = {
        (f"case-{n}", name): ["met", "met", "not_met"] for n in range(4) for name in ("alpha", "beta", "physician")
    }
    judged(answered, outcomes, "large")
    counts = []
    for name in ("small", "large"):
        rater = resolve_rater(answered, name)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            compute_scores(answered, rater, 1)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_what_cannot_be_scored_is_refused(answered: Benchmark, tmp_path: Path) -> None:
    decide(answered, "A", {})
    with pytest.raises(CommandError, match="has decided nothing"):
        write_scores(answered, "group:A", 1, tmp_path)
    with pytest.raises(CommandError, match="neither a rater nor a judge"):
        write_scores(answered, "nobody", 1, tmp_path)
    with pytest.raises(CommandError, match="1 or more"):
        write_scores(answered, "group:A", 0, tmp_path)
