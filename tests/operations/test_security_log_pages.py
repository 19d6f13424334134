"""The pages and files of the security log: what is shown to whom, in words, filtered, page by page."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import SecurityEvent, User
from accounts.security_kinds import KINDS
from accounts.services import security_log
from operations.security_log.words import GROUP_LABELS, kinds_of, sentence
from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory

pytestmark = pytest.mark.django_db
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36"
LOG = "/server/security-log/"


@pytest.fixture
def ana() -> User:
    return UserFactory(name="Ana Lopez", email="ana@example.org")


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory(name="Olga Operator", is_superuser=True))
    return client


def event(kind: str, **fields: Any) -> SecurityEvent:
    values = fields.pop("values", {})
    return SecurityEvent.objects.create(kind=kind, at=fields.pop("at", timezone.now()), values=values, **fields)


def text_of(response: Any) -> str:
    return " ".join(response.content.decode().split())


def file_of(response: Any) -> str:
    return b"".join(response.streaming_content).decode()


def test_a_line_says_who_did_what_from_where_with_what(operator: Client, ana: User) -> None:
    event("signed_in", user=ana, by=ana, address="203.0.113.9", browser=CHROME, values={"method": "password"})
    page = text_of(operator.get(LOG))
    assert "Ana Lopez signed in (password)" in page
    assert "203.0.113.9" in page
    assert "Chrome on Windows" in page
    operator.post("/i18n/setlang/", {"language": "zh-hans", "next": LOG})
    assert "Ana Lopez 登录（密码）" in text_of(operator.get(LOG))


def test_a_line_that_no_request_wrote_names_no_browser(operator: Client, ana: User) -> None:
    event("password_changed", user=ana)
    assert "unknown browser" not in text_of(operator.get(LOG))
    event("signed_in", user=ana, browser="made-up")
    assert "unknown browser" in text_of(operator.get(LOG))


def test_each_kind_has_its_words_whoever_did_it(ana: User) -> None:
    ada = UserFactory(name="Ada Admin")
    for kind in KINDS:
        for user, by in ((ana, ana), (ana, ada), (ana, None), (None, None), (None, ada)):
            words = sentence(event(kind, user=user, by=by, values={"way": "command", "method": "password"}))
            assert words
            assert "%" not in words
            assert "None" not in words
            assert "_" not in words
    assert sentence(event("invited", user=ana, by=ada, values={"part": "checker", "way": "mail"})) == (
        "Ada Admin invited Ana Lopez (secondary checker, by email)"
    )
    assert sentence(event("rights_changed", user=ana, values={"is_superuser": True})) == (
        "The rights of Ana Lopez changed (is an operator)"
    )


def test_each_kind_is_in_one_group_of_the_filter() -> None:
    kinds = [kind for group in GROUP_LABELS for kind in kinds_of(group)]
    assert sorted(kinds) == sorted(KINDS)


def test_filters_leave_the_lines_they_name(operator: Client, ana: User) -> None:
    bo = UserFactory(name="Bo Li", email="bo@example.org")
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    event("signed_in", user=ana, at=noon, address="203.0.113.9", values={"method": "password"})
    event("password_changed", user=ana, at=noon + timedelta(hours=1), address="203.0.113.8")
    event("invited", user=bo, by=ana, at=noon + timedelta(hours=2), values={"part": "author"})
    event("signed_in", user=bo, at=noon + timedelta(hours=3), address="203.0.113.9")
    for query, kinds in (
        ("", ["signed_in", "invited", "password_changed", "signed_in"]),
        ("group=sign_in", ["signed_in", "signed_in"]),
        ("group=credentials", ["password_changed"]),
        ("person=ANA@example", ["invited", "password_changed", "signed_in"]),
        ("person=bo li", ["signed_in", "invited"]),
        ("address=203.0.113.9", ["signed_in", "signed_in"]),
        ("since=2026-03-01T13:00&until=2026-03-01T14:00", ["invited", "password_changed"]),
    ):
        rows = file_of(operator.get(f"/server/security-log.jsonl?{query}")).splitlines()
        assert [json.loads(row)["kind"] for row in rows if "log_exported" not in row] == kinds, query
        page = operator.get(f"{LOG}?{query}")
        assert [line.event.kind for line in page.context["lines"] if line.event.kind != "log_exported"] == kinds
    assert "No events with these filters" in text_of(operator.get(f"{LOG}?person=nobody"))


@pytest.mark.parametrize(
    "query", ["group=no-such-group", "address=not-an-address", "since=yesterday", "since=2026-03-02&until=2026-03-01"]
)
def test_a_filter_that_cannot_be_read_is_refused_beside_its_field(operator: Client, query: str) -> None:
    for address in (LOG, "/server/security-log.csv"):
        answer = operator.get(f"{address}?{query}")
        assert answer.status_code == 422
        assert 'aria-invalid="true"' in answer.content.decode()
    assert not SecurityEvent.objects.filter(kind="log_exported").exists()


def test_pages_follow_each_other_without_a_gap_also_within_one_moment(operator: Client, ana: User) -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for number in range(120):
        event("signed_in", user=ana, at=noon + timedelta(seconds=number // 40), values={"method": "password"})
    numbers: list[int] = []
    address = LOG
    while address:
        page = operator.get(address)
        numbers += [line.event.pk for line in page.context["lines"]]
        address = f"{LOG}?before={page.context['older']}" if page.context["older"] else ""
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == 120
    assert operator.get(f"{LOG}?before=no-place").context["is_first_page"]


def _fill(ana: User, number: int) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    SecurityEvent.objects.bulk_create(
        SecurityEvent(kind="signed_in", user=ana, by=ana, at=start + timedelta(seconds=second), values={})
        for second in range(number)
    )


@pytest.mark.slow
def test_as_many_queries_at_10_as_at_10000_lines_and_none_counts_them(operator: Client, ana: User) -> None:
    counts = []
    for number in (10, 9990):
        _fill(ana, number)
        with CaptureQueriesContext(connection) as queries:
            operator.get(LOG)
        counts.append(len(queries))
        assert not any("OFFSET" in query["sql"] or "COUNT(" in query["sql"] for query in queries)
    assert counts[0] == counts[1]


def test_files_have_the_filtered_lines_and_taking_them_is_on_record(operator: Client, ana: User) -> None:
    event("signed_in", user=ana, by=ana, address="203.0.113.9", browser="=1+1", values={"method": "password"})
    event("password_changed", user=ana, by=ana)
    (row,) = csv.DictReader(io.StringIO(file_of(operator.get("/server/security-log.csv?group=sign_in&person=ana"))))
    assert (row["kind"], row["account"], row["account_email"]) == ("signed_in", "Ana Lopez", "ana@example.org")
    assert row["browser"] == "'=1+1"  # no formula
    assert json.loads(row["values"]) == {"method": "password"}
    exported = SecurityEvent.objects.get(kind="log_exported")
    assert exported.by is not None
    assert exported.by.name == "Olga Operator"
    assert exported.values == {"what": "security_log", "format": "csv", "filters": ["group", "person"]}
    assert "Olga Operator exported the security log" in text_of(operator.get(LOG))


@pytest.mark.slow
def test_all_of_a_long_log_is_in_the_file(operator: Client, ana: User) -> None:
    _fill(ana, 2503)
    assert len(file_of(operator.get("/server/security-log.csv")).splitlines()) == 2504


# Benchmarks ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def cardio(client: Client) -> Benchmark:
    benchmark = BenchmarkFactory(slug="cardio", admin=UserFactory(name="Ada Admin"))
    client.force_login(benchmark.roles.get().user)
    return benchmark


def member(benchmark: Benchmark, *, active: bool = True, **fields: Any) -> User:
    group = benchmark.groups.first() or ExpertGroupFactory(benchmark=benchmark)
    user: User = UserFactory(**fields)
    group.memberships.create(user=user, role="annotator", active=active)
    return user


def seen(client: Client) -> set[str]:
    return {line.text for line in client.get("/b/cardio/records/").context["lines"]}


def test_an_admin_sees_what_has_the_scope_of_their_benchmark_and_no_other(
    client: Client, cardio: Benchmark, ana: User
) -> None:
    event("invitation_accepted", user=ana, by=ana, scope="cardio")
    event("invitation_accepted", user=UserFactory(name="Eve"), scope="derma")
    assert seen(client) == {"Ana Lopez accepted the invitation"}


def test_an_admin_sees_sign_ins_of_those_who_have_no_part_elsewhere(client: Client, cardio: Benchmark) -> None:
    derma = BenchmarkFactory(slug="derma")
    here, both, once, former, creator = (
        member(cardio, name="Here"),
        member(cardio, name="Both"),
        member(cardio, name="Once"),
        member(cardio, name="Former", active=False),
        member(cardio, name="Creator", is_staff=True),
    )
    derma_group = ExpertGroupFactory(benchmark=derma)
    derma_group.memberships.create(user=both, role="checker")
    derma_group.memberships.create(user=once, role="checker", active=False)
    stranger = member(derma, name="Stranger")
    for person in (here, both, once, former, creator, stranger):
        event("signed_in", user=person, by=person, address="203.0.113.9", browser=CHROME, values={"method": "password"})
        event("password_changed", user=person, by=person)
    assert seen(client) == {"Here signed in (password)"}


def test_an_admin_sees_no_network_address_and_no_browser(client: Client, cardio: Benchmark) -> None:
    here = member(cardio, name="Here")
    event("signed_in", user=here, by=here, address="203.0.113.9", browser=CHROME, scope="")
    event("invited", user=here, by=here, address="203.0.113.9", browser=CHROME, scope="cardio")
    pages = [
        text_of(client.get("/b/cardio/records/")),
        file_of(client.get("/b/cardio/records.csv")),
        file_of(client.get("/b/cardio/records.jsonl")),
    ]
    for page in pages:
        assert "Here" in page
        assert "203.0.113" not in page
        assert "Chrome" not in page
    assert client.get("/b/cardio/records/?address=203.0.113.1").context["lines"]  # is no filter here: tells nothing
    assert SecurityEvent.objects.filter(kind="log_exported", scope="cardio").count() == 2


def test_others_see_no_records_of_a_benchmark(client: Client, cardio: Benchmark) -> None:
    researcher = UserFactory()
    cardio.roles.create(user=researcher, role="researcher")
    for person in (researcher, UserFactory(is_superuser=True, is_staff=True), member(cardio)):
        client.force_login(person)
        for address in ("records/", "records.csv", "records.jsonl"):
            assert client.get(f"/b/cardio/{address}").status_code == 404


# One's own -----------------------------------------------------------------------------------------------------------


def test_everybody_sees_what_happened_to_their_own_account_in_90_days(client: Client, ana: User) -> None:
    now = timezone.now()
    bo = UserFactory(name="Bo Li")
    event("sign_in_failed", user=ana, at=now - timedelta(days=89), address="203.0.113.9", values={"step": "password"})
    event("password_changed", user=ana, by=ana, at=now - timedelta(days=91))
    event("signed_in", user=bo, by=bo)
    event("invited", user=bo, by=ana)
    client.force_login(ana)
    page = client.get("/profile/activity/")
    assert [line.text for line in page.context["lines"]] == ["A sign-in as Ana Lopez failed (password)"]
    assert "203.0.113.9" in text_of(page)
    assert len(file_of(client.get("/profile/activity.csv")).splitlines()) == 2
    assert not SecurityEvent.objects.filter(kind="log_exported").exists()


def test_pages_without_a_line_say_so(client: Client, cardio: Benchmark) -> None:
    for address in ("/profile/activity/", "/b/cardio/records/"):
        assert "No events yet" in text_of(client.get(address))


def test_a_line_of_a_service_is_on_the_page(operator: Client, ana: User) -> None:
    security_log.record("account_made", at=timezone.now(), user=ana, way="command")
    assert "A command made the account of Ana Lopez (by command)" in text_of(operator.get(LOG))
