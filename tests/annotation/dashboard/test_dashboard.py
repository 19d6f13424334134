"""The admin's workshop: progress, forecasts, who waits for whom, and work that changes hands."""

from __future__ import annotations

import csv
import io
import re
from datetime import date, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation.dashboard.forecast import Forecast, after, daily_rates, forecast
from annotation.models import Assignment, Batch, Membership, Skip, Slot
from annotation.services import accept_check, claim_check, return_check, slots, submit
from annotation.steps import steps
from consilium.core import navigation
from consilium.core.errors import Conflict
from consilium.statistics.estimate import Undefined
from rubrics.models import Case
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import ExpertGroupFactory, decide, make_batch, member

pytestmark = pytest.mark.slow

MONDAY = date(2026, 3, 2)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def table(client: Client, url: str) -> list[dict[str, str]]:
    answer = client.get(url)
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


# Forecasts: arithmetic by hand ------------------------------------------------------------------------------------


def test_weekend_work_counts_with_monday_and_today_not_at_all() -> None:
    day = {MONDAY + timedelta(days=n): 2**n for n in range(10)}  # Monday 1, … Friday 16, Sat 32, Sun 64, Monday 128
    rates = daily_rates(day, first=MONDAY, today=MONDAY + timedelta(days=9))  # a Wednesday
    assert rates == [1, 2, 4, 8, 16, 32 + 64 + 128, 256]
    assert daily_rates(day, first=MONDAY, today=MONDAY + timedelta(days=14)) == [8, 16, 224, 256, 512, 0, 0]


@pytest.mark.parametrize(
    ("start", "days", "end"),
    [
        (date(2026, 3, 2), 1, date(2026, 3, 3)),
        (date(2026, 3, 6), 1, date(2026, 3, 9)),  # Friday, then Monday
        (date(2026, 3, 7), 1, date(2026, 3, 9)),  # Saturday
        (date(2026, 3, 3), 5, date(2026, 3, 10)),
        (date(2026, 3, 4), 13, date(2026, 3, 23)),
    ],
)
def test_working_days_skip_weekends(start: date, days: int, end: date) -> None:
    assert after(start, days) == end


def test_a_forecast_is_the_median_with_the_slow_and_the_fast_days() -> None:
    # Seven working days, Monday 2 to Tuesday 10 March; today is Wednesday the 11th.
    days = [10, 20, 30, 40, 50, None, None, 60, 70]
    handed_in = {MONDAY + timedelta(days=n): number for n, number in enumerate(days) if number}
    seen = forecast(handed_in, first=MONDAY, left=200, today=date(2026, 3, 11))
    # Type 7 quantiles of 10…70: 10% lies at 10 + .6·10, 90% at 60 + .4·10. 200/40 = 5, 200/16 = 12.5, 200/64 = 3.1.
    assert seen == Forecast(
        left=200, days=7, rate=40, slow=16, fast=64,
        early=date(2026, 3, 17), expected=date(2026, 3, 18), late=date(2026, 3, 30),
    )  # fmt: skip
    assert isinstance(seen, Forecast)
    due = {
        date(2026, 3, 30): "yes",
        date(2026, 3, 18): "likely",
        date(2026, 3, 17): "unlikely",
        date(2026, 3, 16): "no",
    }
    assert {day: seen.holds(day) for day in due} == due


def test_what_cannot_be_forecast_says_why() -> None:
    two_days = forecast({MONDAY: 9, MONDAY + timedelta(days=1): 9}, first=MONDAY, left=5, today=date(2026, 3, 4))
    assert isinstance(two_days, Undefined)
    assert "fewer than three working days" in two_days.reason
    assert isinstance(forecast({}, first=None, left=5, today=MONDAY), Undefined)
    idle = forecast({MONDAY: 9}, first=MONDAY, left=5, today=date(2026, 3, 6))
    assert isinstance(idle, Undefined)
    assert "nothing was submitted" in idle.reason
    # Slow days without anything have no end; the date says so instead of naming one.
    halting = forecast({MONDAY: 4, MONDAY + timedelta(days=1): 4}, first=MONDAY, left=5, today=date(2026, 3, 5))
    assert isinstance(halting, Forecast)
    assert halting.late is not None
    stopping = forecast(
        {MONDAY + timedelta(days=n): 4 for n in (0, 1, 2, 3)}, first=MONDAY, left=5, today=date(2026, 3, 11)
    )
    assert isinstance(stopping, Forecast)
    assert stopping.late is None


# Pages --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def workshop(db: None) -> Workshop:
    """Six responses, two annotators with three each; everything is checked."""
    return build_workshop(responses=6, check_policy="all")


def busy(workshop: Workshop) -> tuple[User, User]:
    """First: one accepted, one sent back, put off before, one skipped and not started. Second: one at any checker, one
    draft.
    """
    first, second = workshop.people()
    now = timezone.now()
    accepted_row, two, three = workshop.queue(first)
    for row in (accepted_row, two):
        decide(row)
        claim_check(checker=workshop.checker, waiting=Assignment.objects.filter(pk=row.pk), at=now)
        row.refresh_from_db()
    accept_check(assignment=accepted_row, checker=workshop.checker, at=now)
    return_check(assignment=two, checker=workshop.checker, note="Look at 2 again.", at=now)
    Skip.objects.create(assignment=two, reason="later", created_at=now)
    Skip.objects.create(assignment=three, reason="other", note="Cut off.", created_at=now)
    decide(workshop.queue(second)[0])
    decide(workshop.queue(second)[1], submit=False)
    return first, second


def test_the_dashboard_counts_by_hand(workshop: Workshop) -> None:
    first, _second = busy(workshop)
    client = signed_in(workshop.admin)
    base = f"/b/{workshop.benchmark.slug}/progress/"
    page = client.get(base).content.decode()
    words = "Accepted: 1, Waiting for a check: 1, Returned: 1, Draft: 1, Not started: 2"
    assert page.count(f"<title>{words}</title>") == 3  # all work, the one batch, the one group
    rows = {row["physician"]: row for row in table(client, f"{base}physicians.csv")}
    mine = rows[first.pseudonyms.get().pseudonym]
    assert [mine[name] for name in ("pieces", "accepted", "returned", "not_started")] == ["3", "1", "1", "1"]
    assert [mine[name] for name in ("given", "skipped", "checked", "returned_once")] == ["3", "1", "2", "1"]
    assert [(row["day"], row["handed_in"]) for row in table(client, f"{base}days.csv")][-1] == (
        timezone.localdate().isoformat(), "2",
    )  # fmt: skip
    (batch,) = table(client, f"{base}batches.csv")
    assert (batch["days_of_data"], batch["expected"]) == ("0", "")
    assert "fewer than three working days" in batch["note"]
    (group,) = table(client, f"{base}groups.csv")
    assert (group["annotators"], group["accepted"]) == ("2", "1")
    # A gold item is no part of the result, and is in no count.
    gold = Assignment.objects.filter(annotator=first, status="not_started")
    assert gold.update(purpose="gold") == 1
    page = client.get(base).content.decode()
    assert page.count("<title>Accepted: 1, Waiting for a check: 1, Returned: 1, Draft: 1, Not started: 1</title>") == 3


def test_who_waits_for_whom(workshop: Workshop) -> None:
    first, second = busy(workshop)
    names = {user.pk: user.pseudonyms.get().pseudonym for user in (first, second, workshop.checker)}

    def waits() -> set[tuple[str, str, str, str]]:
        rows = table(signed_in(workshop.admin), f"/b/{workshop.benchmark.slug}/progress/waiting.csv")
        return {(row["kind"], row["who"], row["waits_for"], row["pieces"]) for row in rows}

    assert waits() == {
        ("any_checker", names[second.pk], "any of 2 checkers", "1"),
        ("returned", names[workshop.checker.pk], names[first.pk], "1"),
    }
    # A stopped annotator's open work, and work that no checker is left for, will not go on by themselves.
    Membership.objects.filter(user__in=[second, *workshop.people("checker")]).update(active=False)
    assert waits() == {
        ("nobody", names[second.pk], "a checker (the group has none)", "1"),
        ("nobody", "The batch", f"{names[second.pk]} (stopped)", "2"),
        ("returned", names[workshop.checker.pk], names[first.pk], "1"),
    }
    page = signed_in(workshop.admin).get(f"/b/{workshop.benchmark.slug}/progress/").content.decode()
    assert "Add a checker" in page
    assert f"/groups/{workshop.group.public_id}/" in page


def test_what_a_checker_holds_waits_for_that_checker_until_they_are_stopped(workshop: Workshop) -> None:
    first, second = busy(workshop)
    first_checker, two = workshop.people("checker")
    names = {user.pk: user.pseudonyms.get().pseudonym for user in (first, second, first_checker, two)}
    submit(assignment=Assignment.objects.get(status="returned"), annotator=first, at=timezone.now())
    waiting = Assignment.objects.filter(annotator=second, status="submitted")
    assert claim_check(checker=two, waiting=waiting, at=timezone.now())

    def waits() -> set[tuple[str, str, str, str]]:
        rows = table(signed_in(workshop.admin), f"/b/{workshop.benchmark.slug}/progress/waiting.csv")
        return {(row["kind"], row["who"], row["waits_for"], row["pieces"]) for row in rows}

    # Sent back, it comes in again to who sent it back.
    again = ("checker", names[first.pk], names[first_checker.pk], "1")
    assert waits() == {again, ("checker", names[second.pk], names[two.pk], "1")}
    parts = Membership.objects.filter(role="checker")
    parts.filter(user=two).update(active=False)
    assert waits() == {again, ("nobody", names[second.pk], f"{names[two.pk]} (stopped)", "1")}
    # What the stopped one has not taken yet, the other may take.
    parts.filter(user=two).update(active=True)
    parts.filter(user=first_checker).update(active=False)
    assert waits() == {
        ("any_checker", names[first.pk], names[two.pk], "1"),
        ("checker", names[second.pk], names[two.pk], "1"),
    }


def test_ends_that_wait_for_the_admin(db: None) -> None:
    workshop = build_workshop(responses=2)
    for user in workshop.people():
        for row in workshop.queue(user):
            decide(row)
    other = ExpertGroupFactory(benchmark=workshop.benchmark, name="Group B", annotators=1)
    late = make_batch(other, title="Late")
    url = f"/b/{workshop.benchmark.slug}/progress/waiting.csv"
    client = signed_in(workshop.admin)
    assert [(row["kind"], row["who"]) for row in table(client, url)] == [("not_closed", "Pilot batch")]
    client.post(f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/close/")
    client.post(f"/b/{workshop.benchmark.slug}/batches/{late.public_id}/pause/")
    assert [(row["kind"], row["who"], row["place"]) for row in table(client, url)] == [
        ("paused", "Late", "Group B"),
        ("other_group", "Group A", "Late"),
    ]


def test_days_are_those_of_the_reader(workshop: Workshop) -> None:
    decide(workshop.queue()[0])
    yesterday = timezone.now().replace(hour=23, minute=30) - timedelta(days=1)  # UTC
    Assignment.objects.filter(pk=workshop.queue()[0].pk).update(submitted_at=yesterday)

    def last_two(zone: str) -> list[str]:
        User.objects.filter(pk=workshop.admin.pk).update(time_zone=zone)
        rows = table(signed_in(workshop.admin), f"/b/{workshop.benchmark.slug}/progress/days.csv")
        counts_by_day = {row["day"]: row["handed_in"] for row in rows}
        return [
            counts_by_day.get(day.isoformat(), "") for day in (yesterday.date(), yesterday.date() + timedelta(days=1))
        ]

    assert last_two("UTC") == ["1", "0"]
    assert last_two("Asia/Tokyo") == ["0", "1"]


def test_researchers_look_by_pseudonym_and_members_get_nothing(workshop: Workshop) -> None:
    from tests.factories import BenchmarkRoleFactory, UserFactory

    first, second = busy(workshop)
    researcher = UserFactory()
    BenchmarkRoleFactory(benchmark=workshop.benchmark, user=researcher, role="researcher")
    base = f"/b/{workshop.benchmark.slug}"
    paths = (
        f"{base}/progress/", f"{base}/batches/{workshop.batch.public_id}/",
        f"{base}/batches/{workshop.batch.public_id}/pieces.csv", f"{base}/progress/waiting.csv",
        f"{base}/conflicts.csv",
    )  # fmt: skip
    for path in paths:
        answer = signed_in(researcher).get(path)
        body = answer.getvalue().decode()
        assert answer.status_code == 200
        assert not any(person.name in body or person.email in body for person in (first, second, workshop.checker))
        for member_ in (workshop.annotator, workshop.checker, workshop.adjudicator):
            assert signed_in(member_).get(path).status_code == 404
    hand = f"{base}/batches/{workshop.batch.public_id}/handover/"
    assert signed_in(researcher).get(hand).status_code == 404
    assert signed_in(researcher).post(hand, {"to": "pool"}).status_code == 404


def test_an_empty_benchmark_says_what_comes_first(db: None) -> None:
    from tests.factories import BenchmarkFactory, UserFactory

    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    assert "No expert group yet" in signed_in(admin).get(f"/b/{benchmark.slug}/progress/").content.decode()
    ExpertGroupFactory(benchmark=benchmark)
    assert "No batches yet" in signed_in(admin).get(f"/b/{benchmark.slug}/progress/").content.decode()


def totals_of(workshop: Workshop) -> list[tuple[int | None, int | None]]:
    """Done and in all: of the admin's card on the home page, and of the step of the overview."""
    (card,) = navigation.home_cards(workshop.admin)
    step = next(step for step in steps(workshop.benchmark) if step.order == 60)
    return [(card.done, card.total), (step.finished, step.total)]


def test_what_a_closed_batch_left_undone_is_not_open_and_ends_the_step_of_the_overview(workshop: Workshop) -> None:
    first, second = busy(workshop)
    admin = signed_in(workshop.admin)
    base = f"/b/{workshop.benchmark.slug}"
    before = admin.get(f"{base}/progress/").content.decode()
    # One wording: 1 waits for a check and none is in check, so 1 is with checkers; 2 are submitted.
    assert "With checkers" in before
    assert "In check <b>0</b>" in before
    assert "Waiting for a check <b>1</b>" in before
    untouched = Assignment.objects.filter(annotator=second, status="not_started")
    slots.release(assignments=list(untouched[:1]), by=workshop.admin, at=timezone.now())
    # Home, the overview and the heading of the progress page count the same: what is in the pool as well.
    assert totals_of(workshop) == [(1, 6)] * 2
    assert "6 assignments" in before
    admin.post(f"{base}/batches/{workshop.batch.public_id}/close/")
    assert totals_of(workshop) == [(1, 1)] * 2
    page = admin.get(f"{base}/progress/").content.decode()
    assert re.search(r'id="all-work">\s*1 assignment\s*<', page)
    assert "Nor are 5 assignments that closed batches left undone, which the bar shows." in " ".join(page.split())
    words = "Accepted: 1, Not checked (batch closed): 1, Not submitted (batch closed): 4"
    assert page.count(f"<title>{words}</title>") == 2
    rows = {row["physician"]: row for row in table(admin, f"{base}/progress/physicians.csv")}
    mine = rows[first.pseudonyms.get().pseudonym]
    assert [mine[name] for name in ("not_started", "draft", "returned", "not_done")] == ["0", "0", "0", "2"]
    step = next(step for step in steps(workshop.benchmark) if step.order == 60)
    assert (step.done, step.finished, step.total) == (True, 1, 1)


def test_imported_decisions_are_mentioned_only_where_a_batch_was_imported(workshop: Workshop) -> None:
    busy(workshop)
    admin = signed_in(workshop.admin)

    def sentences() -> tuple[str, str]:
        step = next(step for step in steps(workshop.benchmark) if step.order == 60)
        return admin.get("/").content.decode(), str(step.why)

    home, why = sentences()
    assert "Accepted, of all assignments, including those in the pool." in home
    assert "mported decisions" not in home and "imported" not in why
    elsewhere = make_batch(ExpertGroupFactory(benchmark=workshop.benchmark, annotators=1), by=workshop.admin)
    Batch.objects.filter(pk=elsewhere.pk).update(imported=True, status="closed", closed_at=timezone.now())
    home, why = sentences()
    assert "Imported decisions and what closed batches left undone are not counted." in home
    assert "and imported decisions" in why


def test_a_closed_batch_calls_its_assignments_in_the_list_as_in_the_stages(workshop: Workshop) -> None:
    busy(workshop)
    admin = signed_in(workshop.admin)
    base = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/"
    assert "Not submitted (batch closed)" not in admin.get(base).content.decode()
    admin.post(f"{base}close/")
    page = admin.get(base).content.decode()
    listed = page.split('id="pieces-form"')[1].split("</form>")[0]
    assert listed.count("Not submitted (batch closed)") == 4
    assert listed.count("Not checked (batch closed)") == 1
    assert "Not started" not in listed


def test_batches_are_filtered_and_say_what_is_overdue(workshop: Workshop) -> None:
    client = signed_in(workshop.admin)
    base = f"/b/{workshop.benchmark.slug}/batches/"
    Batch.objects.update(due_date=timezone.localdate() - timedelta(days=1))
    assert "overdue" in client.get(base).content.decode()
    assert "Pilot batch" in client.get(f"{base}?state=open").content.decode()
    nothing = client.get(f"{base}?state=closed").content.decode()
    assert "Pilot batch" not in nothing
    assert "No batches in this state" in nothing
    client.post(f"{base}{workshop.batch.public_id}/close/")
    closed = client.get(f"{base}?state=closed").content.decode()
    assert "Pilot batch" in closed
    assert "overdue" not in closed


def test_the_list_of_pieces_shows_who_holds_what(workshop: Workshop) -> None:
    _first, second = busy(workshop)
    client = signed_in(workshop.admin)
    base = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/"
    pseudonym = second.pseudonyms.get().pseudonym
    rows = table(client, f"{base}pieces.csv?physician={pseudonym}")
    assert sorted(row["status"] for row in rows) == ["draft", "not_started", "submitted"]
    assert {row["status"] for row in table(client, f"{base}pieces.csv?status=open")} == {
        "not_started", "draft", "returned",
    }  # fmt: skip
    page = client.get(f"{base}?status=open").content.decode()
    assert page.count('name="piece"') == 4  # of first: returned and untouched; of second: a draft and untouched
    assert client.get(base).content.decode().count('name="piece"') == 4  # what was handed in cannot be chosen
    assert "No matching assignments" in client.get(f"{base}?case=unknown").content.decode()


def test_the_pages_cost_the_same_at_two_and_at_forty_physicians(db: None) -> None:
    counts = []
    for annotators in (2, 40):
        workshop = build_workshop(responses=2)
        others = max(annotators - 2, 2)
        group = ExpertGroupFactory(benchmark=workshop.benchmark, annotators=others, checkers=1, adjudicators=1)
        for _ in range(annotators - 2):
            member(workshop.group)
        for number in range(2):
            terms = {"annotators_per_item": others // 2, "check_policy": "all", "skip_given": False}
            batch = make_batch(group, title=f"More {number}", **terms)
            for row in Assignment.objects.filter(batch=batch):
                decide(row)
        decide(workshop.queue()[0])
        client = signed_in(workshop.admin)
        base = f"/b/{workshop.benchmark.slug}"
        here = []
        for path in ("progress/", "batches/", f"batches/{workshop.batch.public_id}/",
                     f"batches/{workshop.batch.public_id}/?physician={workshop.annotator.pseudonyms.get().pseudonym}",
                     f"batches/{workshop.batch.public_id}/pieces.csv", "conflicts/"):  # fmt: skip
            with CaptureQueriesContext(connection) as queries:
                client.get(f"{base}/{path}").getvalue()
            here.append(len(queries))
        counts.append(here)
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 30


# Handing over -------------------------------------------------------------------------------------------------------


def test_the_question_before_handing_over_says_the_consequence_in_numbers(workshop: Workshop) -> None:
    first, second = busy(workshop)
    client = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/handover/"
    page = client.get(url, {"physician": second.pseudonyms.get().pseudonym}).content.decode()
    assert "Hand over 2 assignments" in page
    assert "1 untouched response is handed over unchanged." in page
    assert "1 draft will be released" in page
    assert f"{first.name} — 2 open" in " ".join(page.split())  # one sent back and one untouched
    fragment = client.get(url, {"piece": "unknown"}, headers={"HX-Request": "true"}).content.decode()
    assert "Nothing to hand over" in fragment
    assert "<html" not in fragment


def test_work_is_handed_to_another_or_to_the_pool_and_what_was_decided_stays(workshop: Workshop) -> None:
    first, second = busy(workshop)
    client = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/handover/"
    draft = Assignment.objects.get(annotator=second, status="draft")
    decision_count = draft.decisions.count()
    assert decision_count > 0
    pieces = [draft.public_id, *Assignment.objects.filter(annotator=first).values_list("public_id", flat=True)]
    # Chosen: a draft, and of first what is accepted, sent back, untouched. What was handed in never moves.
    client.post(url, {"piece": pieces, "to": first.pseudonyms.get().pseudonym})
    held = Assignment.objects.filter(response=draft.response, batch=workshop.batch).exclude(status="released")
    assert held.get().annotator == first
    draft.refresh_from_db()
    assert draft.status == "released"
    assert draft.decisions.count() == decision_count
    answer = client.post(url, {"physician": first.pseudonyms.get().pseudonym, "to": "pool"}, follow=True)
    assert "3 assignments are back in the pool." in answer.content.decode()
    assert {row.status for row in workshop.queue(first)} == {"accepted", "released"}
    page = client.get(
        f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/?status=unassigned"
    ).content.decode()
    assert page.count("<tr>") == 1 + 1 + 2 + 3  # heads of both tables, two physicians, three pieces
    page = client.get(f"/b/{workshop.benchmark.slug}/progress/").content.decode()
    assert "<title>Accepted: 1, Waiting for a check: 1, Not started: 1, In the pool: 3</title>" in page
    # Having released it before keeps nobody from taking it; without annotators nobody may.
    waits = table(client, f"/b/{workshop.benchmark.slug}/progress/waiting.csv")
    assert ("pool", "any of 2 annotators", "3") in {(row["kind"], row["waits_for"], row["pieces"]) for row in waits}
    Membership.objects.filter(role="annotator").update(active=False)
    assert (
        "no one can claim it"
        in client.get(
            f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/?status=unassigned"
        ).content.decode()
    )
    again = client.post(url, {"physician": first.pseudonyms.get().pseudonym, "to": "pool"}, follow=True)
    assert "Nothing was moved" in again.content.decode()


def test_work_of_somebody_who_was_stopped_goes_from_the_pool_to_a_named_colleague(workshop: Workshop) -> None:
    first, second = workshop.people()
    client = signed_in(workshop.admin)
    base = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/"
    url = f"{base}handover/"
    name = second.pseudonyms.get().pseudonym
    client.post(url, {"physician": first.pseudonyms.get().pseudonym, "to": "pool"})
    Membership.objects.filter(user=first).update(active=False)
    free = re.findall(r'name="piece"\s+value="([^"]+)"', client.get(f"{base}?status=unassigned").content.decode())
    assert len(free) == 3
    held = Assignment.objects.filter(annotator=second).exclude(status="released")[0]
    question = client.get(url, {"piece": [*free, held.public_id]}).content.decode()
    assert "Hand over 4 assignments" in question
    assert "3 responses come from the pool: no one has claimed them." in question
    assert "Release to the pool" in question
    question = client.get(url, {"piece": [*free, "unknown.1", "x.²"]}).content.decode()
    assert "They are in the pool: no one has claimed them." in question
    assert f'<option value="{name}">' in question
    assert f'<option value="{first.pseudonyms.get().pseudonym}">' not in question
    assert "Release to the pool" not in question
    assert question.count('name="piece"') == 3
    # Responses to an excluded case are nobody's work: they have no box, and stay in the pool.
    slot = Slot.objects.get(item__response__public_id=free[0].partition(".")[0], number=free[0].partition(".")[2])
    cases = Case.objects.filter(responses=slot.item.response_id)
    cases.update(excluded_at=timezone.now(), exclusion_reason="Unclear.")
    codes = [code for code in free if code.partition(".")[0] not in {r.public_id for r in cases.get().responses.all()}]
    listed = client.get(f"{base}?status=unassigned").content.decode()
    assert set(re.findall(r'name="piece"\s+value="([^"]+)"', listed)) == set(codes) < set(free)
    assert client.get(url, {"piece": free}).content.decode().count('name="piece"') == len(codes)
    with pytest.raises(Conflict, match="was not moved"):
        slots.assign(free=[slot], batch=workshop.batch, to=second, at=timezone.now())
    cases.update(excluded_at=None, exclusion_reason="")
    # With room for two, two move; a second sending finds that one is left, and nobody has room for it.
    Membership.objects.filter(user=second, role="annotator").update(capacity=5)
    page = client.post(url, {"piece": free, "to": name}, follow=True).content.decode()
    assert "2 more assignments." in page
    assert "1 assignment was not moved." in page
    assert "has 3 open responses and a capacity of 5" not in page
    assert Assignment.objects.filter(annotator=second, status="not_started").count() == 5
    page = client.post(url, {"piece": free, "to": name}, follow=True).content.decode()
    assert "Choose who takes over the work" in page
    assert Assignment.objects.filter(annotator=second, status="not_started").count() == 5


def test_what_stays_behind_is_explained_and_a_dead_end_has_a_way_out(workshop: Workshop) -> None:
    first, second = workshop.people()
    pieces = workshop.queue(first)
    Skip.objects.create(assignment=pieces[0], reason="later", created_at=timezone.now())
    released = workshop.queue(second)[0]
    # `second` has skipped the response of `released` for good, and `first` takes it over.
    Skip.objects.create(assignment=released, reason="expertise", created_at=timezone.now())
    client = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/handover/"
    names = {user.pk: user.pseudonyms.get().pseudonym for user in (first, second)}
    client.post(url, {"piece": [released.public_id], "to": names[first.pk]})
    page = client.post(url, {"physician": names[first.pk], "to": names[second.pk]}, follow=True).content.decode()
    assert "1 assignment was not moved." in page
    assert "already has a role in 1 of these responses, or skipped it." in page
    # Now nobody else can have it.
    left = client.get(url, {"physician": names[first.pk]}).content.decode()
    assert "Add a member to the group first." in left
    assert f'href="/b/{workshop.benchmark.slug}/groups/{workshop.group.public_id}/"' in left
    assert "Cancel" in left


def test_only_who_may_take_the_work_is_offered_it(workshop: Workshop) -> None:
    first, second = workshop.people()
    client = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/handover/"
    names = {user.pk: user.pseudonyms.get().pseudonym for user in (first, second)}

    def offered(chosen: User) -> list[str]:
        page = client.get(url, {"physician": names[chosen.pk]}).content.decode()
        return [name for name in names.values() if f'<option value="{name}">' in page]

    assert offered(first) == [names[second.pk]]
    Membership.objects.filter(user=second).update(capacity=4)  # has three open: room for one
    page = client.get(url, {"physician": names[first.pk]}).content.decode()
    assert "can receive 1 of 3" in page
    client.post(url, {"physician": names[first.pk], "to": names[second.pk]})
    assert Assignment.objects.filter(annotator=second, status="not_started").count() == 4
    assert offered(first) == []
    Membership.objects.filter(user=second).update(capacity=None, withheld_at=timezone.now())
    assert offered(first) == []
    assert (
        "No one else in the group can receive these" in client.get(url, {"physician": names[first.pk]}).content.decode()
    )
    # Posted all the same, it is refused with a reason, and nothing moves.
    answer = client.post(url, {"physician": names[first.pk], "to": names[second.pk]}, follow=True)
    assert "Choose who takes over the work" in answer.content.decode()
    assert Assignment.objects.filter(annotator=first, status="not_started").count() == 2
