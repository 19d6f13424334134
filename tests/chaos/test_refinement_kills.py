"""``kill -9`` in a run of refinement: every plan and every text is there once, and texts are those of a quiet run."""

from __future__ import annotations

import random

import pytest
from django.db.models import Count

from rubrics.models import Response
from scoring.models import EndpointCall
from tests.chaos.test_pipeline_kills import CONCURRENCY, SEED, Workers, work_and_kill, workers  # noqa: F401
from tests.validation.refinement.conftest import RuleEndpoint, rules  # noqa: F401  # a fixture
from tests.validation.refinement.refinement_world import BASE_TEXT, GUIDE, make_world
from validation.models import RefinementRun

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_a_kill_loses_no_text(workers: Workers, rules: RuleEndpoint) -> None:  # noqa: F811
    rules.latency = 0.05
    world = make_world("killed", cases=40, sets={"Guide": GUIDE})
    run = world.begin(rules.url, "Guide", gold=True, config={"concurrency": CONCURRENCY})
    work_and_kill(workers, run, 1, random.Random(SEED))
    run = RefinementRun.objects.get(pk=run.pk)
    assert (run.status, run.error, workers.kills) == ("finished", "", 1)
    # 40 cases, two arms, a plan and an edit each.
    assert run.steps.filter(state="done").count() == run.steps.count() == 40 * 2 * 2
    refined = Response.objects.filter(candidate__name__in=run.derived_names)
    assert refined.count() == 40 * 2
    assert not refined.values("case", "candidate").annotate(n=Count("pk")).filter(n__gt=1).exists()
    answered = EndpointCall.objects.filter(run=run, error_kind="").values("request_hash").annotate(n=Count("pk"))
    assert not answered.filter(n__gt=1).exists()
    assert {row.text for row in world.refined(run)} == {f"{BASE_TEXT}\n\n{GUIDE[0][0]} {GUIDE[1][0]}"}
