"""The versions of what runs."""

from __future__ import annotations

import platform

import django
import redis
from django.conf import settings

from consilium.core.version import VERSION
from operations.checks import broker, database
from operations.checks.check import Check, Result, State

MIN_POSTGRESQL = 15


def versions() -> dict[str, str]:
    """Name → version."""
    numbers = {"Consilium": VERSION, "Python": platform.python_version(), "Django": django.get_version()}
    with database.connect() as connection:
        row = connection.execute("SHOW server_version").fetchone()
        assert row is not None
        numbers["PostgreSQL"] = str(row[0]).split()[0]
    if settings.REDIS_URL:
        timeout = broker.TIMEOUT_S
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=timeout, socket_connect_timeout=timeout) as client:
            numbers["Redis"] = str(client.info("server")["redis_version"])
    return numbers


def look() -> Result:
    """PostgreSQL must be new enough."""
    numbers = versions()
    message = ", ".join(f"{name} {number}" for name, number in numbers.items())
    if int(numbers["PostgreSQL"].split(".")[0]) < MIN_POSTGRESQL:
        advice = f"Move to PostgreSQL {MIN_POSTGRESQL} or newer."
        return Result(State.FAILED, message, advice)
    return Result(State.OK, message)


CHECK = Check("versions", "Versions", look, needs_database=True)
