"""Work that is taken from a pool, given back, handed on, put off, and taken back when its lease has run out."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import PhysicianProfile, User
from annotation import access, services
from annotation.dashboard.counts import count_work
from annotation.models import Adjudication, Assignment, Batch, BatchItem, Decision, Membership, Slot
from annotation.selectors.ratings import group_ratings
from annotation.services import slots
from consilium.core.errors import Conflict, DomainError
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import (
    BenchmarkFactory,
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
NOW = datetime(2026, 3, 2, 9, tzinfo=timezone.get_default_timezone())
HOUR = timedelta(hours=1)


def take(user: User, batch: Batch, at: datetime = NOW) -> Assignment | None:
    return slots.claim_next(annotator=user, batch=batch, at=at)


def taken(user: User, batch: Batch, at: datetime = NOW) -> Assignment:
    row = take(user, batch, at)
    assert row is not None
    return row


def save(row: Assignment, at: datetime) -> None:
    change = services.DecisionInput(services.criteria_of(row)[0], "met")
    services.save_decision(assignment=row, annotator=row.annotator, change=change, at=at)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def specialist(group: object, specialty: str) -> User:
    user = member(group)  # type: ignore[arg-type]
    PhysicianProfile.objects.create(user=user, specialty=specialty)
    return user


# The pool -------------------------------------------------------------------------------------------------------------


def test_a_pool_through_the_pages_from_the_first_response_to_the_last() -> None:
    workshop = build_workshop(strategy="pool", responses=2)
    client = signed_in(workshop.annotator)
    endpoint = f"/work/take/{workshop.batch.public_id}/"
    assert not Assignment.objects.exists()
    first = client.post(endpoint)
    row = Assignment.objects.get()
    assert first["Location"] == f"/work/{row.public_id}/"
    assert client.post(endpoint)["Location"] == first["Location"]  # what is open comes before anything new
    decide(row, submit=False)
    second = client.post(f"/work/{row.public_id}/submit/")
    other = Assignment.objects.exclude(pk=row.pk).get()
    assert second["Location"] == f"/work/{other.public_id}/"
    assert (other.position, other.slot.number if other.slot else None) == (2, 1)
    decide(other, submit=False)
    assert client.post(f"/work/{other.public_id}/submit/")["Location"] == "/work/"
    assert "There is no work for you" in client.post(endpoint, follow=True).text
    assert take(workshop.people()[1], workshop.batch) is None
    assert count_work([workshop.batch], at=NOW).total().accepted == 2


def test_cases_stay_together_and_the_drawn_share_is_checked_whoever_takes_what() -> None:
    benchmark = BenchmarkFactory()
    candidates = [CandidateFactory(benchmark=benchmark) for _ in range(3)]
    for _ in range(4):
        case = CaseFactory(benchmark=benchmark, rubric=1)
        for candidate in candidates:
            ResponseFactory(case=case, candidate=candidate)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=2, checkers=1)
    batch = make_batch(group, strategy="pool", annotators_per_item=2, check_policy="sample", check_fraction=0.25)
    for user in group.people["annotator"]:
        order = []
        while (row := take(user, batch)) is not None:
            order.append(row.case_id)
            decide(row)
        assert len(order) == 12
        assert sum(a != b for a, b in pairwise(order)) == 3  # each case in one go
    assert Assignment.objects.filter(to_check=True).count() == 6  # a quarter of 24, exactly
    assert len(set(Assignment.objects.values_list("slot", flat=True))) == 24


def test_nobody_takes_their_own_response_nor_one_they_have_a_part_in() -> None:
    workshop = build_workshop(responses=1, check_policy="all")
    decide(workshop.queue()[0] if workshop.queue() else workshop.queue(workshop.people()[1])[0])
    checker = workshop.checker
    assert services.claim_check(checker=checker, waiting=access.waiting_checks(checker), at=NOW) is not None
    author = member(workshop.group)
    member(workshop.group, "annotator", checker)
    ResponseFactory(case=workshop.cases[0], author=author)
    batch = make_batch(workshop.group, strategy="pool", skip_given=False, annotators_per_item=1)
    assert slots.available(annotator=checker, batch=batch) == 1  # not the one they check
    assert slots.available(annotator=author, batch=batch) == 1  # not their own
    assert take(workshop.admin, batch) is None
    grader = Assignment.objects.get(batch=workshop.batch).annotator
    assert slots.available(annotator=grader, batch=batch) == 1  # not what they graded before


def test_a_batch_that_nobody_can_grade_says_why() -> None:
    """One of two annotators released the response; the other was free to grade it, until they claim it."""
    workshop = build_workshop(responses=1)
    row = Assignment.objects.get()
    slots.release(assignments=[row], by=workshop.admin, at=NOW)
    (other,) = [person for person in workshop.people() if person != row.annotator]
    with pytest.raises(DomainError, match="1 of 1 responses have too few") as refused:
        make_batch(workshop.group, annotators_per_item=2, skip_given=False)
    assert f"case “{workshop.cases[0].key}”: 1 annotator released it. Add annotators" in str(refused.value)
    taken(other, workshop.batch)
    with pytest.raises(DomainError) as refused:
        make_batch(workshop.group, annotators_per_item=1, skip_given=False)
    assert "1 annotator already grades it. 1 annotator released it. Add annotators" in str(refused.value)


def test_capacity_bounds_what_is_open_at_a_time() -> None:
    workshop = build_workshop(strategy="pool", responses=3)
    user = workshop.annotator
    services.set_capacity(membership=Membership.objects.get(user=user), capacity=1)
    first = taken(user, workshop.batch)
    slots.skip(assignment=first, annotator=user, reason="later", at=NOW)
    assert slots.available(annotator=user, batch=workshop.batch) == 0
    assert taken(user, workshop.batch).pk == first.pk  # no room for another, so the one put off comes again
    services.set_capacity(membership=Membership.objects.get(user=user), capacity=None)
    assert taken(user, workshop.batch).pk != first.pk


def test_a_required_specialty_is_kept_a_preferred_one_comes_first_and_what_nobody_may_take_is_reported() -> None:
    benchmark = BenchmarkFactory(maps={"specialty": {"cardiology": "Internal medicine"}})
    for tag in ("specialty:surgery", "specialty:Cardiology", "theme:hedging"):
        ResponseFactory(case=CaseFactory(benchmark=benchmark, tags=[tag], rubric=1))
    group = ExpertGroupFactory(benchmark=benchmark)
    surgeon, internist = specialist(group, "Surgery"), specialist(group, "internal medicine")
    required = make_batch(group, strategy="pool", specialty_match="required")
    assert slots.available(annotator=surgeon, batch=required) == 2
    cases = set()
    while (row := take(internist, required)) is not None:
        cases.add(tuple(row.case.tags))
        decide(row)
    assert cases == {("specialty:Cardiology",), ("theme:hedging",)}
    assert slots.stuck_slots(required) == []
    slots.skip(assignment=taken(surgeon, required), annotator=surgeon, reason="unreadable", at=NOW)
    (stuck,) = slots.stuck_slots(required)
    assert stuck.response.case.tags == ["specialty:surgery"]
    assert stuck.reasons == ("1 annotator skipped it.", "1 annotator has another specialty.")
    preferred = make_batch(group, strategy="pool", specialty_match="preferred", skip_given=False)
    assert taken(surgeon, preferred).case.tags in (["specialty:surgery"], ["theme:hedging"])
    untouched = ExpertGroupFactory(benchmark=benchmark)
    specialist(untouched, "cardiology")
    with pytest.raises(DomainError, match="1 of 3 responses have too few physicians of a matching specialty"):
        make_batch(untouched, specialty_match="required")


def test_a_second_press_in_another_tab_is_refused_in_words() -> None:
    workshop = build_workshop()
    for change, words in (
        (services.pause_batch, "already paused"),
        (services.open_batch, "already open"),
        (partial(services.close_batch, at=NOW), "already closed"),
    ):
        change(batch=workshop.batch)
        with pytest.raises(Conflict, match=words):
            change(batch=Batch.objects.get())


def test_only_the_qualified_take_work() -> None:
    workshop = build_workshop(strategy="pool")
    Membership.objects.filter(user=workshop.annotator).update(withheld_at=NOW, withheld_reason="below the mark")
    assert take(workshop.annotator, workshop.batch) is None
    assert slots.available(annotator=workshop.annotator, batch=workshop.batch) == 0
    assert take(workshop.people()[1], workshop.batch) is not None


def test_a_paused_or_closed_batch_gives_nothing() -> None:
    workshop = build_workshop(strategy="pool")
    services.pause_batch(batch=workshop.batch)
    with pytest.raises(Conflict, match="paused"):
        take(workshop.annotator, workshop.batch)
    answer = signed_in(workshop.annotator).post(f"/work/take/{workshop.batch.public_id}/", follow=True)
    assert "This batch is paused" in answer.text
    services.close_batch(batch=workshop.batch, at=NOW)
    with pytest.raises(Conflict, match="closed"):
        take(workshop.annotator, workshop.batch)
    assert slots.available(annotator=workshop.annotator, batch=workshop.batch) == 0


# Leases ---------------------------------------------------------------------------------------------------------------


def test_untouched_work_goes_back_when_its_lease_has_run_out_and_every_save_begins_it_anew() -> None:
    workshop = build_workshop(strategy="pool", responses=2, lease_hours=4)
    first, second = (taken(user, workshop.batch) for user in workshop.people())
    assert first.lease_until == NOW + 4 * HOUR
    save(second, NOW + 2 * HOUR)
    assert slots.release_expired(at=NOW + 4 * HOUR) == 1
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("released", "draft")
    assert second.lease_until == NOW + 6 * HOUR  # from the save on
    assert slots.release_expired(at=NOW + 4 * HOUR) == 0
    with pytest.raises(Conflict, match="released"):
        save(first, NOW + 5 * HOUR)
    assert slots.release_expired(at=NOW + 6 * HOUR) == 1
    assert count_work([workshop.batch], at=NOW).total().by_stage["unassigned"] == 2


def test_a_draft_that_went_back_goes_on_as_it_was_when_its_annotator_takes_it_again() -> None:
    workshop = build_workshop(strategy="pool", responses=1, lease_hours=1)
    row = taken(workshop.annotator, workshop.batch)
    save(row, NOW)
    slots.release_expired(at=NOW + HOUR)
    again = taken(workshop.annotator, workshop.batch, NOW + 2 * HOUR)
    assert (again.pk, again.status, again.position) == (row.pk, "draft", 2)
    assert Decision.objects.get(assignment=again).outcome == "met"
    slots.release_expired(at=NOW + 3 * HOUR)
    other = taken(workshop.people()[1], workshop.batch, NOW + 4 * HOUR)
    assert other.pk != row.pk
    assert other.slot_id == row.slot_id
    assert not Decision.objects.filter(assignment=other).exists()
    assert take(workshop.annotator, workshop.batch, NOW + 4 * HOUR) is None


def test_a_pause_costs_nobody_their_lease() -> None:
    workshop = build_workshop(strategy="pool", responses=1, lease_hours=1)
    row = taken(workshop.annotator, workshop.batch)
    services.pause_batch(batch=workshop.batch)
    assert slots.release_expired(at=NOW + 9 * HOUR) == 0
    services.open_batch(batch=workshop.batch, at=NOW + 9 * HOUR)
    assert slots.release_expired(at=NOW + 9.5 * HOUR) == 0
    row.refresh_from_db()
    assert row.lease_until == NOW + 10 * HOUR


# Leaving --------------------------------------------------------------------------------------------------------------


def test_what_a_physician_has_open_goes_back_when_they_leave_and_what_they_handed_in_is_kept() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=2, check_policy="all")
    leaver, other = workshop.people()
    done, open_one = workshop.queue(leaver)
    decide(done)
    page = signed_in(workshop.admin).get(f"/b/{workshop.benchmark.slug}/groups/{workshop.group.public_id}/").text
    assert "1 open response returns to the pool; its draft is kept." in page
    row = Membership.objects.get(user=leaver)
    url = f"/b/{workshop.benchmark.slug}/groups/{workshop.group.public_id}/members/{row.pk}/"
    answer = signed_in(workshop.admin).post(url, {"active": "0"}, follow=True)
    assert "1 open response is back in the pool." in answer.text
    open_one.refresh_from_db()
    done.refresh_from_db()
    assert (open_one.status, done.status) == ("released", "submitted")
    # Returned to somebody who has left: back to the pool as well.
    checker = workshop.checker
    held = services.claim_check(checker=checker, waiting=Assignment.objects.filter(pk=done.pk), at=NOW)
    assert held is not None
    services.return_check(assignment=held, checker=checker, note="Look again.", at=NOW)
    done.refresh_from_db()
    assert (done.status, done.round) == ("released", 2)
    # Nobody else may take them (the other annotator grades both) until somebody joins.
    assert len(slots.stuck_slots(workshop.batch)) == 2
    newcomer = member(workshop.group)
    assert slots.stuck_slots(workshop.batch) == []
    assert {taken(newcomer, workshop.batch).response_id} <= {done.response_id, open_one.response_id}
    assert take(other, workshop.batch) is not None  # their own


def test_released_work_counts_nowhere_and_a_conflict_waits_for_the_free_slot() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=1, check_policy="all")
    assignment, two = (workshop.queue(user)[0] for user in workshop.people())
    decide(assignment, "met")
    decide(two, "not_met")
    third = member(workshop.group)
    for row in (assignment, two):
        services.claim_check(checker=workshop.checker, waiting=Assignment.objects.filter(pk=row.pk), at=NOW)
    services.return_check(assignment=two, checker=workshop.checker, note="Why?", at=NOW)
    two.refresh_from_db()
    slots.release(assignments=[two], by=workshop.admin, at=NOW)
    services.accept_check(assignment=assignment, checker=workshop.checker, at=NOW)
    assert not Adjudication.objects.exists()
    first = group_ratings(workshop.group, "first")
    assert len(first) == 3
    assert set(first.outcome.tolist()) == {1}  # what the released one said (0) is no vote
    fresh = taken(third, workshop.batch)
    decide(fresh, "not_met")
    services.claim_check(checker=workshop.checker, waiting=Assignment.objects.filter(pk=fresh.pk), at=NOW)
    services.accept_check(assignment=fresh, checker=workshop.checker, at=NOW)
    assert len(Adjudication.objects.get().criteria) == 3


def test_closing_settles_what_waited_for_a_free_slot() -> None:
    workshop = build_workshop(responses=1, strategy="pool", annotators_per_item=2)
    third = member(workshop.group)
    batch = make_batch(workshop.group, strategy="pool", annotators_per_item=3, skip_given=False)
    for user, outcome in zip(workshop.people(), ("met", "not_met"), strict=True):
        decide(taken(user, batch), outcome)
    assert slots.available(annotator=third, batch=batch) == 1
    services.close_batch(batch=workshop.batch, at=NOW)
    assert not Adjudication.objects.exists()
    services.close_batch(batch=batch, at=NOW)
    assert Adjudication.objects.count() == 1


def test_checkers_and_adjudicators_who_leave_hold_nothing_up() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=1, check_policy="all")
    first, second = workshop.people("checker")
    for user, outcome in zip(workshop.people(), ("met", "not_met"), strict=True):
        decide(workshop.queue(user)[0], outcome)
    held = services.claim_check(checker=first, waiting=access.waiting_checks(first), at=NOW)
    assert held is not None
    services.set_member_active(membership=Membership.objects.get(user=first), active=False, at=NOW)
    for _ in range(2):
        row = services.claim_check(checker=second, waiting=access.waiting_checks(second), at=NOW)
        assert row is not None
        services.accept_check(assignment=row, checker=second, at=NOW)
    services.claim_adjudication(
        adjudicator=workshop.adjudicator, waiting=access.open_adjudications(workshop.adjudicator)
    )
    services.set_member_active(membership=Membership.objects.get(user=workshop.adjudicator), active=False, at=NOW)
    fresh = member(workshop.group, "adjudicator")
    assert access.open_adjudications(fresh).count() == 1


# Giving back and handing on -------------------------------------------------------------------------------------------


def test_reassigning_keeps_the_slot_and_is_refused_in_words() -> None:
    workshop = build_workshop(annotators_per_item=1, responses=3)
    giver, taker = workshop.people()
    rows = workshop.queue(giver) or workshop.queue(taker)
    giver = rows[0].annotator
    taker = next(user for user in workshop.people() if user != giver)
    moved = rows[0]
    assert slots.reassign(assignments=[moved], to=taker, by=workshop.admin, at=NOW) == 1
    moved.refresh_from_db()
    mine = Assignment.objects.get(slot=moved.slot_id, status="not_started")
    assert (moved.status, mine.annotator_id, mine.to_check) == ("released", taker.pk, moved.to_check)
    decide(mine)
    with pytest.raises(Conflict, match="already been submitted or reassigned"):
        slots.reassign(assignments=[mine], to=giver, by=workshop.admin, at=NOW)
    with pytest.raises(Conflict, match="already been submitted or released"):
        slots.release(assignments=[mine], by=workshop.admin, at=NOW)
    left = Assignment.objects.filter(status="not_started").first()
    assert left is not None
    other = next(user for user in workshop.people() if user != left.annotator)

    def refused(to: User, words: str) -> None:
        with pytest.raises(DomainError, match=words):
            slots.reassign(assignments=[left], to=to, by=workshop.admin, at=NOW)

    refused(workshop.checker, "is not an active annotator of the group")
    author = member(workshop.group)
    written = ResponseFactory(case=workshop.cases[0], author=author)
    batch = make_batch(workshop.group)
    own = Assignment.objects.get(batch=batch, response=written)
    with pytest.raises(DomainError, match="wrote 1 of these responses"):
        slots.reassign(assignments=[own], to=author, by=workshop.admin, at=NOW)
    slots.release(assignments=[own], by=workshop.admin, at=NOW)
    services.set_capacity(membership=Membership.objects.get(user=other), capacity=1)
    open_now = Assignment.objects.filter(annotator=other, status__in=Assignment.OPEN).count()
    if open_now:
        refused(other, f"has {open_now} open responses and a capacity of 1")
    services.set_capacity(membership=Membership.objects.get(user=other), capacity=None)
    Membership.objects.filter(user=other).update(withheld_at=NOW, withheld_reason="gold")
    refused(other, "are paused; see “Quality” for the reason")
    Membership.objects.filter(user=other).update(withheld_at=None)
    both = member(workshop.group, "annotator", workshop.people("checker")[1])
    Assignment.objects.filter(pk=left.pk).update(checker=both)
    refused(both, "already has a role in 1 of these responses")


def test_a_slot_from_the_pool_is_given_once_and_by_the_same_rules() -> None:
    workshop = build_workshop(annotators_per_item=1, responses=3)
    row = next(row for user in workshop.people() for row in workshop.queue(user))
    assert row.slot is not None
    free = [row.slot]

    def assign(to: User) -> int:
        return slots.assign(free=free, batch=workshop.batch, to=to, at=NOW)

    with pytest.raises(Conflict, match="already been claimed"):
        assign(workshop.people()[0])
    slots.release(assignments=[row], by=workshop.admin, at=NOW)
    with pytest.raises(DomainError, match="is not an active annotator of the group"):
        assign(workshop.checker)
    taker = next(user for user in workshop.people() if user != row.annotator)
    assert assign(taker) == 1
    held = Assignment.objects.get(slot=row.slot, status="not_started")
    assert (held.annotator, held.to_check) == (taker, row.to_check)
    with pytest.raises(Conflict, match="already been claimed"):
        assign(row.annotator)
    slots.release(assignments=[held], by=workshop.admin, at=NOW)
    services.close_batch(batch=workshop.batch, at=NOW)
    with pytest.raises(Conflict, match="its batch is closed"):
        assign(taker)


def test_two_slots_of_a_response_never_go_to_one_person() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=1)
    rows = [workshop.queue(user)[0] for user in workshop.people()]
    with pytest.raises(DomainError, match="already has a role in 1 of these"):
        slots.reassign(assignments=rows[:1], to=rows[1].annotator, by=workshop.admin, at=NOW)
    fresh = member(workshop.group)
    with pytest.raises(DomainError, match="already has a role in 1 of these"):
        slots.reassign(assignments=rows, to=fresh, by=workshop.admin, at=NOW)
    assert set(Assignment.objects.values_list("status", flat=True)) == {"not_started"}


def test_later_goes_to_the_end_and_other_reasons_are_for_good() -> None:
    workshop = build_workshop(responses=6)
    user = workshop.annotator
    queue = workshop.queue(user)
    first, second, *_ = queue
    slots.skip(assignment=first, annotator=user, reason="later", at=NOW)
    assert workshop.queue(user)[-1].pk == first.pk
    following = services.next_open(annotator=user, after=first, at=NOW)
    assert following is not None
    assert following.pk == second.pk
    with pytest.raises(DomainError, match="Explain in the note"):
        slots.skip(assignment=second, annotator=user, reason="other", note=" ", at=NOW)
    slots.skip(assignment=second, annotator=user, reason="expertise", at=NOW)
    second.refresh_from_db()
    assert second.status == "released"
    for row in workshop.queue(user):
        if row.status != "released":
            decide(row)
    assert take(user, workshop.batch) is None  # the one passed over is not offered again
    other = workshop.people()[1]
    for row in workshop.queue(other):
        decide(row)
    assert taken(other, workshop.batch).response_id == second.response_id
    with pytest.raises(Conflict, match="already been submitted or released"):
        slots.skip(assignment=second, annotator=user, reason="later", at=NOW)


def test_the_trail_says_who_gave_work_back(client: Client) -> None:
    workshop = build_workshop(strategy="pool", responses=1)
    row = taken(workshop.annotator, workshop.batch)
    body = {"reason": "expertise", "note": "", "user": "1"}
    endpoint = f"/api/v1/work/assignments/{row.public_id}/skip/"
    client = signed_in(workshop.annotator)
    assert client.post(endpoint, body, content_type="application/json").status_code == 400
    del body["user"]
    assert client.post(endpoint, body, content_type="application/json").status_code == 204
    event = Assignment.pgh_event_model.objects.order_by("pgh_id").last()  # type: ignore[attr-defined]
    assert (event.status, event.pgh_context["user"]) == ("released", workshop.annotator.pk)


def test_work_from_before_there_were_slots_gets_one_when_it_goes_back() -> None:
    workshop = build_workshop(responses=2)
    row = workshop.queue()[0]
    Assignment.objects.filter(pk=row.pk).update(slot=None)
    Slot.objects.filter(pk=row.slot_id).delete()
    slots.release(assignments=[row], by=workshop.admin, at=NOW)
    assert Slot.objects.get(item__response=row.response_id).number == 1  # of this response, whatever others have
    other = workshop.people()[1]
    decide(workshop.queue(other)[0])
    assert taken(other, workshop.batch).response_id == row.response_id


# Plans ----------------------------------------------------------------------------------------------------------------


def test_overlap_draws_two_strata_whose_probabilities_are_their_own() -> None:
    workshop = build_workshop(responses=20, draw=8)
    other = ExpertGroupFactory(benchmark=workshop.benchmark, annotators=2)
    first = workshop.batch
    batch = make_batch(other, overlap_with=first.public_id, overlap_share=0.75, draw=8, seed=3)
    held = set(BatchItem.objects.filter(batch=first).values_list("response", flat=True))
    chance = dict(BatchItem.objects.filter(batch=batch).values_list("response", "inclusion_probability"))
    assert len(chance) == 8
    assert sorted(chance[row] for row in chance if row in held) == [6 / 8] * 6
    assert sorted(chance[row] for row in chance if row not in held) == [2 / 12] * 2
    # Sum of 1/p over the sample is the size of the frame in every draw of a stratified sample: Horvitz-Thompson.
    assert sum(1 / p for p in chance.values()) == pytest.approx(20)
    assert batch.frame["overlap"] == {
        "batch": first.public_id, "title": "Pilot batch", "group": "Group A", "share": 0.75, "shared": 6,
        "of_shared": 8, "fresh": 2, "of_fresh": 12,
    }  # fmt: skip
    assert batch.frame["inclusion_probability"] is None
    page = signed_in(workshop.admin).get(f"/b/{workshop.benchmark.slug}/batches/{batch.public_id}/").text
    assert "6 of the 8 in “Pilot batch” of Group A, and 2 new ones of 12" in page
    # All of it: reached through the other batch alone, by both draws.
    whole = make_batch(other, overlap_with=first.public_id, skip_given=False)
    chance = dict(BatchItem.objects.filter(batch=whole).values_list("response", "inclusion_probability"))
    assert chance == dict.fromkeys(held, 8 / 20)
    third = ExpertGroupFactory(benchmark=workshop.benchmark, annotators=1)
    half = make_batch(third, overlap_with=first.public_id, draw=4)
    assert set(half.items.values_list("inclusion_probability", flat=True)) == {4 / 8 * 8 / 20}
    for wrong, words in (
        ({"overlap_with": batch.public_id}, "Choose a batch of the other group"),
        (
            {"overlap_with": first.public_id, "draw": 9, "skip_given": False},
            "9 responses of that batch are required, but 8 of",
        ),
        (
            {"overlap_with": first.public_id, "overlap_share": 0.1, "draw": 20, "skip_given": False},
            "18 new responses",
        ),
    ):
        with pytest.raises(DomainError, match=words):
            make_batch(other, **{"overlap_with": first.public_id, **wrong})


def test_capacity_bounds_the_plan_too_and_the_preview_says_what_is_missing() -> None:
    workshop = build_workshop(responses=6, draw=2)
    for row in Membership.objects.filter(group=workshop.group, role="annotator"):
        services.set_capacity(membership=row, capacity=2)
    client = signed_in(workshop.admin)
    data = {
        "title": "More", "group": workshop.group.public_id, "annotators_per_item": 1, "check_policy": "none",
        "check_percent": 25, "order": "by_case", "seed": 11, "skip_given": "on", "strategy": "planned",
        "specialty_match": "none",
    }  # fmt: skip
    url = f"/b/{workshop.benchmark.slug}/batches/preview/"
    assert (
        "The physicians’ capacities leave room for 2 more responses, but 4 are required." in client.get(url, data).text
    )
    pool = client.get(url, {**data, "strategy": "pool", "lease_hours": 48}).text
    assert "Who can claim from the pool" in pool
    assert "If left untouched for 48 hours, it is released for others." in pool
    people = pool.partition("Who can claim from the pool")[2]
    assert re.findall(r'<td class="num">\s*(\d+)\s*(?:</td>|<span class="sub">\s*(at most \d+))', people) == [
        ("4", ""), ("1", "at most 2"), ("4", ""), ("1", "at most 2"),  # may take, open
    ]  # fmt: skip
    response = client.post(url.replace("preview", "new"), {**data, "strategy": "pool", "lease_hours": 48})
    batch = Batch.objects.get(title="More")
    assert response["Location"].endswith(f"/batches/{batch.public_id}/")
    assert (batch.strategy, batch.lease_hours, Slot.objects.filter(item__batch=batch).count()) == ("pool", 48, 4)
    assert "Claimed one by one from a pool" in client.get(response["Location"]).text


def test_the_preview_draws_an_overlap_and_lists_no_batch_of_another_benchmark() -> None:
    workshop = build_workshop(responses=5, draw=4)
    foreign = build_workshop().batch
    other = ExpertGroupFactory(benchmark=workshop.benchmark, annotators=1)
    client = signed_in(workshop.admin)
    page = client.get(f"/b/{workshop.benchmark.slug}/batches/new/").text
    assert "Group A: Pilot batch" in page
    assert foreign.public_id not in page
    data = {
        "title": "More", "group": other.public_id, "annotators_per_item": 1, "check_policy": "none", "order": "by_case",
        "seed": 11, "strategy": "planned", "specialty_match": "none", "overlap_with": workshop.batch.public_id,
        "overlap_percent": "75",
    }  # fmt: skip
    shown = client.get(f"/b/{workshop.benchmark.slug}/batches/preview/", data).text
    assert "3 of the 4 in" in shown
    assert "1 new ones of 1" in shown


def test_an_admin_sets_capacities(workshop: Workshop) -> None:
    row = Membership.objects.get(user=workshop.annotator)
    client = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/groups/{workshop.group.public_id}/members/{row.pk}/capacity/"
    assert "at most 7 responses open at a time" in client.post(url, {"capacity": "7"}, follow=True).text
    row.refresh_from_db()
    assert row.capacity == 7
    wrong = client.post(url, {"capacity": "0"})
    assert (wrong.status_code, "whole number of at least 1" in wrong.text) == (422, True)
    assert "no limit" in client.post(url, {"capacity": ""}, follow=True).text
    checker = Membership.objects.get(user=workshop.checker)
    assert client.post(url.replace(f"/{row.pk}/", f"/{checker.pk}/"), {"capacity": "3"}).status_code == 422


def test_asking_what_is_left_costs_the_same_for_any_number_of_batches() -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    workshop = build_workshop(strategy="pool")
    for seed in (8, 9):
        make_batch(workshop.group, strategy="pool", skip_given=False, seed=seed)
        batches = list(Batch.objects.select_related("group__benchmark"))
        with CaptureQueriesContext(connection) as queries:
            counts_by_batch = slots.available_in(annotator=workshop.annotator, batches=batches)
        assert set(counts_by_batch.values()) == {3}
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert slots.available_in(annotator=UserFactory(), batches=batches) == {}
