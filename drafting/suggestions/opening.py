"""When the suggestions for a case open to an author: at once, or after so many criteria of the author's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import Conflict
from drafting.models import DraftingTerms, SuggestionsOpened
from rubrics.editor import editing
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Case


class NotOpen(Conflict):
    """The author has to write criteria of her own first."""

    def __init__(self, missing: int) -> None:
        text = ngettext(
            "Write %(n)d more criterion of your own first; the suggestions then open.",
            "Write %(n)d more criteria of your own first; the suggestions then open.",
            missing,
        )
        super().__init__(text % {"n": missing})


@dataclass(frozen=True, slots=True)
class Opening:
    """Whether suggestions are open to an author, and how many criteria of her own the saved draft has and needs."""

    is_open: bool
    needed: int
    own: int

    @property
    def missing(self) -> int:
        """How many more are needed."""
        return 0 if self.is_open else max(0, self.needed - self.own)


def own_items(items: Sequence[DraftItem]) -> list[DraftItem]:
    """Criteria with a text that did not begin as suggestions."""
    return [item for item in items if item.text.strip() and not item.suggestion]


def opening_for(case: Case, author: User) -> Opening:
    """Whether the suggestions for ``case`` are open to ``author``, by the saved draft."""
    terms = DraftingTerms.objects.filter(benchmark=case.benchmark_id).first()
    needed = terms.own_first if terms is not None else 0
    _rubric, items = editing.current_rubric(case)
    is_open = SuggestionsOpened.objects.filter(case=case, author=author).exists()
    return Opening(is_open, needed, len(own_items(items)))


@transaction.atomic
def open_suggestions(*, case: Case, author: User, at: datetime) -> SuggestionsOpened:
    """Record the first sight of the suggestions, with the draft as it stands; `NotOpen` while too little is there.

    The same author opens them once; later calls change nothing.
    """
    opened = SuggestionsOpened.objects.filter(case=case, author=author).first()
    if opened is not None:
        return opened
    opening = opening_for(case, author)
    if opening.missing:
        raise NotOpen(opening.missing)
    _rubric, items = editing.current_rubric(case)
    own = [{"text": item.text, "points": item.points, "tags": list(item.tags)} for item in own_items(items)]
    opened, _created = SuggestionsOpened.objects.get_or_create(
        case=case, author=author, defaults={"opened_at": at, "own_criteria": own}
    )
    return opened
