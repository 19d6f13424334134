"""The URL of the broker. Separate from the transport, whose import takes half a second that most processes can save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode


def broker_url(database: Mapping[str, Any]) -> str:
    """URL of the broker for one of Django's ``DATABASES`` (with ``NAME`` already that of the broker's own database)."""
    user = quote(str(database.get("USER") or ""), safe="")
    password = quote(str(database.get("PASSWORD") or ""), safe="")
    login = f"{user}:{password}@" if password else f"{user}@" if user else ""
    host, port = str(database.get("HOST") or ""), str(database.get("PORT") or "")
    options = {
        name: value
        for name, value in dict(database.get("OPTIONS") or {}).items()
        if name.startswith("ssl") and isinstance(value, str)
    }
    if host.startswith("/") or not host:
        address = ""
        options |= {name: value for name, value in (("host", host), ("port", port)) if value}
    else:
        address = f"{host}:{port}" if port else host
    query = f"?{urlencode(options, safe='/')}" if options else ""
    return f"sqla+postgresql+psycopg://{login}{address}/{quote(str(database['NAME']), safe='')}{query}"


def register_transport() -> None:
    """Have kombu use our transport behind ``sqla+postgresql+psycopg://``."""
    from kombu.transport import TRANSPORT_ALIASES

    TRANSPORT_ALIASES["sqla"] = "standalone.broker.transport:Transport"
