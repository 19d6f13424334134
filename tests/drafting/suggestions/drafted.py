"""A case with suggestions, for tests: two authors, an admin, and a draft that is saved as the editor saves it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from drafting.models import Suggestion
from drafting.suggestions.opening import open_suggestions
from drafting.suggestions.state import item_of
from rubrics.editor.draft_content import DraftItem, items_of, read_items
from rubrics.models import AuthoringRole, Case, Rubric, RubricDraft
from rubrics.services.drafts import put_draft, save_draft, save_first
from rubrics.services.publishing import approve, send_to_review
from tests import factories


class Drafted:
    """``author`` and ``second`` are authors of the benchmark, ``admin`` runs it; ``suggestions`` are open."""

    def __init__(self, n: int = 3, *, opened: bool = True, case: Case | None = None, **fields: Any) -> None:
        self.admin: Any = factories.UserFactory()
        self.case: Any = case or factories.CaseFactory(rubric=0, benchmark=factories.BenchmarkFactory(admin=self.admin))
        self.benchmark = self.case.benchmark
        self.author: Any = factories.UserFactory()
        self.second: Any = factories.UserFactory()
        for user in (self.author, self.second):
            AuthoringRole.objects.create(benchmark=self.benchmark, user=user, role="author")
        self.run: Any = factories.DraftingRunFactory(benchmark=self.benchmark)
        self.suggestions: list[Any] = [
            factories.SuggestionFactory(case=self.case, run=self.run, number=number, **fields)
            for number in range(1, n + 1)
        ]
        if opened:
            self.open(self.author)

    def open(self, user: Any) -> None:
        """The suggestions open to somebody."""
        open_suggestions(case=self.case, author=user, at=timezone.now())

    @property
    def rubric(self) -> Rubric:
        """The version that is being written, or the latest."""
        return Rubric.objects.filter(case=self.case).latest("version")

    def items(self) -> list[DraftItem]:
        """What is stored."""
        return items_of(RubricDraft.objects.get(rubric=self.rubric).content)

    def save(
        self, items: Sequence[DraftItem], *, by: Any = None, in_editor: bool = True, **options: Any
    ) -> RubricDraft:
        """Put a list in place of what stands."""
        options |= {"items": items, "client_id": uuid.uuid4(), "by": by or self.author, "at": timezone.now()}
        written = RubricDraft.objects.filter(rubric__case=self.case, rubric__status="draft").first()
        if written is None:
            draft = save_first(case=self.case, in_editor=in_editor, **options) if in_editor else None
            return draft or put_draft(case=self.case, version=0, **options)
        return save_draft(rubric=written.rubric, version=written.version, in_editor=in_editor, **options)

    def states(self) -> list[str]:
        """The state of each suggestion, by number."""
        rows = Suggestion.objects.filter(case=self.case).order_by("number")
        return list(rows.values_list("state", flat=True))

    def publish(self, items: Sequence[DraftItem] | None = None, *, by: Any = None, note: str = "") -> Rubric:
        """Save, send to review, and approve by the second physician."""
        draft = self.save(items, by=by) if items is not None else RubricDraft.objects.get(rubric=self.rubric)
        at = timezone.now()
        send_to_review(rubric=draft.rubric, note=note, by=self.author, at=at, notify=False)
        return approve(rubric=draft.rubric, reviewer=self.second, digest=draft.digest, comment="", at=at, notify=False)


def taken(suggestion: Suggestion, **changes: Any) -> DraftItem:
    """The criterion that a suggestion becomes."""
    reading = read_items([{**item_of(suggestion), **changes}])
    assert not reading.faults
    return reading.items[0]


def own(text: str, points: int = 3, **fields: Any) -> DraftItem:
    """A criterion that an author wrote herself."""
    return DraftItem(id=f"own-{text}"[:40], text=text, points=points, **fields)
