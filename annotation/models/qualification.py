"""Responses with known decisions, for qualification and for gold items in batches."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.groups import ExpertGroup
from annotation.models.outcomes import Outcome
from annotation.models.work import Batch
from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from rubrics.models import Benchmark, Criterion, Response, Rubric


class KeyedResponse(models.Model):
    """A response with an agreed decision on each criterion. It has one use, and comes into no new ordinary batch."""

    class Use(models.TextChoices):
        QUALIFICATION = "qualification", _("Qualification")
        GOLD = "gold", _("Gold item")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="keyed_responses")
    response = models.OneToOneField(Response, on_delete=models.PROTECT, related_name="key")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    use = models.CharField(_("use"), max_length=15, choices=Use.choices)
    active = models.BooleanField(default=True)  # withdrawn, never deleted: attempts were judged by it
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"Key of {self.response}"


@audited
class KeyedDecision(models.Model):
    """The agreed decision on one criterion, and why."""

    keyed = models.ForeignKey(KeyedResponse, on_delete=models.PROTECT, related_name="decisions")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=15, choices=Outcome.choices)
    explanation = models.TextField(_("explanation"), blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["keyed", "criterion"], name="annotation_keyed_decision_once")]

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.outcome}"


class QualificationRule(models.Model):
    """What a benchmark requires of annotators before they get work, and while they do it."""

    benchmark = models.OneToOneField(Benchmark, on_delete=models.PROTECT, related_name="qualification_rule")
    required = models.BooleanField(_("required"), default=False)
    pass_mark = models.FloatField(
        _("pass mark"), default=0.7, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )  # MF1 against the key, over all pairs of an attempt
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=2, validators=[MinValueValidator(1)])
    wait_hours = models.PositiveSmallIntegerField(_("hours between attempts"), default=0)
    # Responses in an attempt, drawn from those that the annotator has not had; None for the whole set each time.
    attempt_size = models.PositiveSmallIntegerField(
        _("responses per attempt"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    # An annotator whose MF1 on gold items is below `gold_mark` gets no new work, once they have made `gold_minimum`
    # gold decisions.
    gold_mark = models.FloatField(
        _("gold-item pass mark"), null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    gold_minimum = models.PositiveSmallIntegerField(
        _("minimum number of gold decisions"), default=60, validators=[MinValueValidator(1)]
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pass_mark__gte=0, pass_mark__lte=1), name="annotation_pass_mark"),
            models.CheckConstraint(
                condition=Q(gold_mark=None) | Q(gold_mark__gte=0, gold_mark__lte=1), name="annotation_gold_mark"
            ),
        ]

    def __str__(self) -> str:
        return f"Qualification of {self.benchmark}"


@audited
class QualificationAttempt(models.Model):
    """One physician's attempt at the qualification set."""

    class Status(models.TextChoices):
        OPEN = "open", _("In progress")
        PASSED = "passed", _("Passed")
        FAILED = "failed", _("Not passed")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="attempts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="qualification_attempts")
    number = models.PositiveSmallIntegerField()  # from 1
    batch = models.OneToOneField(Batch, on_delete=models.PROTECT, related_name="attempt")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    mf1 = models.FloatField(null=True, blank=True)  # empty while open, and where it is undefined
    pairs = models.PositiveIntegerField(default=0)
    pass_mark = models.FloatField()  # the rule's pass mark when the attempt began
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["user", "number"]
        constraints = [
            models.UniqueConstraint(fields=["group", "user", "number"], name="annotation_attempt_number_once"),
            models.UniqueConstraint(
                fields=["group", "user"], condition=Q(status="open"), name="annotation_one_open_attempt"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}, attempt {self.number}"
