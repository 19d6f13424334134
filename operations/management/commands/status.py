"""``manage.py status``: how each part of the server is."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from consilium.core.heartbeat import leave_server_alone
from operations.checks import PARTS
from operations.checks.check import State
from operations.services.inspection import inspect, state_of


class Command(BaseCommand):
    """Prints one line for each part; ends with 1 where a part without which nothing works has failed."""

    help = "Say how each part of the server is: ok, warning or failed. Exit code 1 if the server has failed."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The form of the answer."""
        parser.add_argument("--json", action="store_true", help="as JSON, like healthz?deep=1")

    def handle(self, *, json: bool, **options: Any) -> None:
        """Look, print, end."""
        leave_server_alone()  # whoever only looks starts no database
        at = timezone.now()
        parts = inspect(checks=PARTS, at=at, only_reads=True)
        state = state_of(parts)
        if json:
            self.stdout.write(_as_json(state, at.isoformat(timespec="seconds"), parts))
        else:
            width = max(len(part.label) for part in parts)
            for part in parts:
                since = timezone.localtime(part.since).strftime("%Y-%m-%d %H:%M:%S %Z")
                self.stdout.write(f"{part.state:<7}  {part.label:<{width}}  {part.message} (since {since})")
                if part.advice:
                    self.stdout.write(f"{'':<7}  {'':<{width}}  {part.advice}")
        if state is State.FAILED:
            sys.exit(1)


def _as_json(state: State, at: str, parts: Any) -> str:
    return json.dumps(
        {"state": state, "at": at, "parts": {part.name: part.as_json() for part in parts}}, ensure_ascii=False, indent=2
    )
