"""``manage.py doctor``: looks at everything that can be wrong with an installation."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from consilium.core.heartbeat import leave_server_alone
from operations.checks import PARTS, SET_UP
from operations.checks.check import State
from operations.services.inspection import inspect


class Command(BaseCommand):
    """Prints one line for each check, with what to do; ends with 1 where a check has failed."""

    help = (
        "Check the installation: settings, database, worker, broker, disk, mail server, clock, permissions, addresses. "
        "Works while web, worker or database are down, and changes nothing. Exit code 1 if something has failed."
    )
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        """Look, print, end."""
        leave_server_alone()  # a database that is down is a finding
        results = inspect(checks=(*PARTS, *SET_UP), at=timezone.now(), only_reads=True)
        width = max(len(result.label) for result in results)
        for result in results:
            self.stdout.write(f"{result.state:<7}  {result.label:<{width}}  {result.message}")
            if result.advice:
                self.stdout.write(f"{'':<7}  {'':<{width}}  → {result.advice}")
        numbers = {state: sum(result.state is state for result in results) for state in State}
        self.stdout.write(f"{numbers[State.OK]} ok, {numbers[State.WARNING]} warnings, {numbers[State.FAILED]} failed.")
        if numbers[State.FAILED]:
            sys.exit(1)
