"""Benchmarks, cases, rubrics and criteria, candidates and their responses."""

from rubrics.models.acuity import (
    AcuityDataset,
    AcuityImport,
    AcuityScale,
    Framing,
    HowMapped,
    LabelRule,
    LabelScheme,
    SourceLabel,
)
from rubrics.models.attributes import CandidateAttributes
from rubrics.models.audits import AuditItem, CaseAudit
from rubrics.models.banks import Bank, BankItem
from rubrics.models.benchmarks import AuthoringRole, Benchmark, BenchmarkQuerySet, BenchmarkRole, slug_characters
from rubrics.models.cases import Case, CaseQuerySet, Criterion, Difficulty, Register, Rubric, RubricItem, RubricQuerySet
from rubrics.models.codes import CodeBook, mark_used_sql
from rubrics.models.drafts import AuthoringTime, PrivacyWaiver, RubricContributor, RubricDraft, RubricReview
from rubrics.models.jobs import ImportJob
from rubrics.models.responses import Candidate, Response
from rubrics.models.revisions import RevisionRequest

__all__ = [
    "AcuityDataset",
    "AcuityImport",
    "AcuityScale",
    "AuditItem",
    "AuthoringRole",
    "AuthoringTime",
    "Bank",
    "BankItem",
    "Benchmark",
    "BenchmarkQuerySet",
    "BenchmarkRole",
    "Candidate",
    "CandidateAttributes",
    "Case",
    "CaseAudit",
    "CaseQuerySet",
    "CodeBook",
    "Criterion",
    "Difficulty",
    "Framing",
    "HowMapped",
    "ImportJob",
    "LabelRule",
    "LabelScheme",
    "PrivacyWaiver",
    "Register",
    "Response",
    "RevisionRequest",
    "Rubric",
    "RubricContributor",
    "RubricDraft",
    "RubricItem",
    "RubricQuerySet",
    "RubricReview",
    "SourceLabel",
    "mark_used_sql",
    "slug_characters",
]
