"""Models of validation: rubric sets, which are frozen copies of criteria, runs that measure them, near-miss pairs."""

from validation.models.coverage import CoverageDecision, CoverageRun
from validation.models.pairs import ErrorKind, MakingRun, NearMissPair, PairGroup, PairJudgement
from validation.models.refinement import RefinementRun
from validation.models.rubric_sets import CaseInSets, RubricSet, RubricSetItem, RubricSetMend
from validation.models.skips import SkippedQuestion
from validation.models.splitting import PointsCorrection, SplittingRun
from validation.models.trials import TrialRun

__all__ = [
    "CaseInSets",
    "CoverageDecision",
    "CoverageRun",
    "ErrorKind",
    "MakingRun",
    "NearMissPair",
    "PairGroup",
    "PairJudgement",
    "PointsCorrection",
    "RefinementRun",
    "RubricSet",
    "RubricSetItem",
    "RubricSetMend",
    "SkippedQuestion",
    "SplittingRun",
    "TrialRun",
]
