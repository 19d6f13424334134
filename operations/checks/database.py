"""Whether PostgreSQL answers: over a connection of its own, which waits only for a short time."""

from __future__ import annotations

from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from operations.checks.check import Check, Result, State, one_line

TIMEOUT_S = 3
FEW_CONNECTIONS = 10


def connect() -> psycopg.Connection[Any]:
    """A new connection, which neither waits for long nor starts the embedded server."""
    parameters: dict[str, Any] = {**connection.get_connection_params(), "connect_timeout": TIMEOUT_S}
    options = f"{parameters.pop('options', '')} -c statement_timeout={TIMEOUT_S * 1000}".strip()
    for name in ("cursor_factory", "context", "prepare_threshold", "pool"):
        parameters.pop(name, None)
    return psycopg.connect(**parameters, options=options, autocommit=True)


def look() -> Result:
    """Connect, and ask for what the page shows."""
    try:
        with connect() as own:
            row = own.execute(
                "SELECT pg_postmaster_start_time(), pg_database_size(current_database()), "
                "current_setting('max_connections')::int, (SELECT count(*) FROM pg_stat_activity), "
                "current_setting('transaction_read_only')::bool OR pg_is_in_recovery()"
            ).fetchone()
    except psycopg.Error as error:
        return Result(
            State.FAILED,
            _("The database does not answer: %(error)s") % {"error": one_line(error)},
            _("Start Consilium. In CONSILIUM_HOME, postgres/server.log has the messages of PostgreSQL.")
            if settings.EMBEDDED
            else _("Look at the log of PostgreSQL and start it; Consilium connects again by itself."),
        )
    assert row is not None
    started_at, size, limit, used, is_read_only = row
    figures = {"size_bytes": float(size), "connections": float(used), "connections_limit": float(limit)}
    if is_read_only:
        return Result(
            State.FAILED,
            _("The database takes no writes."),
            _("Point DATABASE_URL at the primary server, or end its read-only mode."),
            figures=figures,
        )
    if limit - used < FEW_CONNECTIONS:
        return Result(
            State.WARNING,
            _("%(used)s of %(limit)s connections are in use.") % {"used": used, "limit": limit},
            _("Raise max_connections of PostgreSQL, or run fewer processes."),
            figures=figures,
        )
    return Result(State.OK, _("PostgreSQL answers."), since=started_at, figures=figures)


CHECK = Check("database", gettext_lazy("Database"), look, vital=True)
