"""The security log and the trail of changes through the API: who reads what, by which filters, page after page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import SecurityEvent, User
from accounts.services import person_of
from rubrics.models import Benchmark
from rubrics.services import grant_role, withdraw_role
from tests.annotation.conftest import build_workshop
from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory, decide, token_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LOG, TRAIL = "/api/v1/server/security-log/", "/api/v1/server/changes/"
OWN_LOG, OWN_TRAIL = "/api/v1/benchmarks/cardio/security-log/", "/api/v1/benchmarks/cardio/changes/"
ACTIVITY = "/api/v1/account/activity/"
FILES = {
    LOG: "/server/security-log.csv",
    TRAIL: "/server/changes.csv",
    OWN_LOG: "/b/cardio/records.csv",
    OWN_TRAIL: "/b/cardio/records/changes.csv",
    ACTIVITY: "/profile/activity.csv",
}


@pytest.fixture
def olga() -> User:
    return UserFactory(name="Olga Operator", is_superuser=True)


@pytest.fixture
def ada() -> User:
    return UserFactory(name="Ada Admin", email="ada@example.org")


@pytest.fixture
def cardio(ada: User) -> Benchmark:
    return BenchmarkFactory(slug="cardio", title="Cardiology pilot", admin=ada)


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def event(kind: str, **fields: Any) -> SecurityEvent:
    values = fields.pop("values", {})
    return SecurityEvent.objects.create(kind=kind, at=fields.pop("at", timezone.now()), values=values, **fields)


def pages(client: Client, address: str, between: Callable[[], Any] = lambda: None) -> list[list[dict[str, Any]]]:
    """The rows of every page, by way of ``next``; ``between`` is called after each."""
    shown = []
    while address:
        answer = client.get(address)
        assert answer.status_code == 200, answer.content
        body = answer.json()
        assert set(body) == {"next", "previous", "results"} and body["previous"] is None
        shown.append(body["results"])
        between()
        address = body["next"]
    return shown


def read(client: Client, address: str) -> list[dict[str, Any]]:
    return [row for page in pages(client, address) for row in page]


def file_of(client: Client, address: str) -> list[dict[str, Any]]:
    """The rows of a CSV file, with its objects of JSON read."""
    text = client.get(address).getvalue().decode()
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        row |= {name: json.loads(row[name]) for name in ("values", "changes") if name in row}
    return rows


def without_exports(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row.get("kind") != "log_exported"]


def fill(person: User, number: int, *, scope: str = "", of_each_moment: int = 40) -> None:
    """Lines of which many are of one moment."""
    SecurityEvent.objects.bulk_create(
        SecurityEvent(
            kind="signed_in", user=person, by=person, scope=scope, at=NOON + timedelta(seconds=n // of_each_moment),
            address="203.0.113.9", browser=f"browser {n}", values={"method": "password", "n": n},
        )
        for n in range(number)
    )  # fmt: skip


# Who reads what ------------------------------------------------------------------------------------------------------


def test_each_role_reads_what_its_pages_show(olga: User, ada: User, cardio: Benchmark) -> None:
    researcher, author, annotator = UserFactory(), UserFactory(), UserFactory()
    cardio.roles.create(user=researcher, role="researcher")
    cardio.authoring_roles.create(user=author, role="author", created_at=timezone.now())
    ExpertGroupFactory(benchmark=cardio).memberships.create(user=annotator, role="annotator")
    other = BenchmarkFactory(slug="derma", admin=UserFactory()).roles.get().user
    may = {olga: {LOG, TRAIL}, ada: {OWN_LOG, OWN_TRAIL}}
    for person in (olga, ada, researcher, author, annotator, other):
        client = signed_in(person)
        for address in (LOG, TRAIL, OWN_LOG, OWN_TRAIL):
            status = client.get(address).status_code
            assert status == (200 if address in may.get(person, ()) else 404), f"{person} {address}"
        assert client.get(ACTIVITY).status_code == 200
        assert client.get("/api/v1/benchmarks/no-such/changes/").status_code == 404
    for address in FILES:
        assert Client().get(address).status_code == 403
        assert signed_in(olga if "server" in address else ada).post(address).status_code == 405
    assert SecurityEvent.objects.filter(kind="log_exported").count() == 4  # nothing of what was refused


def test_records_need_the_scope_admin_and_a_token_for_a_benchmark_reads_its_own(
    olga: User, ada: User, cardio: Benchmark
) -> None:
    derma = BenchmarkFactory(slug="derma", admin=ada)

    def status(person: User, address: str, *scopes: str, benchmark: str = "") -> int:
        key = token_of(person, *scopes, benchmark=benchmark)
        return Client(headers={"Authorization": f"Bearer {key}"}).get(address).status_code

    for person, address in ((olga, LOG), (olga, TRAIL), (ada, OWN_LOG), (ada, OWN_TRAIL)):
        assert status(person, address, "read", "grade", "run") == 403
        assert status(person, address, "admin") == 200
    assert (status(ada, ACTIVITY, "read"), status(ada, ACTIVITY, "admin")) == (200, 403)
    for address in (OWN_LOG, OWN_TRAIL):
        assert status(ada, address, benchmark=cardio.slug) == 200
        assert status(ada, address, benchmark=derma.slug) == 404
    assert status(ada, ACTIVITY, benchmark=cardio.slug) == status(olga, LOG, benchmark=cardio.slug) == 403


def test_an_admin_of_one_benchmark_reads_nothing_of_another(ada: User, cardio: Benchmark) -> None:
    derma = BenchmarkFactory(slug="derma", admin=UserFactory(name="Canary Admin"))
    for benchmark, name in ((cardio, "Group A"), (derma, "Canary group")):
        group = ExpertGroupFactory(benchmark=benchmark, name=name)
        member = UserFactory(name=f"Member of {name}")
        group.memberships.create(user=member, role="annotator")
        event("signed_in", user=member, by=member, address="203.0.113.9", browser="Made-up 1", values={"n": name})
        event("invitation_accepted", user=member, by=member, scope=benchmark.slug, address="203.0.113.8")
    log, trail = read(signed_in(ada), OWN_LOG), read(signed_in(ada), OWN_TRAIL)
    assert [(row["kind"], row["account"]) for row in log] == [
        ("invitation_accepted", "Member of Group A"),
        ("signed_in", "Member of Group A"),
    ]
    assert {row["object"] for row in trail if row["kind"] == "Expert group"} == {"Group A"}
    text = json.dumps([log, trail])
    for hidden in ("Canary", "203.0.113", "Made-up", "address", "browser"):
        assert hidden not in text
    for query in ("?address=203.0.113.9", "?browser=Made-up", "?subject=accounts"):
        refused = signed_in(ada).get(f"{OWN_TRAIL if 'subject' in query else OWN_LOG}{query}")
        assert refused.status_code == 400


def test_an_admin_who_is_an_author_reads_nothing_of_drafting_and_audits(ada: User, cardio: Benchmark) -> None:
    assert signed_in(ada).get(f"{OWN_TRAIL}?subject=audits").status_code == 200
    cardio.authoring_roles.create(user=ada, role="author", created_at=timezone.now())
    refused = signed_in(ada).get(f"{OWN_TRAIL}?subject=audits")
    assert refused.status_code == 400
    assert "audits" not in refused.json()["subject"][0] and "cases" in refused.json()["subject"][0]


def test_operators_read_accounts_and_new_benchmarks_and_nothing_in_them(
    olga: User, ada: User, cardio: Benchmark
) -> None:
    ExpertGroupFactory(benchmark=cardio, name="Canary group")
    person = person_of(email="bo@example.org", name="Bo Li")
    person.is_active = False
    person.save()
    rows = read(signed_in(olga), TRAIL)
    (change,) = [row for row in rows if row["action"] == "changed"]
    assert (change["subject"], change["kind"], change["object"]) == ("accounts", "Account", "Bo Li")
    assert change["changes"] == {"is_active": [True, False]}
    (new,) = [row for row in rows if row["subject"] == "benchmarks"]
    assert (new["object"], new["changes"]) == ("Cardiology pilot", {"user": [None, "Ada Admin"]})
    assert "Canary" not in json.dumps(rows)


def test_everybody_reads_90_days_of_their_own_account(ada: User, olga: User) -> None:
    now = timezone.now()
    event("sign_in_failed", user=ada, at=now - timedelta(days=89), address="203.0.113.9", values={"step": "password"})
    event("password_changed", user=ada, by=ada, at=now - timedelta(days=91))
    event("signed_in", user=olga, by=olga)
    event("invited", user=olga, by=ada)
    (row,) = read(signed_in(ada), ACTIVITY)
    assert (row["kind"], row["account_email"], row["by"]) == ("sign_in_failed", "ada@example.org", "")
    assert (row["address"], row["values"]) == ("203.0.113.9", {"step": "password"})
    assert not SecurityEvent.objects.filter(kind="log_exported").exists()


# Filters -------------------------------------------------------------------------------------------------------------


def test_each_filter_of_the_log_leaves_the_lines_it_names(olga: User, ada: User, cardio: Benchmark) -> None:
    bo = UserFactory(name="Bo Li", email="bo@example.org")
    event("signed_in", user=ada, at=NOON, address="203.0.113.9", values={"method": "password"})
    event("password_changed", user=ada, at=NOON + timedelta(hours=1), address="203.0.113.8", scope="cardio")
    event("invited", user=bo, by=ada, at=NOON + timedelta(hours=2), scope="cardio")
    event("signed_in", user=bo, at=NOON + timedelta(hours=3), address="203.0.113.9", scope="cardio")
    every = ["signed_in", "invited", "password_changed", "signed_in"]
    expected = (
        ("", every),
        ("group=&person=&since=", every),
        ("group=sign_in", ["signed_in", "signed_in"]),
        ("group=credentials", ["password_changed"]),
        ("person=ADA@example", ["invited", "password_changed", "signed_in"]),
        ("person=bo li", ["signed_in", "invited"]),
        ("address=203.0.113.9", ["signed_in", "signed_in"]),
        ("since=2026-03-01T13:00&until=2026-03-01T14:00", ["invited", "password_changed"]),
        ("since=2026-03-01T15:00:00%2B02:00&until=2026-03-01T14:00:00Z", ["invited", "password_changed"]),
        ("since=2026-03-02T07:22:00%2B18:22&until=2026-03-01T14:00:00Z", ["invited", "password_changed"]),
        ("person=nobody", []),
    )
    ada.time_zone = "Asia/Shanghai"
    ada.save()
    for query, kinds in expected:
        rows = without_exports(read(signed_in(olga), f"{LOG}?{query}"))
        assert [row["kind"] for row in rows] == kinds, query
        if "address" not in query:  # Ada has a part in this benchmark alone: her sign-in is among its lines
            rows = without_exports(read(signed_in(ada), f"{OWN_LOG}?{query}"))
            assert [row["kind"] for row in rows] == kinds, query


def test_each_filter_of_the_trail_leaves_the_changes_it_names(ada: User, cardio: Benchmark) -> None:
    client = signed_in(ada)
    group = ExpertGroupFactory(benchmark=cardio, name="Group A")
    grant_role(benchmark=cardio, user=UserFactory(name="Rae"), role="researcher")
    client.post(f"/b/cardio/groups/{group.public_id}/rename/", {"name": "North"})
    for query, kinds in (
        ("", ["Role", "Expert group", "Expert group", "Role", "Settings"]),
        ("subject=roles", ["Role", "Role"]),
        ("person=ada", ["Expert group"]),
        ("person=nobody", []),
        ("until=2020-01-01T00:00", []),
        ("until=0001-01-01T00:00:00Z", []),
        ("since=2020-01-01T00:00:00Z&subject=settings", ["Settings"]),
    ):
        rows = read(client, f"{OWN_TRAIL}?{query}")
        assert sorted(row["kind"] for row in rows) == sorted(kinds), query
    (row,) = read(client, f"{OWN_TRAIL}?person=ada")
    assert (row["subject"], row["object"], row["action"], row["by"]) == ("batches", "North", "changed", "Ada Admin")
    assert row["changes"] == {"name": ["Group A", "North"]}


@pytest.mark.parametrize(
    ("address", "query", "field", "part"),
    [
        (LOG, "group=no-such-group", "group", "sign_in"),
        (LOG, "address=not-an-address", "address", "address"),
        (LOG, "since=2026-03-02&until=2026-03-01", "until", "before the beginning"),
        (LOG, f"person={'x' * 1000}", "person", "characters"),
        (LOG, "subject=roles", "subject", "not supported"),
        (LOG, "cursor=no-place", "cursor", "cursor"),
        (LOG, "cursor=1-2-3", "cursor", "cursor"),
        (LOG, "limit=0", "limit", "from 1 to 500"),
        (LOG, "limit=501", "limit", "from 1 to 500"),
        (LOG, "offset=1", "offset", "not supported"),
        (TRAIL, "subject=roles", "subject", "accounts"),
        (TRAIL, "since=yesterday", "since", "2026-03-01T12:00:00Z"),
        (TRAIL, "since=9999-12-31T23:00:00-18:00", "since", "2026-03-01T12:00:00Z"),
        (ACTIVITY, "until=0001-01-01T00:00:00%2B18:00", "until", "2026-03-01T12:00:00Z"),
        (TRAIL, "until=2026-03-01T12:00:00 02:00", "until", "2026-03-01T12:00:00Z"),
        (TRAIL, "since=2026-03-02&until=2026-03-01", "until", "before the beginning"),
        (TRAIL, f"person={'x' * 1000}", "person", "characters"),
        (TRAIL, "cursor=1-2", "cursor", "cursor"),
        (TRAIL, "limit=501", "limit", "from 1 to 500"),
        (ACTIVITY, "person=ada", "person", "not supported"),
        (ACTIVITY, "address=203.0.113.9", "address", "not supported"),
        (ACTIVITY, "group=no-such-group", "group", "credentials"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_field_and_is_on_no_record(
    olga: User, address: str, query: str, field: str, part: str
) -> None:
    answer = signed_in(olga).get(f"{address}?{query}")
    assert answer.status_code == 400
    assert list(answer.json()) == [field]
    assert part in answer.json()[field][0]
    assert not SecurityEvent.objects.filter(kind="log_exported").exists()


# Pages ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [LOG, OWN_LOG, ACTIVITY])
def test_pages_of_the_log_have_each_line_once_while_new_ones_come_in(
    olga: User, ada: User, cardio: Benchmark, address: str
) -> None:
    now = timezone.now()
    SecurityEvent.objects.bulk_create(
        SecurityEvent(
            kind="password_changed", user=ada, by=ada, scope="cardio", values={"n": n},
            at=now - timedelta(days=1, seconds=n // 40),
        )
        for n in range(130)
    )  # fmt: skip
    client = signed_in(olga if address == LOG else ada)
    first = read(client, f"{address}?group=credentials")
    assert sorted(row["values"]["n"] for row in first) == list(range(130))
    assert [row["at"] for row in first] == sorted((row["at"] for row in first), reverse=True)

    def another() -> None:
        event("password_changed", user=ada, by=ada, scope="cardio", values={"n": -1})

    shown = pages(client, f"{address}?group=credentials&limit=30", another)
    assert [len(page) for page in shown] == [30, 30, 30, 30, 10]
    assert [row for page in shown for row in page] == first
    assert len(read(client, f"{address}?group=credentials&limit=500")) == 135


@pytest.mark.parametrize("limit", [1, 7, 30, 500])
def test_pages_of_the_trail_have_each_change_once_while_new_ones_come_in(
    ada: User, cardio: Benchmark, limit: int
) -> None:
    for number in range(20):  # all at one moment: that of this test's transaction
        ExpertGroupFactory(benchmark=cardio, name=f"Group {number}")
        role = grant_role(benchmark=cardio, user=UserFactory(name=f"Rae {number}"), role="researcher")
        withdraw_role(role=role, at=timezone.now())
    client = signed_in(ada)
    before = read(client, OWN_TRAIL)
    numbers = count(1)
    assert len({json.dumps(row) for row in before}) == len(before) == 62

    def another() -> None:
        group = ExpertGroupFactory(benchmark=cardio, name=f"Newer {next(numbers)}")
        with connection.cursor() as cursor:  # one that was written later than this test's transaction began
            cursor.execute(
                "INSERT INTO annotation_expertgroupevent SELECT (jsonb_populate_record(e, jsonb_build_object("
                "'pgh_id', nextval(pg_get_serial_sequence('annotation_expertgroupevent', 'pgh_id')), "
                "'pgh_created_at', now() + interval '1 hour'))).* "
                "FROM annotation_expertgroupevent e WHERE pgh_obj_id = %s",
                [group.pk],
            )

    named = "&subject=batches" if limit == 1 else ""
    expected = [row for row in before if not named or row["subject"] == "batches"]
    shown = [row for page in pages(client, f"{OWN_TRAIL}?limit={limit}{named}", another) for row in page]
    assert [row for row in shown if "Newer" not in row["object"]] == expected


def test_as_many_queries_at_10_as_at_3000_lines_and_none_counts_them(olga: User, ada: User) -> None:
    counts = []
    client = signed_in(olga)
    client.get(LOG)
    for number in (10, 2990):
        fill(ada, number)
        with CaptureQueriesContext(connection) as queries:
            client.get(LOG)
        counts.append(len(queries))
        assert not any("OFFSET" in query["sql"] or "COUNT(" in query["sql"] for query in queries)
    assert counts[0] == counts[1]


# The same as the files, and on record --------------------------------------------------------------------------------


def test_the_api_has_the_rows_of_the_files(olga: User) -> None:
    workshop = build_workshop()
    decide(workshop.queue()[0], "met")
    admin, slug = workshop.admin, workshop.benchmark.slug
    fill(admin, 60, scope=slug)
    event("password_changed", user=admin, by=admin, at=timezone.now() - timedelta(hours=1), address="203.0.113.9")
    for person in (olga, admin):
        person.language = "zh-hans"
        person.save()
    for address, file in FILES.items():
        client = signed_in(olga if "server" in address else admin)
        rows = without_exports(read(client, f"{address.replace('cardio', slug)}?limit=13"))
        of_file = without_exports(file_of(client, file.replace("cardio", slug)))
        if address in (TRAIL, OWN_TRAIL):  # the file is written kind by kind
            assert [row["at"] for row in rows] == sorted((row["at"] for row in rows), reverse=True)
            rows, of_file = (sorted(each, key=lambda row: json.dumps(row, sort_keys=True)) for each in (rows, of_file))
        assert rows and rows == of_file, address
    kinds = {row["kind"] for row in read(signed_in(admin), OWN_TRAIL.replace("cardio", slug))}
    assert {"Decision", "Membership"} <= kinds  # decisions as well, without being chosen


def test_a_cursor_continues_the_read_that_gave_it_and_no_other(olga: User, ada: User, cardio: Benchmark) -> None:
    ola = UserFactory(name="Ola Operator", is_superuser=True)
    fill(ada, 5)
    following = signed_in(olga).get(f"{LOG}?group=sign_in&limit=2").json()["next"]
    assert signed_in(olga).get(following).status_code == 200
    assert signed_in(olga).get(following.replace("limit=2", "limit=3")).status_code == 200
    earlier = SecurityEvent.objects.count()
    cursor = following.partition("cursor=")[2].partition("&")[0]
    place = cursor.partition("%3A")[0]
    assert place.partition("-")[0].isdecimal()  # the time, in microseconds: who could make one up would read all
    for person, address in (
        (ola, following),
        (olga, following.replace("group=sign_in", "group=accounts")),
        (olga, f"{LOG}?cursor={cursor}"),
        (olga, f"{ACTIVITY}?group=sign_in&cursor={cursor}"),
        (olga, f"{LOG}?cursor=9{place}"),
        (olga, following.replace(place, f"9{place[1:]}")),
    ):
        refused = signed_in(person).get(address)
        assert (refused.status_code, list(refused.json())) == (400, ["cursor"]), address
    assert SecurityEvent.objects.count() == earlier


def test_a_read_is_on_record_once_with_the_names_of_its_filters(olga: User, ada: User, cardio: Benchmark) -> None:
    fill(ada, 60, scope="cardio")
    for address, person, query, what in (
        (LOG, olga, "group=sign_in&person=ada", "security_log"),
        (OWN_LOG, ada, "group=sign_in&person=ada", "security_log"),
        (TRAIL, olga, "subject=accounts&person=olga", "trail"),
        (OWN_TRAIL, ada, "subject=roles&person=olga", "trail"),
    ):
        earlier = set(SecurityEvent.objects.values_list("pk", flat=True))
        client = signed_in(person)
        shown = pages(client, f"{address}?{query}&limit=20")
        assert what == "trail" or len(shown) == 3
        line = SecurityEvent.objects.exclude(pk__in=earlier).get(kind="log_exported")
        names = sorted(name.partition("=")[0] for name in query.split("&"))
        assert line.values == {"what": what, "format": "api", "filters": names}
        assert (line.by, line.scope) == (person, "cardio" if "benchmarks" in address else "")
        assert line.address == "127.0.0.1"
        assert what == "trail" or [row["kind"] for row in shown[0]] == ["signed_in"] * 20
    n_exports = SecurityEvent.objects.filter(kind="log_exported").count()
    rows = read(signed_in(olga), LOG)
    assert [row["kind"] for row in rows].count("log_exported") == n_exports, "those before, without its own"
    assert SecurityEvent.objects.filter(kind="log_exported").count() == n_exports + 1
