"""Writing modes on the public HealthBench sample: who saw what, and the means, from the lines of the file alone."""

from __future__ import annotations

import io
import json
import os
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from django.core.management import call_command

from agreement.reports.stored import table_of
from rubrics.models import Benchmark, Response
from tests.agreement.study import Study
from tests.agreement.written.test_modes_report import beside, computed
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SAMPLE = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "healthbench_sample.jsonl"


def is_met(text: str, place: int) -> bool:
    """An invented judge: by the length of the response."""
    return (len(text) + 3 * place) % 5 < 3


def score(text: str, rubrics: list[dict[str, Any]]) -> float:
    met = sum(each["points"] for place, each in enumerate(rubrics) if is_met(text, place))
    return float(met / sum(each["points"] for each in rubrics if each["points"] > 0))


def test_groups_of_the_sample() -> None:
    call_command("import_cases", str(SAMPLE), "--benchmark", "real", stdout=io.StringIO())
    benchmark = Benchmark.objects.get(slug="real")
    study = Study(benchmark, UserFactory(), [])
    responses = {response.pk: response for response in Response.objects.filter(case__benchmark=benchmark)}
    study.judge(
        "echo",
        lambda pair: (
            "met"
            if is_met(responses[pair[0]].text, study.criteria[responses[pair[0]].case_id].index(pair[1]))
            else "not_met"
        ),
    )
    report = computed(benchmark)

    pairs: dict[str, list[tuple[float, list[float]]]] = defaultdict(list)
    for line in SAMPLE.read_text(encoding="utf-8").split("\n"):
        example = json.loads(line) if line else {}
        given = example.get("ideal_completions_data")
        if given and given["ideal_completion"]:
            shown = [score(text, example["rubrics"]) for text in given["ideal_completions_ref_completions"] or ()]
            own = score(given["ideal_completion"], example["rubrics"])
            pairs[given["ideal_completions_group"]].append((own, shown))
    modes = {row["mode_name"]: row for row in table_of(report, "modes").dicts()}
    assert {name: row["n"] for name, row in modes.items()} == {name: len(own) for name, own in pairs.items()}
    aided = [name for name in pairs if any(shown for _own, shown in pairs[name])]
    assert aided
    for name in aided:
        compared = [(own, shown) for own, shown in pairs[name] if shown]
        row = beside(report, "aided", name, "mean")
        assert row["n_responses"] == len(compared)
        assert row["written"] == pytest.approx(mean(own for own, _shown in compared))
        assert row["difference"] == pytest.approx(mean(own - mean(shown) for own, shown in compared))
        assert row["n_better"] == sum(own > mean(shown) + 1e-9 for own, shown in compared)
        best = beside(report, "aided", name, "best")
        assert best["shown"] == pytest.approx(mean(max(shown) for _own, shown in compared))
        assert best["n_worse"] == sum(own < max(shown) - 1e-9 for own, shown in compared)
