"""A pseudonymous key for a person, under which the browser stores their unsent work."""

from __future__ import annotations

import hashlib

from accounts.models import User


def opaque_name(user: User) -> str:
    """The same key for an account every time; only its owner's pages contain it.

    No secret goes into it: unsent work that a browser keeps under this name must find its owner again after the
    secret of the deployment has changed.
    """
    return hashlib.sha256(f"consilium/{user.pk}/{user.date_joined.isoformat()}".encode()).hexdigest()[:20]
