"""Writes to recipes and to the terms of drafting. A change of a recipe is a new version; no version ever changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_RECIPE_NAME_LENGTH
from drafting.models import DraftingRecipe, DraftingTerms
from drafting.recipes.content import recipe_content
from drafting.recipes.terms import TermsOfDrafting
from drafting.recipes.texts import check_texts
from rubrics.models import Benchmark
from scoring.keys.grants import require_keys

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def check_recipe_name(name: str) -> str:
    """The name without blanks at its ends; `DomainError` where it is empty, too long, or holds control characters."""
    name = name.strip()
    if not name:
        raise DomainError(_("A recipe needs a name."))
    if len(name) > MAX_RECIPE_NAME_LENGTH:
        raise DomainError(_("A name can have at most %(n)d characters.") % {"n": MAX_RECIPE_NAME_LENGTH})
    if _CONTROL.search(name):
        raise DomainError(_("A name must be a single line."))
    return name


@transaction.atomic
def save_version(
    *,
    benchmark: Benchmark,
    name: str,
    content: Mapping[str, Any],
    based_on: int = 0,
    by: User | None,
    at: datetime,
) -> DraftingRecipe:
    """Save a recipe as the next version of its name; ``based_on`` is the newest version that its author saw.

    0 means a new name, which must be free. `Conflict` where there is a newer version, or none to base it on.
    `InvalidConfig` names each field of the content that cannot be used. Saving the newest version as it is changes
    nothing, and returns it.
    """
    name = check_recipe_name(name)
    checked = recipe_content(content)
    check_texts(checked)
    require_keys(benchmark, {f"models.{role}": model.for_client() for role, model in checked.models.items()})
    newest = DraftingRecipe.objects.filter(benchmark=benchmark, name=name).order_by("-version").first()
    if newest is not None and newest.sha256 == checked.digest and based_on:
        return newest
    stored = newest.version if newest else 0
    if based_on != stored:
        raise Conflict(_stale(name, based_on, stored))
    try:
        with transaction.atomic():
            return DraftingRecipe.objects.create(
                benchmark=benchmark,
                name=name,
                version=stored + 1,
                content=checked.model_dump(mode="json"),
                sha256=checked.digest,
                created_by=by,
                created_at=at,
            )
    except IntegrityError as error:
        if "drafting_recipe_version_once" not in str(error):
            raise
        raise Conflict(_stale(name, based_on, stored + 1)) from None


def _stale(name: str, based_on: int, stored: int) -> str:
    if not based_on:
        return _("A recipe called “%(name)s” already exists. Edit it, or choose another name.") % {"name": name}
    if not stored:
        return _("A recipe called “%(name)s” does not exist here.") % {"name": name}
    return _(
        "Someone else has saved version %(n)d of “%(name)s” in the meantime. Review it first; your "
        "changes were not saved."
    ) % {"name": name, "n": stored}


@transaction.atomic
def save_terms(*, benchmark: Benchmark, terms: TermsOfDrafting, by: User | None, at: datetime) -> DraftingTerms:
    """Set how a benchmark uses suggestions. The audit of the row keeps who did so, and when (``by``, ``at``)."""
    recipe = None
    if terms.recipe:
        recipe = DraftingRecipe.objects.filter(benchmark=benchmark, public_id=terms.recipe).first()
        if recipe is None:
            raise DomainError(_("This recipe does not exist here."), field="recipe")
    row, _created = DraftingTerms.objects.update_or_create(
        benchmark=benchmark,
        defaults={"own_first": terms.own_first, "reviewers_see": terms.reviewers_see, "recipe": recipe},
    )
    return row
