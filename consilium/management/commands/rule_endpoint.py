"""``manage.py rule_endpoint``: a chat endpoint on this machine that follows rules and is no language model."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from consilium.llm.rules.completion import MODELS, completion
from consilium.llm.rules.server import RuleServer
from consilium.rule_endpoint import own_page


class Command(BaseCommand):
    """Serves until it is ended. It needs no database, and it listens on 127.0.0.1 alone."""

    help = "Serve an OpenAI-compatible endpoint that follows rules. Its page at / says which. Needs no database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=0, help="port to listen on; without it a free one")

    def handle(self, *, port: int, **options: Any) -> None:
        if not 0 <= port <= 65535:
            raise CommandError("A port is a number from 0 to 65535.")
        try:
            server = RuleServer(completion, MODELS, port=port, page=own_page)
        except OSError as error:
            raise CommandError(f"Cannot listen on port {port}: {error.strerror}.") from None
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with server:
            self.stdout.write(f"Rules (no language model) answer at http://{server.address}/v1")
            self.stdout.flush()
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                self.stdout.write("Stopped.")
