"""`manage.py worker` replaces a frozen worker without `manage.py up`; neither SIGTERM nor kill -9 leaves a process."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from consilium.core.heartbeat import WorkerHeartbeat
from tests.processes import ROOT, children_of
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def is_running(pid: int) -> bool:
    """Whether the process lives; one that nobody waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_a_frozen_worker_is_replaced_and_the_end_of_the_command_ends_all(
    process_environment: dict[str, str], tmp_path: Path, end: signal.Signals
) -> None:
    log = tmp_path / "worker.log"
    with log.open("wb") as stream:
        command = subprocess.Popen(
            [sys.executable, "manage.py", "worker"],
            cwd=ROOT,
            env={**process_environment, "WORKER_STALL_LIMIT": "6"},
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def worker(*, other_than: int = 0) -> int:
        assert command.poll() is None, log.read_text()
        mains = children_of(command.pid)
        row = WorkerHeartbeat.objects.filter(pid__in=mains).exclude(pid=other_than).first()
        return row.pid if row is not None else 0

    group: list[int] = []
    try:
        first = wait_until(worker, within_s=60, message="the worker writes its row")
        assert "concurrency: 2" in log.read_text()  # as that of `up`
        os.kill(first, signal.SIGSTOP)
        second = wait_until(lambda: worker(other_than=first), within_s=90, message="another worker writes its row")
        assert re.search(r"The worker process made no progress for \d+ s and was killed", log.read_text())
        assert not Path(f"/proc/{first}").exists()
        # Its row may be there before the second of its children is.
        wait_until(lambda: len(children_of(second)) == 2, message="the worker has its children")
        group = [second, *children_of(second)]
        command.send_signal(end)
        assert command.wait(timeout=60) == (0 if end == signal.SIGTERM else -signal.SIGKILL), log.read_text()
        wait_until(lambda: not any(is_running(pid) for pid in group), within_s=30, message="the worker ended")
    finally:
        if command.poll() is None:
            command.kill()
        for pid in group:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
