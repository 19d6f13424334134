"""What a run keeps of the product beside the recipe, so that a later release, or another instance, replays it alike."""

from __future__ import annotations

from collections.abc import Collection

from drafting.recipes.content import Prompt, PromptLanguage, RecipeContent
from drafting.runs.inputs import texts_of
from drafting.stages.names import ASKING
from drafting.stages.prompts import prompt_language
from rubrics.bank.catalogue import applying, catalogue
from rubrics.models import Benchmark, Case

MAX_BANK_TEXT = 2_000  # longer texts of the bank are compared with nothing


def with_texts(content: RecipeContent, languages: Collection[str]) -> RecipeContent:
    """A recipe with the texts of every stage that asks, in the languages of these cases: its own or the product's."""
    needed: list[PromptLanguage] = sorted({prompt_language(language) for language in languages})
    stages = {}
    for name in ASKING:
        stage = content.stage(name)
        if content.has(name):
            texts = {language: texts_of(content, name, language) for language in needed}
            prompts = {language: Prompt(system=own.system, user=own.user) for language, own in texts.items()}
            stage = stage.model_copy(update={"prompts": prompts})
        stages[name] = stage
    return content.model_copy(update={"stages": stages})


def bank_texts(benchmark: Benchmark, cases: Collection[int]) -> dict[int, list[str]]:
    """The cluster criteria of the bank that apply to each case, in the language of the case, so that none is drafted.

    A case to which none applies is left out.
    """
    entries = [entry for entry in catalogue(benchmark) if entry.applies_to]
    if not entries:
        return {}
    rows = Case.objects.filter(pk__in=cases).only("pk", "language", "tags", "label_tags")
    texts = {}
    for case in rows:
        language = case.language.split("-")[0]
        own = [entry.text.get(language) or entry.text.get("") for entry in applying(entries, case.all_tags)]
        if written := [text for text in own if text and len(text) <= MAX_BANK_TEXT]:
            texts[case.pk] = written
    return texts
