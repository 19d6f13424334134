"""``grant_key NAME --benchmark SLUG | --all-benchmarks [--withdraw]``: which benchmark may use a key of an endpoint."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.llm.endpoint import hosts_of_keys
from rubrics.management.lookups import benchmark_called
from scoring.keys.grants import grant_key, withdraw_key


class Command(BaseCommand):
    help = (
        "Let a benchmark, or all of them, use a key of an endpoint, by the name of its environment variable; or "
        "withdraw that. A run whose key is withdrawn stops before its next turn."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="such as EXAMPLE_API_KEY; never the key itself")
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("--benchmark", metavar="SLUG")
        who.add_argument("--all-benchmarks", action="store_true", help="those that are made later as well")
        parser.add_argument("--withdraw", action="store_true", help="end this grant")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        benchmark = None if options["all_benchmarks"] else benchmark_called(options["benchmark"])
        whom = benchmark.slug if benchmark else "all benchmarks"
        change = withdraw_key if options["withdraw"] else grant_key
        try:
            is_changed = change(name=name, benchmark=benchmark, by=None, at=timezone.now())
        except DomainError as error:
            raise CommandError(str(error)) from None
        if options["withdraw"]:
            if not is_changed:
                raise CommandError(f"There is no such grant to {whom}.")
            self.stdout.write(f"{name} is withdrawn from {whom}.")
            return
        self.stdout.write(f"{name} is granted to {whom}." if is_changed else f"{name} was granted to {whom} already.")
        if name not in hosts_of_keys(settings.ENDPOINT_KEYS):
            self.stderr.write(f"It is bound to no host: add {name}@HOST to ENDPOINT_KEYS.")
