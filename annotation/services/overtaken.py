"""Amendments and rulings that two tabs, or two devices, write: who was overtaken is told and overwrites nothing."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from django.utils.translation import gettext as _

from consilium.lib.errors import Conflict


class Versioned(Protocol):
    """A row that counts its saves and knows which one stands."""

    version: int
    client_id: UUID | None


class StaleReview(Conflict):
    """Somebody (another tab, another device) saved this criterion after the sender last saw it."""

    def __init__(self) -> None:
        super().__init__(_("This criterion was changed elsewhere in the meantime."))


def stands_already(known: Versioned | None, *, version: int | None, client_id: UUID | None) -> bool:
    """Whether ``known`` is this very save, of which only the answer was lost; `StaleReview` if it is another's.

    ``version`` is the one that the sender saw, 0 for none, None from a sender who does not look. The row that both
    belong to has to be locked.
    """
    if known is not None and client_id is not None and known.client_id == client_id:
        return True
    if version is not None and version != (known.version if known is not None else 0):
        raise StaleReview
    return False
