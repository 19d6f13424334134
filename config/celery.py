"""The Celery application; its settings are those of Django that begin with ``CELERY_``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.contrib.django.task import DjangoTask
from celery.signals import beat_init, before_task_publish, celeryd_init, setup_logging
from django.db import transaction

from config.environment import with_time_limits
from consilium.core.private_files import UMASK
from consilium.core.task_headers import ENQUEUED_AT
from standalone.broker.address import register_transport

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
register_transport()


class BestEffortTask(DjangoTask):
    """A task that may be lost: if it cannot be sent, the request that sends it still succeeds.

    By then the row that describes the work is committed, and the sweep finds it.
    """

    def delay_on_commit(self, *args: Any, **kwargs: Any) -> None:
        """Send after the transaction; if the broker is away, that is logged and not raised."""
        _after_commit(lambda: self.delay(*args, **kwargs))

    def apply_async_on_commit(self, *args: Any, **kwargs: Any) -> None:
        """As ``delay_on_commit``, with the options of ``apply_async``."""
        _after_commit(lambda: self.apply_async(*args, **kwargs))


def _after_commit(send: Callable[[], object]) -> None:
    # Not a partial: Django logs the name of a hook that fails, and would itself fail on a partial, which has none.
    transaction.on_commit(send, robust=True)


app = Celery("consilium", task_cls=BestEffortTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add("consilium.core.watchdog:Watchdog")


@before_task_publish.connect
def _note_time(headers: dict[str, Any], **_kwargs: Any) -> None:
    """A message says when it was sent, so that whoever looks at the broker sees how long it has waited."""
    headers.setdefault(ENQUEUED_AT, time.time())


@setup_logging.connect
def _keep_django_logging(**_kwargs: Any) -> None:
    """Django has set up logging already; a receiver here keeps Celery from replacing it."""


@celeryd_init.connect
@beat_init.connect
def _keep_files_private(**_kwargs: Any) -> None:
    """What a worker or beat writes is for the account that runs it; the children of a worker inherit this."""
    os.umask(UMASK)


@celeryd_init.connect
@beat_init.connect
def _ensure_server(**_kwargs: Any) -> None:
    """The broker's connections bypass Django, so the embedded server is started here."""
    from django.conf import settings

    if settings.EMBEDDED:
        from standalone.embedded import ensure

        ensure(settings.CONSILIUM_HOME)


@celeryd_init.connect
def _limit_waits_for_locks(**_kwargs: Any) -> None:
    """A worker does not wait for ever for a lock that another process left behind. Before its first connection."""
    from django.conf import settings
    from django.db import connections

    options = connections.settings["default"]["OPTIONS"]
    options["options"] = with_time_limits(options.get("options", ""), settings.WORKER_TIME_LIMITS)


@beat_init.connect
def _watch_workers(**_kwargs: Any) -> None:
    """Beat runs where no worker does, so it notices when there is none. Connected after `_ensure_server`."""
    from config.beat_report import BeatReport
    from config.worker_watch import WorkerWatch

    WorkerWatch().start()
    BeatReport().start()
