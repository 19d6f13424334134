"""Pages of a person's own: home and profile, notifications, and the way in from a mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accounts.views.own import SignedInRequest

    __all__ = ["SignedInRequest"]
