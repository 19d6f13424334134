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
            _("Own criteria first"),
            _(
                "Number of criteria that an author must write for the case before the suggestions open. 0: "
                "they open immediately."
            ),
        ),
        Field(ge=0, le=MAX_OWN_FIRST, description="criteria of an author's own before suggestions open"),
    ] = 0
    reviewers_see: Annotated[
        str,
        Label(
            _("Reviewers see which criteria were suggested"),
            _("Reviewers who know beforehand may judge these criteria differently from the rest."),
        ),
        OneOf(DraftingTerms.ReviewersSee),
    ] = "after"
    recipe: Annotated[
        str,
        Label(
            _("Recipe for authors"),
            _("Authors can then request drafts for a case with this version, until another one is chosen here."),
        ),
        Field(max_length=MAX_PUBLIC_ID_LENGTH, description="the id of a version of a recipe; empty: only staff order"),
    ] = ""
