"""Grading through the pages' own endpoints: saving, repeating, conflicting, handing in."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.identity import opaque_name
from accounts.models import User
from annotation import services
from annotation.models import Assignment, Decision
from annotation.services.attention import record_attention, time_spent
from consilium.core.errors import DomainError
from tests.annotation.conftest import TEXT, Workshop, build_workshop
from tests.factories import decide

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(workshop: Workshop) -> Client:
    browser = Client(headers={"HX-Request": "true"})
    browser.force_login(workshop.annotator)
    return browser


def save(client: Client, row: Assignment, criterion: int, outcome: str = "met", **more: Any) -> Any:
    """The answer to one saved decision; its own result stands in ``answer.result`` where there is one."""
    return save_all(client, row, [{"criterion": criterion, "outcome": outcome, **more}])


def save_all(client: Client, row: Assignment, decisions: list[dict[str, Any]], endpoint: str = "decisions") -> Any:
    body: dict[str, Any] = {
        "decisions": [{"version": 0, "client_id": str(uuid4()), **decision} for decision in decisions],
    }
    if endpoint == "submit":
        body["have"] = ""
    answer = client.post(f"/work/{row.public_id}/{endpoint}/", json.dumps(body), content_type="application/json")
    if answer.status_code == 200 and answer.json()["results"]:
        answer.result = answer.json()["results"][0]  # type: ignore[attr-defined]
    return answer


@pytest.mark.slow
def test_a_decision_saves_and_the_page_resumes_with_it(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    span = TEXT.index("Raise the hand")
    answer = save(client, row, first, "not_met", note=" why \r\n not ", borderline=True,
                  evidence=[{"start": span, "end": span + 14}])  # fmt: skip
    assert (answer.status_code, answer.result["status"], answer.result["version"]) == (200, "saved", 1)
    decision = Decision.objects.get()
    assert (decision.outcome, decision.borderline, decision.note) == ("not_met", True, "why \n not")
    assert decision.evidence == [{"quote": "Raise the hand", "start": span, "end": span + 14}]
    row.refresh_from_db()
    assert row.status == "draft"
    assert row.started_at is not None
    page = client.get(f"/work/{row.public_id}/").content.decode()
    assert re.search(rf'data-row="{first}"[^>]*data-outcome="not_met"\s+data-borderline="1"\s+data-version="1"', page)
    assert "1 / 3" in page


@pytest.mark.slow
def test_the_same_save_twice_changes_nothing(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    name = str(uuid4())
    results = [save(client, row, first, client_id=name).result for _ in range(3)]
    assert [(result["status"], result["version"]) for result in results] == [("saved", 1)] * 3
    assert Decision.objects.get().version == 1


@pytest.mark.slow
def test_a_stale_save_gets_the_stored_version_and_holds_up_no_other(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first, second, third = services.criteria_of(row)
    save(client, row, first, "met", note="the other tab")
    results = save_all(
        client,
        row,
        [
            {"criterion": first, "outcome": "not_met"},  # saw version 0
            {"criterion": second, "outcome": "met"},
            {"criterion": third, "outcome": "met", "version": 4},
        ],
    ).json()["results"]
    assert [result["status"] for result in results] == ["stale", "saved", "refused"]
    assert {key: results[0]["current"][key] for key in ("outcome", "note", "version")} == {
        "outcome": "met", "note": "the other tab", "version": 1,
    }  # fmt: skip
    assert dict(Decision.objects.values_list("criterion_id", "outcome")) == {first: "met", second: "met"}
    assert save(client, row, first, "not_met", version=1).result["version"] == 2
    assert Decision.objects.get(criterion=first).outcome == "not_met"


@pytest.mark.slow
def test_a_decision_can_be_cleared(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    save(client, row, first, "met")
    assert save(client, row, first, "", version=1).result["status"] == "saved"
    assert Decision.objects.get().outcome is None


@pytest.mark.slow
def test_every_save_is_on_record_with_who_made_it(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    save(client, row, first, "met")
    save(client, row, first, "not_met", version=1)
    events = Decision.pgh_event_model.objects.order_by("pgh_id")  # type: ignore[attr-defined]  # made by pghistory
    assert list(events.values_list("outcome", "version")) == [("met", 1), ("not_met", 2)]
    assert {context["user"] for context in events.values_list("pgh_context", flat=True)} == {workshop.annotator.pk}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"outcome": "perhaps"}, 200),
        ({"version": 4}, 200),
        ({"evidence": [{"start": 0, "end": 99999}]}, 200),
        ({"evidence": [{"start": 5, "end": 5}]}, 200),
        ({"evidence": [{"start": True, "end": 5}]}, 200),
        ({"evidence": [{"start": 0, "end": 5, "quote": "other"}]}, 200),
        ({"note": "x" * 5001}, 200),
        ({"version": -1}, 400),
        ({"criterion": 0}, 400),
        ({"criterion": 2**63}, 400),
        ({"version": 2**31 - 2}, 200),
        ({"version": 2**31 - 1}, 400),
        ({"version": True}, 400),
        ({"client_id": "mine"}, 400),
        ({"evidence": "{"}, 400),
        ({"evidence": ["text"]}, 400),
        ({"evidence": [["start", "end"]]}, 400),
        ({"evidence": [{"start": 0, "end": 5, "colour": "red"}]}, 400),
        ({"status": "accepted"}, 400),
        ({"outcome": None}, 400),
    ],
)
def test_what_cannot_be_is_refused(workshop: Workshop, client: Client, wrong: dict[str, Any], status: int) -> None:
    row = workshop.queue()[0]
    answer = save_all(client, row, [{"criterion": services.criteria_of(row)[0], "outcome": "met", **wrong}])
    assert answer.status_code == status
    if status == 200:
        assert answer.result["status"] == "refused"
    assert len((answer.result if status == 200 else answer.json())["detail"]) > 20
    assert not Decision.objects.exists()


@pytest.mark.slow
def test_half_a_character_in_a_note_does_not_hold_up_the_outcome(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    answer = save_all(client, row, [{"criterion": first, "outcome": "met", "note": " 😀 a\x00b\ud83d "}])
    assert answer.result["status"] == "saved"
    saved = Decision.objects.get()
    assert (saved.outcome, saved.note) == ("met", "😀 a\ufffdb\ufffd")


@pytest.mark.slow
@pytest.mark.parametrize("sign", [0, 0xD800, 0xDFFF])
def test_a_service_refuses_what_the_database_cannot_store(workshop: Workshop, sign: int) -> None:
    row = workshop.queue()[0]
    change = services.DecisionInput(services.criteria_of(row)[0], "met", note=f"a{chr(sign)}b")
    with pytest.raises(DomainError, match="incomplete character"):
        services.save_decision(assignment=row, annotator=workshop.annotator, change=change, at=timezone.now())


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        *("[]", "{", "{}", '{"decisions": [], "have": "", "seconds": 1}', '{"decisions": 1}', '{"decisions": {}}'),
        '{"decisions": 1, "have": ""}',
    ],
)
def test_a_request_that_no_page_sends_is_refused(workshop: Workshop, client: Client, body: str) -> None:
    for endpoint in ("decisions", "submit", "time"):
        url = f"/work/{workshop.queue()[0].public_id}/{endpoint}/"
        assert client.post(url, body, content_type="application/json").status_code == 400


def test_evidence_counts_code_points_beyond_the_basic_plane(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    start = TEXT.index("😀")
    save(client, row, services.criteria_of(row)[0], evidence=[{"start": start, "end": start + 8}])
    assert Decision.objects.get().evidence[0]["quote"] == "😀 Do you"


@pytest.mark.slow
def test_a_criterion_of_another_rubric_is_refused(workshop: Workshop, client: Client) -> None:
    other = build_workshop()
    row = workshop.queue()[0]
    assert save(client, row, services.criteria_of(other.queue()[0])[0]).result["status"] == "refused"
    assert not Decision.objects.exists()


@pytest.mark.slow
def test_handing_in_names_what_is_missing_and_then_brings_the_next(workshop: Workshop, client: Client) -> None:
    row, upcoming = workshop.queue(next(u for u in workshop.people() if len(workshop.queue(u)) == 2))
    client.force_login(row.annotator)
    criteria = services.criteria_of(row)
    unsent = [{"criterion": criterion, "outcome": "met"} for criterion in criteria[1:]]
    answer = save_all(client, row, unsent, "submit")
    assert answer.status_code == 422
    assert answer.json()["missing"] == [criteria[0]]
    assert [result["status"] for result in answer.json()["results"]] == ["saved", "saved"]  # they stand all the same
    stored = answer.json()["stored"]  # for a page that does not show what another device decided
    assert {key: (value["outcome"], value["version"]) for key, value in stored.items()} == {
        str(criterion): ("met", 1) for criterion in criteria[1:]
    }
    row.refresh_from_db()
    assert row.status == "draft"
    coming = client.get(f"/work/{row.public_id}/next/").json()
    answer = save_all(client, row, [{"criterion": criteria[0], "outcome": "met"}], "submit")
    assert answer.json()["next"] == coming
    assert coming["url"] == f"/work/{upcoming.public_id}/"
    assert "Response 2 of 2" in coming["html"]
    assert coming["html"] in client.get(coming["url"]).content.decode()  # the page behind it is the same
    row.refresh_from_db()
    assert row.status == "accepted"  # not drawn for a check
    assert row.accepted_at == row.submitted_at
    late = save(client, row, criteria[0], "not_met", version=1)
    assert late.status_code == 409
    assert "its decisions can no longer be changed" in late.json()["detail"]
    assert late.json()["reason"] == "no-longer-open"
    decide(upcoming, submit=False)
    assert client.get(f"/work/{upcoming.public_id}/next/").status_code == 204
    assert save_all(client, upcoming, [], "submit").json() == {"results": [], "next": None, "work": "/work/"}


@pytest.mark.slow
def test_a_batch_can_demand_a_note_where_a_criterion_cannot_be_assessed() -> None:
    workshop = build_workshop(explain_cannot_assess=True)
    row = workshop.queue()[0]
    client = Client()
    client.force_login(workshop.annotator)
    keys = client.get(f"/work/{row.public_id}/").content.decode()
    assert "“Can’t assess”: opens the note" in keys and "“Can’t assess”, then next open criterion" not in keys
    first, second, third = services.criteria_of(row)
    decisions = [
        {"criterion": first, "outcome": "cannot_assess", "note": "Outside my field."},
        {"criterion": second, "outcome": "met"},
        {"criterion": third, "outcome": "cannot_assess", "note": " \n "},
    ]
    answer = save_all(client, row, decisions, "submit")
    assert answer.status_code == 422
    assert answer.json()["missing"] == [third]
    assert answer.json()["detail"] == "1 criterion marked “Can’t assess” still needs a note that explains why."
    assert client.post(f"/api/v1/work/assignments/{row.public_id}/submit/").json()["missing"] == [third]
    again = {"criterion": third, "outcome": "cannot_assess", "note": "Two meanings.", "version": 1}
    assert save_all(client, row, [again], "submit").status_code == 200
    row.refresh_from_db()
    assert row.status == "accepted"


def test_a_stale_decision_keeps_the_response_from_being_handed_in(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    decide(row, submit=False)
    answer = save_all(client, row, [{"criterion": services.criteria_of(row)[0], "outcome": "not_met"}], "submit")
    assert answer.status_code == 409
    assert answer.json()["results"][0]["status"] == "stale"
    row.refresh_from_db()
    assert row.status == "draft"


def test_the_session_endpoint_tells_whose_browser_it_is(workshop: Workshop, client: Client) -> None:
    assert client.get("/session").json()["who"] == opaque_name(workshop.annotator) != opaque_name(workshop.checker)
    assert Client().get("/session").json()["who"] == ""


@pytest.mark.slow
def test_a_drawn_response_waits_for_its_check() -> None:
    workshop = build_workshop(check_policy="sample", check_fraction=0.5)
    rows = Assignment.objects.filter(batch=workshop.batch).select_related("annotator")
    assert sum(row.to_check for row in rows) == 2  # half of 3, rounded half up
    for row in rows:
        decide(row)
        assert row.status == ("submitted" if row.to_check else "accepted")


@pytest.mark.slow
@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_paused_or_closed_batch_can_be_read_and_not_written(workshop: Workshop, client: Client, state: str) -> None:
    row = workshop.queue()[0]
    decide(row, submit=False)
    if state == "paused":
        services.pause_batch(batch=workshop.batch)
    else:
        services.close_batch(batch=workshop.batch, at=timezone.now())
    page = client.get(f"/work/{row.public_id}/")
    assert page.status_code == 200
    notice = "coordinator has paused this batch" if state == "paused" else "This batch is closed"
    assert notice in page.content.decode()
    assert "submit-form" not in page.content.decode()
    for answer in (save(client, row, services.criteria_of(row)[0], version=1), save_all(client, row, [], "submit")):
        assert answer.status_code == 409
        assert f"This batch is {state}" in answer.json()["detail"]
        # What the browser still has can be sent later to a paused batch, and never to a closed one.
        assert answer.json().get("closed", False) is (state == "closed")
        assert ("count in no result" in answer.json()["detail"]) is (state == "closed")
    row.refresh_from_db()
    assert row.status == "draft"


@pytest.mark.slow
def test_who_is_signed_out_gets_401_from_htmx_and_the_sign_in_page_otherwise(workshop: Workshop) -> None:
    row = workshop.queue()[0]
    criterion = services.criteria_of(row)[0]
    assert save(Client(headers={"HX-Request": "true"}), row, criterion).status_code == 401
    plain = Client().get(f"/work/{row.public_id}/")
    assert plain.status_code == 302
    assert plain["Location"].startswith("/accounts/login/")


@pytest.mark.slow
def test_nobody_else_reaches_the_work(workshop: Workshop) -> None:
    row = workshop.queue()[0]
    stranger = build_workshop()
    members = [workshop.people()[1], workshop.checker, workshop.adjudicator]
    for user in (*members, workshop.admin, stranger.annotator, stranger.admin):
        client = Client(headers={"HX-Request": "true"})
        client.force_login(user)
        assert client.get(f"/work/{row.public_id}/").status_code == 404
        assert save(client, row, services.criteria_of(row)[0]).status_code == 404
        assert save_all(client, row, [], "submit").status_code == 404
        answer = client.post(f"/work/{row.public_id}/time/", '{"seconds": 1}', content_type="application/json")
        assert answer.status_code == 404
        assert client.post(f"/work/{row.public_id}/submit/").status_code == 404
        assert client.get(f"/work/{row.public_id}/next/").status_code == 404


@pytest.mark.slow
def test_a_member_who_was_stopped_loses_access_and_their_decisions_are_kept(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    save(client, row, services.criteria_of(row)[0])
    membership = workshop.group.memberships.get(user=workshop.annotator)
    services.set_member_active(membership=membership, active=False, at=timezone.now())
    assert client.get(f"/work/{row.public_id}/").status_code == 404
    assert Decision.objects.count() == 1


@pytest.mark.slow
def test_my_work_tells_apart_why_there_is_nothing(workshop: Workshop, client: Client) -> None:
    def page() -> str:
        return client.get("/work/").content.decode()

    row = workshop.queue()[0]
    assert f'href="/work/{row.public_id}/"' in page()
    services.pause_batch(batch=workshop.batch)
    assert "Paused by your study coordinator" in page()
    services.open_batch(batch=workshop.batch)
    for row in workshop.queue():
        decide(row)
    assert "All done. Thank you." in page()
    services.close_batch(batch=workshop.batch, at=timezone.now())
    assert "Every batch you worked on is closed" in page()
    client.force_login(workshop.checker)
    assert "To check" in page()
    client.force_login(workshop.admin)
    assert "not in an expert group yet" in page()
    waiting = build_workshop(check_policy="all")
    client.force_login(waiting.annotator)
    for row in waiting.queue():
        decide(row)
    assert "it is waiting for a checker" in page()


@pytest.mark.slow
def test_pages_cost_the_same_at_any_size(client: Client) -> None:
    counts = []
    for size, criteria in ((4, 2), (120, 60)):  # 2 and 60 responses for each annotator
        workshop = build_workshop(responses=size, criteria=[1] * criteria)
        client.force_login(workshop.annotator)
        row, other = workshop.queue()[:2]
        decide(row, submit=False)
        fresh = [
            {"criterion": criterion, "outcome": "met", "version": 0, "client_id": str(uuid4())}
            for criterion in services.criteria_of(other)
        ]
        begin = {"decisions": fresh[:1]}
        save = {"decisions": fresh[1:]}
        bodies_by_url: dict[str, Any] = {
            "/work/": None,
            f"/work/{row.public_id}/": None,
            f"/work/{row.public_id}/next/": None,
            f"/work/{other.public_id}/decisions/": save,
            f"/work/{row.public_id}/submit/": {"decisions": [], "have": ""},
            f"/work/{other.public_id}/time/": {"seconds": 0},
        }
        client.post(f"/work/{other.public_id}/decisions/", json.dumps(begin), content_type="application/json")
        here = []
        for url, body in bodies_by_url.items():
            with CaptureQueriesContext(connection) as queries:
                data = json.dumps(body)
                answer = client.post(url, data, content_type="application/json") if body else client.get(url)
                assert answer.status_code in (200, 204), answer.content
            here.append(len([query for query in queries if "SAVEPOINT" not in query["sql"]]))
        counts.append(here)
    assert counts[0] == counts[1]
    page, coming, saving = counts[0][1:4]
    assert page <= 10, "the grading page asks for more than it needs"
    assert coming <= 11
    assert saving <= 6, "an autosave has to be cheap"


@pytest.mark.slow
@pytest.mark.usefixtures("db")
def test_time_on_task_is_never_more_than_the_clock_allows() -> None:
    workshop = build_workshop(responses=4)
    row, other = workshop.queue()
    noon = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

    def report(seconds: int, after: float, user: User = workshop.annotator) -> int:
        row.refresh_from_db()
        return record_attention(user=user, assignment=row, seconds=seconds, at=noon + timedelta(seconds=after))

    assert report(600, 0) == 0  # the first one starts the clock
    assert report(40, 60) == 40  # 20 idle
    assert report(500, 90) == 30  # claims more than passed
    assert report(30, 90) == 0  # a second tab, or a replay
    assert report(30, 80) == 0  # a clock that went back
    assert time_spent(workshop.annotator, [row.pk]) == {row.pk: 70}
    Assignment.objects.filter(pk=other.pk).update(started_at=noon - timedelta(seconds=100))
    other.refresh_from_db()
    assert record_attention(user=workshop.annotator, assignment=other, seconds=300, at=noon) == 100  # since it began
    assert record_attention(user=workshop.checker, assignment=other, seconds=300, at=noon) == 0
    assert time_spent(workshop.checker, [row.pk, other.pk]) == {other.pk: 0}
