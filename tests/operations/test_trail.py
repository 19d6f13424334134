"""The trail of changes: every event table is in it, and each reader sees what is theirs, page by page."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pghistory
import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import SecurityEvent, User
from accounts.services import person_of
from operations.trail.kinds import FIELDS, LEFT_OUT, OF_BENCHMARKS, OF_SERVER, SERVER_SUBJECTS, SUBJECTS
from operations.trail.selectors import all_changes, changes_before, trail_of_benchmark
from operations.trail.words import NAMES
from rubrics.models import Benchmark
from rubrics.services import grant_role, withdraw_role
from tests.annotation.conftest import build_workshop
from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory, decide, token_of

pytestmark = pytest.mark.django_db


def text_of(response: Any) -> str:
    return " ".join(response.content.decode().split())


def rows_of(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def test_every_event_table_of_the_project_is_in_the_trail() -> None:
    tables = {model._meta.label for model in apps.get_models() if hasattr(model, "pgh_tracked_model")}
    assert len(tables) > 30
    assert {kind.model for kind in (*OF_BENCHMARKS, *OF_SERVER)} == tables
    assert {kind.subject for kind in OF_BENCHMARKS} == set(SUBJECTS)
    assert {kind.subject for kind in OF_SERVER} == set(SERVER_SUBJECTS)


@pytest.mark.parametrize("kind", (*OF_BENCHMARKS, *OF_SERVER), ids=lambda kind: f"{kind.subject}-{kind.model}")
def test_each_field_of_an_event_is_shown_or_left_out_on_purpose(kind: Any) -> None:
    named = {path.partition("__")[0] for path in (*kind.parts, *kind.within)} | {kind.scope}
    columns = {column.name for column in kind.events._meta.concrete_fields if not column.name.startswith("pgh_")}
    if kind in OF_SERVER and kind.subject == "benchmarks":
        return  # of the first role of a benchmark only who made it is shown
    assert columns - set(kind.fields) - named - LEFT_OUT == set()
    assert set(kind.fields) <= columns
    assert set(kind.fields) <= set(FIELDS)


@pytest.mark.parametrize("kind", OF_BENCHMARKS, ids=lambda kind: kind.model)
def test_each_part_of_a_name_has_its_words(kind: Any) -> None:
    for path in kind.parts:
        model = kind.events
        for step in path.split("__"):
            model = model._meta.get_field(step).related_model
        assert model in NAMES, path
    for path in kind.within:
        model = kind.events
        for step in path.split("__"):
            model = model._meta.get_field(step).related_model
        assert model is Benchmark


@pytest.fixture
def cardio(client: Client) -> Benchmark:
    benchmark = BenchmarkFactory(slug="cardio", title="Cardiology pilot", admin=UserFactory(name="Ada Admin"))
    client.force_login(benchmark.roles.get().user)
    return benchmark


@pytest.mark.slow
def test_a_change_says_who_what_and_from_what_to_what(client: Client, cardio: Benchmark) -> None:
    group = ExpertGroupFactory(benchmark=cardio, name="Group A")
    client.post(f"/b/cardio/groups/{group.public_id}/rename/", {"name": "North"})
    row, *_earlier = client.get("/b/cardio/records/changes/?subject=batches").context["changes"]
    assert (row["by"], row["kind"], row["is_new"]) == ("Ada Admin", "Expert group", False)
    assert row["fields"] == [("name", "Group A", "North")]
    assert row["parts"][0].text == "North"
    assert client.get(row["parts"][0].url).status_code == 200
    page = text_of(client.get("/b/cardio/records/changes/"))
    assert "<del>Group A</del> → North" in page
    assert "A command or a job in the background" in page  # made the group, in this test


def test_each_benchmark_has_its_own_trail(client: Client, cardio: Benchmark) -> None:
    ExpertGroupFactory(benchmark=BenchmarkFactory(slug="derma"), name="Canary group")
    ExpertGroupFactory(benchmark=cardio, name="Group A")
    page = text_of(client.get("/b/cardio/records/changes/"))
    assert "Group A" in page
    assert "Canary" not in page
    assert not any("Canary" in str(row) for row in rows_of(client.get("/b/cardio/records/changes.csv")))


@pytest.mark.slow
def test_filters_and_the_file(client: Client, cardio: Benchmark) -> None:
    group = ExpertGroupFactory(benchmark=cardio, name="Group A")
    grant_role(benchmark=cardio, user=UserFactory(name="Rae"), role="researcher")
    client.post(f"/b/cardio/groups/{group.public_id}/rename/", {"name": "North"})
    for query, kinds in (
        ("", ["Role", "Expert group", "Expert group", "Role", "Settings"]),
        ("subject=roles", ["Role", "Role"]),
        ("person=ada", ["Expert group"]),
        ("person=nobody", []),
        ("until=2020-01-01T00:00", []),
    ):
        rows = rows_of(client.get(f"/b/cardio/records/changes.csv?{query}"))
        assert sorted(row["kind"] for row in rows) == sorted(kinds), query
        shown = client.get(f"/b/cardio/records/changes/?{query}").context["changes"]
        assert [row["kind"] for row in shown] == [row["kind"] for row in rows]
    (row,) = rows_of(client.get("/b/cardio/records/changes.csv?person=ada"))
    assert (row["object"], row["action"], row["by"]) == ("North", "changed", "Ada Admin")
    assert json.loads(row["changes"]) == {"name": ["Group A", "North"]}
    exported = SecurityEvent.objects.filter(kind="log_exported", scope="cardio")
    assert exported.count() == 6
    assert exported.order_by("-pk")[0].values == {"what": "trail", "format": "csv", "filters": ["person"]}
    for query in ("subject=accounts", "since=tomorrow", "since=2026-03-02&until=2026-03-01"):
        assert client.get(f"/b/cardio/records/changes/?{query}").status_code == 422
        assert client.get(f"/b/cardio/records/changes.csv?{query}").status_code == 422


@pytest.mark.slow
def test_a_filter_by_person_has_the_changes_of_all_whom_its_text_names(client: Client, cardio: Benchmark) -> None:
    # Accounts that never changed anything here come first, and take the place of nobody.
    User.objects.bulk_create(UserFactory.build_batch(60, name="Dr. Elsewhere", password=""))
    authors = User.objects.bulk_create(
        [UserFactory.build(name=f"Dr. Here {number:02}", password="") for number in range(51)]
    )
    for author in authors:
        with pghistory.context(user=author.pk, url="/"):
            ExpertGroupFactory(benchmark=cardio)
    names = [author.name for author in authors]
    page, file, api = (
        "/b/cardio/records/changes/?person=dr.",
        "/b/cardio/records/changes.csv?person=dr.",
        "/api/v1/benchmarks/cardio/changes/?person=dr.&limit=100",
    )
    first = client.get(page).context
    second = client.get(f"{page}&before={first['older']}").context
    assert sorted(row["by"] for row in [*first["changes"], *second["changes"]]) == names
    assert sorted(row["by"] for row in rows_of(client.get(file))) == names
    key = token_of(cardio.roles.get().user, "admin")
    answer = client.get(api, headers={"Authorization": f"Bearer {key}"}).json()
    assert sorted(row["by"] for row in answer["results"]) == names
    (row,) = client.get("/b/cardio/records/changes/?person=here+50").context["changes"]
    assert row["by"] == "Dr. Here 50"


@pytest.mark.slow
def test_pages_follow_each_other_without_a_gap_over_several_tables(client: Client, cardio: Benchmark) -> None:
    for number in range(40):  # all at one moment: that of this test's transaction
        ExpertGroupFactory(benchmark=cardio, name=f"Group {number}")
        role = grant_role(benchmark=cardio, user=UserFactory(), role="researcher")
        withdraw_role(role=role, at=timezone.now())
    seen: list[str] = []
    address = "/b/cardio/records/changes/"
    while address:
        context = client.get(address).context
        seen += [str(row["parts"]) + str(row["fields"]) for row in context["changes"]]
        address = f"/b/cardio/records/changes/?before={context['older']}" if context["older"] else ""
    assert len(seen) == len(set(seen)) == 122  # 40 groups, 40 roles given and withdrawn, the admin's, and the settings
    assert client.get("/b/cardio/records/changes/?before=1-2").context["is_first_page"]


def test_old_changes_are_reached_though_nothing_happened_since(client: Client, cardio: Benchmark) -> None:
    admin = cardio.roles.get().user
    later = timezone.now() + timedelta(days=4000)
    rows, place = changes_before(trail_of_benchmark(cardio, admin), None, size=10, at=later)
    assert {row.kind.model for row in rows} == {"rubrics.BenchmarkRoleEvent", "rubrics.BenchmarkEvent"}
    assert place is None


@pytest.mark.slow
def test_the_file_has_each_change_once_in_lists_of_any_size(cardio: Benchmark) -> None:
    for number in range(5):
        ExpertGroupFactory(benchmark=cardio, name=f"Group {number}")
        grant_role(benchmark=cardio, user=UserFactory(), role="researcher")
    trail = trail_of_benchmark(cardio, cardio.roles.order_by("pk")[0].user)
    for size in (1, 2, 5, 100):
        lists = list(all_changes(trail, at=timezone.now(), size=size))
        changes = [(row.kind.model, row.event.pk) for shown in lists for row in shown]
        assert len(changes) == len(set(changes)) == 12, "5 groups, 5 roles, the admin's, and the settings"
        groups = [number for model, number in changes if model == "annotation.ExpertGroupEvent"]
        assert groups == sorted(groups, reverse=True)


def test_every_event_table_has_an_index_in_the_order_of_the_trail() -> None:
    for kind in {*OF_BENCHMARKS, *OF_SERVER}:
        with connection.cursor() as cursor:
            indexes = connection.introspection.get_constraints(cursor, kind.events._meta.db_table).values()
        assert ["pgh_created_at", "pgh_id"] in [index["columns"] for index in indexes], kind.model


@pytest.mark.slow
@pytest.mark.parametrize("is_own", [True, False])
def test_a_page_reads_few_of_many_events_of_one_moment(client: Client, cardio: Benchmark, is_own: bool) -> None:
    """They may be of the benchmark itself, or of another and later than those of the benchmark."""
    own = ExpertGroupFactory(benchmark=cardio)
    other = ExpertGroupFactory(benchmark=BenchmarkFactory(slug="derma"))
    with connection.cursor() as cursor:
        for group, days, number in ((own, 5, 500), (own if is_own else other, 1, 20_000)):
            cursor.execute(
                "INSERT INTO annotation_membershipevent (pgh_created_at, pgh_label, pgh_obj_id, id, group_id, user_id, "
                "role, active, withheld_reason, created_at) SELECT now() - interval '1 day' * %s, 'insert', n, n, %s, "
                "%s, 'annotator', true, '', now() FROM generate_series(1, %s) AS n",
                [days, group.pk, cardio.roles.get().user.pk, number],
            )
        cursor.execute("ANALYZE annotation_membershipevent")
    address = "/b/cardio/records/changes/?subject=roles"
    at, kind, number = client.get(address).context["older"].split("-")
    far = int(number) - (10_000 if is_own else 0)  # in the middle of the moment
    with CaptureQueriesContext(connection) as queries:
        assert len(client.get(f"{address}&before={at}-{kind}-{far}").context["changes"]) == 50
    [statement] = [query["sql"] for query in queries if "kind_number" in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + statement[statement.index("(SELECT") :])
        plan = cursor.fetchone()[0]
    read = [node for node in nodes(plan[0]["Plan"]) if node.get("Relation Name") == "annotation_membershipevent"]
    assert read
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in read) <= 600


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in nodes(child))]


@pytest.mark.slow
def test_decisions_are_named_with_their_case_candidate_and_annotator(client: Client) -> None:
    workshop = build_workshop()
    assignment = workshop.queue()[0]
    decide(assignment, "met")
    client.force_login(workshop.admin)
    address = f"/b/{workshop.benchmark.slug}/records/changes"
    # There may be millions of them: the page has them when chosen, the file always.
    page = client.get(f"{address}/")
    assert "Decision" not in {row["kind"] for row in page.context["changes"]}
    assert "Decisions and verdicts are shown when chosen." in text_of(page)
    assert "shown when chosen" not in text_of(client.get(f"{address}/?subject=decisions"))
    assert "Decision" in {row["kind"] for row in rows_of(client.get(f"{address}.csv"))}
    rows = client.get(f"/b/{workshop.benchmark.slug}/records/changes/?subject=decisions").context["changes"]
    decisions = [row for row in rows if row["kind"] == "Decision"]
    assert decisions
    texts = [part.text for part in decisions[0]["parts"]]
    assert str(workshop.annotator) in texts
    assert assignment.case.key in texts
    assert ("outcome", "–", "Met") in decisions[0]["fields"]


def test_an_admin_who_is_an_author_sees_nothing_of_drafting_and_audits(client: Client, cardio: Benchmark) -> None:
    admin = cardio.roles.get().user
    before = {kind.subject for kind in trail_of_benchmark(cardio, admin).kinds}
    assert {"drafting", "audits", "validity"} <= before
    cardio.authoring_roles.create(user=admin, role="author", created_at=timezone.now())
    after = {kind.model for kind in trail_of_benchmark(cardio, admin).kinds}
    assert not {"drafting.SuggestionEvent", "rubrics.AuditItemEvent", "validation.RubricSetEvent"} & after
    assert client.get("/b/cardio/records/changes/?subject=audits").status_code == 422
    assert client.get("/b/cardio/records/changes/").status_code == 200


def test_others_see_no_trail(client: Client, cardio: Benchmark) -> None:
    researcher = UserFactory()
    cardio.roles.create(user=researcher, role="researcher")
    physician = UserFactory()
    ExpertGroupFactory(benchmark=cardio).memberships.create(user=physician, role="annotator")
    for person in (researcher, physician, UserFactory(is_superuser=True, is_staff=True)):
        client.force_login(person)
        for address in ("changes/", "changes.csv"):
            assert client.get(f"/b/cardio/records/{address}").status_code == 404


def test_operators_see_accounts_and_new_benchmarks_and_nothing_in_them(client: Client, cardio: Benchmark) -> None:
    ExpertGroupFactory(benchmark=cardio, name="Canary group")
    grant_role(benchmark=cardio, user=UserFactory(name="Rae"), role="researcher")
    olga = UserFactory(name="Olga Operator", is_superuser=True)
    person = person_of(email="bo@example.org", name="Bo Li")
    person.is_active = False
    person.save()
    client.force_login(olga)
    rows = client.get("/server/changes/").context["changes"]
    (change,) = [row for row in rows if not row["is_new"]]
    assert (change["kind"], change["parts"][0].text) == ("Account", "Bo Li")
    assert change["fields"] == [("active", "yes", "no")]
    benchmarks = [row for row in rows if row["kind"] == "New benchmark"]
    assert [row["parts"][0].text for row in benchmarks] == ["Cardiology pilot"]
    assert benchmarks[0]["fields"] == [("made by", "–", "Ada Admin")]
    assert "Canary" not in text_of(client.get("/server/changes/"))
    assert not any("Canary" in str(row) for row in rows_of(client.get("/server/changes.csv")))


@pytest.mark.slow
def test_the_number_of_queries_does_not_depend_on_the_number_of_events(client: Client, cardio: Benchmark) -> None:
    counts = []
    for number in (60, 300):
        for _number in range(number):
            ExpertGroupFactory(benchmark=cardio)
        with CaptureQueriesContext(connection) as queries:
            client.get("/b/cardio/records/changes/")
        counts.append(len(queries))
    assert counts[0] == counts[1]
