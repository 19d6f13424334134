"""How fast verdicts are dispatched by Celery workers, beside the ideal, the OpenAI SDK and one task for each verdict.

    .venv/bin/python bench/judge.py [--verdicts 20000] [--latency 0.2] [--concurrency 128]
    .venv/bin/python bench/judge.py --workers 2 --namespaces          # as root: a network for each worker

The endpoint is `bench/loopback_judge.py` on this machine: it answers every request after the given latency, so no
client can be faster than concurrency ÷ latency. The product's figure covers everything from the run's start in the
worker to its last stored verdict. Its CPU is that of the worker with all its processes; the database's CPU is given
separately. The broker is a Redis that the measurement starts, or the embedded one (``--broker embedded``). The others
send the same text: the SDK stores nothing; each task writes a bare row. The SDK is installed once into an environment
of its own (``--peers DIR``, or in the temporary folder).

With more than one worker the same run is made by one worker first; each has the given concurrency for itself.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judge_peers import Figures, one_task_a_verdict, openai_sdk, peers_python
from namespaces import HOST, inside, namespaces
from processes import Watch, child, cpu_seconds, database_process, redis_server, wait_for
from scratch import ROOT, scratch_product, show

CRITERIA = 20
# Targets for one worker (at 200 ms and 128 in flight), and the speed-up that a second worker must give.
RATE_SHARE, CPU_MS, MEMORY_MB, FACTOR = 0.85, 0.5, 250.0, 1.9


def make_benchmark(verdicts: int) -> Any:
    """A benchmark with as many (response, criterion) pairs, rounded up to whole responses, and a few to warm up."""
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
        {"case": f"c-{number}", "candidate": candidate, "sample": 0, "response": "Rest, drink, come back. " * 60}
        for candidate, count in (("omega", responses), ("warm-up", min(responses, 8)))
        for number in range(count)
    ]
    for kind, rows in (("cases", cases), ("responses", answers)):
        file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
        run_file(kind=kind, slug="bench", file=file, options={}, at=timezone.now())
    return Benchmark.objects.get(slug="bench")


@contextlib.contextmanager
def workers(befores: Sequence[Sequence[str]], home: Path) -> Iterator[list[int]]:
    """A Celery worker behind each of ``befores``, as the product starts it but with one process; yields their pids."""
    from standalone.processes import WORKER

    # One process each, so that the warm-up loads the process that is measured.
    command = [*WORKER.arguments, "--concurrency", "1"]
    with contextlib.ExitStack() as stack:
        pids = []
        for number, before in enumerate(befores):
            log = home / f"worker-{number}.log"
            name = ["--hostname", f"bench{number}@%h"]
            file = stack.enter_context(log.open("w"))
            process = child([*command, *name], before=before, stdout=file, stderr=subprocess.STDOUT)
            worker = stack.enter_context(process)

            def ready(log: Path = log, worker: subprocess.Popen[str] = worker) -> bool:
                if worker.poll() is not None:
                    raise SystemExit(f"A worker ended:\n{log.read_text()[-3000:]}")
                return " ready." in log.read_text()

            wait_for(ready, within_s=120, what="a worker is ready")
            pids.append(worker.pid)
        yield pids


def run_to_the_end(benchmark: Any, judge: Any, candidate: str) -> Any:
    """A run over one candidate's responses; ends the measurement if it does not finish."""
    from django.utils import timezone

    from scoring.models import JudgeRun, Verdict
    from scoring.runs.services import RunFrame, create_run

    frame = RunFrame(candidates=(candidate,))
    run = create_run(benchmark=benchmark, judge=judge, frame=frame, by=None, at=timezone.now())

    def ended() -> bool:
        run.refresh_from_db()
        return run.status not in JudgeRun.LIVE

    wait_for(ended, within_s=3600, what="the run ends")
    stored = Verdict.objects.filter(run=run).exclude(outcome="invalid").count()
    if run.status != JudgeRun.Status.FINISHED or stored != run.expected:
        raise SystemExit(f"The run did not finish: {run.status}, {stored} of {run.expected} verdicts. {run.error}")
    return run


def through_celery(
    benchmark: Any, url: str, concurrency: int, befores: Sequence[Sequence[str]], home: Path
) -> tuple[Figures, list[float]]:
    """Figures of a run by these workers, and each worker's CPU seconds."""
    from scoring.judges.services import create_chat_judge

    count = len(befores)
    config = {"endpoint": url, "model": "ok", "concurrency": concurrency * count, "slices": count}
    judge = create_chat_judge(benchmark=benchmark, name=f"loopback {count}", config=config, by=None)
    database = database_process()
    with workers(befores, home) as pids:
        # The first run loads the workers' modules; what is measured is a worker at work.
        run_to_the_end(benchmark, judge, "warm-up")
        before = [cpu_seconds(pid) for pid in pids]
        database_before = cpu_seconds(database) if database else 0.0
        with Watch(*pids) as memory:
            run = run_to_the_end(benchmark, judge, "omega")
            used = [cpu_seconds(pid) - began for pid, began in zip(pids, before, strict=True)]
            database_used = cpu_seconds(database) - database_before if database else None
    seconds = (run.finished_at - run.started_at).total_seconds()
    name = f"through Celery, {count} worker{'s' * (count > 1)}, stored"
    return (
        Figures(
            name,
            workers=count,
            rate=run.expected / seconds,
            cpu_ms=sum(used) / run.expected * 1000,
            rss=memory.rss,
            pss=memory.pss,
            database_ms=None if database_used is None else database_used / run.expected * 1000,
        ),
        used,
    )


def last_messages(url: str, home: Path) -> Path:
    """A file with the messages of the last request that the endpoint got, for the others to send."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/last") as answer:
        messages = json.load(answer)["messages"]
    path = home / "messages.json"
    path.write_text(json.dumps(messages))
    return path


def measure(options: argparse.Namespace, python: Path | None) -> list[Figures]:
    """All figures, the product's first."""
    os.environ["JUDGE_ALLOWED_HOSTS"] = f"127.0.0.1,{HOST}"
    with contextlib.ExitStack() as stack:
        host, names = "127.0.0.1", []
        if options.namespaces:
            host, names = HOST, stack.enter_context(namespaces(options.workers))
        os.environ.pop("REDIS_URL", None)
        if options.broker == "redis":
            port, _ = stack.enter_context(redis_server(*({host} - {"127.0.0.1"})))
            os.environ["REDIS_URL"] = f"redis://{host}:{port}/0"
        script = [str(ROOT / "bench" / "loopback_judge.py"), "--host", host, "--latency", str(options.latency)]
        endpoint = stack.enter_context(child(script, stdout=subprocess.PIPE))
        home = stack.enter_context(scratch_product())
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().strip()
        benchmark = make_benchmark(options.verdicts)
        befores = [inside(name) for name in names] or [[]] * options.workers
        figures = []
        for count in sorted({1, options.workers}):
            figure, used = through_celery(benchmark, url, options.concurrency, befores[:count], home)
            figures.append(figure)
            if count > 1:
                print("CPU seconds of each worker: " + ", ".join(f"{seconds:.1f}" for seconds in used))
        messages = last_messages(url, home)
        given = {"url": url, "messages": messages, "concurrency": options.concurrency}
        if python is not None:
            figures.append(openai_sdk(python, calls=options.sdk_calls, **given))
        if not options.skip_tasks and options.broker == "redis":
            broker = os.environ["REDIS_URL"].removesuffix("/0") + "/1"
            log = home / "one-task.log"
            figures.append(one_task_a_verdict(calls=options.task_calls, broker=broker, log=log, **given))
    return figures


def report(options: argparse.Namespace, figures: Sequence[Figures]) -> None:
    """Print the table, and the targets of the product."""
    ideal = options.concurrency / options.latency if options.latency else float("inf")
    rows: list[list[object]] = [["ideal of one worker", ideal, 1.0, "", "", "", ""]]
    for figure in figures:
        more = [figure.cpu_ms, figure.database_ms, figure.rss, figure.pss]
        share = figure.rate / ideal / figure.workers
        rows.append([figure.name, figure.rate, share, *("" if value is None else value for value in more)])
    show(
        f"{options.verdicts:,} verdicts, {options.latency * 1000:g} ms latency, {options.concurrency} in flight for "
        f"each worker, broker {options.broker}",
        ["", "verdicts/s", "of the ideal", "CPU ms/verdict", "PostgreSQL ms", "RSS MB", "PSS MB"],
        rows,
    )
    first = figures[0]
    held = [
        ("share of the ideal rate", first.rate / ideal, ">=", RATE_SHARE),
        ("worker’s CPU ms a verdict", first.cpu_ms, "<=", CPU_MS),
        ("MB of the largest process", first.rss or 0.0, "<=", MEMORY_MB),
    ]
    if options.workers > 1:
        held.append((f"{options.workers} workers : 1 worker", figures[1].rate / first.rate, ">=", FACTOR))
    for what, value, sign, bound in held:
        kept = value >= bound if sign == ">=" else value <= bound
        print(f"{'held ' if kept else 'NOT held'}  {what}: {value:.2f} ({sign} {bound:g})")
    if options.json:
        options.json.write_text(
            json.dumps({"ideal": ideal, "results": [asdict(figure) for figure in figures]}, indent=1)
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, default=20_000)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before every answer of the endpoint")
    parser.add_argument("--concurrency", type=int, default=128, help="requests in flight for each worker")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--namespaces", action="store_true", help="a network for each worker (root, iproute2)")
    parser.add_argument("--broker", choices=["redis", "embedded"], default="redis")
    parser.add_argument("--peers", type=Path, help="environment for the OpenAI SDK; made if it is not there")
    parser.add_argument("--skip-openai", action="store_true")
    parser.add_argument("--skip-tasks", action="store_true")
    parser.add_argument("--sdk-calls", type=int, default=4000)
    parser.add_argument("--task-calls", type=int, default=2000)
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    options = parser.parse_args()
    if options.namespaces and options.broker != "redis":
        parser.error("workers in namespaces need --broker redis")
    # A terminated measurement takes its servers and namespaces along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    python = None if options.skip_openai else peers_python(options.peers)
    report(options, measure(options, python))


if __name__ == "__main__":
    main()
