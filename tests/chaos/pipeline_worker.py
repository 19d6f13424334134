"""A process that works on every live run of steps until it is killed; `killed_runs` starts it."""

from __future__ import annotations

import os
import time

import django


def main() -> None:
    """Work for ever."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()

    from django.utils import timezone

    from scoring.models import PipelineRun
    from scoring.pipelines.working import work_on_run
    from tests.scoring.pipelines import verdict_chain  # noqa: F401  # registers its kind

    while True:
        for pk in PipelineRun.objects.filter(status__in=PipelineRun.LIVE).values_list("pk", flat=True):
            work_on_run(pk, clock=timezone.now)
        time.sleep(0.02)


if __name__ == "__main__":
    main()
