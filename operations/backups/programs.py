"""PostgreSQL's programs pg_dump and pg_restore: where they are, and how they reach the database."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from operations.backups.archive import BackupError

# What libpq itself understands of Django's options of a database.
LIBPQ_OPTIONS = ("sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "service", "passfile", "target_session_attrs")

VERSIONS = Path("/usr/lib/postgresql")  # where Debian keeps the programs of each version


@dataclass(frozen=True, slots=True)
class Programs:
    """A folder with PostgreSQL's programs, and their major version."""

    folder: Path
    major: int

    def path(self, name: str) -> str:
        """The path of one program."""
        return str(self.folder / name)


def server_major() -> int:
    """Major version of the server of the database."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        return int(cursor.fetchone()[0]) // 10_000


def fitting_programs(*, at_least: int) -> Programs:
    """The programs of that version, or of the next newer one there is; `BackupError` names those that are too old.

    A newer version may write settings that an older server does not know. The folder that the operator names comes
    first, if its version suffices.
    """
    seen: list[str] = []
    fitting: list[Programs] = []
    for folder in _folders():
        major = _major_of(folder / "pg_dump")
        if major is None or not (folder / "pg_restore").exists():
            continue
        if major >= at_least:
            fitting.append(Programs(folder, major))
            if str(folder) == settings.PG_BIN:
                return fitting[-1]
        else:
            seen.append(f"version {major} in {folder}")
    if fitting:
        return min(fitting, key=lambda programs: programs.major)
    have = f"There is only {' and '.join(seen)}" if seen else "There is no pg_dump on this machine"
    raise BackupError(
        f"{have}, and version {at_least} or newer is needed. Install PostgreSQL's client programs of that version "
        f"(Debian: postgresql-client-{at_least}), or name their folder in PG_BIN."
    )


def conninfo(*, database: str | None = None) -> str:
    """How to reach the database, without its password, which goes by the environment: other users see arguments."""
    values = connection.settings_dict
    options = {name: str(value) for name, value in values["OPTIONS"].items() if name in LIBPQ_OPTIONS}
    return make_conninfo(
        host=values["HOST"] or None,
        port=values["PORT"] or None,
        user=values["USER"] or None,
        dbname=database or values["NAME"],
        **options,
    )


def environment() -> dict[str, str]:
    """The environment of a program: nothing of libpq's but the password, and a language that is not the machine's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    password: Any = connection.settings_dict["PASSWORD"]
    return {**kept, "LC_ALL": "C", **({"PGPASSWORD": str(password)} if password else {})}


def _folders() -> list[Path]:
    named = [Path(settings.PG_BIN)] if settings.PG_BIN else []
    on_path = shutil.which("pg_dump")
    versions = sorted(VERSIONS.glob("*/bin"), key=lambda folder: folder.parent.name)
    embedded = [Path(settings.EMBEDDED_PG_BIN)] if settings.EMBEDDED_PG_BIN else []
    return [*named, *embedded, *([Path(on_path).parent] if on_path else []), *versions]


def _major_of(program: Path) -> int | None:
    try:
        shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return None
    number = re.search(r"\(PostgreSQL\) (\d+)", shown)
    return int(number[1]) if number else None
