"""The API answers what its schema declares: the status codes of every operation, and what a body holds."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from rubrics.models import Case
from tests.access.endpoints import ENDPOINTS
from tests.access.world import ROLES, World

pytestmark = pytest.mark.slow

METHODS = ("get", "post", "put", "patch", "delete")
BODIES = ("{}", '{"unknown": 1}', "[1]", "{", '""')


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    with warnings.catch_warnings(), GENERATOR_STATS.silence():
        generated: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return generated


def with_null(schema: Any) -> Any:
    """OpenAPI 3.0's ``nullable`` in the words of JSON Schema."""
    if isinstance(schema, list):
        return [with_null(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    given = {name: with_null(part) for name, part in schema.items() if name != "nullable"}
    return {"anyOf": [given, {"type": "null"}]} if schema.get("nullable") is True else given


def operations(schema: dict[str, Any], world: World) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """(name of the endpoint, its address, method, operation)."""
    paths = {re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))): own for path, own in schema["paths"].items()}
    for name, endpoint in ENDPOINTS.items():
        if not name.startswith("api:") or endpoint.framework:
            continue
        url = reverse(name, kwargs=endpoint.arguments(world) if endpoint.arguments else None)
        matches = sorted((path for path in paths if path.fullmatch(url)), key=lambda path: path.pattern.count("[^/]+"))
        assert matches, f"{name} is not in the schema"
        for method in METHODS:
            if operation := paths[matches[0]].get(method):
                yield name, url, method, operation


def problems(answer: HttpResponse, operation: dict[str, Any], components: dict[str, Any]) -> Iterator[str]:
    """What of an answer the schema does not declare."""
    code = str(answer.status_code)
    declared = operation["responses"].get(code)
    if declared is None:
        yield f"{code} is not declared"
        return
    body = declared.get("content", {}).get("application/json", {}).get("schema")
    if body is None or answer.streaming or not answer.headers.get("Content-Type", "").startswith("application/json"):
        return
    checker = jsonschema.Draft4Validator({**with_null(body), "components": components})
    for error in list(checker.iter_errors(answer.json()))[:3]:  # type: ignore[attr-defined]
        yield f"{code}: {'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"


def good_bodies(world: World) -> dict[str, list[tuple[str, str, Any]]]:
    """Bodies that are accepted, or break a rule: by endpoint, (method, role, body)."""
    response = {"case": world.case.key, "candidate": "Another", "response": "As ChatGPT, I advise rest."}
    return {
        "api:api-responses": [
            ("post", "researcher", {"responses": [response]}),
            ("post", "researcher", {"responses": [{**response, "case": "nowhere"}]}),
        ],
    }


def test_accepted_requests_answer_what_the_schema_declares(world: World, schema: dict[str, Any]) -> None:
    components = with_null(schema["components"])
    bodies = good_bodies(world)
    with connection.cursor() as cursor:  # so that the end of this test takes back what an import sets
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    wrong: list[str] = []
    codes: set[int] = set()
    for name, url, method, operation in operations(schema, world):
        for _method, role, body in [each for each in bodies.get(name, []) if each[0] == method]:
            client = Client(raise_request_exception=False)
            client.force_login(world.users[role])
            with transaction.atomic():
                answer = getattr(client, method)(url, body, content_type="application/json")
                transaction.set_rollback(True)
            codes.add(answer.status_code)
            wrong += [f"{method} {name} {body}: {each}" for each in problems(answer, operation, components)]
    assert {201, 422} <= codes
    assert wrong == [], "\n".join(wrong)


def test_head_is_answered_as_get_without_a_body(world: World, schema: dict[str, Any]) -> None:
    client = Client()
    wrong: list[str] = []
    tried = 0
    for name, url, method, _operation in operations(schema, world):
        roles = [role for role in ("admin", "researcher", *sorted(ROLES)) if role in ENDPOINTS[name].roles]
        if method != "get" or not roles:
            continue
        client.force_login(world.users[roles[0]])
        get, head = client.get(url), client.head(url)
        body = b"".join(head) if head.streaming else head.content
        tried += 1
        if (head.status_code, head.get("Content-Type"), body) != (get.status_code, get.get("Content-Type"), b""):
            wrong.append(f"{name}: {head.status_code} {body[:50]!r} in place of {get.status_code}")
        for answer in (get, head):
            for close in answer._resource_closers:
                close()
    assert tried > 100
    assert wrong == [], "\n".join(wrong)


def test_an_operation_accepts_the_types_of_its_files_and_no_others(world: World, schema: dict[str, Any]) -> None:
    client = Client()
    wrong: list[str] = []
    tried: dict[str, set[str]] = {}
    for name, url, method, operation in operations(schema, world):
        types = {
            own for code, each in operation["responses"].items() if code[0] == "2" for own in each.get("content", ())
        }
        if types <= {"application/json"}:
            continue
        [role] = [role for role in ("admin", "researcher") if role in ENDPOINTS[name].roles][:1]
        client.force_login(world.users[role])
        tried[name] = types
        answers = {}
        for accepted in (
            None,
            "*/*",
            "application/json",
            "text/*, image/*, application/*",
            "audio/ogg",
            *sorted(types),
        ):
            with transaction.atomic():
                headers = {"Accept": accepted} if accepted else {}
                body = {"data": "{}", "content_type": "application/json"} if method == "post" else {}
                answer = getattr(client, method)(url, headers=headers, **body)
                transaction.set_rollback(True)
            answers[accepted] = (answer.status_code, answer.headers["Content-Type"])
            for close in answer._resource_closers:
                close()
        refused = answers.pop("audio/ogg")
        if refused != (406, "application/json") or len(set(answers.values())) != 1:
            wrong.append(f"{method} {name}: {refused} {answers}")
        elif any(each.get("required") for each in operation.get("parameters", []) if each["in"] == "query"):
            assert answers[None][0] == 400, name  # what is missing is said whatever is accepted
        elif method == "get" and (answers[None][0] != 200 or answers[None][1].partition(";")[0] not in types):
            wrong.append(f"{method} {name}: {answers[None]} is not declared")
    assert {"text/csv", "application/zip", "image/png", "image/svg+xml"} <= set().union(*tried.values())
    assert len(tried) >= 8
    assert wrong == [], "\n".join(wrong)


def named_cases(part: Any) -> Iterator[tuple[str, str]]:
    """(name of the field, value) of all fields in an answer that name a case."""
    if isinstance(part, dict):
        yield from ((name, part[name]) for name in ("case", "case_id") if isinstance(part.get(name), str))
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from named_cases(each)


def test_answers_name_a_case_by_its_key_and_its_id_beside_it(world: World, schema: dict[str, Any]) -> None:
    known = {"case": set(Case.with_stubs.values_list("key", flat=True))}
    known["case_id"] = set(Case.with_stubs.values_list("public_id", flat=True))
    assert not known["case"] & known["case_id"]
    client = Client()
    wrong: list[str] = []
    fields: list[str] = []
    for name, url, method, _operation in operations(schema, world):
        roles = [role for role in ("admin", "researcher", *sorted(ROLES)) if role in ENDPOINTS[name].roles]
        if method != "get" or not roles or name == "api:api-judgements":  # a file of ClinConsensus
            continue
        client.force_login(world.users[roles[0]])
        answer = client.get(url)
        for close in answer._resource_closers:
            close()
        if answer.streaming or not answer.headers.get("Content-Type", "").startswith("application/json"):
            continue
        for field, value in named_cases(answer.json()):
            fields.append(field)
            if value not in known[field]:
                wrong.append(f"{name} {field}: {value}")
    assert wrong == [], "\n".join(wrong)
    assert fields.count("case") > 5
    assert fields.count("case_id") > 5


def test_every_operation_answers_what_the_schema_declares(world: World, schema: dict[str, Any]) -> None:
    components = with_null(schema["components"])
    clients = {role: Client(raise_request_exception=False) for role in ROLES}
    for role, client in clients.items():
        if (user := world.users.get(role)) is not None:
            client.force_login(user)
    wrong: list[str] = []
    tried = 0
    for name, url, method, operation in operations(schema, world):
        roles = [role for role in ("admin", "researcher", *sorted(ROLES)) if role in ENDPOINTS[name].roles]
        for role in {*roles[:1], "anonymous"}:
            for body in BODIES if method != "get" else ("",):
                with transaction.atomic():
                    call = getattr(clients[role], method)
                    answer = call(url, data=body, content_type="application/json") if body else call(url)
                    transaction.set_rollback(True)
                tried += 1
                wrong += [f"{method} {name} {role} {body}: {each}" for each in problems(answer, operation, components)]
                for close in answer._resource_closers:  # `close` itself would end the test's connection as well
                    close()
    assert tried > 500
    assert wrong == [], "\n".join(wrong)


# Query parameters that are texts and are not compared with a list, and why.
FREE_TEXTS = {
    "q": "words to look for",
    "person": "a part of a name or of an address",
    "benchmark": "404 as for a benchmark that is not yours",
    "report": "404 as for a report that is not there",
    "rater": "422 as where a report is ordered",
}


def refused_queries(operation: dict[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """(query, the parameter that a refusal has to name, values that it has to list), by what the operation declares."""
    parameters = {each["name"]: each for each in operation.get("parameters", []) if each["in"] == "query"}
    required = "".join(f"{name}=1&" for name, each in parameters.items() if each.get("required"))
    yield f"{required}nonsense=1", "nonsense", []
    for name, each in parameters.items():
        others = "".join(f"{other}=1&" for other, own in parameters.items() if own.get("required") and other != name)
        if each.get("required"):
            yield others, name, []
        values = ["true", "false"] if each["schema"]["type"] == "boolean" else each["schema"].get("enum", [])
        wrong = ["zzz"] if name not in FREE_TEXTS else []
        if name == "limit":
            wrong += ["0", "-1", "5001", "9" * 30]
        elif name == "offset":
            wrong += ["-1", "9" * 30]
        for value in wrong:
            yield f"{others}{name}={value}", name, [str(each) for each in values]


def test_a_list_refuses_parameters_that_it_does_not_declare(world: World, schema: dict[str, Any]) -> None:
    taken: list[str] = []
    tried = 0
    client = Client()
    components = with_null(schema["components"])
    for name, url, method, operation in operations(schema, world):
        roles = [role for role in ("admin", "researcher", *sorted(ROLES)) if role in ENDPOINTS[name].roles]
        if method != "get" or not roles:
            continue
        [role, *_others] = roles
        client.force_login(world.users[role])
        for query, parameter, values in refused_queries(operation):
            answer = client.get(f"{url}?{query}")
            tried += 1
            if answer.status_code != 400 or parameter not in answer.json():
                taken.append(f"{name}?{query}: {answer.status_code}")
            elif not all(value in str(answer.json()[parameter]) for value in values):
                taken.append(f"{name}?{query}: {answer.json()} does not list {values}")
            taken += [f"{name}?{query}: {each}" for each in problems(answer, operation, components)]
        if "benchmark" in {each["name"] for each in operation.get("parameters", [])}:
            answer = client.get(f"{url}?benchmark=zzz")
            taken += [f"{name}?benchmark=zzz: {each}" for each in problems(answer, operation, components)]
    assert tried > 300
    assert taken == [], "\n".join(taken)
