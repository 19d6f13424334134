"""Writes to user accounts; invitations and notifications have their own modules."""

from accounts.services.people import choose_language, person_of, suggest_profile, update_profile

__all__ = ["choose_language", "person_of", "suggest_profile", "update_profile"]
