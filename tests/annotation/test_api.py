"""The API: the same rules, the same access, and nothing that the pages would not show."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Invitation, User
from annotation import services
from annotation.models import Adjudication, Assignment, Batch, Decision
from tests.annotation.conftest import TEXT, Workshop, build_workshop
from tests.factories import BenchmarkRoleFactory, UserFactory, decide, member

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
API = "/api/v1"


def endpoint(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def test_grading_through_the_api(workshop: Workshop) -> None:
    client = endpoint(workshop.annotator)
    listed = client.get(f"{API}/work/assignments/").json()["results"]
    assert [row["position"] for row in listed] == list(range(1, len(listed) + 1))
    url = f"{API}/work/assignments/{listed[0]['id']}/"
    detail = client.get(url).json()
    assert set(detail) == {
        "id", "benchmark", "batch", "batch_title", "batch_status", "due_date", "position", "status", "round", "total",
        "returned_note", "reading", "rows",
    }  # fmt: skip
    assert detail["reading"]["response"] == TEXT
    batch = workshop.batch
    assert [detail[key] for key in ("benchmark", "batch", "batch_title")] == [
        workshop.benchmark.slug, batch.public_id, batch.title
    ]  # fmt: skip
    ids = [row["criterion"]["id"] for row in detail["rows"]]
    missing = client.post(f"{url}submit/")
    assert (missing.status_code, missing.json()["missing"]) == (422, ids)
    save = [{"criterion": ids[0], "outcome": "met", "client_id": str(uuid4()), "evidence": [{"start": 0, "end": 6}]}]
    saved = client.post(f"{url}decisions/", save, format="json")
    assert saved.status_code == 200
    assert saved.json()["rows"][0]["evidence"] == [{"start": 0, "end": 6, "quote": "Oozing"}]
    stale = client.post(f"{url}decisions/", [{"criterion": ids[0], "outcome": "not_met"}], format="json")
    assert stale.status_code == 409
    assert stale.json()["current"]["outcome"] == "met"
    # All or none: the second of these is stale, so the first is not saved either.
    mixed = [{"criterion": ids[1], "outcome": "met"}, {"criterion": ids[0], "outcome": "not_met"}]
    assert client.post(f"{url}decisions/", mixed, format="json").status_code == 409
    assert Decision.objects.count() == 1
    twice = [{"criterion": ids[1], "outcome": "met"}, {"criterion": ids[2], "outcome": "met"}]
    twice += [{"criterion": ids[1], "outcome": "not_met"}]
    refused = client.post(f"{url}decisions/", twice, format="json")
    assert refused.status_code == 422
    assert [(each["line"], each["field"]) for each in refused.json()["errors"]] == [(3, "criterion")]
    outside = [{"criterion": ids[1], "outcome": "met"}, {"criterion": ids[2], "outcome": "met"}]
    outside[1]["evidence"] = [{"start": 0, "end": 100_000}]  # type: ignore[assignment]
    refused = client.post(f"{url}decisions/", outside, format="json")
    assert refused.status_code == 422
    [fault] = refused.json()["errors"]
    assert fault == {"line": 2, "field": "evidence", "message": "The evidence is outside the response."}
    assert refused.json()["detail"] == fault["message"]
    assert Decision.objects.count() == 1
    client.post(f"{url}decisions/", [{"criterion": c, "outcome": "not_met"} for c in ids[1:]], format="json")
    done = client.post(f"{url}submit/")
    assert (done.status_code, done.json()["status"]) == (200, "accepted")


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": "met", "assignment": 4},
        {"outcome": "met", "round": 2},
        {"outcome": "met", "status": "accepted"},
        {"outcome": "invalid"},
        {"outcome": "met", "evidence": [{"start": 0, "end": 3, "colour": "red"}]},
        {},
    ],
)
def test_unknown_and_impossible_values_are_refused(workshop: Workshop, wrong: dict[str, Any]) -> None:
    row = workshop.queue()[0]
    body = [{"criterion": services.criteria_of(row)[0], **wrong}]
    answer = endpoint(workshop.annotator).post(
        f"{API}/work/assignments/{row.public_id}/decisions/", body, format="json"
    )
    assert answer.status_code == 400
    assert not Decision.objects.exists()


def test_checking_and_adjudicating_through_the_api() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=1, check_policy="all")
    for row, outcome in zip(
        Assignment.objects.filter(batch=workshop.batch).select_related("annotator"), ("met", "not_met"), strict=True
    ):
        decide(row, outcome)
    client = endpoint(workshop.checker)
    assert client.get(f"{API}/work/checks/").json()["count"] == 2
    taken = client.post(f"{API}/work/checks/next/").json()
    url = f"{API}/work/checks/{taken['id']}/"
    first = taken["rows"][0]["criterion"]["id"]
    current_outcome = taken["rows"][0]["given"]["outcome"]
    other = "not_met" if current_outcome == "met" else "met"
    assert client.post(f"{url}amendments/", {"criterion": first, "outcome": other}, format="json").status_code == 422
    amended = client.post(f"{url}amendments/", {"criterion": first, "outcome": other, "reason": "r"}, format="json")
    assert [amended.json()["rows"][0][key] for key in ("outcome", "version")] == [other, 1]
    late = {"criterion": first, "outcome": current_outcome, "version": 0, "client_id": str(uuid4())}
    stale = client.post(f"{url}amendments/", late, format="json")
    assert stale.status_code == 409
    stored = stale.json()["current"]
    assert stored.pop("saved_at")
    assert stored == {"criterion": first, "outcome": other, "reason": "r", "version": 1, "to_review": False}
    unseen = {"criterion": first, "outcome": current_outcome}  # without a version: none was seen
    assert client.post(f"{url}amendments/", unseen, format="json").status_code == 409
    again = client.post(f"{url}claim/")
    assert (again.status_code, again.json()) == (409, {"detail": "You have already claimed this check."})
    kept = client.post(f"{url}release/")
    assert (kept.status_code, kept.json()) == (
        409,
        {"detail": "This check has amendments or marks. To release it and discard them, send discard: true."},
    )
    assert client.get(url).json()["rows"][0]["outcome"] == other
    assert client.post(f"{url}accept/").status_code == 204
    again = client.post(f"{url}accept/")
    assert (again.status_code, again.json()) == (409, {"detail": "You have already finished this check."})
    second = client.post(f"{API}/work/checks/next/").json()
    assert (
        client.post(f"{API}/work/checks/{second['id']}/return/", {"note": "Again."}, format="json").status_code == 204
    )
    assert client.post(f"{API}/work/checks/next/").status_code == 204
    back = Assignment.objects.select_related("annotator").get(public_id=second["id"])
    services.submit(assignment=back, annotator=back.annotator, at=back.submitted_at)  # type: ignore[arg-type]
    client.post(f"{API}/work/checks/{back.public_id}/claim/")
    client.post(f"{API}/work/checks/{back.public_id}/accept/")
    judge = endpoint(workshop.adjudicator)
    conflicts = judge.get(f"{API}/work/adjudications/").json()["results"]
    assert [(row["conflicts"], row["held"]) for row in conflicts] == [(2, False)]  # the amended one agrees now
    assert (conflicts[0]["benchmark"], conflicts[0]["batch"]) == (workshop.benchmark.slug, workshop.batch.public_id)
    conflict = judge.post(f"{API}/work/adjudications/{conflicts[0]['id']}/claim/").json()
    url = f"{API}/work/adjudications/{conflict['id']}/"
    again = judge.post(f"{url}claim/")
    assert (again.status_code, again.json()) == (409, {"detail": "You have already claimed this conflict."})
    unfinished = judge.post(f"{url}finish/")
    in_conflict = [row["criterion"]["id"] for row in conflict["rows"] if row["in_conflict"]]
    assert (unfinished.status_code, sorted(unfinished.json()["missing"])) == (422, sorted(in_conflict))
    for row in conflict["rows"]:
        if row["in_conflict"]:
            assert [side["letter"] for side in row["sides"]] == ["A", "B"]
            body = {"criterion": row["criterion"]["id"], "outcome": "cannot_assess"}
            assert judge.post(f"{url}rulings/", body | {"version": 0}, format="json").status_code == 200
            assert judge.post(f"{url}rulings/", body | {"version": 0}, format="json").status_code == 409
            taken_back = judge.post(f"{url}rulings/", body | {"outcome": "", "version": 1}, format="json").json()
            assert {"outcome": "", "version": 2}.items() <= taken_back["rows"][conflict["rows"].index(row)].items()
            assert judge.post(f"{url}rulings/", body, format="json").status_code == 409  # no version: none was seen
            assert judge.post(f"{url}rulings/", body | {"version": 2}, format="json").status_code == 200
    assert judge.post(f"{url}finish/").status_code == 204
    again = judge.post(f"{url}finish/")
    assert (again.status_code, again.json()) == (409, {"detail": "You have already finished this adjudication."})
    assert Adjudication.objects.get().status == "done"


def test_next_hands_out_work_of_the_benchmark_that_is_named() -> None:
    first, second = (build_workshop(annotators_per_item=2, responses=1, check_policy="all") for _ in range(2))
    for workshop in (first, second):
        rows = Assignment.objects.filter(batch=workshop.batch).select_related("annotator")
        for row, outcome in zip(rows, ("met", "not_met"), strict=True):
            decide(row, outcome)
    person = second.checker
    member(first.group, "checker", person)
    client = endpoint(person)
    slugs = [first.benchmark.slug, second.benchmark.slug]
    assert client.get(f"{API}/work/checks/").json()["count"] == 4
    for slug in slugs:
        listed = client.get(f"{API}/work/checks/?benchmark={slug}").json()["results"]
        assert {row["benchmark"] for row in listed} == {slug}
    for slug in slugs[::-1]:
        taken = client.post(f"{API}/work/checks/next/?benchmark={slug}").json()
        assert (taken["benchmark"], taken["status"]) == (slug, "in_check")
    assert client.get(f"{API}/work/checks/?benchmark=elsewhere").status_code == 404
    for queue in ("checks", "adjudications"):
        elsewhere = client.post(f"{API}/work/{queue}/next/?benchmark=elsewhere")
        assert elsewhere.status_code == 404
        wrong = client.post(f"{API}/work/{queue}/next/?batch=x")
        assert wrong.status_code == 400


def test_next_gives_what_is_held_again_until_it_is_finished() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=2, check_policy="all")
    rows = Assignment.objects.filter(batch=workshop.batch).select_related("annotator").order_by("response", "pk")
    for row, outcome in zip(rows, ("met", "not_met") * 2, strict=True):
        decide(row, outcome)
    client = endpoint(workshop.checker)
    checks = f"{API}/work/checks"
    first = client.post(f"{checks}/next/").json()
    assert client.post(f"{checks}/next/").json() == first
    assert Assignment.objects.filter(status="in_check").count() == 1
    # A second one is held only where it is claimed by its address.
    other = next(row["id"] for row in client.get(f"{checks}/").json()["results"] if row["id"] != first["id"])
    assert client.post(f"{checks}/{other}/claim/").status_code == 200
    for row in client.get(f"{checks}/").json()["results"]:
        taken = client.post(f"{checks}/next/").json()["id"]
        assert client.post(f"{checks}/{taken}/accept/").status_code == 204, row
    assert client.post(f"{checks}/next/").status_code == 204

    judge = endpoint(workshop.adjudicator)
    queue = f"{API}/work/adjudications"
    held = judge.post(f"{queue}/next/").json()
    assert judge.post(f"{queue}/next/").json()["id"] == held["id"]
    Batch.objects.update(status="paused")
    paused = judge.post(f"{queue}/next/")
    assert (paused.status_code, "is paused" in paused.json()["detail"]) == (409, True), paused.json()
    Batch.objects.update(status="open")
    assert judge.post(f"{queue}/{held['id']}/release/").status_code == 204
    assert judge.post(f"{queue}/next/").json()["id"] != held["id"]
    assert Adjudication.objects.exclude(adjudicator=None).count() == 1


def test_groups_and_batches_through_the_api(workshop: Workshop) -> None:
    client = endpoint(workshop.admin)
    base = f"{API}/benchmarks/{workshop.benchmark.slug}"
    group = client.post(f"{base}/groups/", {"name": "Group B"}, format="json").json()
    twice = client.post(f"{base}/groups/", {"name": "group b"}, format="json")
    [fault] = twice.json()["errors"]
    assert (twice.status_code, fault["field"]) == (409, "name")
    assert fault["message"] == "A group with this name already exists: “Group B”."
    person = {"email": "new@example.org", "name": "Dr. New", "role": "annotator"}
    member = client.post(f"{base}/groups/{group['id']}/members/", person, format="json").json()
    assert member["pseudonym"].startswith("P-")
    assert Invitation.objects.get().user.email == "new@example.org"  # without a mail nobody can sign in
    new = {
        "title": "By API", "group": group["id"], "check_policy": "none", "seed": 5, "filter": {"draw": 2},
        "explain_cannot_assess": True,
    }  # fmt: skip
    # The only annotator has not opened the account, so they get work only where that is asked for.
    refused = client.post(f"{base}/batches/preview/", new, format="json")
    assert refused.status_code == 422
    assert "invited but have not signed in yet" in str(refused.json())
    assert member["invited"] is True
    new["include_invited"] = True
    plan = client.post(f"{base}/batches/preview/", new, format="json").json()
    assert plan["warnings"] == [
        "1 annotator has been invited but has not signed in yet. Their assignments wait until they do."
    ]
    assert (plan["responses"], plan["in_frame"], plan["decisions"]) == (2, 3, 6)
    assert [load["responses"] for load in plan["loads"]] == [2]
    candidate = workshop.benchmark.candidates.earliest("pk")  # of one response
    for given in (candidate.name, candidate.public_id):
        named = {**new, "filter": {"candidates": [given], "skip_given": False}}
        assert client.post(f"{base}/batches/preview/", named, format="json").json()["in_frame"] == 1
    wrong = client.post(f"{base}/batches/", {**new, "digest": "0" * 16}, format="json")
    assert wrong.status_code == 409
    batch = client.post(f"{base}/batches/", {**new, "digest": plan["digest"]}, format="json").json()
    assert batch["explain_cannot_assess"] is True
    assert batch["frame"]["filter"]["draw"] == 2
    assert batch["progress"] == {
        "not_started": 2, "draft": 0, "submitted": 0, "in_check": 0, "returned": 0, "accepted": 0, "free": 0,
        "not_checked": 0, "not_done": 0,
    }  # fmt: skip
    for given in (candidate.name, candidate.public_id):
        Batch.objects.filter(public_id=batch["id"]).update(frame={"filter": {"candidates": [given]}})
        read = client.get(f"{base}/batches/{batch['id']}/").json()
        assert read["frame"] == {"filter": {"candidates": [candidate.name]}}
    misspelt = {"candidates": [candidate.name, "Nobdy"], "cases": ["c99"], "tags": ["nope"], "languages": ["xx"]}
    for path in ("batches/preview/", "batches/"):
        refused = client.post(f"{base}/{path}", {**new, "filter": misspelt}, format="json")
        assert refused.status_code == 422
        assert [(each["line"], each["field"]) for each in refused.json()["errors"]] == [
            (2, "filter.candidates"),
            (1, "filter.cases"),
            (1, "filter.tags"),
            (1, "filter.languages"),
        ]
        assert "“Nobdy” does not exist in this benchmark." in refused.json()["detail"]
    nobody = {**new, "filter": {"candidates": ["nobody"], "skip_given": False}}
    assert client.post(f"{base}/batches/preview/", nobody, format="json").status_code == 422
    url = f"{base}/batches/{batch['id']}/"
    assert client.patch(url, {"due_date": "2030-01-31"}, format="json").json()["due_date"] == "2030-01-31"
    assert client.patch(url, {"status": "closed"}, format="json").status_code == 400
    assert client.post(f"{url}pause/").json()["status"] == "paused"
    assert client.post(f"{url}open/").json()["status"] == "open"
    refused = client.post(f"{url}close/")
    assert refused.status_code == 409
    assert "2 of 2 assignments are not finished." in str(refused.json())
    assert client.get(url).json()["status"] == "open"
    assert client.post(f"{url}close/", {"drop_unfinished": True}, format="json").json()["status"] == "closed"
    assert client.post(f"{url}open/").status_code == 409
    assert client.post(f"{base}/batches/", {**new, "is_staff": True}, format="json").status_code == 400
    both = {"group": workshop.group.public_id, "other": group["id"]}
    assert client.post(f"{base}/conflicts/", both, format="json").status_code == 422
    stopped = client.patch(f"{base}/groups/{group['id']}/members/{member['id']}/", {"active": False}, format="json")
    assert stopped.json()["active"] is False
    researcher = UserFactory()
    BenchmarkRoleFactory(benchmark=workshop.benchmark, user=researcher, role="researcher")
    reader = endpoint(researcher)
    members = reader.get(f"{base}/groups/{group['id']}/members/").json()
    assert [(row["email"], row["name"], row["pseudonym"]) for row in members] == [("", "", member["pseudonym"])]
    assert reader.get(f"{base}/batches/").json()["count"] == 2
    assert reader.post(f"{base}/groups/", {"name": "C"}, format="json").status_code == 404
    assert reader.post(f"{base}/batches/", new, format="json").status_code == 404
    assert reader.post(f"{url}pause/").status_code == 404


def test_the_endpoints_of_others_are_not_there(workshop: Workshop) -> None:
    stranger = build_workshop(check_policy="all")
    decide(stranger.queue()[0])
    row = workshop.queue()[0]
    base = f"{API}/benchmarks/{workshop.benchmark.slug}"
    for user in (
        stranger.annotator,
        stranger.checker,
        stranger.adjudicator,
        stranger.admin,
        workshop.checker,
        workshop.admin,
    ):
        client = endpoint(user)
        assert client.get(f"{API}/work/assignments/{row.public_id}/").status_code == 404
        assert client.post(f"{API}/work/assignments/{row.public_id}/submit/").status_code == 404
    for user in (workshop.annotator, workshop.checker, workshop.adjudicator, stranger.admin):
        for path in ("groups/", f"groups/{workshop.group.public_id}/members/", "batches/", "conflicts/",
                     f"batches/{workshop.batch.public_id}/"):  # fmt: skip
            assert endpoint(user).get(f"{base}/{path}").status_code == 404
    held = f"{API}/work/checks/{stranger.queue()[0].public_id}/"
    assert endpoint(workshop.checker).post(f"{held}claim/").status_code == 404
    assert endpoint(stranger.checker).get(held).status_code == 404  # waiting, not taken
    assert Batch.objects.count() == 2
    assert APIClient().get(f"{API}/work/assignments/").status_code in (401, 403)


def test_a_check_with_amendments_is_released_only_where_the_request_says_so() -> None:
    workshop = build_workshop(responses=1, check_policy="all")
    decide(Assignment.objects.select_related("annotator").get(batch=workshop.batch), "met")
    client = endpoint(workshop.checker)
    taken = client.post(f"{API}/work/checks/next/").json()
    url = f"{API}/work/checks/{taken['id']}/"
    amendment = {"criterion": taken["rows"][0]["criterion"]["id"], "outcome": "not_met", "reason": "r"}
    assert client.post(f"{url}release/").status_code == 204  # nothing to discard
    client.post(f"{url}claim/")
    assert client.post(f"{url}amendments/", amendment, format="json").status_code == 200
    assert client.post(f"{url}release/", {"discard": False}, format="json").status_code == 409
    assert client.post(f"{url}release/", {"discard": True}, format="json").status_code == 204
    assert Assignment.objects.get(batch=workshop.batch).status == "submitted"


def test_a_group_in_a_body_that_is_not_an_id_of_the_benchmark_is_named(workshop: Workshop) -> None:
    client, base = endpoint(workshop.admin), f"{API}/benchmarks/{workshop.benchmark.slug}"
    name = workshop.group.name
    message = [f"The benchmark has no group with the id “{name}”."]
    between = {"group": workshop.group.public_id, "other": name}
    refused = client.post(f"{base}/conflicts/", between, format="json")
    assert (refused.status_code, refused.json()) == (400, {"other": message})
    for path in ("batches/", "batches/preview/", "regrading/"):
        refused = client.post(f"{base}/{path}", {"group": name, "title": "t"}, format="json")
        assert (refused.status_code, refused.json()) == (400, {"group": message}), path


def test_conflicts_are_listed_with_the_ids_of_their_groups(workshop: Workshop) -> None:
    terms = {"criteria": [], "agreement": 0, "created_at": timezone.now()}
    for row in workshop.queue():
        Adjudication.objects.create(group=workshop.group, response=row.response, rubric=row.rubric, **terms)
    listed = endpoint(workshop.admin).get(f"{API}/benchmarks/{workshop.benchmark.slug}/conflicts/").json()
    assert [(row["group"], row["group_name"], row["other_group"], row["total"]) for row in listed] == [
        (workshop.group.public_id, workshop.group.name, None, len(workshop.queue()))
    ]
