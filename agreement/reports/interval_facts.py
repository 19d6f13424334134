"""The facts of a report that say by which rule its intervals were made."""

from __future__ import annotations

from typing import Any

from agreement.models import Report
from consilium.statistics.intervals import IntervalRule, PercentileBootstrap, interval_rule


def interval_facts(rule: IntervalRule, effective: float | None = None) -> dict[str, Any]:
    """``interval``, the rule's key; ``resamples`` where the rule draws cases; ``effective``, the effective cases behind
    the leading figure, None where it is undefined.
    """
    facts: dict[str, Any] = {"interval": rule.key}
    if effective is not None:
        facts["effective"] = effective
    if isinstance(rule, PercentileBootstrap):
        facts["resamples"] = rule.resamples
    return facts


def rule_of_report(report: Report) -> IntervalRule | None:
    """The rule that the intervals of a finished report were made by; None where it has none."""
    facts = report.result["facts"]
    if resamples := facts.get("resamples"):  # reports from before there was a choice have no other fact of it
        return interval_rule(PercentileBootstrap.key, seed=report.seed, resamples=resamples)
    key = facts.get("interval")
    return interval_rule(key, seed=report.seed) if key else None
