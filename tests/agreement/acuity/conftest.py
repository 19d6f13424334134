"""A benchmark of its own for each test of reports of acuity, and its admin signed in."""

from __future__ import annotations

import pytest
from django.test import Client

from rubrics.models import Benchmark
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
