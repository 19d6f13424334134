"""Grading through the pages' own doors: saving, repeating, conflicting, handing in."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import services
from annotation.models import Assignment, Decision
from tests.annotation.conftest import TEXT, Workshop, build_workshop
from tests.factories import decide

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(workshop: Workshop) -> Client:
    browser = Client(headers={"HX-Request": "true"})
    browser.force_login(workshop.annotator)
    return browser


def save(client: Client, row: Assignment, criterion: int, outcome: str = "met", **more: Any) -> Any:
    data = {"outcome": outcome, "version": 0, "client_id": uuid4(), "evidence": "[]", **more}
    return client.post(f"/work/{row.public_id}/criteria/{criterion}/", data)


def test_a_decision_saves_and_the_page_resumes_with_it(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    span = TEXT.index("Raise the hand")
    answer = save(client, row, first, "not_met", note=" why \r\n not ", borderline="on",
                  evidence=json.dumps([{"start": span, "end": span + 14}]))  # fmt: skip
    assert answer.status_code == 200
    assert answer["X-Decision-Version"] == "1"
    assert answer.content.decode().lstrip().startswith('<li class="criterion decided"')
    decision = Decision.objects.get()
    assert (decision.outcome, decision.borderline, decision.note) == ("not_met", True, "why \n not")
    assert decision.evidence == [{"quote": "Raise the hand", "start": span, "end": span + 14}]
    row.refresh_from_db()
    assert row.status == "draft"
    assert row.started_at is not None
    page = client.get(f"/work/{row.public_id}/").content.decode()
    assert re.search(rf'data-row="{first}"[^>]*data-outcome="not_met" data-borderline="1" data-version="1"', page)
    assert "1 / 3" in page


def test_the_same_save_twice_changes_nothing(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    name = uuid4()
    versions = [save(client, row, first, client_id=name)["X-Decision-Version"] for _ in range(3)]
    assert versions == ["1", "1", "1"]
    assert Decision.objects.get().version == 1


def test_a_stale_save_gets_409_and_the_saved_one_stays(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    save(client, row, first, "met", note="the other tab")
    answer = save(client, row, first, "not_met")  # saw version 0
    assert answer.status_code == 409
    assert answer["HX-Retarget"] == "#choice-body"
    assert f'data-choice="{first}" data-current-version="1"' in answer.content.decode()
    assert "the other tab" in answer.content.decode()
    assert Decision.objects.get().outcome == "met"
    assert save(client, row, first, "not_met", version=1).status_code == 200
    assert Decision.objects.get().outcome == "not_met"


def test_a_decision_can_be_cleared(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    save(client, row, first, "met")
    assert save(client, row, first, "", version=1).status_code == 200
    assert Decision.objects.get().outcome is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": "perhaps"},
        {"version": -1},
        {"version": 4},
        {"client_id": "mine"},
        {"evidence": "{"},
        {"evidence": '[{"start": 0, "end": 99999}]'},
        {"evidence": '[{"start": 5, "end": 5}]'},
        {"evidence": '[{"start": true, "end": 5}]'},
        {"evidence": '[{"start": 0, "end": 5, "quote": "other"}]'},
        {"evidence": '["text"]'},
        {"note": "x" * 5001},
        {"note": "a\x00b"},
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(workshop: Workshop, client: Client, wrong: dict[str, Any]) -> None:
    row = workshop.queue()[0]
    answer = save(client, row, services.criteria_of(row)[0], **wrong)
    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "#refusal"
    assert len(answer.content.decode().strip()) > 60
    assert not Decision.objects.exists()


def test_evidence_counts_code_points_beyond_the_basic_plane(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    start = TEXT.index("😀")
    save(client, row, services.criteria_of(row)[0], evidence=json.dumps([{"start": start, "end": start + 8}]))
    assert Decision.objects.get().evidence[0]["quote"] == "😀 Do you"


def test_a_criterion_of_another_rubric_is_refused(workshop: Workshop, client: Client) -> None:
    other = build_workshop()
    row = workshop.queue()[0]
    assert save(client, row, services.criteria_of(other.queue()[0])[0]).status_code == 422
    assert client.get(f"/work/{row.public_id}/criteria/{services.criteria_of(other.queue()[0])[0]}/").status_code == 404


def test_handing_in_names_what_is_missing_and_then_opens_the_next(workshop: Workshop, client: Client) -> None:
    row, upcoming = workshop.queue(next(u for u in workshop.people() if len(workshop.queue(u)) == 2))
    client.force_login(row.annotator)
    criteria = services.criteria_of(row)
    for criterion in criteria[1:]:
        save(client, row, criterion)
    answer = client.post(f"/work/{row.public_id}/submit/")
    assert answer.status_code == 422
    assert f'data-missing="{criteria[0]}"' in answer.content.decode()
    assert answer.content.decode().count("data-jump") == 1
    row.refresh_from_db()
    assert row.status == "draft"
    save(client, row, criteria[0])
    answer = client.post(f"/work/{row.public_id}/submit/")
    assert answer["HX-Redirect"] == f"/work/{upcoming.public_id}/"
    row.refresh_from_db()
    assert row.status == "accepted"  # not drawn for a check
    assert row.accepted_at == row.submitted_at
    late = save(client, row, criteria[0], "not_met", version=1)
    assert late.status_code == 409
    assert "handed in already" in late.content.decode()
    decide(upcoming, submit=False)
    assert client.post(f"/work/{upcoming.public_id}/submit/")["HX-Redirect"] == "/work/"


def test_a_drawn_response_waits_for_its_check() -> None:
    workshop = build_workshop(check_policy="sample", check_fraction=0.5)
    rows = Assignment.objects.filter(batch=workshop.batch).select_related("annotator")
    assert sum(row.to_check for row in rows) == 2  # half of 3, rounded half up
    for row in rows:
        decide(row)
        assert row.status == ("submitted" if row.to_check else "accepted")


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
    assert f"This batch is {state}" in page.content.decode()
    assert "submit-form" not in page.content.decode()
    for answer in (
        save(client, row, services.criteria_of(row)[0], version=1),
        client.post(f"/work/{row.public_id}/submit/"),
    ):
        assert answer.status_code == 409
        assert f"This batch is {state}" in answer.content.decode()
    row.refresh_from_db()
    assert row.status == "draft"


def test_who_is_signed_out_gets_401_from_htmx_and_the_sign_in_page_otherwise(workshop: Workshop) -> None:
    row = workshop.queue()[0]
    criterion = services.criteria_of(row)[0]
    assert save(Client(headers={"HX-Request": "true"}), row, criterion).status_code == 401
    plain = Client().get(f"/work/{row.public_id}/")
    assert plain.status_code == 302
    assert plain["Location"].startswith("/accounts/login/")


def test_nobody_else_reaches_the_work(workshop: Workshop) -> None:
    row = workshop.queue()[0]
    stranger = build_workshop()
    members = [workshop.people()[1], workshop.checker, workshop.adjudicator]
    for user in (*members, workshop.admin, stranger.annotator, stranger.admin):
        client = Client(headers={"HX-Request": "true"})
        client.force_login(user)
        assert client.get(f"/work/{row.public_id}/").status_code == 404
        assert save(client, row, services.criteria_of(row)[0]).status_code == 404
        assert client.post(f"/work/{row.public_id}/submit/").status_code == 404


def test_a_member_who_was_stopped_loses_access_and_their_decisions_stand(workshop: Workshop, client: Client) -> None:
    row = workshop.queue()[0]
    save(client, row, services.criteria_of(row)[0])
    membership = workshop.group.memberships.get(user=workshop.annotator)
    services.set_member_active(membership=membership, active=False)
    assert client.get(f"/work/{row.public_id}/").status_code == 404
    assert Decision.objects.count() == 1


def test_my_work_tells_apart_why_there_is_nothing(workshop: Workshop, client: Client) -> None:
    def page() -> str:
        return client.get("/work/").content.decode()

    row = workshop.queue()[0]
    assert f'href="/work/{row.public_id}/"' in page()
    services.pause_batch(batch=workshop.batch)
    assert "Paused by the admin" in page()
    services.open_batch(batch=workshop.batch)
    for row in workshop.queue():
        decide(row)
    assert "All done. Thank you." in page()
    services.close_batch(batch=workshop.batch, at=timezone.now())
    assert "Every batch you worked on is closed" in page()
    client.force_login(workshop.checker)
    assert "Nothing to grade" in page()
    client.force_login(workshop.admin)
    assert "not in an expert group yet" in page()
    waiting = build_workshop(check_policy="all")
    client.force_login(waiting.annotator)
    for row in waiting.queue():
        decide(row)
    assert "a checker looks at it now" in page()


def test_pages_cost_the_same_at_any_size(client: Client) -> None:
    counts = []
    for size, criteria in ((2, 3), (12, 30)):
        workshop = build_workshop(responses=size, criteria=[1] * criteria)
        client.force_login(workshop.annotator)
        row = workshop.queue()[0]
        decide(row, submit=False)
        here = []
        for url in (
            "/work/",
            f"/work/{row.public_id}/",
            f"/work/{row.public_id}/criteria/{services.criteria_of(row)[0]}/",
        ):
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert client.get(url).status_code == 200
            here.append(len(queries))
        counts.append(here)
    assert counts[0] == counts[1]
    assert counts[0][1] <= 14, "the grading page asks for more than it needs"
