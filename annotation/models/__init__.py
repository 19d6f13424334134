"""Expert groups, batches, assignments, decisions, checks and adjudication; qualification, labels."""

from annotation.models.acuity import AcuityRuling, ReferenceItem, ReferenceSet, RulingRequest
from annotation.models.codes import CodeRuling
from annotation.models.cohort import Application, ApplicationCall, ApplicationReview, LicenceCheck, RotationPlan
from annotation.models.groups import ExpertGroup, Membership, Physician
from annotation.models.labels import (
    CANNOT_TELL,
    CODED,
    CODES_QUESTION,
    FIRST_ROUND,
    LAST_ROUND,
    NO_LEVEL,
    READ_QUESTION,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    level_choices,
)
from annotation.models.outcomes import Outcome, RulingOutcome
from annotation.models.qualification import KeyedDecision, KeyedResponse, QualificationAttempt, QualificationRule
from annotation.models.review import Adjudication, Amendment, Attention, Check, Ruling
from annotation.models.work import Assignment, Batch, BatchItem, Comment, Decision, Involvement, Part, Skip, Slot
from annotation.models.writing import WritingTask, WritingTerms

__all__ = [
    "CANNOT_TELL",
    "CODED",
    "CODES_QUESTION",
    "FIRST_ROUND",
    "LAST_ROUND",
    "NO_LEVEL",
    "READ_QUESTION",
    "AcuityRuling",
    "Adjudication",
    "Amendment",
    "Application",
    "ApplicationCall",
    "ApplicationReview",
    "Assignment",
    "Attention",
    "Batch",
    "BatchItem",
    "Check",
    "CodeRuling",
    "Comment",
    "Decision",
    "ExpertGroup",
    "Involvement",
    "KeyedDecision",
    "KeyedResponse",
    "LabelAnswer",
    "LabelQuestion",
    "LabelTask",
    "LicenceCheck",
    "Membership",
    "Outcome",
    "Part",
    "Physician",
    "QualificationAttempt",
    "QualificationRule",
    "ReferenceItem",
    "ReferenceSet",
    "RotationPlan",
    "Ruling",
    "RulingOutcome",
    "RulingRequest",
    "Skip",
    "Slot",
    "WritingTask",
    "WritingTerms",
    "level_choices",
]
