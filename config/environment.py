"""Reads the environment variables that `config.settings` uses; one that cannot be read is named."""

from __future__ import annotations

import os
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured


class Environment(environ.Env):
    """`environ.Env`, but a number that is none raises `ImproperlyConfigured` with the name of its variable."""

    def int(self, var: str, **options: Any) -> Any:
        """A whole number."""
        try:
            return super().int(var, **options)
        except ValueError as error:
            raise _not_read(var, "a whole number") from error

    def float(self, var: str, **options: Any) -> Any:
        """A number."""
        try:
            return super().float(var, **options)
        except ValueError as error:
            raise _not_read(var, "a number") from error


def _not_read(var: str, kind: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"The environment variable {var} must be {kind}, and is {os.environ.get(var)!r}.")


def with_time_limits(options: str, limits: dict[str, int]) -> str:
    """The start-up options of a PostgreSQL connection with these limits.

    ``options``, such as those that DATABASE_URL names, come last, and win.
    """
    return " ".join([*(f"-c {name}={value}" for name, value in limits.items()), options]).strip()
