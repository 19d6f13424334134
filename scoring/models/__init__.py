"""Judges, their runs and verdicts; generated responses; screening by score."""

from scoring.models.acuity import AcuityReading
from scoring.models.generation import GenerationItem, GenerationRun
from scoring.models.judges import Judge, JudgeCall, JudgeRun, JudgeRunItem, RunSlice, TrainedModel, Verdict
from scoring.models.screening import ScreenedCase, Screening

__all__ = [
    "AcuityReading",
    "GenerationItem",
    "GenerationRun",
    "Judge",
    "JudgeCall",
    "JudgeRun",
    "JudgeRunItem",
    "RunSlice",
    "ScreenedCase",
    "Screening",
    "TrainedModel",
    "Verdict",
]
