"""Judges, their runs and verdicts; runs of steps; generated responses; screening; trials."""

from scoring.models.acuity import AcuityReading
from scoring.models.classification import ClassificationRun
from scoring.models.coding import CodedResponse, CodingBook, CodingRun
from scoring.models.generation import GeneratedResponse, GenerationRun
from scoring.models.judges import Judge, JudgeCall, JudgeRun, JudgeRunItem, RunSlice, TrainedModel, Verdict
from scoring.models.keys import KeyGrant
from scoring.models.origins import EndpointKind
from scoring.models.pipelines import EndpointCall, PipelineRun, PipelineStep
from scoring.models.screening import ScreenedCase, Screening
from scoring.models.trials import EndpointTrial

__all__ = [
    "AcuityReading",
    "ClassificationRun",
    "CodedResponse",
    "CodingBook",
    "CodingRun",
    "EndpointCall",
    "EndpointKind",
    "EndpointTrial",
    "GeneratedResponse",
    "GenerationRun",
    "Judge",
    "JudgeCall",
    "JudgeRun",
    "JudgeRunItem",
    "KeyGrant",
    "PipelineRun",
    "PipelineStep",
    "RunSlice",
    "ScreenedCase",
    "Screening",
    "TrainedModel",
    "Verdict",
]
