"""Whether the web server of this machine answers."""

from __future__ import annotations

from django.conf import settings

from consilium.healthcheck import is_well, known_host
from consilium.hosts import WILDCARDS
from operations.checks.check import Check, Result, State

TIMEOUT_S = 5.0


def address() -> str:
    """Where the web server is reached from its own machine."""
    bind = "127.0.0.1" if settings.BIND in WILDCARDS else settings.BIND
    return f"http://{f'[{bind}]' if ':' in bind else bind}:{settings.PORT}/healthz"


def look() -> Result:
    """Ask it, as a load balancer would."""
    url = address()
    if is_well(url, host=known_host(settings.ALLOWED_HOSTS), timeout_s=TIMEOUT_S):
        return Result(State.OK, f"The web server answers at {url}.")
    return Result(
        State.FAILED,
        f"The web server does not answer at {url}.",
        "Start it, and look at the end of its log. BIND and PORT must be those of the web process.",
    )


CHECK = Check("web", "Web server", look)
