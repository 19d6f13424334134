"""Models of this app, one module a subject."""

from drafting.models.evidence import Fact, FactKind, Need, NeedKind, QuoteState, Support
from drafting.models.publication import DecidedRubric, SecondReview
from drafting.models.recipes import DraftingRecipe
from drafting.models.runs import DRAFTING, DraftingRun
from drafting.models.suggestions import RejectionReason, Suggestion, SuggestionsOpened
from drafting.models.terms import DraftingTerms

__all__ = [
    "DRAFTING",
    "DecidedRubric",
    "DraftingRecipe",
    "DraftingRun",
    "DraftingTerms",
    "Fact",
    "FactKind",
    "Need",
    "NeedKind",
    "QuoteState",
    "RejectionReason",
    "SecondReview",
    "Suggestion",
    "SuggestionsOpened",
    "Support",
]
