"""Data of an audit for pages, files and endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from rubrics.audits.access import being_read, open_to, with_entries
from rubrics.audits.findings import AuditAnswers, AuditorAgreement, Rate, agreement_of, rates
from rubrics.audits.services import QUESTIONS
from rubrics.models import AuditItem, Benchmark, Case, CaseAudit, Criterion, RubricItem

RATE_COLUMNS = (
    *("what", "n_defective", "n_read", "rate", "rate_low", "rate_high", "wilson_low", "wilson_high"),
    *("n_in_frame", "least_in_frame", "greatest_in_frame", "note"),
)
RATE_TEXT = ("what", "note")
READING_COLUMNS = (
    *("case", "number", "rubric_version", *QUESTIONS, "criteria", "outcome", "comment", "auditor"),
    *("taken_at", "done_at", "excluded", "state"),
)
READING_TEXT = ("case", "criteria", "comment", "auditor", "excluded", "state")


def question_labels() -> dict[str, str]:
    """What the four questions are called, in the reader's language."""
    return {
        "correctness": _("Clinical correctness"),
        "necessity": _("Necessity"),
        "consistency": _("Consistency"),
        "guidelines": _("Guideline alignment"),
    }


def counted(audits: QuerySet[CaseAudit]) -> QuerySet[CaseAudit]:
    """Each audit with ``n_items`` (readings asked), ``n_done`` and ``n_defects`` (readings that found something).

    A case that was excluded before it was read is not asked for any more.
    """
    done = Q(items__done_at__isnull=False)
    return audits.annotate(
        n_items=Count("items", filter=done | Q(items__case__excluded_at=None)),
        n_done=Count("items", filter=done),
        n_defects=Count("items", filter=done & ~Q(items__outcome="sound")),
    )


@dataclass(frozen=True, eq=False)
class AuditReport:
    """The figures of an audit."""

    audit: CaseAudit
    rates: list[Rate]
    agreement: AuditorAgreement
    n_read: int
    n_drawn: int
    n_to_read: int  # drawn cases with an outstanding reading
    n_excluded: int  # drawn cases that were excluded before anybody read them

    @property
    def overall(self) -> Rate:
        """The defect rate."""
        return self.rates[0]

    def of(self, kind: str) -> list[Rate]:
        """Rates of one kind: ``outcome`` or ``question``; ``slice`` gives all others except the overall rate."""
        if kind == "slice":
            return [rate for rate in self.rates[1:] if not rate.name.startswith(("outcome:", "question:"))]
        return [rate for rate in self.rates if rate.name.startswith(f"{kind}:")]


def report_of(audit: CaseAudit) -> AuditReport:
    """The report over the readings handed in so far, for the frame as it was drawn."""
    rows = audit.items.filter(done_at__isnull=False).order_by("position", "number")
    readings = [
        AuditAnswers(case, outcome, answers)
        for case, outcome, answers in rows.values_list("case__public_id", "outcome", "answers")
    ]
    frame = audit.frame
    figures = rates(
        readings,
        questions=QUESTIONS,
        in_frame=frame["in_frame"],
        in_slices=frame["slices"],
        slices_of=frame["slices_of"],
    )
    open_items = audit.items.filter(done_at=None) if audit.status == CaseAudit.Status.OPEN else audit.items.none()
    to_read = open_items.filter(case__excluded_at=None).values("case").distinct().count()
    unread = audit.items.filter(case__excluded_at__isnull=False).exclude(case__in=rows.values("case"))
    excluded = unread.values("case").distinct().count()
    return AuditReport(audit, figures, agreement_of(readings), figures[0].n, frame["drawn"], to_read, excluded)


def rate_rows(report: AuditReport) -> Iterator[Sequence[object]]:
    """Rows in the order of `RATE_COLUMNS`; the agreement of auditors comes last."""
    for rate in report.rates:
        yield (
            *(rate.name, rate.hits, rate.n, rate.figure.value, rate.figure.low, rate.figure.high),
            *(rate.wilson or (None, None)),
            rate.in_frame,
            *(rate.bounds or (None, None)),
            rate.figure.note or None,
        )
    for name, figure in (("agreement:raw", report.agreement.raw), ("agreement:kappa", report.agreement.kappa)):
        yield (name, None, figure.n, figure.value, *[None] * 7, figure.note or None)


@dataclass(frozen=True, slots=True)
class Defect:
    """A reading that found something, with the criteria that it names."""

    item: AuditItem
    at_fault: list[str]  # questions, in words
    criteria: list[RubricItem]
    sound: list[str]  # questions, in words


def defects_of(audit: CaseAudit) -> list[Defect]:
    """Readings that would revise or remove a case, removals first."""
    defective = audit.items.filter(done_at__isnull=False, outcome__in=["revise", "remove"])
    return _described(defective.order_by("outcome", "position", "number"))


def _described(findings: QuerySet[AuditItem]) -> list[Defect]:
    rows = list(findings.select_related("case", "rubric", "auditor"))
    criteria = {pk for row in rows for pk in row.criteria}
    items = RubricItem.objects.filter(criterion__in=criteria, rubric__in={row.rubric_id for row in rows})
    by_place = {(item.rubric_id, item.criterion_id): item for item in items.select_related("criterion")}
    labels = question_labels()
    return [
        Defect(
            row,
            [labels[name] for name in QUESTIONS if row.answers.get(name) is False],
            [by_place[row.rubric_id, pk] for pk in row.criteria if (row.rubric_id, pk) in by_place],
            [labels[name] for name in QUESTIONS if row.answers.get(name) is True],
        )
        for row in rows
    ]


def unsubmitted_of(audit: CaseAudit) -> list[Defect]:
    """What auditors had saved and not submitted when the audit was closed; empty while it is open."""
    return _described(_unsubmitted(audit))


def _unsubmitted(audit: CaseAudit) -> QuerySet[AuditItem]:
    is_closed = audit.status == CaseAudit.Status.CLOSED
    return with_entries(audit.items.all()) if is_closed else audit.items.none()


@dataclass(frozen=True, slots=True)
class Reading:
    """Who reads an audit now: numbers of cases claimed and not submitted, of their auditors, of those with entries."""

    cases: int
    auditors: int
    with_entries: int


def being_read_now(audit: CaseAudit) -> Reading:
    """What closing the audit would interrupt."""
    rows = being_read(audit.items.all())
    saved = with_entries(rows).count()
    return Reading(rows.count(), rows.order_by().values("auditor").distinct().count(), saved)


def drawn_cases(audit: CaseAudit) -> list[tuple[Case, int, int]]:
    """The drawn cases in the order in which they are read, with the numbers of readings submitted and requested."""
    cases: dict[int, tuple[Case, int, int]] = {}
    rows = audit.items.select_related("case").order_by("position", "number")
    for row in rows.defer("case__conversation", "case__reference_answer", "case__metadata"):
        case, n_done, n_items = cases.get(row.case_id, (row.case, 0, 0))
        cases[row.case_id] = (case, n_done + (row.done_at is not None), n_items + 1)
    return list(cases.values())


def reading_rows(audit: CaseAudit) -> Iterator[Sequence[object]]:
    """Rows in the order of `READING_COLUMNS`, one for each reading that is asked.

    ``state``: submitted, not read, being read (claimed in an open audit), or not submitted (saved before it closed).
    Entries that were saved and not submitted are in the rows once the audit is closed.
    """
    rows = audit.items.select_related("case", "rubric", "auditor").order_by("position", "number")
    texts = dict(
        Criterion.objects.filter(pk__in={pk for chosen in rows.values_list("criteria", flat=True) for pk in chosen})
        .order_by()
        .values_list("pk", "text")
    )
    words = {True: "sound", False: "at fault", None: None}
    unsubmitted = set(_unsubmitted(audit).values_list("pk", flat=True))
    is_open = audit.status == CaseAudit.Status.OPEN
    under_way = set(being_read(audit.items.all()).values_list("pk", flat=True)) if is_open else set()
    states = dict.fromkeys(under_way, "being read") | dict.fromkeys(unsubmitted, "not submitted")
    for row in rows:
        done = row.done_at is not None or row.pk in unsubmitted
        state = states.get(row.pk, "submitted" if done else "not read")
        yield (
            *(row.case.key, row.number, row.rubric.version),
            *(words[row.answers.get(name)] if done else None for name in QUESTIONS),
            " | ".join(texts[pk] for pk in row.criteria if pk in texts) or None if done else None,
            *((row.outcome or None, row.comment or None) if done else (None, None)),
            row.auditor,
            row.taken_at.isoformat() if row.taken_at and row.auditor else None,  # a released item keeps it
            row.done_at.isoformat() if row.done_at else None,
            row.case.exclusion_reason or None,
            state,
        )


@dataclass(frozen=True, slots=True)
class AuditorDashboard:
    """What waits for an auditor in a benchmark: ``at`` is the case under way."""

    at: AuditItem | None
    waiting: int  # cases to take
    done: list[AuditItem]
    unsubmitted: list[AuditItem]  # with saved entries, in audits that were closed


def auditor_dashboard(auditor: User, benchmark: Benchmark) -> AuditorDashboard:
    """Data for the auditor's dashboard and the home page."""
    own = AuditItem.objects.filter(audit__benchmark=benchmark, auditor=auditor).select_related("case", "audit")
    at = own.filter(audit__status="open", done_at=None, case__excluded_at=None).order_by("taken_at", "pk").first()
    done = list(own.filter(done_at__isnull=False).order_by("-done_at")[:100])
    waiting = open_to(auditor, benchmark).values("audit", "case").distinct().count()
    unsubmitted = with_entries(own.filter(audit__status="closed")).order_by("-audit__closed_at", "pk")
    return AuditorDashboard(at, waiting, done, list(unsubmitted[:100]))
