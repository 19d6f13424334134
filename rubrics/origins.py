"""Where criteria come from: written, from a bank, or suggested; as pages and files show it.

The app that drafts criteria, a layer above this one, knows the suggestions. It registers itself in ``AppConfig.ready``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import User
from rubrics.access import is_author
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Benchmark, Rubric, RubricContributor, RubricItem, RubricReview


class Origin(StrEnum):
    """What a criterion began as."""

    WRITTEN = "written"
    BANK = "bank"
    SUGGESTED = "suggested"
    REWORDED = "reworded"  # suggested, and taken with other words, points or axis


@dataclass(frozen=True, slots=True)
class ShownSuggestion:
    """The suggestion that a criterion began as, with what there is to know of it."""

    public_id: str
    address: str  # of the page that leads to its facts and passages
    recipe: str
    recipe_version: int
    is_reworded: bool
    distance: float | None  # between both texts, 0 to 1, at the first publication
    taken_by: str
    by_rules: bool  # and not by a language model


@dataclass(frozen=True, slots=True)
class ShownOrigin:
    """Where a criterion comes from. ``suggestion`` is None also where a suggestion is not known here."""

    origin: Origin
    bank: str = ""
    suggestion: ShownSuggestion | None = None
    public_id: str = ""  # of the suggestion


@dataclass(frozen=True, slots=True)
class Source:
    """How suggestions are described (a fixed number of queries for many), and whether reviewers see them."""

    describe: Callable[[Benchmark, Collection[str]], Mapping[str, ShownSuggestion]]
    is_shown_in_review: Callable[[Benchmark], bool]


_sources: list[Source] = []


def register(source: Source) -> None:
    """Add where suggestions come from."""
    if source not in _sources:
        _sources.append(source)


def describe(benchmark: Benchmark, names: Iterable[str]) -> dict[str, ShownSuggestion]:
    """Suggestions by their public ids; no query where there are none."""
    distinct = {name for name in names if name}
    shown: dict[str, ShownSuggestion] = {}
    for source in _sources if distinct else ():
        shown |= source.describe(benchmark, distinct)
    return shown


def origins_of(benchmark: Benchmark, items: Sequence[DraftItem | RubricItem]) -> list[ShownOrigin]:
    """Where each criterion comes from, in the same order."""
    shown = describe(benchmark, (item.suggestion for item in items))
    return [origin_of(item, shown) for item in items]


def origin_of(item: DraftItem | RubricItem, shown: Mapping[str, ShownSuggestion]) -> ShownOrigin:
    """Where a criterion comes from, by suggestions that were described."""
    bank = item.bank_item if isinstance(item, RubricItem) else item.bank
    if not item.suggestion:
        return ShownOrigin(Origin.BANK if bank else Origin.WRITTEN, bank)
    suggestion = shown.get(item.suggestion)
    reworded = suggestion is not None and suggestion.is_reworded
    return ShownOrigin(Origin.REWORDED if reworded else Origin.SUGGESTED, bank, suggestion, item.suggestion)


def is_hidden_from(user: User, rubric: Rubric | None) -> bool:
    """Whether ``user`` must not see which criteria of a version were suggested, and which are from a bank.

    So it is for physicians who may still decide on it in review: it is not to sway them. It ends with their decision,
    and holds for nobody where the benchmark shows suggestions in review.
    """
    if rubric is None or rubric.status != Rubric.Status.IN_REVIEW:
        return False
    return hidden_from(user, rubric.case.benchmark).filter(pk=rubric.pk).exists()


def hidden_from(user: User, benchmark: Benchmark) -> QuerySet[Rubric]:
    """The rubrics in review of which ``user`` must not see where criteria come from (`is_hidden_from`)."""
    in_review = Rubric.objects.filter(case__benchmark=benchmark, status=Rubric.Status.IN_REVIEW)
    if not _sources or all(source.is_shown_in_review(benchmark) for source in _sources):
        return in_review.none()
    if not is_author(user, benchmark):
        return in_review.none()
    wrote = RubricContributor.objects.filter(rubric=OuterRef("pk"), user=user.pk)
    decided = RubricReview.objects.filter(rubric=OuterRef("pk"), reviewer=user.pk, digest=OuterRef("draft__digest"))
    return in_review.exclude(Exists(wrote)).exclude(Exists(decided))


def shown_items(user: User, rubric: Rubric, items: Sequence[DraftItem]) -> list[DraftItem]:
    """The criteria of a version as ``user`` may see them: without where they come from, where it is hidden."""
    return without_origins(items) if is_hidden_from(user, rubric) else list(items)


def without_origins(items: Sequence[DraftItem]) -> list[DraftItem]:
    """Criteria as if all had been written: without the suggestions and items of banks that they began as."""
    return [replace(item, suggestion="", bank="") for item in items]
