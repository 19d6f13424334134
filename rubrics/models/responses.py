"""Candidates and their responses."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.limits import MAX_EXTERNAL_ID_LENGTH, MAX_KEY_LENGTH, MAX_SETTING_LENGTH
from rubrics.models.benchmarks import Benchmark
from rubrics.models.cases import Case

DERIVED = "derived"


class CandidateQuerySet(models.QuerySet["Candidate"]):
    def originals(self) -> Self:
        """Those that answered by themselves. Derived ones count nowhere unless they are named."""
        return self.exclude(kind=DERIVED)

    def called(self, names: Collection[str]) -> Self:
        """Those with one of these names. An id is accepted in place of a name, unless a candidate is called so."""
        by_name = models.Q(name__in=list(names))
        taken = self.filter(by_name).values_list("name", flat=True)
        return self.filter(by_name | models.Q(public_id__in=set(names) - set(taken)))


class Candidate(models.Model):
    """Who answered: a model, a physician, or the reference completions that came with the cases.

    A *derived* candidate has responses that were made from those of another one. It is left out of batches, runs,
    scores, calibrations, leaderboards and releases that do not name it.
    """

    class Kind(models.TextChoices):
        MODEL = "model", _("Model")
        PHYSICIAN = "physician", _("Physician")
        REFERENCE = "reference", _("Reference")
        DERIVED = DERIVED, _("Derived")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="candidates")
    name = models.CharField(_("name"), max_length=MAX_KEY_LENGTH)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.MODEL)
    metadata = models.JSONField(default=dict, blank=True)

    objects = CandidateQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "name"], name="rubrics_candidate_name_once")]

    def __str__(self) -> str:
        return self.name


class ResponseQuerySet(models.QuerySet["Response"]):
    def of_originals(self, named: Collection[str] = ()) -> Self:
        """Those of candidates that answered by themselves, and of the derived ones with one of these names."""
        return self.filter(~models.Q(candidate__kind=DERIVED) | models.Q(candidate__name__in=list(named)))


class Response(models.Model):
    """What a candidate answered to a case. A blinded page knows it by ``public_id`` alone."""

    class WritingMode(models.TextChoices):
        UNKNOWN = "", _("Not by a physician, or unknown")
        UNAIDED = "unaided", _("Unaided")
        AIDED = "aided", _("With model references shown")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="responses")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="responses")
    setting = models.CharField(_("setting"), max_length=MAX_SETTING_LENGTH, default="chat")
    sample = models.PositiveIntegerField(_("sample"), default=0)
    text = models.TextField(_("text"))
    external_id = models.CharField(_("external id"), max_length=MAX_EXTERNAL_ID_LENGTH, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="responses"
    )
    derived_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="derived")
    writing_mode = models.CharField(max_length=10, choices=WritingMode.choices, default=WritingMode.UNKNOWN, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ResponseQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["case", "candidate", "setting", "sample"], name="rubrics_response_once")
        ]
        indexes = [models.Index(fields=["candidate", "case"], name="rubrics_response_candidate")]
        triggers = [
            # Evidence is stored as offsets into the text, and its author decides who may grade it.
            pgtrigger.ReadOnly(
                name="content_stands", fields=["public_id", "case", "candidate", "setting", "sample", "text", "author"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.candidate} on {self.case}"
