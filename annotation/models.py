"""Expert groups, batches, assignments, decisions, checks and adjudication."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from consilium.lib.audit import audited
from consilium.lib.identifiers import new_public_id
from rubrics.models import Benchmark, Case, Criterion, Response, Rubric


class Outcome(models.TextChoices):
    """What a physician says of a (response, criterion) pair."""

    MET = "met", _("Met")
    NOT_MET = "not_met", _("Not met")
    CANNOT_ASSESS = "cannot_assess", _("Cannot assess")


class RulingOutcome(models.TextChoices):
    """What an adjudicator says of a conflict."""

    MET = "met", _("Met")
    NOT_MET = "not_met", _("Not met")
    CANNOT_ASSESS = "cannot_assess", _("Cannot assess")
    FAULTY = "faulty", _("The criterion is faulty")


class ExpertGroup(models.Model):
    """Physicians who judge together, independent of the benchmark's other group."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="groups")
    name = models.CharField(_("name"), max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "name"], name="annotation_group_name_once")]

    def __str__(self) -> str:
        return self.name


class Physician(models.Model):
    """A person's stable pseudonym within a benchmark, under which decisions leave the house."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="physicians")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="pseudonyms")
    pseudonym = models.CharField(_("pseudonym"), max_length=200)

    class Meta:
        ordering = ["pseudonym"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "user"], name="annotation_physician_user_once"),
            models.UniqueConstraint(fields=["benchmark", "pseudonym"], name="annotation_physician_pseudonym_once"),
        ]

    def __str__(self) -> str:
        return self.pseudonym


@audited
class Membership(models.Model):
    """A physician's part in an expert group. Members are deactivated, never deleted: history stands."""

    class Role(models.TextChoices):
        ANNOTATOR = "annotator", _("Annotator")
        CHECKER = "checker", _("Secondary checker")
        ADJUDICATOR = "adjudicator", _("Adjudicator")

    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(_("role"), max_length=15, choices=Role.choices)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["group", "role", "user"]
        constraints = [
            models.UniqueConstraint(fields=["group", "user", "role"], name="annotation_membership_once"),
        ]
        triggers = [
            pgtrigger.Trigger(
                # Who runs the benchmark sees candidates' names; who sits in one group must not sit in the other.
                name="independent",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                declare=[("benchmark", "bigint")],
                func="""
                    SELECT g.benchmark_id INTO benchmark FROM annotation_expertgroup g WHERE g.id = NEW.group_id;
                    PERFORM pg_advisory_xact_lock(1001, benchmark::int);
                    IF EXISTS (
                        SELECT 1 FROM rubrics_benchmarkrole r
                        WHERE r.user_id = NEW.user_id AND r.benchmark_id = benchmark
                    ) THEN
                        RAISE EXCEPTION 'Who runs the benchmark cannot be a member of its expert groups'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_membership_not_staff';
                    END IF;
                    IF NEW.active AND EXISTS (
                        SELECT 1 FROM annotation_membership m JOIN annotation_expertgroup g ON g.id = m.group_id
                        WHERE m.user_id = NEW.user_id AND m.active AND g.benchmark_id = benchmark
                          AND m.group_id <> NEW.group_id
                    ) THEN
                        RAISE EXCEPTION 'A physician belongs to one expert group of a benchmark'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_membership_one_group';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.user}, {self.get_role_display()}"


@audited
class Batch(models.Model):
    """Responses given to an expert group, with the frame they were drawn from."""

    class Kind(models.TextChoices):
        GRADE = "grade", _("Grade responses")

    class CheckPolicy(models.TextChoices):
        NONE = "none", _("No secondary check")
        SAMPLE = "sample", _("A random share")
        ALL = "all", _("Every response")

    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        PAUSED = "paused", _("Paused")
        CLOSED = "closed", _("Closed")

    class Order(models.TextChoices):
        BY_CASE = "by_case", _("Case by case")
        SHUFFLED = "shuffled", _("Fully shuffled")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="batches")
    title = models.CharField(_("title"), max_length=200)
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
    due_date = models.DateField(_("due"), null=True, blank=True)
    seed = models.BigIntegerField(_("seed"))
    frame = models.JSONField(default=dict)  # the filter that the responses were drawn by, and how many it held
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
        ]

    def __str__(self) -> str:
        return self.title


class BatchItem(models.Model):
    """A response in a batch, with the probability by which it came in."""

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


class Part(models.TextChoices):
    """The one part that a person plays for a response."""

    ANNOTATOR = "annotator", _("Annotator")
    CHECKER = "checker", _("Secondary checker")
    ADJUDICATOR = "adjudicator", _("Adjudicator")


class Involvement(models.Model):
    """Who plays which part for a response. Written by triggers; its unique key is what holds

    author ≠ annotator ≠ checker ≠ adjudicator, and nobody in two groups on one response, however requests race.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="involvements")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    part = models.CharField(max_length=15, choices=Part.choices)
    # Empty for adjudication between groups.
    group = models.ForeignKey(ExpertGroup, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["response", "user"], name="annotation_one_part_per_response")]

    def __str__(self) -> str:
        return f"{self.user}: {self.part}"


def _play(user: str, part: str, group: str) -> str:
    """PL/pgSQL that enters ``user`` as ``part`` for NEW.response_id, or refuses."""
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


@audited
class Assignment(models.Model):
    """One physician's work on one response: not started → draft → submitted → in check → returned / accepted."""

    class Status(models.TextChoices):
        NOT_STARTED = "not_started", _("Not started")
        DRAFT = "draft", _("Draft")
        SUBMITTED = "submitted", _("Submitted")
        IN_CHECK = "in_check", _("In check")
        RETURNED = "returned", _("Returned")
        ACCEPTED = "accepted", _("Accepted")

    # What its annotator may still write to.
    OPEN = (Status.NOT_STARTED, Status.DRAFT, Status.RETURNED)

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="assignments")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="assignments")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    criteria = ArrayField(models.BigIntegerField(), null=True, blank=True)  # NULL: all of the rubric
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
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

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "response", "rubric", "annotator"], name="annotation_assignment_once"
            ),
            models.CheckConstraint(
                condition=Q(checker=None) | ~Q(checker=F("annotator")), name="annotation_checker_not_annotator"
            ),
        ]
        indexes = [
            # "My work": one physician's queue, in order.
            models.Index(fields=["annotator", "status", "position"], name="annotation_queue"),
            models.Index(fields=["response", "status"], name="annotation_by_response"),
            # What waits for any checker of the group.
            models.Index(fields=["batch"], condition=Q(status="submitted"), name="annotation_waiting_check"),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="one_part_each",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("annotator_id", "checker_id", "response_id"),
                declare=[("the_group", "bigint")],
                func=f"""
                    SELECT b.group_id INTO the_group FROM annotation_batch b WHERE b.id = NEW.batch_id;
                    {_play("NEW.annotator_id", "annotator", "the_group")}
                    IF NEW.checker_id IS NOT NULL THEN
                        {_play("NEW.checker_id", "checker", "the_group")}
                    END IF;
                    RETURN NEW;
                """,
            )
        ]

    def __str__(self) -> str:
        return f"{self.response} for {self.annotator}"


@audited
class Decision(models.Model):
    """What the annotator says of one criterion in one round; empty outcome: touched (note, evidence), not decided."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="decisions")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="decisions")
    round = models.PositiveSmallIntegerField(default=1)
    outcome = models.CharField(max_length=15, choices=Outcome.choices, null=True, blank=True)
    borderline = models.BooleanField(default=False)
    note = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)  # [{"quote", "start", "end"}], code points into the text
    version = models.PositiveIntegerField(default=1)  # counts saves; a save names the version it saw
    client_id = models.UUIDField(null=True, blank=True)  # of the last save, so that a repeated one changes nothing
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


@audited
class Check(models.Model):
    """A secondary check of one round; its amendments stand beside the decisions and overwrite none."""

    class Result(models.TextChoices):
        ACCEPTED = "accepted", _("Accepted")
        RETURNED = "returned", _("Returned")

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="checks")
    round = models.PositiveSmallIntegerField()
    checker = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    result = models.CharField(max_length=10, choices=Result.choices, blank=True)  # empty: still open
    note = models.TextField(blank=True)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "round"], name="annotation_check_once"),
            models.CheckConstraint(condition=~Q(result="returned") | ~Q(note=""), name="annotation_return_has_a_note"),
        ]

    def __str__(self) -> str:
        return f"Check of {self.assignment}"


@audited
class Amendment(models.Model):
    """A checker's other outcome for one criterion, with the reason."""

    check_row = models.ForeignKey(Check, on_delete=models.PROTECT, related_name="amendments")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    # Empty: the checker took the amendment back; the row stays for the record.
    outcome = models.CharField(max_length=15, choices=Outcome.choices, blank=True)
    reason = models.TextField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["check_row", "criterion"], name="annotation_amendment_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="annotation_amendment_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.outcome}"


@audited
class Adjudication(models.Model):
    """Conflicts about one response, given to one person: within a group, or between two (the consensus)."""

    class Status(models.TextChoices):
        OPEN = "open", _("Conflict")
        DONE = "done", _("Adjudicated")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="adjudications")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="adjudications")
    # Set where two groups differ; such a ruling belongs to the consensus and flows back into neither.
    other_group = models.ForeignKey(ExpertGroup, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    criteria = ArrayField(models.BigIntegerField())  # those in conflict when it was opened
    agreement = models.FloatField()  # share of the rubric's criteria without conflict; the lowest come first
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
                        {_play("NEW.adjudicator_id", "adjudicator", "the_group")}
                    END IF;
                    RETURN NEW;
                """,
            )
        ]

    def __str__(self) -> str:
        return f"Adjudication of {self.response}"


@audited
class Ruling(models.Model):
    """The adjudicator's word on one conflict."""

    adjudication = models.ForeignKey(Adjudication, on_delete=models.PROTECT, related_name="rulings")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=15, choices=RulingOutcome.choices)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["adjudication", "criterion"], name="annotation_ruling_once"),
            models.CheckConstraint(
                condition=~Q(outcome="faulty") | ~Q(reason=""), name="annotation_faulty_has_a_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.outcome}"
