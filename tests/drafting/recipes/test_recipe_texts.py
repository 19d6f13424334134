"""The texts of a recipe: unknown, missing and doubled places are named with stage and language."""

from __future__ import annotations

import pytest

from drafting.recipes.content import Prompt, recipe_content
from drafting.recipes.texts import faults_of, product_prompt, prompt_of, text_faults
from drafting.stages.names import ASKING
from scoring.judges.config import InvalidConfig
from tests.drafting.recipes.conftest import Save, content


def own(stage: str, **texts: str) -> dict[str, object]:
    """A stage with its own texts in one language, whose request has its places unless ``user`` says otherwise."""
    language = texts.pop("language", "en")
    values = {"system": "Do it.", "user": "{{case}}", **texts}
    return {"stages": {stage: {"prompts": {language: values}}}}


@pytest.mark.parametrize("stage", ASKING)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_texts_of_the_product_have_their_places(stage: str, language: str) -> None:
    assert faults_of(stage, language, product_prompt(stage, language)) == []


@pytest.mark.parametrize(
    ("stage", "system", "user", "faults"),
    [
        ("needs", "Do it.", "{{case}}", []),
        ("needs", "Do it.", "{{ case }}", []),
        ("rank", "Keep {{keep}}.", "{{case}} {{passages}} {{keep}}", []),
        ("needs", "Do it.", "nothing", [("user", "The placeholder {{case}} is missing.")]),
        ("needs", "Do it.", "{{case}} {{case}}", [("user", "The placeholder {{case}} occurs twice.")]),
        (
            "needs",
            "Do it.",
            "{{case}} {{facts}}",
            [("user", "This text has no placeholder {{facts}}. Available: {{case}}.")],
        ),
        (
            "needs",
            "{{case}}",
            "{{case}}",
            [("system", "This text has no placeholders, but {{case}} is written like one.")],
        ),
        ("needs", "Do it.", "{{case}} {{1}}", [("user", "This text has no placeholder {{1}}. Available: {{case}}.")]),
        (
            "rank", "{{most}}", "{{case}}",
            [
                ("system", "This text has no placeholder {{most}}. Available: {{keep}}."),
                ("user", "The placeholder {{passages}} is missing."),
            ],
        ),
    ],
)  # fmt: skip
def test_each_place_stands_once_where_it_belongs(
    stage: str, system: str, user: str, faults: list[tuple[str, str]]
) -> None:
    faulty = faults_of(stage, "en", Prompt(system=system, user=user))
    assert [(fault.part, fault.message) for fault in faulty] == faults


@pytest.mark.django_db
def test_a_recipe_with_such_a_text_is_refused_by_stage_and_language(save: Save) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        save(content(**own("facts", language="zh", user="{{case}} {{passages}} {{dose}}")))
    assert refusal.value.fields == {
        "stages.facts.prompts.zh.user": (
            "Facts, Chinese: This text has no placeholder {{dose}}. Available: {{case}}, {{passages}}, {{statements}}. "
            "Facts, Chinese: The placeholder {{statements}} is missing."
        )
    }


def test_the_texts_of_a_stage_that_is_off_are_checked_as_well() -> None:
    values = own("needs", user="nothing")
    values["stages"]["needs"]["on"] = False  # type: ignore[index]
    assert [fault.stage for fault in text_faults(recipe_content(content(**values), may_call=False))] == ["needs"]


def test_a_language_without_a_text_has_that_of_the_product() -> None:
    checked = recipe_content(content(**own("needs", system="Read it.")), may_call=False)
    assert prompt_of(checked, "needs", "en") == Prompt(system="Read it.", user="{{case}}")
    assert prompt_of(checked, "needs", "zh") == product_prompt("needs", "zh")
