"""The API's schema says what the endpoints do: pages, refusals, and the settings of each kind."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from pydantic import ValidationError

from agreement.api.parameter_schemas import fields_by_kind
from agreement.kinds import KINDS
from scoring.api.judge_schemas import schemas_by_kind
from scoring.judges.config import AcuityConfig, ChatConfig, JuryConfig, TrainedConfig
from tests.design.withdrawn_phrases import withdrawn_phrases
from tests.factories import UserFactory

pytestmark = pytest.mark.slow

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    with warnings.catch_warnings(), GENERATOR_STATS.silence():
        generated: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    validate_schema(generated)
    assert not GENERATOR_STATS._warn_cache
    assert not GENERATOR_STATS._error_cache
    return generated


def operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, own[method]) for path, own in schema["paths"].items() for method in METHODS if method in own]


def resolved(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    return part


def answer_of(schema: dict[str, Any], operation: dict[str, Any], code: str = "200") -> dict[str, Any]:
    content = operation["responses"].get(code, {}).get("content", {}).get("application/json", {})
    return resolved(schema, content.get("schema", {}))


def test_operations_are_grouped_by_area_each_with_a_line(schema: dict[str, Any]) -> None:
    areas = Counter(operation["tags"][0] for _path, _method, operation in operations(schema))
    assert all(len(operation["tags"]) == 1 for _path, _method, operation in operations(schema))
    assert {"cases", "responses", "work", "runs", "reports", "batches", "documents"} <= set(areas)
    assert 15 < len(areas) < 40 and max(areas.values()) < 50
    for path, method, operation in operations(schema):
        assert operation.get("summary"), f"{method} {path}"
        assert "\n" not in operation["summary"] and len(operation["summary"]) < 200, operation["summary"]


def test_no_two_operations_of_an_address_are_described_alike(schema: dict[str, Any]) -> None:
    described: dict[tuple[str, str], str] = {}
    for path, method, operation in operations(schema):
        for text in {operation["summary"], operation["description"]}:
            assert (path, text) not in described, f"{method} and {described[path, text]} {path}: {text}"
        described |= {(path, text): method for text in (operation["summary"], operation["description"])}
        assert method == "get" or not operation["summary"].startswith("List "), f"{method} {path}"
        assert not re.search(r"\b(GET|POST|PUT|PATCH|DELETE): ", operation["description"]), f"{method} {path}"
    runs = schema["paths"]["/api/v1/benchmarks/{slug}/runs/"]
    assert runs["get"]["summary"] == "List the runs on this benchmark, the newest first"
    assert runs["post"]["summary"] == "Begin a run of a judge"


def test_lists_in_pages_are_declared_as_such(schema: dict[str, Any]) -> None:
    paged = 0
    for path, method, operation in operations(schema):
        names = {each["name"] for each in operation.get("parameters", [])}
        if method == "get" and "limit" in names and names & {"offset", "cursor"}:
            properties = answer_of(schema, operation).get("properties", {})
            assert {"next", "previous", "results"} <= set(properties), path
            assert properties["results"]["type"] == "array", path
            paged += 1
    assert paged > 50


def test_a_list_without_pages_says_what_bounds_it(schema: dict[str, Any]) -> None:
    bare = [
        (path, " ".join(operation["description"].split()))
        for path, method, operation in operations(schema)
        if method == "get" and answer_of(schema, operation).get("type") == "array"
    ]
    assert len(bare) == 19
    assert [path for path, description in bare if "All at once: " not in description] == []


def test_texts_have_single_backquotes_and_lists_their_least_values(schema: dict[str, Any]) -> None:
    text = json.dumps(schema)
    assert "``" not in text and text.count("`") > 100
    least = {
        each["name"]: each["schema"]["minimum"]
        for _path, _method, operation in operations(schema)
        for each in operation.get("parameters", [])
        if each["name"] in ("limit", "offset")
    }
    assert least == {"limit": 1, "offset": 0}


def test_every_operation_says_how_it_refuses(schema: dict[str, Any]) -> None:
    for path, method, operation in operations(schema):
        codes = set(operation["responses"])
        assert {"400", "401", "403", "429", "503"} <= codes, path
        named = {each["name"] for each in operation.get("parameters", [])}
        is_of_operators = path.startswith(("/api/v1/accounts/", "/api/v1/server/"))
        assert ("404" in codes) == ("{" in path or "benchmark" in named or is_of_operators), path
        assert {"409", "422"} <= codes or method == "get", path
        assert {"413", "415"} <= codes or "requestBody" not in operation, path
        for code, answer in operation["responses"].items():
            assert code == "204" or answer.get("content"), f"{method} {path} declares no body of {code}"


def test_every_operation_says_which_scope_a_token_needs(schema: dict[str, Any]) -> None:
    scheme = schema["components"]["securitySchemes"]["tokenAuth"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, method, operation in operations(schema):
        assert operation["description"].endswith(f"Needs the scope `{operation['x-scope']}`."), f"{method} {path}"
        is_record = path.endswith(("/security-log/", "/changes/", "/applications/"))
        assert (operation["x-scope"] == "read") == (method == "get" and not is_record), f"{method} {path}"
        assert operation["x-scope"] == "admin" or not is_record, path
        assert {"tokenAuth": []} in operation["security"], f"{method} {path}"
    of_benchmark = "/api/v1/benchmarks/{slug}"
    for path, method, scope in (
        (f"{of_benchmark}/reports/", "post", "run"),
        (f"{of_benchmark}/groups/", "post", "admin"),
        (f"{of_benchmark}/", "patch", "admin"),
        (f"{of_benchmark}/cases/{{public_id}}/draft/", "put", "grade"),
        ("/api/v1/work/assignments/{public_id}/decisions/", "post", "grade"),
        (f"{of_benchmark}/decisions.csv", "get", "read"),
    ):
        assert schema["paths"][path][method]["x-scope"] == scope, path


def test_texts_name_no_modules_and_amounts_have_an_example(schema: dict[str, Any]) -> None:
    text = json.dumps(schema)
    apps = "accounts|agreement|annotation|consilium|documents|drafting|releases|rubrics|scoring|validation"
    assert re.findall(rf"`(?:{apps})\.[a-z_.]+`", text) == []
    amounts = [own for _name, own in fields_of(schema["components"]["schemas"]) if own.get("format") == "decimal"]
    assert len(amounts) > 10
    assert {own["example"] for own in amounts} == {"2.50"}


def descriptions(part: Any) -> Iterator[str]:
    """What the API's page says, without names in backquotes and the values of choices."""
    if isinstance(part, list):
        for each in part:
            yield from descriptions(each)
    elif isinstance(part, dict):
        for name, each in part.items():
            if name in ("description", "summary", "title") and isinstance(each, str):
                yield re.sub(r"^\* `.*$|``.*?``|`.*?`", "", each, flags=re.MULTILINE)
            else:
                yield from descriptions(each)


def test_the_page_of_the_api_has_no_withdrawn_phrase(schema: dict[str, Any]) -> None:
    texts = set(descriptions(schema))
    assert len(texts) > 800
    assert [(phrase, text) for text in texts for phrase, _advice in withdrawn_phrases(text)] == []


# Objects whose fields are not in the schema, by the name of the field: how many, and why.
OPEN_OBJECTS = {
    "facts": (25, "the single figures of each kind of report or release: docs/formats.md"),
    "extra": (16, "decoding parameters that an endpoint takes beyond the common ones"),
    "metadata": (3, "what a file says of a case or response beside the fields of the format"),
    "values": (2, "the facts of a line of the security log, which depend on its kind"),
    "card": (1, "the model card of a trained judge"),
    "result": (1, "what the last step of a drafting run wrote: docs/formats.md"),
}


def open_objects(part: Any, name: str = "") -> Iterator[str]:
    """The names of fields that are objects of unknown fields, or anything at all."""
    if isinstance(part, list):
        for each in part:
            yield from open_objects(each, name)
    elif isinstance(part, dict):
        is_object = part.get("type") == "object"
        if is_object and not part.get("properties") and part.get("additionalProperties", {}) in ({}, True):
            yield name
        for key, own in part.items():
            if key == "properties":
                for field, each in own.items():
                    if not each.keys() & {"type", "$ref", "oneOf", "anyOf", "allOf", "enum"}:
                        yield field
                    yield from open_objects(each, field)
            else:
                yield from open_objects(own, name)


def test_fields_of_objects_are_declared_but_for_a_few_with_a_reason(schema: dict[str, Any]) -> None:
    left = Counter(open_objects([schema["components"]["schemas"], schema["paths"]]))
    assert left == {name: number for name, (number, _why) in OPEN_OBJECTS.items()}


def fields_of(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of every object in a part of the schema."""
    if isinstance(part, list):
        for each in part:
            yield from fields_of(each)
    elif isinstance(part, dict):
        properties = part.get("properties")
        if isinstance(properties, dict):
            yield from properties.items()
        for each in part.values():
            yield from fields_of(each)


def test_a_state_has_one_word(schema: dict[str, Any]) -> None:
    words: set[str] = set()
    for name, field in fields_of(schema["components"]["schemas"]):
        if name in ("status", "batch_status", "state") and field.get("type") != "array":
            own, *_blank = field.get("allOf") or field.get("oneOf") or [field]
            enum = resolved(schema, own).get("enum")
            assert enum, f"{name}: {field}"
            words |= set(enum)
    assert "finished" in words
    assert "done" not in words


def test_a_candidate_is_a_name(schema: dict[str, Any]) -> None:
    fields = list(fields_of(schema["components"]["schemas"]))
    assert not [name for name, _field in fields if re.fullmatch(r"candidate_(name|id|public_id|key)", name)]
    assert {field["type"] for name, field in fields if name == "candidate"} == {"string"}
    assert not [
        field for name, field in fields if "candidate" in name and " id" in field.get("description", "").lower()
    ]
    parameters = [each for _path, _method, own in operations(schema) for each in own.get("parameters", [])]
    described = {each.get("description") for each in parameters if each["name"] == "candidate"}
    assert described == {"name of a candidate"}


# The list of judgements is a file of ClinConsensus, which calls the key of a case `case_id`.
OTHER_WORDS = {"Judgement"}


def test_a_case_is_a_key_and_its_id_is_called_so(schema: dict[str, Any]) -> None:
    wrong = []
    for name, component in schema["components"]["schemas"].items():
        sent = name.endswith("Request")
        for field, own in fields_of(component):
            text = own.get("description", "")
            if field == "case" and not (text.startswith("Key of the case") and (sent or text == "Key of the case.")):
                wrong.append(f"{name}.case: {text}")
            if field == "case_id" and text != "Id of the case." and name not in OTHER_WORDS:
                wrong.append(f"{name}.case_id: {text}")
            if sent and field == "cases" and own["type"] == "array" and "Keys" not in text:
                wrong.append(f"{name}.cases: {text}")
    assert wrong == []


CLOSED_SETS = {
    "difficulty",
    "kind",
    "measure",
    "only",
    "outcome",
    "points",
    "register",
    "show",
    "sort",
    "state",
    "status",
    "tier",
}


def test_every_query_parameter_is_described_and_a_closed_set_is_an_enum(schema: dict[str, Any]) -> None:
    undescribed, open_sets = [], []
    for path, method, operation in operations(schema):
        for each in operation.get("parameters", []):
            if each["in"] == "query" and not each.get("description"):
                undescribed.append(f"{method} {path} {each['name']}")
            if each["in"] == "query" and each["name"] in CLOSED_SETS and not each["schema"].get("enum"):
                open_sets.append(f"{method} {path} {each['name']}")
    assert undescribed == []
    assert open_sets == []


def test_parameters_of_reports_are_those_of_their_kinds(schema: dict[str, Any]) -> None:
    fields = fields_by_kind()
    assert {str(kind): set(own) for kind, own in fields.items()} == {
        kind: set(KINDS[kind].parameters) for kind in KINDS
    }
    reports = "/api/v1/benchmarks/{slug}/reports/"
    body = schema["paths"][reports]["post"]["requestBody"]["content"]["application/json"]["schema"]
    new = resolved(schema, body)
    assert new["discriminator"]["propertyName"] == "kind"
    assert set(new["discriminator"]["mapping"]) == set(KINDS)
    scores = resolved(schema, {"$ref": new["discriminator"]["mapping"]["scores"]})
    parameters = resolved(schema, scores["properties"]["parameters"])
    assert parameters["properties"]["k"]["maximum"] == 1000
    assert set(parameters["required"]) == {"rater", "k"}
    listed = resolved(schema, answer_of(schema, schema["paths"][reports]["get"])["properties"]["results"]["items"])
    assert set(listed["discriminator"]["mapping"]) == set(KINDS)


CHAT = {"endpoint": "https://models.example/v1", "model": "m"}


@pytest.mark.parametrize(
    ("kind", "model", "config"),
    [
        ("chat", ChatConfig, CHAT),
        ("chat", ChatConfig, {**CHAT, "temperature": None, "requests_per_minute": 0.5, "criteria_per_request": "all"}),
        ("chat", ChatConfig, {**CHAT, "temperature": 3}),
        ("chat", ChatConfig, {**CHAT, "requests_per_minute": 0}),
        ("chat", ChatConfig, {**CHAT, "max_tokens": 8}),
        ("chat", ChatConfig, {**CHAT, "currency": "usd"}),
        ("chat", ChatConfig, {**CHAT, "tempreature": 0}),
        ("chat", ChatConfig, {"model": "m"}),
        ("trained", TrainedConfig, {"held_out": ["a"], "seed": 3}),
        ("trained", TrainedConfig, {"seed": -1}),
        ("jury", JuryConfig, {"members": ["a", "b"], "rule": "unanimous"}),
        ("jury", JuryConfig, {"members": ["a"]}),
        ("jury", JuryConfig, {"members": ["a", "b"], "rule": "mean"}),
    ],
)
def test_the_schema_of_a_judge_takes_and_refuses_what_the_endpoint_does(
    kind: str, model: type[ChatConfig], config: dict[str, Any]
) -> None:
    own = schemas_by_kind()[kind]
    own = own["oneOf"][0] if kind == "chat" else own
    try:
        model.model_validate(config, context={"may_call": False})
        takes = True
    except ValidationError:
        takes = False
    assert jsonschema.Draft4Validator(nullables_as_types(own)).is_valid(config) is takes


def nullables_as_types(schema: Any) -> Any:
    """OpenAPI 3.0's ``nullable`` as JSON Schema of the same age has it."""
    if isinstance(schema, dict):
        given = {name: nullables_as_types(part) for name, part in schema.items() if name != "nullable"}
        return {**given, "type": [given["type"], "null"]} if schema.get("nullable") is True else given
    return [nullables_as_types(part) for part in schema] if isinstance(schema, list) else schema


def test_a_chat_judge_that_reads_levels_names_its_scale(schema: dict[str, Any]) -> None:
    levels = schemas_by_kind()["chat"]["oneOf"][1]
    assert set(levels["properties"]) == {*AcuityConfig.model_fields, "scale"}
    assert "scale" in levels["required"]
    judge = answer_of(schema, schema["paths"]["/api/v1/benchmarks/{slug}/judges/{public_id}/"]["get"])
    assert set(judge["discriminator"]["mapping"]) == {"chat", "trained", "jury", "imported"}


@pytest.mark.django_db
def test_an_empty_queue_is_no_missing_page() -> None:
    client = Client()
    client.force_login(UserFactory())
    for queue in ("checks", "adjudications"):
        response = client.post(f"/api/v1/work/{queue}/next/")
        assert (response.status_code, response.content) == (204, b"")
        assert client.post(f"/api/v1/work/{queue}/nothing/claim/").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_a_write_to_an_address_without_its_slash_is_refused_and_a_read_is_redirected(method: str) -> None:
    client = Client()
    client.force_login(UserFactory())
    refused = getattr(client, method)("/api/v1/work/checks/next", follow=True)
    detail = "Addresses of the API end with a slash: /api/v1/work/checks/next/"
    assert (refused.status_code, refused.json()) == (404, {"detail": detail})
    unknown = getattr(client, method)("/api/v1/work/nothing/of/it", follow=True)
    assert (unknown.status_code, "slash" in unknown.json()["detail"]) == (404, False)
    file = getattr(client, method)("/api/v1/benchmarks/none/decisions.csv", follow=True)
    assert (file.status_code, file.redirect_chain) == (405, [])
    read = client.get("/api/v1/work/checks")
    assert (read.status_code, read["Location"]) == (301, "/api/v1/work/checks/")


def test_the_address_of_a_member_may_be_empty(schema: dict[str, Any]) -> None:
    """Researchers do not see it, and an empty text is no address."""
    email = schema["components"]["schemas"]["Member"]["properties"]["email"]
    assert email == {"anyOf": [{"type": "string", "format": "email"}, {"type": "string", "maxLength": 0}]}
