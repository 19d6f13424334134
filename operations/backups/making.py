"""Makes a backup while people work: the dump, the counts and the digests are of one moment."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from django.apps import apps
from django.conf import settings
from django.db import connection, models
from psycopg import sql

from consilium.core.version import VERSION
from operations.backups import contents, programs
from operations.backups.archive import CHUNK, DUMP, HOME, MEDIA, README, SECRET, Archive, ArchiveWriter, BackupError

# Small files of the home that rows of the database refer to.
HOME_FILES = ("rule_endpoint.port",)
EVERY_S = 5.0
MAX_NAMED = 20
TEXT = """A backup of Consilium {version}, made at {at} (UTC).

To restore it, in a fresh copy of Consilium of this version or a newer one:

    make restore FILE={name}
    make up

Its digests: python manage.py backup --check {name}
It holds everything that people wrote, and the hashes of their passwords: keep it as you keep the database.
"""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made and read again."""

    path: Path
    size: int
    sha256: str
    manifest: dict[str, Any]


def make(*, path: Path, at: datetime, say: Say, with_secret_key: bool = False) -> Backup:
    """Write the backup ``path`` and check it; `BackupError` where it cannot be made. Nothing is ever replaced."""
    path = path.absolute()
    refuse_place(path)
    tools = programs.fitting_programs(at_least=programs.server_major())
    _require_space(path.parent)
    with ArchiveWriter(path) as writer:
        facts = {"version": VERSION, "made_at": at.isoformat(), "pg_dump": tools.major}
        writer.add_bytes(README, TEXT.format(version=VERSION, at=f"{at:%Y-%m-%d %H:%M}", name=path.name).encode())
        with _snapshot() as (session, snapshot):
            _dump(writer, tools, snapshot, say)
            say("Counting rows …")
            tables = contents.read_tables(session, Progress(say, "Counting rows of {}").name)
            facts["migrations"] = [
                list(row) for row in session.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
            ]
            _add_media(writer, say)
            missing = [name for name in _stored_names(session) if MEDIA + name not in writer.members]
        for name in HOME_FILES:
            if (file := settings.CONSILIUM_HOME / name).is_file():
                writer.add_bytes(HOME + name, file.read_bytes())
        if with_secret_key:
            writer.add_bytes(SECRET, settings.SECRET_KEY.encode() + b"\n")
        if missing:
            say(f"{len(missing)} files that rows name are not in {settings.MEDIA_ROOT}, such as {missing[0]}.")
        facts |= {
            "with_secret_key": with_secret_key,
            "missing_files": {"number": len(missing), "names": missing[:MAX_NAMED]},
            "summary": contents.summary(tables),
            "tables": tables,
        }
        writer.finish(facts)
    say("Reading the file again …")
    with Archive(path) as archive:
        manifest = archive.check(Progress(say, "{} read").amount)
        return Backup(path, path.stat().st_size, archive.sha256, manifest)


class Progress:
    """Says how far a step is, at most every few seconds."""

    def __init__(self, say: Say, words: str) -> None:
        self._say, self._words, self._said_at = say, words, time.monotonic()

    def amount(self, size: int) -> None:
        """So many bytes."""
        self.name(f"{size / 1e6:,.0f} MB")

    def name(self, what: str) -> None:
        """This one."""
        if time.monotonic() - self._said_at > EVERY_S:
            self._said_at = time.monotonic()
            self._say("  " + self._words.format(what))


def free_name(folder: Path, at: datetime) -> Path:
    """The name of a backup that is made at that time."""
    return folder / f"consilium-{at:%Y%m%dT%H%M%SZ}.tar"


@contextmanager
def open_session(database: str | None = None) -> Iterator[psycopg.Connection[Any]]:
    """A connection beside Django's, to the same server."""
    connection.ensure_connection()  # starts an embedded server
    password = connection.settings_dict["PASSWORD"]
    options: dict[str, Any] = {"password": password} if password else {}
    with psycopg.connect(programs.conninfo(database=database), **options) as session:
        yield session


def refuse_place(path: Path) -> None:
    """`BackupError` where no backup can be written there."""
    path = path.absolute()
    if path.exists():
        raise BackupError(f"{path} exists already. Choose another name.")
    if not path.parent.is_dir():
        raise BackupError(f"There is no folder {path.parent}. Make it first.")
    if not os.access(path.parent, os.W_OK):
        raise BackupError(f"The folder {path.parent} cannot be written.")
    if path.is_relative_to(Path(settings.MEDIA_ROOT).absolute()):
        raise BackupError(f"{path} is in the folder of uploaded files, which a backup holds. Choose another folder.")


def _require_space(folder: Path) -> None:
    """Refuse where the disk cannot hold the rows as they are stored, and the files; a dump is compressed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(pg_table_size(c.oid)), 0)::bigint FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' WHERE c.relkind = 'r'"
        )
        needed = cursor.fetchone()[0] + sum(size for _name, size in media_files())
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise BackupError(
            f"{folder} has {free / 1e6:,.0f} MB free, and the backup may need {needed / 1e6:,.0f} MB. "
            "Free some space, or choose a folder on another disk."
        )


@contextmanager
def _snapshot() -> Iterator[tuple[psycopg.Connection[Any], str]]:
    """A transaction that reads one moment, and the name under which pg_dump reads the same."""
    with open_session() as session:
        session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        session.read_only = True
        with session.transaction():
            session.execute("SET LOCAL statement_timeout = 0")
            session.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            row = session.execute("SELECT pg_export_snapshot()").fetchone()
            assert row is not None
            yield session, str(row[0])


def _dump(writer: ArchiveWriter, tools: programs.Programs, snapshot: str, say: Say) -> None:
    say("Dumping the database …")
    exclusions = [f"--exclude-table-data=public.{name}" for name in contents.WITHOUT_ROWS]
    command = [tools.path("pg_dump"), "--format=custom", "--no-password", f"--snapshot={snapshot}", *exclusions]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [*command, f"--dbname={programs.conninfo()}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=programs.environment(),
        ) as dump,
    ):
        assert dump.stdout is not None
        try:
            writer.add(DUMP, dump.stdout.read, progress=Progress(say, "{} of the dump written").amount)
        except BaseException:
            dump.kill()
            raise
        if dump.wait() != 0:
            errors.seek(0)
            raise BackupError(f"pg_dump failed: {errors.read(CHUNK).decode(errors='replace').strip()}")


def media_files() -> Iterator[tuple[str, int]]:
    """The uploaded files by their path below the folder, in a fixed order, with their sizes; no links."""
    root = Path(settings.MEDIA_ROOT)
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            if stat.S_ISREG(status.st_mode):
                yield path.relative_to(root).as_posix(), status.st_size


def _add_media(writer: ArchiveWriter, say: Say) -> None:
    say("Adding uploaded files …")
    progress = Progress(say, "{} of the uploaded files")
    size = 0
    for name, length in media_files():
        try:
            with Path(settings.MEDIA_ROOT, name).open("rb") as stream:
                writer.add(MEDIA + name, stream.read)
        except FileNotFoundError:
            continue  # deleted meanwhile; if a row names it, that is said below
        size += length
        progress.amount(size)


def _stored_names(session: psycopg.Connection[Any]) -> Iterator[str]:
    """The names of all files that rows refer to."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.FileField) and not model._meta.proxy:
                column, table = sql.Identifier(field.column or ""), sql.Identifier(model._meta.db_table)
                rows = session.execute(sql.SQL("SELECT {0} FROM {1} WHERE {0} <> ''").format(column, table))
                yield from (row[0] for row in rows)
