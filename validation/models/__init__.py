"""Models of validation: rubric sets, which are frozen copies of criteria."""

from validation.models.rubric_sets import RubricSet, RubricSetItem, RubricSetMend

__all__ = ["RubricSet", "RubricSetItem", "RubricSetMend"]
