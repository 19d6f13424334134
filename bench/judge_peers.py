"""What `judge.py` compares the product with: the OpenAI SDK, and a design with one task for each verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import Watch, child, cpu_seconds, wait_for
from scratch import ROOT, Clock

WARM_UP = 256


@dataclass(frozen=True)
class Figures:
    """Figures of one way to get verdicts. CPU in ms for a verdict; memory of the largest process in MB."""

    name: str
    rate: float
    cpu_ms: float
    rss: float | None = None
    pss: float | None = None
    database_ms: float | None = None
    workers: int = 1


def peers_python(folder: Path | None) -> Path:
    """The interpreter of an environment with the OpenAI SDK, made on first use."""
    home = folder or Path(tempfile.gettempdir()) / "consilium-bench-peers"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    probe = subprocess.run([python, "-c", "import openai"], capture_output=True, check=False)
    if probe.returncode:
        print(f"Installing openai into {home} …", file=sys.stderr)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "openai"], check=True)
    return python


def openai_sdk(python: Path, *, url: str, messages: Path, calls: int, concurrency: int) -> Figures:
    """AsyncOpenAI with as many in flight; the answers are parsed and not stored."""
    command = [str(python), str(ROOT / "bench" / "judge_openai.py"), "--url", url, "--messages", str(messages)]
    command += ["--calls", str(calls), "--concurrency", str(concurrency)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"The OpenAI SDK failed:\n{done.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    name = f"OpenAI SDK {result['version']}, not stored"
    return Figures(name, result["rate"], result["cpu_ms"], rss=result["rss"])


def one_task_a_verdict(*, url: str, messages: Path, calls: int, concurrency: int, broker: str, log: Path) -> Figures:
    """A Celery task for each verdict, in one worker with a pool of ``concurrency`` threads."""
    import psycopg
    from django.db import connection

    login = {name: value for name, value in connection.get_connection_params().items() if name in _LOGIN}
    os.environ.update(
        ONE_TASK_BROKER=broker,
        ONE_TASK_URL=url,
        ONE_TASK_MESSAGES=str(messages),
        ONE_TASK_CONCURRENCY=str(concurrency),
        ONE_TASK_DATABASE=psycopg.conninfo.make_conninfo(**login),
    )
    from judge_one_task import TABLE, judge_one

    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {TABLE} (number bigint, met boolean, explanation text)")
    command = ["-m", "celery", "--app", "judge_one_task", "worker", "--pool", "threads"]
    command += ["--concurrency", str(concurrency), "--without-gossip", "--without-mingle", "--without-heartbeat"]

    def send(count: int, already: int) -> None:
        for number in range(count):
            judge_one.delay(number)

        def done() -> bool:
            if worker.poll() is not None:
                raise SystemExit(f"The worker with one task a verdict ended:\n{log.read_text()[-3000:]}")
            return _rows(TABLE) >= already + count

        wait_for(done, within_s=600, what="a verdict for each task")

    # Without the product's settings, with which Celery would set up Django.
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    options: dict[str, Any] = {"cwd": ROOT / "bench", "env": environment, "stderr": subprocess.STDOUT}
    with log.open("w") as file, child(command, stdout=file, **options) as worker:
        # At its usual level the worker does not log that it is ready, and at INFO it would log every task.
        send(WARM_UP, 0)
        clock, before = Clock(), cpu_seconds(worker.pid)
        with Watch(worker.pid) as memory:
            send(calls, WARM_UP)
            seconds, used = clock.seconds, cpu_seconds(worker.pid) - before
    return Figures(
        "one Celery task a verdict, one INSERT", calls / seconds, used / calls * 1000, memory.rss, memory.pss
    )


_LOGIN = ("host", "port", "dbname", "user", "password")


def _rows(table: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])
