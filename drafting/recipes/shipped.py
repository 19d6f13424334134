"""The recipes that come with the product. A benchmark begins from one of them, with endpoints and models of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from django.utils.translation import gettext_lazy as _

from drafting.recipes.content import (
    DEFAULT_STAGES,
    STAGES_OF,
    Form,
    ModelRole,
    RecipeContent,
    RecipeModel,
    RecipeStage,
)
from drafting.stages.names import AUDIT, FACTS, NEEDS, PLAN

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

ROLES: tuple[ModelRole, ...] = get_args(ModelRole)


@dataclass(frozen=True, slots=True)
class ShippedRecipe:
    """A recipe without models; ``off`` are the stages that it leaves out."""

    name: str  # as commands and the API call it
    title: _StrPromise
    summary: _StrPromise
    form: Form = "evidence"
    off: frozenset[str] = frozenset()

    @property
    def roles(self) -> tuple[ModelRole, ...]:
        """The models that its stages ask, in the order of `ROLES`."""
        roles = {_stage(name).model for name in STAGES_OF[self.form] if name not in self.off}
        return tuple(role for role in ROLES if role in roles)

    def content(self, models: Mapping[ModelRole, RecipeModel]) -> RecipeContent:
        """The recipe with these models; those that none of its stages asks are left out.

        Pydantic's `ValidationError` names a model that is missing.
        """
        return RecipeContent(
            form=self.form,
            models={role: models[role] for role in self.roles if role in models},
            stages={name: _stage(name).model_copy(update={"on": False}) for name in sorted(self.off)},
        )


def _stage(name: str) -> RecipeStage:
    return DEFAULT_STAGES.get(name, RecipeStage())


SHIPPED: Mapping[str, ShippedRecipe] = {
    recipe.name: recipe
    for recipe in (
        ShippedRecipe(
            "full",
            _("Full"),
            _("From passages of documents to checked facts, and from facts and needs to criteria, with an audit."),
        ),
        ShippedRecipe(
            "direct",
            _("Direct"),
            _("One request per case for its criteria, without documents: the baseline."),
            form="direct",
            off=frozenset({AUDIT}),
        ),
        ShippedRecipe(
            "generic",
            _("Generic"),
            _("The same six criteria for every case; no model is used."),
            form="generic",
        ),
        ShippedRecipe(
            "full-without-planning",
            _("Full without planning"),
            _("Passages are searched with the words of the last message instead of planned queries."),
            off=frozenset({PLAN}),
        ),
        ShippedRecipe(
            "full-without-facts",
            _("Full without facts"),
            _("Statements and red flags from the evidence are used as they are, and are not split into single facts."),
            off=frozenset({FACTS}),
        ),
        ShippedRecipe(
            "full-without-needs",
            _("Full without needs"),
            _("Criteria come only from facts; the needs of the person asking are not read from the conversation."),
            off=frozenset({NEEDS}),
        ),
        ShippedRecipe(
            "full-without-audit",
            _("Full without audit"),
            _("No model audits the criteria. Problems found by automatic checks are still noted."),
            off=frozenset({AUDIT}),
        ),
    )
}
