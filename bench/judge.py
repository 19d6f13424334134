"""How fast verdicts are dispatched: a run through a real Celery worker beside the ideal and a plain loop.

    .venv/bin/python bench/judge.py [--verdicts 2000] [--latency 0.2] [--concurrency 64]

The endpoint is `bench/loopback_judge.py` on this machine: it answers every request after the given latency, so no
client can be faster than concurrency ÷ latency. Our figure is the whole way, from the run's start in the worker to its
last stored verdict. The alternative asks for one verdict after the other with the same client and stores nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scratch import ROOT, Clock, scratch_product, show

CRITERIA = 20
PLAIN_CALLS = 40


@contextmanager
def child(arguments: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that ends with the block."""
    process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def tree(pid: int) -> list[int]:
    """The process and everything below it (Linux)."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    below = [int(found) for found in path.read_text().split()] if path.exists() else []
    return [pid, *(one for found in below for one in tree(found))]


def cpu_and_memory(pid: int) -> tuple[float, float]:
    """CPU seconds so far of a process tree, and the largest resident set of one of its processes, in MB (Linux)."""
    ticks, largest = 0, 0
    for one in tree(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(") ")[2].split()
            status = Path(f"/proc/{one}/status").read_text()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
        peak = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), "0")
        largest = max(largest, int(peak))
    return ticks / os.sysconf("SC_CLK_TCK"), largest / 1000


def make_benchmark(verdicts: int) -> Any:
    """A benchmark with as many (response, criterion) pairs, rounded up to whole responses."""
    from django.utils import timezone

    from rubrics.imports import run_file
    from rubrics.models import Benchmark

    responses = -(-verdicts // CRITERIA)
    cases = []
    for number in range(responses):
        criteria = [f"Names point {i} of case {number} in so many words." for i in range(CRITERIA)]
        cases.append(
            {
                "case_id": f"c-{number}",
                "difficulty": "low",
                "clinical_context": "Made up for a measurement. " * 20,
                "user_request": "What should be done?",
                "rubrics": criteria,
            }
        )
    answers = [
        {"case": f"c-{number}", "candidate": "omega", "sample": 0, "response": "Rest, drink, come back. " * 60}
        for number in range(responses)
    ]
    for kind, rows in (("cases", cases), ("responses", answers)):
        file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
        run_file(kind=kind, slug="bench", file=file, options={}, at=timezone.now())
    return Benchmark.objects.get(slug="bench")


def through_celery(benchmark: Any, url: str, concurrency: int, home: Path) -> tuple[int, float, float, float]:
    """Verdicts, seconds, CPU seconds of the worker, and its largest process in MB."""
    from django.utils import timezone

    from consilium.processes import WORKER
    from scoring.models import JudgeRun, Verdict
    from scoring.services.judges import create_chat_judge
    from scoring.services.runs import RunFrame, create_run

    judge = create_chat_judge(
        benchmark=benchmark,
        name="loopback",
        config={"endpoint": url, "model": "ok", "concurrency": concurrency},
        by=None,
    )
    log = (home / "worker.log").open("w")
    # One process, so that the warm-up reaches the one that is measured.
    command = [*WORKER.arguments, "--concurrency", "1"]
    with log, child(command, stdout=log, stderr=subprocess.STDOUT) as worker:
        deadline = time.monotonic() + 60
        while " ready." not in (home / "worker.log").read_text():
            if time.monotonic() > deadline or worker.poll() is not None:
                raise SystemExit((home / "worker.log").read_text()[-3000:])
            time.sleep(0.1)
        # The first run loads the worker's modules; what is measured is a worker at work.
        for frame in (RunFrame(candidates=("warm-up",)), RunFrame(candidates=("omega",))):
            before = cpu_and_memory(worker.pid)[0]
            run = create_run(benchmark=benchmark, judge=judge, frame=frame, by=None, at=timezone.now())
            while run.status in JudgeRun.LIVE:
                time.sleep(0.1)
                run.refresh_from_db()
        used, largest = cpu_and_memory(worker.pid)
    if run.status != JudgeRun.Status.FINISHED or Verdict.objects.filter(run=run).count() != run.expected:
        raise SystemExit(f"The run did not finish: {run.status} {run.error}")
    assert run.started_at is not None
    assert run.finished_at is not None
    return run.expected, (run.finished_at - run.started_at).total_seconds(), used - before, largest


def one_at_a_time(url: str) -> tuple[float, float]:
    """Verdicts a second and CPU milliseconds a verdict of a plain loop that stores nothing."""
    from consilium.llm.client import ChatClient
    from consilium.llm.endpoint import Endpoint
    from consilium.llm.judging import judge
    from consilium.llm.prompts import TEMPLATES, JudgeItem, messages_for

    async def ask() -> None:
        async with ChatClient(Endpoint(url=url, model="ok", concurrency=1), allowed_hosts=["127.0.0.1"]) as client:
            for number in range(PLAIN_CALLS):
                item = JudgeItem([{"role": "user", "content": "What now?"}], "Rest, drink. " * 60, f"Names {number}.")
                made = await judge(client, messages_for(TEMPLATES["healthbench"], item, nonce="0" * 24))
                assert made.verdict is not None

    clock = Clock()
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    asyncio.run(ask())
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime - used
    return PLAIN_CALLS / clock.seconds, used / PLAIN_CALLS * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before every answer of the endpoint")
    parser.add_argument("--concurrency", type=int, default=64)
    arguments = parser.parse_args()
    os.environ["JUDGE_ALLOWED_HOSTS"] = "127.0.0.1"
    script = str(ROOT / "bench" / "loopback_judge.py")
    with (
        child([script, "--latency", str(arguments.latency)], stdout=subprocess.PIPE) as endpoint,
        scratch_product() as home,
    ):
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().strip()
        benchmark = make_benchmark(arguments.verdicts)
        add_warm_up(benchmark)
        verdicts, seconds, used, largest = through_celery(benchmark, url, arguments.concurrency, home)
        plain, plain_cpu = one_at_a_time(url)
    ideal = arguments.concurrency / arguments.latency if arguments.latency else float("inf")
    ours = verdicts / seconds
    show(
        f"{verdicts:,} verdicts, {arguments.latency * 1000:g} ms latency, {arguments.concurrency} in flight",
        ["", "verdicts/s", "of the ideal", "CPU ms/verdict", "largest process, MB"],
        [
            ["concurrency ÷ latency (ideal)", ideal, 1.0, "", ""],
            ["a run through Celery, stored", ours, ours / ideal, used / verdicts * 1000, largest],
            ["one request at a time, not stored", plain, plain / ideal, plain_cpu, ""],
        ],
    )


def add_warm_up(benchmark: Any) -> None:
    """One more response, of a candidate of its own."""
    from rubrics.models import Candidate, Case, Response

    Response.objects.create(
        case=Case.objects.filter(benchmark=benchmark).order_by("pk")[0],
        candidate=Candidate.objects.create(benchmark=benchmark, name="warm-up"),
        text="Rest.",
    )


if __name__ == "__main__":
    main()
