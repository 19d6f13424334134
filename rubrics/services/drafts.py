"""Writes to draft rubrics: create one, and save its items."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F, Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.versioning import StaleSave, is_replay, refuse_stale
from rubrics import hooks
from rubrics.editor.draft_content import DraftItem, digest_for_review, from_rubric, items_of
from rubrics.models import Case, Criterion, Rubric, RubricContributor, RubricDraft

Status = Rubric.Status
TRACK = "gold"


CHANGED_ELSEWHERE = gettext_lazy("This rubric has been changed elsewhere since you opened it.")


@transaction.atomic
def open_draft(*, case: Case, by: User, at: datetime) -> Rubric:
    """The version that is being written or reviewed; a new one begins as a copy of the published rubric.

    Opening it makes nobody a contributor: only saving does.
    """
    if case.excluded_at is not None:
        raise DomainError(_("This case was excluded, so its rubric cannot change."))
    case = Case.objects.select_for_update(no_key=True).get(pk=case.pk)  # two openings at once get the same draft
    versions = Rubric.objects.filter(case=case, track=TRACK)
    open_rubric = versions.filter(status__in=[Status.DRAFT, Status.IN_REVIEW], draft__isnull=False).first()
    if open_rubric is not None:
        return open_rubric
    published = versions.filter(status=Status.PUBLISHED).first()
    items = from_rubric(list(published.items.select_related("criterion").order_by("position"))) if published else []
    rubric = Rubric.objects.create(
        case=case,
        track=TRACK,
        version=(versions.aggregate(last=Max("version"))["last"] or 0) + 1,
        provenance="written here",
        based_on=published,
        created_by=by,
        created_at=at,
    )
    RubricDraft.objects.create(
        rubric=rubric, content=_content(items), digest=digest_for_review(items, case), saved_by=by, saved_at=at
    )
    return rubric


@transaction.atomic
def save_draft(
    *,
    rubric: Rubric,
    items: Sequence[DraftItem],
    version: int,
    client_id: uuid.UUID | None,
    by: User,
    at: datetime,
    writer: User | None = None,
    in_editor: bool = False,
) -> RubricDraft:
    """Replace the stored items, if ``version`` is the stored one; else `StaleSave`.

    ``writer`` is the author of the words, where ``by`` only imports them; neither of them can approve this version.
    ``in_editor``: the list comes from the page on which a person works on each criterion (`rubrics.hooks.DraftSave`).

    The same ``client_id`` again changes nothing and answers as the first time. Only a rubric in state draft is
    written to. Items may be half done; their criteria must belong to this case. Higher apps may refuse them
    (`rubrics.hooks.DraftRefused`).
    """
    # The lock keeps others from sending it to review meanwhile; the row of the rubric is not changed.
    locked = Rubric.objects.select_for_update(no_key=True).get(pk=rubric.pk)
    draft = RubricDraft.objects.select_for_update().get(rubric=rubric)
    if is_replay(client_id, stored=draft.client_id):
        return draft
    if locked.status != Status.DRAFT:
        raise Conflict(_("This rubric is in review or published, so it cannot be edited."))
    refuse_stale(version, stored=draft.version, current=draft, message=CHANGED_ELSEWHERE)
    named = {item.criterion for item in items if item.criterion is not None}
    if named and Criterion.objects.filter(pk__in=named, case=rubric.case_id).count() != len(named):
        raise DomainError(_("A criterion from another case cannot be used in this rubric."))
    save = hooks.DraftSave(
        rubric=locked, before=items_of(draft.content), by=by, writer=writer or by, at=at, in_editor=in_editor
    )
    items = hooks.check_draft(save, items)
    RubricDraft.objects.filter(pk=draft.pk).update(
        content=_content(items),
        # The case is read under the lock of the draft: a change of the case renews the digest under the same lock.
        digest=digest_for_review(items, Case.objects.get(pk=rubric.case_id)),
        version=F("version") + 1,
        client_id=client_id,
        saved_by=by,
        saved_at=at,
    )
    contributor, created = RubricContributor.objects.get_or_create(
        rubric=rubric, user=writer or by, defaults={"first_at": at, "last_at": at}
    )
    if not created:
        RubricContributor.objects.filter(pk=contributor.pk).update(last_at=at)
    hooks.draft_saved(save, items)
    draft.refresh_from_db()
    return draft


@transaction.atomic
def save_first(
    *,
    case: Case,
    items: Sequence[DraftItem],
    client_id: uuid.UUID | None,
    by: User,
    at: datetime,
    in_editor: bool = False,
) -> RubricDraft:
    """Open the first draft of a case and save into it; `StaleSave` if somebody has written one by now.

    An editor that was opened without a save leaves no draft behind.
    """
    rubric = open_draft(case=case, by=by, at=at)
    draft = rubric.draft
    if draft.content["items"] and draft.client_id != client_id:
        raise StaleSave(draft, CHANGED_ELSEWHERE)
    return save_draft(
        rubric=rubric,
        items=items,
        version=draft.version,
        client_id=client_id,
        by=by,
        at=at,
        in_editor=in_editor,
    )


@transaction.atomic
def put_draft(
    *,
    case: Case,
    items: Sequence[DraftItem],
    version: int,
    seen: int | None = None,
    client_id: uuid.UUID | None,
    by: User,
    at: datetime,
) -> RubricDraft:
    """Put a list in place of what is being written. Version 0 begins a draft where there is none; else `StaleSave`.

    ``seen`` is the rubric whose draft the sender saw, because the versions of each draft count from 1.
    """
    Case.objects.select_for_update(no_key=True).get(pk=case.pk)  # nobody begins one after the check
    open_rubrics = Rubric.objects.filter(case=case, track=TRACK, status__in=[Status.DRAFT, Status.IN_REVIEW])
    begins = version == 0 and not open_rubrics.filter(draft__isnull=False).exists()
    rubric = open_draft(case=case, by=by, at=at)
    refuse_another(rubric, seen)
    version = rubric.draft.version if begins else version
    return save_draft(rubric=rubric, items=items, version=version, client_id=client_id, by=by, at=at)


def refuse_another(rubric: Rubric, seen: int | None) -> None:
    """`StaleSave` where the sender saw the draft of another rubric (by its id), discarded or published since."""
    if seen is not None and seen != rubric.pk and rubric.status == Status.DRAFT:
        raise StaleSave(rubric.draft, CHANGED_ELSEWHERE)


def hold_drafts(case: Case) -> list[RubricDraft]:
    """The drafts of a case, locked so that nobody sends them to review or saves them meanwhile."""
    rubrics = Rubric.objects.select_for_update(no_key=True).filter(case=case, status=Status.DRAFT)
    return list(RubricDraft.objects.select_for_update().filter(rubric__in=[row.pk for row in rubrics]))


def renew_digests(drafts: Sequence[RubricDraft], case: Case) -> None:
    """Renew the digests after a change of the case: earlier reviews of its drafts were about another text."""
    for draft in drafts:
        draft.digest = digest_for_review(items_of(draft.content), case)
        draft.save(update_fields=["digest"])


def _content(items: Sequence[DraftItem]) -> dict[str, object]:
    return {"items": [item.as_json() for item in items]}
