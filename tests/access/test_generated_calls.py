"""Calls made from the API's own schema, as five roles: none is answered 5xx, late, or not as it declares.

`bench/hostile_calls.py` sends many more of them, in all phases of Schemathesis, to a running product.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.middleware.csrf import get_token
from django.test import Client, RequestFactory
from django.urls import reverse
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import just
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.access.endpoints import ENDPOINTS
from tests.access.world import World

pytestmark = pytest.mark.slow

ROLES = ["annotator", "checker", "author", "researcher", "admin"]
MAX_CPU_S = 5.0
# In `make test` each role makes one call of each kind to a fifth of the operations.
FULL = os.environ.get("CONSILIUM_CHAOS") == "full"
GENERATED = settings(
    max_examples=20 if FULL else 1,
    deadline=None,
    database=None,
    derandomize=not FULL,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def headers_of(world: World, role: str) -> dict[str, str]:
    """What a browser that is signed in sends with each request."""
    client = Client()
    client.force_login(world.users[role])
    request = RequestFactory().get("/")
    token = get_token(request)
    cookies = {name: morsel.value for name, morsel in client.cookies.items()} | {
        "csrftoken": request.META["CSRF_COOKIE"]
    }
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()), "X-CSRFToken": token}


def arguments_by_path(world: World, paths: list[str]) -> dict[str, dict[str, Any]]:
    """For each path of the schema the arguments that lead to an object of the world."""
    patterns = {path: re.compile(re.sub(r"{\w+}", "[^/]+", path)) for path in paths}
    arguments_of = {}
    for name, endpoint in ENDPOINTS.items():
        if name.startswith("api:") and not endpoint.framework:
            arguments = endpoint.arguments(world) if endpoint.arguments else {}
            address = reverse(name, kwargs=arguments)
            matching = [path for path, pattern in patterns.items() if pattern.fullmatch(address)]
            if matching:
                arguments_of[min(matching, key=lambda path: path.count("{"))] = arguments
    return arguments_of


@pytest.fixture
def _connection_kept() -> Iterator[None]:
    """A request through WSGI closes old connections at its ends; that of the test stays, as in Django's client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.usefixtures("_connection_kept")
def test_generated_calls_get_declared_answers(role: str, world: World) -> None:
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/?format=json", get_wsgi_application())
    operations = [result.ok() for result in schema.get_all_operations()]
    arguments_of = arguments_by_path(world, [operation.path for operation in operations])
    headers = headers_of(world, role)
    wrong: list[str] = []
    n_calls = 0

    def send(case: Any, arguments: dict[str, Any]) -> None:
        nonlocal n_calls
        n_calls += 1
        case.path_parameters = {name: str(value) for name, value in arguments.items()}
        began = time.process_time()
        with transaction.atomic():
            answer = case.call(headers=headers)
            transaction.set_rollback(True)
        seconds = time.process_time() - began
        if seconds > MAX_CPU_S:
            wrong.append(f"{case.operation.label}: {seconds:.1f} s")
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as failures:
            wrong.extend(f"{case.operation.label}: {failure}" for failure in failures.exceptions)

    for operation in operations if FULL else operations[ROLES.index(role) :: len(ROLES)]:
        arguments = arguments_of[operation.path]
        # The address is that of the world, so without a query and a body there is nothing to get wrong.
        varied = len(operation.query) or len(operation.body)
        for mode in GenerationMode if varied else [GenerationMode.POSITIVE]:
            GENERATED(given(operation.as_strategy(generation_mode=mode), just(arguments))(send))()
    assert n_calls > len(operations) // len(ROLES)
    assert not wrong, "\n".join(wrong)
