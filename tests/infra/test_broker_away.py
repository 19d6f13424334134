"""A broker that is away costs nobody their work: the row is there, and the sweep finds it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from kombu import Connection

from agreement import services
from agreement.models import Report
from agreement.tasks import run_report
from tests.factories import BenchmarkFactory


@pytest.mark.django_db(transaction=True)
def test_what_could_not_be_enqueued_is_kept_and_found() -> None:
    benchmark = BenchmarkFactory.create()
    nobody_listens = Connection("redis://127.0.0.1:1/0")
    with transaction.atomic():
        report = Report.objects.create(benchmark=benchmark, kind="agreement", created_at=timezone.now())
        run_report.apply_async_on_commit((report.pk,), connection=nobody_listens, retry=False)
    assert services.REPORTS.unfinished(at=timezone.now() + timedelta(minutes=1)) == [report.pk]
