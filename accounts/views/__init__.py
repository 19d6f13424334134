"""Views of home and profile, of notifications, and of links in mails."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accounts.views.own import SignedInRequest

    __all__ = ["SignedInRequest"]
