"""Models of validation: rubric sets, which are frozen copies of criteria, and runs that measure what they cover."""

from validation.models.coverage import CoverageDecision, CoverageRun
from validation.models.rubric_sets import RubricSet, RubricSetItem, RubricSetMend

__all__ = ["CoverageDecision", "CoverageRun", "RubricSet", "RubricSetItem", "RubricSetMend"]
