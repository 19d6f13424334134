"""Groups and batches, as their admin makes them."""

from __future__ import annotations

import csv
import io
import re
from datetime import date
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation import services
from annotation.models import Assignment, Batch, BatchItem, Membership, Physician, Slot
from rubrics.models import Response
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import (
    BenchmarkFactory,
    BenchmarkRoleFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    decide,
    make_batch,
    member,
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def workshop() -> Workshop:
    return build_workshop()


def test_a_group_with_members_is_made_through_the_pages() -> None:
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    client = signed_in(admin)
    base = f"/b/{benchmark.slug}/groups/"
    assert "No groups yet" in client.get(base).content.decode()
    page = client.post(f"{base}new/", {"name": "Group A"})["Location"]
    assert "This group has no members yet" in client.get(page).content.decode()
    known = UserFactory(email="Known@example.org")
    client.post(f"{page}members/", {"email": "known@EXAMPLE.org", "role": "annotator"})
    client.post(f"{page}members/", {"email": "new@example.org", "name": "Dr. New", "role": "checker"})
    rows = Membership.objects.order_by("pk")
    assert [(row.user.email, row.role) for row in rows] == [
        ("Known@example.org", "annotator"),
        ("new@example.org", "checker"),
    ]
    assert rows[0].user == known
    assert not rows[1].user.has_usable_password()
    for person in Physician.objects.all():
        assert re.fullmatch(r"P-[A-Z2-7]{6}", person.pseudonym)
    body = client.get(page).content.decode()
    assert all(word in body for word in ("Dr. New", "new@example.org", "Secondary checker", "P-"))
    # Stopped and let work again; nothing is deleted, the pseudonym stays.
    pseudonym = Physician.objects.get(user=known).pseudonym
    client.post(f"{page}members/{rows[0].pk}/", {"active": "0"})
    assert Membership.objects.get(pk=rows[0].pk).active is False
    client.post(f"{page}members/", {"email": "known@example.org", "role": "annotator"})
    assert Membership.objects.get(pk=rows[0].pk).active is True
    assert Physician.objects.get(user=known).pseudonym == pseudonym


def test_physicians_are_listed_in_natural_order() -> None:
    admin, researcher = UserFactory(), UserFactory()
    benchmark = BenchmarkFactory(admin=admin, researcher=researcher)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=3)
    # By pseudonym for the researcher, by name for the admin: the one order does not follow from the other.
    for person, pseudonym, name in zip(
        group.people["annotator"], ("A10", "A2", "A1"), ("Z2", "Z1", "Z10"), strict=True
    ):  # type: ignore[attr-defined]
        Physician.objects.filter(user=person).update(pseudonym=pseudonym)
        User.objects.filter(pk=person.pk).update(name=name)
    pages = (
        f"/b/{benchmark.slug}/groups/{group.public_id}/",
        f"/b/{benchmark.slug}/quality/",
        f"/b/{benchmark.slug}/progress/",
    )
    make_batch(group, cases=[ResponseFactory(case=CaseFactory(benchmark=benchmark, rubric=1)).case.key])
    for page in pages:
        for reader, expected in ((researcher, ["A1", "A2", "A10"]), (admin, ["Z1", "Z2", "Z10"])):
            body = signed_in(reader).get(page).content.decode()
            seen = re.findall(r'<th scope="row">\s*(?:<a [^>]*>)?([AZ]\d+)\s*<', body)
            assert seen == expected, page


def test_the_pages_say_why_a_member_cannot_be_added(workshop: Workshop) -> None:
    client = signed_in(workshop.admin)
    other = ExpertGroupFactory(benchmark=workshop.benchmark)
    page = f"/b/{workshop.benchmark.slug}/groups/{other.public_id}/"
    for email, words in (
        (workshop.admin.email, "see the candidates’ names"),
        (workshop.annotator.email, "belongs to another expert group of the benchmark: “Group A”."),
        ("no-address", "valid email"),
    ):
        answer = client.post(f"{page}members/", {"email": email, "role": "annotator"})
        assert answer.status_code == 422
        assert words in answer.content.decode()
    twice = client.post(f"/b/{workshop.benchmark.slug}/groups/new/", {"name": other.name})
    assert twice.status_code == 422
    assert "A group with this name already exists" in twice.content.decode()


def batch_data(workshop: Workshop, **more: Any) -> dict[str, Any]:
    return {
        "title": "Second", "group": workshop.group.public_id, "annotators_per_item": 2, "check_policy": "sample",
        "check_percent": 25, "order": "by_case", "seed": 11, "skip_given": "", "strategy": "planned",
        "specialty_match": "none", **more,
    }  # fmt: skip


def test_what_is_previewed_is_made() -> None:
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    for _ in range(5):
        case = CaseFactory(benchmark=benchmark, rubric=4)
        for name in ("one", "two"):
            candidate = benchmark.candidates.filter(name=name).first() or CandidateFactory(
                benchmark=benchmark, name=name
            )
            ResponseFactory(case=case, candidate=candidate)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=3, checkers=1, adjudicators=0)
    client = signed_in(admin)
    base = f"/b/{benchmark.slug}/batches/"
    data = {
        "title": "First", "group": group.public_id, "annotators_per_item": 2, "check_policy": "sample",
        "check_percent": 25, "order": "by_case", "seed": 11, "skip_given": "on", "draw": 7, "strategy": "planned",
        "specialty_match": "none",
    }  # fmt: skip
    preview = client.get(f"{base}preview/", data).content.decode()
    assert "drawn from 10" in preview
    assert "no adjudicator" in preview
    loads = [int(n) for n in re.findall(r'</span>\s*</th>\s*<td class="num">(\d+)</td>', preview)]
    assert sorted(loads) == [4, 5, 5]  # 7 responses, 2 each, 3 people
    digest = re.search(r'name="digest" value="(\w+)"', preview)
    assert digest
    assert not Batch.objects.exists()
    terms = services.BatchTerms("First", 2, "sample", 0.25, "by_case", None, 11)
    plan = services.plan_batch(group=group, terms=terms, filter=services.ResponseFilter(draw=7))
    page = client.post(f"{base}new/", {**data, "digest": digest[1]})["Location"]
    batch = Batch.objects.get()
    assert page == f"{base}{batch.public_id}/"
    rows = Assignment.objects.filter(batch=batch)
    assert sorted(rows.filter(annotator=user).count() for user in group.people["annotator"]) == [4, 5, 5]
    assert rows.filter(to_check=True).count() == 4  # a quarter of 14, 3.5, rounded half up
    assert batch.frame == {
        "filter": {"skip_given": True, "draw": 7}, "seed": 11, "in_frame": 10, "drawn": 7, "inclusion_probability": 0.7,
    }  # fmt: skip
    assert set(BatchItem.objects.values_list("inclusion_probability", flat=True)) == {0.7}
    slots = rows.values_list("response_id", "annotator_id", "position", "to_check")
    assert set(slots) == {(s.response, s.annotator, s.position, s.to_check) for s in plan.allocation.slots}
    # What was given is left out of the next one.
    rest = client.get(f"{base}preview/", {**data, "draw": "", "annotators_per_item": 1}).content.decode()
    assert re.search(r"<dd>\s*3\s*<", rest)


def test_a_seed_gives_the_same_plan_in_another_database() -> None:
    """The same benchmark and group, with other numbers of rows, in another order: what a reader of a paper loads."""

    def plan(backwards: bool) -> list[tuple[str, str, int, bool]]:
        benchmark = BenchmarkFactory()
        names = ["one", "two"]
        candidates = {
            name: CandidateFactory(benchmark=benchmark, name=name) for name in sorted(names, reverse=backwards)
        }
        for number in sorted(range(6), reverse=backwards):
            case = CaseFactory(benchmark=benchmark, key=f"case-{number}", rubric=2)
            for candidate in candidates.values():
                ResponseFactory(case=case, candidate=candidate)
        group = ExpertGroupFactory(benchmark=benchmark, annotators=3, checkers=1)
        terms = services.BatchTerms("Drawn", 2, "sample", 0.25, "by_case", None, 11)
        batch_plan = services.plan_batch(group=group, terms=terms, filter=services.ResponseFilter(draw=7))
        called = {row.pk: f"{row.case.key} {row.candidate.name}" for row in Response.objects.all()}
        joined = {user.pk: f"annotator {place}" for place, user in enumerate(group.people["annotator"])}
        return sorted(
            (joined[s.annotator], called[s.response], s.position, s.to_check) for s in batch_plan.allocation.slots
        )

    assert plan(backwards=False) == plan(backwards=True)


def test_a_batch_is_not_made_when_the_preview_is_out_of_date(workshop: Workshop) -> None:
    client = signed_in(workshop.admin)
    base = f"/b/{workshop.benchmark.slug}/batches/"
    preview = client.get(f"{base}preview/", batch_data(workshop, annotators_per_item=1)).content.decode()
    # Everybody has graded everything else in the first batch: nobody is left but for what they were not given.
    digest = re.search(r'name="digest" value="(\w+)"', preview)
    assert digest
    member(workshop.group)
    answer = client.post(f"{base}new/", batch_data(workshop, annotators_per_item=1, digest=digest[1]))
    assert answer.status_code == 409
    assert "changed since the preview" in answer.content.decode()
    assert Batch.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"annotators_per_item": 3}, "3 annotators per response are required, but the group has 2."),
        ({"annotators_per_item": 2}, "too few physicians who can grade them (required for each: 2)."),
        ({"tags": "theme:none"}, "No case of this benchmark has the tag “theme:none”."),
        ({"cases": "unknown"}, "The case “unknown” does not exist in this benchmark."),
        ({"draw": 0}, "Number: Enter 1 or more."),
        ({"check_percent": 101}, "Share to check, %: Enter 100 or less."),
        ({"group": "elsewhere"}, "Select a valid choice"),
    ],
)
def test_the_preview_says_what_is_missing(workshop: Workshop, change: dict[str, Any], words: str) -> None:
    client = signed_in(workshop.admin)
    data = batch_data(workshop, **change)
    body = client.get(f"/b/{workshop.benchmark.slug}/batches/preview/", data).content.decode()
    assert words in body
    assert client.post(f"/b/{workshop.benchmark.slug}/batches/new/", data).status_code == 422
    assert Batch.objects.count() == 1


def test_filters_choose_responses() -> None:
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=1)
    model = CandidateFactory(benchmark=benchmark, name="m")
    writer = CandidateFactory(benchmark=benchmark, name="w", kind="physician")
    for key, difficulty, register, language, tags, rubric in (
        ("a", "low", "lay", "en", ["theme:hedging"], 2),
        ("b", "high", "professional", "zh", ["theme:other"], 2),
        ("c", "high", "lay", "en", [], 0),  # without a rubric: never in
    ):
        case = CaseFactory(benchmark=benchmark, key=key, difficulty=difficulty, register=register, language=language,
                           tags=tags, rubric=rubric)  # fmt: skip
        ResponseFactory(case=case, candidate=model)
        ResponseFactory(case=case, candidate=writer)

    def select_responses(**filters: Any) -> set[str]:
        rows = services.ResponseFilter(**filters).responses(group).values_list("case__key", "candidate__name")
        return {f"{key}{name}" for key, name in rows}

    assert select_responses() == {"am", "aw", "bm", "bw"}
    assert select_responses(candidates=[model.public_id]) == {"am", "bm"}
    assert select_responses(kinds=["physician"]) == {"aw", "bw"}
    assert select_responses(difficulties=["high"], registers=["professional"]) == {"bm", "bw"}
    assert select_responses(languages=["en"]) == {"am", "aw"}
    assert select_responses(tags=["theme:hedging", "theme:none"]) == {"am", "aw"}
    assert select_responses(cases=["b"], kinds=["model"]) == {"bm"}


def test_a_physician_never_gets_a_response_of_their_own() -> None:
    benchmark = BenchmarkFactory()
    group = ExpertGroupFactory(benchmark=benchmark, annotators=2)
    author = group.people["annotator"][0]
    for _ in range(4):
        ResponseFactory(case=CaseFactory(benchmark=benchmark), author=author)
    ResponseFactory(case=CaseFactory(benchmark=benchmark))
    make_batch(group)
    assert Assignment.objects.filter(annotator=author).count() == 1
    assert not Assignment.objects.filter(annotator=author, response__author=author).exists()


def test_the_batch_page_counts_truly_and_its_csv_says_the_same() -> None:
    workshop = build_workshop(responses=6, check_policy="sample", check_fraction=0.5)
    first, second = workshop.people()
    decide(workshop.queue(first)[0])
    decide(workshop.queue(second)[0], submit=False)
    client = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/"
    page = client.get(url).content.decode()
    in_check = Assignment.objects.filter(status="submitted").count()
    words = "Accepted: 1, " if not in_check else "Waiting for a check: 1, "
    assert f"<title>{words}Draft: 1, Not started: 4</title>" in page
    rows = list(csv.DictReader(io.StringIO(b"".join(client.get(f"{url}progress.csv").streaming_content).decode())))
    assert sum(int(row["pieces"]) for row in rows) == 6
    assert [sum(int(row[stage]) for row in rows) for stage in ("not_started", "draft", "submitted", "accepted")] == [
        4, 1, in_check, 1 - in_check,
    ]  # fmt: skip
    assert {row["physician"] for row in rows} == set(
        Physician.objects.filter(user__in=[first, second]).values_list("pseudonym", flat=True)
    )


def test_pause_open_extend_and_close(workshop: Workshop) -> None:
    client = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/"

    def state() -> str:
        return str(Batch.objects.get().status)

    client.post(f"{url}pause/")
    assert state() == "paused"
    assert client.post(f"{url}pause/").status_code == 409
    client.post(f"{url}open/")
    assert state() == "open"
    client.post(f"{url}extend/", {"due_date": "2031-02-03"})
    assert Batch.objects.get().due_date == date(2031, 2, 3)
    passed = client.post(f"{url}extend/", {"due_date": "2020-02-03"}).content.decode()
    assert "This date has already passed, so the batch would count as overdue." in passed
    assert Batch.objects.get().due_date == date(2031, 2, 3)
    client.post(f"{url}close/")
    assert state() == "closed"
    assert Batch.objects.get().closed_at is not None
    for endpoint in ("open/", "pause/", "close/", "extend/"):
        assert client.post(url + endpoint).status_code == 409
    assert state() == "closed"


def test_researchers_read_and_do_not_write_and_see_no_names(workshop: Workshop) -> None:
    researcher = UserFactory()
    BenchmarkRoleFactory(benchmark=workshop.benchmark, user=researcher, role="researcher")
    client = signed_in(researcher)
    base = f"/b/{workshop.benchmark.slug}"
    for path in (
        "groups/",
        f"groups/{workshop.group.public_id}/",
        "batches/",
        f"batches/{workshop.batch.public_id}/",
        "conflicts/",
    ):
        body = client.get(f"{base}/{path}")
        assert body.status_code == 200
        assert workshop.annotator.email not in body.content.decode()
        assert f">{workshop.annotator.name}<" not in body.content.decode()
        main = body.content.decode().split("<main")[1]
        assert '<form method="post"' not in main
    assert client.get(f"{base}/batches/new/").status_code == 404
    assert client.get(f"{base}/batches/preview/").status_code == 404
    for path in ("groups/new/", f"groups/{workshop.group.public_id}/members/",
                 f"batches/{workshop.batch.public_id}/close/",
                 "batches/new/", "conflicts/"):  # fmt: skip
        assert client.post(f"{base}/{path}").status_code == 404
    for user in (workshop.annotator, workshop.checker, build_workshop().admin):
        outsider = signed_in(user)
        for path in (
            "groups/",
            "batches/",
            f"batches/{workshop.batch.public_id}/",
            f"batches/{workshop.batch.public_id}/progress.csv",
        ):
            assert outsider.get(f"{base}/{path}").status_code == 404


def test_ids_of_another_benchmark_are_missing_under_the_address_of_ones_own(workshop: Workshop) -> None:
    other = build_workshop()
    client = Client()
    client.force_login(workshop.admin)
    base = f"/b/{workshop.benchmark.slug}"
    for own, foreign in (
        (f"groups/{workshop.group.public_id}/", f"groups/{other.group.public_id}/"),
        (f"batches/{workshop.batch.public_id}/", f"batches/{other.batch.public_id}/"),
    ):
        assert client.get(f"{base}/{own}").status_code == 200
        assert client.get(f"{base}/{foreign}").status_code == 404
    for group in (workshop.group, other.group):
        membership = group.memberships.get(user=other.annotator if group is other.group else workshop.annotator)
        page = f"{base}/groups/{workshop.group.public_id}/members/{membership.pk}/"
        assert client.post(page, {"active": "0"}).status_code == (404 if group is other.group else 302)


def test_admin_pages_cost_the_same_at_any_size() -> None:
    counts = []
    for size in (2, 9):
        workshop = build_workshop(responses=size)
        for n in range(size):
            user = member(workshop.group)
            fresh = ExpertGroupFactory(benchmark=workshop.benchmark, annotators=1)
            make_batch(fresh, title=f"More {n}")
            assert user
        client = signed_in(workshop.admin)
        here = []
        base = f"/b/{workshop.benchmark.slug}"
        for path in (
            "groups/",
            f"groups/{workshop.group.public_id}/",
            "batches/",
            f"batches/{workshop.batch.public_id}/",
        ):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(f"{base}/{path}").status_code == 200
            here.append(len(queries))
        counts.append(here)
    assert counts[0] == counts[1]


def test_a_batch_remembers_when_and_by_whom(workshop: Workshop) -> None:
    assert workshop.batch.created_by == workshop.admin
    assert workshop.batch.created_at <= timezone.now()


def test_the_terms_name_candidates_and_kinds_as_people_do(client: Client) -> None:
    workshop = build_workshop(responses=2)
    client.force_login(workshop.admin)
    candidate = workshop.benchmark.candidates.first()
    Batch.objects.update(frame={"filter": {"candidates": [candidate.public_id], "kinds": ["model"], "draw": 2}})
    page = client.get(f"/b/{workshop.benchmark.slug}/batches/{Batch.objects.get().public_id}/").text
    assert re.search(rf"<dt>Candidates</dt>\s*<dd>{re.escape(candidate.name)}</dd>", page)
    assert re.search(r"<dt>Kind of candidate</dt>\s*<dd>Model</dd>", page)
    assert candidate.public_id not in page


def test_the_list_of_assignments_has_the_pool_in_it_last(workshop: Workshop) -> None:
    client = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/"
    first = workshop.people()[0]
    released = Assignment.objects.filter(annotator=first).count()
    total = Slot.objects.filter(item__batch=workshop.batch).count()
    client.post(f"{url}handover/", {"physician": first.pseudonyms.get().pseudonym, "to": "pool"})
    page = client.get(url).content.decode()
    shown = page[page.index('id="pieces-form"') :]
    assert shown.count('name="piece"') == total
    assert shown.count("In the pool") == 2 * released > 0  # in the label of the box, and as the state
    assert shown.rindex("Not started") < shown.index("In the pool")
    # The share of skipped work counts assignments, also those released, not the responses of the batch.
    given = Assignment.objects.filter(batch=workshop.batch).count()
    assert f"0 of {given} assignments, including released ones" in " ".join(page.split())
    rows = csv.DictReader(io.StringIO(b"".join(client.get(f"{url}pieces.csv")).decode()))
    assert [row["status"] for row in rows] == ["not_started"] * (total - released) + ["unassigned"] * released


def test_the_stop_dialog_says_to_hand_over_first(workshop: Workshop) -> None:
    page = signed_in(workshop.admin).get(f"/b/{workshop.benchmark.slug}/groups/{workshop.group.public_id}/")
    words = "hand them over on the page of the batch before you"
    assert page.content.decode().count(words) == len(workshop.people()) > 0  # once an annotator, for nobody else
    # What was released can still be handed over from the pool.
    assert "can be handed over there later, too" in " ".join(page.content.decode().split())
    assert "cannot choose who continues" not in page.content.decode()
