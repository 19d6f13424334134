"""Rulings on ambiguous cases, and reference levels of cases, frozen and signed."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.acuity.panel import AmbiguousBy, AmbiguousRule
from annotation.models.groups import ExpertGroup
from annotation.models.labels import FIRST_ROUND, LAST_ROUND, LabelQuestion
from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.limits import (
    MAX_NOTE_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_REASON_LENGTH,
    MAX_RELEASE_NAME_LENGTH,
)
from consilium.core.locks import RowLock, exclusive_lock_sql
from rubrics.models import AcuityScale, Benchmark, Case

# A setting of the transaction: the ids of the sets that were made in it.
_BEING_SIGNED = "consilium.sets_being_signed"


def _immutable(name: str = "signed") -> pgtrigger.Protect:
    return pgtrigger.Protect(name=name, operation=pgtrigger.Update | pgtrigger.Delete)


class RulingRequest(models.Model):
    """A case that an admin gives to the adjudicators of a group, because its panel is ambiguous after its last round.

    The first adjudicator to rule on it ends it (`AcuityRuling`).
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    question = models.ForeignKey(LabelQuestion, on_delete=models.PROTECT, related_name="ruling_requests")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="ruling_requests")
    position = models.PositiveIntegerField()  # in a shuffled order, which says nothing about votes
    ambiguous_rule = models.CharField(max_length=12)  # by which the case was ambiguous
    ambiguous_threshold = models.FloatField()
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField()

    class Meta:
        ordering = ["requested_at", "position", "pk"]
        constraints = [models.UniqueConstraint(fields=["question", "case"], name="annotation_rulingrequest_once")]
        triggers = [_immutable("insert_only")]

    def __str__(self) -> str:
        return f"{self.case} for the adjudicators of {self.group}"


@audited
class AcuityRuling(models.Model):
    """What an adjudicator who did not vote on a case says of it, once the panel was ambiguous.

    ``low`` and ``high`` are places on the scale of the question: the same place for one level, adjacent ones for a case
    between two levels, both None where the case stays ambiguous. A ruled case stays flagged as ambiguous.
    """

    class Reason(models.TextChoices):
        """Why the panel did not agree."""

        MISSING_FACT = "missing-fact", _("A missing fact decides")
        BOTH_GOOD = "both-good", _("Both are good practice")
        BORDER = "border", _("On the border of two levels")
        LOCAL_CARE = "local-care", _("Depends on the care available nearby")
        MISREAD = "misread", _("Someone misread the case")

    question = models.ForeignKey(LabelQuestion, on_delete=models.PROTECT, related_name="acuity_rulings")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="acuity_rulings")
    adjudicator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="acuity_rulings")
    low = models.PositiveSmallIntegerField(null=True)
    high = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(_("reason"), max_length=20, choices=Reason.choices)
    note = models.TextField(_("note"), max_length=MAX_NOTE_LENGTH, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["question", "case", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["question", "case"], name="annotation_acuityruling_once"),
            models.CheckConstraint(
                condition=Q(low=None, high=None)
                | Q(low__isnull=False, high__isnull=False, high=models.F("low"))
                | Q(low__isnull=False, high__isnull=False, high=models.F("low") + 1),
                name="annotation_acuityruling_levels",
            ),
            models.CheckConstraint(
                condition=Q(reason__in=["missing-fact", "both-good", "border", "local-care", "misread"]),
                name="annotation_acuityruling_reason",
            ),
        ]
        triggers = [
            _immutable("insert_only"),
            pgtrigger.Trigger(
                # The mirror of `votes_once` on `LabelTask`.
                name="not_a_voter",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                declare=[("n_levels", "INTEGER")],
                func=f"""
                    SELECT jsonb_array_length(s.levels) INTO n_levels
                    FROM annotation_labelquestion q JOIN rubrics_acuityscale s ON s.id = q.scale_id
                    WHERE q.id = NEW.question_id;
                    IF NOT FOUND THEN
                        RAISE EXCEPTION 'Rulings answer questions on a scale';
                    END IF;
                    IF NEW.high >= n_levels THEN
                        RAISE EXCEPTION 'A ruling is for a level of the scale';
                    END IF;
                    PERFORM {exclusive_lock_sql(RowLock.PHYSICIAN_VOTES, "NEW.adjudicator_id::int")};
                    IF EXISTS (
                        SELECT 1 FROM annotation_labeltask t JOIN annotation_labelanswer a ON a.task_id = t.id
                        JOIN annotation_labelquestion q ON q.id = a.question_id AND q.kind = 'levels'
                        WHERE t.case_id = NEW.case_id AND t.annotator_id = NEW.adjudicator_id
                    ) THEN
                        RAISE EXCEPTION 'Who has voted on a case does not rule on it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_ruling_not_voter';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case}: {self.get_reason_display()}"

    @property
    def stays_ambiguous(self) -> bool:
        """Whether it gives no level."""
        return self.low is None


class ReferenceSet(models.Model):
    """How urgent the cases of a benchmark are, by labels and panels as they were when it was signed.

    Every report on acuity names one. A new one is a new number; a signed one never changes.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="reference_sets")
    number = models.PositiveIntegerField()
    scale = models.ForeignKey(AcuityScale, on_delete=models.PROTECT, related_name="reference_sets")
    datasets = ArrayField(models.CharField(max_length=60))  # whose labels count
    ambiguous_rule = models.CharField(max_length=12, default="dispersion")
    ambiguous_threshold = models.FloatField(default=0.75)
    minimum_votes = models.PositiveSmallIntegerField(default=3)  # of a panel that gives a reference
    # Which votes the references come from: those of round 1, or (2) those of the last round of each case. Whether a
    # case is ambiguous comes from round 1 always.
    round = models.PositiveSmallIntegerField(default=FIRST_ROUND, db_default=FIRST_ROUND)
    note = models.TextField(_("note"), max_length=MAX_REASON_LENGTH, blank=True)
    digest = models.CharField(max_length=64)  # SHA-256 of its items
    signed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    signed_as = models.CharField(max_length=MAX_PERSON_NAME_LENGTH)  # the name as it was then
    signed_at = models.DateTimeField()
    # The release that it came back from, where it was signed elsewhere; its votes need not be here.
    imported_from = models.CharField(max_length=MAX_RELEASE_NAME_LENGTH, blank=True, default="", db_default="")

    class Meta:
        ordering = ["benchmark", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="annotation_referenceset_number"),
            models.CheckConstraint(condition=Q(number__gte=1), name="annotation_referenceset_from_one"),
            models.CheckConstraint(
                condition=Q(round__gte=FIRST_ROUND, round__lte=LAST_ROUND), name="annotation_referenceset_round"
            ),
        ]
        triggers = [
            _immutable(),
            pgtrigger.Trigger(
                # Until this transaction ends the set takes items; `ReferenceItem.signed_with_set` asks for it.
                name="being_signed",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                func=f"""
                    PERFORM set_config(
                        '{_BEING_SIGNED}', concat_ws(' ', current_setting('{_BEING_SIGNED}', true), NEW.id), true
                    );
                    RETURN NULL;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"Reference set {self.number}"

    @property
    def signer(self) -> str:
        """Who signed, as pages say it: a release need not name them, and the command need not be told."""
        if self.signed_as:
            return self.signed_as
        return _now("a person who is not named") if self.imported_from else _now("a command")

    @property
    def ambiguous(self) -> AmbiguousRule:
        """The rule by which a case of a panel is ambiguous."""
        return AmbiguousRule(AmbiguousBy(self.ambiguous_rule), self.ambiguous_threshold)


class ReferenceItem(models.Model):
    """The reference of one case; levels are places on the scale, 0 for the least urgent."""

    class Status(models.TextChoices):
        CLEAR = "clear", pgettext_lazy("reference", "Clear")
        BOUNDARY = "boundary", _("Between two levels")
        AMBIGUOUS = "ambiguous", _("Ambiguous")
        SET_ASIDE = "set-aside", _("Set aside")
        WITHOUT = "without", _("Without a reference")
        EXCLUDED = "excluded", _("Not included")

    class Source(models.TextChoices):
        RULING = "ruling", _("Ruling")
        PANEL = "panel", _("Panel")
        DIRECT = "direct", _("Source label")
        NONE = "", _("None")

    reference_set = models.ForeignKey(ReferenceSet, on_delete=models.PROTECT, related_name="items", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="reference_items")
    status = models.CharField(max_length=10, choices=Status.choices)
    source = models.CharField(max_length=10, choices=Source.choices, blank=True)
    low = models.PositiveSmallIntegerField(null=True)
    high = models.PositiveSmallIntegerField(null=True)
    # The panel's votes of round 1 in ascending order, without names: low + high of each, so that 3 is a vote between
    # the places 1 and 2.
    votes = ArrayField(models.PositiveSmallIntegerField(), default=list)
    n_cannot_tell = models.PositiveSmallIntegerField(default=0)
    certainty = models.FloatField(null=True)  # the median of the votes, 0 to 100
    # The votes of round 2 in the same form, where the reference of a panel comes from them.
    later_votes = ArrayField(models.PositiveSmallIntegerField(), default=list, db_default=Value([]))

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["reference_set", "case"], name="annotation_referenceitem_once"),
            models.CheckConstraint(
                # A comparison with NULL would not be false, and a check refuses only what is false.
                condition=Q(status="clear", low__isnull=False, high__isnull=False, high=models.F("low"))
                | Q(status="boundary", low__isnull=False, high__isnull=False, high=models.F("low") + 1)
                | Q(status="ambiguous", low__isnull=False, high__isnull=False, high__gte=models.F("low"))
                | Q(status__in=["set-aside", "without", "excluded"], low=None, high=None),
                name="annotation_referenceitem_levels",
            ),
        ]
        triggers = [
            _immutable(),
            pgtrigger.Trigger(
                name="signed_with_set",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func=f"""
                    IF NEW.reference_set_id::text <> ALL (
                        string_to_array(COALESCE(current_setting('{_BEING_SIGNED}', true), ''), ' ')
                    ) THEN
                        RAISE EXCEPTION 'A signed reference set takes no further items';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="votes_before",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func=f"""
                    IF cardinality(NEW.votes) + NEW.n_cannot_tell + cardinality(NEW.later_votes) = 0 OR EXISTS (
                        SELECT 1 FROM annotation_referenceset s
                        WHERE s.id = NEW.reference_set_id AND s.imported_from <> ''
                    ) THEN
                        RETURN NEW;
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM (
                            SELECT count(DISTINCT t.annotator_id) FILTER (WHERE t.round = {FIRST_ROUND}) AS first,
                                   count(DISTINCT t.annotator_id) FILTER (WHERE t.round = {LAST_ROUND}) AS last
                            FROM annotation_referenceset s
                            JOIN annotation_labeltask t ON t.case_id = NEW.case_id AND t.status = 'submitted'
                                AND t.submitted_at <= s.signed_at
                            JOIN annotation_labelanswer a ON a.task_id = t.id
                            JOIN annotation_labelquestion q ON q.id = a.question_id AND q.scale_id = s.scale_id
                            WHERE s.id = NEW.reference_set_id
                        ) AS handed_in
                        WHERE first < cardinality(NEW.votes) + NEW.n_cannot_tell
                           OR last < cardinality(NEW.later_votes)
                    ) THEN
                        RAISE EXCEPTION 'A reference set holds votes that were handed in before it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_referenceitem_votes_before';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case}: {self.status}"
