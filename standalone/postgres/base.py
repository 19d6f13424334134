"""Django database backend over the embedded server, or over any PostgreSQL server.

``OPTIONS["embedded_home"]`` names the folder of the embedded server; without it this is Django's own backend.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.utils import OperationalError
from django.utils.asyncio import async_unsafe

from standalone.embedded import server_for


class DatabaseWrapper(base.DatabaseWrapper):
    """Starts the embedded server at the first connection, so that ``check`` and ``--help`` never do."""

    display_name = "PostgreSQL"
    # False in a thread beside one that forks: a child would inherit the locks held to start the server, for ever.
    starts_server = True

    def __init__(self, settings_dict: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(settings_dict, *args, **kwargs)

    @property
    def embedded_home(self) -> Path | None:
        """Folder of the embedded server, or None where ``DATABASE_URL`` names a server."""
        home = self.settings_dict.get("EMBEDDED_HOME")
        return Path(home) if home else None

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect; if the embedded server has ended since it was last seen, start it again once."""
        if self.embedded_home is None or not self.starts_server:
            return super().get_new_connection(conn_params)
        server = server_for(self.embedded_home)
        server.ensure()
        try:
            return super().get_new_connection(conn_params)
        except (OperationalError, psycopg.OperationalError):
            if server.is_ready():
                raise
            server.ensure(force=True)
            return super().get_new_connection(conn_params)

    @async_unsafe
    def prepared_cursor(self) -> Any:
        """A cursor whose statements the server keeps with their plans, where ``OPTIONS["prepare_threshold"]`` allows.

        It binds values in the server: one statement at a time, and a value only where its type is plain.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        raw: Any = self.connection
        usual, raw.cursor_factory = raw.cursor_factory, base.ServerBindingCursor
        try:
            return self.cursor()
        finally:
            raw.cursor_factory = usual
