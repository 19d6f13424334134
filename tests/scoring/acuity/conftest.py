"""A benchmark whose researcher is signed in, and jobs that no worker of another test takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from rubrics.models import Benchmark
from rubrics.tasks import run_import
from tests.factories import BenchmarkFactory, UserFactory


@pytest.fixture(autouse=True)
def _no_files_left(settings: Any) -> Iterator[None]:
    folder = Path(settings.MEDIA_ROOT) / "imports"
    before = set(folder.glob("*"))
    yield
    for file in set(folder.glob("*")) - before:
        file.unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**run_import._get_exec_options(), "queue": "no-worker"}
    monkeypatch.setattr(run_import, "_exec_options", options)


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    return BenchmarkFactory(slug="bench", researcher=UserFactory(email="researcher@example.org"))


@pytest.fixture
def staff(benchmark: Benchmark, client: Client) -> Client:
    client.force_login(benchmark.roles.get().user)
    return client
