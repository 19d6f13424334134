"""What the database holds of rounds of votes, rulings and reference sets, whoever writes to it."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread
from time import sleep

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.models import User
from annotation.labels.services import AnswerInput, save_answer, submit_labels
from annotation.models import (
    AcuityRuling,
    Batch,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    Membership,
    ReferenceItem,
    ReferenceSet,
    RulingRequest,
)
from consilium.core.errors import DomainError
from consilium.core.identifiers import new_public_id
from rubrics.models import Case
from tests.annotation.labels.labels_world import Panel, build_panel, give_out, level_question, question
from tests.factories import BenchmarkFactory, UserFactory, member

pytestmark = pytest.mark.slow


@pytest.fixture
def panel(db: None) -> Panel:
    return build_panel()


def second_task(task: LabelTask, round: int = 2) -> LabelTask:
    """The same case for the same physician in a further batch that asks the same question, with a vote."""
    batch = Batch.objects.get(pk=task.batch_id)
    batch.pk, batch.public_id = None, new_public_id()
    batch.save()
    return LabelTask.objects.create(batch=batch, case=task.case, annotator=task.annotator, round=round)


def hand_in(panel: Panel, task: LabelTask, level: str = "emergency") -> None:
    panel.vote(task, level)
    submit_labels(task=task, annotator=task.annotator, at=timezone.now())


def adjudicator(panel: Panel) -> User:
    return member(panel.group, Membership.Role.ADJUDICATOR)


def rule(panel: Panel, user: User, low: int | None = 1, high: int | None = 1, key: str = "a") -> AcuityRuling:
    case = Case.objects.get(benchmark=panel.benchmark, key=key)
    return AcuityRuling.objects.create(
        question=panel.question, case=case, adjudicator=user, low=low, high=high, reason="border",
        created_at=timezone.now(),
    )  # fmt: skip


def refused(sentence: str) -> pytest.RaisesExc[DatabaseError]:
    return pytest.raises(DatabaseError, match=sentence)


def test_a_physician_votes_once_in_a_round_over_all_batches(panel: Panel) -> None:
    # Given out before the rounds below: nobody new is asked on a scale about a case whose votes others have seen.
    other = level_question(panel.benchmark, "other")
    batch = give_out(panel.group, other, annotators=5, seed=9)
    panel.say("a", "self-care")
    task = panel.tasks("a")[0]
    for round in (1, 2):
        again = second_task(task, round)
        panel.vote(again, "emergency")
        if round == 1:
            with pytest.raises(DomainError, match="already voted on this case"):
                submit_labels(task=again, annotator=task.annotator, at=timezone.now())
        else:
            submit_labels(task=again, annotator=task.annotator, at=timezone.now())
    third = second_task(task, 2)
    panel.vote(third, "emergency")
    with pytest.raises(DomainError, match="already voted on this case"):
        submit_labels(task=third, annotator=task.annotator, at=timezone.now())
    # Another question is another vote.
    own = LabelTask.objects.get(batch=batch, case=task.case, annotator=task.annotator)
    Panel(panel.benchmark, panel.admin, panel.group, other, batch).vote(own, "self-care")
    submit_labels(task=own, annotator=task.annotator, at=timezone.now())
    assert LabelTask.objects.filter(status="submitted").count() == 3


def test_a_second_round_needs_a_vote_of_the_first(panel: Panel) -> None:
    task = panel.tasks("a")[0]
    panel.vote(task, "self-care")  # not handed in
    again = second_task(task)
    panel.vote(again, "emergency")
    with pytest.raises(DomainError, match="first round"):
        submit_labels(task=again, annotator=task.annotator, at=timezone.now())
    submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    submit_labels(task=again, annotator=task.annotator, at=timezone.now())
    with refused("annotation_labeltask_round"), transaction.atomic():
        second_task(panel.tasks("b")[0], 3)


def test_what_was_handed_in_keeps_its_round_case_and_physician(panel: Panel) -> None:
    panel.say("a", "self-care")
    task, other = panel.tasks("a")[0], panel.tasks("b")[1]
    for change in (
        {"round": 2}, {"case": other.case}, {"annotator": other.annotator}, {"submitted_at": timezone.now()},
        {"batch": second_task(other).batch}, {"status": "draft"}, {"status": "released"},
    ):  # fmt: skip
        with refused("stay handed in"), transaction.atomic():
            LabelTask.objects.filter(pk=task.pk).update(**change)


def test_a_vote_is_not_put_aside_by_moving_its_answer(panel: Panel) -> None:
    panel.say("a", "self-care")
    choice = question(panel.benchmark)
    vote = LabelAnswer.objects.get()
    draft = panel.tasks("b")[0]
    for change in ({"question": choice}, {"task": draft}, {"value": "emergency"}):
        with refused("stays with its question|never changes"), transaction.atomic():
            LabelAnswer.objects.filter(pk=vote.pk).update(**change)
    # A choice that was handed in becomes no vote either.
    batch = give_out(panel.group, choice, annotators=5, seed=2)
    task = batch.label_tasks.select_related("annotator", "batch").first()
    assert task is not None
    change = AnswerInput(choice.public_id, "emergent")
    answer = save_answer(task=task, annotator=task.annotator, change=change, at=timezone.now())
    with refused("stays with its question"), transaction.atomic():
        LabelAnswer.objects.filter(pk=answer.pk).update(question=panel.question, value="self-care")


def test_a_task_is_not_made_as_handed_in_with_a_vote(panel: Panel) -> None:
    task = panel.tasks("a")[0]
    batch = second_task(panel.tasks("b")[0]).batch
    at = timezone.now()
    # References are checked at the end of a transaction, so a vote can be there before its task.
    with refused("after their task is there"), transaction.atomic():
        LabelAnswer.objects.create(
            task_id=task.pk + 10_000, question=panel.question, value="self-care", created_at=at, updated_at=at
        )
        LabelTask.objects.create(
            pk=task.pk + 10_000, batch=batch, case=task.case, annotator=task.annotator, status="submitted",
            submitted_at=at,
        )  # fmt: skip


def test_a_question_with_votes_keeps_its_scale(panel: Panel) -> None:
    other = level_question(panel.benchmark, "other", "three")
    question_of = LabelQuestion.objects.filter(pk=panel.question.pk)
    question_of.update(scale=other.scale)  # as long as nobody has voted
    question_of.update(scale=panel.question.scale)
    panel.say("a", "self-care")
    for change in ({"scale": other.scale}, {"scale": None, "kind": "choice"}, {"benchmark": BenchmarkFactory()}):
        with refused("keeps its scale"), transaction.atomic():
            question_of.update(**change)
    ruled = LabelQuestion.objects.filter(pk=other.pk)
    RulingRequest.objects.create(
        question=other, case=Case.objects.get(key="b"), group=panel.group, position=1, ambiguous_threshold=0.75,
        requested_at=timezone.now(),
    )  # fmt: skip
    with refused("keeps its scale"), transaction.atomic():
        ruled.update(scale=panel.question.scale)


def test_who_voted_does_not_rule_and_who_ruled_does_not_vote(panel: Panel) -> None:
    panel.say("a", "self-care")
    voter = panel.tasks("a")[0].annotator
    with refused("does not rule"), transaction.atomic():
        rule(panel, voter)
    drafting = panel.tasks("b")[1]
    panel.vote(drafting, "self-care")
    with refused("does not rule"), transaction.atomic():
        rule(panel, drafting.annotator, key="b")
    other = panel.tasks("c")[2]
    rule(panel, other.annotator, key="c")
    panel.vote(other, "emergency")
    with pytest.raises(DomainError, match="cannot both vote and rule"):
        submit_labels(task=other, annotator=other.annotator, at=timezone.now())


def test_a_ruling_is_one_of_the_scale_and_stands(panel: Panel) -> None:
    for low, high, sentence in (
        (0, 2, "annotation_acuityruling_levels"), (2, 1, "annotation_acuityruling_levels"),
        (None, 1, "annotation_acuityruling_levels"), (1, None, "annotation_acuityruling_levels"),
        (4, 4, "level of the scale"), (3, 4, "level of the scale"),
    ):  # fmt: skip
        with refused(sentence), transaction.atomic():
            rule(panel, adjudicator(panel), low, high)
    ruling = rule(panel, adjudicator(panel), None, None)
    with refused("annotation_acuityruling_once"), transaction.atomic():
        rule(panel, adjudicator(panel))
    with refused("Cannot update or delete"), transaction.atomic():
        AcuityRuling.objects.update(low=0, high=0)
    with refused("Cannot update or delete"), transaction.atomic():
        ruling.delete()
    with refused("annotation_acuityruling_reason"), transaction.atomic():
        case = Case.objects.get(benchmark=panel.benchmark, key="b")
        AcuityRuling.objects.create(
            question=panel.question, case=case, adjudicator=UserFactory(), reason="mood", created_at=timezone.now()
        )


def test_a_set_holds_votes_that_were_handed_in_before_it(panel: Panel) -> None:
    panel.say("a", "self-care", "self-care", "cannot-tell")
    handed_in = LabelTask.objects.filter(status="submitted").latest("submitted_at").submitted_at
    assert handed_in is not None
    assert panel.question.scale is not None
    case = Case.objects.get(benchmark=panel.benchmark, key="a")

    def freeze(number: int, at: timedelta, **votes: object) -> None:
        signed = ReferenceSet.objects.create(
            benchmark=panel.benchmark, number=number, scale=panel.question.scale, datasets=[], digest="0" * 64,
            signed_at=handed_in + at,
        )  # fmt: skip
        ReferenceItem.objects.create(
            reference_set=signed, case=case, status="clear", source="panel", low=0, high=0, **votes
        )

    now = timedelta()
    for at, votes in (
        (timedelta(microseconds=-1), {"votes": [0, 0], "n_cannot_tell": 1}),
        (now, {"votes": [0, 0, 0], "n_cannot_tell": 1}),
        (now, {"votes": [0, 0], "later_votes": [0]}),
    ):
        with refused("handed in before it"), transaction.atomic():
            freeze(1, at, **votes)
    freeze(1, now, votes=[0, 0], n_cannot_tell=1)
    freeze(2, timedelta(microseconds=-1))


@pytest.mark.parametrize("status", ["clear", "boundary", "ambiguous"])
def test_a_reference_has_both_ends(panel: Panel, status: str) -> None:
    scale, cases = panel.question.scale, list(Case.objects.order_by("key"))
    assert scale is not None
    signed = ReferenceSet.objects.create(
        benchmark=panel.benchmark, number=1, scale=scale, datasets=[], digest="0" * 64, signed_at=timezone.now()
    )
    for low, high in ((1, None), (None, 1), (None, None), (2, 0)):
        with refused("annotation_referenceitem_levels"), transaction.atomic():
            ReferenceItem.objects.create(reference_set=signed, case=cases[0], status=status, low=low, high=high)
    high = 2 if status == "boundary" else 1
    ReferenceItem.objects.create(reference_set=signed, case=cases[0], status=status, low=1, high=high)


@pytest.mark.django_db(transaction=True)
def test_a_signed_set_takes_no_further_items() -> None:
    panel = build_panel()
    scale, cases = panel.question.scale, list(Case.objects.order_by("key"))
    assert scale is not None

    def sign(number: int) -> ReferenceSet:
        return ReferenceSet.objects.create(
            benchmark=panel.benchmark, number=number, scale=scale, datasets=[], digest="0" * 64,
            signed_at=timezone.now(),
        )  # fmt: skip

    def add(own: ReferenceSet, case: Case) -> None:
        ReferenceItem.objects.create(reference_set=own, case=case, status="clear", low=1, high=1)

    with transaction.atomic():
        first, second = sign(1), sign(2)
        add(first, cases[0])
        with transaction.atomic():
            add(second, cases[0])
    for own in (first, second):
        with refused("takes no further items"):
            add(own, cases[1])
    with refused("takes no further items"), transaction.atomic():
        sign(3)
        add(first, cases[1])
    assert ReferenceItem.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("other", ["vote", "ruling"])
def test_two_votes_and_a_vote_and_a_ruling_of_one_physician_wait_for_each_other(other: str) -> None:
    panel = build_panel()
    task = panel.tasks("a")[0]
    if other == "vote":
        again = second_task(task, 1)
        panel.vote(again, "emergency")
        panel.vote(task, "self-care")
    errors: list[str] = []

    def write() -> None:
        try:
            if other == "ruling":
                rule(panel, task.annotator)
            else:
                LabelTask.objects.filter(pk=again.pk).update(status="submitted", submitted_at=timezone.now())
        except DatabaseError as error:
            errors.append(str(error))
        finally:
            connection.close()

    thread = Thread(target=write)
    with transaction.atomic():
        if other == "ruling":
            panel.vote(task, "self-care")  # which the other transaction does not see yet
        LabelTask.objects.filter(pk=task.pk).update(status="submitted", submitted_at=timezone.now())
        thread.start()
        sleep(0.3)
        assert thread.is_alive()
    thread.join(60)
    assert ("votes once in a round" if other == "vote" else "does not rule") in errors[0]
    assert LabelTask.objects.filter(status="submitted").count() == 1
    assert not AcuityRuling.objects.exists()
