"""Readable messages for constraint violations, and the lock that pausing or closing a batch waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_lazy, ngettext

from accounts.models import User
from annotation.models import Batch
from consilium.core.errors import Conflict, DomainError
from consilium.core.locks import RowLock, lock_exclusive, lock_shared

CHANGED_ELSEWHERE = gettext_lazy("This criterion was changed elsewhere in the meantime.")
# It names no reason: that somebody else continues with the work would show that it is no gold item.
TOO_LATE = gettext_lazy("This can no longer be undone.")
NOTHING_TO_UNDO = gettext_lazy("You can still change this, so there is nothing to undo.")
SUBMITTED_TOO_LATE = gettext_lazy(
    "This can no longer be undone. If something in it is wrong, write a comment on the response."
)
SENTENCES = {
    "annotation_group_name_once": gettext_lazy("A group with this name already exists."),
    "annotation_membership_once": gettext_lazy("This person already has this role in the group."),
    "annotation_membership_not_staff": gettext_lazy(
        "People who run the benchmark see the candidates’ names, so they cannot be members of its expert groups."
    ),
    "annotation_membership_one_group": gettext_lazy("This physician belongs to another expert group of the benchmark."),
    "annotation_physician_pseudonym_once": gettext_lazy("This pseudonym is already in use."),
    "annotation_not_the_author": gettext_lazy("Physicians cannot grade, check or adjudicate their own responses."),
    "annotation_slot_taken_once": gettext_lazy("Someone else has already claimed this response."),
    "annotation_live_work_once": gettext_lazy("An annotator already has this response to grade in another batch."),
    "annotation_ruling_not_voter": gettext_lazy("A physician cannot both vote and rule on the same case."),
    "annotation_acuityruling_once": gettext_lazy("Someone else has already ruled on this case."),
    "annotation_rulingrequest_once": gettext_lazy("A ruling on this case has already been requested."),
    "annotation_vote_once": gettext_lazy(
        "You have already voted on this case, and your vote can no longer be changed."
    ),
    "annotation_vote_after_first": gettext_lazy("Only physicians who voted in the first round can vote in the second."),
    "annotation_labeltask_author": gettext_lazy("Physicians cannot read their own responses."),
    "annotation_coderuling_not_coder": gettext_lazy("A physician cannot both code a response and rule on its codes."),
    "annotation_coderuling_once": gettext_lazy("A ruling on this response has already been requested."),
    "annotation_one_part_per_response": gettext_lazy("You already have another role for this response."),
    "accounts_user_email_once": gettext_lazy("This address is already in use."),
}


class NoLongerOpen(Conflict):
    """The work was submitted, released or reassigned, so that its page can only be read from now on."""


class Unseen(Conflict):
    """What was decided elsewhere meanwhile is not on the page of the person who finishes; ``criteria``: their ids."""

    def __init__(self, criteria: Sequence[int]) -> None:
        self.criteria = list(criteria)
        text = ngettext(
            "%(number)d criterion was changed in another tab or on another device. Review it before you finish.",
            "%(number)d criteria were changed in another tab or on another device. Review them before you finish.",
            len(criteria),
        )
        super().__init__(text % {"number": len(criteria)})


def refuse_unseen(shown: Mapping[int, int] | None, rows: QuerySet[Any]) -> None:
    """`Unseen` if a version is stored that the page does not show.

    ``shown``: criterion → the version on the page, 0 for none; without it, nothing is compared. ``rows`` have a
    criterion and a version.
    """
    if not shown:
        return
    stored = dict(rows.filter(criterion__in=shown).values_list("criterion_id", "version"))
    changed = [criterion for criterion, version in shown.items() if stored.get(criterion, 0) != version]
    if changed:
        raise Unseen(changed)


@contextmanager
def readable_constraint_errors() -> Iterator[None]:
    """Run a block in a savepoint, and turn a violation of a known constraint into a `DomainError` with a message."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        sentence = SENTENCES.get(getattr(diagnosis, "constraint_name", None) or "")
        if sentence is None:
            raise
        raise DomainError(str(sentence)) from error


def lock_next_claim(user: User) -> None:
    """Let requests of one person for their next piece of work wait for each other, until this transaction ends.

    Without it, two requests at once would each find nothing claimed, and each claim a piece. Taken before any row, so
    that none of them waits for another that waits for it.
    """
    lock_exclusive(RowLock.NEXT_CLAIM, user.pk % 2**31)


def lock_batch_shared(batch_id: int) -> None:
    """Keep a batch from being paused or closed until this transaction ends; many transactions may do so at once.

    It is an advisory lock, because a shared row lock would write to the row of the batch with every saved decision.
    """
    lock_shared(RowLock.BATCH, batch_id)


def lock_batch_exclusive(batch_id: int) -> None:
    """Wait until no transaction holds the lock of the batch, and block others until this transaction ends."""
    lock_exclusive(RowLock.BATCH, batch_id)


class BatchClosed(Conflict):
    """The batch is closed for good: what was not saved before cannot be saved any more."""


def refuse_unless_open(batch: Batch) -> None:
    """`Conflict`, or `BatchClosed`, with a message if the batch takes no work because it is paused or closed."""
    if batch.status == Batch.Status.PAUSED:
        raise Conflict(gettext("This batch is paused. Nothing is lost; you can continue when it is open again."))
    if batch.status == Batch.Status.CLOSED:
        raise BatchClosed(gettext("This batch is closed, so nothing in it can be changed."))
