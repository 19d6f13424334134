"""Qualifying before work: the key, the attempt, its mark, and what follows, through the pages."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Notification, User
from annotation.models import Assignment, Batch, KeyedResponse, Membership, QualificationAttempt, QualificationRule
from annotation.selectors.eligibility import eligibility_of
from annotation.selectors.ratings import group_ratings, physician_ratings
from annotation.services.slots import stuck_slots
from rubrics.models import Response
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
NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
RULE = {"required": "on", "pass_mark": "0.7", "attempts": 2, "wait_hours": 24, "gold_mark": "", "gold_minimum": 60}


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


class QualificationWorld:
    """A benchmark with two cases of four criteria to qualify on, and one more for work."""

    def __init__(self, **rule: Any) -> None:
        self.admin = UserFactory()
        self.benchmark = BenchmarkFactory(admin=self.admin, researcher=UserFactory())
        self.candidate = CandidateFactory(benchmark=self.benchmark, name="canary-candidate")
        self.keyed: list[Response] = [
            ResponseFactory(
                case=CaseFactory(benchmark=self.benchmark, key=f"key-{n}", rubric=4), candidate=self.candidate
            )
            for n in range(2)
        ]
        self.group = ExpertGroupFactory(benchmark=self.benchmark, annotators=2, checkers=1)
        self.annotator, self.other = self.group.people["annotator"]  # type: ignore[attr-defined]
        self.client = signed_in(self.admin)
        self.base = f"/b/{self.benchmark.slug}/qualification/"
        if rule:
            self.import_keys()
            self.set_rule(**rule)

    # What is agreed: three met and one not met of the first response, one met and three not met of the second.
    KEY = (("met", "met", "met", "not_met"), ("met", "not_met", "not_met", "not_met"))

    def csv(self) -> str:
        lines = ["case,candidate,sample,criterion,outcome,explanation"]
        for n, outcomes in enumerate(self.KEY):
            lines += [f"key-{n},canary-candidate,0,{place},{outcome},because {n}.{place}"
                      for place, outcome in enumerate(outcomes, start=1)]  # fmt: skip
        return "\n".join(lines) + "\n"

    def import_keys(self, text: str | None = None, use: str = "qualification") -> Any:
        file = io.BytesIO((self.csv() if text is None else text).encode())
        file.name = "keys.csv"
        return self.client.post(f"{self.base}import/", {"use": use, "file": file})

    def set_rule(self, **values: Any) -> Any:
        data = {**RULE, **values}
        return self.client.post(self.base, {name: value for name, value in data.items() if value is not None})

    def start(self, user: User | None = None) -> Any:
        return signed_in(user or self.annotator).post(f"/work/qualification/{self.group.public_id}/start/")

    def attempt(self, *outcomes: tuple[str, ...], user: User | None = None) -> QualificationAttempt:
        """Start, and hand in every response; ``outcomes`` in the order of the keys."""
        person = user or self.annotator
        answer = self.start(person)
        assert answer["Location"].startswith("/work/")
        given = dict(zip([row.pk for row in self.keyed], outcomes, strict=True))
        rows = Assignment.objects.filter(annotator=person, purpose="qualification", status="not_started")
        for row in rows.select_related("annotator").order_by("position"):
            hand_in(row, given[row.response_id])
        return QualificationAttempt.objects.filter(user=person).latest("number")


def hand_in(row: Assignment, outcomes: tuple[str, ...]) -> None:
    """Through the API, as the annotator."""
    client = signed_in(row.annotator)
    url = f"/api/v1/work/assignments/{row.public_id}/"
    criteria = [line["criterion"]["id"] for line in client.get(url).json()["rows"]]
    body = [{"criterion": c, "outcome": o, "version": 0} for c, o in zip(criteria, outcomes, strict=True)]
    assert client.post(f"{url}decisions/", body, content_type="application/json").status_code == 200
    assert client.post(f"{url}submit/").status_code == 200


@pytest.mark.parametrize(("mark", "status"), [("0.75", "passed"), ("0.751", "failed")])
def test_an_attempt_at_the_mark_passes(mark: str, status: str) -> None:
    world = QualificationWorld(pass_mark=mark)
    # One of four met is missed, and one of four not met is seen as met: F1 = 6 / 8 = 0.75 for both.
    attempt = world.attempt(("met", "met", "not_met", "not_met"), ("met", "met", "not_met", "not_met"))
    assert attempt.mf1 == 0.75
    assert attempt.status == status


def test_an_attempt_is_marked_by_mf1_over_all_pairs() -> None:
    world = QualificationWorld(pass_mark="0.74")
    # First response: one met seen as not met. Second: one not met seen as met, and one "cannot assess" on not met,
    # which counts as met. So of 4 met in the key 3 are found, and of 4 not met 2: tp 3, fn 1, fp 2, tn 2.
    # F1 met = 6 / (6 + 1 + 2) = 2/3, F1 not met = 4 / (4 + 3) = 4/7; MF1 = (14/21 + 12/21) / 2 = 13/21.
    attempt = world.attempt(
        ("met", "met", "not_met", "not_met"),
        ("met", "met", "cannot_assess", "not_met"),
    )
    assert attempt.mf1 == pytest.approx(13 / 21)
    assert (attempt.status, attempt.pairs, attempt.pass_mark) == ("failed", 8, 0.74)
    assert attempt.batch.status == Batch.Status.CLOSED
    # It is stored as a batch, and is none of the work; the pages of the work say where it is.
    for page in ("batches", "progress"):
        body = world.client.get(f"/b/{world.benchmark.slug}/{page}/").content.decode()
        assert "1 qualification attempt is not counted here" in body
        assert attempt.batch.title not in body
    # The mark is the one of the beginning: a lower one now changes nothing of what is done.
    world.set_rule(pass_mark="0.1")
    attempt.refresh_from_db()
    assert attempt.status == "failed"
    second = world.attempt(*world.KEY, user=world.other)
    assert (second.status, second.mf1) == ("passed", 1.0)
    # Nothing of it is in any rating.
    pseudonym = world.benchmark.physicians.get(user=world.other).pseudonym
    assert len(group_ratings(world.group, "first")) == len(physician_ratings(world.benchmark, pseudonym)) == 0


def test_the_feedback_tells_each_criterion_and_only_afterwards() -> None:
    world = QualificationWorld(pass_mark="0.9")
    client = signed_in(world.annotator)
    assert world.start()["Location"] == world.start()["Location"]  # one attempt, however often the button is pressed
    attempt = QualificationAttempt.objects.get()
    page = f"/work/qualification/{attempt.public_id}/"
    assert client.get(page).status_code == 404
    grading = client.get(world.start()["Location"]).content.decode()
    assert "because" not in grading
    for row in Assignment.objects.filter(batch=attempt.batch).select_related("annotator"):
        decide(row, "met")
    body = client.get(page).content.decode()
    assert "Not passed this time" in body
    # The next attempt has the same responses, so the key stays shut until there is none.
    assert "because" not in body and "agreed:" not in body
    assert "have no attempts left" in body
    world.set_rule(pass_mark="0.9", attempts="1")
    body = client.get(page).content.decode()
    assert "because 1.3" in body
    assert "canary-candidate" not in body
    assert body.count("agreed:") == 4  # met everywhere, where four are not met
    assert signed_in(world.other).get(page).status_code == 404
    assert world.client.get(page).status_code == 404


def test_who_has_not_qualified_begins_nothing_and_finishes_what_is_begun() -> None:
    world = QualificationWorld()
    work = CaseFactory(benchmark=world.benchmark, key="work")
    for name in ("one", "two"):
        ResponseFactory(case=work, candidate=CandidateFactory(benchmark=world.benchmark, name=name))
    make_batch(world.group, annotators_per_item=2, cases=["work"])
    begun, untouched = Assignment.objects.filter(annotator=world.annotator).order_by("position")
    decide(begun, submit=False)
    world.import_keys()
    # The form says so before the rule is saved, and the page after it: one of the four assignments is begun.
    waits = "2 annotators with open work are not qualified"
    before = world.client.get(world.base).content.decode()
    assert before.count(waits) == 1
    assert "begin the other assignments (3) only after they pass" in before
    assert world.client.post(world.base, RULE, follow=True).content.decode().count(waits) == 1
    assert waits not in world.client.get(world.base).content.decode()
    assert waits not in world.client.post(world.base, RULE, follow=True).content.decode()  # required before, too
    client = signed_in(world.annotator)
    url = f"/api/v1/work/assignments/{untouched.public_id}/"
    criterion = client.get(url).json()["rows"][0]["criterion"]["id"]
    refused = client.post(
        f"{url}decisions/", [{"criterion": criterion, "outcome": "met"}], content_type="application/json"
    )
    assert refused.status_code == 409
    assert "qualification" in refused.json()["detail"]
    assert client.post(f"/api/v1/work/assignments/{begun.public_id}/submit/").status_code == 200
    card = "You can begin the other responses after you pass the qualification"
    assert card in client.get("/work/").content.decode()
    world.attempt(*world.KEY)
    assert card not in client.get("/work/").content.decode()
    decide(untouched)
    untouched.refresh_from_db()
    assert untouched.status == "accepted"


def test_the_submission_that_ends_an_attempt_offers_no_undo() -> None:
    world = QualificationWorld(required="on")
    world.start()
    first, last = Assignment.objects.filter(annotator=world.annotator).order_by("position")
    client = signed_in(world.annotator)
    for row, more in ((first, {}), (last, {"undo": False})):
        decide(row, submit=False)
        answer = client.post(
            f"/work/{row.public_id}/submit/", {"decisions": [], "have": ""}, content_type="application/json"
        )
        assert answer.status_code == 200
        assert {key: value for key, value in answer.json().items() if key == "undo"} == more


def test_a_pool_that_waits_for_a_qualification_says_so() -> None:
    world = QualificationWorld()
    work = CaseFactory(benchmark=world.benchmark, key="work", rubric=2)
    ResponseFactory(case=work, candidate=world.candidate)
    batch = make_batch(world.group, cases=["work"], strategy="pool")
    world.import_keys()
    world.set_rule()
    (stuck,) = stuck_slots(batch)
    assert stuck.reasons == ("2 annotators have not qualified yet.",)
    Membership.objects.filter(user=world.other).update(withheld_at=NOW)
    (stuck,) = stuck_slots(batch)
    assert stuck.reasons == ("1 annotator has not qualified yet.", "Assignments are paused for 1 annotator.")


def test_attempts_are_no_batches_on_the_page_of_groups() -> None:
    world = QualificationWorld(required="on")
    world.start()
    world.start(world.other)
    assert Batch.objects.filter(group=world.group, kind="qualify").count() == 2
    page = world.client.get(f"/b/{world.benchmark.slug}/groups/")
    assert [group.batch_count for group in page.context["groups"]] == [0]
    CaseFactory(benchmark=world.benchmark, key="work", rubric=2)
    ResponseFactory(case=world.benchmark.cases.get(key="work"), candidate=world.candidate)
    make_batch(world.group, cases=["work"])
    page = world.client.get(f"/b/{world.benchmark.slug}/groups/")
    assert [group.batch_count for group in page.context["groups"]] == [1]


def test_a_retry_waits_and_the_last_failure_is_final() -> None:
    world = QualificationWorld(attempts=2, wait_hours=24)
    User.objects.filter(pk=world.annotator.pk).update(language="zh-hans")
    wrong = tuple(tuple("met" if o == "not_met" else "not_met" for o in row) for row in world.KEY)
    with time_machine.travel(NOW, tick=False):
        first = world.attempt(*wrong)
        assert first.mf1 == 0.0
        eligibility = eligibility_of(world.annotator, world.group)
        assert (eligibility.reason, eligibility.again_at) == ("waiting", NOW + timedelta(hours=24))
        assert world.start()["Location"] == "/work/"
    with time_machine.travel(NOW + timedelta(hours=23, minutes=59), tick=False):
        assert world.start()["Location"] == "/work/"
        assert QualificationAttempt.objects.count() == 1
    with time_machine.travel(NOW + timedelta(hours=24), tick=False):
        world.attempt(*wrong)
        assert eligibility_of(world.annotator, world.group).reason == "failed"
        world.start()
        assert QualificationAttempt.objects.count() == 2
        assert "no attempts left" in world.client.get(world.base).content.decode()
        # Handed in by a physician who reads Chinese, told to an admin who need not.
        notification = Notification.objects.get(user=world.admin, kind="held_back")
        assert notification.values["reason"] == "Qualification not passed in 2 attempts."
        # The admin gives another attempt.
        world.set_rule(attempts=3, wait_hours=0)
        assert world.attempt(*world.KEY).status == "passed"
    assert eligibility_of(world.annotator, world.group).may_get_work
    orders = {
        tuple(batch.assignments.order_by("position").values_list("response", flat=True))
        for batch in Batch.objects.filter(kind="qualify")
    }
    assert all(sorted(order) == sorted(row.pk for row in world.keyed) for order in orders)


def test_nobody_qualifies_on_what_they_know() -> None:
    world = QualificationWorld()
    make_batch(world.group, cases=["key-0"])  # one of the two annotators has it
    worker = Assignment.objects.get().annotator
    world.import_keys()
    world.set_rule()
    world.start(worker)
    assert list(Assignment.objects.filter(purpose="qualification").values_list("response__case__key", flat=True)) == [
        "key-1"
    ]
    # A response with a key is out of every later batch.
    with pytest.raises(Exception, match="No responses match"):
        make_batch(world.group, skip_given=False)


def test_a_key_of_ordinary_work_is_imported_with_a_warning_and_leaves_the_work_in_the_results() -> None:
    world = QualificationWorld()
    make_batch(world.group, cases=["key-0"])
    page = world.import_keys(use="gold")
    assert page.status_code == 302
    body = " ".join(world.client.get(world.base).content.decode().split())
    assert "Answer keys imported: 2 new, 0 updated." in body
    assert "1 of these responses is also in an ordinary batch. Its decisions there count in results as before" in body
    # Response, criteria, assigned for this use, ordinary batches.
    number = r'<td class="num">(\d)</td>'
    rows = re.findall(rf">(key-\d)</a>.*?{number} {number} {number}", body)
    assert rows == [("key-0", "4", "0", "1"), ("key-1", "4", "0", "0")]
    key = KeyedResponse.objects.get(response__case__key="key-0")
    assert "in 1 ordinary batch" in " ".join(
        world.client.get(f"{world.base}keys/{key.public_id}/").content.decode().split()
    )
    # What the page says is true: decided as ordinary work, it is in the results.
    assert "its decisions in that batch count in results as before" in body
    for row in Assignment.objects.select_related("annotator"):
        decide(row, "met", "not_met")
    assert len(group_ratings(world.group, "first")) == 4
    # Keys of responses in no batch are imported without a warning.
    lines = [line for line in world.csv().splitlines() if not line.startswith("key-0")]
    world.import_keys("\n".join(lines), use="gold")
    body = world.client.get(world.base).content.decode()
    assert "Answer keys imported: 0 new, 1 updated." in body
    assert "ordinary batch. Its" not in body


def test_a_rule_that_annotators_cannot_meet_is_warned_of() -> None:
    world = QualificationWorld()
    make_batch(world.group, cases=["key-0", "key-1"], annotators_per_item=2)  # both annotators know both responses
    world.import_keys()
    world.set_rule(required=None)
    words = "2 of 2 annotators know all of these responses from other work or from agreed decisions"
    before = world.client.get(world.base).content.decode()  # the form warns before the rule is saved
    assert before.count(words) == before.count(f"Before you require qualification: {words}") == 1
    world.set_rule()
    page = world.client.get(world.base).content.decode()
    assert "Before you require qualification:" not in page
    assert page.count(words) == 2  # as a message after saving, and beside the rule
    page = world.client.get(world.base).content.decode()
    assert page.count(words) == 1
    assert page.count("other work includes 2 of the 2 responses") == 2
    # An annotator to whom they were assigned, and who has opened none, is not offered what cannot be started.
    client = signed_in(world.annotator)
    reason = "no response left for you to qualify on"
    work = client.get("/work/").content.decode()
    assert "Start qualification" not in work
    assert "attempts left" not in work
    assert work.count(reason) == 1
    refused = client.post(f"/work/qualification/{world.group.public_id}/start/", follow=True).content.decode()
    assert refused.count(reason) == 2  # the message, and on the page


def test_a_file_with_faults_changes_nothing_and_names_them() -> None:
    world = QualificationWorld()
    lines = world.csv().splitlines()
    lines[2] = "key-0,canary-candidate,0,9,met,"  # no ninth criterion
    lines[6] = "key-1,nobody,0,2,met,"
    lines[7] = "key-1,canary-candidate,0,3,perhaps,"
    answer = world.import_keys("\n".join(lines))
    body = answer.content.decode()
    assert answer.status_code == 422
    for words in ("line 3", "line 7", "line 8", "candidate", "criterion", "outcome"):
        assert words in body
    assert not KeyedResponse.objects.exists()
    assert world.set_rule().status_code == 422  # nothing to qualify on
    assert world.import_keys().status_code == 302
    exported = b"".join(world.client.get(f"{world.base}keys-qualification.csv")).decode()  # type: ignore[call-overload]
    assert exported.splitlines()[1] == "key-0,canary-candidate,0,1,met,because 0.1,chat"
    assert world.import_keys(exported.replace("because 0.1", "for another reason")).status_code == 302
    assert KeyedResponse.objects.count() == 2
    assert world.import_keys(use="gold").status_code == 422  # they serve one use
    assert not QualificationRule.objects.filter(required=True).exists()


def test_the_rule_is_saved_after_a_refused_import_and_keeps_what_was_filled_in() -> None:
    world = QualificationWorld()
    world.import_keys()
    file = io.BytesIO(b"case,candidate\n")
    file.name = "keys.csv"
    rule = {"required": "on", "pass_mark": "0.61", "attempts": "7", "wait_hours": "5", "gold_mark": "",
            "gold_minimum": "60"}  # fmt: skip
    refused = world.client.post(f"{world.base}import/", {"use": "gold", "file": file, **rule})
    assert refused.status_code == 422
    assert not QualificationRule.objects.filter(required=True).exists()
    body = refused.content.decode()
    assert re.search(r'qualification/"\s+aria-current="page"\s*>Qualification and gold items', body)
    form = re.search(r'<form\s+id="rule-and-keys"[^>]*action="([^"]*)"', body)
    assert form is not None
    fields = dict(re.findall(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"', body))
    assert (fields["pass_mark"], fields["attempts"], fields["wait_hours"]) == ("0.61", "7", "5")
    assert re.search(r'<input[^>]*name="required"[^>]*\schecked', body)
    assert re.search(r'<option value="gold"\s+selected', body)
    assert world.client.post(form[1], {**rule, "attempts": "", "use": "gold"}).status_code == 422
    assert world.client.post(form[1], rule).status_code == 302
    assert QualificationRule.objects.get().attempts == 7


def test_an_answer_key_is_saved_after_its_withdrawal_was_refused() -> None:
    world = QualificationWorld(pass_mark="0.7")
    first, last = KeyedResponse.objects.order_by("pk")
    pages = [f"{world.base}keys/{key.public_id}/" for key in (first, last)]
    assert world.client.post(f"{pages[0]}active/", {"active": "0"}).status_code == 302
    refused = world.client.post(f"{pages[1]}active/", {"active": "0"})
    assert refused.status_code == 422
    assert re.search(rf'<form method="post"\s+class="card keys"\s+action="{pages[1]}"', refused.content.decode())


def test_agreed_responses_become_keys_by_one_click_and_can_be_edited() -> None:
    world = QualificationWorld()
    assert "No fully agreed responses yet" in world.client.get(f"{world.base}responses/").content.decode()
    make_batch(world.group, annotators_per_item=2)
    for row in Assignment.objects.select_related("annotator", "response__case"):
        differs = row.response.case.key == "key-1" and row.annotator == world.other
        decide(row, "not_met" if differs else "met", "not_met")
    body = world.client.get(f"{world.base}responses/").content.decode()
    assert "key-0" in body
    assert "key-1" not in body  # one criterion is in conflict
    chosen = world.keyed[0].public_id
    assert world.client.post(f"{world.base}responses/", {"response": chosen, "use": "gold"}).status_code == 302
    key = KeyedResponse.objects.get()
    outcomes = list(key.decisions.order_by("criterion").values_list("outcome", flat=True))
    assert (key.use, outcomes) == ("gold", ["met", "not_met", "not_met", "not_met"])
    page = f"{world.base}keys/{key.public_id}/"
    criteria = list(key.decisions.order_by("criterion").values_list("criterion", flat=True))
    data = {f"outcome-{c}": "met" for c in criteria} | {f"explanation-{criteria[0]}": "It says so."}
    assert world.client.post(page, {**data, f"outcome-{criteria[3]}": "perhaps"}).status_code == 422
    assert world.client.post(page, data).status_code == 302
    assert set(key.decisions.values_list("outcome", flat=True)) == {"met"}
    assert world.client.post(f"{page}use/", {"use": "qualification"}).status_code == 302
    world.set_rule()
    assert world.client.post(f"{page}active/", {"active": "0"}).status_code == 422  # the last one of a required set


def test_the_page_asks_a_fixed_number_of_questions() -> None:
    world = QualificationWorld(attempts=3)
    researcher = signed_in(world.benchmark.roles.get(role="researcher").user)

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert researcher.get(world.base).status_code == 200
        return len(queries)

    before = cost()
    for _ in range(4):
        Membership.objects.create(group=world.group, user=UserFactory(), role="annotator")
    world.attempt(*world.KEY)
    for n in range(3):
        case = CaseFactory(benchmark=world.benchmark, key=f"more-{n}", rubric=1)
        ResponseFactory(case=case, candidate=world.candidate)
        text = f"case,candidate,sample,criterion,outcome\nmore-{n},canary-candidate,0,1,met\n"
        assert world.import_keys(text, use="gold").status_code == 302
    assert cost() == before
