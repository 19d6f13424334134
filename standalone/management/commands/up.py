"""``manage.py up``: the whole product on one machine; Ctrl-C stops all of it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command, get_commands
from django.core.management.base import BaseCommand
from django.db import connections
from django.utils import timezone

from accounts.services.first_run import new_setup_code
from accounts.services.mails import has_mail_server
from consilium.core.private_files import UMASK, make_home, tighten
from consilium.healthcheck import is_well, known_host
from consilium.hosts import bound_name
from consilium.llm.rules.server import HOST
from standalone.processes import BACKLOG, BEAT, WORKER, rule_endpoint, web
from standalone.supervisor import Stopped, Supervisor, start_reaper

READY_WITHIN_S = 60.0
ANOTHER_ENDS_WITHIN_S = 20.0
MAX_PORT = 65_535


class Command(BaseCommand):
    """Starts database, web server, Celery worker and beat, and stays in the foreground."""

    help = "Start everything on this machine: database, web server, Celery worker and beat. Ctrl-C stops all."
    requires_system_checks: list[str] = []  # worker and beat run them as they start

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to listen."""
        parser.add_argument("--bind", default=settings.BIND, help="address to listen on (BIND)")
        parser.add_argument("--port", type=int, default=settings.PORT, help="port to listen on (PORT)")
        parser.add_argument("--no-demo", action="store_true", help="do not load the demo benchmark on first start")

    def handle(self, *, bind: str, port: int, no_demo: bool, **options: Any) -> None:
        """Prepare, start, wait, stop."""
        self.home: Path = settings.CONSILIUM_HOME
        os.umask(UMASK)  # the processes that it starts inherit this
        # All processes must know where the site is: requests are compared with it, and mails lead to it.
        self.address = {"BIND": bind, "PORT": str(port)}
        self.supervisor: Supervisor | None = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        failure: Exception | None = None
        try:
            # The port is held from here on: preparing may take minutes, and no other server may answer in its place.
            with self._only_one() as lock, self._listen(bind, port) as listener, self._reaper(lock) as reaper:
                processes = [web(descriptor=listener.fileno()), WORKER, BEAT]
                if self._prepare(with_demo=not no_demo and _wants_demo()):
                    processes.append(rule_endpoint(port=self._rule_port()))
                self._say("Starting web server, worker and beat …")
                assert reaper.stdin is not None
                self.supervisor = Supervisor(
                    logs=self.home / "logs",
                    cwd=settings.BASE_DIR,
                    environment=self._environment(),
                    reaper=reaper.stdin,
                    say=self._say,
                )
                for process in processes:
                    self.supervisor.start(process)
                self._wait_until_ready(self.supervisor, bind, port)
                self._print_summary(bind, port)
                while True:
                    self.supervisor.keep_running()
                    select.select([], [], [], 0.5)
        except Stopped:
            self._say("Stopped.")
        except CommandError as error:
            failure = error
        if failure is not None:
            raise failure

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.supervisor is None:
            raise Stopped
        self.supervisor.request_stop()

    # Lock and reaper ----------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _only_one(self) -> Iterator[int]:
        """Hold the lock of this home; the reaper inherits it, so that it lasts until everything has ended."""
        make_home(self.home)
        descriptor = os.open(self.home / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            until = time.monotonic() + ANOTHER_ENDS_WITHIN_S
            announced = False
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise CommandError(
                            f"Consilium is running already with its data in {self.home}. Stop it first, or give this "
                            "one a folder and a port of its own: CONSILIUM_HOME=… PORT=… make up"
                        ) from None
                    if not announced:
                        self._say(f"Waiting for the one that uses {self.home} to end …")
                        announced = True
                    time.sleep(0.2)
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _reaper(self, lock: int) -> Iterator[subprocess.Popen[bytes]]:
        """Start the process that cleans up after us, and at the end wait until it has."""
        home = self.home if settings.EMBEDDED else None
        reaper = start_reaper(cwd=settings.BASE_DIR, home=home, inherits=[lock])
        assert reaper.stdin is not None
        assert reaper.stdout is not None
        try:
            if reaper.stdout.readline() != b"ready\n":
                raise CommandError("The embedded database did not start; the reason stands above.")
            yield reaper
        finally:
            # From here on a second Ctrl-C would only interrupt the clean-up.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            if self.supervisor is not None:
                self.supervisor.stop()
            connections.close_all()
            if settings.EMBEDDED:
                from standalone.embedded import server_for

                server_for(self.home).leave()
            reaper.stdin.close()
            reaper.wait()

    @contextlib.contextmanager
    def _listen(self, bind: str, port: int) -> Iterator[socket.socket]:
        """The socket of the web server, which inherits it; refuse an address where another server listens."""
        if not 1 <= port <= MAX_PORT:
            raise CommandError(f"PORT must be a number from 1 to {MAX_PORT}, and is {port}.")
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((bind, port))
                listener.listen(BACKLOG)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise CommandError(
                        f"Port {port} is taken. Stop what listens there, or choose another: PORT={_other(port)} make up"
                    ) from None
                raise CommandError(
                    f"Cannot listen on {bind}:{port}: {error.strerror}. BIND and PORT set the address."
                ) from None
            yield listener

    # Preparing ----------------------------------------------------------------------------------------------------

    def _prepare(self, *, with_demo: bool) -> bool:
        """Bring database and files up to date; whether the demo benchmark is there and wanted."""
        if tighten(self.home, Path(settings.MEDIA_ROOT)):
            self._say("Files that others could read are private now.")
        self._say("Preparing the database …")
        # A command that is called from code skips its checks; all of them would take seconds.
        call_command("check", tags=["database"], databases=["default"], stdout=StringIO())
        call_command("migrate", verbosity=0, interactive=False)
        self._collect_static()
        return with_demo and self._load_demo()

    def _collect_static(self) -> None:
        """Collect only where a file changed: compressing all of them takes seconds."""
        if settings.DEBUG:
            return
        digest = hashlib.sha256()
        for finder in get_finders():
            for path, storage in finder.list([]):
                status = os.stat(storage.path(path))
                digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        stamp = self.home / "static.digest"
        collected = Path(settings.STATIC_ROOT, "staticfiles.json").exists()
        if collected and stamp.exists() and stamp.read_text() == digest.hexdigest():
            return
        self._say("Collecting style sheets and scripts …")
        call_command("collectstatic", verbosity=0, interactive=False)
        stamp.write_text(digest.hexdigest())

    def _load_demo(self) -> bool:
        """Load the demo benchmark if there is no other and nobody has an account; whether it is there.

        A restored database may have accounts and no benchmark yet, and the demo's passwords are published.
        """
        from accounts.models import User
        from rubrics.models import Benchmark

        if "load_demo" in get_commands() and not Benchmark.objects.exists() and not User.objects.exists():
            self._say("First start: loading the demo benchmark …")
            call_command("load_demo", rule_endpoint=f"http://{HOST}:{self._rule_port()}/v1", verbosity=0)
        return Benchmark.objects.filter(is_demo=True).exists()

    def _rule_port(self) -> int:
        """The port of the demo’s endpoint, that of the last time: settings of judges and recipes name it."""
        kept = self.home / "rule_endpoint.port"
        before = kept.read_text() if kept.exists() else ""
        port = _free_port(int(before) if re.fullmatch("[0-9]{1,5}", before) else 0)
        kept.write_text(str(port))
        self.address["RULE_ENDPOINT"] = f"http://{HOST}:{port}/v1"
        return port

    # Running ------------------------------------------------------------------------------------------------------

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            **self.address,
            "SECRET_KEY": settings.SECRET_KEY,
            "PYTHONUNBUFFERED": "1",
            # macOS kills forked children that touch its frameworks, unless this variable permits it.
            "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",
        }

    def _wait_until_ready(self, supervisor: Supervisor, bind: str, port: int) -> None:
        address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bind, bind)  # noqa: S104  (compared, not bound)
        url = f"http://{f'[{address}]' if ':' in address else address}:{port}/healthz"
        until = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < until:
            supervisor.keep_running()
            if is_well(url, host=known_host(settings.ALLOWED_HOSTS)):
                return
            time.sleep(0.1)
        raise CommandError(f"The web server did not answer within {READY_WITHIN_S:.0f} s; its log: {self.home}/logs")

    def _command(self, words: str) -> str:
        """A command of the product as it is typed in another terminal."""
        home = f"CONSILIUM_HOME={shlex.quote(str(self.home))} " if "CONSILIUM_HOME" in os.environ else ""
        return f"{home}{shlex.quote(_short(sys.executable))} manage.py {words}"

    def _print_summary(self, bind: str, port: int) -> None:
        address = settings.SITE_URL or f"http://{bound_name(bind)}:{port}"
        lines = ["", f"Consilium is at {address}", ""]
        if settings.BEHIND_PROXY:
            lines += ["Requests for another host or port are refused: the proxy has to pass on the header Host.", ""]
        if not has_mail_server():
            lines += ["No mail server is set (EMAIL_URL): admins hand on the links of invitations themselves.", ""]
        code = new_setup_code(at=timezone.now())
        if code:
            lines += [
                "Nobody has an account yet. Open the address in a browser, and make the first account with this code:",
                f"  {code}",
                "It works once. To make the account in a terminal instead:",
                f"  {self._command('add_person you@example.org --creates-benchmarks --operator')}",
                "",
            ]
        sign_ins = _demo_sign_ins()
        if sign_ins:
            width = max(len(role) for role, _email, _password in sign_ins)
            email_width = max(len(email) for _role, email, _password in sign_ins)
            lines.append("Demo sign-ins (made up, for this machine only):")
            lines += [f"  {role:<{width}}  {email:<{email_width}}  {password}" for role, email, password in sign_ins]
            lines += [
                "",
                "For an account of your own:",
                f"  {self._command('add_person you@example.org --creates-benchmarks --operator')}",
                "",
            ]
        if "RULE_ENDPOINT" in self.address:
            lines += [f"An endpoint that follows rules, for the demo: {self.address['RULE_ENDPOINT']}", ""]
        lines.append(f"Logs are in {self.home / 'logs'}. Ctrl-C stops everything.")
        self.stdout.write("\n".join(lines))
        self.stdout.flush()


def _short(path: str) -> str:
    """The path from the folder of the checkout, where it lies below it."""
    return str(Path(path).relative_to(settings.BASE_DIR)) if Path(path).is_relative_to(settings.BASE_DIR) else path


def _other(port: int) -> int:
    return port + 1 if port < MAX_PORT else port - 1


def _wants_demo() -> bool:
    return os.environ.get("CONSILIUM_DEMO", "1") not in {"0", "false", "no"}


def _free_port(preferred: int) -> int:
    """A port of this machine where nothing listens: the preferred one if it is free."""
    for port in (preferred, 0):
        with socket.socket() as probe, contextlib.suppress(OSError, OverflowError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            return int(probe.getsockname()[1])
    raise CommandError("There is no free port for the endpoint of the demo.")


def _demo_sign_ins() -> list[tuple[str, str, str]]:
    """Role, e-mail and password of the demo's people, where the demo benchmark is loaded."""
    from django.contrib.auth import get_user_model

    try:
        sign_ins: list[tuple[str, str, str]] = list(import_module("demo").SIGN_INS)
    except (ImportError, AttributeError):
        return []
    emails = set(
        get_user_model().objects.filter(email__in=[email for _r, email, _p in sign_ins]).values_list("email", flat=True)
    )
    return [sign_in for sign_in in sign_ins if sign_in[1] in emails]
