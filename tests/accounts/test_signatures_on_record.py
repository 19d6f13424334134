"""No signature without its line in the security log: where the line cannot be written, nothing is signed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import SecurityEvent, User
from agreement.models import AcuityPlan, ThresholdChoice
from agreement.planning.acuity_plan import plan_of
from agreement.planning.services import import_plan
from annotation.models import ReferenceSet
from releases.models import Release
from rubrics.models import Benchmark
from tests.accounts.second_step_tools import signed_in
from tests.agreement.acuity.test_acuity_plans import plan_with
from tests.annotation.acuity.test_reference_sets import LABELS, form, import_labels, seen_on
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PAGES = "/b/study/"
API = "/api/v1/benchmarks/study/"
WAYS = [
    ("threshold", "page"), ("threshold", "api"), ("release", "page"), ("release", "api"),
    ("acuity_plan", "page"), ("acuity_plan", "api"), ("reference_set", "page"),
]  # fmt: skip


@pytest.fixture
def admin() -> User:
    return UserFactory(email="ada@example.org", name="Ada")


@pytest.fixture
def benchmark(admin: User, tmp_path: Path) -> Benchmark:
    benchmark = BenchmarkFactory(slug="study", title="The study", licence="CC-BY-4.0", admin=admin)
    import_labels(tmp_path / "labels.csv", LABELS, slug="study")
    return benchmark


def refuse_lines() -> None:
    """From now on the database takes no line about a signature."""
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE FUNCTION refuse_the_line() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE EXCEPTION 'no line'; END$$;
            CREATE TRIGGER refuse_the_line BEFORE INSERT ON accounts_securityevent
                FOR EACH ROW WHEN (NEW.kind = 'signed') EXECUTE FUNCTION refuse_the_line();
        """)


def accept_lines() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER refuse_the_line ON accounts_securityevent; DROP FUNCTION refuse_the_line")


def signing(kind: str, benchmark: Benchmark, client: Client) -> tuple[str, str, dict[str, Any]]:
    """The address of the page, that of the API, and what is sent to both."""
    if kind == "threshold":
        return f"{PAGES}calibration/sign/", f"{API}thresholds/", {"k": 3, "reason": "by the board", "seen": 0}
    if kind == "release":
        sent = {"version": "1.0", "acuity": True}
        return f"{PAGES}releases/new/", f"{API}releases/", sent
    if kind == "acuity_plan":
        import_plan(benchmark=benchmark, plan=plan_of(plan_with()), by=None, at=timezone.now())
        return f"{PAGES}planning/acuity/1/sign", f"{API}acuity/plans/1/sign/", {}
    sent = form(benchmark)
    seen = seen_on(client.get(f"{PAGES}reference-sets/preview", sent).content.decode())
    return f"{PAGES}reference-sets/new/", "", {**sent, "seen": seen}


def signatures() -> int:
    signed_plans = AcuityPlan.objects.filter(signed_at__isnull=False)
    rows = (ThresholdChoice.objects, Release.objects, ReferenceSet.objects, signed_plans)
    return sum(each.count() for each in rows)


@pytest.mark.parametrize(("kind", "by"), WAYS)
def test_nothing_is_signed_without_its_line(admin: User, benchmark: Benchmark, kind: str, by: str) -> None:
    client = signed_in(admin)
    client.raise_request_exception = False
    page, api, sent = signing(kind, benchmark, client)

    def send() -> int:
        if by == "page":
            return client.post(page, {"licence": benchmark.licence, **sent}).status_code
        return client.post(api, sent, content_type="application/json").status_code

    refuse_lines()
    assert send() == 500
    assert signatures() == 0
    accept_lines()
    assert send() in (200, 201, 302)
    assert signatures() == 1
    assert SecurityEvent.objects.get(kind="signed").values["what"] == kind
