"""A preview becomes one import, however many press *Import* at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from rubrics.models import Benchmark, ImportJob
from tests.posting import at_once
from tests.processes import web_server
from tests.scoring.acuity.acuity_files import jsonl, preview, result

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(scope="module")
def port(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with web_server(process_environment, tmp_path_factory.mktemp("uploads")) as number:
        yield number


def test_50_at_once_make_one_import(port: int, benchmark: Benchmark, client: Client, settings: Any) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"  # where the web server looks for them
    user = benchmark.roles.get().user
    client.force_login(user)
    job, _page = preview(client, jsonl(result(1, "em", "em")))
    answers = at_once(port, user, f"/b/bench/case-acuity/imports/{job.public_id}/confirm/", {})
    second = ImportJob.objects.exclude(pk=job.pk).get()
    assert {*answers} == {(302, f"/b/bench/imports/{second.public_id}/")}
