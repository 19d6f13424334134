"""Rate of runs on near-miss pairs and of runs of refinement, through the database.

    .venv/bin/python bench/validity_runs.py pairs [--cases 254] [--latency 0.2] [--concurrency 64] [--repeats 3]
    .venv/bin/python bench/validity_runs.py refinement …

A run is worked on in this process against `bench/loopback_judge.py`, which answers after the latency, so that no client
can be faster than concurrency ÷ latency. Printed is the rate of answers, as a share of that; the best possible share is
below 100%, since the last requests of a run have fewer beside them. *pairs*: one pair a case, three trials in each
order, by a set of ten criteria and without a rubric. *refinement*: two arms, a plan and an edit for each, whose texts
are stored as responses. `rubric_coverage.py --run` is the same for coverage.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from io import BytesIO
from typing import Any

from rubric_coverage import measure_rate
from scratch import scratch_product

CRITERIA = 10
TEXT = "Take 5 mg of it once a day with food, and see a doctor if it lasts for more than {number} days."


def make_benchmark(cases: int) -> Any:
    """A benchmark with cases, a response and a published rubric to each, and the rubric sets *First* and *Second*."""
    from django.utils import timezone

    from rubrics.models import Benchmark, Candidate, Case, Criterion, Response, Rubric, RubricItem
    from validation.sets.services import import_rubric_set

    benchmark = Benchmark.objects.create(slug="bench", title="Bench")
    candidate = Candidate.objects.create(benchmark=benchmark, name="Base")
    rows = Case.objects.bulk_create(
        Case(
            benchmark=benchmark,
            key=f"case-{number:05}",
            conversation=[{"role": "user", "content": f"Made up for a measurement, {number}. " * 10}],
        )
        for number in range(cases)
    )
    Response.objects.bulk_create(
        Response(case=case, candidate=candidate, text=TEXT.format(number=number)) for number, case in enumerate(rows)
    )
    for case in rows:
        rubric = Rubric.objects.create(case=case, track="gold", provenance="made up")
        criterion = Criterion.objects.create(case=case, text="Names a dose")
        RubricItem.objects.create(rubric=rubric, criterion=criterion, position=1, points=5)
        rubric.status, rubric.published_at = Rubric.Status.PUBLISHED, timezone.now()
        rubric.save(update_fields=["status", "published_at"])
    for name in ("First", "Second"):
        criteria = [
            {"criterion": f"{name} {number} asks for something made up", "points": 1 + number % 10, "axis": "accuracy"}
            for number in range(CRITERIA)
        ]
        lines = [json.dumps({"case": case.key, "rubrics": criteria}) for case in rows]
        import_rubric_set(
            benchmark=benchmark,
            file=BytesIO("\n".join([*lines, ""]).encode()),
            options={"name": name, "file_name": "made_up.jsonl", "mend": "1"},
            by=None,
            at=timezone.now(),
            progress=lambda done: None,
        )
    return benchmark


def pairs(benchmark: Any, arguments: argparse.Namespace) -> Callable[[str, int], Any]:
    """Makes runs of trials on a pair of each case."""
    from django.utils import timezone

    from rubrics.models import Case
    from validation.models import PairGroup, RubricSet
    from validation.pairs.importing import import_pairs
    from validation.trials.services import create_run

    lines = []
    for number, key in enumerate(Case.objects.filter(benchmark=benchmark).order_by("pk").values_list("key", flat=True)):
        text = TEXT.format(number=number)
        pair = {"case": key, "pair": key, "kind": "dose", "reference": text, "candidate": text.replace("5 mg", "50 mg")}
        lines.append(json.dumps({**pair, "why": "Made up."}))
    import_pairs(
        benchmark=benchmark,
        file=BytesIO("\n".join([*lines, ""]).encode()),
        options={"group": "Doses", "judgements": "1"},
        by=None,
        at=timezone.now(),
        progress=lambda done: None,
    )

    def begin(url: str, number: int) -> Any:
        return create_run(
            benchmark=benchmark,
            groups=list(PairGroup.objects.all()),
            which="all",
            sets=list(RubricSet.objects.filter(name="First")),
            config={**settings(url, number, arguments), "no_rubric": True},
            by=None,
            at=timezone.now(),
        )

    return begin


def refinement(benchmark: Any, arguments: argparse.Namespace) -> Callable[[str, int], Any]:
    """Makes runs that refine the response to each case by both sets."""
    from django.utils import timezone

    from validation.models import RubricSet
    from validation.refinement.building import Order
    from validation.refinement.services import create_run

    def begin(url: str, number: int) -> Any:
        order = Order(candidate="Base", sets=list(RubricSet.objects.order_by("name")))
        config = settings(url, number, arguments)
        return create_run(benchmark=benchmark, order=order, config=config, by=None, at=timezone.now())

    return begin


def settings(url: str, number: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """The endpoint, and a model of its own for each run, so that none is answered from what another stored."""
    return {"endpoint": url, "model": f"ok-{number}", "concurrency": arguments.concurrency}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("pairs", "refinement"))
    parser.add_argument("--cases", type=int, default=254)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before every answer")
    parser.add_argument("--concurrency", type=int, default=64)
    arguments = parser.parse_args()
    os.environ["JUDGE_ALLOWED_HOSTS"] = "127.0.0.1"
    with scratch_product():
        begin = {"pairs": pairs, "refinement": refinement}[arguments.kind]
        measure_rate(begin(make_benchmark(arguments.cases), arguments), arguments)


if __name__ == "__main__":
    main()
