"""Pages of recipes: list, beginning, version, editor with its preview, copy, difference, and the terms of drafting."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from drafting.models import DraftingRecipe, DraftingTerms
from drafting.recipes import selectors
from drafting.recipes.texts import product_prompt
from rubrics.models import Benchmark
from tests.drafting.recipes.conftest import HOST, MODELS, Save, content
from tests.factories import CaseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

PAGE = "/b/bench/recipes/"


def text_of(response: Any) -> str:
    return " ".join(html.unescape(response.content.decode()).split())


def shown_in(response: Any) -> dict[str, Any]:
    """What a browser would send back of an editor's page as it is."""
    editor = response.context["editor"]
    values: dict[str, Any] = {}
    for form in editor.parts:
        for field in form:
            value = field.value()
            if isinstance(value, bool):
                values |= {field.html_name: "on"} if value else {}
            elif value is not None:
                values[field.html_name] = value
    return values


def test_an_empty_list_leads_to_a_new_recipe(staff: Client) -> None:
    page = text_of(staff.get(PAGE))
    assert "No recipes yet" in page
    assert f"{PAGE}new/" in page


def test_a_recipe_begins_with_an_endpoint_and_three_models(staff: Client, admin: User) -> None:
    names = {"strong": "big", "fast": "small", "checker": "other"}
    values = {"shipped": "full", "name": "Ours", "endpoint": f"{HOST}/v1", "key_env": "MODELS_API_KEY", **names}
    answer = staff.post(f"{PAGE}new/", values)
    row = DraftingRecipe.objects.get()
    assert answer["Location"] == f"{PAGE}{row.public_id}/"
    assert (row.name, row.version, row.created_by) == ("Ours", 1, admin)
    stored = selectors.content_of(row)
    assert {role: model.model for role, model in stored.models.items()} == names
    assert {(model.endpoint, model.key_env) for model in stored.models.values()} == {(f"{HOST}/v1", "MODELS_API_KEY")}
    assert [name in text_of(staff.get(PAGE)) for name in ("Ours", "big, small, other")] == [True, True]
    page = text_of(staff.get(answer["Location"]))
    assert "Splits the statements into single facts" in page
    assert f"/b/bench/drafting/new/?recipe={row.public_id}" in page
    assert "You prepare the search for medical evidence" in page


def test_a_recipe_without_models_begins_without_an_endpoint(staff: Client) -> None:
    answer = staff.post(f"{PAGE}new/", {"shipped": "generic", "name": "Six"})
    assert selectors.content_of(DraftingRecipe.objects.get()).models == {}
    assert "Invents facts, such as a finding that nobody mentioned" in text_of(staff.get(answer["Location"]))


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        (
            {"shipped": "full", "endpoint": f"{HOST}/v1", "strong": "m", "checker": "m"},
            "fast",
            "This field is required",
        ),
        ({"shipped": "direct", "strong": "m"}, "endpoint", "This field is required"),
        ({"shipped": "direct", "endpoint": "https://elsewhere.example/v1", "strong": "m"}, "endpoint", "elsewhere"),
        ({"shipped": "direct", "endpoint": f"{HOST}/v1", "strong": "m", "key_env": "PATH"}, "key_env", "variable"),
        ({"shipped": "best"}, "shipped", "Select a valid choice"),
    ],
)
def test_a_beginning_that_is_refused_names_the_field(
    staff: Client, values: dict[str, str], field: str, words: str
) -> None:
    answer = staff.post(f"{PAGE}new/", {"name": "Ours", **values})
    assert answer.status_code == 422
    assert words in str(answer.context["form"].errors[field])
    assert not DraftingRecipe.objects.exists()


def test_a_name_that_is_taken_is_refused(staff: Client, save: Save) -> None:
    save(name="Ours")
    answer = staff.post(f"{PAGE}new/", {"shipped": "generic", "name": "Ours"})
    assert answer.status_code == 409
    assert "A recipe called “Ours” already exists" in text_of(answer)


def test_the_editor_saves_what_was_changed_and_nothing_else(staff: Client, save: Save) -> None:
    first = save()
    page = staff.get(f"{PAGE}{first.public_id}/edit/")
    values = shown_in(page)
    del values["needs-on"]
    values |= {
        "facts-model": "fast",
        "facts-system_zh": "只写事实。\r\n每条一件事。",
        "limits-passages": "8",
        "filters-kinds": ["guideline"],
        "strong-price_in": "2.5",
        "strong-extra": '{"reasoning_effort": "low"}',
        "strong-stop": "END\r\nSTOP",
    }
    answer = staff.post(f"{PAGE}{first.public_id}/edit/", values)
    assert answer.status_code == 302, [form.errors for form in answer.context["editor"].parts]
    second = DraftingRecipe.objects.get(version=2)
    old, new = selectors.content_of(first).model_dump(), selectors.content_of(second).model_dump()
    assert (new["stages"]["needs"]["on"], new["stages"]["facts"]["model"]) == (False, "fast")
    product = product_prompt("facts", "zh")
    assert new["stages"]["facts"]["prompts"] == {"zh": {"system": "只写事实。\n每条一件事。", "user": product.user}}
    assert (new["limits"]["passages"], new["filters"]["kinds"]) == (8, ["guideline"])
    strong = new["models"]["strong"]
    assert (strong["price_in"], strong["extra"], strong["stop"]) == (2.5, {"reasoning_effort": "low"}, ["END", "STOP"])
    # What was not touched is as it was.
    assert new["models"]["fast"] == old["models"]["fast"]
    assert new["limits"] | {"passages": 5} == old["limits"]
    assert {name for name, stage in new["stages"].items() if stage["prompts"]} == {"facts"}


def test_saving_the_editor_as_it_is_makes_no_version(staff: Client, save: Save) -> None:
    first = save(content(limits={"passages": 7}, filters={"published_from": "2024-05-01", "max_tier": 2}))
    page = staff.get(f"{PAGE}{first.public_id}/edit/")
    # The editor writes out the stages that the stored recipe leaves to their defaults: that is version 2.
    staff.post(f"{PAGE}{first.public_id}/edit/", shown_in(page))
    second = DraftingRecipe.objects.order_by("-version")[0]
    page = staff.get(f"{PAGE}{second.public_id}/edit/")
    answer = staff.post(f"{PAGE}{second.public_id}/edit/", shown_in(page), follow=True)
    assert "Nothing has changed, so no version was saved." in text_of(answer)
    assert DraftingRecipe.objects.order_by("-version")[0] == second
    assert selectors.content_of(second).filters == selectors.content_of(first).filters


def test_the_editor_names_a_place_that_is_missing_at_its_field(staff: Client, save: Save) -> None:
    row = save()
    values = shown_in(staff.get(f"{PAGE}{row.public_id}/edit/"))
    answer = staff.post(f"{PAGE}{row.public_id}/edit/", values | {"rank-user_zh": "{{case}} {{dose}}"})
    assert answer.status_code == 422
    form = next(form for form in answer.context["editor"].stages if form.stage == "rank")
    assert form.errors == {
        "user_zh": [
            "Rank, Chinese: This text has no placeholder {{dose}}. Available: {{case}}, {{passages}}, {{keep}}.",
            "Rank, Chinese: The placeholder {{passages}} is missing.",
        ]
    }
    assert DraftingRecipe.objects.count() == 1


def test_the_editor_names_the_model_that_a_stage_lacks(staff: Client, save: Save) -> None:
    row = save()
    values = shown_in(staff.get(f"{PAGE}{row.public_id}/edit/"))
    answer = staff.post(f"{PAGE}{row.public_id}/edit/", values | {"checker-endpoint": "", "checker-model": ""})
    assert answer.status_code == 422
    assert "The stage Support uses this model." in text_of(answer)
    # Without the stage, the model is not needed.
    del values["support-on"]
    answer = staff.post(f"{PAGE}{row.public_id}/edit/", values | {"checker-endpoint": "", "checker-model": ""})
    assert answer.status_code == 302
    assert set(selectors.content_of(DraftingRecipe.objects.get(version=2)).models) == {"strong", "fast"}


def test_the_editor_does_not_overwrite_what_somebody_else_saved(staff: Client, save: Save) -> None:
    row = save()
    values = shown_in(staff.get(f"{PAGE}{row.public_id}/edit/"))
    save(content(limits={"passages": 9}), based_on=1)
    answer = staff.post(f"{PAGE}{row.public_id}/edit/", values | {"limits-pool": "20"})
    assert answer.status_code == 409
    assert "Someone else has saved version 2 of “main” in the meantime" in text_of(answer)
    assert DraftingRecipe.objects.count() == 2


def test_an_older_version_can_be_the_beginning_of_the_next(staff: Client, save: Save) -> None:
    first = save()
    save(content(limits={"passages": 9}), based_on=1)
    page = text_of(staff.get(f"{PAGE}{first.public_id}/"))
    assert "The newest is version 2" in page
    assert f"/b/bench/drafting/new/?recipe={first.public_id}" not in page  # runs are made with the newest
    values = shown_in(staff.get(f"{PAGE}{first.public_id}/edit/"))
    assert staff.post(f"{PAGE}{first.public_id}/edit/", values).status_code == 302
    assert selectors.content_of(DraftingRecipe.objects.get(version=3)).limits.passages == 5


def test_a_copy_has_a_name_and_versions_of_its_own(staff: Client, save: Save) -> None:
    row = save(content("direct"))
    values = shown_in(staff.get(f"{PAGE}{row.public_id}/copy/"))
    assert staff.post(f"{PAGE}{row.public_id}/copy/", values).status_code == 422
    taken = staff.post(f"{PAGE}{row.public_id}/copy/", values | {"name": "main"})
    assert taken.status_code == 409
    answer = staff.post(f"{PAGE}{row.public_id}/copy/", values | {"name": "second"})
    copy = DraftingRecipe.objects.get(name="second")
    assert answer["Location"] == f"{PAGE}{copy.public_id}/"
    assert copy.version == 1
    assert selectors.content_of(copy).models == selectors.content_of(row).models


def preview(client: Client, row: DraftingRecipe, stage: str, key: str, **values: str) -> str:
    case = row.benchmark.cases.get(key=key)
    values = {**shown_in(client.get(f"{PAGE}{row.public_id}/edit/")), **values}
    answer = client.post(
        f"{PAGE}{row.public_id}/preview/",
        {**values, "preview_stage": stage, "preview_case": case.public_id},
    )
    assert answer.status_code == 200
    return text_of(answer)


def test_the_preview_has_conversation_and_axes_and_says_what_comes_later(staff: Client, save: Save) -> None:
    page = preview(staff, save(), "synthesis", "a")
    assert "I have had a sore throat for three days. (a)" in page
    assert "<<<CASE" in page
    assert "accuracy" in page.split("<<<AXES")[1].split(">>>AXES")[0]
    assert "Stage: synthesis" in page
    assert "Known only when the run reaches this stage." in page.split("FACTS")[-1]
    assert "<<<FACTS" not in page


def test_the_preview_follows_the_text_that_is_being_written(staff: Client, save: Save) -> None:
    text = {"direct-system_en": "Write {{most}} criteria at most.", "direct-user_en": "{{case}} {{axes}} {{dose}}"}
    page = preview(staff, save(content("direct")), "direct", "a", **text, **{"limits-criteria": "7"})
    assert "Write 7 criteria at most." in page
    assert "Direct, English: This text has no placeholder {{dose}}" in page
    assert DraftingRecipe.objects.count() == 1


def test_a_chinese_case_is_previewed_with_the_chinese_text(staff: Client, save: Save) -> None:
    page = preview(staff, save(), "needs", "c", **{"needs-system_en": "English words", "needs-system_zh": "中文指令"})
    assert "中文指令" in page
    assert "English words" not in page
    assert "孩子发烧三天了" in page


def test_the_preview_shows_nothing_of_reference_answers_and_rubrics(
    staff: Client, save: Save, benchmark: Benchmark
) -> None:
    CaseFactory(benchmark=benchmark, key="r", reference_answer="The canary of the reference.")
    row = save()
    for stage in ("draft_plan", "needs", "synthesis", "audit"):
        page = preview(staff, row, stage, "r")
        assert "canary" not in page
        assert "Criterion 1 of r" not in page


def test_a_case_of_another_benchmark_is_not_previewed(staff: Client, save: Save) -> None:
    row, other = save(), CaseFactory()
    values = {"preview_stage": "needs", "preview_case": other.public_id}
    assert staff.post(f"{PAGE}{row.public_id}/preview/", values).status_code == 404


def test_the_difference_names_what_changed(staff: Client, save: Save) -> None:
    first = save()
    stages = {"needs": {"prompts": {"en": {"system": "Read slowly.", "user": "{{case}}"}}}, "rank": {"on": False}}
    second = save(content(limits={"passages": 9}, stages=stages), based_on=1)
    page = staff.get(f"{PAGE}{second.public_id}/difference/")
    assert page.context["before"] == first
    titles = [part.title for part in page.context["changes"]]
    assert titles == ["Rank", "Needs, instructions, English", "Needs, request, English", "Limits"]
    (changed,) = [line for line in page.context["changes"][-1].lines if line.kind == "changed"]
    assert [(piece.text, piece.mark) for piece in changed.pieces] == [("passages: ", ""), ("5", "del"), ("9", "ins")]
    assert re.search(r"passages: <del>5</del\s*><ins>9</ins\s*>", text_of(page))
    assert page.context["changes"][0].n_changed == 1
    other = save(content("generic"), name="six")
    assert "Compare with" in text_of(staff.get(f"{PAGE}{second.public_id}/difference/?with={other.public_id}"))
    assert "This is the first version" in text_of(staff.get(f"{PAGE}{first.public_id}/difference/"))


def test_terms_are_for_admins_and_are_saved(staff: Client, save: Save, benchmark: Benchmark) -> None:
    row = save()
    answer = staff.post(f"{PAGE}terms/", {"own_first": "4", "reviewers_see": "always", "recipe": row.public_id})
    assert answer.status_code == 302
    stored = DraftingTerms.objects.get()
    assert (stored.own_first, stored.reviewers_see, stored.recipe) == (4, "always", row)
    assert "Version 1 is for authors" in text_of(staff.get(PAGE))
    # A newer version changes nothing for authors until somebody chooses it.
    save(content(limits={"pool": 20}), based_on=1)
    page = staff.get(f"{PAGE}terms/")
    assert [value for value, _label in page.context["form"].fields["recipe"].choices][1] == row.public_id
    refused = staff.post(f"{PAGE}terms/", {"own_first": "101", "reviewers_see": "never", "recipe": "x"})
    assert refused.status_code == 422
    assert set(refused.context["form"].errors) == {"own_first", "reviewers_see", "recipe"}


def test_what_the_operator_no_longer_allows_can_be_read(staff: Client, save: Save, settings: Any) -> None:
    row = save()
    settings.JUDGE_ALLOWED_HOSTS = []
    assert MODELS["strong"]["model"] in text_of(staff.get(f"{PAGE}{row.public_id}/"))
    values = shown_in(staff.get(f"{PAGE}{row.public_id}/edit/"))
    assert staff.post(f"{PAGE}{row.public_id}/edit/", values | {"limits-pool": "20"}).status_code == 422
