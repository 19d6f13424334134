"""Writes to user accounts; invitations and notifications have their own modules."""

from accounts.services.people import person_of, suggest_specialty, update_profile

__all__ = ["person_of", "suggest_specialty", "update_profile"]
