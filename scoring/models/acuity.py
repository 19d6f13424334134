"""What candidates say about how urgent a case is."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from rubrics.models import AcuityImport, AcuityScale, Candidate, Case, Response
from scoring.models.judges import JudgeCall, JudgeRun
from scoring.models.pipelines import PipelineRun


class AcuityReading(models.Model):
    """What a candidate says about one case in one sample: a level of a scale, or why it is none. It never changes.

    A forced choice is no `Response`: nothing of it reaches grading, judges of rubrics or scores.
    """

    class Format(models.TextChoices):
        FORCED_CHOICE = "qa", _("Forced choice")
        CHAT = "chat", _("Advice to a patient")

    class Source(models.TextChoices):
        IMPORTED = "imported", _("Imported")
        PARSED = "parsed", _("Read from an answer")
        LOGPROBS = "logprobs", _("Read from an answer with log probabilities")
        JUDGE = "judge", _("Read by a judge")
        # What a judge reads in a response that a text was put into; it says nothing of the candidate.
        EDITED = "edited", _("Read by a judge in a changed response")

    class State(models.TextChoices):
        """As `rubrics.parsing.acuity_levels.State`; *missing* is an answer that was asked for and not given."""

        LEVEL = "level", _("Level")
        REFUSED = "refused", _("Refused")
        NO_LEVEL = "no-level", _("No level")
        SEVERAL = "several", _("Several levels")
        INVALID = "invalid", _("Invalid")
        MISSING = "missing", _("Missing")

    scale = models.ForeignKey(AcuityScale, on_delete=models.PROTECT, related_name="readings", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="acuity_readings")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="acuity_readings")
    format = models.CharField(max_length=4, choices=Format.choices)
    sample = models.PositiveSmallIntegerField()
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.IMPORTED)
    acuity_import = models.ForeignKey(AcuityImport, null=True, on_delete=models.PROTECT, related_name="readings")
    line = models.PositiveIntegerField(null=True)  # of the file
    # The run whose step was answered so, and whether the most urgent level was listed first.
    pipeline_run = models.ForeignKey(
        PipelineRun, null=True, on_delete=models.PROTECT, related_name="acuity_readings", db_index=False
    )
    descending = models.BooleanField(null=True)
    # A judge's readings: the constraint `scoring_acuityreading_judged` is the index of these keys.
    judge_run = models.ForeignKey(
        JudgeRun, null=True, on_delete=models.PROTECT, related_name="acuity_readings", db_index=False
    )
    response = models.ForeignKey(Response, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    call = models.ForeignKey(JudgeCall, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    replicate = models.PositiveSmallIntegerField(default=0, db_default=0)
    state = models.CharField(max_length=10, choices=State.choices)
    level = models.PositiveSmallIntegerField(null=True)  # its place on the scale, 0 for the least urgent
    confidence = models.FloatField(null=True)  # 0 to 1
    distribution = models.JSONField(null=True)  # of log probabilities: shares of the levels
    text = models.TextField(blank=True)  # what was said, word for word; what a judge said is in its call
    # The defaults are those of the database, for imports are copied into it without these columns.
    explanation = models.TextField(blank=True, db_default="")  # a judge's
    escalation = models.PositiveSmallIntegerField(null=True)  # the level that is advised under a condition
    condition = models.TextField(blank=True, db_default="")
    quote = models.TextField(blank=True, db_default="")  # the words of the response that show the level
    quote_start = models.PositiveIntegerField(null=True)  # offsets into the text of the response, in characters
    quote_end = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(null=True)  # null where the import has the time

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                # Several files may have left the same answer out.
                fields=["scale", "candidate", "case", "format", "sample"],
                condition=Q(source="imported") & ~Q(state="missing"),
                name="scoring_acuityreading_once",
            ),
            models.UniqueConstraint(
                fields=["judge_run", "response", "replicate"],
                condition=Q(judge_run__isnull=False),
                name="scoring_acuityreading_judged",
            ),
            models.UniqueConstraint(
                fields=["pipeline_run", "case", "sample"],
                condition=Q(pipeline_run__isnull=False),
                name="scoring_acuityreading_classified",
            ),
            models.CheckConstraint(
                condition=Q(
                    source="imported",
                    acuity_import__isnull=False,
                    line__isnull=False,
                    judge_run=None,
                    response=None,
                    replicate=0,
                    pipeline_run=None,
                )
                | (
                    Q(source__in=["parsed", "logprobs"], acuity_import=None, line=None, judge_run=None, response=None)
                    & Q(replicate=0, pipeline_run__isnull=False, descending__isnull=False)
                    & Q(format="qa", created_at__isnull=False)
                    & ~Q(state="missing")
                )
                | (
                    Q(source__in=["judge", "edited"], acuity_import=None, line=None, judge_run__isnull=False)
                    & Q(pipeline_run=None)
                    & Q(response__isnull=False, format="chat", created_at__isnull=False)
                    & ~Q(state="missing")
                ),
                name="scoring_acuityreading_source",
            ),
            models.CheckConstraint(
                condition=Q(source="logprobs", distribution__isnull=False, state="level")
                | (~Q(source="logprobs") & Q(distribution=None)),
                name="scoring_acuityreading_distribution",
            ),
            models.CheckConstraint(
                condition=Q(quote="", quote_start=None, quote_end=None)
                | Q(quote_start__lt=F("quote_end")) & ~Q(quote=""),
                name="scoring_acuityreading_quote",
            ),
            models.CheckConstraint(
                condition=~Q(source__in=["judge", "edited"]) | ~Q(state="level") | ~Q(quote=""),
                name="scoring_acuityreading_level_quoted",
            ),
            models.CheckConstraint(
                condition=Q(state="level", level__isnull=False) | (~Q(state="level") & Q(level=None)),
                name="scoring_acuityreading_level",
            ),
            models.CheckConstraint(
                condition=Q(confidence=None) | Q(confidence__gte=0, confidence__lte=1),
                name="scoring_acuityreading_confidence",
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete),
            pgtrigger.Trigger(
                name="of_a_done_step",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                timing=pgtrigger.Deferred,
                condition=pgtrigger.Q(new__pipeline_run__isnull=False),
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM scoring_pipelinestep s JOIN scoring_pipelinerun r ON r.id = s.run_id
                        WHERE s.run_id = NEW.pipeline_run_id AND s.case_id = NEW.case_id
                          AND s.key = NEW.sample::text AND s.stage = 'choice' AND s.state = 'done'
                          AND r.candidate_id = NEW.candidate_id
                    ) THEN
                        RAISE EXCEPTION 'a reading of a run belongs to one of its steps that is done'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'scoring_acuityreading_step';
                    END IF;
                    RETURN NULL;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate} on {self.case}: {self.state}"
