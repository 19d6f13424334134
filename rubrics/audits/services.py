"""Writes to audits: the draw, and auditors' findings. What findings lead to is in `follow_up.py`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_AUDIT_COMMENT_LENGTH
from consilium.core.transitions import transition
from consilium.core.versioning import refuse_stale
from rubrics.audits.access import open_to
from rubrics.audits.audit_notices import notify_of_closed_audit, notify_of_finding, notify_of_new_audit
from rubrics.audits.drawing import STATES, CaseFilter, Draw, draw_cases
from rubrics.audits.follow_up import ask_for_revision
from rubrics.models import AuditItem, AuthoringRole, Benchmark, CaseAudit, Criterion
from rubrics.services.beginning import unfinished_or_new

QUESTIONS = ("correctness", "necessity", "consistency", "guidelines")
Outcome = AuditItem.Outcome
LARGEST_SEED = 2**31 - 1
MAX_AUDITORS = 10


@dataclass(frozen=True, slots=True)
class AuditTerms:
    """How an audit is drawn."""

    title: str
    share: float = 0.2
    seed: int = 0
    auditors_per_case: int = 1
    filter: CaseFilter = field(default_factory=CaseFilter)


def plan_audit(*, benchmark: Benchmark, terms: AuditTerms) -> Draw:
    """The draw that `create_audit` would make; nothing is written. `DomainError` names what is missing."""
    if not 0 < terms.share <= 1:
        raise DomainError(_("The share must be above 0% and at most 100%."))
    if not 0 <= terms.seed <= LARGEST_SEED:
        raise DomainError(_("The seed must be a whole number of 0 or more."))
    if not 1 <= terms.auditors_per_case <= MAX_AUDITORS:
        raise DomainError(_("A case can have 1 to %(n)s auditors.") % {"n": MAX_AUDITORS})
    if terms.filter.state not in STATES:
        raise DomainError(_("One of: %(names)s.") % {"names": ", ".join(STATES)})
    draw = draw_cases(benchmark=benchmark, filter=terms.filter, share=terms.share, seed=terms.seed)
    if not draw.cases and draw.waiting_elsewhere:
        text = ngettext(
            "No other cases match: %(n)d case that has not been audited yet is waiting in another open audit.",
            "No other cases match: %(n)d cases that have not been audited yet are waiting in another open audit.",
            draw.waiting_elsewhere,
        )
        raise DomainError(text % {"n": draw.waiting_elsewhere})
    if not draw.cases:
        raise DomainError(
            _("No cases match. Only cases that are not excluded and have a published rubric can be drawn.")
        )
    return draw


def auditors_of(benchmark: Benchmark) -> QuerySet[AuthoringRole]:
    """The roles of the auditors of a benchmark."""
    return AuthoringRole.objects.filter(benchmark=benchmark, role=AuthoringRole.Role.AUDITOR, active=True)


def refuse_too_many_auditors(benchmark: Benchmark, per_case: int) -> None:
    """`DomainError` if a case is to have more auditors than there are. One may be appointed after the draw."""
    auditors = auditors_of(benchmark).count()
    if per_case > max(1, auditors):
        text = ngettext(
            "The benchmark has %(n)d auditor, so a case cannot have %(asked)d. Appoint more auditors, or enter a "
            "smaller number of auditors per case.",
            "The benchmark has %(n)d auditors, so a case cannot have %(asked)d. Appoint more auditors, or enter a "
            "smaller number of auditors per case.",
            auditors,
        )
        raise DomainError(text % {"n": auditors, "asked": per_case})


@transaction.atomic
def start_audit(*, benchmark: Benchmark, terms: AuditTerms, by: User | None, at: datetime) -> tuple[CaseAudit, bool]:
    """The open audit with this title and exactly this draw, and False; else a new one by `create_audit`, and True.

    `DomainError` where a case would have more auditors than the benchmark has.

    Audits of a benchmark are drawn one after the other, so that a form that is sent twice at once draws one.
    """

    refuse_too_many_auditors(benchmark, terms.auditors_per_case)

    def same_audit() -> QuerySet[CaseAudit]:
        audits = CaseAudit.objects.filter(
            benchmark=benchmark,
            title=terms.title.strip(),
            share=terms.share,
            seed=terms.seed,
            auditors_per_case=terms.auditors_per_case,
            status="open",
        )
        # Its own cases wait in it: the draw must be the same as before it was made.
        return audits.filter(pk__in=[row.pk for row in audits if row.frame["digest"] == _digest_before(row, terms)])

    return unfinished_or_new(
        benchmark=benchmark,
        unfinished=same_audit,
        create=lambda: create_audit(benchmark=benchmark, terms=terms, by=by, at=at),
    )


def _digest_before(audit: CaseAudit, terms: AuditTerms) -> str:
    """The digest of the frame of ``terms`` as if ``audit`` had not been drawn."""
    benchmark = audit.benchmark
    draw = draw_cases(benchmark=benchmark, filter=terms.filter, share=terms.share, seed=terms.seed, ignored=audit)
    return draw.digest


@transaction.atomic
def create_audit(*, benchmark: Benchmark, terms: AuditTerms, by: User | None, at: datetime) -> CaseAudit:
    """Draw the cases and store them as items for auditors to take."""
    if not terms.title.strip():
        raise DomainError(_("Enter a title for the audit."))
    draw = plan_audit(benchmark=benchmark, terms=terms)
    audit = CaseAudit.objects.create(
        benchmark=benchmark,
        title=terms.title.strip(),
        share=terms.share,
        seed=terms.seed,
        auditors_per_case=terms.auditors_per_case,
        frame={
            "filter": terms.filter.record(),
            "in_frame": draw.in_frame,
            "drawn": len(draw.cases),
            "slices": dict(draw.in_slices),
            "slices_of": {entry.public_id: list(entry.slices) for entry in draw.cases},
            "digest": draw.digest,
        },
        created_by=by,
        created_at=at,
    )
    AuditItem.objects.bulk_create(
        (
            AuditItem(audit=audit, case_id=entry.case, rubric_id=entry.rubric, number=number, position=position)
            for position, entry in enumerate(draw.cases, start=1)
            for number in range(1, terms.auditors_per_case + 1)
        ),
        batch_size=1000,
    )
    notify_of_new_audit(audit, at=at)
    return audit


@transaction.atomic
def close_audit(*, audit: CaseAudit, at: datetime) -> None:
    """End an audit: its report is final, and unread cases stay unread.

    What auditors have saved and not submitted is kept as it is. They can read it, and are notified.
    """
    transition(audit, source=["open"], target="closed", closed_at=at)
    notify_of_closed_audit(audit, at=at)


# What auditors do -------------------------------------------------------------------------------------------------


@transaction.atomic
def take_case(*, auditor: User, benchmark: Benchmark, at: datetime) -> AuditItem | None:
    """The case that the auditor has taken, or the next that waits; None where there is none for them.

    Two auditors never get the same item: a row that another auditor is taking at this moment is skipped.
    """
    # One request at a time for each auditor: a second click must find what the first one took.
    role = AuthoringRole.objects.select_for_update(no_key=True).filter(
        benchmark=benchmark, user=auditor, role=AuthoringRole.Role.AUDITOR, active=True
    )
    if role.first() is None:
        raise DomainError(_("You are not an auditor of this benchmark."))
    own = AuditItem.objects.filter(
        audit__benchmark=benchmark, audit__status="open", auditor=auditor, done_at=None, case__excluded_at=None
    )
    if held := own.order_by("taken_at", "pk").first():
        return held
    # Cases that were released come after the others, the one that was claimed longest ago first: nobody is given again
    # what they have just released while another case waits. Releasing a case raises its version.
    released = AuditItem.objects.filter(
        audit=OuterRef("audit"), case=OuterRef("case"), auditor=None, version__gt=1, done_at=None
    )
    last_taken = released.order_by(F("taken_at").desc(nulls_last=True)).values("taken_at")[:1]
    waiting = (
        open_to(auditor, benchmark)
        .annotate(is_released=Exists(released), last_taken=Subquery(last_taken))
        .order_by(
            *("is_released", F("last_taken").asc(nulls_first=True)),
            *("audit__created_at", "audit", "position", "number"),
        )
    )
    row = waiting.select_for_update(no_key=True, of=("self",), skip_locked=True).first()
    # Others may hold all waiting rows, and only for this moment.
    row = row or waiting.select_for_update(no_key=True, of=("self",)).first()
    if row is None:
        return None
    row.auditor, row.taken_at = auditor, at
    row.save(update_fields=["auditor", "taken_at"])
    return row


@transaction.atomic
def put_back(*, item: AuditItem, auditor: User) -> None:
    """Let any auditor take the case after the others; notes made so far are dropped.

    ``taken_at`` stays: it says when the case was last claimed.
    """
    # The item is locked before the audit, as in `finish`.
    AuditItem.objects.select_for_update().get(pk=item.pk)
    # A closed audit keeps what was saved.
    if CaseAudit.objects.select_for_update(no_key=True).get(pk=item.audit_id).status != CaseAudit.Status.OPEN:
        raise AuditClosed(_("This audit is closed. Your saved entries are kept."))
    hit = AuditItem.objects.filter(pk=item.pk, auditor=auditor, done_at=None).update(
        auditor=None, answers={}, criteria=[], outcome="", comment="", version=F("version") + 1
    )
    if not hit:
        raise Conflict(_("You have finished this case; it can no longer be released."))


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """An auditor's notes on a case: True in ``answers`` where nothing is wrong; ``criteria`` are those at fault."""

    answers: Mapping[str, bool] = field(default_factory=dict)
    criteria: Collection[int] = ()
    outcome: str = ""
    comment: str = ""


@transaction.atomic
def save_finding(*, item: AuditItem, auditor: User, finding: AuditFinding, version: int) -> AuditItem:
    """Save the notes, which may be incomplete, if ``version`` is the stored one; else `StaleSave`."""
    row = (
        AuditItem.objects.select_for_update(of=("self",))
        .select_related("audit", "case")
        .get(pk=item.pk, auditor=auditor)
    )
    _refuse_unless_open(row)
    values = _checked(row, finding)
    # The answer to a save may have been lost: its repetition changes nothing.
    if all(getattr(row, name) == value for name, value in values.items()):
        return row
    message = _("This case has been changed in another tab since you opened it.")
    refuse_stale(version, stored=row.version, current=row, message=message)
    for name, value in values.items():
        setattr(row, name, value)
    row.version += 1
    row.save(update_fields=[*values, "version"])
    return row


@transaction.atomic
def finish(*, item: AuditItem, auditor: User, finding: AuditFinding, version: int, at: datetime) -> AuditItem:
    """Hand a case in. *Revise* asks for the ticked criteria to be reworded, or for the rubric as a whole to be revised
    where none is ticked; *remove* is for an admin to confirm.
    """
    row = save_finding(item=item, auditor=auditor, finding=finding, version=version)
    if missing := unready(row):
        raise DomainError(" ".join(missing))
    row.done_at = at
    row.save(update_fields=["done_at"])
    if row.outcome == Outcome.REVISE:
        criteria: list[Criterion | None] = [*Criterion.objects.filter(pk__in=row.criteria).order_by("pk")]
        for criterion in criteria or [None]:
            ask_for_revision(row, criterion, at=at)
    # Of two auditors who finish the last cases at once, the second must see what the first one finished.
    CaseAudit.objects.select_for_update(no_key=True).get(pk=row.audit_id)
    notify_of_finding(row, at=at)
    return row


def unready(row: AuditItem) -> list[str]:
    """What is missing before the case can be handed in, in words."""
    missing = []
    unanswered = [name for name in QUESTIONS if name not in row.answers]
    at_fault = [name for name in QUESTIONS if row.answers.get(name) is False]
    if unanswered:
        missing.append(_("Answer all four questions."))
    if not row.outcome:
        missing.append(_("Choose an outcome."))
    elif row.outcome == Outcome.SOUND and (at_fault or row.criteria):
        missing.append(_("Something is marked as at fault, so the outcome cannot be “Sound”."))
    elif row.outcome != Outcome.SOUND and not row.comment:
        missing.append(_("Explain what is wrong: the person who rewords or removes it will read your reason."))
    if row.outcome in (Outcome.REVISE, Outcome.REMOVE) and not unanswered and not at_fault:
        if row.criteria:
            missing.append(_("Criteria are marked at fault, and every question is answered with “Sound”."))
        missing.append(_("Answer the question that is at fault with “At fault”."))
    return missing


class FindingsFinal(Conflict):
    """The case was submitted, perhaps in another tab."""


class AuditClosed(Conflict):
    """The audit was closed before the case was submitted."""


def _refuse_unless_open(row: AuditItem) -> None:
    if row.done_at is not None:
        raise FindingsFinal(_("You have submitted this case; your findings are final."))
    if row.audit.status != CaseAudit.Status.OPEN:
        raise AuditClosed(
            _(
                "This audit was closed on %(day)s, so your last entry was not saved. What was saved before is kept, "
                "but it was not submitted. You can copy the text on this page until you leave it."
            )
            % {"day": date_format(timezone.localtime(row.audit.closed_at), "DATE_FORMAT")}
        )
    if row.case.excluded_at is not None:
        raise Conflict(
            _("This case was excluded while you had it open, so this was not saved. Continue with the next case.")
        )


def _checked(row: AuditItem, finding: AuditFinding) -> dict[str, Any]:
    if not set(finding.answers) <= set(QUESTIONS) or not all(
        type(answer) is bool for answer in finding.answers.values()
    ):
        raise DomainError(_("The questions are: %(names)s.") % {"names": ", ".join(QUESTIONS)})
    if finding.outcome not in ("", *Outcome.values):
        raise DomainError(_("One of: %(names)s.") % {"names": ", ".join(Outcome.values)})
    if len(finding.comment) > MAX_AUDIT_COMMENT_LENGTH:
        raise DomainError(_("At most %(n)s characters.") % {"n": f"{MAX_AUDIT_COMMENT_LENGTH:,}"})
    chosen = sorted(set(finding.criteria))
    known = row.rubric.items.filter(criterion__in=chosen).count() if chosen else 0
    if known != len(chosen):
        raise DomainError(_("A criterion that is not in this rubric cannot be marked."))
    return {
        "answers": {name: finding.answers[name] for name in QUESTIONS if name in finding.answers},
        "criteria": chosen,
        "outcome": finding.outcome,
        "comment": finding.comment.strip(),
    }
