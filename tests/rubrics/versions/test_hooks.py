"""What higher apps are told of drafts and versions, and what they may refuse, inside the transaction of the write."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from consilium.core.errors import LineError
from rubrics import hooks
from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.models import AuthoringRole, Rubric, RubricDraft
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import NotReady, approve, send_to_review
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is registered in this test alone."""
    names = ("_draft_checks", "_draft_listeners", "_discard_listeners", "_publication_checks", "_publication_listeners")
    for name in names:
        monkeypatch.setattr(hooks, name, list(getattr(hooks, name)))


class Writing:
    """A case with a published criterion, and two authors."""

    def __init__(self) -> None:
        self.case = factories.CaseFactory(rubric=[5])
        self.writer, self.reviewer = factories.UserFactory(), factories.UserFactory()
        for user in (self.writer, self.reviewer):
            AuthoringRole.objects.create(benchmark=self.case.benchmark, user=user, role="author")
        self.rubric = open_draft(case=self.case, by=self.writer, at=timezone.now())

    def save(self, *items: DraftItem) -> RubricDraft:
        version = RubricDraft.objects.get(rubric=self.rubric).version
        return save_draft(
            rubric=self.rubric, items=items, version=version, client_id=uuid.uuid4(), by=self.writer, at=timezone.now()
        )


def test_a_check_may_change_or_refuse_items_and_a_refusal_stores_nothing(registries: None) -> None:
    writing = Writing()
    before = RubricDraft.objects.get().content

    def check(save: hooks.DraftSave, items: Sequence[DraftItem]) -> tuple[Sequence[DraftItem], list[LineError]]:
        faults = [LineError(place, "source", "No.") for place, item in enumerate(items, start=1) if item.source == "x"]
        return [replace(item, source=item.source.upper()) for item in items], faults

    hooks.register(draft_check=check)
    hooks.register(draft_check=check)
    with pytest.raises(hooks.DraftRefused) as refused:
        writing.save(DraftItem("a", "One", 1), DraftItem("b", "Two", 1, source="x"))
    assert [(fault.line, fault.field) for fault in refused.value.errors] == [(2, "source")]
    assert RubricDraft.objects.get().content == before
    assert not writing.rubric.contributors.exists()
    saved = writing.save(DraftItem("a", "One", 1, source="who"))
    assert [item.source for item in items_of(saved.content)] == ["WHO"]


def test_a_listener_that_fails_undoes_the_save(registries: None) -> None:
    writing = Writing()
    heard: list[Any] = []

    def listen(save: hooks.DraftSave, items: Sequence[DraftItem]) -> None:
        heard.append((save.rubric.pk, [item.text for item in items], save.by))
        if items[0].text == "Two":
            raise RuntimeError("the listener fails")

    hooks.register(draft_listener=listen)
    writing.save(DraftItem("a", "One", 1))
    with pytest.raises(RuntimeError):
        writing.save(DraftItem("a", "Two", 1))
    assert heard == [(writing.rubric.pk, ["One"], writing.writer), (writing.rubric.pk, ["Two"], writing.writer)]
    assert items_of(RubricDraft.objects.get().content)[0].text == "One"


def test_a_check_keeps_a_draft_from_review_and_from_being_published(registries: None) -> None:
    writing = Writing()
    draft = writing.save(DraftItem("a", "One", 1))
    at = timezone.now()
    closed = ["send"]
    published: list[tuple[int | None, int]] = []
    hooks.register(
        publication_check=lambda rubric, items: [LineError(1, "suggestion", "Nobody took it.")] if closed else [],
        publication_listener=lambda before, after, at: published.append((before and before.version, after.version)),
    )
    with pytest.raises(NotReady, match="1 problem must be fixed"):
        send_to_review(rubric=writing.rubric, note="Other", by=writing.writer, at=at)
    closed.clear()
    send_to_review(rubric=writing.rubric, note="Other", by=writing.writer, at=at)
    closed.append("approve")
    with pytest.raises(NotReady):
        approve(rubric=writing.rubric, reviewer=writing.reviewer, digest=draft.digest, comment="", at=at)
    assert Rubric.objects.get(pk=writing.rubric.pk).status == "in_review" and published == []
    closed.clear()
    approve(rubric=writing.rubric, reviewer=writing.reviewer, digest=draft.digest, comment="", at=at)
    assert published == [(1, 2)]
