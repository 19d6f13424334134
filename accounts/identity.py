"""A name for a person that says nothing about them, for what a browser keeps on their behalf."""

from __future__ import annotations

import hashlib

from accounts.models import User


def opaque_name(user: User) -> str:
    """Always the same for one account, and told to nobody but its owner.

    No secret goes into it: unsent work that a browser keeps under this name must find its owner again after the
    secret of the deployment has changed.
    """
    return hashlib.sha256(f"consilium/{user.pk}/{user.date_joined.isoformat()}".encode()).hexdigest()[:20]
