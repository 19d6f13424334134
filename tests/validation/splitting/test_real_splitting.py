"""The criteria of the 120 public cases, split by the rule of the endpoint. The oracle reads the lines of the file."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from consilium.llm.rules.names import MODEL
from scoring.pipelines.working import work_on_run
from tests.factories import BenchmarkFactory
from tests.validation.coverage.coverage_world import QUICK
from tests.validation.refinement.conftest import RuleEndpoint
from validation.models import RubricSet
from validation.sets.storing import SetName
from validation.splitting.services import create_run, freeze

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FILE = Path(os.environ["CONSILIUM_REAL_DATA"]) / "healthbench_sample.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def test_every_criterion_is_there_with_its_points_and_axis(rules: RuleEndpoint) -> None:
    benchmark = BenchmarkFactory(slug="bench")
    for arguments in (["import_cases", str(FILE)], ["rubric_set", "--name", "gold", "--track", "gold"]):
        call_command(*arguments, "--benchmark", "bench", stdout=io.StringIO(), stderr=io.StringIO())
    gold = RubricSet.objects.get(name="gold")
    config = {"endpoint": rules.url, "model": MODEL, **QUICK}
    run = create_run(benchmark=benchmark, gold=gold, config=config, by=None, at=timezone.now())
    while work_on_run(run.pk, clock=timezone.now):
        pass
    run.refresh_from_db()
    assert (run.status, run.error, len(rules.requests)) == ("finished", "", 120)
    row = freeze(run=run, name=SetName("points"), by=None, at=timezone.now())
    assert (row.case_count, row.unsplit_count, row.corrected_count) == (120, 0, 0)

    of_criteria: dict[tuple[str, int], list[Any]] = {}
    items = row.items.select_related("case", "source_item").order_by("case_id", "position")
    for item in items:
        of_criteria.setdefault((item.case.key, item.source_item.position), []).append(item)
    criteria = {(line["prompt_id"], n): own for line in LINES for n, own in enumerate(line["rubrics"], 1)}
    assert of_criteria.keys() == criteria.keys()
    assert len(criteria) == 1413
    for place, own in criteria.items():
        points = of_criteria[place]
        axis = next(tag.removeprefix("axis:") for tag in own["tags"] if tag.startswith("axis:"))
        assert {(point.points, point.axis) for point in points} == {(own["points"], axis)}
        # No word is lost, none is added, and their order stays.
        words = [word for point in points for word in re.findall(r"\w+", point.text)]
        assert words == re.findall(r"\w+", own["criterion"])
        assert len(points) == 1 or re.search(r"[;；。！？]|[.!?]\s+[A-Z]", own["criterion"])
    assert row.item_count == sum(map(len, of_criteria.values())) > 1413
