"""Writing a case: nothing is lost, published text cannot change, and a privacy finding blocks until answered."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from accounts.identity import opaque_name
from accounts.models import PhysicianProfile, User
from annotation.services import set_member_active
from rubrics.editor.case_content import unready_content
from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.editor.privacy import open_findings
from rubrics.editor.rules import AuthoringRules, rules_of
from rubrics.models import AuthoringRole, AuthoringTime, Benchmark, Case, RevisionRequest
from rubrics.navigation import todos
from rubrics.services import give_authoring_role
from rubrics.services.case_editing import suggested_key
from rubrics.services.drafts import open_draft, save_draft
from tests.factories import (
    BenchmarkFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    make_batch,
    member,
)
from tests.results import result_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="b")


@pytest.fixture
def author(benchmark: Benchmark) -> User:
    user = UserFactory(name="Ada")
    give_authoring_role(benchmark=benchmark, user=user, role="author", at=timezone.now())
    return user


@pytest.fixture
def client(author: User) -> Client:
    client = Client()
    client.force_login(author)
    return client


def send(
    client: Client, case: Case, author: User, version: int, client_id: uuid.UUID | None = None, **fields: Any
) -> Any:
    body = {"who": opaque_name(author), "version": version, "client_id": str(client_id or uuid.uuid4()), "case": fields}
    return client.post(f"/b/b/write/{case.public_id}/save/", json.dumps(body), content_type="application/json")


@pytest.mark.slow
def test_a_case_is_begun_under_the_next_free_key_and_saves_itself(
    client: Client, author: User, benchmark: Benchmark
) -> None:
    CaseFactory(benchmark=benchmark, key="neuro-009")
    assert 'value="neuro-010"' in client.get("/b/b/write/new/").text
    taken = client.post("/b/b/write/new/", {"key": "neuro-009"})
    assert (taken.status_code, "Another case has this short name" in taken.text) == (422, True)
    client.post("/b/b/write/new/", {"key": "neuro-010", "register": "lay", "language": "en"})
    case = Case.objects.get(key="neuro-010")
    assert (case.created_by, case.conversation) == (author, [{"role": "user", "content": ""}])
    turns = [{"role": "user", "content": "My head hurts."}, {"role": "assistant", "content": "Since when?"}]
    key = uuid.uuid4()
    answer = send(client, case, author, 1, key, conversation=turns, tags=["specialty:neurology"])
    assert (answer.status_code, result_of(answer)["version"]) == (200, 2)
    again = send(client, case, author, 1, key, conversation=[])  # the same letter
    assert result_of(again)["version"] == 2
    stale = send(client, case, author, 1, difficulty="high")
    assert (stale.status_code, result_of(stale)["current"]["case"]["conversation"]) == (409, turns)
    case.refresh_from_db()
    assert (case.conversation, case.tags, case.difficulty) == (turns, ["specialty:neurology"], "")
    wrong = send(
        client, case, author, 2, language="Klingonese, mostly", conversation=[{"role": "nurse", "content": ""}]
    )
    assert (wrong.status_code, set(wrong.json()["errors"])) == (422, {"language", "conversation"})
    assert send(client, case, author, 2, key="neuro-009").json()["errors"]["key"] == [
        "Another case has this short name."
    ]
    other = UserFactory()
    assert send(client, case, other, 2).json() == {"reason": "somebody-else"}


@pytest.mark.slow
def test_without_scripts_turns_are_added_moved_and_removed_by_the_form(client: Client, benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, rubric=0, tags=["theme:hedging", "odd, tag"])
    url = f"/b/b/write/{case.public_id}/"
    form = {
        "version": 1,
        "key": case.key,
        "role": ["user"],
        "content": ["One\r\ntwo"],
        "reference_answer": "",
        "themes": ["hedging"],
        "others": ["odd, tag", ""],
        "specialties": ["cardiology"],
        "language": "zh",
    }
    client.post(url, {**form, "add-turn": "1"})
    case.refresh_from_db()
    assert case.conversation == [{"role": "user", "content": "One\ntwo"}, {"role": "assistant", "content": ""}]
    assert sorted(case.tags) == ["odd, tag", "specialty:cardiology", "theme:hedging"]
    assert client.post(url, form).status_code == 409  # of the version before
    two = {**form, "version": 2, "role": ["user", "assistant"], "content": ["One", "Two"]}
    client.post(url, {**two, "turn-down": "0"})
    case.refresh_from_db()
    assert [turn["content"] for turn in case.conversation] == ["Two", "One"]
    client.post(url, {**two, "version": 3, "remove-turn": "1"})
    case.refresh_from_db()
    assert [turn["content"] for turn in case.conversation] == ["One"]


@pytest.mark.slow
def test_what_is_published_cannot_change_and_its_erratum_is_a_case_of_its_own(
    client: Client, author: User, benchmark: Benchmark
) -> None:
    case = CaseFactory(benchmark=benchmark, key="c-1", rubric=[5, -3])
    assert send(client, case, author, 1, difficulty="high", key="c-1").status_code == 200
    refused = send(client, case, author, 2, reference_answer="Another")
    assert (refused.status_code, "erratum" in refused.json()["detail"]) == (422, True)
    assert "Create erratum" in client.get(f"/b/b/write/{case.public_id}/").text
    assert client.post(f"/b/b/write/{case.public_id}/erratum/", {"key": "c-1"}).status_code == 422
    client.post(f"/b/b/write/{case.public_id}/erratum/", {"key": "c-1-erratum-1"})
    erratum = Case.objects.get(key="c-1-erratum-1")
    assert (erratum.supersedes, erratum.conversation, erratum.difficulty) == (case, case.conversation, "high")
    items = items_of(erratum.rubrics.get().draft.content)
    assert [(item.text, item.points, item.criterion) for item in items] == [
        ("Criterion 1 of c-1", 5, None),
        ("Criterion 2 of c-1", -3, None),
    ]
    client.post(f"/b/b/write/{case.public_id}/delete/")
    colleague = UserFactory()
    give_authoring_role(benchmark=benchmark, user=colleague, role="author", at=timezone.now())
    theirs = Client()
    theirs.force_login(colleague)
    theirs.post(f"/b/b/write/{erratum.public_id}/delete/")
    assert Case.objects.count() == 2
    client.post(f"/b/b/write/{erratum.public_id}/delete/")
    assert list(Case.objects.values_list("key", flat=True)) == ["c-1"]


def test_why_a_case_cannot_be_deleted_names_what_depends_on_it(
    client: Client, author: User, benchmark: Benchmark
) -> None:
    case = CaseFactory(benchmark=benchmark, rubric=0, created_by=author)
    ResponseFactory(case=case)
    answer = client.post(f"/b/b/write/{case.public_id}/delete/", follow=True)
    assert "Responses, suggestions or other work depend on this case" in answer.text
    assert "An admin can exclude it." in answer.text and Case.objects.filter(pk=case.pk).exists()


def test_the_text_that_a_reviewer_reads_cannot_change_until_it_comes_back(
    client: Client, author: User, benchmark: Benchmark
) -> None:
    case = CaseFactory(benchmark=benchmark, rubric=0)
    rubric = open_draft(case=case, by=author, at=timezone.now())
    rubric.status = "in_review"
    rubric.save()
    assert send(client, case, author, 1, reference_answer="Another").status_code == 422
    assert send(client, case, author, 1, difficulty="low").status_code == 200


def test_what_may_name_a_person_blocks_until_it_is_gone_or_waived(
    client: Client, author: User, benchmark: Benchmark
) -> None:
    conversation = [{"role": "user", "content": "Reach me on 212-555-0143. I cough."}]
    case = CaseFactory(benchmark=benchmark, rubric=0, conversation=conversation)
    items = [DraftItem("a", "Mentions the visit of 17 April 2023", 5), DraftItem("b", "Asks about fever", 2)]
    assert [(finding.kind, finding.place.part, finding.place.number) for finding in open_findings(case, items)] == [
        ("phone", "conversation", 1),
        ("date", "criterion", 1),
    ]
    url = f"/b/b/write/{case.public_id}/privacy/"
    client.post(url, {"kind": "phone", "quote": "212-555-0143", "reason": " "})
    assert len(open_findings(case, [])) == 1
    client.post(url, {"kind": "phone", "quote": "212-555-0143", "reason": "made up"})
    assert open_findings(case, []) == []
    client.post(f"{url}{case.privacy_waivers.get().pk}/")
    assert len(open_findings(case, [])) == 1
    published = CaseFactory(benchmark=benchmark, conversation=conversation)
    assert open_findings(published, []) == []  # it is public already
    old = published.criteria.first()
    assert old is not None
    texts = [DraftItem("a", old.text, 5, criterion=old.pk), DraftItem("b", "Calls 212-555-0143", 5, criterion=None)]
    assert [finding.place.number for finding in open_findings(published, texts)] == [2]


@pytest.mark.parametrize(("language", "places"), [("en", ["Short name", "Tags"]), ("zh-hans", ["短名称", "标签"])])
def test_key_and_tags_are_looked_through_for_persons_too(
    client: Client, author: User, benchmark: Benchmark, language: str, places: list[str]
) -> None:
    conversation = [{"role": "user", "content": "I cough."}]
    named = {"key": "MRN 00482913", "tags": ["theme:hedging", "患者李小明，男，45岁"], "conversation": conversation}
    case = CaseFactory(benchmark=benchmark, rubric=0, **named)
    findings = open_findings(case, [])
    assert [(finding.kind, finding.place.part, finding.place.number, finding.quote) for finding in findings] == [
        ("record", "key", 0, "00482913"),
        ("name", "tags", 2, "李小明"),
    ]
    with translation.override(language):
        assert [finding.where for finding in findings] == places
    page = " ".join(client.get(f"/b/b/write/{case.public_id}/").content.decode().split())
    assert 'data-find-part="key"' in page and 'data-find-part="tags" data-find-number="2"' in page
    # What is published is public, but tags may change after that.
    published = CaseFactory(benchmark=benchmark, **{**named, "key": "MRN 00482914"})
    assert [finding.place.part for finding in open_findings(published, [])] == ["tags"]


def test_a_conversation_in_which_nobody_speaks_is_not_ready(benchmark: Benchmark) -> None:
    def faults(*texts: str, rubric: int = 0) -> list[str]:
        turns = [{"role": "user", "content": text} for text in texts]
        case = CaseFactory(benchmark=benchmark, rubric=rubric, conversation=turns)
        return [fault.message for fault in unready_content(case)]

    assert faults("I cough.") == faults("", rubric=1) == []
    assert faults("I cough.", " ") == ["Turn 2 of the conversation is empty."]
    assert len(faults()) == len(faults("", "")) == 1


@pytest.mark.slow
def test_the_authors_dashboard_shows_what_waits_for_whom(client: Client, author: User, benchmark: Benchmark) -> None:
    at = timezone.now()
    colleague = UserFactory(name="Colleague")
    for key, by, status in (
        ("mine", author, "draft"),
        ("theirs", colleague, "in_review"),
        ("sent", author, "in_review"),
    ):
        case = CaseFactory(benchmark=benchmark, key=key, rubric=0, created_by=by)
        rubric = open_draft(case=case, by=by, at=at)
        save_draft(rubric=rubric, items=[DraftItem("a", "x", 1)], version=1, client_id=None, by=by, at=at)
        type(rubric).objects.filter(pk=rubric.pk).update(status=status)
    CaseFactory(benchmark=benchmark, key="begun", rubric=0, created_by=author)
    CaseFactory(benchmark=benchmark, key="out", excluded_at=at, exclusion_reason="Too easy")
    page = client.get("/b/b/write/")
    names = {name: [row.key for row in page.context[name]] for name in ("returned", "drafts", "reviews")}
    assert names == {"returned": [], "drafts": ["mine"], "reviews": ["theirs"]}
    assert [case.key for case in page.context["begun"]] == ["begun"]
    keys_by_state = {
        state: [case.key for case in client.get(f"/b/b/write/?state={state}").context["page_obj"]]
        for state in ("none", "draft", "in_review", "published", "excluded")
    }
    assert keys_by_state == {
        "none": ["begun"],
        "draft": ["mine"],
        "in_review": ["sent", "theirs"],
        "published": [],
        "excluded": ["out"],
    }
    mine = client.get("/b/b/write.csv?mine=on").getvalue().decode().splitlines()
    assert [line.split(",")[0] for line in mine] == ["key", "begun", "mine", "sent"]
    assert client.get("/")["Location"] == "/b/b/write/"  # the only place where work waits


@pytest.mark.slow
def test_requests_to_reword_are_not_for_who_still_grades(client: Client, author: User, benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, key="faulty")
    criterion = case.criteria.first()
    assert criterion is not None
    RevisionRequest.objects.create(
        rubric=case.rubrics.get(), criterion=criterion, reason="Two things at once", created_at=timezone.now()
    )
    shown = client.get("/b/b/write/")
    assert [row.key for row in shown.context["rewordings"]] == ["faulty"]
    assert "Reason: Two things at once" in " ".join(shown.text.split())
    group = ExpertGroupFactory(benchmark=benchmark)
    member(group, user=author)
    ResponseFactory(case=case)
    make_batch(group)
    # Whether others grade does not matter: an author who is in no group sees them.
    other = UserFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=other, role="author")
    theirs = Client()
    theirs.force_login(other)
    assert [row.key for row in theirs.get("/b/b/write/").context["rewordings"]] == ["faulty"]
    hidden = client.get("/b/b/write/")
    assert hidden.context["rewordings"] == [] and "Two things at once" not in hidden.text
    set_member_active(membership=group.memberships.get(user=author), active=False, at=timezone.now())
    assert [row.key for row in client.get("/b/b/write/").context["rewordings"]] == ["faulty"]


@pytest.mark.slow
def test_requests_to_reword_are_counted_in_the_languages_that_the_author_reads(
    author: User, benchmark: Benchmark
) -> None:
    for language in ("en", "da"):
        case = CaseFactory(benchmark=benchmark, language=language)
        RevisionRequest.objects.create(
            rubric=case.rubrics.get(), criterion=case.criteria.first(), reason="Vague", created_at=timezone.now()
        )

    def left() -> list[str]:
        return [str(row.left) for row in todos(author) if row.task == "To reword"]

    assert left() == ["2 criteria"]
    PhysicianProfile.objects.create(user=author, languages=["da"])
    assert left() == ["1 criterion"]


def test_time_is_believed_as_far_as_the_clock_allows(client: Client, author: User, benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark)

    def report_time(**body: Any) -> int:
        url = f"/b/b/write/{case.public_id}/time/"
        return client.post(url, json.dumps(body), content_type="application/json").status_code

    assert report_time(activity="write", seconds=3000) == 204
    assert report_time(activity="write", seconds=3000) == 204
    assert AuthoringTime.objects.get().seconds < 60
    AuthoringTime.objects.update(reported_at=timezone.now() - timedelta(seconds=90))
    report_time(activity="write", seconds=30)
    assert 30 <= AuthoringTime.objects.get().seconds < 60
    assert report_time(activity="sleep", seconds=1) == report_time(activity="write", seconds=-1) == report_time() == 400


def test_an_admin_sets_the_rules_and_the_licence(benchmark: Benchmark) -> None:
    admin = UserFactory()
    benchmark.roles.create(user=admin, role="admin")
    client = Client()
    client.force_login(admin)
    rules = {"target": 20, "fewest": 3, "lowest": 1, "highest": 5, "safety": 1, "reviewers": 2, "only_positive": "on"}
    wrong = client.post("/b/b/settings/rules/", {**rules, "lowest": 6, "reviewers": 0})
    assert (wrong.status_code, set(wrong.context["rules_form"].errors)) == (422, {"lowest", "reviewers"})
    client.post("/b/b/settings/rules/", rules)
    client.post("/b/b/settings/", {"title": "B", "licence": "CC BY 4.0"})
    benchmark.refresh_from_db()
    assert rules_of(benchmark) == AuthoringRules(20, True, 1, 5, 3, 1, 2)
    assert benchmark.licence == "CC BY 4.0"


def test_a_key_is_suggested_by_counting_on(benchmark: Benchmark) -> None:
    assert suggested_key(benchmark) == "case-1"
    CaseFactory(benchmark=benchmark, key="3f2a9c1e-0b44")
    assert suggested_key(benchmark) == "case-2"
    CaseFactory(benchmark=benchmark, key="cardio 99")
    CaseFactory(benchmark=benchmark, key="7")
    assert suggested_key(benchmark) == "cardio 100"


@pytest.mark.slow
def test_an_admin_invites_an_author_who_sees_no_candidate(benchmark: Benchmark, mailoutbox: list[Any]) -> None:
    admin = UserFactory()
    benchmark.roles.create(user=admin, role="admin")
    client = Client()
    client.force_login(admin)
    client.post("/b/b/people/authors/", {"email": "new@example.org", "name": "Nia", "role": "author"})
    client.post("/b/b/people/authors/", {"email": "new@example.org", "role": "author"})  # twice is once
    person = User.objects.get(email="new@example.org")
    assert benchmark.authoring_roles.filter(user=person, active=True).count() == 1
    theirs = Client()
    theirs.force_login(person)
    assert (theirs.get("/b/b/write/").status_code, theirs.get("/b/b/candidates/").status_code) == (200, 404)
    client.post(f"/b/b/people/authors/{person.authoring_roles.get().pk}/withdraw/")
    assert theirs.get("/b/b/write/").status_code == 404
