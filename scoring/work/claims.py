"""Claims of a slice on its run's budget, made under the run's lock so that together they never exceed it.

`consilium.llm.meter` keeps each request of the slice within its claim.
"""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from consilium.llm.meter import Allowance
from scoring.models import JudgeRun, RunSlice

# Why a run that has spent its budget ends incomplete.
BUDGET_USED_UP = gettext_lazy(
    "The budget is used up: the next request could exceed it. Increase the budget to complete the rest."
)


def prices_of(run: JudgeRun) -> Allowance:
    """The prices that the run's snapshot holds."""
    config = run.snapshot.get("config", {})
    return Allowance(price_in=float(config.get("price_in", 0)), price_out=float(config.get("price_out", 0)))


def spent_by(run: JudgeRun, row: RunSlice) -> float:
    """What a slice has spent, in the currency of the run's prices."""
    return prices_of(run).cost(row.tokens_in, row.tokens_out)


def claim_for(run: JudgeRun, row: RunSlice) -> float | None:
    """The most that ``row`` may spend in all; None where the run has no budget. The caller holds the run's lock.

    The claims of running slices are reserved, and each waiting slice gets an equal part of the rest. Any other slice
    counts with what it has spent.
    """
    if run.budget is None:
        return None
    left, waiting = float(run.budget) - spent_by(run, row), 0
    for other in run.slices.exclude(pk=row.pk):
        spent = spent_by(run, other)
        at_work = other.status == RunSlice.Status.RUNNING and other.claim is not None
        left -= max(spent, other.claim or 0.0) if at_work else spent
        waiting += other.status == RunSlice.Status.PENDING
    return spent_by(run, row) + max(0.0, left) / (1 + waiting)
