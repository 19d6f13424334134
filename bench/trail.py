"""How long a page of the trail of changes takes beside 200,000 verdicts; see `main` for how to run it."""

from __future__ import annotations

import time

import pytest

EVENTS = 200_000


@pytest.mark.django_db
@pytest.mark.slow
def test_measure() -> None:
    """``pytest -q -s bench/trail.py``: prints milliseconds for the page without a filter, by subject, and older."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory

    ada = UserFactory()
    benchmark = BenchmarkFactory(slug="cardio", admin=ada)
    group = ExpertGroupFactory(benchmark=benchmark)
    for spread in ("1 minute", "0"):
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO annotation_membershipevent (pgh_created_at, pgh_label, pgh_obj_id, id, group_id, user_id, "
                "role, active, capacity, withheld_reason, created_at) "
                f"SELECT now() - n * interval '{spread}', 'insert', n, n, %s, %s, 'annotator', true, NULL, '', now() "
                "FROM generate_series(1, %s) AS n",
                [group.pk, ada.pk, EVENTS // 2],
            )
            cursor.execute("ANALYZE annotation_membershipevent")
    client = Client()
    client.force_login(ada)
    page = "/b/cardio/records/changes/"
    older = client.get(page).context["older"]
    for address in (
        "/b/cardio/settings/",
        page,
        f"{page}?subject=roles",
        f"{page}?before={older}",
        f"{page}?until=2026-06-01T00:00",
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
