"""The same product over servers named in the environment: Redis rings the bell, PostgreSQL is reached by address."""

import shutil
import socket
import subprocess
import sys

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from tests.processes import ROOT
from tests.waiting import wait_until


@pytest.fixture
def redis_url(tmp_path):
    program = shutil.which("redis-server")
    if program is None:
        pytest.fail("No redis-server found: install the package redis-server.", pytrace=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )

    def listens():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens)
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait()


@pytest.mark.django_db(transaction=True)
def test_a_worker_on_redis_hears_another_process(redis_url, start_worker, process_environment):
    worker = start_worker(REDIS_URL=redis_url)
    assert redis_url.removeprefix("redis://") in worker.log.read_text()
    Session.objects.create(session_key="old", session_data="", expire_date=timezone.now().replace(year=2000))
    ring = "from consilium.tasks import clear_expired_sessions; clear_expired_sessions.delay()"
    subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", ring],
        cwd=ROOT,
        env={**process_environment, "REDIS_URL": redis_url},
        check=True,
    )
    wait_until(lambda: not Session.objects.exists())
    worker.stop()
