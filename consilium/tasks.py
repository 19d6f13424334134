"""Maintenance tasks that belong to no app."""

from celery import shared_task
from django.contrib.sessions.backends.db import SessionStore


@shared_task(ignore_result=True)
def clear_expired_sessions() -> None:
    """Delete sessions that have run out."""
    SessionStore.clear_expired()
