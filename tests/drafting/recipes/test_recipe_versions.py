"""Recipes are saved as versions: a change makes a new one, and no version ever changes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from drafting.models import DraftingRecipe
from drafting.recipes import selectors
from drafting.recipes.services import save_terms, save_version
from drafting.recipes.shipped import SHIPPED
from drafting.recipes.terms import TermsOfDrafting
from drafting.stages.names import ASKING
from rubrics.models import Benchmark
from scoring.judges.config import InvalidConfig
from scoring.keys.grants import grant_key, withdraw_key
from tests.drafting.recipes.conftest import AT, MODELS, Save, content
from tests.factories import BenchmarkFactory

pytestmark = pytest.mark.django_db

ELSEWHERE = {"endpoint": "https://elsewhere.example/v1", "model": "m"}


def test_a_change_is_a_new_version_and_the_old_one_stays(save: Save) -> None:
    first = save()
    stored = dict(first.content)
    second = save(content(limits={"passages": 7}), based_on=1)
    assert (first.version, second.version) == (1, 2)
    assert second.content["limits"]["passages"] == 7
    first.refresh_from_db()
    assert first.content == stored
    assert first.content["limits"]["passages"] == 5


def test_the_digest_is_that_of_the_content_as_canonical_json(save: Save) -> None:
    row = save()
    text = json.dumps(row.content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert row.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_saving_without_a_change_makes_no_version(save: Save) -> None:
    first = save()
    assert save(based_on=1) == first
    assert DraftingRecipe.objects.count() == 1


def test_nobody_overwrites_a_version_that_they_have_not_seen(save: Save) -> None:
    save()
    save(content(limits={"passages": 7}), based_on=1)
    with pytest.raises(Conflict, match="Someone else has saved version 2"):
        save(content(limits={"passages": 8}), based_on=1)
    assert DraftingRecipe.objects.count() == 2


def test_a_name_is_taken_once_in_a_benchmark(benchmark: Benchmark, save: Save) -> None:
    save()
    with pytest.raises(Conflict, match="A recipe called “main” already exists"):
        save(content("direct"))
    other = BenchmarkFactory()
    grant_key(name="MODELS_API_KEY", benchmark=other, by=None, at=AT)
    assert save_version(benchmark=other, name="main", content=content(), by=None, at=AT).version == 1


def test_a_change_of_a_recipe_that_is_not_there_is_refused(save: Save) -> None:
    with pytest.raises(Conflict, match="A recipe called “main” does not exist here"):
        save(based_on=3)


@pytest.mark.parametrize(
    ("name", "words"), [("  ", "needs a name"), ("x" * 101, "at most 100"), ("a\nb", "a single line")]
)
def test_a_name_is_one_line(save: Save, name: str, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        save(name=name)


@pytest.mark.parametrize(
    "statement", ["UPDATE drafting_draftingrecipe SET name = 'x'", "DELETE FROM drafting_draftingrecipe"]
)
def test_the_database_keeps_a_version_as_it_is(save: Save, statement: str) -> None:
    save()
    with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(table="drafting_draftingrecipe"))


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"models": {"strong": MODELS["strong"]}}, "", "The stage Rank uses the model “fast”, which is not given"),
        ({"stages": {"evidence": {"on": False}}}, "", "The stage Evidence cannot be omitted"),
        ({"stages": {"dessert": {}}}, "", "dessert is not a stage that uses a model"),
        ({"limits": {"passages": 13}}, "limits.passages", "Must be at most 12"),
        ({"filters": {"max_tier": 5}}, "filters.max_tier", "Must be at most 4"),
        ({"models": MODELS | {"fast": ELSEWHERE}}, "models.fast.endpoint", "elsewhere.example"),
        ({"models": MODELS | {"fast": MODELS["fast"] | {"key_env": "PATH"}}}, "models.fast.key_env", "_API_KEY"),
        ({"temper": 1}, "temper", "This setting does not exist"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named_by_its_place(save: Save, changes: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        save(content(**changes))
    assert list(refusal.value.fields) == [path]
    assert words in refusal.value.fields[path]


# Section 5 of the design: which stages each of the shipped recipes leaves out.
OFF = {
    "full": set(),
    "direct": {"audit"},
    "generic": set(),
    "full-without-planning": {"draft_plan"},
    "full-without-facts": {"facts"},
    "full-without-needs": {"needs"},
    "full-without-audit": {"audit"},
}


def test_the_shipped_recipes_are_those_of_the_ablations(save: Save) -> None:
    assert set(SHIPPED) == set(OFF)
    for name, off in OFF.items():
        stored = selectors.content_of(save(content(name), name=name))
        due = {"direct": {"direct"}, "generic": set()}.get(name, set(ASKING) - {"direct"} - off)
        assert {stage for stage in ASKING if stored.has(stage)} == due


def test_a_stage_that_names_no_model_asks_its_own(save: Save) -> None:
    stored = selectors.content_of(save(content(stages={"rank": {"on": True}, "facts": {"on": True}})))
    assert {name: stored.stage(name).model for name in ("rank", "support", "facts")} == {
        "rank": "fast", "support": "checker", "facts": "strong",
    }  # fmt: skip


def test_the_generic_recipe_needs_no_model(save: Save) -> None:
    assert save(content("generic")).content["models"] == {}


def test_the_list_has_the_newest_version_of_each_name(benchmark: Benchmark, save: Save) -> None:
    save()
    newest = save(content(limits={"pool": 20}), based_on=1)
    other = save(content("direct"), name="another")
    rows = list(selectors.newest_recipes(benchmark))
    assert rows == [other, newest]
    assert [row.version_count for row in rows] == [1, 2]  # type: ignore[attr-defined]
    assert selectors.recipe_called(benchmark, "main") == newest
    assert selectors.recipe_called(benchmark, "main", 3) is None


def test_terms_have_defaults_and_are_kept_with_who_set_them(benchmark: Benchmark, admin: User, save: Save) -> None:
    assert selectors.terms_values(benchmark) == {"own_first": 0, "reviewers_see": "after", "recipe": ""}
    row = save()
    terms = TermsOfDrafting(own_first=5, reviewers_see="always", recipe=row.public_id)
    stored = save_terms(benchmark=benchmark, terms=terms, by=admin, at=AT)
    assert (stored.own_first, stored.reviewers_see, stored.recipe) == (5, "always", row)
    assert selectors.terms_of(benchmark) == stored


def test_a_recipe_of_another_benchmark_is_none_for_authors(benchmark: Benchmark, save: Save) -> None:
    other = BenchmarkFactory()
    grant_key(name="MODELS_API_KEY", benchmark=other, by=None, at=AT)
    row = save_version(benchmark=other, name="theirs", content=content(), by=None, at=AT)
    with pytest.raises(DomainError, match="This recipe does not exist here"):
        save_terms(benchmark=benchmark, terms=TermsOfDrafting(recipe=row.public_id), by=None, at=AT)


def test_a_key_that_is_not_granted_is_named_by_its_place(benchmark: Benchmark, save: Save) -> None:
    withdraw_key(name="MODELS_API_KEY", benchmark=benchmark, by=None, at=AT)
    with pytest.raises(InvalidConfig) as refusal:
        save(content())
    assert set(refusal.value.fields) == {f"models.{role}.key_env" for role in ("strong", "fast", "checker")}
    assert not DraftingRecipe.objects.exists()
