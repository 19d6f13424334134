"""A real worker over the test database does the task that a web process enqueues."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import UserSession
from consilium.tasks import clear_expired_sessions
from tests.waiting import wait_until


@pytest.mark.django_db(transaction=True)
def test_worker_runs_what_was_sent_on_commit(celery_worker):
    with transaction.atomic():
        UserSession.objects.create(session_key="old", session_data="", expire_date=timezone.now() - timedelta(days=999))
        UserSession.objects.create(session_key="new", session_data="", expire_date=timezone.now() + timedelta(days=999))
        clear_expired_sessions.delay_on_commit()
    wait_until(lambda: not UserSession.objects.filter(session_key="old").exists())
    assert UserSession.objects.filter(session_key="new").exists()
