"""The same product over servers named in the environment: Redis carries the tasks, PostgreSQL is reached by address."""

import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import UserSession
from tests.processes import ROOT
from tests.waiting import wait_until


@pytest.mark.django_db(transaction=True)
def test_a_worker_on_redis_hears_another_process(redis_url, start_worker, process_environment):
    worker = start_worker(REDIS_URL=redis_url)
    assert redis_url.removeprefix("redis://") in worker.log.read_text()
    UserSession.objects.create(session_key="old", session_data="", expire_date=timezone.now() - timedelta(days=999))
    program = "from consilium.tasks import clear_expired_sessions; clear_expired_sessions.delay()"
    subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", program],
        cwd=ROOT,
        env={**process_environment, "REDIS_URL": redis_url},
        check=True,
    )
    wait_until(lambda: not UserSession.objects.exists())
    worker.stop()
