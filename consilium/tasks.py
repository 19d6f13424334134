"""Maintenance tasks that belong to no app."""

from importlib import import_module

from celery import shared_task
from django.conf import settings


@shared_task(ignore_result=True)
def clear_expired_sessions() -> None:
    """Delete sessions that have run out."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
