"""Drafts that an author asks for, one case at a time, by the recipe that the benchmark's terms name."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from documents.models import Document
from drafting.models import DRAFTING, DraftingRecipe, DraftingRun, DraftingTerms, Suggestion
from drafting.runs.services import create_run
from rubrics.models import Benchmark, Case, Rubric


def is_under_way(case: Case) -> bool:
    """Whether a run drafts for the case now."""
    return DraftingRun.objects.filter(status__in=DraftingRun.LIVE, steps__case=case).exists()


def has_open_drafts(case: Case, recipe: DraftingRecipe) -> bool:
    """Whether suggestions of this version of the recipe wait for a decision: another run would draft them again."""
    drafted = Suggestion.objects.filter(
        case=case,
        state=Suggestion.State.OPEN,
        run__kind=DRAFTING,
        run__terms__recipe=recipe.name,
        run__terms__version=recipe.version,
    )
    # The same words of another run may be the ones that are offered.
    offered = Suggestion.objects.filter(case=case).to_decide()
    return drafted.filter(words_digest__in=offered.values("words_digest")).exists()


def may_ask(case: Case, recipe: DraftingRecipe | None) -> bool:
    """Whether asking would give an author something new."""
    return recipe is not None and not has_open_drafts(case, recipe)


def documents_left_out(benchmark: Benchmark) -> QuerySet[Document]:
    """The documents in use from which nothing is drafted, because they may not be sent to models; by title."""
    rows = Document.objects.in_use().filter(collection__benchmark=benchmark.pk, may_send=False)
    return rows.only("public_id", "title", "licence").order_by("title", "pk")


@transaction.atomic
def ask_for_drafts(*, case: Case, by: User, at: datetime) -> DraftingRun:
    """Order drafts for a case.

    `Conflict` while a run drafts for it, while suggestions of the same recipe are open, or its rubric is in review.
    """
    Case.objects.select_for_update(no_key=True).get(pk=case.pk)  # two who ask at once get one run
    terms = DraftingTerms.objects.select_related("recipe").filter(benchmark=case.benchmark_id).first()
    if terms is None or terms.recipe is None:
        raise DomainError(_("This benchmark has no recipe for authors."))
    if case.excluded_at is not None:
        raise DomainError(_("This case was excluded, so its rubric cannot change."))
    if Rubric.objects.filter(case=case, track="gold", status=Rubric.Status.IN_REVIEW).exists():
        raise Conflict(_("This rubric is in review or published, so it cannot be edited."))
    if is_under_way(case):
        raise Conflict(_("Suggestions for this case are already being drafted."))
    if has_open_drafts(case, terms.recipe):
        raise Conflict(_("Decide on the open suggestions for this case first; they were drafted by the same recipe."))
    return create_run(benchmark=case.benchmark, recipe=terms.recipe, cases=[case.pk], by=by, at=at)
