"""The options of commands that compute intervals: ``--interval`` and ``--seed``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from consilium.statistics.intervals import RULES, IntervalRule, interval_rule


def add_interval_arguments(parser: CommandParser, *, drawn: str = "the bootstrap") -> None:
    """``drawn`` says what the seed is of."""
    parser.add_argument(
        "--interval",
        choices=RULES,
        default=RULES[0],
        help="rule of the intervals: jackknife over cases (default), or the percentile bootstrap of published figures",
    )
    parser.add_argument("--seed", type=int, default=0, help=f"seed of {drawn} (default 0)")


def rule_of(options: Mapping[str, Any]) -> IntervalRule:
    """The rule that was asked for; `CommandError` on a negative seed."""
    if options["seed"] < 0:
        raise CommandError("--seed must be 0 or more")
    return interval_rule(options["interval"], seed=options["seed"])
