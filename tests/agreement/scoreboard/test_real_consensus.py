"""Consensus criteria of the public HealthBench sample, against HealthBench's arithmetic."""

from __future__ import annotations

import io
import os
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from agreement.models import Report
from agreement.reports.stored import table_of
from rubrics.models import Benchmark, Response, RubricItem
from tests.agreement.study import Pair, Study
from tests.factories import BenchmarkRoleFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SAMPLE = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "healthbench_sample.jsonl"


def chance(seed: int) -> Callable[[Pair], str]:
    rng = random.Random(seed)
    return lambda pair: rng.choice(("met", "met", "not_met"))


def test_the_real_sample_has_the_scores_that_healthbenchs_arithmetic_gives(tmp_path: Path) -> None:
    """Made-up verdicts on the reference completions of the public sample, by the command ``report``."""
    call_command("import_cases", str(SAMPLE), "--benchmark", "hb", stdout=io.StringIO(), stderr=io.StringIO())
    benchmark = Benchmark.objects.get(slug="hb")
    study = Study(benchmark, BenchmarkRoleFactory(benchmark=benchmark, role="admin").user, [])
    study.judge("J", chance(1))
    call_command(
        *("report", "--benchmark", "hb", "--kind", "consensus", "--param", "rater=J", "--out", str(tmp_path / "out")),
        stdout=io.StringIO(),
    )
    report = Report.objects.get()
    current = RubricItem.objects.filter(rubric__case__benchmark=benchmark, rubric__status="published")
    of_case: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for case, criterion, points, tags in current.values_list("rubric__case", "criterion", "points", "tags"):
        if "level:cluster" in tags:
            of_case[case].append((criterion, points))
    assert sum(map(len, of_case.values())) == 194
    scores: dict[str, list[float]] = defaultdict(list)
    responses = Response.objects.filter(case__benchmark=benchmark).select_related("candidate")
    for response in responses:
        own_items = of_case[response.case_id]
        possible = sum(points for _criterion, points in own_items if points > 0)
        if possible:
            met = sum(points for c, points in own_items if study.outcomes["J"][response.pk, c] == "met")
            scores[response.candidate.name].append(met / possible)
    row_by_candidate = {row["candidate"]: row for row in table_of(report, "consensus").dicts()}
    assert set(row_by_candidate) == set(scores)
    for name, own in scores.items():
        assert row_by_candidate[name]["n"] == len(own)
        assert row_by_candidate[name]["rubric_score"] == pytest.approx(float(np.clip(np.mean(own), 0, 1)))
    criteria = table_of(report, "consensus_criteria").dicts()
    answered = set(responses.values_list("case", flat=True))
    assert sum(row["n_criteria"] for row in criteria) == sum(len(of_case[case]) for case in answered) == 184
    assert all(row["theme"] for row in criteria)
    assert {path.name for path in (tmp_path / "out").rglob("consensus*.csv")} == {
        *("consensus.csv", "consensus_criteria.csv", "consensus_errors.csv")
    }
