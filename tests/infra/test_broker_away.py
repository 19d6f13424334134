"""A broker that is away costs nobody their work: the row is there, and the sweep finds it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.tasks import run_report
from tests.factories import BenchmarkFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_could_not_be_rung_for_is_kept_and_found() -> None:
    benchmark = BenchmarkFactory()
    conf = run_report.app.conf
    address, retry = conf.broker_write_url, conf.task_publish_retry
    # Nobody listens there.
    conf.update(broker_write_url="redis://127.0.0.1:1/0", task_publish_retry=False)
    run_report.app.pool.force_close_all()
    try:
        with transaction.atomic():
            report = Report.objects.create(benchmark=benchmark, kind="agreement", created_at=timezone.now())
            run_report.delay_on_commit(report.pk)
    finally:
        conf.update(broker_write_url=address, task_publish_retry=retry)
        run_report.app.pool.force_close_all()
    assert services.unfinished(at=timezone.now() + timedelta(minutes=1)) == [report.pk]
