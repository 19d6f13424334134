"""Draft rubrics: their items, their contributors, and reviewers' comments."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited
from consilium.core.labels import STATUS_LABELS
from rubrics.models.cases import Case, Rubric


def _stays_with_its_rubric() -> list[pgtrigger.Trigger]:
    """Triggers that let a row be deleted only with its rubric, and never be moved to another rubric.

    The draft and its contributors prove that somebody who did not write the rubric has approved it. The check runs at
    the end of the transaction, because a discarded draft is deleted before its rubric.
    """
    return [
        pgtrigger.Trigger(
            name="stays_with_its_rubric",
            when=pgtrigger.After,
            operation=pgtrigger.Delete | pgtrigger.UpdateOf("rubric_id"),
            timing=pgtrigger.Deferred,
            func="""
                IF (TG_OP = 'DELETE' OR NEW.rubric_id <> OLD.rubric_id)
                   AND EXISTS (SELECT 1 FROM rubrics_rubric r WHERE r.id = OLD.rubric_id) THEN
                    RAISE EXCEPTION 'The record of how a rubric was written stays with it'
                        USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_draft_stays';
                END IF;
                RETURN NULL;
            """,
        ),
        pgtrigger.Trigger(
            name="no_truncate",
            level=pgtrigger.Statement,
            when=pgtrigger.Before,
            operation=pgtrigger.Truncate,
            func="RAISE EXCEPTION 'The record of how rubrics were written cannot be truncated';",
        ),
    ]


class RubricDraft(models.Model):
    """The content of the editor, saved while it is written. Criteria become rows when the rubric is published.

    It stays after that, as the record of what was approved: the digest says which content a review is about.
    """

    rubric = models.OneToOneField(Rubric, on_delete=models.CASCADE, related_name="draft")
    content = models.JSONField(default=dict, encoder=DjangoJSONEncoder)  # as `rubrics.editor.draft_content` reads it
    digest = models.CharField(max_length=64)  # SHA-256 of what a reviewer reads: criteria and case
    version = models.PositiveIntegerField(default=1)  # counts saves; a save names the one it saw
    client_id = models.UUIDField(null=True, blank=True)  # of the last save, so that a repeated one changes nothing
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    saved_at = models.DateTimeField()

    class Meta:
        triggers = _stays_with_its_rubric()

    def __str__(self) -> str:
        return f"Draft of {self.rubric}"


class RubricContributor(models.Model):
    """Somebody who wrote on a draft, and for how long; they cannot approve it."""

    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="contributors")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="rubrics_written")
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rubric", "user"], name="rubrics_contributor_once")]
        triggers = [
            *_stays_with_its_rubric(),
            pgtrigger.Protect(
                name="stays_the_same_person", operation=pgtrigger.Update, condition=pgtrigger.AnyChange("user")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} on {self.rubric}"


@audited
class RubricReview(models.Model):
    """A second physician's review of a draft: approved, or returned with the reason. Each round is a row."""

    class Outcome(models.TextChoices):
        APPROVED = "approved", _("Approved")
        RETURNED = "returned", STATUS_LABELS["returned"]

    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="reviews")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="rubric_reviews")
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    digest = models.CharField(max_length=64)  # of the draft that was read
    comment = models.TextField(_("comment"), blank=True)
    item_comments = models.JSONField(default=dict, blank=True)  # {id of the item in the draft: text}
    content = models.JSONField(null=True, blank=True)  # what was read, so that the reviewer sees what has changed since
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "reviewer", "digest"], name="rubrics_review_once"),
            models.CheckConstraint(
                condition=models.Q(outcome="approved") | ~models.Q(comment=""), name="rubrics_return_has_a_comment"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.outcome}"


class PrivacyWaiver(models.Model):
    """A person's reason why a text that seems to name a person may stay."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="privacy_waivers")
    kind = models.CharField(max_length=30)  # of `rubrics.parsing.privacy`
    quote = models.TextField()
    reason = models.TextField()
    waived_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    waived_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "kind", "quote"], name="rubrics_waiver_once"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="rubrics_waiver_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason[:40]}"


class AuthoringTime(models.Model):
    """How long a person had a case open, by activity; browsers report it
    (`consilium.core.active_time`).
    """

    class Activity(models.TextChoices):
        WRITE = "write", _("Writing")
        REVIEW = "review", _("Reviewing")
        AUDIT = "audit", _("Auditing")

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="authoring_times")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="authoring_times")
    activity = models.CharField(max_length=10, choices=Activity.choices)
    seconds = models.PositiveIntegerField(default=0)
    reported_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["case", "user", "activity"], name="rubrics_authoringtime_once")]

    def __str__(self) -> str:
        return f"{self.user}: {self.seconds} s"
