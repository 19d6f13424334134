"""Verdicts of a trained judge."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.models import JudgeRun, TrainedModel, Verdict
from scoring.trained.features import Texts
from scoring.trained.model import FittedJudge
from scoring.trained.training_data import prompt_text
from scoring.work.missing import Question
from scoring.work.store import JudgedRequest, JudgeVerdict

MAX_PASSAGE_LENGTH = 200


def load_model(run: JudgeRun) -> FittedJudge:
    """The model that the run's snapshot names; `DomainError` where the stored model is a different one."""
    model = TrainedModel.objects.get(judge=run.judge)
    return FittedJudge.from_bytes(bytes(model.artifact or b""), run.snapshot["model_sha256"])


def predict(model: FittedJudge, questions: Sequence[Question]) -> list[JudgedRequest]:
    """Results in the order of the questions."""
    pairs = [Texts(q.response, q.criterion, prompt_text(q.conversation), q.points) for q in questions]
    probability, met, passages = model.judge(pairs)
    return [
        JudgedRequest(
            questions=(question,),
            verdicts=[
                JudgeVerdict(
                    question=question,
                    outcome=Verdict.Outcome.MET if is_met else Verdict.Outcome.NOT_MET,
                    probability=float(chance),
                    explanation=f"Closest passage: “{passage[:MAX_PASSAGE_LENGTH]}”",
                )
            ],
        )
        for question, chance, is_met, passage in zip(questions, probability, met, passages, strict=True)
    ]
