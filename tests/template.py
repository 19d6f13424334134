"""A migrated database that test databases are copied from: migrating takes seconds, copying a moment.

Its name carries a digest of all that shapes it, so that a changed migration gets a new one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "consilium_template_"
# Each step of a migration makes classes of models anew; looking for garbage among them takes a third of the time.
MIGRATE = """
import gc
from django.core.management import execute_from_command_line
gc.set_threshold(100_000, 20, 100)
execute_from_command_line(["manage.py", "migrate", "--verbosity", "0"])
"""
KEPT = 3


def template_name() -> str:
    """Name of the template for the migrations, packages and settings as they stand."""
    digest = hashlib.sha256()
    shaping = [*ROOT.glob("*/migrations/*.py"), ROOT / "config/settings.py", ROOT / "requirements/dev.txt"]
    for path in sorted(shaping):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return PREFIX + digest.hexdigest()[:16]


def ensure_template(settings: Any) -> None:
    """Make the template on the embedded server where it is missing, or wait for who makes it; forget old ones."""
    database = settings.DATABASES["default"]
    name: str = database["TEST"]["TEMPLATE"]
    descriptor = os.open(settings.CONSILIUM_HOME / "template.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with psycopg.connect(
            host=database["HOST"], user=database["USER"], dbname="postgres", autocommit=True
        ) as connection:
            templates = [
                template
                for (template,) in connection.execute(
                    "SELECT datname FROM pg_database WHERE starts_with(datname, %s) ORDER BY oid", [PREFIX]
                )
            ]
            if name in templates:
                return
            draft = f"{name}_draft"
            for old in [each for each in templates if each.endswith("_draft")] + templates[: -(KEPT - 1)]:
                connection.execute(f'DROP DATABASE IF EXISTS "{old}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{draft}"')
            done = subprocess.run(
                [sys.executable, "-c", MIGRATE],
                cwd=ROOT,
                env={
                    **os.environ,
                    "DJANGO_SETTINGS_MODULE": "config.settings",
                    "DATABASE_URL": f"postgres://{database['USER']}@/{draft}?host={database['HOST']}",
                },
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                raise RuntimeError(f"The test database could not be migrated:\n{done.stderr}")
            # Renamed only when whole.
            connection.execute(f'ALTER DATABASE "{draft}" RENAME TO "{name}"')
    finally:
        os.close(descriptor)
