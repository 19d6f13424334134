"""What a report stores of its interval rule among its facts."""

from __future__ import annotations

from typing import Any

from consilium.statistics.intervals import IntervalRule, PercentileBootstrap


def interval_facts(rule: IntervalRule) -> dict[str, Any]:
    """``interval``, the key of the rule; of the percentile bootstrap ``resamples``, too."""
    resamples = {"resamples": rule.resamples} if isinstance(rule, PercentileBootstrap) else {}
    return {"interval": rule.key, **resamples}
