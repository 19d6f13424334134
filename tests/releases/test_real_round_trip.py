"""The public HealthBench sample: in, out, in again, out again, and nothing has changed on the way."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from rubrics.models import Benchmark

pytestmark = pytest.mark.django_db
SAMPLE = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "healthbench_sample.jsonl"


@pytest.fixture(autouse=True)
def _media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_the_sample_comes_out_as_it_went_in(tmp_path: Path) -> None:
    command("import_cases", str(SAMPLE), "--benchmark", "hb")
    Benchmark.objects.update(licence="MIT")
    first = tmp_path / "first"
    command("release", "--benchmark", "hb", "--out", str(first))
    released = (first / "cases" / "healthbench.jsonl").read_bytes()
    assert [json.loads(line) for line in released.split(b"\n") if line] == [
        json.loads(line) for line in SAMPLE.read_bytes().split(b"\n") if line
    ]
    assert released == SAMPLE.read_bytes()
    assert "Everything holds." in command("verify_release", str(first))

    command("import_cases", str(first / "cases" / "healthbench.jsonl"), "--benchmark", "again")
    Benchmark.objects.update(licence="MIT")
    second = tmp_path / "second"
    command("release", "--benchmark", "again", "--out", str(second))
    for name in ("cases/healthbench.jsonl", "cases/clinconsensus.jsonl", "rubrics.csv", "slices.csv"):
        assert (second / name).read_bytes() == (first / name).read_bytes()
