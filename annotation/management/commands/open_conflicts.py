"""``open_conflicts --benchmark SLUG``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from annotation.services.conflicts import Opened, OpenedBetween, open_imported_conflicts
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "Open the conflicts of imported decisions: first those between the raters of one group, then those between "
        "groups. Imports open the first themselves; this is for what was imported before, and for the second. A "
        "response on which a group has an open conflict within itself is compared with other groups only once that is "
        "adjudicated: run the command again then. Rulings that were made still count."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        within, between = open_imported_conflicts(benchmark=benchmark_called(options["benchmark"]), at=timezone.now())
        self.stdout.write(f"within groups: {_counted(sum(within.values(), Opened()))} opened")
        for name, opened in within.items():
            self.stdout.write(f"  {name}: {_counted(opened)}")
        self.stdout.write(f"between groups: {_counted(sum((pair.opened for pair in between), Opened()))} opened")
        for pair in between:
            self.stdout.write(f"  {pair.group} and {pair.other}: {_of_pair(pair)}")


def _counted(opened: Opened) -> str:
    """“34 conflicts on 30 responses”."""
    conflicts = f"{opened.criteria:,} conflict{'' if opened.criteria == 1 else 's'}"
    return f"{conflicts} on {opened.responses:,} response{'' if opened.responses == 1 else 's'}"


def _of_pair(pair: OpenedBetween) -> str:
    words = f"none ({pair.refused})" if pair.refused else _counted(pair.opened)
    if not pair.n_unsettled:
        return words
    left = f"{pair.n_unsettled:,} response{'' if pair.n_unsettled == 1 else 's'}"
    return f"{words}; left for later: {left} with open conflicts within a group"
