"""Nobody is given a case in a language that, by their profile, they do not read."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import PhysicianProfile, User
from annotation import access
from annotation.labels.handover import takers_of
from annotation.models import Assignment, Batch, ExpertGroup, LabelTask
from annotation.selectors.languages_read import warn_of_unadjudicated
from annotation.services import slots
from annotation.services.slots.free_slots import stuck_slots
from consilium.core.errors import DomainError
from rubrics.editor.draft_content import items_of
from rubrics.models import AuthoringRole, Benchmark, Case
from rubrics.selectors.dashboard import rewordings, rubrics_waiting, waiting_of
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import send_to_review
from rubrics.services.revisions import request_revision
from rubrics.versions.selectors import reviewable_by
from tests.annotation.labels.labels_world import give_out, question
from tests.annotation.writing.writing_world import build_writing_world
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


def reads(user: User, *languages: str) -> User:
    PhysicianProfile.objects.update_or_create(user=user, defaults={"languages": list(languages)})
    return user


def clinic(*languages: str) -> Benchmark:
    """A benchmark with a response to a case in each of ``languages``."""
    benchmark: Benchmark = BenchmarkFactory(admin=UserFactory())
    candidate = CandidateFactory(benchmark=benchmark)
    for number, language in enumerate(languages):
        case = CaseFactory(benchmark=benchmark, key=f"{language or 'none'}-{number}", language=language, rubric=2)
        ResponseFactory(case=case, candidate=candidate)
    return benchmark


def given(user: User) -> list[str]:
    """The languages of the cases that ``user`` got, sorted."""
    return sorted(Assignment.objects.filter(annotator=user).values_list("case__language", flat=True))


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def admin_of(benchmark: Benchmark) -> Client:
    return signed_in(User.objects.get(benchmark_roles__benchmark=benchmark, benchmark_roles__role="admin"))


def two_readers(*languages: str) -> tuple[ExpertGroup, User, User]:
    """A group over ``clinic(*languages)`` with a reader of English and one of English and Chinese."""
    group = ExpertGroupFactory(benchmark=clinic(*languages))
    return group, reads(member(group), "en"), reads(member(group), "en", "zh")


def test_a_reader_of_english_gets_no_chinese_case_though_loads_then_differ() -> None:
    group, english, both = two_readers("en", "zh", "zh-Hant", "zh", "pt-BR")
    reads(both, "en", "zh", "pt")
    make_batch(group)
    assert given(english) == ["en"]
    assert given(both) == ["pt-BR", "zh", "zh", "zh-Hant"]


def test_a_case_without_a_language_is_for_all_and_so_is_a_physician_who_has_named_none() -> None:
    group, english, _both = two_readers("", "zh")
    everything = member(group)
    make_batch(group, annotators_per_item=2)
    assert "zh" not in given(english)
    assert given(everything).count("zh") == 1


def test_without_the_match_cases_go_to_anybody() -> None:
    group, english, both = two_readers("zh", "zh", "zh", "zh")
    batch = make_batch(group, match_languages=False)
    assert len(given(english)) == len(given(both)) == 2
    assert not batch.match_languages


def test_what_too_few_read_is_refused_with_the_language_and_the_numbers() -> None:
    group, _english, _both = two_readers("en", "zh", "zh")
    with pytest.raises(
        DomainError, match=r"2 of the chosen cases or responses are in Chinese\. Annotators who read it: 1; required: 2"
    ):
        make_batch(group, annotators_per_item=2)
    make_batch(group, annotators_per_item=2, languages=["en"])


def test_a_check_needs_a_checker_who_reads_the_case_and_only_such_a_one_is_offered_it() -> None:
    group, english, both = two_readers("en", "zh")
    first = reads(member(group, "checker"), "en")
    with pytest.raises(DomainError, match="No checker of the group reads Chinese"):
        make_batch(group, check_policy="all")
    second = reads(member(group, "checker"), "zh")
    make_batch(group, check_policy="all")
    for row in Assignment.objects.filter(annotator__in=[english, both]):
        decide(row)
    offered = {
        checker.pk: sorted(access.waiting_checks(checker).values_list("case__language", flat=True))
        for checker in (first, second)
    }
    assert offered == {first.pk: ["en"], second.pk: ["zh"]}
    Batch.objects.update(match_languages=False)
    assert access.waiting_checks(first).count() == 2


def test_a_conflict_goes_to_an_adjudicator_who_reads_the_case() -> None:
    group, _english, both = two_readers("zh")
    other = reads(member(group), "zh")
    first = reads(member(group, "adjudicator"), "en", "da")
    make_batch(group, annotators_per_item=2)
    second = reads(member(group, "adjudicator"), "zh")
    for user, outcome in ((both, "met"), (other, "not_met")):
        decide(Assignment.objects.get(annotator=user), outcome)
    assert [access.open_adjudications(user).count() for user in (first, second)] == [0, 1]
    Batch.objects.update(match_languages=False)  # an admin gave the cases to anybody
    assert access.open_adjudications(first).count() == 1


def test_a_plan_warns_of_languages_that_no_adjudicator_reads() -> None:
    readers = {1: ["en"], 2: ["da"]}
    assert warn_of_unadjudicated({"en", "da", ""}, readers) == []
    assert warn_of_unadjudicated({"zh"}, readers) == [
        "No adjudicator of the group reads Chinese. Conflicts in this language wait until one does."
    ]


def test_a_rubric_is_reviewed_and_reworded_by_authors_who_read_its_case() -> None:
    case = CaseFactory(benchmark=clinic(), language="zh", rubric=2)
    benchmark, rubric = case.benchmark, case.rubrics.get()
    writer, english, chinese = (UserFactory() for _ in range(3))
    for user in (writer, english, chinese):
        AuthoringRole.objects.create(benchmark=benchmark, user=user, role="author")
    reads(english, "en")
    reads(chinese, "zh")
    now = timezone.now()
    request_revision(rubric=rubric, criterion=rubric.items.first().criterion, response=None, reason="Unclear", by=None,
                     at=now)  # fmt: skip
    draft = open_draft(case=case, by=writer, at=now)
    first, *others = items_of(draft.draft.content)
    save_draft(
        rubric=draft, items=[replace(first, text="Clearer"), *others], version=draft.draft.version, client_id=uuid4(),
        by=writer, at=now,
    )  # fmt: skip
    draft.draft.refresh_from_db()
    send_to_review(rubric=draft, note="Reworded", by=writer, at=now)
    for user, count in ((english, 0), (chinese, 1)):
        assert reviewable_by(user, benchmark).count() == count
        assert waiting_of(user, [benchmark.pk])[benchmark.pk].reviews == count
        assert len(rubrics_waiting(user, benchmark.pk)["reviews"]) == count
        assert len(rewordings(user, benchmark)) == count


def test_claims_from_a_pool_pass_over_cases_that_one_does_not_read() -> None:
    group, english, both = two_readers("en", "zh", "zh-Hans", "")
    batch = make_batch(group, strategy="pool")
    while slots.claim_next(annotator=english, batch=batch, at=timezone.now()):
        decide(Assignment.objects.filter(annotator=english, status="not_started").get())
    assert given(english) == ["", "en"]
    assert stuck_slots(batch) == []
    reads(both, "en")
    assert [row.reasons for row in stuck_slots(batch)] == [("2 annotators do not read its language.",)] * 2


def test_work_is_not_handed_to_somebody_who_cannot_read_it() -> None:
    group, english, both = two_readers("zh")
    batch = make_batch(group)
    row = Assignment.objects.get(annotator=both)
    with pytest.raises(DomainError, match=r"1 of these cases is in a language that .* does not read"):
        slots.reassign(assignments=[row], to=english, by=both, at=timezone.now())
    assert batch.match_languages


def test_the_preview_shows_the_languages_and_who_reads_them() -> None:
    group, _english, _both = two_readers("en", "zh", "zh", "")
    member(group)
    benchmark = group.benchmark
    data = {
        "title": "First", "group": group.public_id, "annotators_per_item": 1, "check_policy": "none",
        "order": "by_case", "seed": 11, "strategy": "planned", "specialty_match": "none", "match_languages": "on",
    }  # fmt: skip
    page = " ".join(admin_of(benchmark).get(f"/b/{benchmark.slug}/batches/preview/", data).content.decode().split())
    unsaid = '<span class="sub"> and 1 who has not named any language, and may receive it </span>'
    assert f'<th scope="row">Chinese</th> <td class="num">2</td> <td class="num"> 1 {unsaid} </td>' in page
    assert f'<th scope="row">English</th> <td class="num">1</td> <td class="num"> 2 {unsaid} </td>' in page
    assert '<th scope="row">Not given</th> <td class="num">1</td> <td class="num"> 3 </td>' in page
    assert "1 annotator has not named the languages they read and may receive cases in any language." in page
    assert "· English, Chinese" in page
    assert "· languages not named" in page
    del data["match_languages"]
    page = admin_of(benchmark).get(f"/b/{benchmark.slug}/batches/preview/", data).content.decode()
    assert "languages not named" not in page


def test_the_api_makes_a_batch_that_matches_languages_unless_it_says_otherwise() -> None:
    group, _english, _both = two_readers("en", "zh")
    benchmark = group.benchmark
    client = admin_of(benchmark)
    body = {"title": "By API", "group": group.public_id, "seed": 5, "check_policy": "none"}
    address = f"/api/v1/benchmarks/{benchmark.slug}/batches/preview/"
    plan = client.post(address, json.dumps(body), content_type="application/json").json()
    assert plan["languages"] == [
        {"tag": "en", "responses": 1, "readers": 2},
        {"tag": "zh", "responses": 1, "readers": 1},
    ]
    assert sorted(load["languages"] for load in plan["loads"]) == [["en"], ["en", "zh"]]


def test_cases_to_label_go_to_those_who_read_them() -> None:
    benchmark = BenchmarkFactory()
    for language in ("en", "zh", "zh"):
        CaseFactory(benchmark=benchmark, language=language)
    group = ExpertGroupFactory(benchmark=benchmark)
    english, both = reads(member(group), "en"), reads(member(group), "en", "zh")
    urgency = question(benchmark)
    with pytest.raises(DomainError, match="2 of the chosen cases or responses are in Chinese"):
        give_out(group, urgency, annotators=2)
    batch = give_out(group, urgency, annotators=1)
    languages = LabelTask.objects.filter(batch=batch).values_list("annotator", "case__language")
    assert sorted(languages) == sorted([(english.pk, "en"), (both.pk, "zh"), (both.pk, "zh")])
    tasks = list(LabelTask.objects.filter(annotator=both))
    assert english.pk not in takers_of(batch=batch, tasks=tasks)
    Batch.objects.update(match_languages=False)
    batch.refresh_from_db()
    assert takers_of(batch=batch, tasks=tasks)[english.pk] == tasks


def test_cases_that_too_few_writers_read_are_left_out_of_a_writing_batch_with_the_reason() -> None:
    world = build_writing_world(annotators=2)
    first, second = world.people
    reads(first, "en")
    reads(second, "en")
    french = next(iter(world.cases.values()))
    Case.objects.filter(pk=french.pk).update(language="fr")
    plan = world.plan()
    assert french.pk not in plan.cases
    assert plan.without_writers == 1
    assert "2 physicians cannot be assigned 1 case because they do not read the language of the case." in plan.left_out
    assert french.pk in world.plan(match_languages=False).cases
