"""Who is told that a run has drafted suggestions."""

from __future__ import annotations

import pytest
from django.utils import timezone

from accounts.models import Notification, User
from accounts.notices import words_of
from drafting.models import Suggestion
from rubrics.models import Case, RubricContributor
from rubrics.services.authoring_roles import give_authoring_role
from rubrics.services.drafts import open_draft
from scoring.pipelines.runs import replay_run
from tests.drafting.drafting_world import DraftingWorld, ScriptedEndpoint
from tests.factories import UserFactory
from tests.scoring.pipelines.verdict_chain import work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def author_of(world: DraftingWorld, *cases: Case, role: str = "author") -> User:
    """An author who wrote in the rubrics of these cases."""
    user = UserFactory()
    give_authoring_role(benchmark=world.benchmark, user=user, role=role, at=timezone.now())
    for case in cases:
        rubric = open_draft(case=case, by=user, at=timezone.now())
        RubricContributor.objects.create(rubric=rubric, user=user, first_at=timezone.now(), last_at=timezone.now())
    return user


def notices_of(user: User) -> list[tuple[str, str]]:
    rows = Notification.objects.filter(user=user).order_by("pk")
    return [(words_of(row).text, row.url) for row in rows]


def test_authors_get_one_notice_of_their_cases(nursery: DraftingWorld, scripted: ScriptedEndpoint) -> None:
    first, second = nursery.cases
    of_one, of_both, stranger = author_of(nursery, first), author_of(nursery, first, second), author_of(nursery)
    run = nursery.run(scripted.url)
    number = Suggestion.objects.filter(run=run, case=first).count()
    assert notices_of(of_one) == [
        (
            f"{number} suggestions were made for the rubric of case {first.key}.",
            f"/b/nursery/write/{first.public_id}/rubric/",
        )
    ]
    assert notices_of(of_both) == [("Suggestions were made for the rubrics of 2 cases.", "/b/nursery/write/")]
    assert notices_of(stranger) == []
    work(replay_run(run=run, by=None, at=timezone.now()))
    assert len(notices_of(of_one)) == 1


def test_a_former_author_gets_no_notice(nursery: DraftingWorld, scripted: ScriptedEndpoint) -> None:
    user = author_of(nursery, *nursery.cases)
    user.authoring_roles.update(active=False)
    nursery.run(scripted.url)
    assert notices_of(user) == []
