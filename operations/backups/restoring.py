"""Restores a backup: into an empty database and folder, or into a scratch database to see that it can be done."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from consilium.core.locks import WorkerLock, worker_lock
from consilium.core.version import VERSION
from operations.backups import contents, programs
from operations.backups.archive import CHUNK, DUMP, HOME, MEDIA, SECRET, Archive, BackupError
from operations.backups.making import HOME_FILES, Progress, Say, media_files, open_session

# A restored database is larger than its compressed dump, and has indexes.
GROWTH = 8


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore brought, and in which tables it differs from the manifest."""

    manifest: dict[str, Any]
    summary: dict[str, Any]
    differences: list[str]
    files: int
    secret_key: Path | None


def check(*, path: Path, say: Say) -> dict[str, Any]:
    """Read all of a backup and compare its digests; its manifest with the SHA-256 of the file."""
    with Archive(path) as archive:
        manifest = archive.check(Progress(say, "{} read").amount)
        return {**manifest, "sha256": archive.sha256, "size": path.stat().st_size}


def restore(*, path: Path, say: Say) -> Restored:
    """Restore into the database and the folder of the settings, which must be empty; then migrate."""
    with Archive(path) as archive:
        say("Checking the file …")
        manifest = archive.check(Progress(say, "{} read").amount)
        _refuse_newer(path, manifest)
        tools = programs.fitting_programs(at_least=max(manifest["pg_dump"], programs.server_major()))
        _require_empty(path)
        _require_space(manifest)
        root = Path(settings.MEDIA_ROOT)
        try:
            say("Copying uploaded files …")
            files = _copy_files(archive, root, say)
            _restore_database(archive, tools, database=None, say=say)
        except BaseException:
            _remove_files(archive.manifest, root)
            raise
        with data_is_there("SECRET_KEY could not be written"):
            secret_key = _keep_secret_key(archive) if manifest["with_secret_key"] else None
    say("Comparing …")
    with data_is_there("the comparison with the backup failed"), open_session() as session:
        tables = contents.read_tables(session, Progress(say, "Comparing {}").name)
    say("Bringing the tables up to date …")
    with data_is_there("the migrations failed"):
        call_command("migrate", verbosity=0, interactive=False)
    return Restored(
        manifest, contents.summary(tables), contents.differences(manifest["tables"], tables), files, secret_key
    )


def try_restore(*, path: Path, say: Say) -> list[str]:
    """Restore the database of a checked backup beside the running one, compare, and drop it; what differs."""
    with Archive(path) as archive:
        manifest = archive.check(Progress(say, "{} read").amount)
        tools = programs.fitting_programs(at_least=max(manifest["pg_dump"], programs.server_major()))
        with worker_lock(WorkerLock.RESTORE_TEST, 0) as is_held, _scratch_database(is_held) as name:
            _restore_database(archive, tools, database=name, say=say)
            with open_session(name) as session:
                tables = contents.read_tables(session, Progress(say, "Comparing {}").name)
    return contents.differences(manifest["tables"], tables)


# Before anything is written ---------------------------------------------------------------------------------------


def _refuse_newer(path: Path, manifest: dict[str, Any]) -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    known = {*loader.disk_migrations}
    known |= {replaced for migration in loader.disk_migrations.values() for replaced in migration.replaces}
    unknown = [f"{app}.{name}" for app, name in manifest["migrations"] if (app, name) not in known]
    if unknown:
        raise BackupError(
            f"{path} was made by a newer version of Consilium ({manifest['version']}, this is {VERSION}): its tables "
            f"have {len(unknown)} migrations that are not here, such as {unknown[0]}. Restore it with that version."
        )


def _require_empty(path: Path) -> None:
    elsewhere = "A restore never replaces anything. Restore into an empty place: " + (
        f"CONSILIUM_HOME=/an/empty/folder python manage.py restore {path}"
        if settings.EMBEDDED
        else "name an empty database in DATABASE_URL, and an empty folder in CONSILIUM_HOME"
    )
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
    if tables:
        name = connection.settings_dict["NAME"]
        raise BackupError(f"The database {name} is not empty: it has {len(tables)} tables. {elsewhere}.")
    if any(True for _file in media_files()):
        raise BackupError(f"{settings.MEDIA_ROOT} is not empty. {elsewhere}.")


def _require_space(manifest: dict[str, Any]) -> None:
    sizes = {name: member["size"] for name, member in manifest["members"].items()}
    files = sum(size for name, size in sizes.items() if name.startswith(MEDIA))
    needed = files + (GROWTH * sizes[DUMP] if settings.EMBEDDED else 0)
    settings.CONSILIUM_HOME.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(settings.CONSILIUM_HOME).free
    if free < needed:
        raise BackupError(
            f"{settings.CONSILIUM_HOME} has {free / 1e6:,.0f} MB free, and the restore may need "
            f"{needed / 1e6:,.0f} MB. Set CONSILIUM_HOME to a folder on a larger disk."
        )


# The parts --------------------------------------------------------------------------------------------------------


def _copy_files(archive: Archive, root: Path, say: Say) -> int:
    progress, number, size = Progress(say, "{} of the uploaded files"), 0, 0
    for name, stream in archive.members():
        if name.startswith(MEDIA):
            target = root / name.removeprefix(MEDIA)
            number += 1
        elif name.startswith(HOME) and name.removeprefix(HOME) in HOME_FILES:
            target = settings.CONSILIUM_HOME / name.removeprefix(HOME)
        else:
            continue
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        size += _write(target, stream)
        progress.amount(size)
    return number


def _write(target: Path, stream: IO[bytes]) -> int:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        shutil.copyfileobj(stream, file, CHUNK)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _remove_files(manifest: dict[str, Any], root: Path) -> None:
    """Take back the copied files, so that the next try finds an empty folder again."""
    for name in manifest["members"]:
        if name.startswith(MEDIA):
            (root / name.removeprefix(MEDIA)).unlink(missing_ok=True)


def _restore_database(archive: Archive, tools: programs.Programs, *, database: str | None, say: Say) -> None:
    """All of the dump in one transaction, so that the database stays empty where it fails."""
    say("Restoring the database …")
    progress = Progress(say, "{} of the dump read")
    command = [tools.path("pg_restore"), "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges"]
    with (
        archive.open(DUMP) as dump,
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [*command, "--no-password", f"--dbname={programs.conninfo(database=database)}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=programs.environment(),
        ) as process,
    ):
        assert process.stdin is not None
        done = 0
        try:
            while chunk := dump.read(CHUNK):
                process.stdin.write(chunk)
                done += len(chunk)
                progress.amount(done)
            process.stdin.close()
        except BrokenPipeError:
            pass  # it ended early, and says why
        except BaseException:
            process.kill()
            raise
        if process.wait() != 0:
            errors.seek(0)
            text = errors.read(CHUNK).decode(errors="replace").strip()
            raise BackupError(f"pg_restore failed, and nothing was restored: {text}")


@contextmanager
def data_is_there(what: str) -> Iterator[None]:
    """Say of a failure after the data came in that it is there, and what to do."""
    try:
        yield
    except Exception as error:
        place = (
            f"delete the folder {settings.CONSILIUM_HOME}"
            if settings.EMBEDDED
            else f"empty the database {connection.settings_dict['NAME']} (dropdb, createdb) and {settings.MEDIA_ROOT}"
        )
        raise BackupError(
            f"The data is in the database and in {settings.MEDIA_ROOT}, but {what}: {error}. "
            f"Start nothing on it: the restore has not ended. Repair the cause, {place}, and run the restore again."
        ) from error


def _keep_secret_key(archive: Archive) -> Path:
    """Put the key of the file into the home. It replaces one that a command made for the empty home."""
    target = Path(settings.CONSILIUM_HOME) / "secret_key"
    with archive.open(SECRET) as stream:
        _write(target.with_name(".secret_key-restored"), stream)
    target.with_name(".secret_key-restored").replace(target)
    return target


@contextmanager
def _scratch_database(is_held: bool) -> Iterator[str]:
    if not is_held:
        raise BackupError("Another backup is being restored for a test. Try again when that has ended.")
    prefix = f"{connection.settings_dict['NAME']}_test_restore_"
    name = prefix + secrets.token_hex(4)
    with open_session() as session:
        session.autocommit = True
        row = session.execute("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
        if row is None or not row[0]:
            raise BackupError("The test needs a database of its own: give the database user the right CREATEDB.")
        left = session.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [prefix]).fetchall()
        for (database,) in left:  # by a worker that was killed
            session.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database)))
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield name
    finally:
        with open_session() as session:
            session.autocommit = True
            session.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
