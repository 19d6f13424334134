"""`manage.py up`: everything starts, answers and ends, and nothing is left, however it ends."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from standalone.embedded import EmbeddedServer
from standalone.embedded.server import SUPERUSER
from standalone.management.commands import up as up_command
from tests.factories import UserFactory
from tests.processes import ROOT, children_of
from tests.up import Up, copy_template, processes_naming
from tests.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory, template_database):
    """One home for the module: the second start finds what the first one made. The server's user may enter it.

    All migrations one after the other take as long as all these tests; they are run where the tests' own template of a
    database is made. So all but one have run here.
    """
    folder = tmp_path_factory.mktemp("up")
    for above in (folder, folder.parent):
        above.chmod(0o755)
    if settings.EMBEDDED:
        copy_template(EmbeddedServer(folder / "home"))
    return folder / "home"


def heartbeat_table(home):
    """Name of the table of the clock's heartbeat, None where there is none."""
    folder = str(EmbeddedServer(home).socket_folder)
    with psycopg.connect(host=folder, user=SUPERUSER, dbname=SUPERUSER) as connection:
        return connection.execute("SELECT to_regclass('consilium_beatheartbeat')::text").fetchone()[0]


@pytest.fixture
def start_up(home):
    """Start `up`: `start_up(by_argument=…, **environment)`; stopped at the end."""
    started = []

    def start(*, by_argument=False, **environment):
        started.append(Up(home, by_argument=by_argument, **environment))
        return started[-1]

    yield start
    for up in started:
        if up.process.poll() is None:
            up.process.send_signal(signal.SIGINT)
            up.process.wait(timeout=120)


@pytest.fixture
def up(start_up):
    return start_up()


def models_at(address):
    """The models that an endpoint lists, none before it answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with contextlib.suppress(urllib.error.URLError), opener.open(f"{address}/models", timeout=60) as answer:
        return json.loads(answer.read())["data"]
    return []


@pytest.mark.django_db
def test_the_demo_is_loaded_with_the_address_of_the_endpoint_that_stays(tmp_path, monkeypatch):
    loads = []
    monkeypatch.setattr(up_command, "call_command", lambda name, **options: loads.append((name, options)))
    command = up_command.Command()
    command.home, command.address = tmp_path, {}
    command._load_demo()
    assert loads == [("load_demo", {"rule_endpoint": command.address["RULE_ENDPOINT"], "verbosity": 0})]
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/v1", command.address["RULE_ENDPOINT"])
    # Where somebody has an account, work has begun: the demo, with its published passwords, does not come any more.
    UserFactory()
    command._load_demo()
    assert len(loads) == 1


def test_starts_serves_and_leaves_nothing_behind_on_ctrl_c(start_up):
    up = start_up(by_argument=True, CONSILIUM_DEMO="1")
    up.wait_until_ready()
    assert up.get("/healthz") == (200, "ok\n")
    assert heartbeat_table(up.home) == "consilium_beatheartbeat"  # what had not been migrated has been
    status, page = up.get("/accounts/login/")
    assert status == 200
    # Style sheets come with a digest in their name, as in production, and are there.
    sheet = re.search(r'href="(/static/[^"]+\.[0-9a-f]{12}\.css)"', page)
    assert sheet is not None, page
    assert up.get(sheet.group(1))[0] == 200

    # With the demo comes an endpoint that follows rules, and the page about it names its address.
    address = re.search(r"for the demo: (http://127\.0\.0\.1:[0-9]+/v1)$", up.output_file.read_text(), re.M)[1]
    models = wait_until(lambda: models_at(address), within_s=60, message="the endpoint of the demo answers")
    assert {model["owned_by"] for model in models} == {"consilium-rules"}
    assert address in up.get("/rules/")[1]

    # The web process knows the port that it was given, and answers to no other; a health check may leave it out.
    hosts = (f"localhost:{up.port}", f"127.0.0.1:{up.port}", "localhost:1", "localhost:6666", "localhost")
    assert [up.status("/accounts/login/", host) for host in hosts] == [200, 200, 400, 400, 400]
    assert up.status("/healthz", "localhost") == 200
    web_log = (up.home / "logs" / "web.log").read_text()
    assert "another one must stand in ALLOWED_HOSTS" in web_log
    assert "Starting granian" in " ".join(json.loads(line)["event"] for line in web_log.splitlines())

    # Nobody has an account: the first one is made with a code, which is in the terminal and nowhere else.
    code = re.search(r"^  ((?:[A-Z2-9]{4}-){3}[A-Z2-9]{4})$", up.output_file.read_text(), re.M)[1]
    assert "manage.py add_person you@example.org --creates-benchmarks" in up.output_file.read_text()
    assert "Code from the terminal" in up.get("/")[1]
    assert all(code not in log.read_text() for log in (up.home / "logs").iterdir())

    key = up.home / "secret_key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(key.read_text().strip()) >= 50
    assert key.read_text().strip() not in up.output_file.read_text()

    # Ctrl-C leaves nothing, also where the worker and one of its children are frozen.
    worker = wait_until(lambda: leader(up.home, WORKER), within_s=60, message="the worker has begun")
    children = wait_until(lambda: children_of(worker), within_s=60, message="the worker has children")
    for number in (worker, children[0]):
        os.kill(number, signal.SIGSTOP)
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(timeout=120) == 0, up.output_file.read_text()
    assert up.nothing_left()
    assert address.endswith(f":{(up.home / 'rule_endpoint.port').read_text()}/v1")  # the same the next time


def test_a_database_that_lacks_a_migration_whose_file_is_gone_is_refused(start_up, home):
    server = EmbeddedServer(home)
    server.ensure()
    try:
        with psycopg.connect(host=str(server.socket_folder), user=SUPERUSER, dbname=SUPERUSER) as connection:
            removed = connection.execute(
                "DELETE FROM django_migrations WHERE name = '0011_final_rulings' RETURNING app, name, applied"
            ).fetchall()
            assert [row[:2] for row in removed] == [("annotation", "0011_final_rulings")]
        refused = start_up()
        assert refused.process.wait(timeout=120) == 1
        output = refused.output_file.read_text()
        assert "only some of the earlier migrations of annotation. It lacks 0011_final_rulings," in output
        assert "Traceback" not in output
    finally:
        with psycopg.connect(host=str(server.socket_folder), user=SUPERUSER, dbname=SUPERUSER) as connection:
            connection.execute("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, %s)", removed[0])
        server.leave()


def leader(home, command):
    """Number of the process with its own group whose command line holds `command`; 0 where there is none."""
    for number in processes_naming(str(home)):
        with contextlib.suppress(OSError):
            if os.getpgid(number) == number and command in Path("/proc", str(number), "cmdline").read_bytes():
                return number
    return 0


WEB, WORKER, BEAT = b"standalone.web_server\0", b"worker\0--concurrency", b"\0beat\0"


def successes(home):
    """How many tasks the worker has done."""
    return (home / "logs" / "worker.log").read_text().count(" succeeded in ")


def wait_for_work(home):
    """Beat sends four sweeps every 15 seconds."""
    before = successes(home)
    wait_until(lambda: successes(home) > before, within_s=60, message="the worker does its tasks")


def wait_for_another(home, command, old):
    return wait_until(
        lambda: pid if (pid := leader(home, command)) != old else 0, within_s=120, message=f"{command} starts again"
    )


def test_what_ends_or_hangs_starts_again_and_kill_9_of_all_that_leaves_nothing(start_up, home):
    up = start_up(WORKER_STALL_LIMIT="8")
    up.wait_until_ready()

    # The main process alone: its children must not work on beside those of the next.
    web = leader(home, WEB)
    os.kill(web, signal.SIGKILL)
    wait_for_another(home, WEB, web)
    wait_until(up.is_well, within_s=60, message="the site is back")
    assert "The web process ended by itself (exit code -9). It starts again in 0.5 s." in up.output_file.read_text()

    # A worker that is frozen as a whole can neither notice nor say it.
    worker = leader(home, WORKER)
    wait_for_work(home)
    os.kill(worker, signal.SIGSTOP)
    worker = wait_for_another(home, WORKER, worker)
    output = up.output_file.read_text()
    assert re.search(r"The worker process made no progress for \d+ s and was killed", output), output
    log = home / "logs" / "worker.log"
    assert log.read_text().count(" ready.") == 1  # what the first one wrote is still there
    wait_until(lambda: log.read_text().count(" ready.") == 2, within_s=60, message="the worker is ready again")
    wait_for_work(home)

    # Nor can a beat that is frozen; without it nothing is swept.
    beat = leader(home, BEAT)
    os.kill(beat, signal.SIGSTOP)
    wait_for_another(home, BEAT, beat)
    assert re.search(r"The beat process made no progress for \d+ s and was killed", up.output_file.read_text())
    wait_for_work(home)

    # It ran for more than ten seconds, so that it waits no longer than the first time.
    web = leader(home, WEB)
    os.kill(web, signal.SIGKILL)
    wait_for_another(home, WEB, web)
    assert re.findall(r"web process .* starts again in ([\d.]+) s", up.output_file.read_text(), re.I) == ["0.5", "0.5"]

    # Away for longer than the limit, the database is no reason to start anything again.
    server = EmbeddedServer(home)
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    group = [number for number in [postmaster, *children_of(postmaster)] if number]
    for number in group:
        os.kill(number, signal.SIGSTOP)
    threading.Event().wait(12)
    for number in reversed(group):
        os.kill(number, signal.SIGCONT)
    wait_for_work(home)
    # Nor is its restart: the worker connects again, and takes up its work.
    os.kill(postmaster, signal.SIGQUIT)
    wait_for_work(home)
    assert leader(home, WORKER) == worker

    os.kill(worker, signal.SIGSTOP)
    up.process.kill()
    up.process.wait()
    wait_until(up.nothing_left, within_s=60, message="all processes ended")


def test_five_ends_within_a_minute_end_everything_and_say_why(up, home):
    up.wait_until_ready()
    beat = 0
    log = home / "logs" / "beat.log"
    wait_until(lambda: "is starting" in log.read_text(), within_s=60, message="the first beat says that it starts")
    for _ in range(5):
        beat = wait_for_another(home, BEAT, beat)
        os.kill(beat, signal.SIGKILL)
    assert up.process.wait(timeout=120) == 1
    output = up.output_file.read_text()
    assert [float(pause) for pause in re.findall(r"starts again in ([\d.]+) s", output)] == [0.5, 1, 2, 4]
    assert "The beat process ended by itself (exit code -9), for the 5th time within 60 s" in output
    assert re.search(r"^(CommandError: )?beat \| celery beat v\S+ .* is starting", output, re.M), output
    assert up.nothing_left()


def test_the_port_is_held_from_the_start(tmp_path, home):
    """While the database is prepared nobody else may take the port, and answer in place of the web server."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    first = Up(home, PORT=str(port))
    wait_until(lambda: "Preparing" in first.output_file.read_text(), within_s=60, message="the first prepares")
    second = Up(tmp_path / "another", PORT=str(port))
    assert second.process.wait(timeout=120) == 1
    assert f"Port {port} is taken" in second.output_file.read_text()
    assert "Preparing" not in second.output_file.read_text()
    first.process.send_signal(signal.SIGINT)
    first.process.wait(timeout=120)
    assert first.nothing_left()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PORT", "abc", "Error: The environment variable PORT must be a whole number, and is 'abc'."),
        ("PORT", "70000", "PORT must be a number from 1 to 65535, and is 70000."),
        ("CONSILIUM_HOME", "/proc/nowhere", "Set CONSILIUM_HOME to a folder that you may write to."),
        ("DATABASE_URL", "postgres://a:b@127.0.0.1:1/c", "The database cannot be reached. Check DATABASE_URL."),
    ],
)
def test_what_the_operator_can_mend_is_explained_without_a_traceback(tmp_path, name, value, message):
    failed = Up(tmp_path / "home", **{name: value})
    assert failed.process.wait(timeout=120) == 1
    output = failed.output_file.read_text()
    assert message in output
    assert "Traceback" not in output


def test_a_taken_port_is_named(home):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        failed = Up(home, PORT=str(taken))
        assert failed.process.wait(timeout=120) == 1
    assert f"Port {taken} is taken" in failed.output_file.read_text()
    assert failed.nothing_left()


# Modes of files -------------------------------------------------------------------------------------------------------

CASE = {
    "prompt_id": "case-1",
    "prompt": [{"role": "user", "content": "A question?"}],
    "rubrics": [{"criterion": "Answers it.", "points": 5, "tags": []}],
}


def manage(home, *arguments, **environment):
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DEBUG", "SECRET_KEY", "DATABASE_URL", "MEDIA_ROOT", "DJANGO_SETTINGS_MODULE"}
    }
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**kept, "CONSILIUM_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Visitor:
    """A person with a browser that keeps cookies."""

    def __init__(self, up):
        self.address = f"http://localhost:{up.port}"
        self.cookies = CookieJar()
        handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies))
        self.opener = urllib.request.build_opener(*handlers)

    def get(self, path):
        with self.opener.open(self.address + path, timeout=60) as answer:
            return answer.read().decode()

    def post(self, path, fields, files=()):
        token = next(cookie.value for cookie in self.cookies if cookie.name == "csrftoken")
        parts = [(f'name="{name}"', value) for name, value in {**fields, "csrfmiddlewaretoken": token}.items()]
        parts += [(f'name="{name}"; filename="{name}.jsonl"', value) for name, value in files]
        body = "".join(f"--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n" for head, value in parts)
        request = urllib.request.Request(
            self.address + path,
            data=f"{body}--x--\r\n".encode(),
            headers={"Content-Type": "multipart/form-data; boundary=x", "Referer": self.address},
        )
        with self.opener.open(request, timeout=60) as answer:
            return answer.read().decode()


def readable_by_others(home):
    """What others than its owner may read or enter, but the folders through which PostgreSQL's own user passes."""
    modes = {}
    for folder, folders, files in os.walk(home):
        for path in (Path(folder, name) for name in (*folders, *files)):
            mode = path.lstat().st_mode & 0o777
            if mode & 0o077 and not (path == home / "postgres" and mode & 0o077 == 0o011 and os.geteuid() == 0):
                modes[str(path.relative_to(home))] = oct(mode)
    return modes


def test_nobody_else_reads_what_is_written(start_up, home, tmp_path):
    before = os.umask(0o022)
    try:
        (home / "logs").mkdir(exist_ok=True)
        loose = [home / "logs" / "older.log.1", home / "media" / "imports" / "older.jsonl"]
        for path in loose:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("a reset link")
        home.chmod(0o755)
        manage(home, "add_person", "op@example.org", PASSWORD="quiet-harbour-lamp")
        manage(home, "grant_role", "--benchmark", "demo", "--email", "op@example.org", "--role", "admin")
        up = start_up()
        up.wait_until_ready()
        visitor = Visitor(up)
        visitor.get("/accounts/login/")
        visitor.post("/accounts/login/", {"login": "op@example.org", "password": "quiet-harbour-lamp"})
        visitor.post("/b/demo/imports/", {"kind": "cases"}, [("file", json.dumps(CASE))])
        wait_until(
            lambda: "Done" in visitor.get("/b/demo/imports/"), within_s=60, message="the worker has imported the case"
        )
        out = tmp_path / "release"
        manage(home, "release", "--benchmark", "demo", "--out", str(out), "--no-licence")
    finally:
        os.umask(before)
    assert len(list((home / "media").rglob("*.*"))) >= 3  # the loose file, the upload and the release
    assert readable_by_others(home) == {}
    assert home.stat().st_mode & 0o066 == 0
    assert all(path.read_text() == "a reset link" for path in loose)
    # What a command writes for a person has the modes that the person wants.
    assert {path.stat().st_mode & 0o777 for path in out.rglob("*") if path.is_file()} == {0o644}
