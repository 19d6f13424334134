"""Writes of cases by their authors: create, save, delete a draft, and make an erratum of a published case."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F, ProtectedError
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.versioning import is_replay, refuse_stale
from rubrics.editor.case_content import CONTENT, CaseContent, content_of
from rubrics.editor.draft_content import from_rubric
from rubrics.models import Benchmark, Case, Rubric, RubricReview
from rubrics.services.drafts import hold_drafts, open_draft, renew_digests, save_draft

Status = Rubric.Status
COUNTED_KEY = re.compile(r"([A-Za-z][A-Za-z _.-]{0,60}?)(\d{1,6})")
RECENT = 50
# Whether there is an answer to the conversation, or one is on its way. The last two tables belong to apps above this
# one, so the query names them and imports nothing.
_ANSWERED = """
    SELECT EXISTS (SELECT 1 FROM rubrics_response WHERE case_id = %(case)s)
        OR EXISTS (SELECT 1 FROM annotation_writingtask WHERE case_id = %(case)s AND status <> 'released')
        OR EXISTS (
            SELECT 1 FROM scoring_pipelinestep s JOIN scoring_pipelinerun r ON r.id = s.run_id
            WHERE s.case_id = %(case)s AND s.state IN ('waiting', 'ready') AND r.candidate_id IS NOT NULL
                AND NOT r.replay AND r.status IN ('pending', 'running', 'paused')
        )
"""


class KeyTaken(DomainError):
    """Another case of the benchmark has this key."""

    def __init__(self) -> None:
        super().__init__(_("Another case has this short name."))


class Frozen(DomainError):
    """The content cannot change any more, or not now."""


def why_frozen(case: Case) -> str:
    """Why the content of a case cannot change, or an empty text: ``published``, or ``in_review``."""
    statuses = {rubric.status for rubric in case.rubrics.all()}
    if statuses & {Status.PUBLISHED, Status.SUPERSEDED}:
        return "published"
    return "in_review" if Status.IN_REVIEW in statuses else ""


def is_answered(case: Case) -> bool:
    """Whether there are responses to the current conversation, or one is being requested."""
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERED, {"case": case.pk})
        return bool(cursor.fetchone()[0])


def suggested_key(benchmark: Benchmark) -> str:
    """A key that continues the numbering of the latest cases: ``case-12`` after ``case-11``."""
    keys = list(benchmark.cases.order_by("-pk").values_list("key", flat=True)[:RECENT])
    before, number, width = "case-", benchmark.cases.count(), 1
    for key in keys:
        if match := COUNTED_KEY.fullmatch(key):
            before, number, width = match[1], int(match[2]), len(match[2])
            break
    taken = set(benchmark.cases.filter(key__startswith=before).values_list("key", flat=True))
    while True:
        number += 1
        if (key := f"{before}{number:0{width}d}") not in taken:
            return key


def suggested_erratum_key(case: Case) -> str:
    """The key of a case with the number of its erratum behind it."""
    stem = re.sub(r"-erratum-\d+$", "", case.key)[:180]
    number = 1
    while True:
        offered = [f"{stem}-erratum-{n}" for n in range(number, number + RECENT)]
        taken = set(Case.objects.filter(benchmark=case.benchmark_id, key__in=offered).values_list("key", flat=True))
        if free := next((key for key in offered if key not in taken), ""):
            return free
        number += RECENT


@transaction.atomic
def create_case(*, benchmark: Benchmark, content: CaseContent, by: User, at: datetime, **fields: Any) -> Case:
    """Begin a case; `KeyTaken` where its key is another's."""
    try:
        with transaction.atomic():
            return Case.objects.create(
                benchmark=benchmark, created_by=by, edited_at=at, **_columns(content, conversation=True), **fields
            )
    except IntegrityError as error:
        raise _explained(error) from error


@transaction.atomic
def save_case(
    *, case: Case, content: CaseContent, version: int, client_id: uuid.UUID | None, by: User, at: datetime
) -> Case:
    """Store the whole state, if ``version`` is the stored one; else `StaleSave`.

    The same ``client_id`` again changes nothing and answers as the first time. `Frozen` if the content would change
    after a rubric was published or while one is in review, or the conversation once it has a response.
    """
    row = Case.objects.select_for_update(no_key=True).get(pk=case.pk)
    if is_replay(client_id, stored=row.edit_id):
        return row
    message = _("This case has been changed elsewhere since you opened it.")
    refuse_stale(version, stored=row.edit_version, current=row, message=message)
    stands = content_of(row)
    changed = any(getattr(content, name) != getattr(stands, name) for name in CONTENT)
    drafts = hold_drafts(row) if changed else []  # locked before the check whether one was sent to review
    if changed and (why := why_frozen(row)):
        if why == "published":
            raise Frozen(
                _(
                    "A rubric of this case is published, so the case can no longer be changed. Create an erratum "
                    "instead."
                )
            )
        raise Frozen(_("The rubric of this case is in review. Withdraw it from review to change the case."))
    if content.conversation != stands.conversation and is_answered(row):
        raise Frozen(
            _(
                "There are responses to this conversation, so it cannot be changed. Create a new case for "
                "another conversation."
            )
        )
    try:
        with transaction.atomic():
            # The conversation of an imported case may hold more than an editor shows: it is written only if it differs.
            Case.objects.filter(pk=row.pk).update(
                **_columns(content, conversation=content.conversation != stands.conversation),
                language_detected=row.language_detected and content.language == stands.language,
                edit_version=F("edit_version") + 1,
                edit_id=client_id,
                edited_at=at,
            )
    except IntegrityError as error:
        raise _explained(error) from error
    row.refresh_from_db()
    renew_digests(drafts, row)
    return row


def _columns(content: CaseContent, *, conversation: bool) -> dict[str, Any]:
    columns = content.as_json()
    if not conversation:
        del columns["conversation"]
    return columns


def _explained(error: IntegrityError) -> DomainError:
    diagnosis = getattr(error.__cause__, "diag", None)
    constraint = diagnosis.constraint_name if diagnosis is not None else ""
    if constraint == "rubrics_case_key_once":
        return KeyTaken()
    if constraint == "rubrics_case_frozen":  # published after the check above
        return Frozen(_("A rubric of this case has just been published, so the case can no longer be changed."))
    if constraint == "validation_case_in_sets":
        return Frozen(_("A rubric set contains this case, so its short name can no longer be changed."))
    raise error


@transaction.atomic
def make_erratum(*, case: Case, key: str, by: User, at: datetime) -> Case:
    """A new case that supersedes a published one: its content copied, its rubric a draft that begins as the published.

    Criteria become new rows, since they belong to another case, which is graded from the beginning.
    """
    if why_frozen(case) != "published":
        raise DomainError(_("Nothing from this case is published, so you can change it directly."))
    published = case.rubrics.filter(status=Status.PUBLISHED, track="gold").first()
    erratum = create_case(
        benchmark=case.benchmark,
        content=replace(content_of(case), key=key.strip()),
        by=by,
        at=at,
        supersedes=case,
        metadata={},
    )
    if published is not None:
        items = from_rubric(list(published.items.select_related("criterion").order_by("position")))
        save_draft(
            rubric=open_draft(case=erratum, by=by, at=at),
            items=[replace(item, criterion=None) for item in items],
            version=1,
            client_id=None,
            by=by,
            at=at,
        )
    return erratum


def may_delete(user: User, case: Case) -> bool:
    """Whether ``user`` began the case, or runs its benchmark."""
    return case.created_by_id == user.pk or Benchmark.objects.run_by(user).filter(pk=case.benchmark_id).exists()


@transaction.atomic
def delete_case(*, case: Case, by: User) -> None:
    """Throw away a draft that nobody has reviewed or used; `Conflict` where somebody has."""
    if not may_delete(by, case):
        raise DomainError(_("Only the person who created a case, or those who run the benchmark, can delete it."))
    row = Case.objects.select_for_update().get(pk=case.pk)
    rubrics = Rubric.objects.filter(case=row)
    if rubrics.exclude(status=Status.DRAFT).exists() or RubricReview.objects.filter(rubric__case=row).exists():
        raise Conflict(_("This case has been reviewed or published, so it stays on record. An admin can exclude it."))
    try:
        with transaction.atomic():
            rubrics.delete()
            row.delete()
    except ProtectedError as error:
        raise Conflict(
            _(
                "Responses, suggestions or other work depend on this case, so it cannot be deleted. "
                "An admin can exclude it."
            )
        ) from error
