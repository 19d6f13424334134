"""``kill -9`` in runs of drafting: no fact, need or suggestion lost or written twice, and no budget passed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from drafting.models import Fact, Need, Suggestion
from scoring.models import PipelineRun
from tests.chaos import FULL, kills
from tests.chaos.killed_runs import CONCURRENCY, LATENCY, PRICED, Charges, Workers, kill_runs, outputs_of
from tests.drafting.conftest import scripted  # noqa: F401  # a fixture
from tests.drafting.drafting_world import ScriptedEndpoint, build_world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

KILLS, CASES = kills(full=100, small=2), 60 if FULL else 8
# The stage *support* sends no conversation, so that the requests of all cases would be one.
STAGES: dict[str, Any] = {"support": {"on": False}}
STEPS = CASES * 11
MAX_TOKENS = 1000


def test_kills_lose_no_suggestion_and_pass_no_budget(
    workers: Workers,
    scripted: ScriptedEndpoint,  # noqa: F811
) -> None:
    scripted.latency = LATENCY
    world = build_world(cases=CASES)

    def begin(number: int, budget: Decimal | None) -> PipelineRun:
        config = world.config(scripted.url, stages=STAGES)
        for model in config["recipe"]["content"]["models"].values():
            model |= {**PRICED, "max_tokens": MAX_TOKENS, "concurrency": CONCURRENCY, "temperature": number / 100}
        return world.begin(config, budget=budget)

    def check(run: PipelineRun) -> None:
        for model, each in ((Fact, 5), (Need, 3), (Suggestion, 6)):
            assert model.objects.filter(run=run).count() == CASES * each
        assert (
            not Suggestion.objects.filter(run=run).exclude(findings__0__code="not_checked").exclude(facts=[]).exists()
        )

    def charges() -> Charges:
        tokens = scripted.tokens_out
        return Charges(len(scripted.requests), tokens * PRICED["price_out"] / 1e6)

    killed = kill_runs(
        workers, begin=begin, check=check, charges=charges, n_steps=STEPS, budget=Decimal(CASES) / 2, kills=KILLS
    )  # fmt: skip
    scripted.latency = 0.0
    stored = Suggestion.objects.filter(run=killed).order_by("case", "number")
    columns = ("case", "number", "text", "points", "axis", "facts", "needs", "citations", "source", "findings")
    rows = list(stored.values_list(*columns))
    # A quiet run, whose requests are answered from the store, comes to the same.
    quiet = world.worked(begin(0, None))
    assert list(Suggestion.objects.filter(run=quiet).order_by("case", "number").values_list(*columns)) == rows
    assert outputs_of(quiet) == outputs_of(killed)
