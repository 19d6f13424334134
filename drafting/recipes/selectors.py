"""Reads of recipes: the newest of each name, the versions of one, what a version holds, and the terms of drafting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from drafting.models import DraftingRecipe, DraftingTerms
from drafting.recipes.content import STAGES_OF, RecipeContent, recipe_content
from drafting.recipes.shipped import ROLES
from drafting.stage_words import stage_title
from rubrics.models import Benchmark

FORM_TITLES = {
    "evidence": _("Passages of documents"),
    "direct": _("One request without documents"),
    "generic": _("Six criteria for every case"),
}


def newest_recipes(benchmark: Benchmark) -> QuerySet[DraftingRecipe]:
    """The newest version of each recipe of a benchmark by name, with ``version_count``."""
    same = DraftingRecipe.objects.filter(benchmark=OuterRef("benchmark"), name=OuterRef("name"))
    newest = same.order_by("-version").values("pk")[:1]
    counted = same.order_by().values("name").annotate(n=Count("pk")).values("n")
    rows = DraftingRecipe.objects.filter(benchmark=benchmark, pk=Subquery(newest)).select_related("created_by")
    return rows.annotate(version_count=Subquery(counted)).order_by("name")


def versions_of(benchmark: Benchmark, name: str) -> QuerySet[DraftingRecipe]:
    """The versions of a recipe, the newest first."""
    rows = DraftingRecipe.objects.filter(benchmark=benchmark, name=name)
    return rows.select_related("created_by").order_by("-version")


def all_versions(benchmark: Benchmark) -> QuerySet[DraftingRecipe]:
    """Every version of every recipe of a benchmark: by name, the newest first."""
    return DraftingRecipe.objects.filter(benchmark=benchmark).order_by("name", "-version")


def recipe_called(benchmark: Benchmark, name: str, version: int | None = None) -> DraftingRecipe | None:
    """A version of the recipe of this name, without ``version`` the newest; None where there is none."""
    rows = versions_of(benchmark, name)
    return (rows if version is None else rows.filter(version=version)).first()


def content_of(recipe: DraftingRecipe) -> RecipeContent:
    """What a version holds; to read it, its hosts need not be on the operator's list."""
    return recipe_content(recipe.content, may_call=False)


def terms_of(benchmark: Benchmark) -> DraftingTerms:
    """The terms of drafting of a benchmark; where nobody has set any, the defaults, which are not stored."""
    terms = DraftingTerms.objects.filter(benchmark=benchmark).select_related("recipe").first()
    return terms or DraftingTerms(benchmark=benchmark)


def terms_values(benchmark: Benchmark) -> dict[str, Any]:
    """The terms of a benchmark as their form and the API have them; ``recipe`` is an id, or empty."""
    terms = terms_of(benchmark)
    recipe = terms.recipe.public_id if terms.recipe else ""
    return {"own_first": terms.own_first, "reviewers_see": terms.reviewers_see, "recipe": recipe}


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """A recipe in the list, with what its newest version holds."""

    recipe: DraftingRecipe
    content: RecipeContent

    @property
    def form_title(self) -> str:
        """Where its criteria come from."""
        return str(FORM_TITLES[self.content.form])

    @property
    def left_out(self) -> list[str]:
        """The stages that it leaves out."""
        stages = STAGES_OF[self.content.form] if self.content.form == "evidence" else ()
        return [stage_title(name) for name in stages if not self.content.has(name)]

    @property
    def models(self) -> list[str]:
        """The models that it asks, each once."""
        models = self.content.models
        return list(dict.fromkeys(models[role].model for role in ROLES if role in models))


def rows_of(recipes: Iterable[DraftingRecipe]) -> list[RecipeRow]:
    """Recipes with what they hold."""
    return [RecipeRow(recipe, content_of(recipe)) for recipe in recipes]
