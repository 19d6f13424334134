"""From draft to published: who may, what prevents it, and what never changes by it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from accounts.models import Notification, User
from annotation.models import Assignment, Decision
from consilium.core.errors import Conflict, DomainError
from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.editor.editing import saved_json
from rubrics.models import AuthoringRole, Bank, BankItem, Benchmark, Case, Criterion, RevisionRequest, Rubric
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import (
    NotReady,
    approve,
    discard_draft,
    return_draft,
    send_to_review,
    take_back,
)
from rubrics.services.revisions import request_revision
from tests.factories import BenchmarkFactory, CaseFactory, ExpertGroupFactory, ResponseFactory, UserFactory, decide
from tests.factories import make_batch as batch_of

pytestmark = pytest.mark.django_db


def author(benchmark: Benchmark) -> User:
    user = UserFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=user, role="author")
    return user


def write(rubric: Rubric, items: Sequence[DraftItem], by: User) -> None:
    rubric.refresh_from_db()
    save_draft(
        rubric=rubric, items=items, version=rubric.draft.version, client_id=uuid.uuid4(), by=by, at=timezone.now()
    )
    rubric.draft.refresh_from_db()


def drafted(case: Case, by: User) -> tuple[Rubric, list[DraftItem]]:
    rubric = open_draft(case=case, by=by, at=timezone.now())
    return rubric, items_of(rubric.draft.content)


def send(rubric: Rubric, by: User, note: str = "Reworded") -> Rubric:
    return send_to_review(rubric=rubric, note=note, by=by, at=timezone.now())


def agree(rubric: Rubric, reviewer: User, digest: str = "") -> Rubric:
    rubric.draft.refresh_from_db()
    return approve(
        rubric=rubric, reviewer=reviewer, digest=digest or rubric.draft.digest, comment="", at=timezone.now()
    )


def strip(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.fixture
def case() -> Case:
    return CaseFactory(rubric=[5, 3, -2])


@pytest.mark.slow
def test_a_new_version_keeps_the_rows_of_what_reads_the_same(case: Case) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    first = case.rubrics.get()
    a, b, c = first.items.values_list("criterion", flat=True)
    rubric, items = drafted(case, writer)
    items = [replace(items[2], points=-5), replace(items[0], tags=("axis:safety",)), DraftItem("n", "Asks the age", 4)]
    write(rubric, [*items, replace(items[0], id="r", text="Reworded", criterion=b)], writer)
    send(rubric, writer)
    published = agree(rubric, reviewer)
    assert published.status == "published" and published.published_at
    first.refresh_from_db()
    assert first.status == "superseded"
    rows = list(published.items.order_by("position").values_list("criterion", "criterion__text", "points"))
    assert [row[0] for row in rows[:2]] == [c, a]
    assert [(row[1], row[2]) for row in rows[2:]] == [("Asks the age", 4), ("Reworded", -5)]
    assert Criterion.objects.get(pk=b).text == f"Criterion 2 of {case.key}"
    notice = Notification.objects.get(user=writer, kind="rubric")
    assert notice.values["what"] == "published"


@pytest.mark.slow
def test_a_text_that_comes_back_is_the_earlier_criterion_again(case: Case) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    before = case.rubrics.get().items.get(position=2).criterion
    for text in ("Another text", before.text):
        rubric, items = drafted(case, writer)
        write(rubric, [items[0], DraftItem("x", text, 1), *items[2:]], writer)
        send(rubric, writer)
        published = agree(rubric, reviewer)
    assert published.version == 3 and published.items.get(position=2).criterion == before


@pytest.mark.slow
def test_who_wrote_on_it_or_only_runs_the_benchmark_cannot_approve(case: Case) -> None:
    writer, helper, staff = author(case.benchmark), author(case.benchmark), UserFactory()
    rubric, items = drafted(case, writer)
    write(rubric, [replace(items[0], points=7), *items[1:]], writer)
    write(rubric, [replace(items[0], points=8), *items[1:]], helper)
    send(rubric, writer)
    for somebody in (writer, helper, staff):
        with pytest.raises(DomainError):
            agree(rubric, somebody)
    with pytest.raises(DatabaseError, match="who did not write it has approved it"), transaction.atomic():
        Rubric.objects.filter(pk=rubric.pk).update(status="published")


@pytest.mark.slow
def test_only_what_was_read_is_approved(case: Case) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    rubric, items = drafted(case, writer)
    write(rubric, [replace(items[0], points=7), *items[1:]], writer)
    read = rubric.draft.digest
    send(rubric, writer)
    take_back(rubric=rubric, by=writer, at=timezone.now())
    write(rubric, [replace(items[0], points=8), *items[1:]], writer)
    send(rubric, writer)
    with pytest.raises(Conflict):
        agree(rubric, reviewer, read)
    assert agree(rubric, reviewer).status == "published"


@pytest.mark.slow
def test_staff_who_wrote_it_need_two_authors_and_rules_may_ask_for_more(case: Case) -> None:
    staff, reviewers = UserFactory(), [author(case.benchmark) for _ in range(3)]
    rubric, items = drafted(case, staff)
    write(rubric, [replace(items[0], points=7), *items[1:]], staff)
    send(rubric, staff)
    assert agree(rubric, reviewers[0]).status == "in_review"
    Benchmark.objects.update(authoring={"reviewers": 3})
    assert agree(rubric, reviewers[1]).status == "in_review"
    assert agree(rubric, reviewers[1]).status == "in_review"  # twice is still one
    assert agree(rubric, reviewers[2]).status == "published"


def test_what_is_half_done_against_the_rules_or_the_same_is_refused_with_its_place(case: Case) -> None:
    writer = author(case.benchmark)
    rubric, items = drafted(case, writer)
    with pytest.raises(NotReady) as same:
        send(rubric, writer)
    assert [(fault.line, fault.field) for fault in same.value.errors] == [(0, "items")]
    Benchmark.objects.update(authoring={"only_positive": True})
    write(rubric, [items[0], replace(items[1], text=" "), items[2]], writer)
    with pytest.raises(NotReady) as excinfo:
        send(rubric, writer, note="")
    assert [(fault.line, fault.field) for fault in excinfo.value.errors] == [(2, "text"), (3, "points"), (0, "note")]
    rubric.refresh_from_db()
    assert rubric.status == "draft"


@pytest.mark.slow
def test_returned_with_a_reason_and_read_again(case: Case) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    rubric, items = drafted(case, writer)
    write(rubric, [replace(items[0], points=7), *items[1:]], writer)
    send(rubric, writer)
    arguments: dict[str, Any] = {"rubric": rubric, "reviewer": reviewer, "at": timezone.now()}
    with pytest.raises(DomainError):
        return_draft(**arguments, comment=" ", item_comments={"no such": "x"})
    review = return_draft(**arguments, comment="Too vague", item_comments={items[0].id: "Say how much", "no such": "x"})
    assert review.item_comments == {items[0].id: "Say how much"}
    assert Notification.objects.get(user=writer, kind="rubric").values["what"] == "returned"
    send(rubric, writer)  # unchanged: the reviewer may be persuaded
    assert agree(rubric, reviewer).status == "published"


@pytest.mark.slow
def test_a_discarded_draft_leaves_the_published_one(case: Case) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    rubric, items = drafted(case, writer)
    write(rubric, items[:2], writer)
    send(rubric, writer)
    with pytest.raises(Conflict):
        discard_draft(rubric=rubric, by=writer, at=timezone.now())
    return_draft(rubric=rubric, reviewer=reviewer, comment="No", item_comments={}, at=timezone.now())
    discard_draft(rubric=rubric, by=writer, at=timezone.now())
    assert [(row.version, row.status) for row in case.rubrics.all()] == [(1, "published")]


@pytest.mark.slow
def test_requests_are_answered_where_their_criterion_is_gone(case: Case) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    first = case.rubrics.get()
    for item in first.items.all()[:2]:
        request_revision(
            rubric=first, criterion=item.criterion, response=None, reason="Unclear", by=None, at=timezone.now()
        )
    # One about the rubric as a whole is answered by any later version.
    request_revision(rubric=first, criterion=None, response=None, reason="Lacks", by=None, at=timezone.now())
    rubric, items = drafted(case, writer)
    write(rubric, [replace(items[0], text="Clearer"), *items[1:]], writer)
    send(rubric, writer)
    agree(rubric, reviewer)
    statuses = dict(RevisionRequest.objects.values_list("criterion__items__position", "status"))
    assert statuses == {1: "done", 2: "open", None: "done"}
    assert {row.taken_up_in for row in RevisionRequest.objects.filter(status="done")} == {rubric}


@pytest.mark.slow
def test_untouched_work_moves_to_the_new_version_and_begun_work_stays(case: Case) -> None:
    group = ExpertGroupFactory(benchmark=case.benchmark, annotators=2)
    begun, untouched = ResponseFactory(case=case), ResponseFactory(case=case)
    batch = batch_of(group, annotators_per_item=2)
    decide(Assignment.objects.filter(response=begun).first(), submit=False)
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    rubric, items = drafted(case, writer)
    write(rubric, [replace(items[0], text="Clearer"), *items[1:]], writer)
    send(rubric, writer)
    agree(rubric, reviewer)
    versions = Assignment.objects.values_list("response", "rubric__version")
    assert sorted(versions) == sorted([(begun.pk, 1)] * 2 + [(untouched.pk, 2)] * 2)
    assert dict(batch.items.values_list("response", "rubric__version")) == {begun.pk: 1, untouched.pk: 2}


class Lives(RuleBasedStateMachine):
    """Any order of writing, reviewing and publishing by three authors, over a case with decisions."""

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.case = CaseFactory(rubric=[5, 3, -2])
        ResponseFactory(case=self.case)
        group = ExpertGroupFactory(benchmark=self.case.benchmark, annotators=1)
        batch_of(group)
        decide(Assignment.objects.get(), "met", "not_met")
        self.decisions = list(Decision.objects.order_by("pk").values())
        self.authors = [author(self.case.benchmark) for _ in range(3)]
        self.texts: dict[int, str] = {}
        self.published = 1

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    def open(self) -> Rubric | None:
        return self.case.rubrics.filter(status__in=["draft", "in_review"]).first()

    @rule(
        who=st.integers(0, 2),
        order=st.permutations([0, 1, 2]),
        reworded=st.sets(st.integers(0, 2)),
        words=st.sampled_from(["Asks the age", "Names a dose", "Criterion 1 of the case"]),
    )
    def write(self, who: int, order: list[int], reworded: set[int], words: str) -> None:
        rubric, items = drafted(self.case, self.authors[who])
        if rubric.status != "draft":
            return
        items = [replace(item, text=f"{words} {n}") if n in reworded else item for n, item in enumerate(items)]
        write(rubric, [items[n] for n in order if n < len(items)], self.authors[who])

    @precondition(lambda self: self.open() is not None)
    @rule(who=st.integers(0, 2), what=st.sampled_from(["send", "approve", "approve", "return", "back", "discard"]))
    def step(self, who: int, what: str) -> None:
        rubric, user, at = self.open(), self.authors[who], timezone.now()
        assert rubric is not None
        try:
            if what == "send":
                send(rubric, user)
            elif what == "approve":
                wrote = rubric.contributors.filter(user=user).exists()
                self.published += agree(rubric, user).status == "published"
                assert not wrote
            elif what == "return":
                return_draft(rubric=rubric, reviewer=user, comment="No", item_comments={}, at=at)
            elif what == "back":
                take_back(rubric=rubric, by=user, at=at)
            else:
                discard_draft(rubric=rubric, by=user, at=at)
        except DomainError:
            pass

    @invariant()
    def decisions_never_change(self) -> None:
        texts = dict(Criterion.objects.filter(case=self.case).values_list("pk", "text"))
        assert texts.items() >= self.texts.items()
        self.texts = texts
        assert list(Decision.objects.order_by("pk").values()) == self.decisions
        states = list(self.case.rubrics.order_by("version").values_list("status", flat=True))
        assert states.count("published") == 1
        assert states[: self.published] == ["superseded"] * (self.published - 1) + ["published"]
        for rubric in self.case.rubrics.filter(status__in=["published", "superseded"]):
            used = list(rubric.items.values_list("criterion", flat=True))
            assert used and len(set(used)) == len(used)


@pytest.mark.slow
def test_texts_and_decisions_never_change_through_any_history() -> None:
    run_state_machine_as_test(Lives, settings=settings(max_examples=4, stateful_step_count=12, deadline=None))


@pytest.mark.slow
def test_a_revision_is_opened_from_a_request_and_names_its_version(case: Case, client: Client) -> None:
    first, writer = case.rubrics.get(), author(case.benchmark)
    criterion = first.items.get(position=1).criterion
    row = request_revision(
        rubric=first, criterion=criterion, response=ResponseFactory(case=case), reason="Two things in one", by=None,
        at=timezone.now(),
    )  # fmt: skip
    client.force_login(writer)
    answer = client.post(f"/b/{case.benchmark.slug}/revisions/open/", {"request": row.public_id})
    assert answer.status_code == 302
    row.refresh_from_db()
    rubric = row.taken_up_in
    assert rubric is not None and (rubric.version, rubric.status, row.status) == (2, "draft", "open")
    page = client.get(f"/b/{case.benchmark.slug}/write/{case.public_id}/review/").content.decode()
    assert "Two things in one" in page and row.response.candidate.name not in page
    # Whoever still grades for the benchmark reads nothing of what others found.
    group = ExpertGroupFactory(benchmark=case.benchmark, annotators=1)
    batch_of(group)
    grader = group.people["annotator"][0]  # type: ignore[attr-defined]
    AuthoringRole.objects.create(benchmark=case.benchmark, user=grader, role="author")
    client.force_login(grader)
    page = client.get(f"/b/{case.benchmark.slug}/write/{case.public_id}/review/").content.decode()
    assert "Two things in one" not in page


@pytest.mark.slow
def test_the_pages_of_a_review_say_no_by_digest_and_go_on_to_the_next(case: Case, client: Client) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    other = CaseFactory(benchmark=case.benchmark)
    for draft_case in (case, other):
        rubric, items = drafted(draft_case, writer)
        write(rubric, [replace(items[0], text="Clearer <b>"), *items[1:]], writer)
        client.force_login(writer)
        url = f"/b/{case.benchmark.slug}/write/{draft_case.public_id}/"
        assert client.post(url + "send-to-review/", {"note": ""}).status_code == 422
        assert client.post(url + "send-to-review/", {"note": "Why"}).status_code == 302
    client.force_login(reviewer)
    url = f"/b/{case.benchmark.slug}/write/{case.public_id}/review/"
    page = client.get(url)
    assert page.context["may_decide"] and b"Clearer &lt;" in page.content
    digest, name = page.context["draft"].digest, page.context["rows"][0].item.id
    stale = client.post(url, {"outcome": "approved", "digest": "0" * 64, f"item-{name}": "Kept"})
    assert stale.status_code == 409 and b"Kept" in stale.content
    answer = client.post(url, {"outcome": "approved", "digest": digest, "comment": "Good"})
    assert answer.status_code == 302 and other.public_id in answer["Location"]
    assert case.rubrics.get(status="published").version == 2
    history = client.get(f"/b/{case.benchmark.slug}/write/{case.public_id}/history/").content.decode()
    assert str(writer) in history and str(reviewer) in history and "Good" in history
    table = client.get(f"/b/{case.benchmark.slug}/write/{case.public_id}/diff.csv?from=1&to=2")
    lines = b"".join(table.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[1].startswith("reworded,false,1,1,Criterion 1 of") and len(lines) == 4


def test_a_placeholder_is_neither_sent_nor_published_and_problems_are_listed(case: Case, client: Client) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    rubric, items = drafted(case, writer)
    gap = replace(items[1], text="Names [drug] as the cause.")
    joined = replace(items[0], text="Names the drug and explains its risks")
    write(rubric, [joined, gap, items[2]], writer)
    client.force_login(writer)
    url = f"/b/{case.benchmark.slug}/write/{case.public_id}/"
    refused = client.post(url + "send-to-review/", {"note": "Why"})
    words = "“[drug]” is a placeholder: fill it in, or write it without brackets."
    assert refused.status_code == 422
    assert f"Criterion 2: {words}" in strip(refused.content.decode())
    # The dialog that sends it lists what else is remarked on as a problem; the placeholder is in the way by itself.
    dialog = refused.content.decode().partition('id="send"')[2].partition("</dialog>")[0]
    assert "1 problem in the text is still open: Criterion 1: It asks for two things at once" in strip(dialog)
    assert "placeholder" not in dialog
    assert "What changed, and why required" in strip(dialog)  # of a published rubric

    # One that came into review before this rule.
    Rubric.objects.filter(pk=rubric.pk).update(status="in_review")
    client.force_login(reviewer)
    page = client.get(url + "review/")
    assert [(fault.line, fault.message) for fault in page.context["in_the_way"]] == [(2, words)]
    dialog = page.content.decode().partition('id="approve"')[2].partition("</dialog>")[0]
    assert "Criterion 1: It asks for two things at once" in strip(dialog)
    digest = page.context["draft"].digest
    refused = client.post(url + "review/", {"outcome": "approved", "digest": digest})
    assert refused.status_code == 422
    assert f"Criterion 2: {words}" in strip(refused.content.decode())
    assert Rubric.objects.get(pk=rubric.pk).status == "in_review"


@pytest.mark.slow
def test_a_criterion_that_was_published_with_a_placeholder_is_carried_on_as_long_as_its_text_stays() -> None:
    case = CaseFactory(rubric=[5, 3], rubric__texts=["Names [drug] as the cause.", "Asks the age."])
    writer = author(case.benchmark)
    rubric, items = drafted(case, writer)
    write(rubric, [replace(items[0], text="Names [drug] as a cause."), items[1]], writer)
    with pytest.raises(NotReady) as refused:
        send(rubric, writer)
    words = "“[drug]” is a placeholder: fill it in, or write it without brackets."
    assert [(fault.line, fault.message) for fault in refused.value.errors] == [(1, words)]
    assert [row["message"] for row in saved_json(rubric.draft, case=case)["missing"]] == [words]
    write(rubric, [items[0], replace(items[1], text="Asks the age in years.")], writer)
    assert saved_json(rubric.draft, case=case)["missing"] == []
    assert send(rubric, writer).status == "in_review"


def test_brackets_of_an_own_banks_item_are_placeholders(case: Case) -> None:
    bank = Bank.objects.create(benchmark=case.benchmark, slug="own", title="Own", created_at=timezone.now())
    text = {"en": "Names [class of antibiotics] for the patient."}
    BankItem.objects.create(bank=bank, key="k1", section="evidence", text=text)
    writer = author(case.benchmark)
    rubric, items = drafted(case, writer)
    new = DraftItem("n", "Names [class of antibiotics] at 2 [mmol/L].", 5, bank="own/k1")
    write(rubric, [*items, new], writer)
    with pytest.raises(NotReady) as refused:
        send(rubric, writer)
    words = "“[class of antibiotics]” is a placeholder to fill in."
    assert [(fault.line, fault.message) for fault in refused.value.errors] == [(4, words)]
    write(rubric, [*items, replace(new, text="Names penicillins at 2 [mmol/L].")], writer)
    assert send(rubric, writer).status == "in_review"


def test_a_published_erratum_counts_in_place_of_its_case(case: Case) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    erratum = CaseFactory(benchmark=case.benchmark, supersedes=case, rubric=0)
    rubric, _items = drafted(erratum, writer)
    write(rubric, [DraftItem("a", "Names the dose of the medicine.", 5)], writer)
    rubric = send(rubric, writer)
    case.refresh_from_db()
    assert case.excluded_at is None
    agree(rubric, reviewer)
    case.refresh_from_db()
    assert case.excluded_at is not None and erratum.key in case.exclusion_reason


@pytest.mark.slow
def test_many_go_to_review_with_one_note_and_are_approved_by_tick(client: Client) -> None:
    benchmark = BenchmarkFactory()
    writer, reviewer = author(benchmark), author(benchmark)
    cases = [CaseFactory(benchmark=benchmark, key=f"c{n}") for n in range(4)]
    for n, case in enumerate(cases):
        rubric, items = drafted(case, writer)
        write(rubric, [replace(items[0], text="" if n == 3 else "Clearer"), *items[1:]], writer)
    client.force_login(writer)
    ids = [case.public_id for case in cases]
    answer = client.post(f"/b/{benchmark.slug}/write/drafts/", {"case": ids, "note": "All of them"})
    assert answer.status_code == 422 and [row[0].case.key for row in answer.context["not_done"]] == ["c3"]
    assert Notification.objects.get(user=reviewer, kind="rubric").values == {"what": "waiting", "count": 3}
    client.force_login(reviewer)
    url = f"/b/{benchmark.slug}/write/reviews/"
    shown = client.get(url).context["shown"]
    assert [row["diff"].reworded for row in shown] == [1, 1, 1]
    ticks = [f"{row['rubric'].case.public_id}:{row['rubric'].draft.digest}" for row in shown]
    assert client.post(url, {"rubric": [*ticks[:2], ticks[2][:-1]]}).status_code == 409
    published = Rubric.objects.filter(status="published", version=2).values_list("case__key", flat=True)
    assert sorted(published) == ["c0", "c1"]
    assert Notification.objects.get(user=writer, kind="rubric").values["count"] == 2


@pytest.mark.slow
def test_the_api_goes_the_same_way(case: Case, client: Client) -> None:
    writer, reviewer = author(case.benchmark), author(case.benchmark)
    rubric, items = drafted(case, writer)
    write(rubric, [replace(items[0], text=" "), *items[1:]], writer)
    at = f"/api/v1/benchmarks/{case.benchmark.slug}/"
    case_url = f"{at}cases/{case.public_id}/"

    def post(url: str, body: object = None) -> Any:
        return client.post(url, body or {}, content_type="application/json")

    client.force_login(writer)
    refused = post(f"{case_url}send-to-review/", {"note": "Clearer"})
    assert refused.status_code == 422 and refused.json()["errors"][0]["line"] == 1
    write(rubric, [replace(items[0], text="Clearer"), *items[1:]], writer)
    assert post(f"{case_url}send-to-review/", {"note": "Clearer", "status": "published"}).status_code == 400
    refused = post(f"{case_url}send-to-review/", {"note": ""})
    assert (refused.status_code, refused.json()) == (
        422,
        {
            "detail": "1 problem must be fixed before this rubric can be sent to review. "
            "Describe what changed, and why.",
            "errors": [{"line": 0, "field": "note", "message": "Describe what changed, and why."}],
            "error_total": 1,
        },
    )
    assert post(f"{at}drafts/send/", {"cases": [case.public_id], "note": "Why"}).json()["done"] == [case.public_id]
    client.force_login(reviewer)
    (waiting,) = client.get(f"{at}reviews/").json()["results"]
    assert waiting["items"][0]["text"] == "Clearer"
    body = {"outcome": "returned", "digest": waiting["digest"], "comment": "Not yet"}
    assert post(f"{case_url}review/", body).json()[0]["status"] == "draft"
    client.force_login(writer)
    assert post(f"{case_url}send-to-review/", {"note": "Why"}).json()[0]["status"] == "in_review"
    client.force_login(reviewer)
    assert (waiting["case"], waiting["case_id"]) == (case.key, case.public_id)
    read = {"rubrics": [{"case": case.key, "digest": waiting["digest"]}]}
    assert post(f"{at}reviews/", read).json()["published"] == [case.public_id]
    changes = client.get(f"{case_url}versions/diff/?from=1").json()
    assert [row["change"] for row in changes] == ["reworded", "same", "same"]
    assert [row["reworded"] for row in client.get(f"{case_url}versions/").json()] == [1, 0]
