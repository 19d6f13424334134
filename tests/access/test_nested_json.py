"""Nested JSON is a bad request at every route that reads JSON, and no crash; 32 levels are read, 33 are not."""

from __future__ import annotations

import json

import hypothesis
import pytest
from django.db import transaction
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.strict_json import MAX_DEPTH, RefusedJSON, read_json
from tests.access.endpoints import ENDPOINTS
from tests.access.test_body_limits import address
from tests.access.world import World

pytestmark = pytest.mark.slow

# Pages that read a JSON body themselves, with the keys that they look for; the API reads JSON everywhere.
PAGES = {
    "annotation:decisions": {"decisions": []},
    "annotation:submit": {"decisions": [], "have": ""},
    "annotation:skip": {"reason": "later", "note": "", "have": ""},
    "annotation:time": {"seconds": 1},
    "annotation:label-answer": {"who": "", "answer": {}},
    "annotation:label-submit": {"who": ""},
    "annotation:label-time": {"seconds": 1},
    "annotation:writing-save": {"who": "", "draft": {}},
    "annotation:writing-check": {"text": ""},
    "annotation:writing-submit": {"who": "", "version": 1, "attested": True},
    "annotation:writing-time": {"seconds": 1},
    "rubrics:write-case-save": {"who": "", "version": 1, "client_id": "", "case": {}},
    "rubrics:write-preview": {"conversation": [], "reference_answer": "", "language": ""},
    "rubrics:write-time": {"activity": "", "seconds": 1},
    "rubrics:rubric-draft": {"who": "", "draft": 1, "version": 1, "client_id": "", "items": []},
    "rubrics:rubric-lint": {"items": []},
    "rubrics:audit-item-save": {"version": 1, "answers": {}, "criteria": [], "outcome": "", "comment": ""},
    "rubrics:audit-item-submit": {"version": 1, "answers": {}, "criteria": [], "outcome": "", "comment": ""},
}
API = sorted(name for name, endpoint in ENDPOINTS.items() if name.startswith("api:") and not endpoint.framework)
WORDS = (
    *("parameters", "decisions", "items", "responses", "config", "conversation", "metadata", "answer", "amendments"),
    *("rulings", "title", "candidates", "filter", "extra", "judges", "raters", "tags"),
)


def nested(depth: int, opening: str = "[") -> str:
    closing = "]" if opening == "[" else "}"
    return opening * depth + ("" if opening == "[" else "1") + closing * depth


class Senders:
    """One client for each role that some route is open to."""

    def __init__(self, world: World) -> None:
        self.world, self.clients = world, dict[str, Client]()

    def send(self, name: str, method: str, body: str) -> int:
        """The status of the answer; what the request wrote is taken back."""
        role = next((role for role in (*self.world.users,) if role in ENDPOINTS[name].roles), "admin")
        if role not in self.clients:
            self.clients[role] = Client(raise_request_exception=False)
            user = self.world.users[role]
            assert user is not None
            self.clients[role].force_login(user)
        path = address(name, self.world)
        with transaction.atomic():
            status = self.clients[role].generic(method, path, body.encode(), "application/json").status_code
            transaction.set_rollback(True)
        return status


@pytest.fixture
def senders(world: World) -> Senders:
    return Senders(world)


def test_every_route_refuses_deep_nesting(senders: Senders) -> None:
    """1.8 KB of brackets were an internal error before."""
    wrong = []
    for name in (*PAGES, *API):
        for method in ("POST", "PUT", "PATCH") if name in API else ("POST",):
            under_a_key = json.dumps({**PAGES.get(name, {}), "a": "HERE"}).replace('"HERE"', nested(900))
            for body in (nested(900), nested(900, '{"a":'), under_a_key):
                status = senders.send(name, method, body)
                if status >= 500 or (name in PAGES and not 400 <= status < 500):
                    wrong.append(f"{method} {name}: {status} for {body[:40]}")
    assert not wrong, "\n".join(wrong)


opening = st.sampled_from(["[", '{"a":', "[1,", '["[",', '{"b":"]","c":'])


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Brackets up to any depth, closed or broken off, alone or under a key that routes look for."""
    parts = draw(st.lists(opening, min_size=1, max_size=40)) * draw(st.sampled_from([1, 1, 40, 1000]))
    closing = "".join("]" if part[0] == "[" else "}" for part in reversed(parts))
    inner = "".join(parts) + draw(st.sampled_from(["1", '"x"', "null", "{}", "-0.0", "1e400", "9" * 30])) + closing
    body = draw(st.sampled_from([inner, inner[:-1], inner + "]"]))
    word = draw(st.sampled_from((None, *WORDS)))
    return body if word is None else f'{{"{word}": {body}}}'


UNCHECKED = [hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow]


@hypothesis.settings(max_examples=300, suppress_health_check=UNCHECKED)
@given(name=st.sampled_from([*PAGES, *API]), method=st.sampled_from(["POST", "PUT", "PATCH"]), body=bodies())
def test_no_nested_body_is_an_error_of_the_server(senders: Senders, name: str, method: str, body: str) -> None:
    assert senders.send(name, method, body) < 500


@hypothesis.settings(max_examples=150, suppress_health_check=UNCHECKED)
@given(name=st.sampled_from(sorted(PAGES)), data=st.data())
def test_no_nested_field_of_a_page_is_an_error_of_the_server(senders: Senders, name: str, data: st.DataObject) -> None:
    whole = dict(PAGES[name])
    key = data.draw(st.sampled_from(sorted(whole)))
    depth = data.draw(st.integers(1, MAX_DEPTH - 1))
    body = json.dumps(whole | {key: "HERE"}).replace(
        '"HERE"', nested(depth, data.draw(st.sampled_from(["[", '{"a":'])))
    )
    assert senders.send(name, "POST", body) < 500


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_32_levels_are_read_and_33_are_not(opening: str) -> None:
    read_json(nested(MAX_DEPTH, opening))
    with pytest.raises(RefusedJSON, match="deeper than 32 levels"):
        read_json(nested(MAX_DEPTH + 1, opening))


def test_brackets_in_text_do_not_count() -> None:
    assert read_json(json.dumps({"a": "[" * 100})) == {"a": "[" * 100}
    assert read_json(json.dumps([r"\"[" * 50])) == [r"\"[" * 50]


def test_the_api_reads_32_levels_and_says_why_it_refuses_33(senders: Senders, world: World) -> None:
    path = address("api:api-reports", world)
    senders.send("api:api-reports", "POST", "{}")
    client = next(iter(senders.clients.values()))
    answers = {
        depth: client.post(path, f'{{"kind": "agreement", "parameters": {nested(depth - 1)}}}', "application/json")
        for depth in (MAX_DEPTH, MAX_DEPTH + 1)
    }
    assert [answer.status_code for answer in answers.values()] == [400, 400]
    assert "parameters" in answers[MAX_DEPTH].json()
    assert answers[MAX_DEPTH + 1].json() == {"detail": "Brackets are nested deeper than 32 levels."}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le"])
def test_another_encoding_is_refused(senders: Senders, encoding: str) -> None:
    """Whether the header names it or not, and in pages as in the API."""
    for name in ("annotation:decisions", "rubrics:write-case-save", "api:api-reports"):
        senders.send(name, "POST", "{}")
        role = next(role for role in (*senders.world.users,) if role in ENDPOINTS[name].roles)
        body = ('{"\u2200": ' + nested(2000) + "}").encode(encoding)
        for kind in ("application/json", f"application/json; charset={encoding}"):
            answer = senders.clients[role].generic("POST", address(name, senders.world), body, kind)
            assert answer.status_code == 400, (name, kind)


def test_the_extra_settings_of_a_model_are_read_as_strictly(world: World) -> None:
    client = Client()
    admin = world.users["admin"]
    assert admin is not None
    client.force_login(admin)
    answer = client.post(f"/b/{world.benchmark.slug}/generation/new/", {"extra": nested(900, '{"a":')})
    assert answer.status_code in (404, 422)
