"""What this installation consists of."""

from __future__ import annotations

from django.conf import settings

from operations.checks.address import is_public
from operations.checks.check import Check, Result, State


def look() -> Result:
    """Embedded or with servers; debug mode is for development alone."""
    if settings.DEBUG:
        return Result(
            State.FAILED,
            "DEBUG is on: error pages show settings and code to everybody.",
            "Remove DEBUG from the environment, and set SECRET_KEY.",
        )
    if settings.EMBEDDED:
        message = f"The embedded PostgreSQL in {settings.CONSILIUM_HOME}."
        if is_public():
            advice = "For a server that others depend on, use a PostgreSQL of its own (DATABASE_URL)."
            return Result(State.WARNING, message, advice)
        return Result(State.OK, message)
    broker = "Redis" if settings.REDIS_URL else "PostgreSQL"
    host = settings.DATABASES["default"].get("HOST") or "localhost"
    return Result(State.OK, f"PostgreSQL at {host}, broker over {broker}.")


CHECK = Check("installation", "Installation", look)
