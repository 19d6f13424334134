"""Options that the commands on acuity share: whose readings, at which price, which cases count, and slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from consilium.statistics.triage_cost import EXPONENT, RATIO


def add_series_arguments(parser: CommandParser) -> None:
    """Benchmark, candidates, judge and reference set."""
    parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
    parser.add_argument(
        "--candidate", action="append", metavar="NAME", help="may be repeated (default: all with readings)"
    )
    add_judge_argument(parser)
    parser.add_argument("--reference-set", type=int, metavar="N", help="number of a reference set (default: newest)")


def add_judge_argument(parser: CommandParser) -> None:
    """``--judge``: whose readings of responses stand beside other readings."""
    parser.add_argument(
        "--judge", metavar="NAME", help="that read levels in responses (default: the one whose run finished last)"
    )


def add_price_arguments(parser: CommandParser) -> None:
    """``--ratio`` and ``--gamma``: what errors cost."""
    parser.add_argument("--ratio", type=float, default=RATIO, help="cost of a level too low (default 5)")
    parser.add_argument("--gamma", type=float, default=EXPONENT, help="power of the levels in the cost (default 1)")


def add_acuity_arguments(parser: CommandParser, *, slices: str) -> None:
    """Prices, ``--boundary`` and ``--slices``; ``slices`` names those that the command has."""
    add_price_arguments(parser)
    parser.add_argument(
        "--boundary",
        choices=("exclude", "include"),
        default="exclude",
        help="cases between two levels in the main figures too (default: exclude)",
    )
    parser.add_argument("--slices", action="store_true", help=f"also by slice: {slices}")


def given_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a report as far as they were given."""
    given = {"ratio": options["ratio"], "gamma": options["gamma"]}
    given |= {"reference_set": options["reference_set"], "candidates": options["candidate"]}
    given["judge"] = options["judge"]
    return {name: value for name, value in given.items() if value is not None}
