"""Ten test requests at once to an endpoint that hangs: the site answers and saves as before."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from django.urls import reverse

from annotation import services
from annotation.models import Decision
from scoring.models import EndpointTrial
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import BenchmarkRoleFactory, UserFactory
from tests.posting import at_once
from tests.processes import Worker, web_server
from tests.scoring.conftest import Loopback
from tests.scoring.endpoint_trials.trials import generation_form
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

ENDPOINTS = {"JUDGE_ALLOWED_HOSTS": "127.0.0.1", "ENDPOINT_KEYS": "LOOPBACK_API_KEY@127.0.0.1"}
HANGS_S = 45.0
SOON_S = 8.0  # far less than the endpoint takes, and far more than the site


@pytest.fixture(scope="module")
def port(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with web_server({**process_environment, **ENDPOINTS}, tmp_path_factory.mktemp("uploads")) as number:
        yield number


@pytest.fixture
def workshop(transactional_db: None, settings: object) -> Workshop:
    settings.SESSION_ENGINE = "accounts.sessions"  # type: ignore[attr-defined]  # where the web server looks for them
    return build_workshop()


def health(port: int) -> int:
    connection = http.client.HTTPConnection("localhost", port, timeout=120)
    connection.request("GET", "/healthz")
    status = connection.getresponse().status
    connection.close()
    return status


def test_ten_requests_to_an_endpoint_that_hangs_hold_up_nobody(
    port: int, workshop: Workshop, loopback: Loopback, start_worker: Callable[..., Worker]
) -> None:
    loopback.start_afresh(HANGS_S)
    start_worker(concurrency=2, **ENDPOINTS)
    slug = workshop.benchmark.slug
    for _number in range(2):  # nobody has more than five at a time
        user = UserFactory()
        BenchmarkRoleFactory(benchmark=workshop.benchmark, user=user)
        began = time.monotonic()
        form = generation_form(loopback)
        answers = at_once(port, user, reverse("scoring:generation-trial", args=[slug]), form, times=5)
        assert time.monotonic() - began < SOON_S
        assert [status for status, _address in answers] == [302] * 5
    wait_until(lambda: loopback.requests() >= 2, within_s=20, message="the worker asks")
    row = workshop.queue()[0]
    for version, criterion in enumerate(services.criteria_of(row)):
        began = time.monotonic()
        decision = {"criterion": criterion, "outcome": "met", "version": 0, "client_id": str(uuid4())}
        path = f"/work/{row.public_id}/decisions/"
        [(status, text)] = at_once(port, workshop.annotator, path, {"decisions": [decision]}, as_json=True, times=1)
        assert status == 200, text
        assert health(port) == 200
        assert time.monotonic() - began < SOON_S
        assert Decision.objects.filter(assignment=row, outcome="met").count() == version + 1
    assert not EndpointTrial.objects.exclude(status__in=("pending", "running")).exists()
