"""Writes to screenings: the scores once, then a person's decision on each case."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import Conflict, DomainError, field_named
from consilium.core.transitions import transition
from rubrics.models import Benchmark, Candidate, Case
from rubrics.selectors.exclusion import excluded_cases
from rubrics.services.exclusion import checked_reason, exclude_case, restore_case
from scoring.models import ScreenedCase, Screening
from scoring.runs.selectors import coverage_notes
from scoring.screening.compute import AGGREGATES, MEAN, score_cases
from scoring.selectors.raters import resolve_rater

MIN_CANDIDATES = 2
KEEP, EXCLUDE, UNDO = "keep", "exclude", "undo"
DECISIONS = (KEEP, EXCLUDE, UNDO)


@dataclass(frozen=True, slots=True)
class ScreeningTerms:
    """The terms of a screening; ``candidates`` are names, ``at_least`` is how many must have a score on a case."""

    title: str
    rater: str
    candidates: Sequence[str]
    threshold: float = 0.5
    aggregate: str = MEAN
    at_least: int = MIN_CANDIDATES


@transaction.atomic
def create_screening(*, benchmark: Benchmark, terms: ScreeningTerms, by: User | None, at: datetime) -> Screening:
    """Score every case by ``terms`` and flag those at or above the threshold; no case is excluded by this."""
    candidates = _checked(benchmark, terms)
    with field_named("rater"):
        rater = resolve_rater(benchmark, terms.rater)
    scores = score_cases(benchmark, rater, candidates, aggregate=terms.aggregate, at_least=terms.at_least)
    if not any(case.score is not None for case in scores.cases):
        raise DomainError(
            _("No case has scores by this rater for %(n)s of these candidates. Choose another rater, or run a judge.")
            % {"n": terms.at_least}
        )
    screening = Screening.objects.create(
        benchmark=benchmark,
        title=terms.title.strip(),
        rater=rater.label,
        candidates=candidates,
        threshold=terms.threshold,
        aggregate=terms.aggregate,
        digest=scores.digest,
        facts={
            "at_least": terms.at_least,
            "rules": scores.rules,
            "runs": [run.public_id for run in rater.runs],
            "notes": coverage_notes(rater.judges),
            "n_excluded_before": excluded_cases(benchmark).count(),
        },
        created_by=by,
        created_at=at,
    )
    ScreenedCase.objects.bulk_create(
        (
            ScreenedCase(
                screening=screening,
                case_id=case.case,
                score=case.score,
                note=case.note,
                scores=case.scores,
                n_responses=case.n_responses,
                flagged=case.reaches(terms.threshold),
            )
            for case in scores.cases
        ),
        batch_size=1000,
    )
    return screening


def _checked(benchmark: Benchmark, terms: ScreeningTerms) -> list[str]:
    if not terms.title.strip():
        raise DomainError(_("Give the screening a title."))
    if not 0 <= terms.threshold <= 1:
        raise DomainError(_("The threshold must be between 0 and 1."))
    if terms.aggregate not in AGGREGATES:
        raise DomainError(_("Scores are aggregated by their mean or their maximum."))
    names = list(dict.fromkeys(terms.candidates))
    known = set(Candidate.objects.filter(benchmark=benchmark, name__in=names).values_list("name", flat=True))
    for name in names:
        if name not in known:
            raise DomainError(
                _("The candidate “%(name)s” does not exist in this benchmark.") % {"name": name}, field="candidates"
            )
    if terms.at_least < 1 or len(names) < terms.at_least:
        raise DomainError(
            ngettext(
                "Choose at least %(n)s candidate: a failure of one candidate reveals little about the case.",
                "Choose at least %(n)s candidates: a single candidate reveals more about itself than about the case.",
                max(1, terms.at_least),
            )
            % {"n": max(1, terms.at_least)}
        )
    return sorted(names)


@transaction.atomic
def decide(
    *, screening: Screening, cases: Collection[str], decision: str, reason: str = "", by: User, at: datetime
) -> list[ScreenedCase]:
    """Keep or exclude ``cases`` (public ids) of an open screening, or undo what was decided; all of them or none.

    An exclusion needs a reason. `Conflict` if somebody has decided on one of the cases meanwhile.
    """
    if decision not in DECISIONS:
        raise DomainError(_("Choose to keep or exclude a case, or undo its decision."))
    if not Screening.objects.select_for_update(no_key=True).filter(pk=screening.pk, status="open").exists():
        raise Conflict(_("This screening is closed; its decisions are final."))
    reason = checked_reason(reason) if decision == EXCLUDE else reason.strip()
    rows = list(
        ScreenedCase.objects.select_for_update(of=("self",))
        .filter(screening=screening, case__public_id__in=cases)
        .select_related("case")
        .order_by("pk")
    )
    if not rows or len(rows) < len(set(cases)):
        raise DomainError(_("Choose cases from this screening."), field="cases")
    for row in rows:
        _decide(row, decision, reason, by, at)
    return rows


def _decide(row: ScreenedCase, decision: str, reason: str, by: User, at: datetime) -> None:
    if decision == UNDO:
        # An admin may have included the case again since, or excluded it for another reason: that is kept.
        if row.decision == EXCLUDE and row.case.exclusion == Case.Exclusion.SCREENING:
            undone = _("Undone in the screening “%(title)s”.") % {"title": row.screening.title}
            restore_case(case=row.case, reason=undone, by=by, at=at)
        row.decision, row.reason, row.decided_by, row.decided_at = "", "", None, None
    else:
        if row.decision:
            raise Conflict(_("A decision on “%(case)s” already exists. Undo it first.") % {"case": row.case.key})
        if decision == EXCLUDE:
            exclude_case(case=row.case, kind=Case.Exclusion.SCREENING, reason=reason, by=by, at=at)
        row.decision, row.reason, row.decided_by, row.decided_at = decision, reason, by, at
    row.save(update_fields=["decision", "reason", "decided_by", "decided_at"])


@transaction.atomic
def close_screening(*, screening: Screening, at: datetime) -> None:
    """End a screening: its decisions are final, and the other cases stay undecided."""
    transition(screening, source=["open"], target="closed", closed_at=at)
