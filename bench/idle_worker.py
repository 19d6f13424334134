"""What a worker over PostgreSQL costs while it is idle, and how soon it starts a task.

The product's own worker beside the same worker without an event loop, whose children share one pipe and one lock
(billiard's blocking pool), and without the heartbeat. The variants take turns; a row is the median of its rounds.
Linux.

    .venv/bin/python bench/idle_worker.py --seconds 30 --rounds 3
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

from processes import child, cpu_seconds, database_process, wait_for
from scratch import quantile, scratch_product, show

WORKER = [
    *("--app", "config", "worker", "--concurrency", "2"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"),
]
START = "import sys; sys.argv[0] = 'celery'; from celery.__main__ import main; sys.exit(main())"
NO_HEARTBEAT = "import config.celery; config.celery.app.steps['worker'].clear(); "
NO_LOOP = (
    "from standalone.broker.transport import Transport; "
    "Transport.implements = Transport.implements.extend(asynchronous=False); "
)
VARIANTS = {
    "event loop, heartbeat (the product)": START,
    "event loop": NO_HEARTBEAT + START,
    "no event loop": NO_HEARTBEAT + NO_LOOP + START,
}


def measure(code: str, log: Path, *, seconds: float, tasks: int) -> list[float]:
    """CPU seconds of an idle worker and of PostgreSQL in percent of a core, and waits of single tasks in ms."""
    from consilium.tasks import clear_expired_sessions

    with log.open("w") as stream, child(["-c", code, *WORKER], stdout=stream, stderr=subprocess.STDOUT) as worker:
        wait_for(lambda: " ready." in log.read_text(), within_s=60, what="the worker is ready")
        clear_expired_sessions.delay()  # the first one waits for this process to connect
        wait_for(lambda: " succeeded in " in log.read_text(), within_s=60, what="the worker works")
        database = database_process()
        began, used = time.monotonic(), cpu_seconds(worker.pid)
        used_by_database = cpu_seconds(database) if database else 0.0
        time.sleep(seconds)
        elapsed = time.monotonic() - began
        idle = (cpu_seconds(worker.pid) - used) / elapsed * 100
        idle_database = (cpu_seconds(database) - used_by_database) / elapsed * 100 if database else float("nan")
        waits = []
        for number in range(2, tasks + 2):
            began = time.monotonic()
            clear_expired_sessions.delay()
            while log.read_text().count(" succeeded in ") < number:
                time.sleep(0.002)
            waits.append((time.monotonic() - began) * 1000)
        return [idle, idle_database, quantile(waits, 0.5), quantile(waits, 0.95)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each worker idles (30)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each variant has its turn (3)")
    parser.add_argument("--tasks", type=int, default=20, help="single tasks, one after the other (20)")
    options = parser.parse_args()
    rounds: dict[str, list[list[float]]] = {name: [] for name in VARIANTS}
    with ExitStack() as stack:
        home = stack.enter_context(scratch_product())
        for _ in range(options.rounds):
            for name, code in VARIANTS.items():
                log = home / "worker.log"
                rounds[name].append(measure(code, log, seconds=options.seconds, tasks=options.tasks))
    show(
        f"an idle worker of two seats, {options.rounds} rounds of {options.seconds:g} s",
        ["", "% of a core", "PostgreSQL %", "task p50 ms", "task p95 ms"],
        [[name, *map(statistics.median, zip(*rows, strict=True))] for name, rows in rounds.items()],
    )


if __name__ == "__main__":
    main()
