"""What a recipe holds: the only reader of `DraftingRecipe.content` and of the recipe in the settings of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from pydantic import Field, field_validator, model_validator

from consilium.core.limits import MAX_PUBLIC_ID_LENGTH
from drafting.stage_words import stage_title
from drafting.stages.names import (
    ASKING,
    AUDIT,
    DIRECT,
    EVIDENCE,
    FACTS,
    NEEDS,
    PLAN,
    RANK,
    RELEVANCE,
    SUPPORT,
    SYNTHESIS,
)
from scoring.generation.config import PricedConfig
from scoring.judges.config import StrictConfig, checked_config
from scoring.pipelines.hashing import canonical

Form = Literal["evidence", "direct", "generic"]
ModelRole = Literal["strong", "fast", "checker"]
PromptLanguage = Literal["en", "zh"]
MAX_PROMPT_LENGTH = 20_000
MAX_TARGET = 40

# The stages that a recipe may leave out, by its form; it has all others of the form.
OPTIONAL: Mapping[Form, frozenset[str]] = {
    "evidence": frozenset({PLAN, RANK, FACTS, RELEVANCE, SUPPORT, NEEDS, AUDIT}),
    "direct": frozenset({AUDIT}),
    "generic": frozenset(),
}
STAGES_OF: Mapping[Form, tuple[str, ...]] = {
    "evidence": (PLAN, RANK, EVIDENCE, FACTS, RELEVANCE, SUPPORT, NEEDS, SYNTHESIS, AUDIT),
    "direct": (DIRECT, AUDIT),
    "generic": (),
}


class RecipeModel(PricedConfig):
    """A model of a recipe: endpoint, decoding settings, limits and prices."""

    temperature: float | None = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    max_tokens: int = Field(default=4096, ge=16, le=131_072)


class Prompt(StrictConfig):
    """The texts of a stage in one language. Texts from outside are where ``user`` names them, as ``{{case}}``."""

    system: str = Field(min_length=1, max_length=MAX_PROMPT_LENGTH)
    user: str = Field(min_length=1, max_length=MAX_PROMPT_LENGTH)


class RecipeStage(StrictConfig):
    """A stage that asks a model: whether it is on, which model it asks, and its texts by language.

    Without a text for a language, the stage has that of the product.
    """

    on: bool = True
    model: ModelRole = "strong"
    prompts: dict[PromptLanguage, Prompt] = Field(default_factory=dict)


class RecipeLimits(StrictConfig):
    """How much goes from stage to stage."""

    passages_per_query: int = Field(default=50, ge=1, le=200)
    passages_per_document: int = Field(default=3, ge=1, le=30)
    pool: int = Field(default=30, ge=1, le=100)  # passages that are ranked
    passages: int = Field(default=5, ge=2, le=12)  # passages that facts are taken from
    criteria: int = Field(default=20, ge=1, le=MAX_TARGET)  # the most that a case gets
    audit_rounds: int = Field(default=2, ge=1, le=2)


class RecipeFilters(StrictConfig):
    """Which documents are searched, beside those in use that may be sent."""

    collections: list[Annotated[str, Field(max_length=MAX_PUBLIC_ID_LENGTH)]] = Field(default_factory=list)  # all
    same_language: bool = True  # only documents in the language of the case
    jurisdiction: str = Field(default="", max_length=3)
    kinds: list[Annotated[str, Field(max_length=20)]] = Field(default_factory=list)
    max_tier: int | None = Field(default=None, ge=1, le=4)
    published_from: date | None = None


class RecipeContent(StrictConfig):
    """A recipe. ``form``: *evidence* drafts from passages, *direct* in one request without them, *generic* no model.

    ``models`` has each model that a stage asks.
    """

    form: Form = "evidence"
    models: dict[ModelRole, RecipeModel] = Field(default_factory=dict)
    stages: dict[str, RecipeStage] = Field(default_factory=dict)
    limits: RecipeLimits = RecipeLimits()
    filters: RecipeFilters = RecipeFilters()

    @field_validator("stages", mode="before")
    @classmethod
    def _default_models(cls, stages: Any) -> Any:
        """A stage that names no model asks the one that it asks by default."""
        if not isinstance(stages, Mapping):
            return stages
        return {
            name: {"model": DEFAULT_STAGES[name].model, **stage}
            if name in DEFAULT_STAGES and isinstance(stage, Mapping)
            else stage
            for name, stage in stages.items()
        }

    @model_validator(mode="after")
    def _whole(self) -> RecipeContent:
        if unknown := sorted(set(self.stages) - set(ASKING)):
            raise ValueError(_("%(stage)s is not a stage that uses a model.") % {"stage": unknown[0]})
        for name in STAGES_OF[self.form]:
            stage = self.stage(name)
            if not stage.on and name not in OPTIONAL[self.form]:
                raise ValueError(_("The stage %(stage)s cannot be omitted.") % {"stage": stage_title(name)})
            if stage.on and stage.model not in self.models:
                raise ValueError(
                    _("The stage %(stage)s uses the model “%(model)s”, which is not given.")
                    % {"stage": stage_title(name), "model": stage.model}
                )
        return self

    def stage(self, name: str) -> RecipeStage:
        """A stage with its settings; one that is not named has the defaults."""
        return self.stages.get(name, DEFAULT_STAGES.get(name, _OTHER_STAGE))

    def has(self, name: str) -> bool:
        """Whether a stage that asks a model is part of the recipe."""
        return name in STAGES_OF[self.form] and self.stage(name).on

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(canonical(self.model_dump(mode="json")).encode()).hexdigest()


_OTHER_STAGE = RecipeStage()
DEFAULT_STAGES: Mapping[str, RecipeStage] = {
    RANK: RecipeStage(model="fast"),
    RELEVANCE: RecipeStage(model="fast"),
    SUPPORT: RecipeStage(model="checker"),
}


def recipe_content(values: Mapping[str, Any], *, may_call: bool = True) -> RecipeContent:
    """Check a recipe; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` its endpoints need not be on the operator's list: no request will be sent.
    """
    return checked_config(RecipeContent, dict(values), may_call=may_call, whole_path=True)
