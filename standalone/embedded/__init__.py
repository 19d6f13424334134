"""The PostgreSQL server that comes with the product when ``DATABASE_URL`` names none."""

from standalone.embedded.server import EmbeddedServer, EmbeddedServerError, ensure, server_for

__all__ = ["EmbeddedServer", "EmbeddedServerError", "ensure", "server_for"]
