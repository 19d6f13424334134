"""`kill -9` of what `manage.py up` runs, while people grade, a judge reads and files are imported; over both brokers.

Four clients save decisions over HTTP, one after the other, and repeat a save until it is acknowledged, as the page
does. In turn the main process of the worker, beat, a process of the web server, its main process, and PostgreSQL are
killed. In the end each decision is the last that was acknowledged, after as many versions as there were saves, and each
run has each of its verdicts once.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest

from standalone.embedded import EmbeddedServer
from standalone.embedded.server import SUPERUSER
from tests.chaos import FULL, SEED, kills
from tests.chaos.supervised_world import CASES, CRITERIA
from tests.processes import ROOT, children_of
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.up import Up, copy_template
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

KINDS = ("worker", "beat", "web process", "web", "postgresql")
# In small size each kind is killed once, some over one broker and some over the other.
SMALL = {"postgresql": ("worker", "web", "postgresql"), "redis": ("beat", "web process", "worker")}
KILLS = kills(full=15, small=1)  # of each kind
ONLY = [kind for kind in os.environ.get("CONSILIUM_CHAOS_KINDS", "").split(",") if kind]  # to look into one kind
LATENCY_S = 0.2
OUTCOMES = ("met", "not_met", "cannot_assess")
TOKEN = "t" * 32
# Between two kills of one kind, drawn anew each time: `up` gives up after five ends of a process within a minute. Were
# they evenly spaced, each sweep for lost work might come just before a kill, for as long as the kills go on.
SAME_KIND_AFTER_S = (16.0, 32.0)
# The goals are 5 s and 45 s on a machine that does nothing else; these only bound what the small size may take.
MAX_GRADING_OUTAGE_S, MAX_JOB_OUTAGE_S = 90.0, 150.0


class Grader(threading.Thread):
    """A client that saves one decision after the other. ``saved``: work and criterion → outcome and number of saves."""

    def __init__(self, port: int, session: str, work: dict[str, list[int]], seed: int) -> None:
        super().__init__(daemon=True)
        self._port, self._session = port, session
        self._rows = [(public_id, criterion) for public_id, criteria in work.items() for criterion in criteria]
        self._rng = random.Random(seed)
        self.saved: dict[tuple[str, int], tuple[str, int]] = {}
        self.acknowledged_at: list[float] = []
        self.errors: list[str] = []
        self.over = threading.Event()

    def run(self) -> None:
        """Save until told to stop; the last save is acknowledged."""
        while not self.over.wait(0.05) and not self.errors:
            public_id, criterion = self._rng.choice(self._rows)
            _outcome, version = self.saved.get((public_id, criterion), ("", 0))
            outcome = self._rng.choice(OUTCOMES)
            change = {
                "criterion": criterion,
                "outcome": outcome,
                "version": version,
                "client_id": str(uuid.uuid4()),
            }
            while (result := self._save(public_id, change)) is None:
                time.sleep(0.1)
            if result["status"] != "saved" or result["version"] != version + 1:
                self.errors.append(f"{change} was answered by {result}")
            self.saved[public_id, criterion] = (outcome, version + 1)
            self.acknowledged_at.append(time.monotonic())

    def _save(self, public_id: str, change: dict[str, Any]) -> dict[str, Any] | None:
        """The result, or None where no answer came that says what became of it."""
        headers = {
            "Cookie": f"sessionid={self._session}; csrftoken={TOKEN}",
            "X-CSRFToken": TOKEN,
            "Content-Type": "application/json",
        }
        web = http.client.HTTPConnection("localhost", self._port, timeout=10)
        with contextlib.closing(web), contextlib.suppress(OSError, http.client.HTTPException):
            web.request("POST", f"/work/{public_id}/decisions/", json.dumps({"decisions": [change]}), headers)
            answer = web.getresponse()
            body = answer.read()
            if answer.status == 200:
                return dict(json.loads(body)["results"][0])
            if answer.status < 500:
                self.errors.append(f"{change} was answered by {answer.status} {body[:200]!r}")
                return {"status": "refused", "version": 0}
        return None

    def outages(self) -> list[tuple[float, float]]:
        """The times between two saves: when each began, and how long it was, in seconds."""
        return [(a, b - a) for a, b in pairwise(self.acknowledged_at)]


def longest_by_kind(killed: list[tuple[str, float]], outages: list[tuple[float, float]]) -> dict[str, float]:
    """The longest outage in seconds for each kind; its cause is the last kill before its end."""
    longest = dict.fromkeys(KINDS, 0.0)
    for begin, length in outages:
        causes = [kind for kind, at in killed if at < begin + length]
        if causes:
            longest[causes[-1]] = max(longest[causes[-1]], length)
    return longest


class Site:
    """A running `up`: its processes by their parents, and its database."""

    def __init__(self, up: Up) -> None:
        self.up = up
        self._folder = str(EmbeddedServer(up.home).socket_folder)

    def rows(self, query: str) -> list[Any]:
        """Rows of a query, on a connection of its own."""
        with psycopg.connect(host=self._folder, user=SUPERUSER, dbname=SUPERUSER, connect_timeout=5) as connection:
            return connection.execute(query).fetchall()

    def children(self) -> dict[str, int]:
        """Name → number of the processes that `up` has started. The web server is what is none of the others."""
        marks = {b"worker\0": "worker", b"\0beat\0": "beat", b"standalone.reaper": "reaper", b"rule_endpoint": "rules"}
        names = {}
        for pid in children_of(self.up.process.pid):
            with contextlib.suppress(OSError):
                line = Path("/proc", str(pid), "cmdline").read_bytes()
                if line:
                    names[next((name for mark, name in marks.items() if mark in line), "web")] = pid
        return names

    def pid_of(self, kind: str) -> int:
        """The process that a kill of this kind meets; 0 while there is none."""
        with contextlib.suppress(OSError, KeyError, IndexError, ValueError):
            if kind == "postgresql":
                return int((self.up.home / "postgres" / "data" / "postmaster.pid").read_text().split()[0])
            if kind == "web process":
                return children_of(self.children()["web"])[0]
            return self.children()[kind]
        return 0

    def verdicts(self) -> int:
        """How many verdicts are stored; -1 while the database is away."""
        with contextlib.suppress(psycopg.Error):
            return int(self.rows("SELECT count(*) FROM scoring_verdict")[0][0])
        return -1

    def live_runs(self) -> int:
        """How many runs have not ended; -1 while the database is away."""
        with contextlib.suppress(psycopg.Error):
            live = "('pending', 'running', 'cancelling')"
            return int(self.rows(f"SELECT count(*) FROM scoring_judgerun WHERE status IN {live}")[0][0])
        return -1


@pytest.fixture
def start_site(
    template_database: None,
    tmp_path: Path,
) -> Iterator[Callable[..., Site]]:
    """Start an `up` over an empty copy of the tables."""
    for above in (tmp_path, tmp_path.parent):
        above.chmod(0o755)
    ups: list[Up] = []

    def start(**environment: str) -> Site:
        copy_template(EmbeddedServer(tmp_path / "home"))
        ups.append(Up(tmp_path / "home", JUDGE_ALLOWED_HOSTS="127.0.0.1", **environment))
        ups[-1].wait_until_ready()
        return Site(ups[-1])

    yield start
    for up in ups:
        if up.process.poll() is None:
            up.process.send_signal(signal.SIGINT)
            up.process.wait(timeout=120)


@pytest.mark.parametrize("broker", ["postgresql", "redis"])
def test_kills_lose_no_save_and_no_verdict(
    broker: str,
    request: pytest.FixtureRequest,
    loopback: Loopback,  # noqa: F811
    start_site: Callable[..., Site],
) -> None:
    loopback.start_afresh(LATENCY_S)
    environment = {"REDIS_URL": request.getfixturevalue("redis_url")} if broker == "redis" else {}
    site = start_site(**environment)
    world = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.supervised_world", loopback.url],
        cwd=ROOT,
        env={**site.up.environment, "SECRET_KEY": (site.up.home / "secret_key").read_text().strip(),
             "JUDGE_ALLOWED_HOSTS": "127.0.0.1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert world.stdin and world.stdout
    line = world.stdout.readline()
    while line and not line.startswith("{"):
        line = world.stdout.readline()
    graders = [
        Grader(site.up.port, each["session"], each["work"], SEED + number)
        for number, each in enumerate(json.loads(line)["graders"])
    ]
    begun = {"run": 0, "import": 0}

    def begin(what: str) -> None:
        assert world.stdin and world.stdout
        world.stdin.write(f"{what}\n")
        world.stdin.flush()
        assert world.stdout.readline() == "begun\n"
        begun[what] += 1

    progress: list[float] = []  # times at which there were more verdicts, or nothing to do
    over = threading.Event()

    def watch_jobs() -> None:
        most = -1
        while not over.wait(0.25):
            count = site.verdicts()
            if count > most or site.live_runs() == 0:
                progress.append(time.monotonic())
            most = max(most, count)

    watch = threading.Thread(target=watch_jobs, daemon=True)
    killed: list[tuple[str, float]] = []
    due_at: dict[str, float] = {}
    moments = random.Random(SEED)
    kinds = ONLY or (KINDS if FULL or KILLS > 1 else SMALL[broker])
    order = [kind for _round in range(KILLS) for kind in moments.sample(kinds, len(kinds))]
    try:
        for grader in graders:
            grader.start()
        begin("run")
        begin("import")
        wait_until(lambda: site.verdicts() > 0, message="the judge reads")
        watch.start()
        for kind in order:
            if site.live_runs() == 0:
                begin("run")
                begin("import")
            threading.Event().wait(max(due_at.get(kind, 0) - time.monotonic(), 0))
            pid = wait_until(lambda kind=kind: site.pid_of(kind), within_s=60, message=f"there is a {kind}")
            os.kill(pid, signal.SIGKILL)
            at = time.monotonic()
            due_at[kind] = at + moments.uniform(*SAME_KIND_AFTER_S)
            killed.append((kind, at))
            wait_until(
                lambda pid=pid, kind=kind: site.pid_of(kind) not in (0, pid),
                within_s=MAX_GRADING_OUTAGE_S,
                message=f"there is another {kind}",
            )
            # Not since the kill: the children of a main process that was killed answer for a moment.
            at = time.monotonic()
            wait_until(
                lambda at=at: all(grader.errors or grader.acknowledged_at[-1] > at for grader in graders),
                within_s=MAX_GRADING_OUTAGE_S,
                message="everybody's saves are acknowledged again",
            )
        wait_until(lambda: site.live_runs() == 0, within_s=2 * MAX_JOB_OUTAGE_S, message="all runs have ended")
        ended = "SELECT count(*) FROM rubrics_importjob WHERE status NOT IN ('pending', 'running')"
        wait_until(lambda: site.rows(ended)[0][0] == begun["import"], within_s=120, message="all imports have ended")
    finally:
        over.set()
        for grader in graders:
            grader.over.set()
        world.stdin.close()
        world.wait(60)
        world.stdout.close()
    for grader in graders:
        grader.join(60)
        assert grader.errors == []
        assert not grader.is_alive()

    stored = {
        (public_id, criterion): (outcome, version)
        for public_id, criterion, outcome, version in site.rows(
            "SELECT public_id, criterion_id, outcome, version FROM annotation_decision "
            "JOIN annotation_assignment ON annotation_assignment.id = assignment_id"
        )
    }
    acknowledged = {key: word for grader in graders for key, word in grader.saved.items()}
    assert stored == acknowledged
    expected = CASES * CRITERIA
    runs = site.rows(
        "SELECT status, expected, count(v.id), count(DISTINCT (v.response_id, v.criterion_id, v.replicate)) "
        "FROM scoring_judgerun r LEFT JOIN scoring_verdict v ON v.run_id = r.id GROUP BY r.id"
    )
    assert len(runs) == begun["run"]
    assert all(row == ("finished", row[1], row[1], row[1]) and row[1] >= expected for row in runs), runs
    assert site.rows("SELECT DISTINCT status FROM rubrics_importjob") == [("done",)]
    outages = [outage for grader in graders for outage in grader.outages()]
    grading = longest_by_kind(killed, outages)
    grading_s = max(length for _begin, length in outages)
    silences = [(a, b - a) for a, b in pairwise(progress)]
    jobs = longest_by_kind(killed, silences)
    jobs_s = max(length for _begin, length in silences)
    saves = sum(version for _outcome, version in acknowledged.values())
    counts = ", ".join(
        f"{[name for name, _at in killed].count(kind)} {kind} (grading {grading[kind]:.1f} s, jobs {jobs[kind]:.1f} s)"
        for kind in KINDS
    )
    print(
        f"{broker}: {len(killed)} kills: {counts}; {saves} saves, 0 lost, {len(runs)} runs, "
        f"{sum(row[2] for row in runs)} verdicts, 0 lost, 0 double; longest outage of grading {grading_s:.1f} s, "
        f"of jobs {jobs_s:.1f} s"
    )
    assert sorted(name for name, _at in killed) == sorted(order)
    assert grading_s < MAX_GRADING_OUTAGE_S
    assert jobs_s < MAX_JOB_OUTAGE_S
