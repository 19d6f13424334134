"""A judge's key is named by its environment variable; the key itself is in no table, page, API answer or log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from consilium.lib.errors import DomainError
from rubrics.models import Benchmark
from scoring.models import JudgeCall, JudgeRun
from scoring.services.runs import RunFrame, create_run
from tests.factories import BenchmarkRoleFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, chat_judge
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "canary-7d1f-never-shown"


def tables_that_hold(text: str) -> list[str]:
    """Every table of the database in which some row, written as text, holds ``text``."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(
                f"SELECT count(*) FROM {connection.ops.quote_name(table)} AS t WHERE position(%s in t::text) > 0",
                [text],
            )
            if cursor.fetchone()[0]:
                found.append(table)
    return found


def test_the_key_is_nowhere(
    answered: Benchmark, loopback: Loopback, start_judging: Callable[..., Worker], client: Client
) -> None:
    worker = start_judging(LOOPBACK_API_KEY=KEY, LOG_LEVEL="DEBUG")
    runs = [
        create_run(
            benchmark=answered,
            judge=chat_judge(answered, loopback, model, key_env="LOOPBACK_API_KEY"),
            frame=RunFrame(candidates=("alpha",)),
            by=None,
            at=timezone.now(),
        )
        for model in ("ok", "echo-key", "forged")
    ]
    wait_until(lambda: not JudgeRun.objects.filter(status__in=JudgeRun.LIVE).exists(), within_s=60)
    worker.stop()
    statuses = JudgeRun.objects.order_by("pk").values_list("status", flat=True)
    assert list(statuses) == ["finished", "incomplete", "finished"], JudgeRun.objects.values_list("error")
    assert JudgeCall.objects.filter(run__in=runs).count() >= 36
    # The endpoint got the key and said it back; it was taken out before the answer was kept.
    assert JudgeCall.objects.filter(run=runs[1], error__contains="Bearer [redacted]").exists()
    assert tables_that_hold(KEY) == []
    assert "scoring_judge" in tables_that_hold("LOOPBACK_API_KEY")  # the search does find what is there
    assert KEY not in Path(worker.log).read_text()

    client.force_login(BenchmarkRoleFactory(benchmark=answered).user)
    pages = [reverse("scoring:judges", args=[answered.slug])]
    for run in runs:
        pages.append(reverse("scoring:judge", args=[answered.slug, run.judge.public_id]))
        pages += [
            reverse(f"scoring:{name}", args=[answered.slug, run.public_id])
            for name in ("run", "verdicts", "verdicts-csv")
        ]
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        assert KEY.encode() not in answer.getvalue()


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL", "REDIS_URL", "PATH", "sk-a-key-itself"])
def test_other_variables_and_keys_themselves_are_refused(answered: Benchmark, loopback: Loopback, name: str) -> None:
    with pytest.raises(DomainError, match="_API_KEY"):
        chat_judge(answered, loopback, key_env=name)
    assert not tables_that_hold("sk-a-key-itself")
