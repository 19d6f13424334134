"""The whole workflow under random steps: no state that the design forbids, whoever tries what."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from annotation import access, services
from annotation.models import Adjudication, Amendment, Assignment, Batch, Check, Decision, Involvement
from annotation.services.conflicts import accepted_votes, conflicts_in
from consilium.lib.errors import Conflict, DomainError
from tests.annotation.conftest import build_workshop
from tests.factories import member

OUTCOMES = ["met", "not_met", "cannot_assess"]
PERSON = st.integers(0, 7)
ANY = st.integers(0, 10**6)


class Workflow(RuleBasedStateMachine):
    """Two annotators, two checkers, one of each who is both, two adjudicators; two responses of two criteria."""

    @initialize()
    def begin(self) -> None:
        self.savepoint = transaction.atomic()
        self.savepoint.__enter__()
        w = build_workshop(
            criteria=2, responses=2, annotators_per_item=2, check_policy="sample", check_fraction=0.5, text="Rest."
        )
        both = member(w.group, "annotator")
        member(w.group, "checker", both)
        member(w.group, "adjudicator", w.people("checker")[1])
        self.group, self.batch = w.group, w.batch
        self.people = [*w.people(), *w.people("checker"), *w.people("adjudicator"), both, w.admin]
        self.accepted_before: dict[int, list[tuple[Any, ...]]] = {}

    def teardown(self) -> None:
        if hasattr(self, "savepoint"):
            transaction.set_rollback(True)
            self.savepoint.__exit__(None, None, None)

    def attempt(self, act: Callable[[], object]) -> None:
        """Refusals are part of the game; anything else is a fault."""
        try:
            with transaction.atomic():
                act()
        except (DomainError, Conflict):
            return

    def someone(self, number: int) -> Any:
        return self.people[number % len(self.people)]

    def row(self, number: int) -> Assignment:
        rows = list(Assignment.objects.filter(batch=self.batch).select_related("annotator").order_by("pk"))
        return rows[number % len(rows)]

    @rule(which=ANY, criterion=st.integers(0, 1), outcome=st.sampled_from([*OUTCOMES, None]), version=st.integers(0, 2))
    def save(self, which: int, criterion: int, outcome: str | None, version: int) -> None:
        row = self.row(which)
        change = services.DecisionInput(services.criteria_of(row)[criterion], outcome, version=version)
        self.attempt(
            lambda: services.save_decision(assignment=row, annotator=row.annotator, change=change, at=timezone.now())
        )

    @rule(which=ANY, outcome=st.sampled_from(OUTCOMES))
    def grade_and_submit(self, which: int, outcome: str) -> None:
        row = self.row(which)

        def act() -> None:
            versions = dict(
                Decision.objects.filter(assignment=row, round=row.round).values_list("criterion_id", "version")
            )
            changes = [
                services.DecisionInput(c, outcome, version=versions.get(c, 0)) for c in services.criteria_of(row)
            ]
            services.save_decisions(assignment=row, annotator=row.annotator, changes=changes, at=timezone.now())
            services.submit(assignment=row, annotator=row.annotator, at=timezone.now())

        self.attempt(act)

    @rule(which=ANY)
    def submit(self, which: int) -> None:
        row = self.row(which)
        self.attempt(lambda: services.submit(assignment=row, annotator=row.annotator, at=timezone.now()))

    @rule(who=PERSON, which=ANY, allowed=st.booleans())
    def claim(self, who: int, which: int, allowed: bool) -> None:
        user = self.someone(who)
        # Also past the access rules: the database must hold on its own.
        waiting = access.waiting_checks(user) if allowed else Assignment.objects.filter(pk=self.row(which).pk)
        self.attempt(lambda: services.claim_check(checker=user, waiting=waiting, at=timezone.now()))

    @rule(who=PERSON, which=ANY, criterion=st.integers(0, 1), outcome=st.sampled_from(OUTCOMES))
    def amend(self, who: int, which: int, criterion: int, outcome: str) -> None:
        row = self.row(which)
        self.attempt(
            lambda: services.amend(
                assignment=row,
                checker=self.someone(who),
                criterion=services.criteria_of(row)[criterion],
                outcome=outcome,
                reason="because",
                at=timezone.now(),
            )
        )

    @rule(which=ANY, how=st.sampled_from(["accept", "return", "release"]))
    def finish_check(self, which: int, how: str) -> None:
        row = self.row(which)
        checker = row.checker or self.someone(which)
        acts: dict[str, Callable[[], object]] = {
            "accept": lambda: services.accept_check(assignment=row, checker=checker, at=timezone.now()),
            "return": lambda: services.return_check(assignment=row, checker=checker, note="again", at=timezone.now()),
            "release": lambda: services.release_check(assignment=row, checker=checker),
        }
        self.attempt(acts[how])

    @rule(who=PERSON, allowed=st.booleans())
    def claim_conflict(self, who: int, allowed: bool) -> None:
        user = self.someone(who)
        waiting = access.open_adjudications(user) if allowed else Adjudication.objects.filter(group=self.group)
        self.attempt(lambda: services.claim_adjudication(adjudicator=user, waiting=waiting))

    @rule(who=PERSON, criterion=st.integers(0, 1), outcome=st.sampled_from([*OUTCOMES, "faulty"]), finish=st.booleans())
    def adjudicate(self, who: int, criterion: int, outcome: str, finish: bool) -> None:
        for row in Adjudication.objects.filter(group=self.group):
            user = row.adjudicator or self.someone(who)
            target = services.criteria_of(Assignment.objects.filter(response=row.response_id)[0])[criterion]
            self.attempt(
                lambda row=row, user=user, target=target: services.rule(
                    adjudication=row, adjudicator=user, criterion=target, outcome=outcome, reason="r", at=timezone.now()
                )
            )
            if finish:
                self.attempt(
                    lambda row=row, user=user: services.finish_adjudication(
                        adjudication=row, adjudicator=user, at=timezone.now()
                    )
                )

    @rule(how=st.sampled_from(["pause", "open", "open", "open"]))
    def switch(self, how: str) -> None:
        batch = Batch.objects.get(pk=self.batch.pk)
        self.attempt(lambda: (services.pause_batch if how == "pause" else services.open_batch)(batch=batch))

    # What must hold after every step -------------------------------------------------------------------------------

    @invariant()
    def parts_are_apart(self) -> None:
        if not hasattr(self, "batch"):
            return
        parts = list(Involvement.objects.filter(group=self.group).values_list("response", "user", "part"))
        assert len({(response, user) for response, user, _part in parts}) == len(parts)
        assert not Assignment.objects.filter(checker=F("annotator")).exists()
        for row in Adjudication.objects.filter(group=self.group).exclude(adjudicator=None):
            on_it = Assignment.objects.filter(response=row.response_id)
            assert not on_it.filter(annotator=row.adjudicator_id).exists()
            assert not on_it.filter(checker=row.adjudicator_id).exists()

    @invariant()
    def states_agree_with_their_rows(self) -> None:
        if not hasattr(self, "batch"):
            return
        for row in Assignment.objects.filter(batch=self.batch):
            decided = Decision.objects.filter(assignment=row, round=row.round, outcome__isnull=False).count()
            assert (row.status == "not_started") == (row.started_at is None)
            if row.status in ("submitted", "in_check", "accepted"):
                assert decided == 2
                assert row.submitted_at is not None
            assert (row.status == "accepted") == (row.accepted_at is not None)
            if row.status == "in_check":
                assert row.checker_id is not None
                assert Check.objects.get(assignment=row, round=row.round).result == ""
            if not row.to_check:
                assert not Check.objects.filter(assignment=row).exists()
            if row.status == "accepted" and row.to_check:
                assert Check.objects.get(assignment=row, round=row.round).result == "accepted"
            returned = Check.objects.filter(assignment=row, result="returned").count()
            assert row.round == returned + 1
        assert not Amendment.objects.filter(reason="").exists()

    @invariant()
    def accepted_work_and_earlier_rounds_never_change(self) -> None:
        if not hasattr(self, "batch"):
            return
        for row in Assignment.objects.filter(batch=self.batch):
            past = Decision.objects.filter(assignment=row)
            if row.status != "accepted":
                past = past.filter(round__lt=row.round)
            now = sorted(past.values_list("round", "criterion_id", "outcome", "version"))
            before = self.accepted_before.get(row.pk, [])
            assert all(line in now for line in before)
            self.accepted_before[row.pk] = now

    @invariant()
    def conflicts_are_open_exactly_where_accepted_work_differs(self) -> None:
        if not hasattr(self, "batch"):
            return
        rows = Assignment.objects.filter(batch=self.batch).select_related("response", "rubric").order_by("response_id")
        for response_id, group in itertools.groupby(rows, key=lambda row: row.response_id):
            team = list(group)
            found = Adjudication.objects.filter(response=response_id, group=self.group).first()
            if any(row.status != "accepted" for row in team):
                assert found is None
                continue
            votes = accepted_votes(response=team[0].response, rubric=team[0].rubric, group=self.group)
            conflicts = conflicts_in(votes)
            assert (found.criteria if found else []) == conflicts
            if found and found.status == "done":
                assert set(found.rulings.values_list("criterion_id", flat=True)) >= set(conflicts)


@pytest.mark.django_db(transaction=False)
def test_no_step_leads_to_a_forbidden_state() -> None:
    run_state_machine_as_test(
        Workflow,
        settings=settings(
            max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
