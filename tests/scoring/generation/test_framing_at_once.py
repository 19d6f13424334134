"""One text becomes one version of the framing, however many save it at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rubrics.models import Benchmark, Framing
from tests.factories import BenchmarkFactory, UserFactory
from tests.posting import at_once
from tests.processes import web_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(scope="module")
def port(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with web_server(process_environment, tmp_path_factory.mktemp("framings")) as number:
        yield number


def test_50_at_once_make_one_version(port: int, settings: Any) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"  # where the web server looks for them
    benchmark: Benchmark = BenchmarkFactory(slug="bench", researcher=UserFactory())
    path = "/b/bench/case-acuity/framings/"
    answers = at_once(port, benchmark.roles.get().user, path, {"text": "Please. {{case}}", "save": "1"})
    assert {*answers} == {(302, path)}
    assert list(Framing.objects.values_list("version", "text")) == [(1, "Please. {{case}}")]
