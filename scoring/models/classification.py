"""Runs that ask a model which level of a scale each case is at."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from scoring.models.pipelines import PipelineRun

CLASSIFY = "classify"


class ClassificationRunManager(models.Manager["ClassificationRun"]):
    def get_queryset(self) -> models.QuerySet[ClassificationRun]:
        """The runs of this kind, with replays and those that were made elsewhere."""
        return super().get_queryset().filter(kind=CLASSIFY)


class ClassificationRun(PipelineRun):
    """A run of kind *classify*: forced choices of a candidate on a set of cases, each sample of a case one step."""

    objects: ClassVar[ClassificationRunManager] = ClassificationRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{self.candidate_name}, {self.public_id}"

    @property
    def candidate_name(self) -> str:
        """The name of the candidate, which every run of this kind has."""
        return self.candidate.name if self.candidate else ""

    @property
    def scale_name(self) -> str:
        """The scale with its version, such as ``four`` or ``four 2``."""
        return str(self.config.get("scale", ""))

    @property
    def ask(self) -> str:
        """How it asks: *letter*, *schema* or *reasons*."""
        return str(self.config.get("ask", "letter"))

    @property
    def samples(self) -> int:
        """Samples of each case."""
        return int(self.terms.get("samples", 1))
