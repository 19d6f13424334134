"""A judge's key is named by its environment variable; the key itself is in no table, page, answer, export or log."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Candidate
from scoring.models import JudgeCall, JudgeRun
from scoring.runs.services import RunFrame, create_run
from tests.factories import BenchmarkRoleFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, chat_judge, grant
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "canary-7d1f-never-shown"
# Read by every Python of the worker: where the model is "boom", the library below fails as none of ours expects, and
# says in its message what it was given, with the key in a header, in brackets and alone.
FAULT = """
import aiohttp, os
request = aiohttp.ClientSession._request
async def fail(self, method, url, **more):
    if b'"boom"' in more.get("data", b""):
        key = os.environ["LOOPBACK_API_KEY"]
        raise ZeroDivisionError(f"cannot send {dict(self.headers)} or {[key]} to {url}: {key}")
    return await request(self, method, url, **more)
aiohttp.ClientSession._request = fail
"""


def tables_that_hold(text: str) -> list[str]:
    """Every table of the database in which some row, written as text, holds ``text``."""
    tables = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(
                f"SELECT count(*) FROM {connection.ops.quote_name(table)} AS t WHERE position(%s in t::text) > 0",
                [text],
            )
            if cursor.fetchone()[0]:
                tables.append(table)
    return tables


def test_the_key_is_nowhere(
    answered: Benchmark, loopback: Loopback, start_judging: Callable[..., Worker], client: Client, tmp_path: Path
) -> None:
    grant(answered)
    (tmp_path / "sitecustomize.py").write_text(FAULT)
    worker = start_judging(LOOPBACK_API_KEY=KEY, LOG_LEVEL="DEBUG", PYTHONPATH=str(tmp_path))
    runs = [
        create_run(
            benchmark=answered,
            judge=chat_judge(answered, loopback, model, key_env="LOOPBACK_API_KEY"),
            frame=RunFrame(candidates=("alpha",)),
            by=None,
            at=timezone.now(),
        )
        for model in ("ok", "echo-key", "forged", "boom")
    ]
    wait_until(lambda: not JudgeRun.objects.filter(status__in=JudgeRun.LIVE).exists(), within_s=60)
    worker.stop()
    statuses = JudgeRun.objects.order_by("pk").values_list("status", flat=True)
    assert list(statuses) == ["finished", "incomplete", "finished", "failed"], JudgeRun.objects.values_list("error")
    assert JudgeCall.objects.filter(run__in=runs).count() >= 36
    # The endpoint got the key and said it back; it was taken out before the answer was kept.
    assert JudgeCall.objects.filter(run=runs[1], error__contains="Bearer [redacted]").exists()
    assert tables_that_hold(KEY) == []
    assert "scoring_judge" in tables_that_hold("LOOPBACK_API_KEY")  # the search does find what is there
    # The worker's log tells the fault with its traceback, and says what was left out.
    log = Path(worker.log).read_text()
    assert "Traceback" in log
    assert "ZeroDivisionError: cannot send" in log
    assert "[redacted]" in log
    assert KEY not in log

    client.force_login(BenchmarkRoleFactory(benchmark=answered).user)
    pages = [reverse("scoring:judges", args=[answered.slug])]
    base = f"/api/v1/benchmarks/{answered.slug}"
    pages += [f"{base}/judges/", f"{base}/runs/"]
    of_candidate = f"?candidate={Candidate.objects.get(benchmark=answered, name='alpha').public_id}"
    for run in runs:
        names = ("judge", "judge-susceptibility", "judge-susceptibility-csv")
        pages += [reverse(f"scoring:{name}", args=[answered.slug, run.judge.public_id]) for name in names]
        names = ("run", "run-progress", "verdicts", "verdicts-csv")
        pages += [reverse(f"scoring:{name}", args=[answered.slug, run.public_id]) for name in names]
        pages += [f"{base}/judges/{run.judge.public_id}/", f"{base}/runs/{run.public_id}/"]
        pages += [f"{base}/runs/{run.public_id}/verdicts/"]
    for run in (runs[0], runs[2]):
        pages.append(reverse("scoring:judgements", args=[answered.slug, run.public_id]) + of_candidate)
        pages.append(f"{base}/runs/{run.public_id}/judgements/{of_candidate}")
    comparison = reverse("scoring:run-comparison-csv", args=[answered.slug, runs[0].public_id])
    pages.append(f"{comparison}?with={runs[2].public_id}")
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        assert KEY.encode() not in answer.getvalue()

    rater = f"run:{runs[0].public_id}"
    out = tmp_path / "out"
    quiet = {"benchmark": answered.slug, "rater": rater, "stdout": StringIO(), "stderr": StringIO()}
    call_command("scores", k=1, out=out, **quiet)
    call_command("export_judgements", candidate="alpha", out=out / "judgements.json", **quiet)
    written = [path for path in out.rglob("*") if path.is_file()]
    assert len(written) >= 4
    assert all(KEY.encode() not in path.read_bytes() for path in written)


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL", "REDIS_URL", "PATH", "sk-a-key-itself"])
def test_other_variables_and_keys_themselves_are_refused(answered: Benchmark, loopback: Loopback, name: str) -> None:
    with pytest.raises(DomainError, match="_API_KEY"):
        chat_judge(answered, loopback, key_env=name)
    assert not tables_that_hold("sk-a-key-itself")
