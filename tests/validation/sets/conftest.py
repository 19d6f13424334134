"""A benchmark with three cases, and files of rubric sets for it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory, CaseFactory
from validation.models import RubricSet
from validation.sets.services import import_rubric_set

Import = Callable[..., RubricSet]


@pytest.fixture
def benchmark() -> Benchmark:
    """Cases a, b and c with 2, 3 and 4 criteria; c is Chinese and has a tag of its own."""
    benchmark = BenchmarkFactory(slug="bench")
    CaseFactory(benchmark=benchmark, key="a", rubric=[5, -3])
    CaseFactory(benchmark=benchmark, key="b", rubric=[1, 2, 3])
    CaseFactory(benchmark=benchmark, key="c", rubric=[4, 4, 4, 4], language="zh", tags=["theme:urgency"])
    return benchmark


def lines_of(*rows: dict[str, Any]) -> bytes:
    """Rows as JSONL."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.fixture
def import_set(benchmark: Benchmark) -> Import:
    """Import a file from its bytes; gives the set."""
    from django.utils import timezone

    def make(content: bytes, name: str = "imported", **options: str) -> RubricSet:
        import_rubric_set(
            benchmark=benchmark,
            file=io.BytesIO(content),
            options={"name": name, "file_name": "criteria.jsonl", **options},
            by=None,
            at=timezone.now(),
            progress=lambda _bytes: None,
        )
        return RubricSet.objects.get(benchmark=benchmark, name=name)

    return make
