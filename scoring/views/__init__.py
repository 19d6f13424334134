"""Views of judges, runs and verdicts: fetch through access, call one service, respond."""

from scoring.judges.jury_views import jury_csv, new_jury
from scoring.judges.views import (
    judge,
    judge_train_again,
    judge_training,
    judges,
    new_chat_judge,
    new_trained_judge,
    prompt_preview,
)
from scoring.runs.comparing_views import run_comparison_csv
from scoring.runs.views import new_run, run, run_cancel, run_continue, run_progress, run_resume, run_size
from scoring.supervision.views import supervision
from scoring.susceptibility.views import (
    judge_susceptibility,
    judge_susceptibility_csv,
    judge_susceptibility_size,
)
from scoring.trained.views import calibration_png, calibration_svg, model_card_csv
from scoring.views.verdicts import judgements, verdicts, verdicts_csv

__all__ = [
    "calibration_png",
    "calibration_svg",
    "judge",
    "judge_susceptibility",
    "judge_susceptibility_csv",
    "judge_susceptibility_size",
    "judge_train_again",
    "judge_training",
    "judgements",
    "judges",
    "jury_csv",
    "model_card_csv",
    "new_chat_judge",
    "new_jury",
    "new_run",
    "new_trained_judge",
    "prompt_preview",
    "run",
    "run_cancel",
    "run_comparison_csv",
    "run_continue",
    "run_progress",
    "run_resume",
    "run_size",
    "supervision",
    "verdicts",
    "verdicts_csv",
]
