"""``kill -9`` in runs of refinement: no plan or text lost or written twice, and no budget passed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db.models import Count

from consilium.llm.rules.completion import completion
from rubrics.models import Response
from scoring.models import PipelineRun
from tests.chaos import FULL, kills
from tests.chaos.killed_runs import CONCURRENCY, LATENCY, PRICED, Charges, Workers, kill_runs, outputs_of
from tests.validation.pairs.pair_world import work
from tests.validation.refinement.conftest import RuleEndpoint, rules  # noqa: F401  # a fixture
from tests.validation.refinement.refinement_world import BASE_TEXT, GUIDE, make_world
from validation.models import RefinementRun

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

KILLS, CASES = kills(full=50, small=2), 300 if FULL else 20
STEPS = CASES * 2 * 2  # two arms, a plan and an edit each
MAX_TOKENS = 400


def test_kills_lose_no_text_and_pass_no_budget(workers: Workers, rules: RuleEndpoint) -> None:  # noqa: F811
    rules.latency = LATENCY
    world = make_world("killed", cases=CASES, sets={"Guide": GUIDE})
    prices: dict[str, Any] = {**PRICED, "max_tokens": MAX_TOKENS}

    def begin(number: int, budget: Decimal) -> PipelineRun:
        config = {"concurrency": CONCURRENCY, "temperature": number / 100, **prices}
        return world.begin(rules.url, "Guide", gold=True, config=config, budget=budget)

    def charges() -> Charges:
        requests = list(rules.requests)
        tokens = sum(completion(request)["usage"]["completion_tokens"] for request in requests)
        return Charges(len(requests), tokens * prices["price_out"] / 1e6)

    def check(run: PipelineRun) -> None:
        names = RefinementRun.objects.get(pk=run.pk).derived_names
        refined = Response.objects.filter(candidate__name__in=names)
        assert (len(names), refined.count()) == (2, CASES * 2)
        assert not refined.values("case", "candidate").annotate(n=Count("pk")).filter(n__gt=1).exists()
        guided = refined.filter(candidate__name=names[0]).values_list("text", flat=True)
        assert set(guided) == {f"{BASE_TEXT}\n\n{GUIDE[0][0]} {GUIDE[1][0]}"}

    killed = kill_runs(
        workers, begin=begin, check=check, charges=charges, n_steps=STEPS, budget=Decimal(str(STEPS * 0.04)),
        kills=KILLS, endpoints=2,
    )  # fmt: skip
    rules.latency = 0.0
    again = make_world("quiet", cases=CASES, sets={"Guide": GUIDE})
    quiet = work(again.begin(rules.url, "Guide", gold=True, config={"temperature": 0.0, **prices}))
    assert outputs_of(killed) == outputs_of(quiet)
