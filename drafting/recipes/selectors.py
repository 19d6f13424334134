"""Reads of recipes: the newest of each name, the versions of one, what a version holds, and the terms of drafting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, OuterRef, QuerySet, Subquery

from drafting.models import DraftingRecipe, DraftingTerms
from drafting.recipes.content import RecipeContent, recipe_content
from rubrics.models import Benchmark


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


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """A recipe in the list, with what its newest version holds."""

    recipe: DraftingRecipe
    content: RecipeContent

    @property
    def models(self) -> list[str]:
        """The models that it asks, each once."""
        return list(dict.fromkeys(model.model for model in self.content.models.values()))


def rows_of(recipes: Iterable[DraftingRecipe]) -> list[RecipeRow]:
    """Recipes with what they hold."""
    return [RecipeRow(recipe, content_of(recipe)) for recipe in recipes]
