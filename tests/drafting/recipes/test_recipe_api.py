"""The API of recipes: list, read, begin from content or from a shipped recipe, next versions, and terms."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from drafting.models import DraftingRecipe
from tests.drafting.recipes.conftest import MODELS, Save, content

pytestmark = pytest.mark.django_db

PATH = "/api/v1/benchmarks/bench/recipes/"


def post(client: Client, path: str, body: dict[str, Any]) -> Any:
    return client.post(path, body, content_type="application/json")


def test_a_recipe_is_made_of_a_shipped_one_and_its_models(staff: Client) -> None:
    body = {"name": "Ours", "shipped": "direct", "models": {"strong": MODELS["strong"]}}
    answer = post(staff, PATH, body)
    assert answer.status_code == 201
    row = DraftingRecipe.objects.get()
    assert answer.json()["id"] == row.public_id
    assert answer.json()["content"] == row.content
    assert row.content["stages"]["audit"]["on"] is False
    listed = staff.get(PATH).json()["results"]
    assert [(each["name"], each["version"], each["form"]) for each in listed] == [("Ours", 1, "direct")]
    assert staff.get(f"{PATH}{row.public_id}/").json() == answer.json()


def test_what_was_read_can_be_sent_back_as_the_next_version(staff: Client, save: Save) -> None:
    first = save()
    read = staff.get(f"{PATH}{first.public_id}/").json()["content"]
    versions = f"{PATH}{first.public_id}/versions/"
    assert post(staff, versions, {"content": read}).json()["version"] == 1
    read["limits"]["passages"] = 6
    answer = post(staff, versions, {"content": read})
    assert (answer.status_code, answer.json()["version"]) == (201, 2)
    assert [row["version"] for row in staff.get(versions).json()["results"]] == [2, 1]
    read["limits"]["passages"] = 7
    stale = post(staff, versions, {"content": read})
    assert stale.status_code == 409
    assert "Someone else has saved version 2" in stale.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "Send either “content” or “shipped”."),
        ({"shipped": "direct", "content": {}}, 400, "Send either “content” or “shipped”."),
        ({"content": {}, "models": {}}, 400, "Send the models of a recipe with “content” as part of it."),
        ({"shipped": "best"}, 400, "is not a valid choice. One of: full, direct, generic"),
        ({"shipped": "direct"}, 422, "models.strong: This recipe needs this model."),
        ({"shipped": "generic", "models": {"fast": {}}}, 422, "models.fast: This recipe does not use such a model."),
        ({"shipped": "direct", "models": {"strong": 5}}, 422, "models.strong"),
        ({"shipped": "direct", "models": {"strong": {"model": "m"}}}, 422, "models.strong.endpoint"),
        ({"content": {"form": "evidence"}}, 422, "uses the model"),
        ({"content": content(limits={"pool": "many"})}, 422, "limits.pool"),
        ({"content": {"form": "generic"}, "extra": 1}, 400, "cannot be set here"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(staff: Client, body: dict[str, Any], status: int, words: str) -> None:
    answer = post(staff, PATH, {"name": "Ours", **body})
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert not DraftingRecipe.objects.exists()


def test_a_text_without_its_place_is_named_by_stage_and_language(staff: Client) -> None:
    stages = {"needs": {"prompts": {"zh": {"system": "a", "user": "b"}}}}
    answer = post(staff, PATH, {"name": "Ours", "content": content(stages=stages)})
    assert answer.status_code == 422
    message = "Needs, Chinese: The placeholder {{case}} is missing."
    assert answer.json() == {
        "detail": f"stages.needs.prompts.zh.user: {message}",
        "errors": [{"line": 0, "field": "stages.needs.prompts.zh.user", "message": message}],
        "error_total": 1,
    }


def test_terms_are_read_and_set(staff: Client, save: Save) -> None:
    path = f"{PATH}terms/"
    assert staff.get(path).json() == {"own_first": 0, "reviewers_see": "after", "recipe": ""}
    body = {"own_first": 3, "recipe": save().public_id}
    answer = staff.put(path, body, content_type="application/json")
    assert answer.json() == {"reviewers_see": "after", **body} == staff.get(path).json()
    assert staff.put(path, {"recipe": "nowhere"}, content_type="application/json").status_code == 422
    assert staff.put(path, {"own_first": 101}, content_type="application/json").status_code == 400


def test_unknown_parameters_are_refused(staff: Client) -> None:
    assert staff.get(f"{PATH}?name=x").status_code == 400
