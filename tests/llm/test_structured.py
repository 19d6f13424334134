"""Answers of a given form: exactly that form or none; and log probabilities as the client hands them on."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from consilium.llm.client import ChatClient
from consilium.llm.endpoint import Endpoint
from consilium.llm.errors import ContentError
from consilium.llm.structured import StructuredAnswer, json_schema, parse_structured


class Fact(StructuredAnswer):
    text: str
    passage: int


class Facts(StructuredAnswer):
    kind: Literal["number", "red_flag"]
    facts: list[Fact]
    weight: float
    note: str | None


GOOD: dict[str, Any] = {"kind": "number", "facts": [{"text": "15 mg", "passage": 2}], "weight": 0.5, "note": None}


def fault_of(text: str) -> str:
    with pytest.raises(ContentError) as refused:
        parse_structured(text, Facts)
    assert refused.value.raw == text and len(refused.value.message) < 300
    return refused.value.kind


def test_an_answer_of_the_form() -> None:
    for text in (json.dumps(GOOD), f"```json\n{json.dumps(GOOD)}\n```", json.dumps({**GOOD, "weight": 1})):
        answer = parse_structured(text, Facts)
        assert (answer.kind, answer.facts[0].passage, answer.note) == ("number", 2, None)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"weight": "0.5"}, "wrong_type"),
        ({"weight": True}, "wrong_type"),
        ({"kind": "dose"}, "wrong_type"),
        ({"kind": "Number"}, "wrong_type"),
        ({"note": 1}, "wrong_type"),
        ({"more": 1}, "extra_field"),
        ({"facts": {"text": "a", "passage": 1}}, "wrong_type"),
        ({"facts": [{"text": "a", "passage": 1.0}]}, "wrong_type"),
        ({"facts": [{"text": "a", "passage": True}]}, "wrong_type"),
        ({"facts": [{"text": "a", "passage": "1"}]}, "wrong_type"),
        ({"facts": [{"text": 1, "passage": 1}]}, "wrong_type"),
        ({"facts": [{"text": "a"}]}, "missing_field"),
        ({"facts": [{"text": "a", "passage": 1, "why": ""}]}, "extra_field"),
        ({"facts": [{"text": "a\x00b", "passage": 1}]}, "nul"),
        ({"facts": [{"text": "\ud800", "passage": 1}]}, "not_json"),
        ({"facts": None}, "wrong_type"),
    ],
)
def test_nothing_is_coerced(change: dict[str, Any], kind: str) -> None:
    assert fault_of(json.dumps({**GOOD, **change})) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("[1]", "not_an_object"),
        ("Here: {}", "not_json"),
        ("{} Thanks.", "trailing_text"),
        (json.dumps(GOOD).replace('"weight": 0.5', '"weight": 1e999'), "not_json"),
        (json.dumps(GOOD).replace('"weight": 0.5', '"weight": NaN'), "not_json"),
        (json.dumps(GOOD).replace('"weight": 0.5', '"weight": 0.5, "weight": 1'), "duplicate_key"),
        (json.dumps(GOOD).replace('"passage": 2', '"passage": 2, "passage": 3'), "duplicate_key"),
        ('{"facts": ' + "[" * 50_000, "not_json"),
        ("{" + " " * 300_000 + "}", "too_large"),
    ],
)
def test_what_is_no_answer(text: str, kind: str) -> None:
    assert fault_of(text) == kind


def test_a_backslash_before_the_letters_of_a_nul_is_none() -> None:
    note = parse_structured(json.dumps({**GOOD, "note": "\\u0000"}), Facts).note
    assert note == "\\u0000"


def test_the_schema_allows_nothing_else() -> None:
    schema = json_schema(Facts)["json_schema"]["schema"]
    assert schema["additionalProperties"] is False and schema["$defs"]["Fact"]["additionalProperties"] is False
    assert schema["required"] == ["kind", "facts", "weight", "note"]


def logprobs_of(content: Any) -> Any:
    client = ChatClient(
        Endpoint(url="http://127.0.0.1:1/v1", model="ok", key_env="SOME_API_KEY"),
        allowed_hosts=["127.0.0.1"],
        bound_keys=["SOME_API_KEY@127.0.0.1"],
        environ={"SOME_API_KEY": "a-secret-key"},
    )
    choice = {"message": {"content": "B"}, "logprobs": content}
    return client._answer(json.dumps({"choices": [choice]}).encode(), 0).logprobs


def test_log_probabilities_are_handed_on_in_their_usual_form() -> None:
    entry = {"token": "B", "logprob": -0.1, "bytes": [66], "top_logprobs": [{"token": "A", "logprob": -9999, "x": 1}]}
    expected = [{"token": "B", "logprob": -0.1, "top_logprobs": [{"token": "A", "logprob": -9999.0}]}]
    assert logprobs_of({"content": [entry]}) == expected
    for broken in (
        None,
        [],
        {"content": None},
        {"content": [{"token": "B"}]},
        {"content": [{**entry, "logprob": "-1"}]},
        {"content": [{**entry, "logprob": True}]},
        {"content": [{**entry, "logprob": float("nan")}]},
        {"content": [{**entry, "top_logprobs": [1]}]},
        {"content": [{**entry, "token": token} for token in ("a-se", "cret-key")]},
    ):
        assert logprobs_of(broken) is None, broken
