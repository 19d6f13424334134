"""Gold items: mixed in invisibly, and the consequences of their results."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, User
from annotation import access, services
from annotation.models import Adjudication, Assignment, Batch, KeyedDecision, KeyedResponse, Membership
from annotation.qualification.gold import gold_due, hold_back_by_gold
from annotation.selectors.eligibility import eligibility_of
from annotation.selectors.ratings import group_ratings
from annotation.services.slots import claim_next, settle_gold
from rubrics.models import Benchmark, BenchmarkRole, Response
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    decide,
    make_batch,
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def later(minutes: int) -> datetime:
    return timezone.now() + timedelta(minutes=minutes)


def key(response: Response, *outcomes: str) -> KeyedResponse:
    rubric = response.case.rubrics.get()
    keyed = KeyedResponse.objects.create(
        benchmark=response.case.benchmark, response=response, rubric=rubric, use="gold", created_at=timezone.now()
    )
    for item, outcome in zip(rubric.items.order_by("position"), outcomes, strict=True):
        KeyedDecision.objects.create(keyed=keyed, criterion=item.criterion, outcome=outcome)
    return keyed


class Scene:
    """Six cases with two candidates each; of the last two cases one response is gold: two met, two not met."""

    def __init__(self, **terms: Any) -> None:
        self.admin = UserFactory()
        self.benchmark: Benchmark = BenchmarkFactory(admin=self.admin)
        candidates = [CandidateFactory(benchmark=self.benchmark, name=name) for name in ("one", "two")]
        self.gold = []
        for number in range(6):
            case = CaseFactory(benchmark=self.benchmark, rubric=4, key=f"case-{number}")
            for candidate in candidates:
                response = ResponseFactory(case=case, candidate=candidate)
                if number > 3 and candidate is candidates[0]:
                    self.gold.append(key(response, "met", "met", "not_met", "not_met"))
        self.group = ExpertGroupFactory(benchmark=self.benchmark, annotators=2, checkers=1, adjudicators=1)
        self.one, self.two = self.group.people["annotator"]  # type: ignore[attr-defined]
        self.checker = self.group.people["checker"][0]  # type: ignore[attr-defined]
        self.batch = make_batch(self.group, **{"gold_per_annotator": 2, "annotators_per_item": 2, **terms})

    def queue(self, user: User, purpose: str | None = None) -> list[Assignment]:
        rows = Assignment.objects.filter(batch=self.batch, annotator=user).select_related("annotator")
        rows = rows.order_by("position")
        return list(rows.filter(purpose=purpose) if purpose else rows)

    def mark(self, mark: float | None, minimum: int) -> None:
        rule = {"pass_mark": 0.7, "attempts": 1, "wait_hours": 0, "gold_minimum": minimum, "gold_mark": mark}
        client = Client()
        client.force_login(self.admin)
        answer = client.post(f"/b/{self.benchmark.slug}/qualification/", rule)
        assert answer.status_code == 302


@pytest.mark.parametrize("order", ["by_case", "shuffled"])
def test_gold_is_in_every_queue_without_a_gap(order: str) -> None:
    scene = Scene(order=order)
    for user in (scene.one, scene.two):
        queue = scene.queue(user)
        assert [row.position for row in queue] == list(range(1, 13))
        assert sum(row.purpose == "gold" for row in queue) == 2
        assert {row.response_id for row in queue if row.purpose == "gold"} == {row.response_id for row in scene.gold}
        if order == "by_case":  # the gold item of a case stands with the case's other response
            cases = [row.case_id for row in queue]
            assert len([n for n in range(1, 12) if cases[n] != cases[n - 1]]) == 5


def test_gold_of_a_case_that_the_queue_lacks_is_put_between_two_cases() -> None:
    """A case of one response, which is gold, with three cases of two responses: four blocks, whatever the seed."""
    benchmark: Benchmark = BenchmarkFactory()
    candidates = [CandidateFactory(benchmark=benchmark, name=name) for name in ("one", "two")]
    for number in range(4):
        case = CaseFactory(benchmark=benchmark, rubric=4, key=f"case-{number}")
        for candidate in candidates[: 1 if number == 3 else 2]:
            response = ResponseFactory(case=case, candidate=candidate)
    key(response, "met", "met", "not_met", "not_met")
    places = set()
    for seed in range(12):
        group = ExpertGroupFactory(benchmark=benchmark, annotators=1)
        batch = make_batch(group, gold_per_annotator=1, order="by_case", seed=seed)
        rows = Assignment.objects.filter(batch=batch).order_by("position")
        cases = list(rows.values_list("case_id", flat=True))
        assert len(cases) == 7
        assert len([n for n in range(1, 7) if cases[n] != cases[n - 1]]) == 3
        places.add(cases.index(case.pk))
    assert places == {0, 2, 4, 6}


@pytest.mark.parametrize("order", ["by_case", "shuffled"])
def test_gold_has_the_same_places_in_a_copy_of_the_study(order: str) -> None:
    scenes = [Scene(order=order, seed=11) for _copy in range(2)]
    copies = [
        [
            [(row.purpose, row.case.key, row.response.candidate.name) for row in scene.queue(user)]
            for user in (scene.one, scene.two)
        ]
        for scene in scenes
    ]
    assert copies[0] == copies[1]
    if order == "shuffled":  # and the places of one annotator say nothing about those of another
        first, second = ([n for n, row in enumerate(queue) if row[0] == "gold"] for queue in copies[0])
        assert first != second


def test_gold_may_be_anywhere_in_the_queue() -> None:
    """Over many seeds every third of the queue holds about a third of the gold items, and half are drawn for a check.

    Half, because half of the batch's other work is: 60 expected; outside 40 to 80 by chance with probability 2e-4.
    """
    scene = Scene(order="shuffled")
    thirds = [0, 0, 0]
    to_check = 0
    for seed in range(60):
        group = ExpertGroupFactory(benchmark=scene.benchmark, annotators=1, checkers=1)
        batch = make_batch(
            group, gold_per_annotator=2, order="shuffled", seed=seed, check_policy="sample", check_fraction=0.5
        )
        for row in Assignment.objects.filter(batch=batch, purpose="gold"):
            thirds[(row.position - 1) * 3 // 12] += 1
            to_check += row.to_check
    assert sum(thirds) == 120
    assert min(thirds) >= 22  # 40 expected; fewer than 22 by chance with probability below 1e-3
    assert 40 <= to_check <= 80


def what_shows(user: User, row: Assignment) -> list[str]:
    """Every page and API answer about a piece of work, with what is its own taken out: ids, text, place, time."""
    client = Client()
    client.force_login(user)
    seen = []
    for url in (f"/work/{row.public_id}/", f"/api/v1/work/assignments/{row.public_id}/"):
        answer = client.get(url)
        assert answer.status_code == 200
        body = answer.content.decode()
        body = body.replace(row.public_id, "ID").replace(row.response.text, "TEXT")
        body = re.sub(r'(csrfmiddlewaretoken" value="|X-CSRFToken": "|nonce=")[^"]*', "", body)
        body = re.sub(r"case-\d+|\b\d+\b", "N", body)
        seen.append(body + repr({name: value for name, value in answer.items() if name != "Content-Length"}))
    rows = client.get("/api/v1/work/assignments/?limit=100").json()["results"]
    own = next(line for line in rows if line["id"] == row.public_id)
    seen.append(repr({name: value for name, value in own.items() if name not in ("id", "position")}))
    return seen


@time_machine.travel(datetime(2026, 5, 4, 9, 0, tzinfo=UTC), tick=False)
def test_an_annotator_sees_no_difference_in_any_state() -> None:
    scene = Scene(check_policy="all")
    # Two responses of one case, so that the criteria are the same; only the first is gold.
    gold = next(row for row in scene.queue(scene.one, "gold"))
    plain = next(row for row in scene.queue(scene.one, "work") if row.case_id == gold.case_id)
    assert gold.to_check
    assert plain.to_check

    def same() -> None:
        pair = []
        for row in (gold, plain):
            row.refresh_from_db()
            pair.append(what_shows(scene.one, row))
        for mine, other in zip(*pair, strict=True):
            assert mine == other

    same()
    decide(gold, "met", submit=False)
    decide(plain, "met", submit=False)
    same()
    services.submit(assignment=gold, annotator=scene.one, at=timezone.now())
    services.submit(assignment=plain, annotator=scene.one, at=timezone.now())
    same()
    # A checker takes the plain one (gold never waits for them), and accepts it: both are accepted then.
    assert not access.waiting_checks(scene.checker).filter(purpose="gold").exists()
    assert settle_gold(at=timezone.now() + timedelta(days=3)) == 0
    held = services.claim_check(
        checker=scene.checker, waiting=access.waiting_checks(scene.checker).filter(pk=plain.pk), at=timezone.now()
    )
    assert held is not None
    same()
    services.accept_check(assignment=held, checker=scene.checker, at=timezone.now())
    gold.refresh_from_db()
    assert gold.status == "accepted"
    same()


def test_gold_counts_in_no_result_and_opens_no_conflict() -> None:
    scene = Scene()
    for user, outcome in ((scene.one, "met"), (scene.two, "not_met")):
        for row in scene.queue(user, "gold"):
            decide(row, outcome)
    assert not Adjudication.objects.exists()
    assert len(group_ratings(scene.group, "first")) == len(group_ratings(scene.group, "checked")) == 0


def test_gold_below_the_mark_holds_back_and_tells_the_admin() -> None:
    scene = Scene()
    scene.mark(0.6, minimum=8)
    first, second = scene.queue(scene.one, "gold")
    begun = scene.queue(scene.one, "work")[0]
    decide(begun, submit=False)
    # Everything met, where half is: F1 met = 8 / (8 + 4) = 2/3, F1 not met = 0, MF1 = 1/3. Four decisions are too few.
    decide(first, "met")
    assert hold_back_by_gold(at=later(60)) == 0
    assert eligibility_of(scene.one, scene.group).may_get_work
    decide(second, "met")
    # Not while the physician could tell which response it was.
    assert hold_back_by_gold(at=later(50)) == 0
    assert eligibility_of(scene.one, scene.group).may_get_work
    assert hold_back_by_gold(at=later(61)) == 1
    assert hold_back_by_gold(at=later(62)) == 0
    member = Membership.objects.get(group=scene.group, user=scene.one)
    assert member.withheld_at is not None
    assert "0.333" in member.withheld_reason
    assert "8 gold decisions" in member.withheld_reason
    assert eligibility_of(scene.one, scene.group).reason == "withheld"
    # No new work, neither in this batch nor in the next; what is begun may be finished, and nothing says why.
    untouched = scene.queue(scene.one, "work")[1]
    client = Client()
    client.force_login(scene.one)
    criterion = services.criteria_of(untouched)[0]
    url = f"/api/v1/work/assignments/{untouched.public_id}/decisions/"
    refused = client.post(url, [{"criterion": criterion, "outcome": "met"}], content_type="application/json")
    assert refused.status_code == 409
    assert "gold" not in refused.content.decode().lower()
    services.submit(assignment=begun, annotator=scene.one, at=timezone.now())
    ResponseFactory(case=CaseFactory(benchmark=scene.benchmark, key="later"), candidate__name="three",
                    candidate__benchmark=scene.benchmark)  # fmt: skip
    plan = services.plan_batch(
        group=scene.group,
        terms=services.BatchTerms(title="Next", seed=3, check_policy="none"),
        filter=services.ResponseFilter(cases=["later"]),
    )
    assert {slot.annotator for slot in plan.allocation.slots} == {scene.two.pk}
    assert plan.warnings
    # The admin sees it, and lifts it with a reason; what was begun before counts no more.
    admin_client = Client()
    admin_client.force_login(scene.admin)
    page = f"/b/{scene.benchmark.slug}/quality/{member.pk}/"
    assert "0.333" in admin_client.get(page).content.decode()
    assert admin_client.post(f"{page}lift/", {"reason": " "}).status_code == 422
    assert admin_client.post(f"{page}lift/", {"reason": "Talked it over."}).status_code == 302
    assert admin_client.post(f"{page}lift/", {"reason": "Once more."}).status_code == 422
    assert eligibility_of(scene.one, scene.group).may_get_work
    decide(untouched, "met")
    assert hold_back_by_gold(at=later(120)) == 0
    assert eligibility_of(scene.one, scene.group).may_get_work
    member.refresh_from_db()
    assert member.withheld_reason == "Talked it over."
    assert client.post(f"{page}hold/", {"reason": "no"}).status_code == 404


def test_the_admins_of_the_benchmark_get_a_notice_with_the_pseudonym_of_who_is_held_back() -> None:
    scene = Scene()
    scene.mark(0.6, minimum=8)
    former, researcher = UserFactory(), UserFactory()
    BenchmarkRole.objects.create(benchmark=scene.benchmark, user=former, role="admin", active=False)
    BenchmarkRole.objects.create(benchmark=scene.benchmark, user=researcher, role="researcher")
    for row in scene.queue(scene.one, "gold"):
        decide(row, "met")
    assert hold_back_by_gold(at=later(61)) == 1
    notices = Notification.objects.filter(kind="held_back").exclude(user=scene.one)
    assert list(notices.values_list("user", flat=True)) == [scene.admin.pk]
    client = Client()
    client.force_login(scene.admin)
    page = client.get("/notifications/").content.decode()
    assert f"Assignments to {scene.one.pseudonyms.get().pseudonym} are paused." in page
    assert not {name for name in (scene.one.name, scene.one.email) if name in page}


def test_an_admin_holds_a_member_back_with_a_reason() -> None:
    scene = Scene(gold_per_annotator=0)
    client = Client()
    client.force_login(scene.admin)
    member = Membership.objects.get(group=scene.group, user=scene.one)
    page = f"/b/{scene.benchmark.slug}/quality/{member.pk}/hold/"
    assert client.post(page, {"reason": " "}).status_code == 422
    assert eligibility_of(scene.one, scene.group).may_get_work
    assert client.post(page, {"reason": " On leave. "}).status_code == 302
    assert eligibility_of(scene.one, scene.group).reason == "withheld"
    assert client.post(page, {"reason": "Once more."}).status_code == 422
    assert Membership.objects.get(pk=member.pk).withheld_reason == "On leave."
    assert eligibility_of(scene.two, scene.group).may_get_work


def test_a_gold_item_that_is_out_of_use_is_given_to_nobody() -> None:
    scene = Scene()
    out, stays = (row.response_id for row in scene.gold)
    KeyedResponse.objects.filter(response=out).update(active=False)
    batch = make_batch(ExpertGroupFactory(benchmark=scene.benchmark, annotators=1), gold_per_annotator=2)
    assert [row.response_id for row in Assignment.objects.filter(batch=batch, purpose="gold")] == [stays]


def test_gold_above_the_mark_holds_nobody_back() -> None:
    scene = Scene()
    scene.mark(0.75, minimum=8)
    # Of each item one met and nothing else is missed: tp 2 fn 2 tn 4 → F1 2/3 and 4/5, MF1 = 11/15 < 0.75; three of
    # four met found instead: tp 3 fn 1 tn 4 → 6/7 and 8/9, MF1 = 55/63 > 0.75.
    first, second = scene.queue(scene.one, "gold")
    decide(first, "met", "met", "not_met")
    decide(second, "met", "not_met", "not_met")
    first, second = scene.queue(scene.two, "gold")
    decide(first, "met", "not_met", "not_met")
    decide(second, "met", "cannot_assess", "not_met")  # cannot assess on met counts as not met
    assert hold_back_by_gold(at=later(61)) == 1
    assert eligibility_of(scene.one, scene.group).may_get_work
    assert eligibility_of(scene.two, scene.group).reason == "withheld"


@pytest.mark.parametrize(("mark", "minimum", "held"), [(0.75, 8, 0), (0.751, 8, 1), (0.751, 9, 0)])
def test_only_gold_below_the_mark_holds_back_and_only_from_the_minimum_on(mark: float, minimum: int, held: int) -> None:
    scene = Scene()
    scene.mark(mark, minimum=minimum)
    # One of four met is missed, and one of four not met is seen as met: F1 = 6 / (6 + 1 + 1) = 0.75 for both, over 8
    # decisions.
    first, second = scene.queue(scene.one, "gold")
    decide(first, "met", "not_met", "not_met", "not_met")
    decide(second, "met", "met", "met", "not_met")
    assert hold_back_by_gold(at=later(61)) == held
    assert eligibility_of(scene.one, scene.group).may_get_work is (held == 0)


def test_a_pool_gives_out_gold_by_a_schedule_of_its_own() -> None:
    scene = Scene(gold_per_annotator=0)
    Assignment.objects.update(status="accepted")  # the same responses are given out below
    pool = Batch.objects.create(
        group=scene.group, title="Pool", strategy="pool", gold_per_annotator=2, seed=5, created_at=timezone.now()
    )
    taken = []
    for number in range(1, 8):
        given = gold_due(annotator=scene.one, batch=pool, at=timezone.now())
        if given is not None:
            assert (given.purpose, given.position) == ("gold", number)
            taken.append(given.response_id)
        else:
            Assignment.objects.create(batch=pool, annotator=scene.one, position=number, **_ordinary(scene, number))
    assert sorted(taken) == sorted(row.response_id for row in scene.gold)
    assert gold_due(annotator=scene.one, batch=pool, at=timezone.now()) is None


def test_gold_from_a_pool_is_leased_as_long_as_other_work() -> None:
    scene = Scene(strategy="pool", lease_hours=4)
    at = timezone.now()
    leases = set()
    for _number in range(12):
        row = claim_next(annotator=scene.one, batch=scene.batch, at=at)
        assert row is not None
        leases.add((row.purpose, row.lease_until))
        decide(row)
    assert leases == {(purpose, at + timedelta(hours=4)) for purpose in ("work", "gold")}


def test_gold_from_a_pool_may_come_at_any_claim_of_the_share() -> None:
    """One response and one gold item for one annotator: over twelve seeds either comes first."""
    benchmark: Benchmark = BenchmarkFactory()
    case = CaseFactory(benchmark=benchmark, rubric=4)
    gold, _work = (ResponseFactory(case=case, candidate=CandidateFactory(benchmark=benchmark)) for _ in range(2))
    key(gold, "met", "met", "not_met", "not_met")
    first = set()
    for seed in range(12):
        group = ExpertGroupFactory(benchmark=benchmark, annotators=1)
        batch = make_batch(group, strategy="pool", gold_per_annotator=1, seed=seed)
        row = claim_next(annotator=group.memberships.get().user, batch=batch, at=timezone.now())
        assert row is not None
        first.add(row.purpose)
    assert first == {"work", "gold"}


def _ordinary(scene: Scene, number: int) -> dict[str, Any]:
    response = Response.objects.filter(case__benchmark=scene.benchmark, key=None).order_by("pk")[number]
    return {"case": response.case, "response": response, "rubric": response.case.rubrics.get()}


def test_the_preview_names_gold_and_warns_where_the_set_is_too_small() -> None:
    """Two gold items are there, and the form requires three. The queues then have what the preview says."""
    scene = Scene(gold_per_annotator=0, cases=["case-0"])
    client = Client()
    client.force_login(scene.admin)
    fields = {"group": scene.group.public_id, "title": "More", "annotators_per_item": 2, "check_policy": "none",
              "check_percent": 10, "order": "by_case", "seed": 7, "skip_given": "on", "strategy": "planned",
              "specialty_match": "none"}  # fmt: skip
    preview = f"/b/{scene.benchmark.slug}/batches/preview/"

    def words(**terms: int) -> str:
        body = client.get(preview, {**fields, **terms}).content.decode()
        return " ".join(re.sub(r"<[^>]*>", " ", body).split())

    few = words(gold_per_annotator=3)
    assert "2 annotators get fewer than 3 gold items (at the least: 2)" in few
    assert "Gold items 4 besides these responses" in few
    enough = words(gold_per_annotator=2)
    assert "gold items (at the least" not in enough
    assert "Gold items 4 besides these responses" in enough
    assert "besides these responses" not in words(gold_per_annotator=0)
    batch = make_batch(scene.group, gold_per_annotator=3, annotators_per_item=2)
    assert Assignment.objects.filter(batch=batch, purpose="gold").count() == 4
