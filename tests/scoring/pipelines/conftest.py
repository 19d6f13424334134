"""A benchmark for runs of steps."""

from __future__ import annotations

import pytest

from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory, CaseFactory


@pytest.fixture
def cases(db: None) -> Benchmark:
    """Four cases without rubrics."""
    benchmark = BenchmarkFactory(slug="stepwise")
    for number in range(4):
        CaseFactory(
            benchmark=benchmark, key=f"case-{number}", rubric=0,
            conversation=[{"role": "user", "content": f"My throat has been sore for {number + 6} days."}],
        )  # fmt: skip
    return benchmark
