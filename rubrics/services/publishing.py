"""Transitions of a rubric version: draft → in review → published → superseded, and back to draft.

Publishing happens inside the approval that makes it possible. It never changes texts: an item with the same text as an
earlier criterion of the case uses that criterion again, with all its decisions and verdicts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import Conflict, DomainError, LineError
from consilium.core.limits import MAX_REVIEW_COMMENT_LENGTH
from consilium.core.transitions import transition
from consilium.core.versioning import refuse_stale
from rubrics import hooks
from rubrics.access import is_author
from rubrics.editor.case_content import unready_content
from rubrics.editor.citation import citation_rows
from rubrics.editor.draft_content import DraftItem, digest_of, from_rubric, items_of, unready
from rubrics.editor.privacy import open_findings
from rubrics.editor.rules import broken_rules, rules_of
from rubrics.models import (
    AuthoringRole,
    Case,
    Criterion,
    RevisionRequest,
    Rubric,
    RubricDraft,
    RubricItem,
    RubricReview,
)
from rubrics.services import rubric_notices
from rubrics.services.drafts import CHANGED_ELSEWHERE
from rubrics.services.exclusion import exclude_case

Status = Rubric.Status
APPROVED, RETURNED = RubricReview.Outcome.APPROVED, RubricReview.Outcome.RETURNED


class NotReady(DomainError):
    """A draft that cannot go to review; ``errors`` name the criteria by their place, 0 the rubric as a whole."""

    def __init__(self, errors: Sequence[LineError]) -> None:
        self.errors = list(errors)
        count = len(self.errors)
        text = ngettext(
            "%(n)d problem must be fixed before this rubric can be sent to review.",
            "%(n)d problems must be fixed before this rubric can be sent to review.",
            count,
        )
        super().__init__(text % {"n": count})


def what_is_in_the_way(rubric: Rubric, items: Sequence[DraftItem], *, privacy: bool = True) -> list[LineError]:
    """All that keeps these items from review: half-done criteria, broken rules, and open privacy findings.

    ``privacy=False`` where many are listed: privacy takes queries for each rubric, and is checked when one is sent.
    """
    case = rubric.case
    faults = [*unready(items, rubric.pk), *broken_rules(items, rules_of(case.benchmark))]
    if privacy:
        faults += unready_content(case)
        faults += [LineError(0, "privacy", str(finding)) for finding in open_findings(case, items)]
    before = rubric.based_on
    if not faults and before is not None:
        stood = sorted(before.items.all(), key=lambda item: item.position)  # sorted here, since they may be prefetched
        if digest_of(from_rubric(stood)) == digest_of(items):
            faults.append(LineError(0, "items", _("There are no differences from the published version.")))
    return faults


# To review and back ---------------------------------------------------------------------------------------------------


@transaction.atomic
def send_to_review(*, rubric: Rubric, note: str, by: User, at: datetime, notify: bool = True) -> Rubric:
    """Ask other physicians to read the draft; `NotReady` names what is in the way. ``note``: what changed, and why.

    A new version of a published rubric needs a note. If this exact text has its approvals already, it may be published
    at once. ``notify=False`` where the caller sends many and notifies of all together.
    """
    row, draft = _locked(rubric)
    if row.status != Status.DRAFT:
        raise Conflict(_("This rubric is already in review or published."))
    _counts(row.case)
    note = note.strip()[:MAX_REVIEW_COMMENT_LENGTH] or row.note
    items = items_of(draft.content)
    faults = [*what_is_in_the_way(row, items), *hooks.check_publication(row, items)]
    if row.based_on_id is not None and not note:
        faults.append(LineError(0, "note", _("Describe what changed, and why.")))
    if faults:
        raise NotReady(faults)
    transition(row, source=[Status.DRAFT], target=Status.IN_REVIEW, note=note)
    # A text that is sent again unchanged may have its approvals already.
    approved = row.reviews.filter(outcome=APPROVED, digest=draft.digest).exists()
    if not (approved and _publish_if_approved(row, draft, by, at, notify=notify)) and notify:
        rubric_notices.notify_of_waiting([row], but=by, at=at)
    return row


@transaction.atomic
def take_back(*, rubric: Rubric, by: User, at: datetime) -> Rubric:
    """Make it a draft again before anybody has decided. Approvals hold as long as the text stays the same."""
    row, _draft = _locked(rubric)
    if row.status != Status.IN_REVIEW:
        raise Conflict(_("This rubric is no longer in review."))
    transition(row, source=[Status.IN_REVIEW], target=Status.DRAFT)
    return row


@transaction.atomic
def return_draft(
    *, rubric: Rubric, reviewer: User, comment: str, item_comments: Mapping[str, str], at: datetime
) -> RubricReview:
    """Send a rubric back to its authors with a reason, and comments on single criteria (id in the draft → text)."""
    row, draft = _locked(rubric)
    _may_review(row, draft, reviewer)
    comments = _comments(draft, item_comments)
    comment = comment.strip()[:MAX_REVIEW_COMMENT_LENGTH]
    if not comment and comments:
        comment = _("See the comments beside the criteria.")
    if not comment:
        raise DomainError(_("Describe what should change."))
    review = _review(row, draft, reviewer, RETURNED, comment, comments, at)
    transition(row, source=[Status.IN_REVIEW], target=Status.DRAFT)
    rubric_notices.notify_of_return(row, but=reviewer, at=at)
    return review


@transaction.atomic
def discard_draft(*, rubric: Rubric, by: User, at: datetime, version: int | None = None) -> None:
    """Discard a draft; a published version is left as it is.

    ``version`` is the one that ``by`` saw: `StaleSave` where somebody has saved since.

    Its reviews stay on record. Requests to reword a criterion wait for the next draft.
    """
    row, draft = _locked(rubric)
    if row.status != Status.DRAFT:
        raise Conflict(_("Only a draft can be discarded. Withdraw this rubric from review first."))
    refuse_stale(version, stored=draft.version, current=draft, message=CHANGED_ELSEWHERE)
    hooks.draft_discarded(row, items_of(draft.content))
    row.reviews.all().delete()
    row.delete()


# Approval and publishing ----------------------------------------------------------------------------------------------


@transaction.atomic
def approve(
    *,
    rubric: Rubric,
    reviewer: User,
    digest: str,
    comment: str,
    at: datetime,
    item_comments: Mapping[str, str] | None = None,
    notify: bool = True,
) -> Rubric:
    """Approve the text whose ``digest`` was read; `Conflict` where the text has changed. Publishes once enough approve.

    The reviewer is an author of the benchmark who wrote nothing of this version. The returned rubric is published, or
    still in review.
    """
    row, draft = _locked(rubric)
    _may_review(row, draft, reviewer)
    if draft.digest != digest:
        raise Conflict(_("The rubric has been changed since you opened it. Read it again before you approve it."))
    _counts(row.case)
    items = items_of(draft.content)
    # Rules or the case may have changed meanwhile.
    faults = [*what_is_in_the_way(row, items), *hooks.check_publication(row, items)]
    if faults:
        raise NotReady(faults)
    comment = comment.strip()[:MAX_REVIEW_COMMENT_LENGTH]
    _review(row, draft, reviewer, APPROVED, comment, _comments(draft, item_comments or {}), at)
    _publish_if_approved(row, draft, reviewer, at, notify=notify)
    return row


def approvals_missing(rubric: Rubric, draft: RubricDraft) -> int:
    """How many more physicians must approve the current text, at least."""
    needed = rules_of(rubric.case.benchmark).reviewers
    approvers, physicians = _physicians(rubric, draft)
    return max(needed - len(approvers), 2 - len(physicians), 0)


def _physicians(rubric: Rubric, draft: RubricDraft) -> tuple[set[int], set[int]]:
    """Those who approved the current text, and all physicians responsible for it: the approvers and its authors."""
    writers = set(rubric.contributors.values_list("user", flat=True))
    approvals = rubric.reviews.filter(outcome=APPROVED, digest=draft.digest)
    # A person who imported it for its author has not read it as a second physician.
    approvers = set(approvals.values_list("reviewer", flat=True)) - writers - {draft.saved_by_id}
    authors = AuthoringRole.objects.filter(
        benchmark=rubric.case.benchmark_id, user__in=writers, role=AuthoringRole.Role.AUTHOR
    )
    return approvers, approvers | set(authors.values_list("user", flat=True))


def _publish_if_approved(row: Rubric, draft: RubricDraft, by: User, at: datetime, *, notify: bool) -> bool:
    if approvals_missing(row, draft):
        return False
    publish(rubric=row, draft=draft, by=by, at=at)
    if notify:
        rubric_notices.notify_of_publishing([row], but=by, at=at)
    return True


@transaction.atomic
def publish(*, rubric: Rubric, draft: RubricDraft, by: User, at: datetime) -> None:
    """Make the draft the version that counts, in place of the one before. Called once enough reviewers approve.

    Requests to reword a criterion that is no longer there are answered by this version; others stay open.
    """
    before = Rubric.objects.filter(case=rubric.case_id, track=rubric.track, status=Status.PUBLISHED).first()
    if before is not None:
        transition(before, source=[Status.PUBLISHED], target=Status.SUPERSEDED)
    items = items_of(draft.content)
    criteria = criteria_for(rubric.case_id, items, before)
    RubricItem.objects.bulk_create(
        RubricItem(
            rubric=rubric,
            criterion_id=criterion,
            position=position,
            points=item.points,
            tags=list(item.tags),
            source_note=item.source,
            case_element=item.element,
            expectation=item.expectation,
            bank_item=item.bank,
            citations=citation_rows(item.citations),
            suggestion=item.suggestion,
        )
        for position, (item, criterion) in enumerate(zip(items, criteria, strict=True), start=1)
    )
    transition(rubric, source=[Status.IN_REVIEW], target=Status.PUBLISHED, published_at=at)
    answer = _("Answered by version %(n)d.") % {"n": rubric.version}
    requests = RevisionRequest.objects.filter(rubric__case=rubric.case_id, status=RevisionRequest.Status.OPEN)
    requests.exclude(criterion__in=criteria).update(
        status=RevisionRequest.Status.DONE, answer=answer, closed_by=by, closed_at=at, taken_up_in=rubric
    )
    hooks.published(before, rubric, at)
    _retire_the_mistaken(rubric.case, by, at)


def _retire_the_mistaken(erratum: Case, by: User, at: datetime) -> None:
    """Exclude the case that a published erratum replaces: both ask the same question, and only the erratum counts."""
    mistaken = erratum.supersedes
    if mistaken is not None and mistaken.excluded_at is None:
        reason = _("Its erratum “%(case)s” is published.") % {"case": erratum.key}
        exclude_case(case=mistaken, kind=Case.Exclusion.DECISION, reason=reason, by=by, at=at)


def criteria_for(case: int, items: Sequence[DraftItem], before: Rubric | None) -> list[int]:
    """The criterion of each item; a new row where no criterion has exactly the same text.

    The row that an item came from is preferred; then one of the version before; then the latest of any version.
    """
    known = dict(Criterion.objects.filter(case=case).order_by("pk").values_list("pk", "text"))
    stood = set(before.items.values_list("criterion", flat=True)) if before is not None else set()
    chosen: list[int | None] = [
        item.criterion if item.criterion is not None and known.get(item.criterion) == item.text else None
        for item in items
    ]
    used = {pk for pk in chosen if pk is not None}
    by_text: dict[str, list[int]] = {}
    for pk in sorted(known.keys() - used, key=lambda pk: (pk in stood, pk)):
        by_text.setdefault(known[pk], []).append(pk)
    for place, item in enumerate(items):
        if chosen[place] is None and by_text.get(item.text):
            chosen[place] = by_text[item.text].pop()
    missing = [item.text for item, pk in zip(items, chosen, strict=True) if pk is None]
    fresh = iter(Criterion.objects.bulk_create(Criterion(case_id=case, text=text) for text in missing))
    return [pk if pk is not None else next(fresh).pk for pk in chosen]


# Shared parts ---------------------------------------------------------------------------------------------------------


def _locked(rubric: Rubric) -> tuple[Rubric, RubricDraft]:
    """The stored rubric and its draft, locked until the transaction ends."""
    rows = Rubric.objects.select_for_update(no_key=True, of=("self",)).select_related("case__benchmark", "based_on")
    row = rows.prefetch_related("based_on__items__criterion").filter(pk=rubric.pk).first()
    draft = RubricDraft.objects.select_for_update().filter(rubric=rubric.pk).first()
    if row is None or draft is None:
        raise Conflict(_("The draft of this rubric no longer exists."))
    return row, draft


def _counts(case: Case) -> None:
    if case.excluded_at is not None:
        raise DomainError(_("This case was excluded, so its rubric cannot change."))


def _may_review(rubric: Rubric, draft: RubricDraft, reviewer: User) -> None:
    if rubric.status != Status.IN_REVIEW:
        raise Conflict(_("This rubric is no longer in review."))
    if not is_author(reviewer, rubric.case.benchmark):
        raise DomainError(_("Rubrics are reviewed by the authors of the benchmark."))
    if draft.saved_by_id == reviewer.pk or rubric.contributors.filter(user=reviewer).exists():
        raise DomainError(_("You took part in writing this version, so another physician must review it."))


def _comments(draft: RubricDraft, given: Mapping[str, str]) -> dict[str, str]:
    """The comments that are not empty, on items of the draft."""
    item_ids: Collection[str] = {item.id for item in items_of(draft.content)}
    return {
        name: text.strip()[:MAX_REVIEW_COMMENT_LENGTH]
        for name, text in given.items()
        if name in item_ids and text.strip()
    }


def _review(
    rubric: Rubric,
    draft: RubricDraft,
    reviewer: User,
    outcome: str,
    comment: str,
    item_comments: dict[str, str],
    at: datetime,
) -> RubricReview:
    """Store one row for each reviewer and text: another decision on the same text updates it, and is on record."""
    review, _created = RubricReview.objects.update_or_create(
        rubric=rubric,
        reviewer=reviewer,
        digest=draft.digest,
        defaults={
            "outcome": outcome,
            "comment": comment,
            "item_comments": item_comments,
            "content": draft.content,
            "created_at": at,
        },
    )
    return review
