"""The guard waits for processes that are still ending: they hold the locks of the embedded server."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from standalone.reaper import group_lives, stop_groups
from tests.waiting import wait_until

# The first thread ends by itself, the second sleeps on: a process that is killed goes through this state.
FIRST_THREAD_ENDS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def state(number):
    return Path("/proc", str(number), "stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture
def process():
    with subprocess.Popen([sys.executable, "-c", FIRST_THREAD_ENDS], start_new_session=True) as process:
        yield process
        process.kill()


def test_a_process_lives_until_its_last_thread_ends(process):
    wait_until(lambda: state(process.pid) == "Z")
    assert group_lives(process.pid)
    os.killpg(process.pid, signal.SIGKILL)
    wait_until(lambda: not group_lives(process.pid))
    assert state(process.pid) == "Z"  # nobody has reaped it


def test_what_an_ended_leader_leaves_is_asked_before_it_is_killed(tmp_path):
    ready, request = tmp_path / "ready", tmp_path / "request"
    left = f'trap "touch {request}; exit" TERM; touch {ready}; while :; do sleep 0.1; done'
    with subprocess.Popen(["sh", "-c", f"sh -c '{left}' &"], start_new_session=True) as leader:
        leader.wait()
    wait_until(ready.exists)
    assert group_lives(leader.pid)
    stop_groups([leader.pid])
    assert request.exists()
    assert not group_lives(leader.pid)
