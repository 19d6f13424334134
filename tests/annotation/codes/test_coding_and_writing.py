"""Who codes a response to a case does not write one unaided, and the reverse."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.access import code_rulings
from annotation.codes.batches import CodingTerms, plan_coding
from annotation.models import CodeRuling, Membership, WritingTask
from annotation.services.attention import record_attention
from annotation.writing.batches import create_writing_batch
from annotation.writing.exclusions import ExclusionReason, excluded_writers
from annotation.writing.services import release_if_read
from annotation.writing.writing_plan import WritingFilter, WritingOrder
from consilium.core.errors import DomainError
from tests.annotation.codes.coding_world import CodingWorld, build_coding
from tests.annotation.codes.test_coding import adjudicator_of, close, request

pytestmark = pytest.mark.django_db


def write_unaided(world: CodingWorld) -> WritingTask:
    """The task of the one annotator of group B who is given the case to write to."""
    create_writing_batch(
        order=WritingOrder(group=world.groups[1], title="Our own", seed=3, candidate="Physicians"),
        filter=WritingFilter(),
        by=world.admin,
        at=timezone.now(),
    )
    return WritingTask.objects.select_related("batch__writing_terms", "case", "writer").get()


def test_who_was_given_a_response_to_code_or_to_rule_on_does_not_write_to_its_case() -> None:
    world = build_coding(cases="a")
    world.say("a alpha", ["wrong-dose"], [])
    close(world.batches[0])
    request(world, group=1)
    case = world.responses["a alpha"].case_id
    coders = {world.task("a alpha", 0, place).annotator_id for place in (0, 1)}
    adjudicator = adjudicator_of(world, 1).pk
    others = set(Membership.objects.filter(group=world.groups[1], role="annotator").values_list("user_id", flat=True))
    everybody = {*coders, *others, adjudicator, adjudicator_of(world, 0).pk}
    excluded = excluded_writers(mode="unaided", candidate=None, cases=[case], people=everybody)
    assert {user for _case, user in excluded[ExclusionReason.READ]} == {*coders, adjudicator}


def test_who_still_has_to_write_to_a_case_is_not_given_a_response_to_it_to_code() -> None:
    world = build_coding(cases="a")
    writer = write_unaided(world).writer_id

    def coders_of(number: int) -> set[int]:
        plan = plan_coding(group=world.groups[1], book=world.book, terms=CodingTerms(title="", coders=number, seed=3))
        return {slot.annotator for slot in plan.allocation.slots}

    assert len(coders_of(1)) == 1
    assert writer not in coders_of(1)
    with pytest.raises(DomainError, match="still have to write one to its case"):
        coders_of(2)


def test_who_still_has_to_write_to_a_case_does_not_rule_on_the_codes_of_a_response_to_it() -> None:
    world = build_coding(cases="a")
    group, case = world.groups[1], world.responses["a alpha"].case
    for user in (judge := adjudicator_of(world, 1), *group.people["annotator"]):  # type: ignore[attr-defined]
        Membership.objects.filter(user=user, role="annotator").update(active=False)
    Membership.objects.create(group=group, user=judge, role=Membership.Role.ANNOTATOR)
    task = write_unaided(world)
    assert task.writer == judge
    world.say("a alpha", ["wrong-dose"], [])
    close(world.batches[0])
    with pytest.raises(DomainError, match="still have to write a response to their cases"):
        request(world, group=1)
    # Nor is a ruling open to them that was asked for by another way, and its page counts as read.
    ruling = CodeRuling.objects.create(
        question=world.question, response=world.responses["a alpha"], group=group, position=1,
        requested_at=timezone.now(),
    )  # fmt: skip
    assert list(code_rulings(judge)) == []
    assert not release_if_read(task=task, at=timezone.now())
    record_attention(user=judge, code_ruling=ruling, seconds=0, at=timezone.now())
    assert release_if_read(task=task, at=timezone.now())
    assert list(code_rulings(judge)) == [ruling]
    assert task.case == case


def test_a_task_to_write_is_taken_back_once_its_writer_has_opened_a_response_to_code() -> None:
    world = build_coding(cases="a")
    task = write_unaided(world)
    coding = world.task("a alpha")
    type(coding).objects.filter(pk=coding.pk).update(annotator=task.writer)  # given to them by another way
    assert not release_if_read(task=task, at=timezone.now())  # never opened
    coding.refresh_from_db()
    world.code(coding, "wrong-dose", submit=False)
    assert release_if_read(task=task, at=timezone.now())
    assert task.release_reason == "has_read"
