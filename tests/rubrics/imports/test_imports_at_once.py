"""Responses and files that come at the same moment, with the same new candidate: none fails because of another."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from consilium.core.locks import RowLock, lock_exclusive
from rubrics import services
from rubrics.models import Benchmark, Candidate, ImportJob, Response
from rubrics.services import import_jobs
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory, token_of

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
AT_ONCE = 6
ADDRESS = "/api/v1/benchmarks/bench/responses/"


@pytest.fixture
def benchmark() -> Benchmark:
    benchmark: Benchmark = BenchmarkFactory(slug="bench", researcher=UserFactory())
    for number in range(AT_ONCE):
        CaseFactory(benchmark=benchmark, key=f"case-{number}")
    return benchmark


@pytest.fixture
def token(benchmark: Benchmark) -> str:
    return token_of(benchmark.roles.get().user)


def row(number: int, text: str = "Rest and drink.") -> dict[str, Any]:
    return {"case": f"case-{number}", "candidate": "new", "response": text}


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """What ``work`` gives for each number, each in a thread with a connection of its own."""
    barrier = Barrier(AT_ONCE)

    def in_thread(number: int) -> Any:
        try:
            connection.ensure_connection()
            barrier.wait(30)
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(in_thread, range(AT_ONCE)))


def send(token: str, *rows: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    client = Client(raise_request_exception=False, headers={"Authorization": f"Token {token}"})
    answer = client.post(ADDRESS, json.dumps({"responses": rows}), content_type="application/json")
    return answer.status_code, answer.json()


def test_different_responses_of_a_new_candidate(token: str) -> None:
    answers = at_once(lambda number: send(token, row(number)))
    assert [status for status, _body in answers] == [201] * AT_ONCE
    assert sorted(body["counts"]["candidates"]["created"] for _status, body in answers) == [0] * (AT_ONCE - 1) + [1]
    assert Response.objects.filter(candidate__name="new").count() == AT_ONCE


def test_the_same_response(token: str) -> None:
    answers = at_once(lambda _number: send(token, row(0)))
    assert [status for status, _body in answers] == [201] * AT_ONCE
    assert sorted(body["counts"]["responses"]["created"] for _status, body in answers) == [0] * (AT_ONCE - 1) + [1]


def test_different_texts_of_the_same_response(token: str) -> None:
    answers = at_once(lambda number: send(token, row(0, f"Text {number}.")))
    assert sorted(status for status, _body in answers) == [201] + [422] * (AT_ONCE - 1)
    faults = [body["errors"][0] for status, body in answers if status == 422]
    assert {(fault["line"], fault["field"]) for fault in faults} == {(1, "response")}


def test_files(benchmark: Benchmark) -> None:
    jobs = [
        services.create_import(
            benchmark=benchmark,
            kind="responses",
            file=ContentFile(json.dumps(row(number)).encode()),
            file_name=f"{number}.jsonl",
            options={},
            by=benchmark.roles.get().user,
        )
        for number in range(AT_ONCE)
    ]
    at_once(lambda number: import_jobs.run(job_id=jobs[number].pk, clock=timezone.now))
    assert set(ImportJob.objects.values_list("status", flat=True)) == {"done"}
    assert Candidate.objects.filter(name="new").count() == 1
    assert Response.objects.filter(candidate__name="new").count() == AT_ONCE
    for job in jobs:
        job.file.delete()


def test_a_request_does_not_wait_for_a_long_import(
    benchmark: Benchmark, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[services.add_responses.__module__], "MAX_WAIT_S", 0.05)
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        lock_exclusive(RowLock.IMPORT, benchmark.pk)
        status, body = pool.submit(lambda: at_end(lambda: send(token, row(0)))).result(30)
    assert status == 409
    assert body["detail"] == "Another import into this benchmark is running. Try again when it has finished."
    assert send(token, row(0))[0] == 201


def at_end(work: Callable[[], Any]) -> Any:
    """What ``work`` gives; the connection of its thread is closed."""
    try:
        return work()
    finally:
        connection.close()
