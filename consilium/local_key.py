"""The secret key for commands on one's own machine, where the environment gives none.

A web server or a worker never reads it by itself: without ``SECRET_KEY`` they refuse to start. ``manage.py up`` and
the other management commands pass the kept key to their processes, unless ``DEBUG`` is set explicitly: an operator who
sets it configures the environment, and has to set the key as well.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import MutableMapping, Sequence
from pathlib import Path

from consilium.core.private_files import make_home

# These commands show what a deployment would do, so they get no key that a deployment would lack.
REFUSING_COMMANDS = frozenset({"check", "runserver", "testserver"})

# The rule of Django's own check security.W009, which only `check --deploy` asks.
MIN_KEY_LENGTH, MIN_KEY_CHARACTERS, GENERATED_PREFIX = 50, 5, "django-insecure-"


def weakness_of_key(key: str) -> str:
    """Why a secret key could be guessed; empty if nothing speaks against it."""
    if len(key) < MIN_KEY_LENGTH:
        return f"has fewer than {MIN_KEY_LENGTH} characters"
    if len(set(key)) < MIN_KEY_CHARACTERS:
        return f"has fewer than {MIN_KEY_CHARACTERS} different characters"
    return f"begins with {GENERATED_PREFIX}" if key.startswith(GENERATED_PREFIX) else ""


def consilium_home(environ: MutableMapping[str, str]) -> Path:
    """Folder for the embedded database, media, static files and the kept key."""
    return Path(environ.get("CONSILIUM_HOME") or Path(__file__).resolve().parent.parent / "var").absolute()


def keep_local_key(home: Path) -> str:
    """Return the key kept in ``home``; make one, readable by its owner only, where there is none."""
    path = home / "secret_key"
    make_home(home)
    if not path.exists():
        descriptor, draft = tempfile.mkstemp(dir=home, prefix=".secret_key-")  # mode 600
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(secrets.token_urlsafe(50) + "\n")
        try:
            # A link appears whole or not at all, and only one of two processes can make it.
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
        finally:
            os.unlink(draft)
    return path.read_text(encoding="ascii").strip()


def lend_local_key(argv: Sequence[str], environ: MutableMapping[str, str]) -> None:
    """Set ``SECRET_KEY`` in ``environ`` from the kept key, where this is a command on one's own machine."""
    command = argv[1] if len(argv) > 1 else ""
    if environ.get("SECRET_KEY") or environ.get("DEBUG") or command in REFUSING_COMMANDS:
        return
    environ["SECRET_KEY"] = keep_local_key(consilium_home(environ))
