"""How long a page of the trail of changes takes beside 200,000 events of 5,000 people; see `test_measure` to run it."""

from __future__ import annotations

import time

import pytest

EVENTS = 200_000
ACCOUNTS = 5000


@pytest.mark.django_db
@pytest.mark.slow
@pytest.mark.parametrize("days", [0, 60])
@pytest.mark.parametrize("whose", ["its own", "of another benchmark"])
def test_measure(whose: str, days: int) -> None:
    """``pytest -q -s bench/trail.py``: prints milliseconds for the page, for an older one, and with filters.

    The events end ``days`` ago. Those of another benchmark lie before 2,000 of the benchmark's own.
    """
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from accounts.models import User
    from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory

    ada = UserFactory(name="Ada Admin", email="ada@example.org")
    UserFactory(name="Nora Newcomer")
    others = User.objects.bulk_create(UserFactory.build_batch(ACCOUNTS, password=""))
    benchmark = BenchmarkFactory(slug="cardio", admin=ada)
    group = ExpertGroupFactory(benchmark=benchmark)
    parts = [("1 minute", group, days, EVENTS // 2), ("0", group, days, EVENTS // 2)]
    if whose != "its own":
        other = ExpertGroupFactory(benchmark=BenchmarkFactory(slug="derma"))
        parts = [("1 minute", group, days + 90, 2000), *((spread, other, ago, n) for spread, _own, ago, n in parts)]
    for spread, owner, ago, number in parts:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO annotation_membershipevent (pgh_created_at, pgh_label, pgh_obj_id, id, group_id, user_id, "
                "role, active, capacity, withheld_reason, created_at, pgh_context) "
                f"SELECT now() - interval '{ago} days' - n * interval '{spread}', 'insert', n, n, %s, %s, 'annotator', "
                "true, NULL, '', now(), jsonb_build_object('url', '/', 'user', "
                "CASE WHEN n %% 100 = 0 THEN %s ELSE %s + n %% %s END) FROM generate_series(1, %s) AS n",
                [owner.pk, ada.pk, ada.pk, others[0].pk, ACCOUNTS, number],
            )
            cursor.execute("ANALYZE annotation_membershipevent")
    client = Client()
    client.force_login(ada)
    page = "/b/cardio/records/changes/"
    older = client.get(page).context["older"]
    print(f"\n{EVENTS} events {whose}, the last {days} days ago")
    for address in (
        "/b/cardio/settings/",
        page,
        f"{page}?subject=roles",
        f"{page}?before={older}",
        f"{page}?until=2026-06-01T00:00",
        f"{page}?person=example",  # all accounts
        f"{page}?person=ada@",  # who made every hundredth change
        f"{page}?person=newcomer",  # who made none
        f"{page}?subject=roles&person=newcomer",
        "/api/v1/benchmarks/cardio/changes/",
    ):
        times = []
        for _number in range(5):
            start = time.perf_counter()
            assert client.get(address).status_code in {200}
            times.append(1000 * (time.perf_counter() - start))
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        longest = max(1000 * float(query["time"]) for query in queries)
        print(f"{sorted(times)[2]:.0f} ms, longest of {len(queries)} statements {longest:.0f} ms: {address}")
