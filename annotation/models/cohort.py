"""How physicians come to a benchmark: a call for applications, reviews of them, checks of licences, rotation."""

from __future__ import annotations

from typing import Any

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import PhysicianProfile
from consilium.core.audit import audited, audited_fields
from consilium.core.identifiers import new_public_id
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.limits import (
    MAX_INSTRUCTIONS_LENGTH,
    MAX_LICENCE_NUMBER_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_REASON_LENGTH,
    MAX_SPECIALTY_LENGTH,
    MAX_TITLE_LENGTH,
)
from rubrics.models import Benchmark


def new_call_token() -> str:
    """The secret part of the address at which people apply: 28 characters of base 62."""
    return new_public_id() + new_public_id()


# What a person states of themselves: it is erased with their application.
APPLICANT_FIELDS = (
    *("email", "name", "specialty", "languages", "licence_country", "licence_number", "years_in_practice"),
    *("seniority", "statement"),
)
NOTHING_STATED: dict[str, Any] = {
    **dict.fromkeys(APPLICANT_FIELDS, ""),
    "languages": [],
    "years_in_practice": None,
}


def _append_only() -> pgtrigger.Protect:
    return pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)


def _append_only_but_erasure(*kept: str) -> list[pgtrigger.Trigger]:
    """The row never changes, except that it is emptied once, after its application; ``kept`` columns stay even then.

    A check constraint says what an erased row is. No row is added that is empty, or to an erased application: the lock
    makes an insert wait for an erasure, and an erasure for an insert.
    """
    same = " AND ".join(f'NEW."{column}" IS NOT DISTINCT FROM OLD."{column}"' for column in kept)
    return [
        pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        pgtrigger.Trigger(
            name="append_only",
            when=pgtrigger.Before,
            operation=pgtrigger.Update,
            func=f"""
                IF NOT OLD.erased AND NEW.erased AND {same} AND EXISTS (
                    SELECT FROM annotation_application a
                    WHERE a.id = OLD.application_id AND a.erased_at IS NOT NULL
                ) THEN
                    RETURN NEW;
                END IF;
                RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;
            """,
        ),
        pgtrigger.Trigger(
            name="none_after_erasure",
            when=pgtrigger.Before,
            operation=pgtrigger.Insert,
            declare=[("of_application", "timestamptz")],
            func="""
                SELECT erased_at INTO of_application
                FROM annotation_application WHERE id = NEW.application_id FOR SHARE;
                IF NEW.erased OR of_application IS NOT NULL THEN
                    RAISE EXCEPTION 'pgtrigger: Cannot insert rows into % table', TG_TABLE_NAME;
                END IF;
                RETURN NEW;
            """,
        ),
    ]


@audited
class ApplicationCall(models.Model):
    """A benchmark's call for applications, and the rules by which an application is eligible.

    An empty list allows everything. Of ``languages`` an applicant has to read at least one.
    """

    benchmark = models.OneToOneField(Benchmark, on_delete=models.PROTECT, related_name="application_call")
    token = models.CharField(max_length=28, unique=True, default=new_call_token, editable=False)
    is_open = models.BooleanField(default=False)
    introduction = models.TextField(max_length=MAX_INSTRUCTIONS_LENGTH, blank=True)
    min_years = models.PositiveSmallIntegerField(null=True, blank=True)
    specialties = ArrayField(models.CharField(max_length=MAX_SPECIALTY_LENGTH), default=list, blank=True)
    languages = ArrayField(models.CharField(max_length=MAX_LANGUAGE_LENGTH), default=list, blank=True)
    countries = ArrayField(models.CharField(max_length=2), default=list, blank=True)
    seniorities = ArrayField(models.CharField(max_length=12), default=list, blank=True)
    licence_required = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"Call for {self.benchmark}"


# What a person states is in the row alone, which never changes until it is erased. A copy in the trail could not be.
@audited_fields(
    *("ApplicationEvent", "benchmark", "unmet", "from_file", "submitted_at", "user", "erased_at", "erased_by")
)
class Application(models.Model):
    """What a physician said of themselves when they applied, and which rules of that day they did not meet.

    Once it is erased, it holds nothing that the person stated; what counts for the flow stays. Several applications may
    have the same e-mail address, because anybody can enter any address; at most one of them is admitted.
    """

    class Rule(models.TextChoices):
        """The rules of a call, by the codes in ``unmet``."""

        YEARS = "years", _("Years in practice")
        SPECIALTY = "specialty", _("Specialty")
        LANGUAGE = "language", _("Language")
        COUNTRY = "country", _("Country or region of licence")
        SENIORITY = "seniority", _("Seniority")
        LICENCE = "licence", _("No licence number")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="applications")
    email = models.EmailField(blank=True)
    name = models.CharField(max_length=MAX_PERSON_NAME_LENGTH, blank=True)
    specialty = models.CharField(max_length=MAX_SPECIALTY_LENGTH, blank=True)
    languages = ArrayField(models.CharField(max_length=MAX_LANGUAGE_LENGTH), default=list, blank=True)
    licence_country = models.CharField(max_length=2, blank=True)
    licence_number = models.CharField(max_length=MAX_LICENCE_NUMBER_LENGTH, blank=True)
    years_in_practice = models.PositiveSmallIntegerField(null=True, blank=True)
    seniority = models.CharField(max_length=12, choices=PhysicianProfile.Seniority.choices, blank=True)
    statement = models.TextField(max_length=MAX_REASON_LENGTH, blank=True)
    unmet = ArrayField(models.CharField(max_length=12), default=list, blank=True)
    from_file = models.BooleanField(default=False)
    submitted_at = models.DateTimeField()
    # The account that they got when they were admitted.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="applications"
    )
    erased_at = models.DateTimeField(null=True, blank=True)
    # None of an erased row: somebody at the command line.
    erased_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-submitted_at", "-pk"]
        constraints = [
            # An import that is repeated changes nothing.
            models.UniqueConstraint(
                "benchmark",
                Lower("email"),
                condition=Q(from_file=True) & ~Q(email=""),
                name="annotation_application_once",
            ),
            models.UniqueConstraint(
                "benchmark",
                Lower("email"),
                condition=Q(user__isnull=False),
                name="annotation_application_admitted_once",
            ),
            # Whose person was admitted is kept, because it is why they were.
            models.CheckConstraint(
                condition=Q(erased_at=None, erased_by=None) | Q(erased_at__isnull=False, user=None, **NOTHING_STATED),
                name="annotation_application_erased",
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="as_submitted", fields=["benchmark", "unmet", "from_file", "submitted_at"]),
            pgtrigger.Trigger(
                name="stated_once",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.AnyChange(*APPLICANT_FIELDS, "erased_at", "erased_by"),
                func="""
                    IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL THEN
                        RETURN NEW;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;
                """,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.called} to {self.benchmark}"

    @property
    def called(self) -> str:
        """The name of the person, or that it was erased, in the reader's language."""
        return self.name if self.erased_at is None else gettext("Erased")


class ApplicationReview(models.Model):
    """One step of the review of an application: by whom, when, and why. The newest of a step counts.

    The reason may name the applicant, so it is erased with the application.
    """

    class Step(models.TextChoices):
        ELIGIBILITY = "eligibility", _("Eligibility")
        DECISION = "decision", _("Admission")

    application = models.ForeignKey(Application, on_delete=models.PROTECT, related_name="reviews")
    step = models.CharField(max_length=12, choices=Step.choices)
    passed = models.BooleanField()
    reason = models.TextField(max_length=MAX_REASON_LENGTH, blank=True)
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    erased = models.BooleanField(default=False)

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            # Declining, and overruling the rules in either direction, needs a reason.
            models.CheckConstraint(
                condition=Q(step="decision", passed=True, erased=False)
                | (Q(erased=False) & ~Q(reason=""))
                | Q(erased=True, reason=""),
                name="annotation_applicationreview_reason",
            ),
        ]
        triggers = _append_only_but_erasure("id", "application_id", "step", "passed", "reviewer_id", "at")

    def __str__(self) -> str:
        return f"{self.application}: {self.step}"


class LicenceCheck(models.Model):
    """Somebody looked a licence up: which number, where, and whether the register has it under that name.

    It is about an application, about a member, or about both. A check counts as long as the number is the one on
    record; the newest counts. Of an application that was erased only the result, the person and the time are left.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="licence_checks")
    application = models.ForeignKey(
        Application, null=True, blank=True, on_delete=models.PROTECT, related_name="licence_checks"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="licence_checks"
    )
    country = models.CharField(max_length=2)
    number = models.CharField(max_length=MAX_LICENCE_NUMBER_LENGTH)
    register = models.CharField(max_length=MAX_TITLE_LENGTH)
    confirmed = models.BooleanField()
    note = models.TextField(max_length=MAX_REASON_LENGTH, blank=True)
    checked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    checked_at = models.DateTimeField()
    erased = models.BooleanField(default=False)

    class Meta:
        ordering = ["checked_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(application=None, user=None), name="annotation_licencecheck_of_somebody"
            ),
            models.CheckConstraint(
                condition=(Q(erased=False) & ~Q(number="") & ~Q(country="") & ~Q(register=""))
                | Q(erased=True, number="", country="", register="", note=""),
                name="annotation_licencecheck_named",
            ),
            # Nobody confirms their own licence.
            models.CheckConstraint(
                condition=Q(user=None) | ~Q(user=F("checked_by")), name="annotation_licencecheck_not_own"
            ),
        ]
        triggers = _append_only_but_erasure(
            *("id", "benchmark_id", "application_id", "user_id", "confirmed", "checked_by_id", "checked_at")
        )

    def __str__(self) -> str:
        return f"{self.number}: {'confirmed' if self.confirmed else 'not confirmed'}"


class RotationPlan(models.Model):
    """Who does which part in which round, drawn up once and never changed; the newest counts.

    ``rounds`` has for each round the parts with the ids of the members who do them, as `rotation.Round` has them.
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="rotation_plans")
    number = models.PositiveSmallIntegerField()
    title = models.CharField(max_length=MAX_TITLE_LENGTH)
    parameters = models.JSONField()  # group, parts with how many of each, rounds, seed
    rounds = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="annotation_rotationplan_number"),
        ]
        triggers = [_append_only()]

    def __str__(self) -> str:
        return self.title
