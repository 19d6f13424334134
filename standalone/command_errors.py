"""What a command prints where it cannot begin, instead of a traceback: settings, the data folder, the database."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def run_command(command: Callable[[], None], *, home: Path) -> None:
    """Call ``command``; end the process with code 1 and one explanation for the errors that an operator can mend.

    ``home`` is the folder of the data. With ``--traceback`` every error is raised as it is.
    """
    try:
        command()
    except Exception as error:
        text = "" if "--traceback" in sys.argv else explanation(error, home=home)
        if not text:
            raise
        sys.exit(f"Error: {text}")


def explanation(error: Exception, *, home: Path) -> str:
    """What is wrong and what to do; empty for errors that are not the operator's to mend."""
    from django.db.utils import OperationalError

    from standalone.embedded.server import EmbeddedServerError

    if isinstance(error, ImproperlyConfigured | EmbeddedServerError):
        return str(error)
    if isinstance(error, OSError) and _is_in(error.filename, home):
        return (
            f"The folder of the data, {home}, cannot be used ({error.strerror}: {error.filename}). "
            "Set CONSILIUM_HOME to a folder that you may write to."
        )
    # A server that answers gives a code (sqlstate) to every error but those while it refuses a connection.
    if isinstance(error, OperationalError) and getattr(error.__cause__, "sqlstate", None) is None:
        setting = "DATABASE_URL" if os.environ.get("DATABASE_URL") else "the embedded server in CONSILIUM_HOME"
        return f"The database cannot be reached. Check {setting}.\n{str(error).strip()}"
    return ""


def _is_in(filename: object, home: Path) -> bool:
    if not isinstance(filename, str | bytes):
        return False
    path = Path(os.fsdecode(filename)).absolute()
    return path == home or home in path.parents or path in home.parents
