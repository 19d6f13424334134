"""Saves the cases that match a filter as a named slice, or says which ones they are."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agreement.api.slices import SliceFilterSerializer
from agreement.management.commands.report import read_parameter
from agreement.scoreboard.filtered import SliceFilter, match
from agreement.scoreboard.subsets import save_filter
from consilium.core.commands import command_fields, command_of
from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True)
        parser.add_argument("--title", default="", help="what the slice is called")
        parser.add_argument("--slug", default="", help="its short name; made from the title unless given")
        parser.add_argument(
            "--filter",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"once for each field: {', '.join(command_fields(SliceFilter))}. A value is JSON if it can be read as "
            "JSON (tags='[\"theme:hedging\"]'), else text",
        )
        parser.add_argument("--preview", action="store_true", help="save nothing, and list the keys of the cases")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        given = dict(map(read_parameter, options["filter"]))
        serializer = SliceFilterSerializer(data=given)
        if not serializer.is_valid():
            faults = [f"{name}: {' '.join(map(str, errors))}" for name, errors in serializer.errors.items()]
            raise CommandError("; ".join(faults))
        chosen = command_of(SliceFilter, serializer.validated_data)
        try:
            matching = match(benchmark=benchmark, filter=chosen)
            if options["preview"]:
                for key in matching.keys:
                    self.stdout.write(key)
            else:
                named = save_filter(
                    benchmark=benchmark,
                    title=options["title"],
                    slug=options["slug"],
                    filter=chosen,
                    by=None,
                    at=timezone.now(),
                )
                self.stdout.write(f"subset:{named.slug}: {named.n_cases} of {matching.n_cases} cases")
        except DomainError as error:
            raise CommandError(str(error)) from None
