"""A mail server that refuses everything."""

from __future__ import annotations

from typing import Any

from django.core.mail.backends.base import BaseEmailBackend


class EmailBackend(BaseEmailBackend):
    """Raises where another would send."""

    def send_messages(self, email_messages: Any) -> int:
        """As a server does that is down."""
        raise OSError("nobody there")
