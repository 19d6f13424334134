"""Nothing is approved that nobody read, and nothing is written over that somebody else has saved."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.identity import opaque_name
from accounts.models import User
from annotation.writing.batches import create_writing_batch
from annotation.writing.writing_plan import WritingFilter, WritingOrder
from consilium.core.errors import Conflict
from rubrics.editor.case_content import CaseContent, Turn, content_of
from rubrics.editor.draft_content import DraftItem
from rubrics.models import AuthoringRole, Benchmark, Case, Rubric, RubricDraft
from rubrics.services.case_editing import Frozen, create_case, save_case
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import approve, discard_draft, send_to_review, take_back
from tests.factories import BenchmarkFactory, ExpertGroupFactory, ResponseFactory, UserFactory
from tests.results import result_of

pytestmark = pytest.mark.django_db
ITEMS = [DraftItem("a", "Asks how long it has hurt", 5)]


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="b")


def author(benchmark: Benchmark) -> User:
    user = UserFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=user, role="author")
    return user


def written(benchmark: Benchmark, by: User, says: str = "My head hurts.") -> tuple[Case, Rubric]:
    content = CaseContent(key="new", conversation=(Turn("user", says),))
    case = create_case(benchmark=benchmark, content=content, by=by, at=timezone.now())
    rubric = open_draft(case=case, by=by, at=timezone.now())
    save_draft(rubric=rubric, items=ITEMS, version=1, client_id=uuid.uuid4(), by=by, at=timezone.now())
    return case, rubric


def say(case: Case, text: str, by: User) -> None:
    case.refresh_from_db()
    content = replace(content_of(case), conversation=(Turn("user", text),))
    save_case(case=case, content=content, version=case.edit_version, client_id=None, by=by, at=timezone.now())


def digest(rubric: Rubric) -> str:
    return RubricDraft.objects.get(rubric=rubric).digest


@pytest.mark.slow
def test_an_approval_is_of_the_case_as_well(benchmark: Benchmark) -> None:
    benchmark.authoring = {"reviewers": 2}
    benchmark.save()
    writer, first, second = author(benchmark), author(benchmark), author(benchmark)
    case, rubric = written(benchmark, writer)
    send_to_review(rubric=rubric, note="", by=writer, at=timezone.now())
    read = digest(rubric)
    agreed = {"rubric": rubric, "comment": "", "at": timezone.now()}
    assert approve(**agreed, reviewer=first, digest=read).status == "in_review"
    take_back(rubric=rubric, by=writer, at=timezone.now())
    say(case, "My chest hurts.", writer)
    send_to_review(rubric=rubric, note="", by=writer, at=timezone.now())
    with pytest.raises(Conflict):  # the page was opened before the case was changed
        approve(**agreed, reviewer=second, digest=read)
    assert (
        approve(**agreed, reviewer=second, digest=digest(rubric)).status == "in_review"
    )  # the first read another case
    say_again = approve(**agreed, reviewer=first, digest=digest(rubric))
    assert say_again.status == "published"


def test_an_approval_holds_where_the_case_is_as_it_was(benchmark: Benchmark) -> None:
    writer = author(benchmark)
    case, rubric = written(benchmark, writer)
    read = digest(rubric)
    say(case, "My chest hurts.", writer)
    assert digest(rubric) != read
    say(case, "My head hurts.", writer)
    assert digest(rubric) == read


@pytest.mark.slow
def test_a_conversation_that_was_answered_cannot_be_changed(benchmark: Benchmark) -> None:
    writer = author(benchmark)
    case, _rubric = written(benchmark, writer)
    response = ResponseFactory(case=case)
    with pytest.raises(Frozen):
        say(case, "My chest hurts.", writer)
    case.refresh_from_db()
    content = replace(content_of(case), reference_answer="Rest.")
    save_case(case=case, content=content, version=case.edit_version, client_id=None, by=writer, at=timezone.now())
    response.delete()
    say(case, "My chest hurts.", writer)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=1)
    order = WritingOrder(group=group, title="Write", seed=1)
    create_writing_batch(order=order, filter=WritingFilter(), by=None, at=timezone.now())
    with pytest.raises(Frozen):  # somebody writes to it
        say(case, "My head hurts.", writer)


def save(client: Client, user: User, case: Case, **fields: Any) -> Any:
    body = {"who": opaque_name(user), "client_id": str(uuid.uuid4()), **fields}
    url = f"/b/b/write/{case.public_id}/rubric/draft/"
    return client.post(url, json.dumps(body), content_type="application/json")


@pytest.mark.slow
def test_a_tab_of_an_earlier_draft_does_not_write_over_a_later_one(benchmark: Benchmark, client: Client) -> None:
    ada, ben = author(benchmark), author(benchmark)
    case, rubric = written(benchmark, ada)  # Ada's tab: version 2 of this draft
    client.force_login(ada)
    tab = json.loads(client.get(f"/b/b/write/{case.public_id}/rubric/draft/").text)
    discard_draft(rubric=rubric, by=ben, at=timezone.now())
    later = open_draft(case=case, by=ben, at=timezone.now())
    other = [DraftItem("b", "Ben wrote this", 3)]
    save_draft(rubric=later, items=other, version=1, client_id=uuid.uuid4(), by=ben, at=timezone.now())
    mine = [*tab["items"], {"id": "c", "text": "Ada writes on", "points": 1}]
    answer = save(client, ada, case, version=tab["version"], draft=tab["draft"], items=mine)
    assert (answer.status_code, result_of(answer)["current"]["items"][0]["text"]) == (409, "Ben wrote this")
    stands = result_of(answer)["current"]
    answer = save(client, ada, case, version=stands["version"], draft=stands["draft"], items=stands["items"])
    assert (answer.status_code, result_of(answer)["version"]) == (200, stands["version"] + 1)


@pytest.mark.slow
def test_what_somebody_has_saved_meanwhile_is_not_discarded_unseen(benchmark: Benchmark, client: Client) -> None:
    ada, ben = author(benchmark), author(benchmark)
    case, rubric = written(benchmark, ada)
    client.force_login(ada)
    page = client.get(f"/b/b/write/{case.public_id}/review/")
    seen = page.context["draft"].version
    assert f'name="version" value="{seen}"' in page.text
    save_draft(rubric=rubric, items=[], version=seen, client_id=uuid.uuid4(), by=ben, at=timezone.now())
    url = f"/b/b/write/{case.public_id}/discard/"
    assert client.post(url, {"version": seen}).status_code == 409
    assert RubricDraft.objects.filter(rubric=rubric).exists()
    assert client.post(url, {"version": seen + 1}).status_code == 302
    assert not RubricDraft.objects.filter(rubric=rubric).exists()
