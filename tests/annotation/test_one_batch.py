"""A preview is made into a batch once, however many send it at once, and nobody has the same work twice."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from annotation.labels.batches import CaseFilter, LabelTerms, plan_labels
from annotation.models import Assignment, Batch, ExpertGroup, LabelTask, WritingTask
from annotation.services import BatchTerms, close_batch, create_batch, plan_batch
from annotation.services.drawing import ResponseFilter
from annotation.services.previews import AlreadyCreated
from annotation.services.slots import claim_next
from consilium.core.errors import DomainError
from tests.annotation.labels.labels_world import question
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
from tests.posting import AT_ONCE, at_once
from tests.processes import web_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(scope="module")
def port(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with web_server(process_environment, tmp_path_factory.mktemp("uploads")) as number:
        yield number


@pytest.fixture
def group(transactional_db: None, settings: Any) -> ExpertGroup:
    """Two annotators, and six responses of two candidates to three cases."""
    settings.SESSION_ENGINE = "accounts.sessions"  # where the web server looks for them
    benchmark = BenchmarkFactory(slug="study", admin=UserFactory())
    candidates = [CandidateFactory(benchmark=benchmark) for _ in range(2)]
    for key in "abc":
        case = CaseFactory(benchmark=benchmark, key=key)
        for candidate in candidates:
            ResponseFactory(case=case, candidate=candidate)
    return ExpertGroupFactory(benchmark=benchmark, annotators=2, checkers=1)


def admin_of(group: ExpertGroup) -> User:
    return group.benchmark.roles.get().user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def previewed(client: Client, path: str, form: Mapping[str, Any]) -> str:
    """The digest that the preview puts into the form."""
    page = client.get(path, form).content.decode()
    match = re.search(r'name="digest" value="(\w+)"', page)
    assert match is not None, page
    return match[1]


def test_50_at_once_make_one_batch_from_one_preview(port: int, group: ExpertGroup) -> None:
    client = signed_in(admin_of(group))
    form = {
        "group": group.public_id, "title": "Pilot", "annotators_per_item": 2, "check_policy": "none",
        "order": "by_case", "strategy": "planned", "specialty_match": "none", "seed": 11, "skip_given": "on",
    }  # fmt: skip
    digest = previewed(client, "/b/study/batches/preview/", form)
    answers = at_once(port, admin_of(group), "/b/study/batches/new/", form | {"digest": digest})
    batch = Batch.objects.get()
    assert {*answers} == {(302, f"/b/study/batches/{batch.public_id}/")}
    work = Counter(Assignment.objects.values_list("response", "annotator"))
    assert len(work) == 6 * 2 and set(work.values()) == {1}
    page = client.post("/b/study/batches/new/", form | {"digest": digest}, follow=True)
    assert "already created from this preview" in page.content.decode()


@pytest.mark.parametrize("strategy", ["planned", "pool"])
@pytest.mark.parametrize("skip_given", [True, False])
def test_the_api_answers_a_repeated_request_with_the_batch_that_is_there(
    port: int, group: ExpertGroup, strategy: str, skip_given: bool
) -> None:
    payload = {
        "group": group.public_id, "title": "Pilot", "check_policy": "none", "seed": 11, "strategy": strategy,
        "filter": {"skip_given": skip_given},
    }  # fmt: skip
    address = "/api/v1/benchmarks/study/batches/"
    preview = signed_in(admin_of(group)).post(f"{address}preview/", payload, "application/json").json()
    answers = at_once(port, admin_of(group), address, payload | {"digest": preview["digest"]}, as_json=True)
    assert sorted(Counter(status for status, _body in answers).items()) == [(200, AT_ONCE - 1), (201, 1)]
    assert {json.loads(body)["id"] for _status, body in answers} == {Batch.objects.get().public_id}
    assert Assignment.objects.count() == (6 if strategy == "planned" else 0)


def test_without_a_digest_50_at_once_ask_nobody_twice(port: int, group: ExpertGroup) -> None:
    payload = {"group": group.public_id, "title": "Pilot", "check_policy": "none", "annotators_per_item": 2}
    answers = at_once(port, admin_of(group), "/api/v1/benchmarks/study/batches/", payload, as_json=True)
    assert Counter(status for status, _body in answers) == {201: 1, 422: AT_ONCE - 1}
    assert Batch.objects.count() == 1
    assert set(Counter(Assignment.objects.values_list("response", "annotator")).values()) == {1}


def pool(group: ExpertGroup, **terms: Any) -> dict[str, Any]:
    payload = {"group": group.public_id, "title": "Round 1", "check_policy": "none", "seed": 11, "strategy": "pool"}
    return {**payload, "filter": {"skip_given": False}, **terms}


def test_a_second_pool_without_a_digest_is_another_batch(group: ExpertGroup) -> None:
    client = signed_in(admin_of(group))
    address = "/api/v1/benchmarks/study/batches/"
    first = client.post(address, pool(group), "application/json")
    close_batch(batch=Batch.objects.get(), at=timezone.now())
    terms = {"title": "Round 2", "lease_hours": 4, "due_date": "2099-01-01"}
    second = client.post(address, pool(group, **terms), "application/json")
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json()["title"] == "Round 2"
    batch = Batch.objects.get(title="Round 2")
    assert (batch.lease_hours, batch.status) == (4, "open")


def test_a_repeated_request_with_other_settings_names_those_that_were_not_taken(group: ExpertGroup) -> None:
    client = signed_in(admin_of(group))
    address = "/api/v1/benchmarks/study/batches/"
    payload = pool(group)
    payload["digest"] = client.post(f"{address}preview/", payload, "application/json").json()["digest"]
    created = client.post(address, payload, "application/json")
    assert created.status_code == 201 and "not_taken" not in created.json()
    again = client.post(address, payload, "application/json")
    assert (again.status_code, again.json().pop("not_taken")) == (200, [])
    other = {
        **payload,
        "title": "Other",
        "check_policy": "all",
        "order": "shuffled",
        "due_date": "2099-01-01",
        "filter": {"skip_given": True},
    }
    answer = client.post(address, other, "application/json").json()
    assert set(answer["not_taken"]) == {"title", "check_policy", "order", "due_date", "filter"}
    assert {name: value for name, value in answer.items() if name != "not_taken"} == created.json()
    assert Batch.objects.count() == 1


@pytest.mark.parametrize(
    "terms",
    [{"lease_hours": 4}, {"order": "shuffled"}, {"annotators_per_item": 2}, {"seed": 12}],
)
def test_a_preview_of_a_pool_on_other_terms_is_another_preview(group: ExpertGroup, terms: dict[str, Any]) -> None:
    client = signed_in(admin_of(group))
    address = "/api/v1/benchmarks/study/batches/"
    batches = []
    for payload in (pool(group), pool(group, **terms)):
        preview = client.post(f"{address}preview/", payload, "application/json")
        assert preview.status_code == 200, preview.content
        answer = client.post(address, payload | {"digest": preview.json()["digest"]}, "application/json")
        assert answer.status_code == 201, answer.content
        batches.append(answer.json()["id"])
    assert len({*batches}) == 2


def test_50_at_once_give_cases_out_once_for_labels(port: int, group: ExpertGroup) -> None:
    label_question = question(group.benchmark)
    client = signed_in(admin_of(group))
    form = {
        "group": group.public_id, "questions": [label_question.public_id], "title": "Labels", "annotators_per_case": 2,
        "seed": 11, "skip_given": "on",
    }  # fmt: skip
    digest = previewed(client, "/b/study/labels/new-batch/preview/", form)
    answers = at_once(port, admin_of(group), "/b/study/labels/new-batch/", form | {"digest": digest})
    assert {*answers} == {(302, f"/b/study/batches/{Batch.objects.get().public_id}/")}
    assert set(Counter(LabelTask.objects.values_list("case", "annotator")).values()) == {1}


def test_50_at_once_give_cases_out_once_for_writing(port: int, group: ExpertGroup) -> None:
    client = signed_in(admin_of(group))
    page = client.get("/b/study/batches/write/").context["form"]
    form = {name: field.initial for name, field in page.fields.items() if isinstance(field.initial, str | int)}
    form |= {"group": group.public_id, "title": "Our own", "mode": "unaided", "seed": 11, "writers_per_case": 1}
    digest = previewed(client, "/b/study/batches/write/preview/", form)
    answers = at_once(port, admin_of(group), "/b/study/batches/write/", form | {"digest": digest})
    assert {*answers} == {(302, f"/b/study/batches/{Batch.objects.get().public_id}/")}
    assert set(Counter(WritingTask.objects.values_list("case", "writer")).values()) == {1}


def test_50_at_once_ask_for_new_criteria_once(port: int, group: ExpertGroup, reword: Callable[..., Any]) -> None:
    make_batch(group, annotators_per_item=2)
    for row in Assignment.objects.all():
        decide(row, "met")
    reword(group)
    client = signed_in(admin_of(group))
    form: dict[str, Any] = {"group": group.public_id, "title": "Again", "check_policy": "none", "seed": 11}
    digest = previewed(client, "/b/study/regrading/", form)
    answers = at_once(port, admin_of(group), "/b/study/regrading/", form | {"digest": digest})
    batch = Batch.objects.get(title="Again")
    assert {*answers} == {(302, f"/b/study/batches/{batch.public_id}/")}
    assert set(Counter(Assignment.objects.filter(batch=batch).values_list("response", "annotator")).values()) == {1}


@pytest.fixture
def reword() -> Callable[[ExpertGroup], None]:
    from rubrics.models import Case
    from tests.annotation.regrading.test_regrading import reword as reword_case

    def change(group: ExpertGroup) -> None:
        for case in Case.objects.filter(benchmark=group.benchmark):
            reword_case(case, 0)

    return change


# What the database holds ----------------------------------------------------------------------------------------------


def copy_of(row: Assignment, **values: Any) -> Assignment:
    batch = Batch.objects.create(group=row.batch.group, title="Other", seed=1, created_at=timezone.now())
    fields = {"case": row.case, "response": row.response, "rubric": row.rubric, "annotator": row.annotator}
    return Assignment(batch=batch, **{**fields, **values})


@pytest.mark.parametrize("status", Assignment.LIVE)
def test_nobody_has_live_work_twice(group: ExpertGroup, status: str) -> None:
    make_batch(group)
    row = Assignment.objects.first()
    assert row is not None
    Assignment.objects.filter(pk=row.pk).update(status=status)
    from annotation.services.rules import readable_constraint_errors

    with pytest.raises(DomainError, match="in another batch"), readable_constraint_errors():
        copy_of(row).save()
    copy_of(row, criteria=[1]).save()  # other criteria are other work
    with pytest.raises(DomainError, match="in another batch"), readable_constraint_errors():
        copy_of(row, criteria=[1]).save()


@pytest.mark.parametrize("status", ["accepted", "released"])
def test_what_is_done_or_released_may_be_asked_again(group: ExpertGroup, status: str) -> None:
    make_batch(group)
    row = Assignment.objects.first()
    assert row is not None
    Assignment.objects.filter(pk=row.pk).update(status=status)
    copy_of(row).save()


def test_work_left_open_in_a_closed_batch_may_be_asked_again(group: ExpertGroup) -> None:
    batch = make_batch(group)
    row = Assignment.objects.first()
    assert row is not None
    close_batch(batch=batch, at=timezone.now())
    row.refresh_from_db()
    assert row.batch_closed
    copy_of(row).save()
    closed = copy_of(row)
    Batch.objects.filter(pk=closed.batch.pk).update(status="closed", closed_at=timezone.now())
    closed.save()  # as an import does, into a batch that is closed from the start
    closed.refresh_from_db()
    assert closed.batch_closed


def test_of_two_pools_an_annotator_takes_a_response_once(group: ExpertGroup) -> None:
    annotator = group.people["annotator"][0]  # type: ignore[attr-defined]
    batches = [make_batch(group, strategy="pool", skip_given=False, seed=seed) for seed in (1, 2)]
    for _ in range(8):
        for batch in batches:
            row = claim_next(annotator=annotator, batch=batch, at=timezone.now())
            if row is not None:
                decide(row, "met")
    assert set(Counter(Assignment.objects.values_list("response", "annotator")).values()) == {1}


def test_a_plan_from_before_another_batch_is_refused(group: ExpertGroup) -> None:
    terms = BatchTerms(title="One", check_policy="none", seed=1)
    plan = plan_batch(group=group, terms=terms, filter=ResponseFilter())
    other = plan_batch(
        group=group, terms=BatchTerms(title="Two", check_policy="none", seed=1, due_date=None), filter=ResponseFilter()
    )
    create_batch(plan=plan, by=None, at=timezone.now())
    with pytest.raises(DomainError):
        create_batch(plan=other, by=None, at=timezone.now())
    assert Batch.objects.count() == 1


def test_two_forms_with_seeds_of_their_own_are_two_batches(group: ExpertGroup) -> None:
    client = signed_in(admin_of(group))
    address = "/api/v1/benchmarks/study/batches/"
    for seed, draw in ((1, 2), (2, 3)):
        payload: dict[str, Any] = {"group": group.public_id, "title": "Part", "check_policy": "none", "seed": seed}
        payload["filter"] = {"draw": draw}
        digest = client.post(f"{address}preview/", payload, "application/json").json()["digest"]
        assert client.post(address, payload | {"digest": digest}, "application/json").status_code == 201
    assert Batch.objects.count() == 2
    assert Assignment.objects.count() == 5


def test_closing_a_batch_marks_its_open_work_and_no_other(group: ExpertGroup) -> None:
    closed = make_batch(group)
    close_batch(batch=closed, at=timezone.now())
    make_batch(group, skip_given=False, seed=8, annotators_per_item=1)
    left_open = Assignment.objects.filter(batch=closed).count()
    assert Assignment.objects.filter(batch_closed=True).count() == left_open == 6
    assert not Assignment.objects.filter(batch_closed=True).exclude(batch=closed).exists()


def test_labels_of_the_same_preview_are_refused_by_the_service(group: ExpertGroup) -> None:
    from annotation.labels.batches import create_label_batch

    label_question = question(group.benchmark)
    terms = LabelTerms("Labels", 2, 5)
    plans = [plan_labels(group=group, questions=[label_question], terms=terms, filter=CaseFilter()) for _ in range(2)]
    create_label_batch(plan=plans[0], by=None, at=timezone.now(), digest=plans[0].digest)
    with pytest.raises(AlreadyCreated):
        create_label_batch(plan=plans[1], by=None, at=timezone.now(), digest=plans[1].digest)
