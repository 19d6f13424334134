"""Runs that ask a model for responses, and the response that came of each of their steps."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from rubrics.models import Response
from scoring.models.pipelines import PipelineRun, PipelineStep

RESPONSES = "responses"


class GenerationRunManager(models.Manager["GenerationRun"]):
    def get_queryset(self) -> models.QuerySet[GenerationRun]:
        """The runs of this kind, with replays and those that were made elsewhere."""
        return super().get_queryset().filter(kind=RESPONSES)


class GenerationRun(PipelineRun):
    """A run of kind *responses*: a candidate's responses to a set of cases, each sample of a case one step."""

    objects: ClassVar[GenerationRunManager] = GenerationRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{self.candidate_name}, {self.public_id}"

    @property
    def candidate_name(self) -> str:
        """The name of the candidate, which every run of this kind has."""
        return self.candidate.name if self.candidate else ""

    @property
    def keeps_responses(self) -> bool:
        """Whether its answers become responses: those of a replay and of a run that was made elsewhere do not."""
        return not (self.replay or self.imported)

    @property
    def setting(self) -> str:
        """The setting of its responses."""
        return str(self.terms.get("setting", "chat"))

    @property
    def framing_version(self) -> int | None:
        """The version of the framing that is put around bare descriptions; None where each case goes as it is."""
        framing = self.config.get("framing")
        return int(framing["version"]) if framing else None

    @property
    def samples(self) -> int:
        """Samples of each case."""
        return int(self.terms.get("samples", 1))


class GeneratedResponse(models.Model):
    """The response that was stored for a step; the steps of a replay and of an imported run have none."""

    step = models.OneToOneField(PipelineStep, primary_key=True, on_delete=models.CASCADE, related_name="generated")
    response = models.OneToOneField(Response, on_delete=models.PROTECT, related_name="generated_in")

    def __str__(self) -> str:
        return f"{self.response} of {self.step}"
