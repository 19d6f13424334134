"""The whole workflow under random steps: no state that the design forbids, whoever tries what."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from accounts.models import User
from annotation import access, services
from annotation.dashboard.counts import ENDED, count_work
from annotation.models import (
    Adjudication,
    Amendment,
    Assignment,
    Batch,
    Check,
    Decision,
    ExpertGroup,
    Involvement,
    KeyedResponse,
    Membership,
    Slot,
)
from annotation.selectors.ratings import group_ratings
from annotation.services import slots
from annotation.services.conflicts import accepted_votes
from consilium.core.errors import DomainError
from rubrics.models import Response
from tests.annotation.conftest import build_workshop
from tests.chaos import FULL
from tests.factories import ResponseFactory, make_batch, member

pytestmark = pytest.mark.slow

RUNS, STEPS = (500, 50) if FULL else (15, 25)
OUTCOMES = ["met", "not_met", "cannot_assess"]
ANY = st.integers(0, 10**6)
LEASE = 4  # hours
# From → to; everything else is forbidden. Gold alone goes from submitted to accepted without a check.
EDGES = {
    "not_started": {"draft", "released"},
    "draft": {"submitted", "accepted", "released"},
    "submitted": {"in_check"},
    "in_check": {"submitted", "accepted", "returned"},
    "returned": {"submitted", "released"},
    "accepted": set(),
    "released": {"not_started", "draft", "returned"},
}
HANDED_IN = ("submitted", "in_check", "accepted")


@dataclass
class World:
    """A planned batch and a leased pool of one group; one of its annotators wrote a response, one checks as well."""

    group: ExpertGroup
    batches: list[Batch]
    people: list[User]
    memberships: list[Membership]
    begun: datetime


def build_world() -> World:
    workshop = build_workshop(
        criteria=2, responses=2, annotators_per_item=2, check_policy="sample", check_fraction=0.5, text="Rest.",
    )  # fmt: skip
    group = workshop.group
    both, author = member(group), member(group)
    member(group, "checker", both)
    member(group, "adjudicator", workshop.people("checker")[1])
    case = workshop.cases[0]
    for _ in range(2):
        ResponseFactory(case=case, text="Rest, too.")
    written = ResponseFactory(case=case, text="Drink.", author=author)
    gold = ResponseFactory(case=case, text="Known.")
    KeyedResponse.objects.create(
        benchmark=workshop.benchmark,
        response=gold,
        rubric_id=workshop.queue()[0].rubric_id,
        use="gold",
        created_at=timezone.now(),
    )
    pool = make_batch(
        group, strategy="pool", annotators_per_item=2, check_policy="sample", check_fraction=0.5, lease_hours=LEASE,
        gold_per_annotator=1, title="Pool",
    )  # fmt: skip
    assert written.pk in pool.items.values_list("response", flat=True)
    assert gold.pk not in pool.items.values_list("response", flat=True)
    people = [*workshop.people(), both, author, *workshop.people("checker"), *workshop.people("adjudicator")]
    memberships = list(Membership.objects.filter(group=group).select_related("user", "group").order_by("pk"))
    return World(group, [workshop.batch, pool], [*people, workshop.admin], memberships, timezone.now())


WORLD: list[World] = []  # built once for all runs; each run is rolled back


class Workflow(RuleBasedStateMachine):
    """Whatever anybody tries, allowed or not."""

    @initialize()
    def begin(self) -> None:
        self.savepoint = transaction.atomic()
        self.savepoint.__enter__()
        self.world = WORLD[0]
        self.now = self.world.begun
        self.frozen: dict[tuple[int, int, int], tuple[Any, ...]] = {}
        self.ended: dict[int, Any] = {}
        self.status: dict[int, str] = dict(Assignment.objects.values_list("pk", "status"))
        self.last_event = self.events().aggregate(last=Max("pgh_id"))["last"]

    def teardown(self) -> None:
        if hasattr(self, "savepoint"):
            transaction.set_rollback(True)
            self.savepoint.__exit__(None, None, None)

    @staticmethod
    def events() -> Any:
        return Assignment.pgh_event_model.objects.all()  # type: ignore[attr-defined]  # made by pghistory

    def attempt(self, act: Callable[[], object]) -> object:
        """Refusals are part of the game; anything else is a fault."""
        self.now += timedelta(seconds=1)
        try:
            with transaction.atomic():
                return act()
        except DomainError as refused:
            return refused

    def someone(self, number: int) -> User:
        return self.world.people[number % len(self.world.people)]

    def row(self, number: int, *statuses: str) -> Assignment:
        """Any piece of work; one of ``statuses`` where there is one, so that deep states are reached."""
        rows = Assignment.objects.select_related("annotator", "batch__group", "checker").order_by("pk")
        every = list(rows)
        fitting = [row for row in every if row.status in statuses] or every
        return fitting[number % len(fitting)]

    # Annotators ---------------------------------------------------------------------------------------------------

    @rule(
        which=ANY,
        criterion=st.integers(0, 1),
        outcome=st.sampled_from([*OUTCOMES, None]),
        behind=st.sampled_from([0, 0, 0, 1, -1]),
        borderline=st.booleans(),
    )
    def save(self, which: int, criterion: int, outcome: str | None, behind: int, borderline: bool) -> None:
        row = self.row(which, "not_started", "draft", "returned")
        target = services.criteria_of(row)[criterion]
        known = Decision.objects.filter(assignment=row, round=row.round, criterion=target)
        before = known.values_list("outcome", "borderline", "version").first()
        seen = (before[2] if before else 0) - behind
        change = services.DecisionInput(target, outcome, borderline=borderline, version=max(0, seen))
        result = self.attempt(
            lambda: services.save_decision(assignment=row, annotator=row.annotator, change=change, at=self.now)
        )
        after = known.values_list("outcome", "borderline", "version").first()
        if isinstance(result, Decision):
            assert after == (outcome, borderline, (before[2] if before else 0) + 1)
            assert row.batch.status == "open"
        else:
            assert after == before
        if behind and before and seen >= 0:
            assert isinstance(result, DomainError)

    @rule(which=ANY, outcome=st.sampled_from(OUTCOMES))
    def grade_and_submit(self, which: int, outcome: str) -> None:
        row = self.row(which, "not_started", "draft", "returned")

        def act() -> None:
            versions = dict(
                Decision.objects.filter(assignment=row, round=row.round).values_list("criterion_id", "version")
            )
            changes = [
                services.DecisionInput(c, outcome, version=versions.get(c, 0)) for c in services.criteria_of(row)
            ]
            services.save_decisions(assignment=row, annotator=row.annotator, changes=changes, at=self.now)
            services.submit(assignment=row, annotator=row.annotator, at=self.now)

        self.attempt(act)

    @rule(which=ANY)
    def submit(self, which: int) -> None:
        row = self.row(which)
        self.attempt(lambda: services.submit(assignment=row, annotator=row.annotator, at=self.now))

    @rule(who=ANY, pool=st.sampled_from([True, True, False]))
    def claim(self, who: int, pool: bool) -> None:
        user, batch = self.someone(who), self.world.batches[pool]
        batch.refresh_from_db(fields=["status"])
        mine = Assignment.objects.filter(annotator=user, batch__group=self.world.group)
        before = set(mine.exclude(status="released").values_list("pk", flat=True))
        left = slots.available(annotator=user, batch=batch, at=self.now)
        row = self.attempt(lambda: slots.claim_next(annotator=user, batch=batch, at=self.now))
        active = Membership.objects.filter(user=user, role="annotator", active=True).first()
        if isinstance(row, Assignment):
            assert active is not None
            assert batch.status == "open"
            assert row.annotator_id == user.pk
            assert row.status in Assignment.OPEN
            if row.pk not in before and active.capacity is not None:
                assert mine.filter(status__in=Assignment.OPEN).count() <= active.capacity
        elif batch.status == "open" and active is not None:
            assert row is None
            assert left == 0  # what could be taken is never called nothing

    @rule(which=ANY, reason=st.sampled_from(["later", "later", "expertise", "other"]))
    def skip(self, which: int, reason: str) -> None:
        row = self.row(which, "not_started", "draft", "returned")
        self.attempt(lambda: slots.skip(assignment=row, annotator=row.annotator, reason=reason, note="n", at=self.now))

    # Checkers and adjudicators ------------------------------------------------------------------------------------

    @rule(who=ANY, which=ANY, allowed=st.booleans())
    def claim_check(self, who: int, which: int, allowed: bool) -> None:
        user = self.someone(who)
        # Also past the access rules: the database must hold on its own.
        waiting = access.waiting_checks(user)
        if not allowed:
            waiting = Assignment.objects.filter(pk=self.row(which, "submitted").pk, purpose="work")
        self.attempt(lambda: services.claim_check(checker=user, waiting=waiting, at=self.now))

    @rule(who=ANY, which=ANY, criterion=st.integers(0, 1), outcome=st.sampled_from(OUTCOMES))
    def amend(self, who: int, which: int, criterion: int, outcome: str) -> None:
        row = self.row(which, "in_check")
        checker = row.checker if row.checker and who % 2 else self.someone(who)
        target = services.criteria_of(row)[criterion]
        self.attempt(
            lambda: services.amend(
                assignment=row, checker=checker, criterion=target, outcome=outcome, reason="because", at=self.now
            )
        )

    @rule(which=ANY, how=st.sampled_from(["accept", "accept", "return", "release"]))
    def finish_check(self, which: int, how: str) -> None:
        row = self.row(which, "in_check")
        checker = row.checker or self.someone(which)
        acts: dict[str, Callable[[], object]] = {
            "accept": lambda: services.accept_check(assignment=row, checker=checker, at=self.now),
            "return": lambda: services.return_check(assignment=row, checker=checker, note="again", at=self.now),
            "release": lambda: services.release_check(assignment=row, checker=checker, discard=True),
        }
        self.attempt(acts[how])

    @rule(who=ANY, allowed=st.booleans())
    def claim_conflict(self, who: int, allowed: bool) -> None:
        user = self.someone(who)
        waiting = access.open_adjudications(user) if allowed else Adjudication.objects.filter(group=self.world.group)
        self.attempt(lambda: services.claim_adjudication(adjudicator=user, waiting=waiting))

    @rule(who=ANY, criterion=st.integers(0, 1), outcome=st.sampled_from([*OUTCOMES, "faulty"]), finish=st.booleans())
    def adjudicate(self, who: int, criterion: int, outcome: str, finish: bool) -> None:
        for row in Adjudication.objects.filter(group=self.world.group).select_related("adjudicator"):
            user = row.adjudicator or self.someone(who)
            target = services.criteria_of(Assignment.objects.filter(response=row.response_id)[0])[criterion]
            self.attempt(
                lambda row=row, user=user, target=target: services.rule(
                    adjudication=row, adjudicator=user, criterion=target, outcome=outcome, reason="r", at=self.now
                )
            )
            if finish:
                self.attempt(
                    lambda row=row, user=user: services.finish_adjudication(
                        adjudication=row, adjudicator=user, at=self.now
                    )
                )

    # Staff --------------------------------------------------------------------------------------------------------

    @rule(which=st.integers(0, 1), how=st.sampled_from(["pause", *["open"] * 5, "close"]), sure=st.integers(0, 3))
    def switch(self, which: int, how: str, sure: int) -> None:
        batch = Batch.objects.select_related("group").get(pk=self.world.batches[which].pk)
        if how == "close" and not sure:
            self.attempt(lambda: services.close_batch(batch=batch, at=self.now))
        elif how == "pause":
            self.attempt(lambda: services.pause_batch(batch=batch))
        else:
            self.attempt(lambda: services.open_batch(batch=batch, at=self.now))

    @rule(which=ANY, more=ANY)
    def release(self, which: int, more: int) -> None:
        rows = [self.row(which, "not_started", "draft", "returned"), self.row(more)]
        self.attempt(lambda: slots.release(assignments=rows, by=self.world.people[-1], at=self.now))

    @rule(which=ANY, who=ANY)
    def reassign(self, which: int, who: int) -> None:
        row, to = self.row(which, "not_started", "draft", "returned"), self.someone(who)
        slot = row.slot_id
        result = self.attempt(lambda: slots.reassign(assignments=[row], to=to, by=self.world.people[-1], at=self.now))
        if result == 1:
            taken = Assignment.objects.exclude(status="released").get(slot=slot)
            assert taken.annotator_id == to.pk

    def membership(self, number: int) -> Membership:
        """Any, annotators twice as often: the most depends on them."""
        every = self.world.memberships
        rows = [*every, *(row for row in every if row.role == "annotator")]
        return rows[number % len(rows)]

    @rule(which=ANY, active=st.booleans())
    def set_member(self, which: int, active: bool) -> None:
        row = self.membership(which)
        self.attempt(lambda: services.set_member_active(membership=row, active=active, at=self.now))

    @rule(which=ANY, capacity=st.sampled_from([None, 1, 1, 2]))
    def set_capacity(self, which: int, capacity: int | None) -> None:
        row = self.membership(which)
        self.attempt(lambda: services.set_capacity(membership=row, capacity=capacity))

    @rule(hours=st.sampled_from([1, 3, LEASE, 25]))
    def time_passes(self, hours: int) -> None:
        self.now += timedelta(hours=hours)
        slots.release_expired(at=self.now)
        slots.settle_gold(at=self.now)
        assert slots.release_expired(at=self.now) == 0  # twice is once
        leased = Assignment.objects.filter(batch=self.world.batches[1], batch__status="open", lease_until__isnull=False)
        for row in leased.filter(status__in=["not_started", "draft"]).annotate(last=Max("decisions__updated_at")):
            assert max(filter(None, (row.lease_until, row.last and row.last + timedelta(hours=LEASE)))) > self.now

    # What must hold after every step --------------------------------------------------------------------------------

    @invariant()
    def everything_holds(self) -> None:
        if not hasattr(self, "savepoint"):
            return
        self.work = list(Assignment.objects.select_related("batch", "slot__item").order_by("pk"))
        self.decided: dict[int, list[Decision]] = defaultdict(list)
        for decision in Decision.objects.order_by("pk"):
            self.decided[decision.assignment_id].append(decision)
        self.checks = list(Check.objects.order_by("pk"))
        self.conflicts = list(Adjudication.objects.order_by("pk"))
        self.statuses_went_along_allowed_edges()
        self.slots_are_held_once()
        self.parts_are_apart()
        self.states_agree_with_their_rows()
        self.what_was_handed_in_never_changes()
        self.closed_batches_take_nothing()
        self.released_work_and_gold_count_nowhere()
        self.conflicts_are_open_exactly_where_finished_work_differs()

    def statuses_went_along_allowed_edges(self) -> None:
        rows = self.events().filter(pgh_id__gt=self.last_event).order_by("pgh_id")
        for event, assignment, status, purpose in rows.values_list("pgh_id", "pgh_obj_id", "status", "purpose"):
            before = self.status.get(assignment)
            if before is None:
                assert status == "not_started"
            elif status != before and not (purpose == "gold" and (before, status) == ("submitted", "accepted")):
                assert status in EDGES[before], (before, status)
            self.status[assignment] = status
            self.last_event = event
        assert {row.pk: row.status for row in self.work} == self.status

    def slots_are_held_once(self) -> None:
        live = [row for row in self.work if row.status != "released"]
        held = Counter(row.slot_id for row in live if row.slot_id)
        assert not held or max(held.values()) == 1
        pairs = Counter((row.response_id, row.annotator_id) for row in live)
        assert max(pairs.values(), default=1) == 1
        for row in self.work:
            assert (row.slot is not None) == (row.purpose == "work")
            if row.slot is not None:
                assert (row.slot.item.batch_id, row.slot.item.response_id) == (row.batch_id, row.response_id)
            assert (row.status == "released") == (row.released_at is not None)
        active = set(Membership.objects.filter(role="annotator", active=True).values_list("user_id", flat=True))
        for row in live:
            if row.status in Assignment.OPEN and row.batch.status != "closed":
                assert row.annotator_id in active

    def parts_are_apart(self) -> None:
        parts = list(Involvement.objects.values_list("response", "user", "part"))
        assert len({(response, user) for response, user, _part in parts}) == len(parts)
        authors = dict(Response.objects.exclude(author=None).values_list("pk", "author_id"))
        grade, check, settle = defaultdict(set), defaultdict(set), defaultdict(set)
        for row in self.work:
            grade[row.response_id].add(row.annotator_id)
            check[row.response_id].add(row.checker_id)
        for row in self.conflicts:
            settle[row.response_id].add(row.adjudicator_id)
        response_of = {row.pk: row.response_id for row in self.work}
        for check_row in self.checks:
            check[response_of[check_row.assignment_id]].add(check_row.checker_id)
        for response in grade:
            sides = [side - {None} for side in (grade[response], check[response], settle[response])]
            sides.append({authors[response]} if response in authors else set())
            assert all(not first & second for first, second in itertools.combinations(sides, 2))

    def states_agree_with_their_rows(self) -> None:
        checks: dict[int, dict[int, Check]] = defaultdict(dict)
        for check in self.checks:
            checks[check.assignment_id][check.round] = check
        for row in self.work:
            here = checks[row.pk]
            now = [decision for decision in self.decided[row.pk] if decision.round == row.round and decision.outcome]
            if row.status != "released":
                assert (row.status == "not_started") == (row.started_at is None)
            if row.status in HANDED_IN:
                assert len(now) == 2
                assert row.submitted_at is not None
            assert (row.status == "accepted") == (row.accepted_at is not None)
            if row.status == "in_check":
                assert row.checker_id is not None
                assert here[row.round].result == ""
            if not row.to_check or row.purpose == "gold":
                assert not here
            if row.status == "accepted" and row.to_check and row.purpose == "work":
                assert here[row.round].result == "accepted"
            assert row.round == sum(check.result == "returned" for check in here.values()) + 1
        assert not Amendment.objects.filter(reason="").exists()

    def what_was_handed_in_never_changes(self) -> None:
        now = {
            (row.pk, decision.round, decision.criterion_id): (
                decision.outcome,
                decision.borderline,
                decision.note,
                decision.version,
            )
            for row in self.work
            for decision in self.decided[row.pk]
            if decision.round < row.round or row.status in HANDED_IN
        }
        for key, before in self.frozen.items():
            assert now[key] == before
        self.frozen = now

    def closed_batches_take_nothing(self) -> None:
        for batch in {row.batch for row in self.work if row.batch.status == "closed"}:
            state = [
                (row.pk, row.status, row.annotator_id, row.position, len(self.decided[row.pk]),
                 sum(decision.version for decision in self.decided[row.pk]))
                for row in self.work
                if row.batch_id == batch.pk
            ]  # fmt: skip
            assert self.ended.setdefault(batch.pk, state) == state

    def released_work_and_gold_count_nowhere(self) -> None:
        counts = [row for row in self.work if row.purpose == "work" and row.status != "released"]
        for stage, rows in (
            ("first", [row for row in counts if row.submitted_at]),
            ("checked", [row for row in counts if row.status == "accepted"]),
        ):
            ratings = group_ratings(self.world.group, stage)
            expected = {
                (row.response_id, decision.criterion_id)
                for row in rows
                for decision in self.decided[row.pk]
                if decision.outcome and decision.round == (1 if stage == "first" else row.round)
            }
            assert set(zip(ratings.response.tolist(), ratings.criterion.tolist(), strict=True)) == expected
        batches = list(Batch.objects.filter(pk__in=[batch.pk for batch in self.world.batches]))
        work_by_batch = count_work(batches, at=timezone.now()).by_batch()
        for batch in batches:
            work = work_by_batch[batch.pk]
            of_batch = Counter(row.status for row in counts if row.batch_id == batch.pk)
            if batch.status == "closed":  # what is left undone has stages of its own
                of_batch = Counter({"accepted": of_batch["accepted"]})
            by_stage = Counter(work.by_stage)
            for stage in ("unassigned", *ENDED.values()):
                del by_stage[stage]
            assert +by_stage == +of_batch
            assert work.total == SLOTS[batch.pk]

    def conflicts_are_open_exactly_where_finished_work_differs(self) -> None:
        opened = {row.response_id: row for row in self.conflicts}
        free = Counter(
            response
            for response, status in Slot.objects.exclude(
                pk__in=[row.slot_id for row in self.work if row.slot_id and row.status != "released"]
            ).values_list("item__response", "item__batch__status")
            if status != "closed"
        )
        by_response: dict[int, list[Assignment]] = defaultdict(list)
        for row in self.work:
            if row.purpose == "work" and row.status != "released":
                by_response[row.response_id].append(row)
        assert not set(opened) - set(by_response)
        for response, team in by_response.items():
            adjudication = opened.get(response)
            waiting = free[response] or any(r.status != "accepted" and r.batch.status != "closed" for r in team)
            if waiting or sum(row.status == "accepted" for row in team) < 2:
                assert adjudication is None
                continue
            votes = accepted_votes(response=team[0].response, rubric=team[0].rubric, group=self.world.group)
            conflicts = sorted(key for key, cast in votes.items() if len({vote.outcome for vote in cast}) > 1)
            assert (adjudication.criteria if adjudication else []) == conflicts
            if adjudication and adjudication.status == "done":
                assert set(adjudication.rulings.values_list("criterion_id", flat=True)) >= set(conflicts)


SLOTS: dict[int, int] = {}


@pytest.mark.django_db
def test_no_step_leads_to_a_forbidden_state() -> None:
    WORLD[:] = [build_world()]
    SLOTS.update({batch.pk: Slot.objects.filter(item__batch=batch).count() for batch in WORLD[0].batches})
    run_state_machine_as_test(
        Workflow,
        settings=settings(
            max_examples=RUNS, stateful_step_count=STEPS, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
