"""Time of runs of coverage and of the report on them, both through the database.

    .venv/bin/python bench/rubric_coverage.py [--cases 254] [--sets 3] [--points 10] [--repeats 5]
    .venv/bin/python bench/rubric_coverage.py --run [--cases 40] [--latency 0.2] [--concurrency 64] [--repeats 3]

Without ``--run``: made-up answers are written as the steps of a finished run, with physicians' decisions on a fifth of
them. Printed are medians: reading the run from the database; all tables with percentile intervals of 1,000 resamples;
and both together, with whether they take at most 2 s. Beside them stands the lower bound that a bare query sets: the
same columns of the same steps, fetched and thrown away.

With ``--run``: a run against `bench/loopback_judge.py`, which answers after the latency, so that no client can be
faster than concurrency ÷ latency. Printed is the rate of answers, as a share of that.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scratch import scratch_product

LOOPBACK = Path(__file__).resolve().parent / "loopback_judge.py"
LIMIT, SHARE = 2.0, 0.8
AXES = ("accuracy", "completeness", "context", "communication", "instructions")
EXTENTS = ("full", "partly", "none", "invalid")


def make_run(cases: int, sets: int, points: int, **settings: Any) -> Any:
    """A run with its steps, none of them asked yet."""
    from django.utils import timezone

    from rubrics.models import Benchmark, Case
    from scoring.pipelines.runs import create_run, make_steps
    from validation.coverage.config import coverage_config
    from validation.coverage.kind import KIND
    from validation.models import CoverageRun

    rng = np.random.default_rng(0)
    benchmark, _created = Benchmark.objects.get_or_create(slug="bench", defaults={"title": "Bench"})
    Case.objects.bulk_create(
        [
            Case(
                benchmark=benchmark,
                key=f"case-{number:05}",
                tags=[f"theme:{number % 7}"],
                conversation=[{"role": "user", "content": f"Made up for a measurement, {number}. " * 10}],
            )
            for number in range(cases)
        ],
        ignore_conflicts=True,
    )
    rows = list(Case.objects.filter(benchmark=benchmark).order_by("pk").values_list("pk", "key")[:cases])

    def criteria(name: str, count: int) -> list[Any]:
        return [[f"{name} {n} asks for something made up", int(rng.integers(1, 11)), AXES[n % 5]] for n in range(count)]

    named = [{"name": f"set {number + 1}", "id": "", "digest": ""} for number in range(sets)]
    counts = rng.integers(points // 2, points + 1, size=len(rows))
    values = {
        "endpoint": "http://127.0.0.1:1/v1",
        "model": "ok",
        **settings,
        "gold": {"name": "gold", "id": "", "digest": ""},
        "sets": named,
        "cases": [
            {
                "key": key,
                "gold": criteria(f"{key} gold", int(n)),
                "sets": [criteria(f"{key} set {number}", int(n)) for number in range(sets)],
            }
            for (_pk, key), n in zip(rows, counts, strict=True)
        ],
    }
    config = coverage_config(values)
    terms = {"gold": "gold", "sets": [own["name"] for own in named], "model": config.model}
    run = create_run(
        kind=KIND,
        benchmark=benchmark,
        config=config.model_dump(mode="json"),
        terms=terms,
        by=None,
        at=timezone.now(),
    )
    ids = [pk for pk, _key in rows]
    only = {pk: set(config.content.steps(place)) for place, pk in enumerate(ids)}
    make_steps(run, KIND, config, ids, only=only)
    return CoverageRun.objects.get(pk=run.pk)


def answer_all(run: Any) -> None:
    """Made-up answers to all steps, and decisions of a physician."""
    from django.utils import timezone

    from accounts.models import User
    from scoring.models import PipelineStep
    from validation.coverage.services import ask_physicians
    from validation.models import CoverageDecision

    rng = np.random.default_rng(1)
    steps = list(run.steps.order_by("pk"))
    for step, extent in zip(steps, rng.choice(EXTENTS, size=len(steps), p=(0.5, 0.2, 0.28, 0.02)), strict=True):
        step.state = "done"
        step.output = {"extent": str(extent), "by": [1], "why": "Made up for a measurement, in one sentence."}
    PipelineStep.objects.bulk_update(steps, ["state", "output"], batch_size=2000)
    run.status = "finished"
    run.save(update_fields=["status"])
    ask_physicians(run=run, at=timezone.now())
    physician = User.objects.create(username="physician")
    CoverageDecision.objects.filter(run=run, stage="coverage").update(
        answer="full", decided_by=physician, decided_at=timezone.now()
    )


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, float, Any]:
    """The medians of the seconds and of the processor's in this process, and the last result."""
    seconds, cpu, result = [], [], None
    for _ in range(repeats):
        began, used = time.perf_counter(), time.process_time()
        result = work()
        seconds.append(time.perf_counter() - began)
        cpu.append(time.process_time() - used)
    return median(seconds), median(cpu), result


def measure_report(arguments: argparse.Namespace) -> None:
    """Reading and tables."""
    from consilium.statistics.intervals import interval_rule
    from validation.coverage.inputs import read_coverage
    from validation.coverage.tables import coverage_files

    run = make_run(arguments.cases, arguments.sets, arguments.points)
    answer_all(run)
    columns = ("pk", "case__key", "stage", "key", "output")
    bare, bare_cpu, rows = timed(lambda: list(run.steps.order_by().values_list(*columns)), arguments.repeats)
    reading, reading_cpu, inputs = timed(lambda: read_coverage(run), arguments.repeats)
    rule = interval_rule("percentile", seed=0)
    tables, tables_cpu, files = timed(lambda: coverage_files(inputs, rule=rule), arguments.repeats)
    print(f"{arguments.cases} cases, {arguments.sets} sets, {len(inputs.gold)} gold points, {len(rows)} answers")
    print(f"bare query {bare:.3f} s ({bare_cpu:.3f} CPU), reading {reading:.3f} s ({reading_cpu:.3f} CPU)")
    print(f"{len(files)} tables with 1,000 resamples {tables:.3f} s ({tables_cpu:.3f} CPU)")
    both = reading + tables
    print(f"together {both:.3f} s: {'within' if both <= LIMIT else 'BEYOND'} {LIMIT} s")


def measure_run(arguments: argparse.Namespace) -> None:
    """Answers a second."""

    def begin(url: str, number: int) -> Any:
        settings = {"endpoint": url, "model": f"ok-{number}", "concurrency": arguments.concurrency}
        return make_run(arguments.cases, arguments.sets, arguments.points, **settings)

    measure_rate(begin, arguments)


def measure_rate(begin: Callable[[str, int], Any], arguments: argparse.Namespace) -> None:
    """Work on runs that ``begin`` makes, from the endpoint's address and a number, and print their rates."""
    from django.utils import timezone

    from scoring.pipelines.working import work_on_run

    command = [sys.executable, str(LOOPBACK), "--latency", str(arguments.latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as loopback:
        assert loopback.stdout is not None
        url = loopback.stdout.readline().strip()
        shares = []
        try:
            for number in range(arguments.repeats):
                run = begin(url, number)
                began, cpu = time.perf_counter(), time.process_time()
                while work_on_run(run.pk, clock=timezone.now):
                    pass
                seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
                run.refresh_from_db()
                if run.status != "finished":
                    raise SystemExit(f"The run did not finish: {run.status}. {run.error}")
                rate = run.calls / seconds
                shares.append(rate * arguments.latency / arguments.concurrency)
                print(f"{run.calls} answers, {rate:.0f}/s, {1000 * cpu / run.calls:.2f} ms CPU each, {shares[-1]:.0%}")
        finally:
            loopback.terminate()
    own = median(shares)
    print(f"{own:.0%} of the ideal: {'at least' if own >= SHARE else 'BELOW'} {SHARE:.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=254)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--points", type=int, default=10, help="of a case at most; at least half of them")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--run", action="store_true", help="measure a run and not the report")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before every answer")
    parser.add_argument("--concurrency", type=int, default=64)
    arguments = parser.parse_args()
    os.environ["JUDGE_ALLOWED_HOSTS"] = "127.0.0.1"
    with scratch_product():
        (measure_run if arguments.run else measure_report)(arguments)


if __name__ == "__main__":
    main()
