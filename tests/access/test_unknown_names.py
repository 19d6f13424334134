"""A body that names something that is not there is refused with the field that names it; never as a missing address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.access.endpoints import ENDPOINTS
from tests.access.world import World

pytestmark = pytest.mark.slow

GONE = "gone"
CHAT = {"endpoint": "https://models.example/v1", "model": "m"}
FRAME = {"cases": 1}
RELEASE = {"version": "9", "no_licence": True}
SLICE = {"slug": "s", "title": "T", "rule": "hard", "n": 1, "candidates": [GONE, "B"]}
RULE = {"source_label": "home", "how": "direct", "low": "self-care", "high": "self-care"}
# (endpoint, method, role, body, field): only the field names something that is not there.
BODIES: list[tuple[str, str, str, Any, str]] = [
    ("api-batches", "post", "admin", {"group": GONE, "title": "T"}, "group"),
    ("api-batch-preview", "post", "admin", {"group": GONE, "title": "T"}, "group"),
    ("api-conflicts", "post", "admin", {"group": GONE, "other": GONE}, "group"),
    ("api-regrading", "post", "admin", {"group": GONE, "title": "T"}, "group"),
    ("api-writing-new", "post", "admin", {"group": GONE, "title": "T"}, "group"),
    ("api-second-round", "post", "admin", {"group": GONE, "title": "T", "seed": 1}, "group"),
    ("api-ask-for-rulings", "post", "admin", {"group": GONE}, "group"),
    ("api-supervision", "post", "researcher", {"group": GONE, "held_out": [GONE]}, "group"),
    ("api-runs", "post", "researcher", {"judge": GONE}, "judge"),
    ("api-drafting-runs", "post", "admin", {"recipe": GONE, "frame": FRAME}, "recipe"),
    ("api-drafting-terms", "put", "admin", {"recipe": GONE}, "recipe"),
    ("api-suggestions-open", "post", "author", {"case": GONE}, "case"),
    ("api-suggestions-withdraw", "post", "admin", {"suggestions": [GONE]}, "suggestions"),
    ("api-suggestions-withdraw", "post", "admin", {"run": GONE}, "run"),
    (
        *("api-pairs", "post", "researcher"),
        {"group": "P", "case": GONE, "find": "a", "replace": "b", "kind": "dose"},
        "case",
    ),
    ("api-thresholds", "post", "admin", {"k": 1, "seen": 1, "report": GONE}, "report"),
    (
        "api-slices",
        "post",
        "researcher",
        {**SLICE, "rater": GONE},
        "rater",
    ),
    ("api-screenings", "post", "researcher", {"title": "T", "rater": GONE, "candidates": [GONE]}, "candidates"),
    (
        "api-releases",
        "post",
        "admin",
        {**RELEASE, "raters": [GONE], "decisions": True},
        "raters",
    ),
    (
        "api-releases",
        "post",
        "admin",
        {**RELEASE, "judges": [GONE], "verdicts": True},
        "judges",
    ),
    (
        "api-releases",
        "post",
        "admin",
        {**RELEASE, "candidates": [GONE], "responses": True},
        "candidates",
    ),
    ("api-rubric-sets", "post", "researcher", {"name": "S", "source": "run", "run": GONE}, "run"),
    ("api-coverage-runs", "post", "researcher", {"gold": GONE, "sets": [GONE], "config": CHAT}, "gold"),
    ("api-splitting-runs", "post", "researcher", {"gold": GONE, "config": CHAT}, "gold"),
    ("api-refinements", "post", "researcher", {"candidate": GONE, "gold": True, "config": CHAT}, "candidate"),
    ("api-refinements", "post", "researcher", {"candidate": GONE, "sets": [GONE], "config": CHAT}, "sets"),
    ("api-refinement-grade", "post", "researcher", {"judge": GONE}, "judge"),
    ("api-pair-runs", "post", "researcher", {"groups": [GONE], "config": CHAT}, "groups"),
    ("api-regrading", "post", "admin", {"group": "GROUP", "title": "T", "cases": [GONE]}, "cases"),
    ("api-acuity-runs", "post", "researcher", {"scale": GONE, "candidate": GONE, "config": CHAT}, "scale"),
    ("api-acuity-schemes", "post", "researcher", {"scale": GONE, "name": "n", "rules": [RULE]}, "scale"),
    ("api-acuity-source-labels", "post", "researcher", {"scale": GONE, "dataset": GONE, "scheme": GONE}, "scheme"),
    ("api-reports", "post", "researcher", {"kind": "scores", "parameters": {"rater": GONE, "k": 1}}, "rater"),
    ("api-drafts-send", "post", "author", {"cases": [GONE], "note": "n"}, "cases"),
    ("api-reviews", "post", "author", {"rubrics": [{"case": GONE, "digest": "d"}]}, "rubrics"),
    ("api-screening-decisions", "post", "researcher", {"cases": [GONE], "decision": "keep", "reason": "r"}, "cases"),
    ("api-draft", "put", "author", {"items": [{"text": "t", "points": 1, "bank": GONE}], "version": 0}, "items"),
    ("api-label-answers", "post", "annotator", {"question": GONE, "value": "x", "version": 0}, "question"),
    ("api-decisions", "post", "annotator", [{"criterion": 999999999, "outcome": "met", "version": 0}], "criterion"),
    ("api-judges", "post", "researcher", {"kind": "trained", "name": "j", "config": {"group": GONE}}, "group"),
    ("api-judges", "post", "researcher", {"kind": "jury", "name": "j", "config": {"members": [GONE, "b"]}}, "members"),
    ("api-responses", "post", "researcher", {"responses": [{"case": GONE, "candidate": "A", "response": "r"}]}, "case"),
]


def fields_of(refusal: Any) -> Iterator[str]:
    """The names of the fields of a refusal, those of objects inside as well."""
    if isinstance(refusal, dict):
        yield from refusal
        for part in refusal.values():
            yield from fields_of(part)


def is_messages_by_field(refusal: Any) -> bool:
    """Whether it is a list of texts for each field, or such objects within objects."""
    if isinstance(refusal, dict):
        return "message" not in refusal and all(map(is_messages_by_field, refusal.values()))
    return isinstance(refusal, list) and all(isinstance(text, str) for text in refusal)


@pytest.mark.parametrize(("name", "method", "role", "body", "field"), BODIES)
def test_an_unknown_name_is_refused_with_its_field(
    world: World, name: str, method: str, role: str, body: Any, field: str
) -> None:
    endpoint = ENDPOINTS[f"api:{name}"]
    url = reverse(f"api:{name}", kwargs=endpoint.arguments(world) if endpoint.arguments else None)
    client = Client()
    client.force_login(world.users[role])
    sent = json.dumps(body).replace("GROUP", world.groups["A"].public_id)
    with transaction.atomic():
        answer = getattr(client, method)(url, sent, content_type="application/json")
        transaction.set_rollback(True)
    refusal = answer.json()
    assert answer.status_code in (400, 422), refusal
    named = [*fields_of(refusal), *(error["field"] for error in refusal.get("errors", []))]
    assert answer.status_code == 422 or is_messages_by_field(refusal), refusal
    assert any(field in part.replace("]", "").replace("[", ".").split(".") for part in named), refusal
