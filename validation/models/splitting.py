"""Runs that split the criteria of a gold set into single statements, and the points that authors corrected."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q

from consilium.core.audit import audited
from rubrics.models import Case
from scoring.models import PipelineRun

SPLITTING = "splitting"
SPLIT_POINTS = "split_points"  # the stage of such a run


class SplittingRunQuerySet(models.QuerySet["SplittingRun"]):
    def correctable(self) -> Self:
        """Those whose points may be corrected and frozen: they have ended, and are no replay."""
        return self.filter(replay=False).exclude(status__in=PipelineRun.LIVE)


class SplittingRunManager(models.Manager["SplittingRun"]):
    def get_queryset(self) -> SplittingRunQuerySet:
        """The runs of this kind, with replays and those that were made elsewhere."""
        return SplittingRunQuerySet(self.model, using=self._db).filter(kind=SPLITTING)


class SplittingRun(PipelineRun):
    """A run of kind *splitting*: the criteria of each case of a set, split into single statements.

    Its settings hold all criteria, so that a replay elsewhere makes the same requests; ``terms`` names the set and the
    model, so that a list of runs need not load them.
    """

    objects: ClassVar[Any] = SplittingRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{self.gold_name}, {self.public_id}"

    @property
    def gold_name(self) -> str:
        """The name of the set that it splits."""
        return str(self.terms.get("gold", ""))

    @property
    def model_name(self) -> str:
        """The model that answers."""
        return str(self.terms.get("model", ""))


@audited
class PointsCorrection(models.Model):
    """The points of a case as an author corrected them; without one, those of the run's answer hold.

    ``points`` is a list of ``[criterion, text]``, the criterion by its number in the set, from 1.
    """

    run = models.ForeignKey(PipelineRun, on_delete=models.PROTECT, related_name="points_corrections", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="points_corrections")
    points = models.JSONField()
    version = models.PositiveIntegerField()
    client_id = models.UUIDField(null=True, blank=True)
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["run", "case"]
        constraints = [
            models.UniqueConstraint(fields=["run", "case"], name="validation_pointscorrection_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="validation_pointscorrection_saved"),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="about_one_case", fields=["run", "case"]),
            pgtrigger.Trigger(
                name="case_of_run",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM scoring_pipelinestep s JOIN scoring_pipelinerun r ON r.id = s.run_id
                        WHERE s.run_id = NEW.run_id AND s.case_id = NEW.case_id
                          AND r.kind = 'splitting' AND NOT r.replay
                    ) THEN
                        RAISE EXCEPTION 'corrected points are of a case of their run'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_pointscorrection_case';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.case_id}, version {self.version}"
