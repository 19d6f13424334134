"""New versions of rubrics for tests, written by one author and approved by another, as the product has it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

from django.utils import timezone

from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.models import AuthoringRole, Case, Rubric
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import approve, send_to_review
from tests.factories import UserFactory

Change = Callable[[list[DraftItem]], list[DraftItem]]


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
