"""Runs in which a model codes responses by a code book, as physicians do, and the response of each of their steps."""

from __future__ import annotations

from typing import ClassVar

import pgtrigger
from django.db import models

from rubrics.models import CodeBook, Response, Rubric
from rubrics.models.codes import mark_used_sql
from scoring.models.pipelines import PipelineRun, PipelineStep

CODE = "code"


class CodingRunManager(models.Manager["CodingRun"]):
    def get_queryset(self) -> models.QuerySet[CodingRun]:
        """The runs of this kind, with replays."""
        return super().get_queryset().filter(kind=CODE)


class CodingRun(PipelineRun):
    """A run of kind *code*: a judge's codes for a set of responses, each response one step."""

    objects: ClassVar[CodingRunManager] = CodingRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{self.judge_name}, {self.public_id}"

    @property
    def judge_name(self) -> str:
        """The name by which reports know the judge."""
        return str(self.terms.get("judge", ""))

    @property
    def model_name(self) -> str:
        """The model that was asked."""
        return str(self.terms.get("model", ""))

    @property
    def book_version(self) -> int:
        """The version of the code book."""
        return int(self.terms.get("book", 0))


class CodingBook(models.Model):
    """The version of the code book that a run codes by. A replay has none of its own."""

    run = models.OneToOneField(PipelineRun, primary_key=True, on_delete=models.CASCADE, related_name="coding_book")
    book = models.ForeignKey(CodeBook, on_delete=models.PROTECT, related_name="coding_runs")

    class Meta:
        triggers = [
            pgtrigger.Trigger(
                name="book_of_the_benchmark",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM scoring_pipelinerun r JOIN rubrics_codebook k ON k.benchmark_id = r.benchmark_id
                        WHERE r.id = NEW.run_id AND r.kind = 'code' AND k.id = NEW.book_id
                    ) THEN
                        RAISE EXCEPTION 'a run that codes has a code book of its benchmark'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'scoring_codingbook_benchmark';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="code_book_used",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                func=f"{mark_used_sql('NEW.book_id')} RETURN NULL;",
            ),
            pgtrigger.Protect(name="immutable", operation=pgtrigger.Update),
        ]

    def __str__(self) -> str:
        return f"{self.book} in {self.run}"


class CodedResponse(models.Model):
    """The response that a step of a run is about. The steps of a replay have none: they have the keys of the run's.

    ``rubric`` is the version whose criteria the judge is told of, where a code may be tied to a criterion.
    """

    step = models.OneToOneField(PipelineStep, primary_key=True, on_delete=models.CASCADE, related_name="coded")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="coded_in")
    rubric = models.ForeignKey(Rubric, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        triggers = [
            pgtrigger.Protect(name="immutable", operation=pgtrigger.Update),
            pgtrigger.Trigger(
                name="response_of_the_case",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM scoring_pipelinestep s JOIN rubrics_response r ON r.case_id = s.case_id
                        WHERE s.id = NEW.step_id AND r.id = NEW.response_id AND s.stage = 'code'
                    ) OR EXISTS (
                        SELECT 1 FROM scoring_codedresponse o JOIN scoring_pipelinestep p ON p.id = o.step_id
                        WHERE o.response_id = NEW.response_id
                          AND p.run_id = (SELECT run_id FROM scoring_pipelinestep WHERE id = NEW.step_id)
                    ) THEN
                        RAISE EXCEPTION 'a step that codes is about a response to its case, once in a run'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'scoring_codedresponse_once';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.response} of {self.step}"
