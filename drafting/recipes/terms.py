"""How a benchmark uses suggestions, as a typed command: the form, the API and the service read it."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field
from pydantic.dataclasses import dataclass

from consilium.core.commands import Label, OneOf
from consilium.core.limits import MAX_PUBLIC_ID_LENGTH
from drafting.models import DraftingTerms

MAX_OWN_FIRST = 100


@dataclass(frozen=True)
class TermsOfDrafting:
    """The terms of a benchmark; these are the defaults."""

    own_first: Annotated[
        int,
        Label(
            _("Criteria of one’s own first"),
            _("Suggestions open once an author has written so many criteria for the case. 0: they open at once."),
        ),
        Field(ge=0, le=MAX_OWN_FIRST, description="criteria of an author's own before suggestions open"),
    ] = 0
    reviewers_see: Annotated[
        str,
        Label(
            _("Reviewers see which criteria were suggested"),
            _("Those who know beforehand may look at these criteria otherwise than at the rest."),
        ),
        OneOf(DraftingTerms.ReviewersSee),
    ] = "after"
    recipe: Annotated[
        str,
        Label(
            _("Recipe for authors"),
            _("An author’s button then orders a draft for one case by this version, until another one is chosen here."),
        ),
        Field(max_length=MAX_PUBLIC_ID_LENGTH, description="the id of a version of a recipe; empty: only staff order"),
    ] = ""
