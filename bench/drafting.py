"""Rate of runs of drafting, through the database.

    .venv/bin/python bench/drafting.py [--cases 254] [--latency 0.2] [--concurrency 64] [--repeats 3]

A run by the full recipe is worked on in this process against `bench/loopback_judge.py`, which answers after the
latency, so that no client can be faster than concurrency ÷ latency. Printed is the rate of answers, as a share of that.
Each case asks nine or ten times, eight of them one after the other, and searches 300 passages; what it drafts is
stored.
"""

from __future__ import annotations

import argparse
import json
import os
from io import BytesIO
from typing import Any

from loopback_drafting import SENTENCE
from rubric_coverage import measure_rate
from scratch import scratch_product

DOCUMENTS, PASSAGES = 30, 10
FILLER = "This sentence was made up for a measurement and says nothing about number {number}. " * 5


def make_benchmark(cases: int) -> Any:
    """A benchmark with cases, and a collection of documents."""
    from django.utils import timezone

    from consilium.core.jobs import no_progress
    from documents.services import create_collection, import_documents
    from documents.services.terms import CollectionTerms
    from rubrics.models import Benchmark, Case

    at = timezone.now()
    benchmark = Benchmark.objects.create(slug="bench", title="Bench")
    Case.objects.bulk_create(
        Case(
            benchmark=benchmark,
            key=f"case-{number:05}",
            language="en",
            conversation=[{"role": "user", "content": f"Made up for a measurement, {number}. " * 10}],
        )
        for number in range(cases)
    )
    create_collection(benchmark=benchmark, terms=CollectionTerms(name="Bench"), by=None, at=at)
    free = {"licence": "CC0-1.0", "may_send": True, "may_quote": True, "may_redistribute": True}
    for number in range(DOCUMENTS):
        key = f"document-{number:02}"
        rows = [
            {"key": key, "headings": [f"Part {part}"], "text": f"{SENTENCE} {FILLER.format(number=part)}"}
            for part in range(PASSAGES)
        ]
        rows[0] |= {"title": f"Made up, {number}", "language": "en", "kind": "guideline", "tier": 1, **free}
        import_documents(
            benchmark=benchmark,
            file=BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()),
            options={"collection": "Bench", "format": "jsonl"},
            by=None,
            at=at,
            progress=no_progress,
        )
    return benchmark


def begin(benchmark: Any, url: str, number: int, concurrency: int) -> Any:
    """A run by the full recipe; each repeat has a model of its own, so that no answer is taken from an earlier one."""
    from django.utils import timezone

    from drafting.recipes.content import RecipeModel
    from drafting.recipes.services import save_version
    from drafting.recipes.shipped import SHIPPED
    from drafting.runs.services import create_run

    shipped = SHIPPED["full"]
    model = RecipeModel(endpoint=url, model=f"ok-{number}", concurrency=concurrency)
    content = shipped.content(dict.fromkeys(shipped.roles, model))
    recipe = save_version(
        benchmark=benchmark,
        name=f"full {number}",
        content=content.model_dump(mode="json"),
        by=None,
        at=timezone.now(),
    )
    return create_run(benchmark=benchmark, recipe=recipe, by=None, at=timezone.now())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=254)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before every answer")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    os.environ["JUDGE_ALLOWED_HOSTS"] = "127.0.0.1"
    with scratch_product():
        benchmark = make_benchmark(arguments.cases)
        measure_rate(lambda url, number: begin(benchmark, url, number, arguments.concurrency), arguments)


if __name__ == "__main__":
    main()
