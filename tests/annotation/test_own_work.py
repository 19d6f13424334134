"""Who reaches a piece of work: the query of every save and that of the page, compared with the rule in plain Python."""

from __future__ import annotations

import random

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from annotation import access
from annotation.models import Assignment, Batch, Membership
from tests.annotation.conftest import build_workshop
from tests.factories import ExpertGroupFactory, UserFactory, make_batch, member

ROUNDS = 40


@pytest.mark.slow
@pytest.mark.django_db
def test_a_save_reaches_what_the_page_and_the_rule_allow() -> None:
    w = build_workshop(responses=2, annotators_per_item=2)
    other = ExpertGroupFactory(benchmark=w.benchmark, annotators=2, checkers=1)
    make_batch(other, by=w.admin)
    member(w.group, "checker", w.annotator)  # two parts in one group
    people = [*w.people(), *w.people("checker"), *other.people["annotator"], w.admin, UserFactory(is_superuser=True)]
    chance = random.Random(20)
    n_reached = 0
    for _ in range(ROUNDS):
        for batch in Batch.objects.all():
            Batch.objects.filter(pk=batch.pk).update(imported=chance.random() < 0.3)
        for membership in Membership.objects.all():
            Membership.objects.filter(pk=membership.pk).update(active=chance.random() < 0.7)
        for row in Assignment.objects.all():
            Assignment.objects.filter(pk=row.pk).update(status=chance.choice(Assignment.Status.values))
        memberships = set(Membership.objects.filter(active=True).values_list("user_id", "group_id", "role"))
        for row in Assignment.objects.select_related("batch"):
            for person in [*people, AnonymousUser()]:
                allowed = (
                    row.annotator_id == person.pk
                    and (person.pk, row.batch.group_id, "annotator") in memberships
                    and not row.batch.imported
                )
                assert is_reached(access.get_own_work, person, row) is allowed
                assert is_reached(access.get_own_assignment, person, row) is allowed
                n_reached += allowed
    assert n_reached > ROUNDS


def is_reached(get, person, row: Assignment) -> bool:
    try:
        got = get(person, row.public_id)
    except Http404:
        return False
    # Every column that a save uses came along: none is read when it is asked for.
    assert got.pk == row.pk
    names = ("batch_id", "rubric_id", "annotator_id", "status", "round", "position", "purpose", "started_at")
    assert not got.get_deferred_fields() & set(names)
    assert [getattr(got, name) for name in names] == [getattr(row, name) for name in names]
    return True
