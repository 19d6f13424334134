"""How a benchmark was made, in numbers: people, and what was reviewed, audited, screened and left out."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q

from annotation.contributions import credential_counts
from annotation.models import Adjudication, Assignment, Check, Decision, ExpertGroup
from rubrics.models import (
    AuditItem,
    Benchmark,
    Case,
    CaseAudit,
    Rubric,
    RubricContributor,
    RubricReview,
)
from scoring.models import ScreenedCase, Screening


def process_facts(benchmark: Benchmark) -> dict[str, Any]:
    """Counts for the data card; no name, and no text that somebody wrote."""
    return {
        "groups": [_group(group) for group in ExpertGroup.objects.filter(benchmark=benchmark).order_by("name")],
        "rubrics": _rubrics(benchmark),
        "screening": [
            _screening(screening) for screening in Screening.objects.filter(benchmark=benchmark).order_by("pk")
        ],
        "audits": [_audit(audit) for audit in CaseAudit.objects.filter(benchmark=benchmark).order_by("pk")],
        "left_out": _left_out(benchmark),
        "credentials": credential_counts(benchmark),
    }


def _group(group: ExpertGroup) -> dict[str, Any]:
    members = group.memberships.aggregate(
        annotators=Count("user", distinct=True, filter=Q(role="annotator")),
        checkers=Count("user", distinct=True, filter=Q(role="checker")),
        adjudicators=Count("user", distinct=True, filter=Q(role="adjudicator")),
    )
    work = Assignment.objects.filter(
        batch__group=group, submitted_at__isnull=False, purpose=Assignment.Purpose.WORK
    ).exclude(status=Assignment.Status.RELEASED)
    return {
        "name": group.name,
        **members,
        "responses": work.values("response").distinct().count(),
        "decisions": Decision.objects.filter(assignment__in=work).count(),
        "imported decisions": Decision.objects.filter(assignment__in=work, assignment__batch__imported=True).count(),
        "checks": Check.objects.filter(assignment__in=work, finished_at__isnull=False).count(),
    }


def _rubrics(benchmark: Benchmark) -> dict[str, Any]:
    current = Rubric.objects.current().filter(case__in=Case.objects.included().filter(benchmark=benchmark))
    reviews = RubricReview.objects.filter(rubric__case__benchmark=benchmark)
    return {
        "written_here": current.exclude(provenance="import").count(),
        "imported": current.filter(provenance="import").count(),
        "revised": current.filter(version__gt=1).count(),
        "authors": RubricContributor.objects.filter(rubric__case__benchmark=benchmark)
        .values("user")
        .distinct()
        .count(),
        "reviewers": reviews.values("reviewer").distinct().count(),
        "approved": reviews.filter(outcome="approved").count(),
        "returned": reviews.filter(outcome="returned").count(),
        "adjudications": Adjudication.objects.filter(response__case__benchmark=benchmark, status="done").count(),
    }


def _screening(screening: Screening) -> dict[str, Any]:
    rows = ScreenedCase.objects.filter(screening=screening)
    return {
        "status": screening.status,
        "threshold": screening.threshold,
        "aggregate": screening.aggregate,
        "candidates": len(screening.candidates),
        "cases": rows.count(),
        "flagged": rows.filter(flagged=True).count(),
        "excluded": rows.filter(decision="exclude").count(),
        "kept": rows.filter(decision="keep").count(),
    }


def _audit(audit: CaseAudit) -> dict[str, Any]:
    items = AuditItem.objects.filter(audit=audit)
    submitted = items.filter(done_at__isnull=False)
    return {
        "status": audit.status,
        "share": audit.share,
        "drawn": items.values("case").distinct().count(),
        "auditors": items.filter(auditor__isnull=False).values("auditor").distinct().count(),
        "sound": submitted.filter(outcome="sound").count(),
        "revise": submitted.filter(outcome="revise").count(),
        "remove": submitted.filter(outcome="remove").count(),
        "open": items.filter(done_at=None).count(),
    }


def _left_out(benchmark: Benchmark) -> dict[str, int]:
    excluded = Case.objects.filter(benchmark=benchmark, excluded_at__isnull=False)
    counts = dict(excluded.order_by().values_list("exclusion").annotate(n=Count("pk")))
    kinds = {f"excluded_{kind}": counts.get(kind, 0) for kind in Case.Exclusion.values}
    published = Rubric.objects.current().values("case")
    included = Case.objects.included().filter(benchmark=benchmark)
    return {**kinds, "without_published_rubric": included.exclude(pk__in=published).count()}
