"""Every write to a person's account; invitations and notifications are modules of their own."""

from accounts.services.people import person_of, update_profile

__all__ = ["person_of", "update_profile"]
