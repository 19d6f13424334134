"""Forks processes that work on every live run of steps until they are killed; `killed_runs` starts it.

Reads a name for each on its standard input, and writes the id of the process. A process that is forked is at work at
once, where one that is started would first import everything. All end with this one, which ends with its input.
"""

from __future__ import annotations

import os
import signal
import sys
import time

import django


def main() -> None:
    """Fork a process for each line."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()

    from scoring.pipelines import working  # noqa: F401  # all that a process needs
    from tests.scoring.pipelines import verdict_chain  # noqa: F401  # registers its kind

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that were killed
    origin = os.getpid()
    while line := sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            os.environ["PGAPPNAME"] = line.strip()
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            work(origin)
            os._exit(0)
        print(pid, flush=True)


def work(origin: int) -> None:
    """Work for as long as the process lives that forked this one."""
    from django.utils import timezone

    from scoring.models import PipelineRun
    from scoring.pipelines.working import work_on_run

    while os.getppid() == origin:
        for pk in PipelineRun.objects.filter(status__in=PipelineRun.LIVE).values_list("pk", flat=True):
            work_on_run(pk, clock=timezone.now)
        time.sleep(0.02)


if __name__ == "__main__":
    main()
