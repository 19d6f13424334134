"""Near-miss pairs: a reference and a candidate with one error, and what physicians say about each pair.

Texts of pairs are never responses: nobody grades them, and no score counts them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.unread_cases import unread_by
from consilium.core.audit import audited, audited_in_bulk
from consilium.core.identifiers import new_public_id
from consilium.core.limits import (
    MAX_AXIS_LENGTH,
    MAX_KEY_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_PAIR_CHANGE_LENGTH,
    MAX_PAIR_GROUP_NAME_LENGTH,
    MAX_REASON_LENGTH,
)
from rubrics.models import Benchmark, Case
from scoring.models import PipelineRun, PipelineStep
from validation.models.skips import SkippedQuestion

MAKING = "near_miss"  # the kind of the runs that make pairs
MAX_JUDGEMENTS_DUE = 2


class ErrorKind(models.TextChoices):
    """What is wrong with a candidate."""

    DOSE = "dose", pgettext_lazy("error", "Dose")
    UNIT = "unit", pgettext_lazy("error", "Unit")
    TIMING = "timing", pgettext_lazy("error", "Timing")
    NUMBER = "number", pgettext_lazy("error", "Number")
    DRUG = "drug", pgettext_lazy("error", "Drug")
    CONTRAINDICATION = "contraindication", pgettext_lazy("error", "Contraindication")
    URGENCY = "urgency", pgettext_lazy("error", "Urgency")
    RED_FLAG = "red_flag", pgettext_lazy("error", "Red flag omitted")
    NEGATION = "negation", pgettext_lazy("error", "Negation")
    MODALITY = "modality", pgettext_lazy("error", "Must or may")
    EXCEPTION = "exception", pgettext_lazy("error", "Exception")
    POPULATION = "population", pgettext_lazy("error", "Population or side")


class PairGroup(models.Model):
    """Pairs that belong together, and how many physicians have to agree on each of them."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    # Found by the index of the constraint below, which begins with it.
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="pair_groups", db_index=False)
    name = models.CharField(_("name"), max_length=MAX_PAIR_GROUP_NAME_LENGTH)
    judgements_due = models.PositiveSmallIntegerField(default=1)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="validation_pairgroup_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="validation_pairgroup_named"),
            models.CheckConstraint(
                condition=Q(judgements_due__gte=1, judgements_due__lte=MAX_JUDGEMENTS_DUE),
                name="validation_pairgroup_judgements_due",
            ),
        ]
        triggers = [
            # Figures of pairs rest on it, so it is settled before the first pair is judged.
            pgtrigger.ReadOnly(name="stays", fields=["public_id", "benchmark", "judgements_due", "created_at"]),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return self.name


class NearMissPairQuerySet(models.QuerySet["NearMissPair"]):
    def on_cases_that_count(self) -> Self:
        """Those whose case is not excluded."""
        return self.filter(case__excluded_at=None)

    def open_to(self, user_id: int | None) -> Self:
        """Those that still need a judgement, and that this physician reads and has neither judged nor skipped."""
        return self._open_in_any_language(user_id).exclude(unread_by(user_id or 0, "case"))

    def unread_by(self, user_id: int | None) -> Self:
        """Those that would be `open_to` this physician if they read the language of the case."""
        return self._open_in_any_language(user_id).filter(unread_by(user_id or 0, "case"))

    def _open_in_any_language(self, user_id: int | None) -> Self:
        mine = PairJudgement.objects.filter(pair=models.OuterRef("pk"), physician=user_id)
        skipped = SkippedQuestion.objects.filter(pair=models.OuterRef("pk"), physician=user_id)
        rows = self.on_cases_that_count().filter(state="proposed")
        return rows.exclude(models.Exists(mine)).exclude(models.Exists(skipped))


@audited_in_bulk
class NearMissPair(models.Model):
    """A reference and a candidate that differs from it in one place. What physicians say of it is `PairJudgement`."""

    class Origin(models.TextChoices):
        IMPORT = "import", pgettext_lazy("pair", "File")
        GENERATED = "generated", pgettext_lazy("pair", "Model")
        HAND = "hand", pgettext_lazy("pair", "By hand")

    class State(models.TextChoices):
        PROPOSED = "proposed", pgettext_lazy("pair", "Proposed")
        CONFIRMED = "confirmed", pgettext_lazy("pair", "Confirmed")
        REJECTED = "rejected", pgettext_lazy("pair", "Rejected")

    class Grade(models.TextChoices):
        """What physicians agree on. Only dangerous pairs count in the leading figures."""

        DANGEROUS = "dangerous", pgettext_lazy("pair", "Dangerous")
        MINOR = "minor", pgettext_lazy("pair", "Minor")
        FLAWED = "flawed", _("Reference with another flaw")
        NO_ERROR = "no_error", _("Not exactly one error, or no error that matters")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    # Found by the index of the constraint below, which begins with it.
    group = models.ForeignKey(PairGroup, on_delete=models.PROTECT, related_name="pairs", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="near_miss_pairs")
    key = models.CharField(_("key"), max_length=MAX_KEY_LENGTH)  # what files call it; a group has it once
    reference = models.TextField(_("reference"))
    candidate = models.TextField(_("candidate"))
    # Where they differ, in code points: from ``start`` in both.
    start = models.PositiveIntegerField()
    reference_end = models.PositiveIntegerField()
    candidate_end = models.PositiveIntegerField()
    kind = models.CharField(_("kind of error"), max_length=20, choices=ErrorKind.choices)
    axis = models.CharField(_("axis"), max_length=MAX_AXIS_LENGTH, blank=True)
    change = models.TextField(_("change made"), max_length=MAX_PAIR_CHANGE_LENGTH, blank=True)
    why = models.TextField(_("why it matters"), max_length=MAX_REASON_LENGTH, blank=True)
    origin = models.CharField(max_length=10, choices=Origin.choices)
    # The step whose answer it is, of a pair that a model has made.
    step = models.OneToOneField(
        PipelineStep, null=True, blank=True, on_delete=models.PROTECT, related_name="near_miss_pair"
    )
    warning = models.TextField(blank=True)  # why a file's texts may hold more than one error, in English
    state = models.CharField(max_length=10, choices=State.choices, default=State.PROPOSED)
    grade = models.CharField(max_length=10, choices=Grade.choices, blank=True)
    disputed = models.BooleanField(default=False)  # physicians disagree, and one more is asked
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)

    objects: Any = NearMissPairQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["group", "key"], name="validation_pair_key_once"),
            models.CheckConstraint(condition=~Q(reference=F("candidate")), name="validation_pair_differs"),
            models.CheckConstraint(
                condition=~Q(reference__regex=r"^\s*$") & ~Q(candidate__regex=r"^\s*$"), name="validation_pair_texts"
            ),
            models.CheckConstraint(
                condition=Q(reference_end__gte=F("start"), candidate_end__gte=F("start")), name="validation_pair_span"
            ),
            models.CheckConstraint(
                condition=Q(origin="generated", step__isnull=False) | (~Q(origin="generated") & Q(step=None)),
                name="validation_pair_step_of_origin",
            ),
            models.CheckConstraint(
                condition=Q(state="proposed", grade="", settled_at=None)
                | Q(state="confirmed", grade__in=["dangerous", "minor", "flawed"], settled_at__isnull=False)
                | Q(state="rejected", grade="no_error", settled_at__isnull=False),
                name="validation_pair_grade_of_state",
            ),
            models.CheckConstraint(
                condition=Q(disputed=False) | Q(state="proposed"), name="validation_pair_disputed_is_open"
            ),
        ]
        indexes = [models.Index(fields=["group", "id"], condition=Q(state="proposed"), name="validation_pair_open")]
        triggers = [
            pgtrigger.ReadOnly(
                name="texts_stand",
                fields=[
                    *("public_id", "group", "case", "key", "reference", "candidate", "start", "reference_end"),
                    *("candidate_end", "kind", "axis", "change", "why", "origin", "step", "warning", "created_at"),
                ],
            ),
            pgtrigger.Trigger(
                # All before and behind the span is the same, and the case is of the group's benchmark.
                name="one_place",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func="""
                    IF left(NEW.reference, NEW.start) <> left(NEW.candidate, NEW.start)
                       OR substr(NEW.reference, NEW.reference_end + 1) <> substr(NEW.candidate, NEW.candidate_end + 1)
                       OR NEW.reference_end > char_length(NEW.reference)
                       OR NEW.candidate_end > char_length(NEW.candidate) THEN
                        RAISE EXCEPTION 'The texts of a pair differ outside of the place that it names'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_pair_one_place';
                    END IF;
                    IF NOT EXISTS (
                        SELECT 1 FROM validation_pairgroup g JOIN rubrics_case c ON c.benchmark_id = g.benchmark_id
                        WHERE g.id = NEW.group_id AND c.id = NEW.case_id
                    ) THEN
                        RAISE EXCEPTION 'A pair is about a case of its benchmark'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_pair_benchmark';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                # A pair is settled by as many judgements that say the same as its group asks for.
                name="settled_by_physicians",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("state", "grade"),
                timing=pgtrigger.Deferred,
                condition=~pgtrigger.Q(new__state="proposed"),
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM validation_nearmisspair p JOIN validation_pairgroup g ON g.id = p.group_id
                        WHERE p.id = NEW.id AND (
                            p.state = 'proposed' OR g.judgements_due <= (
                                SELECT count(*) FROM validation_pairjudgement j
                                WHERE j.pair_id = p.id AND j.grade = p.grade
                            )
                        )
                    ) THEN
                        RAISE EXCEPTION 'A pair is settled by the judgements of physicians'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_pair_settled';
                    END IF;
                    RETURN NULL;
                """,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.Trigger(
                name="no_truncate",
                level=pgtrigger.Statement,
                when=pgtrigger.Before,
                operation=pgtrigger.Truncate,
                func="RAISE EXCEPTION 'Pairs cannot be truncated';",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.kind}"

    @property
    def grade_now(self) -> str:
        """Its grade; of an open pair whether physicians disagree."""
        return self.grade or ("disputed" if self.disputed else "open")


@audited
class PairJudgement(models.Model):
    """What one physician says about a pair, who sees neither its origin nor what others say."""

    class Harm(models.TextChoices):
        DANGEROUS = "dangerous", pgettext_lazy("error", "Dangerous")
        MINOR = "minor", pgettext_lazy("error", "Minor")
        NONE = "none", pgettext_lazy("error", "None")

    pair = models.ForeignKey(NearMissPair, on_delete=models.PROTECT, related_name="judgements", db_index=False)
    physician = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    is_single = models.BooleanField(_("exactly one error"))
    harm = models.CharField(_("harm"), max_length=10, choices=Harm.choices)
    has_other_flaw = models.BooleanField(_("another flaw in the reference"))
    note = models.TextField(_("note"), max_length=MAX_NOTE_LENGTH, blank=True)
    # What the answers come to, as `validation.pairs.settling` computes it.
    grade = models.CharField(max_length=10, choices=NearMissPair.Grade.choices)
    judged_at = models.DateTimeField()

    class Meta:
        ordering = ["pair", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["pair", "physician"], name="validation_pairjudgement_once"),
            models.CheckConstraint(
                condition=(Q(is_single=False) | Q(harm="none")) & Q(grade="no_error")
                | Q(is_single=True, has_other_flaw=True, grade="flawed") & ~Q(harm="none")
                | Q(is_single=True, has_other_flaw=False, harm="dangerous", grade="dangerous")
                | Q(is_single=True, has_other_flaw=False, harm="minor", grade="minor"),
                name="validation_pairjudgement_grade",
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="of_one_physician", fields=["pair", "physician"]),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.pair}: {self.grade}"


class MakingRunManager(models.Manager["MakingRun"]):
    def get_queryset(self) -> models.QuerySet[MakingRun]:
        """The runs of this kind, with replays and those that were made elsewhere."""
        return super().get_queryset().filter(kind=MAKING)


class MakingRun(PipelineRun):
    """A run of kind *near_miss*: a model makes pairs of references. ``terms`` names the group that they go to."""

    objects: ClassVar[MakingRunManager] = MakingRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{self.group_name}, {self.public_id}"

    @property
    def group_name(self) -> str:
        """The name of the group that its pairs go to."""
        return str(self.terms.get("group", ""))

    @property
    def model_name(self) -> str:
        """The model that answers."""
        return str(self.terms.get("model", ""))
