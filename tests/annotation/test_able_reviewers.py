"""Who can do the work that waits, in the admin's lists, is who finds it in their own list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from annotation import access, services
from annotation.models import Adjudication, Assignment, ExpertGroup
from annotation.selectors.able_reviewers import WaitingPiece, waiting_for_adjudicators, waiting_for_checkers
from tests.annotation.test_languages_read import clinic, reads
from tests.factories import ExpertGroupFactory, decide, make_batch, member

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
MATCHED = pytest.mark.parametrize("matched", [True, False])


def same_as_own_lists(pieces: list[WaitingPiece], people: Iterable[User], own: Any) -> None:
    """Each piece can be done by those whose list ``own`` contains it, each of them once."""
    assert pieces
    lists: dict[int, set[int]] = {}
    for person in people:
        rows: QuerySet[Any] = own(person)
        lists[person.pk] = set(rows.values_list("pk", flat=True))
    for piece in pieces:
        assert sorted(piece.able) == sorted(user for user, rows in lists.items() if piece.pk in rows)


def reviewers(role: str, group: ExpertGroup) -> dict[str, User]:
    """One reads English, one German, and one has named no language."""
    languages = {"english": ["en"], "german": ["de"], "any": []}
    return {name: reads(member(group, role), *known) for name, known in languages.items()}


@MATCHED
def test_checks_wait_for_those_who_can_claim_them(matched: bool) -> None:
    group = ExpertGroupFactory(benchmark=clinic("en", "de", ""), annotators=2)
    people = reviewers("checker", group)
    annotators = group.people["annotator"]
    member(group, "checker", annotators[0])  # not their own work
    batch = make_batch(group, check_policy="all", match_languages=matched)
    for row in Assignment.objects.filter(batch=batch):
        decide(row)
    pieces = waiting_for_checkers([batch.pk])
    assert len(pieces) == 3
    same_as_own_lists(pieces, [*people.values(), *annotators], access.waiting_checks)
    german = next(piece for piece in pieces if piece.language == "de")
    assert (people["english"].pk in german.able) is not matched


@MATCHED
def test_conflicts_within_a_group_wait_for_those_who_can_claim_them(matched: bool) -> None:
    group = ExpertGroupFactory(benchmark=clinic("en", "de", ""), annotators=2)
    people = reviewers("adjudicator", group)
    member(group, "adjudicator", group.people["annotator"][0])  # has another part in every response
    batch = make_batch(group, annotators_per_item=2, match_languages=matched)
    first = group.people["annotator"][0]
    for row in Assignment.objects.filter(batch=batch):
        decide(row, "met" if row.annotator == first else "not_met")
    pieces = waiting_for_adjudicators([group.pk])
    assert len(pieces) == Adjudication.objects.count() == 3
    same_as_own_lists(pieces, [*people.values(), *group.people["annotator"]], access.open_adjudications)
    german = next(piece for piece in pieces if piece.language == "de")
    assert (people["english"].pk in german.able) is not matched


@MATCHED
def test_conflicts_between_groups_wait_for_the_adjudicators_of_both(matched: bool) -> None:
    first = ExpertGroupFactory(benchmark=clinic("en", "de"), annotators=1)
    second = ExpertGroupFactory(benchmark=first.benchmark, annotators=1)
    people = [*reviewers("adjudicator", first).values(), *reviewers("adjudicator", second).values()]
    for group, outcome in ((first, "met"), (second, "not_met")):
        batch = make_batch(group, match_languages=matched)
        for row in Assignment.objects.filter(batch=batch):
            decide(row, outcome)
        services.close_batch(batch=batch, at=timezone.now())
    services.open_conflicts_between(group=first, other=second, at=timezone.now())
    pieces = waiting_for_adjudicators([first.pk, second.pk])
    same_as_own_lists(pieces, people, access.open_adjudications)
    assert {piece.language: len(piece.able) for piece in pieces} == {
        "en": 4 if matched else 6,
        "de": 4 if matched else 6,
    }
