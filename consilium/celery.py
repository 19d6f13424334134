"""The Celery application; its settings are those of Django that begin with ``CELERY_``."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "consilium.settings")

app = Celery("consilium")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
