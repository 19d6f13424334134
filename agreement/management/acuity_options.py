"""Options that the commands on acuity share: what errors cost, which cases count, and figures by slice."""

from __future__ import annotations

from django.core.management.base import CommandParser


def add_acuity_arguments(parser: CommandParser, *, slices: str) -> None:
    """``--ratio``, ``--gamma``, ``--boundary`` and ``--slices``; ``slices`` names those that the command has."""
    parser.add_argument("--ratio", type=float, default=5.0, help="cost of a level too low (default 5)")
    parser.add_argument("--gamma", type=float, default=1.0, help="power of the levels in the cost (default 1)")
    parser.add_argument(
        "--boundary",
        choices=("exclude", "include"),
        default="exclude",
        help="cases between two levels in the main figures too (default: exclude)",
    )
    parser.add_argument("--slices", action="store_true", help=f"also by slice: {slices}")
