"""Celery's tasks for mails. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from accounts.services import api_tokens, deliveries, invitations, mails, passwords


@shared_task(ignore_result=True)
def mail_at_once(notification_id: int) -> None:
    """Send one notification to a reader who wants it at once."""
    deliveries.mail_at_once(notification_id=notification_id, at=timezone.now())


@shared_task(ignore_result=True)
def mail_invitation(invitation_id: int) -> None:
    """Make the link of an invitation, and mail it."""
    invitations.mail_invitation(invitation_id=invitation_id)


@shared_task(ignore_result=True, autoretry_for=(OSError,), max_retries=5, retry_backoff=10)
def mail_account_notice(subject: str, text: str, page: str, to: list[str]) -> None:
    """Send a notice about an account, such as a changed password; it holds no secret."""
    mails.send_notice(subject=subject, text=text, page=page, to=to)


@shared_task(ignore_result=True)
def mail_password_link(user_id: int | None) -> None:
    """Send a link to choose a new password; None stands for an address without an account.

    No sweep repeats it if the broker cannot be reached: the person asks again.
    """
    passwords.mail_password_link(user_id=user_id)


@shared_task(ignore_result=True)
def sweep_mails() -> None:
    """Send the daily mails that are due, and mails that an earlier task did not send."""
    deliveries.sweep_mails(at=timezone.now())
    invitations.sweep_invitations(at=timezone.now())


@shared_task(ignore_result=True)
def notify_of_expiring_tokens() -> None:
    """Notify people a week before one of their API tokens expires."""
    api_tokens.notify_of_expiry(at=timezone.now())
