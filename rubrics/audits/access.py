"""Audits and their items, fetched for a user; forbidden and missing look the same (404).

The pages that an auditor reaches through them show no candidate, verdict or decision of anybody else.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, QuerySet
from django.shortcuts import get_object_or_404

from accounts.models import User
from accounts.unread_cases import unread_by
from rubrics.access import get_administered_benchmark, get_benchmark
from rubrics.models import AuditItem, Benchmark, CaseAudit, RubricContributor, RubricReview


def get_audit(user: User | AnonymousUser, slug: str, public_id: str) -> CaseAudit:
    """An audit of a benchmark that ``user`` runs."""
    rows = CaseAudit.objects.filter(benchmark=get_benchmark(user, slug)).select_related("benchmark")
    return get_object_or_404(rows, public_id=public_id)


def get_administered_audit(user: User | AnonymousUser, slug: str, public_id: str) -> CaseAudit:
    """An audit of a benchmark that ``user`` administers."""
    rows = CaseAudit.objects.filter(benchmark=get_administered_benchmark(user, slug)).select_related("benchmark")
    return get_object_or_404(rows, public_id=public_id)


def get_audited_benchmark(user: User | AnonymousUser, slug: str) -> Benchmark:
    """The benchmark, for its auditors."""
    return get_object_or_404(Benchmark.objects.audited_by(user), slug=slug)


def get_item(user: User | AnonymousUser, slug: str, public_id: str) -> AuditItem:
    """An item that ``user`` has taken as an auditor, also of a closed audit: what they saved stays readable."""
    rows = own_items(user, get_audited_benchmark(user, slug)).select_related("audit__benchmark", "case", "rubric")
    return get_object_or_404(rows, public_id=public_id)


def own_items(user: User | AnonymousUser, benchmark: Benchmark) -> QuerySet[AuditItem]:
    """The items that ``user`` has taken in a benchmark."""
    return AuditItem.objects.filter(audit__benchmark=benchmark, auditor=user.pk)


def being_read(rows: QuerySet[AuditItem]) -> QuerySet[AuditItem]:
    """Those of ``rows`` that an auditor has claimed and not submitted; nobody audits an excluded case."""
    return rows.filter(auditor__isnull=False, done_at=None, case__excluded_at=None)


def with_entries(rows: QuerySet[AuditItem]) -> QuerySet[AuditItem]:
    """Those of ``rows`` that an auditor has saved entries on and not submitted."""
    unsubmitted = rows.filter(auditor__isnull=False, done_at=None)
    return unsubmitted.exclude(answers={}, criteria=[], outcome="", comment="")


def open_to(user: User | AnonymousUser, benchmark: Benchmark) -> QuerySet[AuditItem]:
    """Waiting items that ``user`` may take: of no case that they have read in the audit, made, written on or reviewed.

    Work on any version excludes them, because a new version carries over unchanged criteria. Nor of a case in a
    language that they do not read.
    """
    wrote = RubricContributor.objects.filter(rubric__case=OuterRef("case"), user=user.pk)
    reviewed = RubricReview.objects.filter(rubric__case=OuterRef("case"), reviewer=user.pk)
    read = AuditItem.objects.filter(audit=OuterRef("audit"), case=OuterRef("case"), auditor=user.pk)
    waiting = AuditItem.objects.filter(
        ~Exists(wrote),
        ~Exists(reviewed),
        ~Exists(read),
        audit__benchmark=benchmark,
        audit__status="open",
        auditor=None,
        case__excluded_at=None,
    )
    return waiting.exclude(case__created_by=user.pk).exclude(unread_by(user.pk or 0, "case"))
