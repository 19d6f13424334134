"""The embedded server: one for all who need it, whoever comes first, and gone with the last."""

import os
import signal
import subprocess
import sys
import threading

import psycopg
import pytest
from django.conf import settings
from django.db import connections

from consilium.core.heartbeat import leave_server_alone
from standalone.embedded import EmbeddedServer
from standalone.postgres.base import DatabaseWrapper
from tests.processes import ROOT
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

# Uses the server until its standard input closes, as a process of the product does.
USER = """
import sys
from pathlib import Path
from standalone.embedded import ensure
import psycopg
server = ensure(Path(sys.argv[1]))
with psycopg.connect(host=str(server.socket_folder), user="consilium", dbname="consilium") as connection:
    print(connection.execute("SELECT pg_postmaster_start_time()").fetchone()[0], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedded")
    for above in (folder, folder.parent):
        above.chmod(0o755)
    folder = folder / "a home's folder"  # a blank and a quote have to survive the shell of pg_ctl
    (folder / "postgres").mkdir(parents=True)
    (folder / "postgres" / "throwaway").touch()
    yield folder
    # Whatever a failed test left running: one more user, who is the last, stops it.
    subprocess.run([sys.executable, "-c", USER, str(folder)], cwd=ROOT, stdin=subprocess.DEVNULL, check=True)


@pytest.fixture
def start_user(home):
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", USER, str(home)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if not process.stdin.closed:
            process.communicate(timeout=120)


def postmaster(home):
    return int((home / "postgres" / "data" / "postmaster.pid").read_text().split()[0])


def test_racing_users_share_one_server_and_the_last_stops_it(home, start_user):
    users = [start_user() for _ in range(5)]
    starts = {user.stdout.readline() for user in users}
    assert len(starts) == 1
    assert starts != {""}

    server = EmbeddedServer(home)
    for user in users[:-1]:
        user.communicate(timeout=120)
        assert server.is_ready()
    users[-1].communicate(timeout=120)
    assert not server.is_ready()
    assert not (home / "postgres" / "data" / "postmaster.pid").exists()


def test_a_killed_user_does_not_hold_the_server(home, start_user):
    killed, other = start_user(), start_user()
    killed.stdout.readline()
    other.stdout.readline()
    killed.kill()
    killed.wait()
    other.communicate(timeout=120)
    assert not EmbeddedServer(home).is_ready()


def test_starts_again_after_kill_9_of_the_server(home, start_user):
    first = start_user()
    first.stdout.readline()
    os.kill(postmaster(home), signal.SIGKILL)
    wait_until(lambda: not EmbeddedServer(home).is_ready())
    second = start_user()
    assert second.stdout.readline()
    assert EmbeddedServer(home).is_ready()


def test_a_stale_pid_of_another_program_is_no_obstacle(home, start_user):
    start_user().communicate(timeout=120)
    pid_file = home / "postgres" / "data" / "postmaster.pid"
    # Our own number: it lives, and it is no server.
    pid_file.write_text(f"{os.getpid()}\n{home}/postgres/data\n1700000000\n5432\n\n\n  1234567   1\nready   \n")
    user = start_user()
    assert user.stdout.readline()


def test_forked_children_take_part_on_their_own(home):
    program = f"""
import os, sys
from pathlib import Path
from standalone.embedded import ensure
server = ensure(Path({str(home)!r}))
child = os.fork()
if child == 0:
    ensure(Path({str(home)!r}))
    sys.exit(0)  # runs the exit handlers: the parent's share must survive them
os.waitpid(child, 0)
print(server.is_ready())
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
    assert not EmbeddedServer(home).is_ready()


def test_a_long_path_gets_a_short_socket_folder(tmp_path):
    server = EmbeddedServer(tmp_path / ("deep" * 30))
    assert len(str(server.socket_folder / ".s.PGSQL.5432")) <= 103


def test_works_in_a_folder_that_nobody_else_may_enter(tmp_path_factory):
    folder = tmp_path_factory.mktemp("private")
    folder.chmod(0o700)
    home = folder / "home"
    (home / "postgres").mkdir(parents=True)
    (home / "postgres" / "throwaway").touch()
    done = subprocess.run(
        [sys.executable, "-c", USER, str(home)],
        cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not EmbeddedServer(home).is_ready()


def test_a_thread_that_leaves_the_server_alone_starts_none(home):
    """A worker's watchdog runs beside a thread that forks; the child would inherit the locks of the start, held."""
    server = EmbeddedServer(home)
    wrapper = DatabaseWrapper(
        {**settings.DATABASES["default"], "EMBEDDED_HOME": str(home), "HOST": str(server.socket_folder)}, "alone"
    )
    seen = []

    def connect():
        leave_server_alone()
        seen.append(connections["default"].starts_server)
        wrapper.starts_server = False
        try:
            wrapper.connect()
        except psycopg.OperationalError:
            seen.append("no server")

    thread = threading.Thread(target=connect)
    thread.start()
    thread.join()
    assert seen == [False, "no server"]
    assert connections["default"].starts_server
    assert not server.is_ready()
