"""`manage.py up` as a process, with a home, a port and a database of its own."""

import contextlib
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
from django.conf import settings

from consilium.healthcheck import is_well
from standalone.embedded.server import SUPERUSER, binaries
from tests.processes import ROOT
from tests.waiting import wait_until


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def processes_naming(text):
    """Numbers of living processes whose command line or environment names `text`."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-e", "-o", "pid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    pids = []
    for line in listed.splitlines():
        number, state = line.split()[:2]
        if state.startswith("Z"):
            continue
        with contextlib.suppress(OSError):
            process = Path("/proc", number)
            if text.encode() in process.joinpath("cmdline").read_bytes() + process.joinpath("environ").read_bytes():
                pids.append(int(number))
    return pids


class Up:
    """One `manage.py up` with a home and a port of its own."""

    def __init__(self, home, *, by_argument=False, **extra):
        self.home, self.port = home, free_port()
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in {"DEBUG", "SECRET_KEY", "DATABASE_URL", "MEDIA_ROOT", "REDIS_URL", "DJANGO_SETTINGS_MODULE"}
            and not name.startswith("PYTEST")
        }
        environment |= {"CONSILIUM_HOME": str(home), "CONSILIUM_DEMO": "0"}
        environment |= {"PORT": "1" if by_argument else str(self.port), **extra}
        self.environment = environment
        self.output_file = home.parent / f"{home.name}.out"
        with self.output_file.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", *(["--port", str(self.port)] if by_argument else [])],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until_ready(self):
        wait_until(self._summary_printed, within_s=120, message="`up` says where it is")

    def _summary_printed(self):
        log = self.output_file.read_text()
        assert self.process.poll() is None, log
        return f"http://localhost:{self.port}" in log

    def get(self, path, host=None):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(f"http://localhost:{self.port}{path}", headers={"Host": host} if host else {})
        with opener.open(request, timeout=60) as answer:
            return answer.status, answer.read().decode()

    def status(self, path, host):
        try:
            return self.get(path, host)[0]
        except urllib.error.HTTPError as refused:
            return refused.code

    def is_well(self):
        return is_well(f"http://localhost:{self.port}/healthz", host="localhost")

    def nothing_left(self):
        return not processes_naming(str(self.home))


def copy_template(server):
    """The template's tables, without that of the clock's heartbeat, and an empty benchmark that counts as the demo."""
    database = settings.DATABASES["default"]
    server.ensure()
    with subprocess.Popen(
        [
            binaries() / "pg_dump",
            "-h",
            database["HOST"],
            "-U",
            database["USER"],
            "--no-owner",
            database["TEST"]["TEMPLATE"],
        ],
        stdout=subprocess.PIPE,
    ) as dump:
        subprocess.run(
            [binaries() / "psql", "-h", server.socket_folder, "-U", SUPERUSER, "-qv", "ON_ERROR_STOP=1", SUPERUSER],
            stdin=dump.stdout,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    assert dump.returncode == 0
    with psycopg.connect(host=str(server.socket_folder), user=SUPERUSER, dbname=SUPERUSER) as connection:
        connection.execute("DROP TABLE consilium_beatheartbeat")
        undone = "DELETE FROM django_migrations WHERE app = 'consilium' AND name = '0003_beat_heartbeat'"
        assert connection.execute(undone).rowcount == 1
        # To load the real demo takes as long as all these tests.
        connection.execute(
            "INSERT INTO rubrics_benchmark (slug, title, description, guidelines, rule_sheet, maps, authoring, "
            "licence, is_demo, canary, created_at) VALUES ('demo', 'D', '', '', '', '{}', '{}', '', true, '', now())"
        )
    server.leave()
