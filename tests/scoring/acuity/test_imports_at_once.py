"""Two files of one candidate that are imported at once become two samples."""

from __future__ import annotations

import contextlib
import io
import threading
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from rubrics.models import Benchmark
from scoring.acuity import importing
from scoring.models import AcuityReading
from tests.scoring.acuity.acuity_files import jsonl, result

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def _import(benchmark: Benchmark, content: bytes, name: str) -> None:
    options = {"dataset": "d", "scheme": "em-ne-sc", "scale": "three", "candidate": "M", "file_name": name}
    importing.import_acuity(
        benchmark=benchmark,
        file=io.BytesIO(content),
        options=options,
        by=None,
        at=timezone.now(),
        progress=lambda _amount: None,
    )


def test_the_second_waits_for_the_first(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    _import(benchmark, jsonl(result(1, "em", "em")), "zero")
    write = importing._Import._write
    # The first to get this far waits for the other one, which cannot come while the first holds the benchmark.
    both = threading.Barrier(2)

    def slow(self: Any, *arguments: Any) -> Any:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=2)
        return write(self, *arguments)

    monkeypatch.setattr(importing._Import, "_write", slow)
    errors: list[Exception] = []

    def run(answer: str) -> None:
        try:
            _import(benchmark, jsonl(result(1, "em", answer)), answer)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(answer,)) for answer in ("ne", "sc")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted(AcuityReading.objects.values_list("sample", flat=True)) == [0, 1, 2]
