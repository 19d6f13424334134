"""A benchmark of its own for each test of reports of acuity, and its admin signed in."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from rubrics.models import AcuityScale, Benchmark
from tests.agreement.acuity.stored import LEVELS, N_CASES, import_files, sign, write_lines
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, UserFactory


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory()


@pytest.fixture
def client(benchmark: Benchmark) -> Client:
    admin = UserFactory()
    BenchmarkRoleFactory(benchmark=benchmark, user=admin, role="admin")
    client = Client()
    client.force_login(admin)
    return client


@pytest.fixture
def scale(tmp_path: Path, benchmark: Benchmark) -> AcuityScale:
    """Twelve cases, three of each level; M's imported readings are all right, O was asked elsewhere too."""
    lines = [f"c{i:02},M,qa,0,{LEVELS[i % 4]},{LEVELS[i % 4]}" for i in range(N_CASES)]
    scale = import_files(benchmark, write_lines(tmp_path, "m.csv", lines), dataset="one")
    # A dataset that shares no case with it.
    other = [f"d{i:02},O,qa,0,{LEVELS[0]},{LEVELS[0]}" for i in range(2)]
    import_files(benchmark, write_lines(tmp_path, "o.csv", other), dataset="two")
    sign(scale)
    return scale
