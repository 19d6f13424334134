"""Creates a batch from a preview exactly once, however often its form is sent and whoever sends it."""

from __future__ import annotations

from django.utils.translation import gettext as _

from annotation.models import Batch, ExpertGroup
from consilium.core.errors import Conflict


class AlreadyCreated(Conflict):
    """The preview was made into ``batch`` before: its form was sent twice, or repeated after a lost connection."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(_("A batch was already created from this preview."))
        self.batch = batch


def lock_group(group: ExpertGroup) -> None:
    """Wait until no other batch of the group is being made, and block others until this transaction ends.

    A plan made under the lock takes every earlier batch into account.
    """
    ExpertGroup.objects.select_for_update(no_key=True).get(pk=group.pk)


def refuse_repeated(*, group: ExpertGroup, kind: str, seed: int, digest: str) -> None:
    """`AlreadyCreated` if the group has a batch of that kind from the preview with this seed and digest.

    Call it under `lock_group`; an empty digest stands for no preview.
    """
    if not digest:
        return
    batches = Batch.objects.filter(group=group, kind=kind, seed=seed, plan_digest=digest)
    batch = batches.select_related("group").first()
    if batch is not None:
        raise AlreadyCreated(batch)
