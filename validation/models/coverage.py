"""Runs that measure how much of the intended content sets of criteria cover, and what physicians decide about them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.unread_cases import unread_by
from consilium.core.audit import audited_in_bulk
from consilium.core.identifiers import new_public_id
from rubrics.models import Rubric, RubricContributor
from scoring.models import PipelineRun, PipelineStep
from validation.models.skips import SkippedQuestion

COVERAGE = "coverage"
FORWARD, BACK = "coverage", "coverage_back"  # the stages of such a run


class CoverageRunManager(models.Manager["CoverageRun"]):
    def get_queryset(self) -> models.QuerySet[CoverageRun]:
        """The runs of this kind, with replays and those that were made elsewhere."""
        return super().get_queryset().filter(kind=COVERAGE)


class CoverageRun(PipelineRun):
    """A run of kind *coverage*: gold points against the criteria of one or several sets.

    Its settings hold all texts, so that a replay elsewhere makes the same requests; ``terms`` names the sets and the
    model, so that a list of runs need not load them.
    """

    objects: ClassVar[CoverageRunManager] = CoverageRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{', '.join(self.set_names)}, {self.public_id}"

    @property
    def gold_name(self) -> str:
        """The name of the gold set."""
        return str(self.terms.get("gold", ""))

    @property
    def set_names(self) -> list[str]:
        """The names of the sets that it measures."""
        return [str(name) for name in self.terms.get("sets", [])]

    @property
    def model_name(self) -> str:
        """The model that answers."""
        return str(self.terms.get("model", ""))


class CoverageDecisionQuerySet(models.QuerySet["CoverageDecision"]):
    def open(self) -> Self:
        """Those that nobody has made yet, on cases that count."""
        return self.filter(answer="", step__case__excluded_at=None)

    def but_on_own_drafts(self, user_id: int | None) -> Self:
        """Without those on cases whose first rubric ``user_id`` is writing: a question shows what others wrote."""
        case = OuterRef("step__case")
        drafts = RubricContributor.objects.filter(
            user=user_id, rubric__case=case, rubric__status__in=[Rubric.Status.DRAFT, Rubric.Status.IN_REVIEW]
        )
        published = Rubric.objects.current().filter(case=case)
        return self.exclude(Exists(drafts) & ~Exists(published))

    def open_to(self, user_id: int | None) -> Self:
        """Those that this physician may make: open, readable, not on their own drafts, and not skipped by them."""
        return self._open_in_any_language(user_id).exclude(unread_by(user_id or 0, "step__case"))

    def unread_by(self, user_id: int | None) -> Self:
        """Those that would be `open_to` this physician if they read the language of the case."""
        return self._open_in_any_language(user_id).filter(unread_by(user_id or 0, "step__case"))

    def _open_in_any_language(self, user_id: int | None) -> Self:
        skipped = SkippedQuestion.objects.filter(decision=OuterRef("pk"), physician=user_id)
        return self.open().but_on_own_drafts(user_id).exclude(Exists(skipped))

    def decided(self) -> Self:
        """Those that a physician has made."""
        return self.exclude(answer="")


@audited_in_bulk
class CoverageDecision(models.Model):
    """A question to a physician about one answer of a run, and what they decided.

    Whoever decides sees neither the set nor the answer. A decision may be changed by whoever made it.
    """

    class Answer(models.TextChoices):
        FULL = "full", pgettext_lazy("coverage", "Full")
        PARTLY = "partly", pgettext_lazy("coverage", "Partly")
        NONE = "none", pgettext_lazy("coverage", "Not at all")
        NEEDED = "needed", _("Sound and needed")
        NEEDLESS = "needless", _("Sound but needless")
        WRONG = "wrong", pgettext_lazy("criterion", "Wrong")
        UNGRADABLE = "ungradable", _("Cannot be graded")

    OF_POINTS: ClassVar[tuple[str, ...]] = ("full", "partly", "none")
    OF_CRITERIA: ClassVar[tuple[str, ...]] = ("needed", "needless", "wrong", "ungradable")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    run = models.ForeignKey(PipelineRun, on_delete=models.PROTECT, related_name="coverage_decisions")
    step = models.OneToOneField(PipelineStep, on_delete=models.PROTECT, related_name="coverage_decision")
    stage = models.CharField(max_length=30, choices=[(FORWARD, FORWARD), (BACK, BACK)])  # that of the step
    created_at = models.DateTimeField()
    answer = models.CharField(max_length=10, choices=Answer.choices, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    objects: Any = CoverageDecisionQuerySet.as_manager()

    class Meta:
        ordering = ["run", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(answer="", decided_by=None, decided_at=None)
                | (~Q(answer="") & Q(decided_by__isnull=False, decided_at__isnull=False)),
                name="validation_coveragedecision_made",
            ),
            models.CheckConstraint(
                condition=Q(answer="")
                | Q(stage="coverage", answer__in=["full", "partly", "none"])
                | Q(stage="coverage_back", answer__in=["needed", "needless", "wrong", "ungradable"]),
                name="validation_coveragedecision_of_stage",
            ),
        ]
        indexes = [models.Index(fields=["run", "id"], condition=Q(answer=""), name="validation_coveragedecision_op")]
        triggers = [
            pgtrigger.ReadOnly(name="about_one_step", fields=["public_id", "run", "step", "stage", "created_at"]),
            pgtrigger.Trigger(
                # A decision is changed by whoever made it, and never taken back.
                name="of_one_person",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__decided_by__isnull=False),
                func="""
                    IF NEW.decided_by_id IS DISTINCT FROM OLD.decided_by_id THEN
                        RAISE EXCEPTION 'a decision stays with whoever made it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_coveragedecision_of_one';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="step_of_run",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM scoring_pipelinestep s JOIN scoring_pipelinerun r ON r.id = s.run_id
                        WHERE s.id = NEW.step_id AND s.run_id = NEW.run_id AND s.stage = NEW.stage
                          AND r.kind = 'coverage' AND NOT r.replay
                    ) THEN
                        RAISE EXCEPTION 'a decision is about a step of its run'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_coveragedecision_step';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.public_id}: {self.answer or 'open'}"


# How far an answer of a run covers a point or criterion, by the codes of tables.
EXTENT_WORDS = {
    **{code: CoverageDecision.Answer(code).label for code in CoverageDecision.OF_POINTS},
    "invalid": _("invalid"),
    "missing": _("missing"),
}
