"""What the page of a recipe shows of its stages, models, limits and filters, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from documents.models import Collection, Document
from drafting.recipes.content import STAGES_OF, ModelRole, Prompt, RecipeContent, RecipeModel
from drafting.recipes.editor_parts import LimitsForm
from drafting.recipes.forms import ROLE_TITLES
from drafting.recipes.shipped import ROLES
from drafting.recipes.texts import LANGUAGE_NAMES, LANGUAGES, TAGS, prompt_of
from drafting.stage_words import STAGE_WORDS, StageWords
from rubrics.models import Benchmark

Rows = list[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class ShownText:
    """The texts that a stage sends in a language; ``is_own``: they are not the product's."""

    tag: str
    language: str
    prompt: Prompt
    is_own: bool


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage that asks a model."""

    name: str
    words: StageWords
    is_on: bool
    role: str
    model: str  # as the endpoint calls it
    texts: tuple[ShownText, ...]

    @property
    def own_languages(self) -> list[str]:
        """The languages in which its texts are not the product's."""
        return [text.language for text in self.texts if text.is_own]


def stage_rows(content: RecipeContent) -> list[StageRow]:
    """The stages of a recipe's form in their order, those that are off as well."""
    rows = []
    for name in STAGES_OF[content.form]:
        stage = content.stage(name)
        model = content.models.get(stage.model)
        texts = tuple(
            ShownText(
                TAGS[language],
                str(LANGUAGE_NAMES[language]),
                prompt_of(content, name, language),
                language in stage.prompts,
            )
            for language in LANGUAGES
        )
        role = str(ROLE_TITLES[stage.model])
        rows.append(StageRow(name, STAGE_WORDS[name], stage.on, role, model.model if model else "", texts))
    return rows


def model_rows(content: RecipeContent) -> list[tuple[str, RecipeModel, Rows]]:
    """Each model by the titles of its roles, with its settings that differ from the default."""
    roles: dict[str, list[ModelRole]] = {}
    for role in ROLES:
        if role in content.models:
            roles.setdefault(content.models[role].model_dump_json(), []).append(role)
    rows = []
    for same in roles.values():
        model = content.models[same[0]]
        rows.append((", ".join(str(ROLE_TITLES[role]) for role in same), model, _settings(model)))
    return rows


_NAMED = frozenset({"endpoint", "model", "key_env", "price_in", "price_out", "currency"})


def _settings(model: RecipeModel) -> Rows:
    defaults = {name: field.get_default(call_default_factory=True) for name, field in RecipeModel.model_fields.items()}
    always = ("temperature", "max_tokens", "concurrency")
    return [
        (name, "–" if value is None else value)
        for name, value in model.model_dump().items()
        if name not in _NAMED and (name in always or value != defaults[name])
    ]


def limit_rows(content: RecipeContent) -> Rows:
    """The limits that the form of the recipe has, under the names of the editor."""
    form = LimitsForm(content=content)
    return [(str(field.label), getattr(content.limits, name)) for name, field in form.fields.items()]


def filter_rows(benchmark: Benchmark, content: RecipeContent) -> Rows:
    """Which documents are searched; nothing for a recipe that searches none."""
    if content.form != "evidence":
        return []
    filters = content.filters
    collections = Collection.objects.filter(benchmark=benchmark, public_id__in=filters.collections)
    names = ", ".join(collections.order_by("name").values_list("name", flat=True))
    kinds = dict(Document.Kind.choices)
    every = _("All")
    rows = [
        (_("Collections"), names if filters.collections else every),
        (_("Language"), _("that of the case") if filters.same_language else every),
        (_("Jurisdiction"), filters.jurisdiction or every),
        (_("Kinds of documents"), ", ".join(str(kinds.get(kind, kind)) for kind in filters.kinds) or every),
        (_("Tier of authority"), _("%(tier)s or higher") % {"tier": filters.max_tier} if filters.max_tier else every),
    ]
    if filters.published_from:
        rows.append((_("Published since"), date_format(filters.published_from, "DATE_FORMAT")))
    return rows
