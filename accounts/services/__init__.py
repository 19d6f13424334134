"""Writes to user accounts; invitations and notifications have their own modules."""

from accounts.services.people import person_of, update_profile

__all__ = ["person_of", "update_profile"]
