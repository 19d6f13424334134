"""Secondary checks and adjudications: separate rows that never overwrite decisions."""

from __future__ import annotations

from functools import reduce
from operator import or_

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from annotation.models.acuity import RulingRequest
from annotation.models.codes import CodeRuling
from annotation.models.groups import ExpertGroup
from annotation.models.labels import LabelTask
from annotation.models.outcomes import Outcome, RulingOutcome
from annotation.models.work import Assignment, play_a_part
from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.labels import STATUS_LABELS
from rubrics.models import Criterion, Response, Rubric


@audited
class Check(models.Model):
    """A secondary check of one round; its amendments are kept beside the decisions and overwrite none."""

    class Result(models.TextChoices):
        ACCEPTED = "accepted", STATUS_LABELS["accepted"]
        RETURNED = "returned", STATUS_LABELS["returned"]

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="checks")
    round = models.PositiveSmallIntegerField()
    checker = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    result = models.CharField(max_length=10, choices=Result.choices, blank=True)  # empty: still open
    note = models.TextField(blank=True)
    # How many criteria the annotator was asked to review when the work was returned (`Amendment.to_review`).
    n_to_review = models.PositiveSmallIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "round"], name="annotation_check_once"),
            models.CheckConstraint(
                condition=~Q(result="returned") | ~Q(note="") | Q(n_to_review__gt=0),
                name="annotation_return_has_a_note",
            ),
            models.CheckConstraint(
                condition=Q(result="returned") | Q(n_to_review=0), name="annotation_review_of_returned_work"
            ),
        ]

    def __str__(self) -> str:
        return f"Check of {self.assignment}"


@audited
class Amendment(models.Model):
    """What a checker says about one criterion: another outcome with the reason, or what to review if it is returned."""

    check_row = models.ForeignKey(Check, on_delete=models.PROTECT, related_name="amendments")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    # Empty: the checker took the amendment back; the row stays for the record.
    outcome = models.CharField(max_length=15, choices=Outcome.choices, blank=True)
    # The annotator is asked to review their own decision; the reason is one line that says why.
    to_review = models.BooleanField(default=False, db_default=False)
    reason = models.TextField()
    version = models.PositiveIntegerField(default=1)  # raised by 1 with every save; a stale save is recognised by it
    client_id = models.UUIDField(null=True, blank=True)  # of the last save, so that a repeated request is recognised
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["check_row", "criterion"], name="annotation_amendment_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="annotation_amendment_has_a_reason"),
            models.CheckConstraint(
                condition=Q(to_review=False) | Q(outcome=""), name="annotation_amended_or_to_review"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.outcome}"


@audited
class Adjudication(models.Model):
    """Conflicts about one response, given to one person: within a group, or between two groups (the consensus)."""

    class Status(models.TextChoices):
        OPEN = "open", STATUS_LABELS["conflict"]
        DONE = "done", STATUS_LABELS["adjudicated"]

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="adjudications")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="adjudications")
    # Set where two groups differ; its rulings belong to the consensus and change the ratings of neither group.
    other_group = models.ForeignKey(ExpertGroup, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    criteria = ArrayField(models.BigIntegerField())  # ids of the criteria in conflict when it was opened
    agreement = models.FloatField()  # share of the rubric's criteria without conflict; the lowest share comes first
    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="adjudications"
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["agreement", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["response", "rubric", "group", "other_group"],
                nulls_distinct=False,
                name="annotation_adjudication_once",
            ),
            models.CheckConstraint(
                condition=Q(other_group=None) | ~Q(other_group=F("group")), name="annotation_two_groups"
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="one_part_each",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("adjudicator_id", "response_id"),
                declare=[("the_group", "bigint")],
                func=f"""
                    IF NEW.adjudicator_id IS NOT NULL THEN
                        the_group := CASE WHEN NEW.other_group_id IS NULL THEN NEW.group_id END;
                        {play_a_part("NEW.adjudicator_id", "adjudicator", "the_group")}
                    END IF;
                    RETURN NEW;
                """,
            )
        ]

    def __str__(self) -> str:
        return f"Adjudication of {self.response}"


@audited
class Ruling(models.Model):
    """The adjudicator's outcome for one conflict, with the reason."""

    adjudication = models.ForeignKey(Adjudication, on_delete=models.PROTECT, related_name="rulings")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    # Empty: the adjudicator took the ruling back. A finished adjudication has no empty rulings.
    outcome = models.CharField(max_length=15, choices=RulingOutcome.choices, blank=True)
    reason = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)  # see `Amendment.version`
    client_id = models.UUIDField(null=True, blank=True)
    # When the adjudication was finished, or the ruling imported: from then on it counts, also while the adjudication
    # is open again for other criteria. Null: it does not count yet.
    final_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["adjudication", "criterion"], name="annotation_ruling_once"),
            models.CheckConstraint(
                condition=~Q(outcome="faulty") | ~Q(reason=""), name="annotation_faulty_has_a_reason"
            ),
            models.CheckConstraint(
                condition=Q(final_at=None) | ~Q(outcome=""), name="annotation_final_ruling_has_an_outcome"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.outcome}"


PIECES_WITH_TIME = ("assignment", "adjudication", "label_task", "ruling_request", "code_ruling")


class Attention(models.Model):
    """Time that a person spent at one piece of work, in seconds; idle time beyond two minutes is not counted.

    It is shown to that person, and to admins only as medians over many pieces.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    assignment = models.ForeignKey(Assignment, null=True, on_delete=models.PROTECT, related_name="attention")
    adjudication = models.ForeignKey(Adjudication, null=True, on_delete=models.PROTECT, related_name="attention")
    label_task = models.ForeignKey(LabelTask, null=True, on_delete=models.PROTECT, related_name="attention")
    # Whose case an adjudicator rules on.
    ruling_request = models.ForeignKey(RulingRequest, null=True, on_delete=models.PROTECT, related_name="attention")
    code_ruling = models.ForeignKey(CodeRuling, null=True, on_delete=models.PROTECT, related_name="attention")
    seconds = models.PositiveIntegerField(default=0)
    reported_at = models.DateTimeField()  # of the last report; no report may claim more time than has passed since then

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", *PIECES_WITH_TIME],
                nulls_distinct=False,
                name="annotation_attention_once",
            ),
            models.CheckConstraint(
                # Exactly one of them.
                condition=reduce(
                    or_,
                    (
                        Q(**{f"{other}__isnull": other != piece for other in PIECES_WITH_TIME})
                        for piece in PIECES_WITH_TIME
                    ),
                ),
                name="annotation_attention_of_one_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.seconds} s"
