"""After a new version of a rubric: which decisions hold, what is graded again, and by whom."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from annotation.models import Adjudication, Assignment, Batch, ExpertGroup, Membership
from annotation.regrading.lacking import consequences, lacking_in
from annotation.regrading.regrading_plan import create_regrading, plan_regrading
from annotation.selectors.ratings import group_ratings
from annotation.services import claim_adjudication, finish_adjudication, rule
from annotation.services.decisions import Unanswered
from annotation.services.planning import BatchTerms
from annotation.services.slots import reassign
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Case
from tests.factories import (
    BenchmarkFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    decide,
    make_batch,
    member,
    publish_rubric,
)
from tests.rubrics.versions.new_versions import reword

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def group() -> ExpertGroup:
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    case, other = CaseFactory(benchmark=benchmark), CaseFactory(benchmark=benchmark)
    for graded_case in (case, case, other):
        ResponseFactory(case=graded_case)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=2)
    make_batch(group)
    for row in Assignment.objects.all():
        decide(row, "met", "not_met")
    return group


def first_case(group: ExpertGroup) -> Case:
    return Case.objects.filter(benchmark=group.benchmark).order_by("pk")[0]


def test_exactly_reworded_criteria_of_graded_responses_lack_a_decision(group: ExpertGroup) -> None:
    case = first_case(group)
    before = group_ratings(group)
    assert lacking_in(group) == []
    rubric = reword(case, 1)
    fresh = rubric.items.get(position=2).criterion_id
    gaps = lacking_in(group)
    assert {row.response for row in gaps} == set(case.responses.values_list("pk", flat=True))
    assert {row.criteria for row in gaps} == {(fresh,)} and {row.rubric for row in gaps} == {rubric.pk}
    after = group_ratings(group)  # without the two decisions on what no published rubric holds any more
    assert len(before) == 9 and len(after) == 7 and set(after.keys()) < set(before.keys())
    (consequence,) = consequences(case, rubric)
    assert (consequence.stands, consequence.missing, consequence.responses) == (4, 2, 2)


def test_the_same_physicians_are_asked_and_only_about_what_is_lacking(group: ExpertGroup) -> None:
    case = first_case(group)
    graded = {row.response_id: row.annotator_id for row in Assignment.objects.filter(case=case)}
    rubric = reword(case, 0, 2)
    client = Client()
    client.force_login(group.benchmark.roles.get().user)
    url = f"/b/{group.benchmark.slug}/regrading/"
    page = client.get(url, {"group": group.public_id, "check_policy": "none"})
    plan = page.context["plan"]
    assert (plan.responses, plan.decisions, plan.checks) == (2, 4, 0)
    form = {"group": group.public_id, "title": "Again", "check_policy": "none"}
    form["seed"] = page.context["form"]["seed"].value()
    assert client.post(url, form | {"digest": "another"}).status_code == 409
    assert client.post(url, form | {"digest": plan.digest}).status_code == 302
    again = Assignment.objects.filter(batch__title="Again")
    assert {row.response_id: row.annotator_id for row in again} == graded
    criteria = [rubric.items.get(position=place).criterion_id for place in (1, 3)]
    assert all(row.criteria == criteria and row.rubric == rubric for row in again)
    assert lacking_in(group) == []  # it is asked for by now
    row = again[0]
    client.force_login(row.annotator)
    shown = client.get(f"/work/{row.public_id}/")
    assert [line.line.id for line in shown.context["rows"]] == criteria
    assert [(line.line.number, line.outcome) for line in shown.context["earlier"]] == [(2, "not_met")]
    for assignment in again:
        decide(assignment, "not_met")
    assert len(group_ratings(group)) == 9
    with pytest.raises(DomainError):
        plan_regrading(group=group, terms=BatchTerms(title="x", check_policy="none"))


@pytest.mark.parametrize("needs_note", [True, False])
def test_cannot_assess_needs_a_note_where_it_did_before(needs_note: bool) -> None:
    case = CaseFactory()
    ResponseFactory(case=case)
    group = ExpertGroupFactory(benchmark=case.benchmark, annotators=1)
    make_batch(group, explain_cannot_assess=needs_note)
    decide(Assignment.objects.get(), "met", "met")
    reword(case, 0)
    plan = plan_regrading(group=group, terms=BatchTerms(title="Again", check_policy="none"))
    warning = "“Can’t assess” requires a note, as in an earlier batch with these responses."
    assert (warning in plan.warnings) is needs_note
    batch = create_regrading(plan=plan, by=None, at=timezone.now())
    assert batch.explain_cannot_assess is needs_note
    again = batch.assignments.get()
    if needs_note:
        with pytest.raises(Unanswered):
            decide(again, "cannot_assess")
    else:
        decide(again, "cannot_assess")


def test_of_two_who_make_the_same_batch_at_once_one_gets_an_error(group: ExpertGroup) -> None:
    reword(first_case(group), 0)
    plan, other = (plan_regrading(group=group, terms=BatchTerms(title="x", check_policy="none")) for _ in range(2))
    create_regrading(plan=plan, by=None, at=timezone.now())
    with pytest.raises(Conflict):
        create_regrading(plan=other, by=None, at=timezone.now())
    assert Assignment.objects.filter(batch__title="x").count() == 2


def test_who_is_still_at_an_earlier_version_is_asked_as_well() -> None:
    case = CaseFactory()
    ResponseFactory(case=case)
    group = ExpertGroupFactory(benchmark=case.benchmark, annotators=2)
    make_batch(group, annotators_per_item=2)
    done, at_it = Assignment.objects.order_by("pk")
    decide(done, "met", "met")
    Assignment.objects.filter(pk=at_it.pk).update(status="draft", started_at=timezone.now())
    rubric = reword(case, 0)
    plan = plan_regrading(group=group, terms=BatchTerms(title="x", check_policy="none"))
    create_regrading(plan=plan, by=None, at=timezone.now())
    again = Assignment.objects.filter(batch__title="x")
    assert {row.annotator_id for row in again} == {done.annotator_id, at_it.annotator_id}
    assert all(row.criteria == [rubric.items.get(position=1).criterion_id] for row in again)


def test_the_api_lists_and_makes_it_for_chosen_cases(group: ExpertGroup, client: Client) -> None:
    first, second = Case.objects.filter(benchmark=group.benchmark).order_by("pk")
    reword(first, 0)
    reword(second, 0, 1)
    client.force_login(group.benchmark.roles.get().user)
    url = f"/api/v1/benchmarks/{group.benchmark.slug}/regrading/"
    (summary,) = client.get(url).json()
    assert (summary["group"], summary["cases"], summary["responses"], summary["decisions"]) == (
        group.public_id,
        2,
        3,
        4,
    )
    body = {"group": group.public_id, "title": "Again", "check_policy": "none", "cases": [second.public_id]}
    response = client.post(url, body, content_type="application/json")
    assert response.status_code == 201 and (response.json()["responses"], response.json()["decisions"]) == (1, 2)
    assert client.get(url).json()[0]["decisions"] == 2


def test_somebody_else_steps_in_for_who_left_and_gets_the_same_criteria_when_work_is_passed_on(
    group: ExpertGroup,
) -> None:
    case = first_case(group)
    gone = Assignment.objects.filter(case=case).first().annotator
    Membership.objects.filter(user=gone).update(active=False)
    third = member(group)
    reword(case, 0)
    terms = BatchTerms(title="Again", check_policy="none", seed=1)
    plan = plan_regrading(group=group, terms=terms)
    assert gone.pk not in {piece.annotator for piece in plan.pieces} and len(plan.warnings) == 1
    User.objects.filter(pk=third.pk).update(email="")
    assert "cannot sign in" in plan_regrading(group=group, terms=terms).warnings[1]
    batch = create_regrading(plan=plan, by=None, at=timezone.now())
    row = batch.assignments.select_related("annotator").first()
    fourth = member(group)
    assert third.pk in {piece.annotator for piece in plan.pieces}
    reassign(assignments=[row], to=fourth, by=None, at=timezone.now())
    passed = batch.assignments.get(annotator=fourth)
    assert passed.criteria == row.criteria and passed.criteria is not None


def test_rulings_under_two_versions_count_once_each() -> None:
    benchmark = BenchmarkFactory()
    case = CaseFactory(benchmark=benchmark)
    ResponseFactory(case=case)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=2, adjudicators=1)
    make_batch(group, annotators_per_item=2)
    for row, outcome in zip(Assignment.objects.order_by("pk"), ("met", "not_met"), strict=True):
        decide(row, outcome)
    settle(group, "met")
    reword(case, 0)
    plan = plan_regrading(group=group, terms=BatchTerms(title="Again", check_policy="none", seed=1))
    again = create_regrading(plan=plan, by=None, at=timezone.now())
    for row, outcome in zip(again.assignments.order_by("pk"), ("met", "not_met"), strict=True):
        decide(row, outcome)
    assert Adjudication.objects.count() == 2
    settle(group, "not_met")
    final = group_ratings(group, "final")
    keys = final.keys()
    assert len(final) == 3 and len(set(keys.tolist())) == 3
    assert sorted(final.outcome.tolist()) == [0, 1, 1]


def settle(group: ExpertGroup, outcome: str) -> None:
    """Let the adjudicator rule on what is open."""
    judge = group.people["adjudicator"][0]  # type: ignore[attr-defined]
    row = claim_adjudication(adjudicator=judge, waiting=Adjudication.objects.all())
    assert row is not None
    for criterion in row.criteria:
        rule(adjudication=row, adjudicator=judge, criterion=criterion, outcome=outcome, at=timezone.now())
    finish_adjudication(adjudication=row, adjudicator=judge, at=timezone.now())


def test_what_was_graded_on_another_track_asks_for_nothing_of_the_gold_rubric(group: ExpertGroup) -> None:
    case = CaseFactory(benchmark=group.benchmark)
    ResponseFactory(case=case)
    beside = publish_rubric(case, [1, 1], track="meta_eval")
    batch = make_batch(group, cases=(case.key,))
    row = batch.assignments.get()
    Assignment.objects.filter(pk=row.pk).update(rubric=beside)
    row.refresh_from_db()
    decide(row)
    reword(case, 0)
    assert lacking_in(group) == []


def test_what_nobody_was_asked_about_is_lacking_as_well(group: ExpertGroup) -> None:
    case = CaseFactory(benchmark=group.benchmark)
    ResponseFactory(case=case)
    row = make_batch(group, cases=(case.key,)).assignments.get()
    first, second, third = case.rubrics.get().items.values_list("criterion", flat=True)
    Assignment.objects.filter(pk=row.pk).update(criteria=[first, second])
    row.refresh_from_db()
    decide(row)
    rubric = reword(case, 0)
    assert [gap.criteria for gap in lacking_in(group)] == [(rubric.items.get(position=1).criterion_id, third)]


def test_what_is_graded_again_is_checked_as_the_latest_batch_was(group: ExpertGroup, client: Client) -> None:
    reword(first_case(group), 1)
    client.force_login(group.benchmark.roles.get().user)
    url = f"/b/{group.benchmark.slug}/regrading/?group={group.public_id}"
    for policy, share in (("none", 0.0), ("sample", 0.35), ("all", 1.0)):
        Batch.objects.filter(group=group).update(check_policy=policy, check_fraction=share)
        form = client.get(url).context["form"]
        assert form["check_policy"].value() == policy
        assert policy != "sample" or form["check_percent"].value() == 35
    assert client.get(f"{url}&check_policy=none").context["form"]["check_policy"].value() == "none"
