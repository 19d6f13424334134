"""Settings, routes, and the Celery application, which `shared_task` finds once this package is imported."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
