"""New versions of rubrics for tests, written by one author and approved by another, as the product has it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.utils import timezone

from accounts.models import User
from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.models import AuthoringRole, Case, Rubric
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import approve, return_draft, send_to_review
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory

Change = Callable[[list[DraftItem]], list[DraftItem]]


class Begun:
    """A case of a benchmark *b* whose rubric ``writer`` writes and ``reviewer`` may review.

    ``points``: of the criteria of its published rubric, if it has one; ``items`` are those of the draft.
    """

    def __init__(self, points: Sequence[int] = (), **fields: Any) -> None:
        self.benchmark: Any = BenchmarkFactory(slug="b")
        self.writer, self.reviewer = self.author(), self.author()
        self.case: Any = CaseFactory(benchmark=self.benchmark, rubric=list(points) or 0, **fields)
        self.rubric = open_draft(case=self.case, by=self.writer, at=timezone.now())
        self.items = items_of(self.rubric.draft.content)
        self.address = f"/b/b/write/{self.case.public_id}/"

    def author(self) -> User:
        """One more author."""
        user: User = UserFactory()
        AuthoringRole.objects.create(benchmark=self.benchmark, user=user, role="author")
        return user

    def write(self, *items: DraftItem) -> None:
        """Save these criteria as the draft."""
        self.rubric.refresh_from_db()
        version = self.rubric.draft.version
        saved = {"rubric": self.rubric, "version": version, "client_id": uuid.uuid4(), "by": self.writer}
        save_draft(items=items, at=timezone.now(), **saved)

    def send(self, *items: DraftItem) -> None:
        """Send the draft to review, with these criteria if any are given."""
        if items:
            self.write(*items)
        send_to_review(rubric=self.rubric, note="Reworded", by=self.writer, at=timezone.now())

    def return_with(self, comment: str, **comments: str) -> None:
        """Return it, with a comment on the whole, and ``comments`` by the ids of items."""
        at = timezone.now()
        return_draft(rubric=self.rubric, reviewer=self.reviewer, comment=comment, item_comments=comments, at=at)

    def agree(self) -> None:
        """Approve it."""
        self.rubric.draft.refresh_from_db()
        digest = self.rubric.draft.digest
        approve(rubric=self.rubric, reviewer=self.reviewer, digest=digest, comment="", at=timezone.now())


def publish_version(case: Case, change: Change) -> Rubric:
    """Publish what ``change`` makes of the published criteria."""
    writer, reviewer = UserFactory(), UserFactory()
    for user in (writer, reviewer):
        AuthoringRole.objects.create(benchmark=case.benchmark, user=user, role="author")
    at = timezone.now()
    rubric = open_draft(case=case, by=writer, at=at)
    items = change(items_of(rubric.draft.content))
    draft = save_draft(rubric=rubric, items=items, version=1, client_id=uuid.uuid4(), by=writer, at=at)
    send_to_review(rubric=rubric, note="Clearer", by=writer, at=at)
    return approve(rubric=rubric, reviewer=reviewer, digest=draft.digest, comment="", at=at)


def reword(case: Case, *places: int) -> Rubric:
    """Publish a version in which the criteria at these places (from 0) read differently."""

    def change(items: list[DraftItem]) -> list[DraftItem]:
        return [
            replace(item, text=f"{item.text}, put differently") if n in places else item for n, item in enumerate(items)
        ]

    return publish_version(case, change)
