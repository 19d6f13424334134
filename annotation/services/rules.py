"""Readable messages for constraint violations, and the lock that pausing or closing a batch waits for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Batch
from consilium.core.errors import Conflict, DomainError
from consilium.core.locks import RowLock, lock_exclusive, lock_shared

CHANGED_ELSEWHERE = gettext_lazy("This criterion was changed elsewhere in the meantime.")
SENTENCES = {
    "annotation_group_name_once": gettext_lazy("A group of this name is there already."),
    "annotation_membership_once": gettext_lazy("This person has this part in the group already."),
    "annotation_membership_not_staff": gettext_lazy(
        "Who runs the benchmark sees the candidates’ names, and so cannot be a member of its expert groups."
    ),
    "annotation_membership_one_group": gettext_lazy("This physician belongs to another expert group of the benchmark."),
    "annotation_physician_pseudonym_once": gettext_lazy("This pseudonym is taken."),
    "annotation_not_the_author": gettext_lazy("Nobody grades, checks or adjudicates a response of their own."),
    "annotation_slot_taken_once": gettext_lazy("Somebody else has taken this response meanwhile."),
    "annotation_live_work_once": gettext_lazy("An annotator already has this response to grade in another batch."),
    "annotation_ruling_not_voter": gettext_lazy("Who votes on a case does not rule on it, nor the other way round."),
    "annotation_acuityruling_once": gettext_lazy("Somebody has ruled on this case meanwhile."),
    "annotation_rulingrequest_once": gettext_lazy("A ruling on this case was asked for already."),
    "annotation_vote_once": gettext_lazy("You have voted on this case already, so that vote stands."),
    "annotation_vote_after_first": gettext_lazy("Only physicians with a vote in the first round vote in the second."),
    "annotation_labeltask_author": gettext_lazy("Nobody reads a response that they wrote."),
    "annotation_one_part_per_response": gettext_lazy("You have another part for this response already."),
    "accounts_user_email_once": gettext_lazy("Somebody else uses this address."),
}


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


def lock_batch_shared(batch_id: int) -> None:
    """Keep a batch from being paused or closed until this transaction ends; many transactions may do so at once.

    It is an advisory lock, because a shared row lock would write to the row of the batch with every saved decision.
    """
    lock_shared(RowLock.BATCH, batch_id)


def lock_batch_exclusive(batch_id: int) -> None:
    """Wait until no transaction holds the lock of the batch, and block others until this transaction ends."""
    lock_exclusive(RowLock.BATCH, batch_id)


def refuse_unless_open(batch: Batch) -> None:
    """`Conflict` with a message if the batch takes no work because it is paused or closed."""
    if batch.status == Batch.Status.PAUSED:
        raise Conflict(gettext("This batch is paused. Nothing is lost; go on when it is open again."))
    if batch.status == Batch.Status.CLOSED:
        raise Conflict(gettext("This batch is closed, so nothing in it can change any more."))
