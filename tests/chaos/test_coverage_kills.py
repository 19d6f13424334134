"""``kill -9`` in runs of coverage: no answer lost or written twice, and no budget passed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from scoring.models import PipelineRun
from tests.chaos import FULL, kills
from tests.chaos.killed_runs import CONCURRENCY, COST, LATENCY, PRICED, Workers, charges_of, kill_runs, outputs_of
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.validation.coverage.coverage_world import CoverageWorld, make_world, work
from validation.coverage.inputs import read_coverage
from validation.models import CoverageRun

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

KILLS, CASES, POINTS = kills(full=50, small=2), *((40, 5) if FULL else (6, 2))
# Each gold point against A, B, the gold set, and A and B of the next case; and each criterion of A and of B.
STEPS = CASES * POINTS * 7


def sized(slug: str) -> CoverageWorld:
    """Sets A and B with as many criteria as there are gold points: A has them all, B has them in part."""

    def criteria(name: str, words: str) -> dict[str, list[tuple[str, int, str]]]:
        return {
            f"c{case}": [(f"{name}{words}Gold {case} {place}", 1, "accuracy") for place in range(POINTS)]
            for case in range(CASES)
        }

    def ended(own: dict[str, list[tuple[str, int, str]]]) -> dict[str, list[tuple[str, int, str]]]:
        return {key: [(f"{text};", points, axis) for text, points, axis in texts] for key, texts in own.items()}

    a, b = ended(criteria("A: ", "full: ")), ended(criteria("B: ", "partly: "))
    return make_world(slug, {"gold": criteria("", ""), "A": a, "B": b})


def test_kills_lose_no_answer_and_pass_no_budget(workers: Workers, loopback: Loopback) -> None:  # noqa: F811
    loopback.start_afresh(LATENCY)
    world = sized("killed")

    def begin(number: int, budget: Decimal) -> PipelineRun:
        config = {"concurrency": CONCURRENCY, "temperature": number / 100, **PRICED}
        return world.begin(loopback.url, config=config, budget=budget)

    def check(run: PipelineRun) -> None:
        inputs = read_coverage(CoverageRun.objects.get(pk=run.pk))
        assert len(inputs.gold) == CASES * POINTS

    killed = kill_runs(
        workers, begin=begin, check=check, charges=lambda: charges_of(loopback), n_steps=STEPS,
        budget=Decimal(str(STEPS * COST / 2)), kills=KILLS,
    )  # fmt: skip
    loopback.start_afresh()
    quiet = work(sized("quiet").begin(loopback.url, config={"temperature": 0.0, **PRICED}))
    assert outputs_of(killed) == outputs_of(quiet)
    extents = [output["extent"] for _case, stage, _key, _round, _state, output, _found in outputs_of(quiet)]
    # In full: A, forward and backward, and the gold set against itself; in part: B, forward and backward.
    assert [extents.count(extent) for extent in ("full", "partly")] == [3 * CASES * POINTS, 2 * CASES * POINTS]
