"""How fast responses are requested and stored, beside the ideal and beside an earlier commit.

    .venv/bin/python bench/generation.py [--responses 2000] [--latency 0.2] [--concurrency 64]
    git worktree add /tmp/earlier COMMIT
    .venv/bin/python bench/generation.py --against /tmp/earlier --rounds 5

The endpoint is `bench/loopback_judge.py` on this machine, which answers with some 300 words after the given latency, so
no client can be faster than concurrency ÷ latency. Measured is the worker's turn at one run, in this process, from its
start to the last stored response: responses a second, and CPU of the process for a response. ``--against`` measures
another checkout as well, in turn, each time in a process and a database of its own, and prints the medians.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scratch import scratch_product

LOOPBACK = Path(__file__).resolve().parent / "loopback_judge.py"
MODEL = "prose-long"


def make_benchmark(cases: int) -> Any:
    """A benchmark with as many cases of one criterion."""
    from django.utils import timezone

    from rubrics.imports import run_file
    from rubrics.models import Benchmark

    rows = [
        {
            "case_id": f"c-{number}",
            "difficulty": "low",
            "clinical_context": "Made up for a measurement. " * 40,
            "user_request": f"What should be done in case {number}?",
            "rubrics": ["Names what to do."],
        }
        for number in range(cases)
    ]
    file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    run_file(kind="cases", slug="bench", file=file, options={}, at=timezone.now())
    return Benchmark.objects.get(slug="bench")


def measure(responses: int, url: str, concurrency: int) -> dict[str, float]:
    """Seconds and CPU seconds of one run, after a short one that warms up."""
    os.environ["JUDGE_ALLOWED_HOSTS"] = "127.0.0.1"
    with scratch_product():
        from django.utils import timezone

        from rubrics.models import Response
        from scoring.generation.due_responses import CaseFrame
        from scoring.generation.runs import create_run

        try:
            from scoring.pipelines.working import work_on_run
        except ImportError:  # an earlier commit
            from scoring.generation.working import work_on_run  # type: ignore[import-not-found,no-redef]

        benchmark = make_benchmark(responses)
        config = {"endpoint": url, "model": MODEL, "concurrency": concurrency}

        def go(candidate: str, cases: int) -> tuple[float, float]:
            run = create_run(
                benchmark=benchmark,
                candidate=candidate,
                config=config,
                frame=CaseFrame(cases=cases),
                samples=1,
                by=None,
                at=timezone.now(),
            )
            began, cpu = time.perf_counter(), time.process_time()
            while work_on_run(run.pk, clock=timezone.now):
                pass
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            run.refresh_from_db()
            stored = Response.objects.filter(candidate__name=candidate).count()
            if (run.status, stored) != ("finished", cases):
                raise SystemExit(f"The run did not finish: {run.status}, {stored} of {cases} responses. {run.error}")
            return seconds, cpu

        go("warm-up", min(responses, 200))
        seconds, cpu = go("measured", responses)
    return {"seconds": seconds, "cpu": cpu}


def once(arguments: argparse.Namespace, root: str) -> dict[str, float]:
    """One measurement of the checkout at ``root``, in a process of its own."""
    options = [f"--{name}={getattr(arguments, name)}" for name in ("responses", "latency", "concurrency")]
    output = subprocess.run(
        [sys.executable, __file__, *options, "--once"],
        env={**os.environ, "BENCH_ROOT": root},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return dict(json.loads(output.splitlines()[-1]))


def report(name: str, figures: Sequence[dict[str, float]], arguments: argparse.Namespace) -> None:
    """Print the medians."""
    seconds = statistics.median(figure["seconds"] for figure in figures)
    cpu = statistics.median(figure["cpu"] for figure in figures)
    rate = arguments.responses / seconds
    ideal = f", {rate * arguments.latency / arguments.concurrency:.0%} of the ideal" if arguments.latency else ""
    rates = ", ".join(f"{arguments.responses / figure['seconds']:.0f}" for figure in figures)
    print(f"{name}: {rate:.0f} responses/s{ideal}, {1000 * cpu / arguments.responses:.2f} ms CPU each ({rates})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before every answer")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        command = [sys.executable, str(LOOPBACK), "--latency", str(arguments.latency)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as loopback:
            assert loopback.stdout is not None
            try:
                figures = measure(arguments.responses, loopback.stdout.readline().strip(), arguments.concurrency)
            finally:
                loopback.terminate()
        print(json.dumps(figures))
        return
    here = str(Path(__file__).resolve().parent.parent)
    roots = [here] if arguments.against is None else [str(arguments.against.resolve()), here]
    measured: dict[str, list[dict[str, float]]] = {root: [] for root in roots}
    for _ in range(arguments.rounds):
        for root in roots:
            measured[root].append(once(arguments, root))
    for root, values in measured.items():
        report("here" if root == here else root, values, arguments)


if __name__ == "__main__":
    main()
