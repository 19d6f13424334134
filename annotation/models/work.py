"""Batches, assignments, and the decisions of annotators."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.models.groups import ExpertGroup
from annotation.models.outcomes import Outcome
from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.labels import STATUS_LABELS
from consilium.core.limits import MAX_TITLE_LENGTH
from rubrics.models import Case, Criterion, Response, Rubric


@audited
class Batch(models.Model):
    """Responses given to an expert group, with the frame they were drawn from."""

    class Kind(models.TextChoices):
        GRADE = "grade", _("Grade responses")
        LABEL = "label", _("Answer questions about cases")
        QUALIFY = "qualify", _("Qualification")
        WRITE = "write", _("Write responses")

    class CheckPolicy(models.TextChoices):
        NONE = "none", _("No secondary check")
        SAMPLE = "sample", _("A random share")
        ALL = "all", _("Every response")

    class Status(models.TextChoices):
        OPEN = "open", STATUS_LABELS["open"]
        PAUSED = "paused", STATUS_LABELS["paused"]
        CLOSED = "closed", STATUS_LABELS["closed"]

    class Order(models.TextChoices):
        BY_CASE = "by_case", _("Case by case")
        SHUFFLED = "shuffled", _("Fully shuffled")

    class Strategy(models.TextChoices):
        PLANNED = "planned", _("Assigned when the batch is created")
        POOL = "pool", _("Claimed one by one from a pool")

    class SpecialtyMatch(models.TextChoices):
        NONE = "none", _("Any specialty")
        PREFERRED = "preferred", _("Matching specialty first")
        REQUIRED = "required", _("Matching specialty only")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="batches")
    title = models.CharField(_("title"), max_length=MAX_TITLE_LENGTH)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.GRADE)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    order = models.CharField(_("order"), max_length=10, choices=Order.choices, default=Order.BY_CASE)
    annotators_per_item = models.PositiveSmallIntegerField(
        _("annotators per response"), default=1, validators=[MinValueValidator(1)]
    )
    check_policy = models.CharField(
        _("secondary check"), max_length=10, choices=CheckPolicy.choices, default=CheckPolicy.ALL
    )
    check_fraction = models.FloatField(
        _("share to check"), default=1.0, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    strategy = models.CharField(_("assignment"), max_length=10, choices=Strategy.choices, default=Strategy.PLANNED)
    specialty_match = models.CharField(
        _("specialty"), max_length=10, choices=SpecialtyMatch.choices, default=SpecialtyMatch.NONE
    )
    # Whether nobody gets a case in a language that, by their profile, they do not read.
    match_languages = models.BooleanField(_("languages"), default=False, db_default=False)
    # Untouched work goes back to the pool after this many hours; empty: never automatically.
    lease_hours = models.PositiveSmallIntegerField(
        _("lease, hours"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    gold_per_annotator = models.PositiveSmallIntegerField(_("gold items for each annotator"), default=0)
    # Work is handed in only when each criterion that cannot be assessed has a note.
    explain_cannot_assess = models.BooleanField(_("note required for “Can’t assess”"), default=False, db_default=False)
    due_date = models.DateField(_("due"), null=True, blank=True)
    seed = models.BigIntegerField(_("seed"))
    # Digest of the preview whose form was sent; empty where the request named no preview.
    plan_digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    # The filter that the responses were drawn by, and how many it matched. In a qualification: `agreed_shown_at`, when
    # its agreed decisions were first shown.
    frame = models.JSONField(default=dict)
    imported = models.BooleanField(default=False)  # decisions made elsewhere
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(check_fraction__gte=0, check_fraction__lte=1), name="annotation_batch_fraction"
            ),
            models.CheckConstraint(condition=Q(annotators_per_item__gte=1), name="annotation_batch_annotators"),
            models.CheckConstraint(
                condition=Q(status="closed", closed_at__isnull=False) | (~Q(status="closed") & Q(closed_at=None)),
                name="annotation_batch_closed_at",
            ),
            # A preview makes one batch, however often its form is sent.
            models.UniqueConstraint(
                fields=["group", "kind", "seed", "plan_digest"],
                condition=~Q(plan_digest=""),
                name="annotation_batch_of_preview_once",
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="end_open_work",
                when=pgtrigger.After,
                operation=pgtrigger.UpdateOf("status"),
                condition=pgtrigger.Q(new__status="closed") & ~pgtrigger.Q(old__status="closed"),
                func="""
                    UPDATE annotation_assignment SET batch_closed = true
                        WHERE batch_id = NEW.id AND status NOT IN ('accepted', 'released');
                    RETURN NULL;
                """,
            )
        ]

    def __str__(self) -> str:
        return self.title


class BatchItem(models.Model):
    """A response in a batch, with the probability with which it was drawn."""

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="items")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="batch_items")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    inclusion_probability = models.FloatField(default=1.0)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "response"], name="annotation_batchitem_once"),
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="annotation_batchitem_probability",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.response} in {self.batch}"


class Slot(models.Model):
    """Room for one annotator on one response of a batch: ``number`` counts from 1 to the annotators per item.

    It is taken while an assignment that was not released points to it; at most one such assignment may (`Assignment`).
    """

    item = models.ForeignKey(BatchItem, on_delete=models.PROTECT, related_name="slots")
    number = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["item", "number"], name="annotation_slot_once")]

    def __str__(self) -> str:
        return f"{self.item}, {self.number}"

    @property
    def response(self) -> Response:
        """The response of the item."""
        return self.item.response

    @property
    def response_id(self) -> int:
        """Id of the item's response."""
        return self.item.response_id

    @property
    def case_id(self) -> int:
        """Id of the case of the item's response."""
        return self.item.response.case_id


class Part(models.TextChoices):
    """The one role that a person has for a response."""

    ANNOTATOR = "annotator", _("Annotator")
    CHECKER = "checker", _("Secondary checker")
    ADJUDICATOR = "adjudicator", _("Adjudicator")


class Involvement(models.Model):
    """The role that a person has for a response.

    Rows are written by triggers (`play_a_part`), which refuse the response's author. By the unique key nobody has two
    roles for one response, or works on it for two groups, however requests race.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="involvements")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    part = models.CharField(max_length=15, choices=Part.choices)
    # NULL for adjudication between groups.
    group = models.ForeignKey(ExpertGroup, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["response", "user"], name="annotation_one_part_per_response")]

    def __str__(self) -> str:
        return f"{self.user}: {self.part}"


def play_a_part(user: str, part: str, group: str) -> str:
    """PL/pgSQL that enters ``user`` as ``part`` for NEW.response_id, or raises a check violation."""
    return f"""
        IF EXISTS (SELECT 1 FROM rubrics_response r WHERE r.id = NEW.response_id AND r.author_id = {user}) THEN
            RAISE EXCEPTION 'Nobody grades, checks or adjudicates a response of their own'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_not_the_author';
        END IF;
        INSERT INTO annotation_involvement (response_id, user_id, part, group_id)
            VALUES (NEW.response_id, {user}, '{part}', {group}) ON CONFLICT (response_id, user_id) DO NOTHING;
        IF NOT EXISTS (
            SELECT 1 FROM annotation_involvement i WHERE i.response_id = NEW.response_id AND i.user_id = {user}
               AND i.part = '{part}' AND i.group_id IS NOT DISTINCT FROM {group}
        ) THEN
            RAISE EXCEPTION 'This person already has another part for this response'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_one_part_per_response';
        END IF;
    """


class CaseWorkStatus(models.TextChoices):
    """States of one physician's work on a whole case: answers to questions about it, or a response to it."""

    NOT_STARTED = "not_started", STATUS_LABELS["not_started"]
    DRAFT = "draft", STATUS_LABELS["draft"]
    SUBMITTED = "submitted", STATUS_LABELS["submitted"]
    RELEASED = "released", STATUS_LABELS["released"]


@audited
class Assignment(models.Model):
    """One physician's work on one response: not started → draft → submitted → in check → returned / accepted."""

    class Status(models.TextChoices):
        NOT_STARTED = "not_started", STATUS_LABELS["not_started"]
        DRAFT = "draft", STATUS_LABELS["draft"]
        SUBMITTED = "submitted", STATUS_LABELS["submitted"]
        IN_CHECK = "in_check", STATUS_LABELS["in_check"]
        RETURNED = "returned", STATUS_LABELS["returned"]
        ACCEPTED = "accepted", STATUS_LABELS["accepted"]
        # Given to somebody else or back to the pool; its decisions stay on record and count nowhere.
        RELEASED = "released", STATUS_LABELS["released"]

    class Purpose(models.TextChoices):
        WORK = "work", _("Work")
        # Compared with a key and left out of every rating; its annotator sees no difference.
        GOLD = "gold", _("Gold item")
        QUALIFICATION = "qualification", _("Qualification")

    # States in which the annotator may still change the work.
    OPEN = (Status.NOT_STARTED, Status.DRAFT, Status.RETURNED)
    # States in which the work is not done yet, by its annotator or a checker.
    LIVE = (*OPEN, Status.SUBMITTED, Status.IN_CHECK)

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="assignments")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="assignments")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    criteria = ArrayField(models.BigIntegerField(), null=True, blank=True)  # NULL: all criteria of the rubric
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
    slot = models.ForeignKey(Slot, null=True, blank=True, on_delete=models.PROTECT, related_name="assignments")
    purpose = models.CharField(max_length=15, choices=Purpose.choices, default=Purpose.WORK)
    status = models.CharField(max_length=15, choices=Status.choices, default=Status.NOT_STARTED)
    round = models.PositiveSmallIntegerField(default=1)
    position = models.PositiveIntegerField(default=0)  # in the annotator's own shuffled queue
    to_check = models.BooleanField(default=False)  # drawn for a secondary check when the batch was made
    checker = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="checks"
    )
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)  # work that is untouched by then goes back to the pool
    released_at = models.DateTimeField(null=True, blank=True)
    # Set by triggers. Work that was open when its batch was closed is never done, and may be asked for again.
    batch_closed = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            # A slot has one annotator, however requests race for it.
            models.UniqueConstraint(
                fields=["slot"], condition=~Q(status="released"), name="annotation_slot_taken_once"
            ),
            models.UniqueConstraint(
                fields=["batch", "response", "rubric", "annotator"], name="annotation_assignment_once"
            ),
            # Nobody has the same work twice at a time, whatever batches ask for it. Other criteria are different work.
            models.UniqueConstraint(
                fields=["annotator", "response", "rubric", "criteria"],
                condition=Q(
                    status__in=["not_started", "draft", "returned", "submitted", "in_check"], batch_closed=False
                ),
                nulls_distinct=False,
                name="annotation_live_work_once",
            ),
            models.CheckConstraint(
                condition=Q(checker=None) | ~Q(checker=F("annotator")), name="annotation_checker_not_annotator"
            ),
        ]
        indexes = [
            # "My work": one physician's queue, in order.
            models.Index(fields=["annotator", "status", "position"], name="annotation_queue"),
            models.Index(fields=["response", "status"], name="annotation_by_response"),
            # Work that waits for any checker of the group.
            models.Index(fields=["batch"], condition=Q(status="submitted"), name="annotation_waiting_check"),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="one_part_each",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("annotator_id", "checker_id", "response_id"),
                declare=[("the_group", "bigint")],
                func=f"""
                    SELECT b.group_id, b.status = 'closed' INTO the_group, NEW.batch_closed
                        FROM annotation_batch b WHERE b.id = NEW.batch_id;
                    {play_a_part("NEW.annotator_id", "annotator", "the_group")}
                    IF NEW.checker_id IS NOT NULL THEN
                        {play_a_part("NEW.checker_id", "checker", "the_group")}
                    END IF;
                    RETURN NEW;
                """,
            )
        ]

    def __str__(self) -> str:
        return f"{self.response} for {self.annotator}"

    @property
    def status_for_annotator(self) -> str:
        """The status with "in check" shown as submitted: gold items get no check, and must look like other work."""
        return "submitted" if self.status == self.Status.IN_CHECK else str(self.status)


@audited
class Decision(models.Model):
    """The annotator's outcome for one criterion in one round; empty: only a note or evidence was saved."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="decisions")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="decisions")
    round = models.PositiveSmallIntegerField(default=1)
    outcome = models.CharField(max_length=15, choices=Outcome.choices, null=True, blank=True)
    borderline = models.BooleanField(default=False)
    note = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)  # [{"quote", "start", "end"}], code points into the text
    answer = models.TextField(
        blank=True, default="", db_default=""
    )  # to the checker who asked to review this criterion
    version = models.PositiveIntegerField(default=1)  # counts saves; a save names the version it saw
    client_id = models.UUIDField(null=True, blank=True)  # of the last save, so that a repeated request changes nothing
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "criterion", "round"], name="annotation_decision_once"),
        ]
        indexes = [models.Index(fields=["criterion"], name="annotation_by_criterion")]
        triggers = [pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.outcome}"


class Skip(models.Model):
    """An annotator put off a response, or passed it on to somebody else."""

    class Reason(models.TextChoices):
        LATER = "later", _("Later")
        EXPERTISE = "expertise", _("Outside my field")
        UNREADABLE = "unreadable", _("Cannot be judged in its current form")
        OTHER = "other", _("Another reason")

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="skips")
    reason = models.CharField(_("reason"), max_length=15, choices=Reason.choices)
    note = models.TextField(_("note"), blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.reason}"


class Comment(models.Model):
    """A comment of an annotator, checker or admin on one piece of work; readers see the role, not the name."""

    class AuthorRole(models.TextChoices):
        ANNOTATOR = "annotator", _("Annotator")
        CHECKER = "checker", _("Secondary checker")
        ADMIN = "admin", _("Admin")

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    author_role = models.CharField(max_length=15, choices=AuthorRole.choices)
    text = models.TextField(_("comment"))
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="annotation_comment_says_something")]

    def __str__(self) -> str:
        return f"{self.author_role}: {self.text[:40]}"
