"""The facts of a report that say by which rule its intervals were made."""

from __future__ import annotations

from typing import Any

from consilium.statistics.intervals import IntervalRule, PercentileBootstrap


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
