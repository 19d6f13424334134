"""Every write to a person's account."""

from __future__ import annotations

from django.db import transaction

from accounts.models import User


@transaction.atomic
def update_profile(*, user: User, name: str, time_zone: str, language: str) -> None:
    """Store what ``user`` says of themselves; the fields were validated by the form."""
    user.name, user.time_zone, user.language = name, time_zone, language
    user.save(update_fields=["name", "time_zone", "language"])
