"""A second round of votes, rulings, and the reference sets that come from them, through pages and commands."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, PhysicianProfile, User
from agreement.acuity.inputs import read_inputs
from agreement.acuity.panel_inputs import with_panel
from agreement.acuity.uncertainty_tables import uncertainty_tables
from annotation.acuity.moves import Move, move_of
from annotation.acuity.panel import panel_case
from annotation.acuity.votes import CastVote
from annotation.labels.batches import CaseFilter, LabelTerms, plan_labels
from annotation.labels.handover import movable_tasks
from annotation.labels.selectors import label_work
from annotation.labels.services import submit_labels
from annotation.models import (
    AcuityRuling,
    Attention,
    Batch,
    LabelQuestion,
    LabelTask,
    Membership,
    ReferenceItem,
    ReferenceSet,
    RulingRequest,
)
from consilium.core.errors import DomainError
from rubrics.acuity.schemes import How, Mapped, Scheme
from rubrics.acuity.services import make_scheme
from rubrics.acuity.stored import scale_of
from rubrics.models import AcuityImport, Case, SourceLabel
from tests.annotation.labels.labels_world import Panel, build_panel, give_out, level_question
from tests.factories import BenchmarkFactory, CaseFactory, ExpertGroupFactory, UserFactory, member

pytestmark = pytest.mark.slow

SPLIT = ("self-care", "self-care", "urgent-care", "emergency", "emergency")  # dispersion 4.6; median urgent-care
CLOSE = ("self-care", "self-care", "self-care", "primary-care", "primary-care")  # dispersion 0.6


@pytest.fixture
def panel(db: None) -> Panel:
    """Cases a and b are ambiguous, c is clear, and d still waits for votes."""
    panel = build_panel()
    panel.say("a", *SPLIT)
    panel.say("b", *SPLIT)
    panel.say("c", *CLOSE)
    panel.say("d", *SPLIT[:4])
    return panel


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def round_url(panel: Panel, name: str = "second-round") -> str:
    return f"/b/panel/labels/{panel.question.public_id}/{name}/"


def post_round(panel: Panel, **change: Any) -> Any:
    data = {
        "title": "Once more",
        "group": panel.group.public_id,
        "rule": "dispersion",
        "threshold": "0.75",
        "seed": "3",
    }
    return signed_in(panel.admin).post(round_url(panel), {**data, **change})


def open_round(panel: Panel) -> Panel:
    """The panel with its second round as the batch."""
    assert post_round(panel).status_code == 302
    return Panel(panel.benchmark, panel.admin, panel.group, panel.question, Batch.objects.get(title="Once more"))


def ask(panel: Panel, **change: str) -> Any:
    data = {"group": panel.group.public_id, "rule": "dispersion", "threshold": "0.75", "seed": "3"}
    return signed_in(panel.admin).post(round_url(panel, "rulings"), {**data, **change})


def rows_of(client: Client, url: str) -> list[dict[str, str]]:
    answer = client.get(url)
    text = b"".join(answer.streaming_content).decode() if answer.streaming else answer.content.decode()
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def named_in(page: str, people: list[User]) -> list[User]:
    """Those whose name or address stands on the page."""
    return [user for user in people if re.search(rf"{user.name}\b", page) or user.email in page]


# A second round -------------------------------------------------------------------------------------------------------


def test_the_ambiguous_cases_go_to_those_who_voted_on_them(panel: Panel) -> None:
    left = panel.people[4]
    Membership.objects.filter(user=left).update(active=False)
    page = signed_in(panel.admin).get(round_url(panel, "second-round/preview"), {
        "group": panel.group.public_id, "rule": "dispersion", "threshold": "0.75", "seed": "3",
    }).content.decode()  # fmt: skip
    assert "a, b" in page
    assert "<dd>8</dd>" in page  # two cases, four voters who are still members
    assert "1 ambiguous case is still waiting for votes" in page  # d
    digest = re.search(r'name="digest" value="(\w+)"', page)
    assert digest
    notices = Notification.objects.count()
    assert post_round(panel, digest=digest[1]).status_code == 302
    batch = Batch.objects.get(title="Once more")
    tasks = LabelTask.objects.filter(batch=batch)
    assert {(task.case.key, task.round) for task in tasks.select_related("case")} == {("a", 2), ("b", 2)}
    assert set(tasks.values_list("annotator", flat=True)) == {user.pk for user in panel.people[:4]}
    assert Notification.objects.count() == notices + 4
    # The same form again leads to the same batch; there is no third round.
    assert post_round(panel, digest=digest[1]).headers["Location"].endswith(f"/batches/{batch.public_id}/")
    again = post_round(panel, seed="4")
    assert again.status_code == 422
    assert "still waiting for votes" in again.content.decode()
    assert Batch.objects.filter(kind="label").count() == 2
    assert "Second round: vote again" in signed_in(panel.people[0]).get("/work/").content.decode()


def test_a_changed_panel_opens_nothing(panel: Panel) -> None:
    assert post_round(panel, digest="0" * 64).status_code == 409
    assert post_round(panel, rule="majority", threshold="2").status_code == 422
    assert post_round(panel, rule="dispersion", threshold="9").status_code == 422  # nothing is ambiguous
    assert LabelTask.objects.filter(round=2).count() == 0


def test_the_voter_sees_the_votes_of_round_1_without_names(panel: Panel) -> None:
    first = panel.tasks("a")
    second = open_round(panel)
    task = next(task for task in second.tasks("a") if task.annotator == first[2].annotator)
    page = signed_in(task.annotator).get(f"/work/labels/{task.public_id}/").content.decode()
    section = page[page.index("earlier-votes") : page.index("speaker")]
    assert re.findall(r'class="num">(\d)<', section) == ["2", "0", "1", "2"]
    assert "Your vote was: <b>Urgent care</b>" in section
    assert not named_in(page, [user for user in panel.people if user != task.annotator])
    # A physician in the first round sees nothing of the sort.
    waiting = panel.tasks("d")[4]
    page = signed_in(waiting.annotator).get(f"/work/labels/{waiting.public_id}/").content.decode()
    assert "Votes of round 1" not in page


def test_groups_vote_again_independently_and_an_adjudicator_sees_the_panel(panel: Panel) -> None:
    """Those of a group see the votes and notes of their own group; who rules sees what the reference comes from."""
    other = ExpertGroupFactory(benchmark=panel.benchmark, annotators=3)
    batch = give_out(other, panel.question, annotators=3, skip_given=False)
    theirs = Panel(panel.benchmark, panel.admin, other, panel.question, batch)
    for task, level in zip(theirs.tasks("a"), ("primary-care", "emergency", "self-care"), strict=True):
        theirs.vote(task, level, note=f"seen by the others: {level}")
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    Batch.objects.filter(pk=batch.pk).update(status="closed", closed_at=timezone.now())
    judge = member(panel.group, Membership.Role.ADJUDICATOR)
    rounds = {}
    for group, title in ((panel.group, "Once more"), (other, "And the others")):
        assert post_round(panel, group=group.public_id, title=title).status_code == 302, title
        rounds[title] = Batch.objects.get(title=title)
        LabelTask.objects.filter(batch=rounds[title]).update(status="released")  # two rounds of a case are not opened
    for title, counts, notes in (
        ("Once more", [2, 0, 1, 2], []),
        ("And the others", [1, 1, 0, 1], ["seen by the others: emergency", "seen by the others: self-care"]),
    ):
        task = LabelTask.objects.filter(batch=rounds[title], case__key="a").order_by("annotator").first()
        assert task is not None
        LabelTask.objects.filter(pk=task.pk).update(status="not_started")
        client, url = signed_in(task.annotator), f"/work/labels/{task.public_id}/"
        earlier = client.get(f"/api/v1{url}").json()["earlier"]
        assert [line["n"] for line in earlier["votes"]["lines"]] == counts
        assert earlier["votes"]["notes"] == notes
        page = client.get(url).content.decode()
        section = page[page.index("earlier-votes") : page.index("speaker")]
        assert [int(n) for n in re.findall(r'class="num">(\d)<', section)] == counts
        assert ("seen by the others: self-care" in page) == bool(notes)
        LabelTask.objects.filter(pk=task.pk).update(status="released")
    assert ask(panel).status_code == 302
    url = f"/work/rulings/{RulingRequest.objects.get(case__key='a').public_id}/"
    (votes,) = signed_in(judge).get(f"/api/v1{url}").json()["rounds"]
    assert [line["n"] for line in votes["lines"]] == [3, 1, 1, 3]
    assert len(votes["notes"]) == 3


def test_notes_are_shown_without_names_and_in_no_order_of_who_wrote_them(db: None) -> None:
    panel = build_panel()
    for task, level, note in zip(panel.tasks("a"), SPLIT, ("zebra", "", "mango", "apple", ""), strict=True):
        panel.vote(task, level, note=note)
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    task = open_round(panel).tasks("a")[0]
    page = signed_in(task.annotator).get(f"/work/labels/{task.public_id}/").content.decode()
    shown = re.search(r'class="vote-notes">(.*?)</ul>', page, re.S)
    assert shown
    assert re.findall(r"<li>(.*?)</li>", shown[1]) == ["apple", "mango"]
    assert '<p class="own-note">zebra</p>' in page


def test_nobody_sees_votes_of_round_2_before_voting_in_it(panel: Panel) -> None:
    second = open_round(panel)
    first, last = second.tasks("a")[0], second.tasks("a")[4]
    url = f"/work/labels/{last.public_id}/"
    client = signed_in(last.annotator)

    def shown() -> tuple[list[str], object]:
        page = client.get(url).content.decode()
        section = page[page.index("earlier-votes") : page.index("speaker")]
        assert "seen again" not in page
        return re.findall(r'class="num">(\d)<', section), client.get(f"/api/v1{url}").json()["earlier"]

    before = shown()
    second.vote(first, "primary-care", note="seen again")
    submit_labels(task=first, annotator=first.annotator, at=timezone.now())
    assert shown() == before


def test_a_set_takes_votes_and_rulings_up_to_its_signing(panel: Panel) -> None:
    later = timezone.now() + timedelta(hours=1)
    last = panel.tasks("d")[4]
    panel.vote(last, "emergency")
    submit_labels(task=last, annotator=last.annotator, at=later)
    rule(panel, "c", 2, 2, at=later)
    call_command("reference_set", benchmark="panel")
    own = ReferenceItem.objects.filter(reference_set__number=1)
    assert own.get(case__key="d").votes == [0, 0, 4, 6]
    assert own.get(case__key="c").source == "panel"


def test_a_vote_that_was_not_handed_in_is_shown_to_nobody(panel: Panel) -> None:
    panel.vote(panel.tasks("d")[4], "primary-care", note="a draft")
    Batch.objects.filter(pk=panel.batch.pk).update(status="closed", closed_at=timezone.now())
    second = open_round(panel)
    task = second.tasks("d")[0]
    page = signed_in(task.annotator).get(f"/work/labels/{task.public_id}/").content.decode()
    section = page[page.index("earlier-votes") : page.index("speaker")]
    assert re.findall(r'class="num">(\d)<', section) == ["2", "0", "1", "1"]
    assert "a draft" not in page
    LabelTask.objects.filter(batch=second.batch).update(status="released")
    judge = member(panel.group, Membership.Role.ADJUDICATOR)
    assert ask(panel).status_code == 302
    request = RulingRequest.objects.get(case__key="d")
    page = signed_in(judge).get(f"/work/rulings/{request.public_id}/").content.decode()
    assert re.findall(r'class="num">(\d)<', page) == ["2", "0", "1", "1"]
    assert "a draft" not in page


def test_the_other_group_learns_nothing_of_rounds_and_rulings(panel: Panel) -> None:
    other = ExpertGroupFactory(benchmark=panel.benchmark, annotators=1)
    judge, colleague = member(other, Membership.Role.ADJUDICATOR), other.people["annotator"][0]
    member(panel.group, Membership.Role.ADJUDICATOR)
    notices = Notification.objects.filter(user__in=[judge, colleague]).count()
    batch = open_round(panel).batch
    LabelTask.objects.filter(batch=batch).update(status="released")
    assert ask(panel).status_code == 302
    request, task = RulingRequest.objects.first(), LabelTask.objects.filter(batch=batch).first()
    assert request is not None and task is not None
    for user in (judge, colleague):
        client = signed_in(user)
        for url in (f"/work/rulings/{request.public_id}/", f"/work/labels/{task.public_id}/"):
            assert client.get(url).status_code == client.get(f"/api/v1{url}").status_code == 404
            assert client.post(url, {"level": "self-care", "reason": "border"}).status_code in (404, 405)
        assert client.get("/api/v1/work/rulings/").json()["count"] == 0
        assert "ambiguous" not in client.get("/work/").content.decode()
        assert request.public_id not in client.get("/work/rulings/").content.decode()
    assert Notification.objects.filter(user__in=[judge, colleague]).count() == notices
    assert not AcuityRuling.objects.exists()


def test_a_case_waits_until_round_1_is_over(panel: Panel) -> None:
    task = open_round(panel).tasks("a")[0]
    client = signed_in(task.annotator)
    url = f"/work/labels/{task.public_id}/"
    assert client.get(url).status_code == 200
    late = LabelTask.objects.create(
        batch=panel.batch, case=task.case, annotator=member(panel.group, Membership.Role.ANNOTATOR)
    )
    assert client.get(url).status_code == 404
    assert client.post(f"{url}submit/").status_code == 404
    assert client.get(f"/api/v1/work/labels/{task.public_id}/").status_code == 404
    assert task.public_id not in client.get("/api/v1/work/labels/").content.decode()
    LabelTask.objects.filter(pk=late.pk).update(status="released")
    assert client.get(url).status_code == 200


def test_nobody_new_votes_once_others_have_seen_the_votes(panel: Panel) -> None:
    second = open_round(panel)
    terms = LabelTerms("More", 3, 1)
    for _people in range(3):
        member(panel.group, Membership.Role.ANNOTATOR)
    plan = plan_labels(group=panel.group, questions=[panel.question], terms=terms, filter=CaseFilter(skip_given=False))
    keys = set(Case.objects.filter(pk__in=plan.cases).values_list("key", flat=True))
    assert keys == {"c", "d"}
    assert movable_tasks(batch=second.batch, holder=panel.people[0].pk) == []


def test_votes_that_others_have_seen_are_no_secret_for_another_question_on_the_scale(panel: Panel) -> None:
    other = level_question(panel.benchmark, "other")

    def keys(question: LabelQuestion) -> set[str]:
        terms, chosen = LabelTerms("More", 3, 1), CaseFilter(skip_given=False)
        plan = plan_labels(group=panel.group, questions=[question], terms=terms, filter=chosen)
        return set(Case.objects.filter(pk__in=plan.cases).values_list("key", flat=True))

    assert keys(other) == {"a", "b", "c", "d"}
    open_round(panel)
    assert keys(other) == {"c", "d"}
    assert keys(level_question(panel.benchmark, "elsewhere", "three")) == {"a", "b", "c", "d"}


def test_a_second_round_waits_for_votes_on_another_question_on_the_scale(panel: Panel) -> None:
    batch = give_out(panel.group, level_question(panel.benchmark, "other"), annotators=3, seed=9)
    member(panel.group, Membership.Role.ADJUDICATOR)
    for answer in (post_round(panel), ask(panel)):
        assert answer.status_code == 422
        assert "waiting for votes" in answer.content.decode()
    Batch.objects.filter(pk=batch.pk).update(status="closed", closed_at=timezone.now())
    assert post_round(panel).status_code == 302


def test_nobody_is_asked_about_a_case_that_was_excluded(panel: Panel) -> None:
    member(panel.group, Membership.Role.ADJUDICATOR)
    change = {"excluded_at": timezone.now(), "exclusion_reason": "twice"}
    Case.objects.filter(key="a").update(**change)
    assert ask(panel).status_code == 302
    assert RulingRequest.objects.get().case.key == "b"
    Case.objects.filter(key__in=("b", "d")).update(**change)
    answer = post_round(panel)
    assert answer.status_code == 422
    assert "All ambiguous cases have since been excluded" in answer.content.decode()
    assert not LabelTask.objects.filter(round=2).exists()


def test_my_work_and_the_page_of_a_case_count_the_same_cases(panel: Panel) -> None:
    voter = panel.people[0]
    (task,) = [own for own in open_round(panel).tasks("a") if own.annotator == voter]
    client = signed_in(voter)

    def counted() -> tuple[str, str]:
        work = client.get("/api/v1/work/labels/").json()["results"]
        page = client.get(f"/work/labels/{task.public_id}/").content.decode()
        place = re.search(r"Case\s+(\d+)\s+of\s+(\d+)", page)
        assert place
        (row,) = [row for row in label_work(voter) if row.batch.title == "Once more"]
        assert len([own for own in work if own["round"] == 2]) == row.total
        return place[2], str(row.total)

    assert counted() == ("2", "2")
    # Round 1 of b goes on, so its second round is hidden.
    late = member(panel.group, Membership.Role.ANNOTATOR)
    LabelTask.objects.create(batch=panel.batch, case=Case.objects.get(key="b"), annotator=late)
    assert counted() == ("1", "1")


def test_votes_that_were_handed_in_are_listed_and_their_batch_speaks_of_no_check(panel: Panel) -> None:
    voter = panel.people[0]
    second = open_round(panel)
    second.say("a", *SPLIT)
    (task,) = [task for task in second.tasks("a") if task.annotator == voter]
    first = LabelTask.objects.filter(batch=panel.batch, annotator=voter)
    for url in ("/work/", "/work/in/panel/"):
        page = " ".join(signed_in(voter).get(url).content.decode().split())
        listed = re.findall(r'<th scope="row"> <a href="/work/labels/(\w+)/">Case (\d+)</a> (.*?)</th>', page)
        # The latest first: that of the second round, then the four of the first in the order in which they came.
        assert [public_id for public_id, _position, _sub in listed] == [
            task.public_id, *first.order_by("-submitted_at").values_list("public_id", flat=True)
        ]  # fmt: skip
        assert ["second round" in sub for _id, _position, sub in listed] == [True, False, False, False, False]
    assert "Submitted" not in signed_in(panel.admin).get("/work/").content.decode()
    admin = signed_in(panel.admin)
    page = " ".join(admin.get(f"/b/panel/batches/{second.batch.public_id}/").content.decode().split())
    assert "5 of 10 submitted" in page
    words = re.sub(r"<[^>]+>", "", page)  # a class of the style sheet has the name of the stage
    assert "accepted" not in words.lower()
    assert "In check" not in words
    second.say("b", *SPLIT)
    page = " ".join(admin.get(f"/b/panel/batches/{second.batch.public_id}/").content.decode().split())
    assert "All work is submitted." in page
    help_text = admin.get(round_url(panel)).content.decode()
    assert "The seed shuffles the order in which each physician receives their cases." in help_text
    assert "assigns them to the same physicians" not in help_text


def test_votes_move_and_the_figures_stay_those_of_round_1(panel: Panel) -> None:
    url = f"/b/panel/labels/{panel.question.public_id}/"
    client = signed_in(panel.admin)
    before = rows_of(client, f"{url}cases.csv")
    second = open_round(panel)
    # From self-care (2), urgent-care, emergency (2); the median is urgent-care.
    second.say("a", "self-care", "primary-care", "emergency", "cannot-tell", "emergency")
    assert rows_of(client, f"{url}cases.csv") == before
    (row,) = rows_of(client, f"{url}moves.csv")
    assert {name: row[name] for name in ("case", "n_votes", "kept", "towards", "away", "across", "cannot_tell")} == {
        "case": "a", "n_votes": "5", "kept": "2", "towards": "1", "away": "1", "across": "0", "cannot_tell": "1",
    }  # fmt: skip
    assert (row["low"], row["last_low"], row["last_high"]) == ("urgent-care", "emergency", "emergency")
    page = client.get(url).content.decode()
    assert "How votes changed" in page
    votes = rows_of(client, f"{url}answers.csv")
    assert sorted(vote["round"] for vote in votes) == ["1"] * 19 + ["2"] * 5


def test_a_vote_as_far_from_the_median_on_its_other_side_has_moved_across() -> None:
    panel = panel_case("a", [(0, 0), (1, 1), (2, 2)], 4)

    def vote(low: int | None, high: int | None) -> CastVote:
        return CastVote(1, 1, "a", 1, low, high, "", None, "", 1)

    for before, after, move in (
        ((0, 0), (2, 2), Move.ACROSS), ((0, 1), (1, 2), Move.ACROSS), ((0, 0), (0, 1), Move.TOWARDS),
        ((1, 1), (1, 2), Move.AWAY), ((2, 2), (2, 2), Move.KEPT), ((None, None), (1, 1), Move.CANNOT_TELL),
        ((1, 1), (None, None), Move.CANNOT_TELL), ((2, 3), (1, 2), Move.TOWARDS),
    ):  # fmt: skip
        assert move_of(vote(*before), vote(*after), panel) is move, (before, after)


# Rulings --------------------------------------------------------------------------------------------------------------


def test_an_adjudicator_who_did_not_vote_rules_on_what_stays_ambiguous(panel: Panel) -> None:
    judge, voter = member(panel.group, Membership.Role.ADJUDICATOR), panel.people[0]
    member(panel.group, Membership.Role.ADJUDICATOR, voter)
    second = open_round(panel)
    assert "still waiting for votes" in ask(panel).content.decode()
    second.say("a", *SPLIT)
    second.say("b", "urgent-care", "urgent-care", "urgent-care", "urgent-care", "emergency")  # agreed in round 2
    assert ask(panel).status_code == 302
    request = RulingRequest.objects.get()
    assert request.case.key == "a"
    client, url = signed_in(judge), f"/work/rulings/{request.public_id}/"
    assert "Rule on cases whose urgency" in client.get("/work/").content.decode()
    slug = panel.benchmark.slug
    member(ExpertGroupFactory(benchmark=BenchmarkFactory(slug="elsewhere")), Membership.Role.ADJUDICATOR, judge)
    for query, expected in (("", 1), (f"?benchmark={slug}", 1), ("?benchmark=elsewhere", 0)):
        rows = client.get(f"/api/v1/work/rulings/{query}").json()["results"]
        assert [(row["id"], row["benchmark"]) for row in rows] == [(request.public_id, slug)] * expected
    page = client.get(url).content.decode()
    assert "Votes of round 1" in page
    assert "Votes of round 2" in page
    assert not named_in(page, panel.people)
    # The voter is an adjudicator, too, and must not rule on a case that they voted on.
    assert signed_in(voter).get(url).status_code == 404
    assert "Rulings" not in signed_in(voter).get("/work/").content.decode()
    for sent, sentence in (
        ({"level": "self-care"}, "Choose the reason"),
        ({"level": "nothing", "reason": "border"}, "Choose a level"),
        ({"level": "self-care", "upper": "emergency", "reason": "border"}, "the next level up"),
        ({"level": "stays-ambiguous", "upper": "emergency", "reason": "border"}, "cannot be between two levels"),
    ):
        answer = client.post(url, {"note": "kept", **sent})
        assert answer.status_code == 422
        assert sentence in answer.content.decode()
        assert ">kept</textarea>" in answer.content.decode()
    ruling = {"level": "primary-care", "upper": "urgent-care", "reason": "missing-fact", "note": "How long?"}
    assert client.post(url, ruling).headers["Location"] == "/work/rulings/"
    row = AcuityRuling.objects.get()
    assert (row.low, row.high, row.reason, row.note, row.adjudicator) == (1, 2, "missing-fact", "How long?", judge)
    assert "It can no longer be changed." in client.get(url).content.decode()
    other = signed_in(member(panel.group, Membership.Role.ADJUDICATOR))
    assert other.get(url).status_code == 404
    # Nor does the refusal of a ruling that is none show what somebody else has said.
    for sent in (ruling, {"note": "no level"}, {"level": "nothing", "reason": "border"}):
        answer = other.post(url, sent, follow=True)
        assert answer.redirect_chain == [("/work/rulings/", 302)]
        assert "Someone else has already ruled on this case" in answer.content.decode()
        assert "How long?" not in answer.content.decode()
    assert AcuityRuling.objects.count() == 1
    # Each sees their own rulings in the list, and nobody else's.
    for own, seen in ((client, True), (other, False)):
        assert (request.public_id in own.get("/work/rulings/?show=done").content.decode()) is seen
        assert (request.public_id in own.get("/work/rulings/in/panel/?show=done").content.decode()) is seen
    results = signed_in(panel.admin).get(f"/b/panel/labels/{panel.question.public_id}/").content.decode()
    assert "Primary care / Urgent care" in results
    (exported,) = rows_of(signed_in(panel.admin), f"/b/panel/labels/{panel.question.public_id}/rulings.csv")
    assert (exported["case"], exported["state"], exported["low"], exported["high"], exported["reason"]) == (
        "a", "level", "primary-care", "urgent-care", "missing-fact",
    )  # fmt: skip


def test_rulings_need_an_adjudicator_and_are_asked_for_once(panel: Panel) -> None:
    assert "no adjudicator" in ask(panel).content.decode()
    member(panel.group, Membership.Role.ADJUDICATOR, panel.people[0])
    preview = signed_in(panel.admin).get(round_url(panel, "rulings/preview"), {
        "group": panel.group.public_id, "rule": "dispersion", "threshold": "0.75", "seed": "3",
    }).content.decode()  # fmt: skip
    assert "Every adjudicator in this group has voted on 2 of the cases" in preview
    assert ask(panel).status_code == 302  # without a second round; case d waits for a vote
    assert set(RulingRequest.objects.values_list("case__key", flat=True)) == {"a", "b"}
    assert ask(panel).status_code == 422
    # A second round of these cases cannot follow, and nobody new votes on them.
    assert post_round(panel).status_code == 422


def test_pages_say_what_is_still_to_come(panel: Panel) -> None:
    admin = signed_in(panel.admin)
    member(panel.group, Membership.Role.ADJUDICATOR)

    def preview() -> str:
        form = {"scale": panel.question.scale_id, "rule": "dispersion", "threshold": "0.75", "minimum_votes": "3"}
        page = admin.get("/b/panel/reference-sets/preview", form).content.decode()
        return " ".join(page.split())

    assert "1 vote is not submitted yet and will not be in this set." in preview()
    second = open_round(panel)
    second.say("a", *SPLIT)
    page = " ".join(admin.get(f"/b/panel/labels/{panel.question.public_id}/").content.decode().split())
    assert f'/b/panel/batches/{second.batch.public_id}/">Once more</a>' in page
    assert "5 of 10 votes submitted" in page
    assert "6 votes are not submitted yet" in preview()
    second.say("b", *SPLIT)
    assert ask(panel).status_code == 302
    assert "2 rulings are still pending and will not be in this set." in preview()


def ambiguous_cases_without_rubrics(panel: Panel, *keys: str) -> None:
    """Ambiguous cases beside c, which is clear, instead of the others, whose content is frozen."""
    for key in keys:
        CaseFactory(benchmark=panel.benchmark, key=key, rubric=0)
    batch = give_out(panel.group, panel.question, annotators=5)
    more = Panel(panel.benchmark, panel.admin, panel.group, panel.question, batch)
    for key in keys:
        more.say(key, *SPLIT)
    Case.objects.filter(key__in="abd").update(excluded_at=timezone.now(), exclusion_reason="not for this test")


def make_stubs(*keys: str) -> None:
    """As where votes on cases without a text were imported."""
    Case.objects.filter(key__in=keys).update(conversation=[], is_stub=True)


def test_a_ruling_says_where_the_text_of_its_case_is_missing(panel: Panel) -> None:
    judge = signed_in(member(panel.group, Membership.Role.ADJUDICATOR))
    ambiguous_cases_without_rubrics(panel, "e")
    ask(panel)
    page = f"/work/rulings/{RulingRequest.objects.get(case__key='e').public_id}/"
    assert "is not stored here" not in judge.get(page).content.decode()
    make_stubs("e")  # a request from before stubs were left out
    assert "The text of this case is not stored here" in judge.get(page).content.decode()


def test_nobody_is_asked_about_a_case_that_nobody_can_read(panel: Panel) -> None:
    member(panel.group, Membership.Role.ADJUDICATOR)
    ambiguous_cases_without_rubrics(panel, "e", "f")
    admin, base = signed_in(panel.admin), f"/api/v1/benchmarks/panel/labels/{panel.question.public_id}"
    form = {"group": panel.group.public_id, "rule": "dispersion", "threshold": "0.75", "seed": "3"}
    make_stubs("e")
    for name in ("second-round", "rulings"):
        page = admin.get(round_url(panel, f"{name}/preview"), form).content.decode()
        assert "The text of 1 ambiguous case is not stored here, so the case cannot be read and is not included" in page
        assert re.search(r">\s*f\s*<", page)
        assert not re.search(r">\s*e\b", page)
    make_stubs("f")
    refusal = "The texts of the 2 ambiguous cases are not stored here, so the cases cannot be read"
    body = {"group": panel.group.public_id, "seed": 3}
    for answer in (
        post_round(panel),
        ask(panel),
        admin.post(f"{base}/second-round/", body | {"title": "Once more"}, content_type="application/json"),
        admin.post(f"{base}/rulings/ask/", body, content_type="application/json"),
    ):
        assert answer.status_code == 422
        assert refusal in answer.content.decode()
    for name in ("second-round", "rulings"):
        assert refusal in admin.get(round_url(panel, f"{name}/preview"), form).content.decode()
    assert not LabelTask.objects.filter(round=2).exists()
    assert not RulingRequest.objects.exists()


def test_an_adjudicator_sees_no_votes_while_anybody_still_votes_or_is_asked_to_vote_themselves(panel: Panel) -> None:
    judge, voter = (member(panel.group, Membership.Role.ADJUDICATOR) for _person in range(2))
    assert ask(panel).status_code == 302
    request = RulingRequest.objects.get(case__key="a")
    url = f"/work/rulings/{request.public_id}/"
    sent = {"level": "self-care", "reason": "border"}
    late = member(panel.group, Membership.Role.ANNOTATOR)
    task = LabelTask.objects.create(batch=panel.batch, case=request.case, annotator=late)
    for path in (url, f"/api/v1{url}"):
        assert signed_in(judge).get(path).status_code == signed_in(judge).post(path, sent).status_code == 404
    # Their own work in a closed batch is over, yet they were asked to vote, and may have read the case for that.
    LabelTask.objects.filter(pk=task.pk).update(annotator=voter)
    Batch.objects.filter(pk=panel.batch.pk).update(status="closed", closed_at=timezone.now())
    for path in (url, f"/api/v1{url}"):
        assert signed_in(voter).get(path).status_code == signed_in(voter).post(path, sent).status_code == 404
        assert signed_in(judge).get(path).status_code == 200
    assert not AcuityRuling.objects.exists()


def test_rulings_and_votes_of_both_rounds_are_work_that_is_counted_thanked_and_paid(panel: Panel) -> None:
    judge = member(panel.group, Membership.Role.ADJUDICATOR, UserFactory(name="Judge"))
    PhysicianProfile.objects.update_or_create(user=judge, defaults={"acknowledge": True, "acknowledged_as": "J. Judge"})
    second = open_round(panel)
    second.say("a", *SPLIT)
    second.say("b", *SPLIT)
    assert ask(panel).status_code == 302
    client, admin = signed_in(judge), signed_in(panel.admin)
    for request, seconds in zip(RulingRequest.objects.order_by("pk"), (90, 150), strict=True):
        url = f"/work/rulings/{request.public_id}/"
        assert f'data-time-url="{url}time/"' in client.get(url).content.decode()
        assert client.post(f"{url}time/", {"seconds": 0}, content_type="application/json").status_code == 204
        Attention.objects.update(reported_at=timezone.now() - timedelta(hours=1))
        assert client.post(f"{url}time/", {"seconds": seconds}, content_type="application/json").status_code == 204
        assert client.post(f"{url}time/", {"seconds": -1}, content_type="application/json").status_code == 400
        assert client.post(url, {"level": "self-care", "reason": "border"}).status_code == 302
        Attention.objects.update(reported_at=timezone.now() - timedelta(hours=1))
        # The last seconds come after the ruling.
        assert client.post(f"{url}time/", {"seconds": 30}, content_type="application/json").status_code == 204
    rows = {(row["email"], row["role"]): row for row in rows_of(admin, "/b/panel/contributions.csv")}
    own = rows[judge.email, "urgency_adjudicator"]
    assert [own[name] for name in ("items", "timed_items", "seconds", "median_seconds")] == ["2", "2", "300", "150.0"]
    # Four votes of round 1 and two of round 2; the last one did not vote on d.
    assert [rows[user.email, "labeller"]["items"] for user in panel.people] == ["6", "6", "6", "6", "5"]
    assert "J. Judge\n" in b"".join(admin.get("/b/panel/contributions/acknowledgement")).decode()
    rates = {"currency": "EUR", "item_urgency_adjudicator": "7.50", "item_labeller": "2"}
    answer = admin.post("/b/panel/contributions/payment.csv", rates)
    text = b"".join(answer.streaming_content).decode().removeprefix("\ufeff")
    paid = {row["email"]: row["amount"] for row in csv.DictReader(io.StringIO(text))}
    assert (paid[judge.email], paid[panel.people[0].email], paid[""]) == ("15.00", "12.00", "73.00")
    assert "rulings on urgency" in admin.get("/b/panel/contributions/").content.decode()


def assert_order_is_that_of_the_seed(order_with: Callable[[int], tuple[str, ...]]) -> None:
    """Random ids decide the order too, so seeds are tried until the order changes; 64 alike are no chance."""
    first = order_with(0)
    assert first == order_with(0)
    others = (order_with(seed) for seed in range(1, 65))
    assert next(order for order in others if order != first) == tuple(reversed(first))


def test_the_order_of_rulings_is_that_of_the_seed(panel: Panel) -> None:
    member(panel.group, Membership.Role.ADJUDICATOR)

    def order_with(seed: int) -> tuple[str, ...]:
        with transaction.atomic():
            assert ask(panel, seed=str(seed)).status_code == 302
            keys = tuple(RulingRequest.objects.order_by("position").values_list("case__key", flat=True))
            transaction.set_rollback(True)
        return keys

    assert_order_is_that_of_the_seed(order_with)
    assert ask(panel, digest="0" * 64).status_code == 409
    assert not RulingRequest.objects.exists()


def test_the_order_of_a_second_round_is_that_of_the_seed(panel: Panel) -> None:
    def order_with(seed: int) -> tuple[str, ...]:
        with transaction.atomic():
            assert post_round(panel, seed=str(seed)).status_code == 302
            own = LabelTask.objects.filter(round=2, annotator=panel.people[0]).order_by("position")
            keys = tuple(own.values_list("case__key", flat=True))
            transaction.set_rollback(True)
        return keys

    assert_order_is_that_of_the_seed(order_with)


def test_both_are_there_over_the_api(panel: Panel) -> None:
    judge = member(panel.group, Membership.Role.ADJUDICATOR)
    admin, base = signed_in(panel.admin), f"/api/v1/benchmarks/panel/labels/{panel.question.public_id}"

    def post(client: Client, url: str, **body: object) -> Any:
        return client.post(url, body, content_type="application/json")

    opened = post(admin, f"{base}/second-round/", group=panel.group.public_id, title="Once more", seed=3)
    assert opened.status_code == 201
    assert opened.json()["votes"] == 10
    assert post(admin, f"{base}/second-round/", group=panel.group.public_id, title="", seed=4).status_code == 400
    wrong = post(admin, f"{base}/second-round/", group=panel.group.public_id, title="x", seed=4, ambiguous="often:2")
    assert "ambiguous" in wrong.json()
    second = Panel(panel.benchmark, panel.admin, panel.group, panel.question, Batch.objects.get(title="Once more"))
    task = second.tasks("a")[0]
    detail = signed_in(task.annotator).get(f"/api/v1/work/labels/{task.public_id}/").json()
    assert detail["round"] == 2
    assert [line["n"] for line in detail["earlier"]["votes"]["lines"]] == [2, 0, 1, 2]
    assert detail["earlier"]["own"] == "Self-care"
    second.say("a", *SPLIT)
    second.say("b", *CLOSE)
    (moved, _b) = admin.get(f"{base}/moves/").json()["results"]
    assert (moved["case"], moved["kept"], moved["dispersion"]) == ("a", 5, pytest.approx(4.6))
    assert post(admin, f"{base}/rulings/ask/", group=panel.group.public_id).json() == {"cases": 1}
    client = signed_in(judge)
    (request,) = client.get("/api/v1/work/rulings/").json()["results"]
    url = f"/api/v1/work/rulings/{request['id']}/"
    assert [votes["round"] for votes in client.get(url).json()["rounds"]] == [1, 2]
    assert post(client, url, level="self-care", upper="emergency", reason="border").status_code == 422
    assert post(client, url, level="stays-ambiguous", reason="both-good").json()["is_ruled"] is True
    assert post(client, url, level="self-care", reason="border").status_code == 409
    assert client.get("/api/v1/work/rulings/").json()["results"] == []
    (ruled,) = admin.get(f"{base}/rulings/").json()["results"]
    assert (ruled["case"], ruled["state"], ruled["reason"], ruled["low"]) == ("a", "stays-ambiguous", "both-good", "")


# Reference sets -------------------------------------------------------------------------------------------------------


def rule(panel: Panel, key: str, low: int | None, high: int | None, at: datetime | None = None) -> None:
    AcuityRuling.objects.create(
        question=panel.question, case=Case.objects.get(benchmark=panel.benchmark, key=key),
        adjudicator=member(panel.group, Membership.Role.ADJUDICATOR), low=low, high=high, reason="border",
        created_at=at or timezone.now(),
    )  # fmt: skip


def items(number: int) -> dict[str, tuple[object, ...]]:
    rows = ReferenceItem.objects.filter(reference_set__number=number)
    return {row[0]: row[1:] for row in rows.values_list("case__key", "status", "source", "low", "high", "later_votes")}


def test_references_come_from_the_round_that_the_set_names(panel: Panel) -> None:
    second = open_round(panel)
    second.say("a", "emergency", "emergency", "emergency", "emergency", "urgent-care")
    second.say("b", "self-care", "self-care")  # too few: its last round with enough votes is the first
    out = io.StringIO()
    call_command("reference_set", benchmark="panel", stdout=out)
    call_command("reference_set", "--round", "last", benchmark="panel", stdout=out)
    assert "references of panels from their last round" in out.getvalue().splitlines()[1]
    assert items(1)["a"] == ("ambiguous", "panel", 2, 2, [])
    assert items(2)["a"] == ("ambiguous", "panel", 3, 3, [4, 6, 6, 6, 6])
    assert items(1)["b"] == items(2)["b"] == ("ambiguous", "panel", 2, 2, [])
    # The distribution is that of round 1 in both.
    votes = ReferenceItem.objects.filter(case__key="a").values_list("votes", flat=True)
    assert list(votes) == [[0, 0, 4, 6, 6]] * 2
    client = signed_in(panel.admin)
    assert "Votes of the last round of each case" in client.get("/b/panel/reference-sets/2/").content.decode()
    assert "references from the last round" in client.get("/b/panel/reference-sets/").content.decode()
    assert [row["round"] for row in rows_of(client, "/b/panel/reference-sets.csv")] == ["last", "1"]
    rows = {row["case"]: row for row in rows_of(client, "/b/panel/reference-sets/2/reference.csv")}
    assert [(rows[case]["round"], rows[case]["m"], rows[case]["m_last"]) for case in "abc"] == [
        ("2", "5", "5"), ("1", "5", ""), ("1", "5", ""),
    ]  # fmt: skip
    sets = client.get("/api/v1/benchmarks/panel/acuity/reference-sets/").json()["results"]
    assert [row["round"] for row in sets] == ["last", "1"]
    with pytest.raises(CommandError, match="round"):
        call_command("reference_set", "--round", "3", benchmark="panel")
    with pytest.raises(CommandError, match="exactly this"):
        call_command("reference_set", "--round", "last", benchmark="panel")


def test_a_ruling_comes_before_the_panel_and_the_case_stays_ambiguous(panel: Panel) -> None:
    rule(panel, "a", 1, 2)
    rule(panel, "b", None, None)
    client = signed_in(panel.admin)
    form = {"scale": panel.question.scale_id, "rule": "dispersion", "threshold": "0.75", "minimum_votes": "3"}
    preview = client.get("/b/panel/reference-sets/preview", form).content.decode()
    assert "1 by a ruling" in preview
    seen = re.search(r'name="seen" value="(\w+)"', preview)
    assert seen
    assert client.post("/b/panel/reference-sets/new/", {**form, "seen": seen[1]}).status_code == 302
    assert items(1)["a"] == ("ambiguous", "ruling", 1, 2, [])
    assert items(1)["b"] == ("ambiguous", "panel", 2, 2, [])
    page = client.get("/b/panel/reference-sets/1/").content.decode()
    assert "Cases with a ruling" in page
    # A ruling changes what would be signed: what was seen before is refused.
    rule(panel, "d", 0, 0)
    assert client.post("/b/panel/reference-sets/new/", {**form, "seen": seen[1]}).status_code == 409


# Files ----------------------------------------------------------------------------------------------------------------


def test_a_set_tells_rounds_apart_even_where_references_are_the_same(panel: Panel) -> None:
    call_command("reference_set", benchmark="panel")
    call_command("reference_set", "--round", "last", benchmark="panel")  # as yet there is one round
    second = open_round(panel)
    for task, level in zip(second.tasks("a"), SPLIT, strict=True):
        second.vote(task, level, certainty=90)
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    call_command("reference_set", benchmark="panel")
    call_command("reference_set", "--round", "last", benchmark="panel")
    first, _same, third, last = ReferenceSet.objects.order_by("number")
    assert (first.digest, first.round, third.round, last.round) == (third.digest, 1, 1, 2)
    assert last.digest != first.digest
    for own in (first, last):
        item = own.items.get(case__key="a")
        assert (item.low, item.high, item.certainty) == (2, 2, 50)


def test_a_ruling_that_a_case_stays_ambiguous_and_one_on_a_case_left_out(panel: Panel) -> None:
    rule(panel, "c", None, None)  # clear by the rule of the set
    rule(panel, "b", 1, 1)
    scale, case = panel.question.scale, Case.objects.get(key="b")
    assert scale is not None
    scheme = make_scheme(
        scale=scale, scheme=Scheme("own", scale_of(scale), {"x": Mapped(How.EXCLUDE)}), by=None, at=timezone.now()
    )
    SourceLabel.objects.create(
        case=case, dataset="own", source_id="b", label="x", scheme=scheme, how="exclude", line=1,
        acuity_import=AcuityImport.objects.create(
            benchmark=panel.benchmark, dataset="own", scheme=scheme, file_name="f", file_digest="0" * 64, shape="long",
            created_at=timezone.now(),
        ),
    )  # fmt: skip
    call_command("reference_set", benchmark="panel")
    assert items(1)["c"][:4] == ("ambiguous", "panel", 0, 0)
    assert items(1)["b"] == ("excluded", "", None, None, [])


def test_a_second_round_with_too_few_votes_leaves_a_case_to_the_adjudicators(panel: Panel) -> None:
    second = open_round(panel)
    second.say("a", "urgent-care", "urgent-care")  # of five; three are asked for at least
    second.say("b", "urgent-care", "urgent-care", "urgent-care")
    Batch.objects.filter(pk=second.batch.pk).update(status="closed", closed_at=timezone.now())
    judge = member(panel.group, Membership.Role.ADJUDICATOR)
    for gone in ({"active": False}, {"active": True, "user__is_active": False}):
        Membership.objects.filter(user=judge).update(active=gone["active"])
        User.objects.filter(pk=judge.pk).update(is_active=gone.get("user__is_active", True))
        assert "no adjudicator" in ask(panel).content.decode()
    User.objects.filter(pk=judge.pk).update(is_active=True)
    assert ask(panel).status_code == 302
    assert RulingRequest.objects.get().case.key == "a"


def test_a_ruled_case_is_ambiguous_in_figures_of_votes_too(panel: Panel) -> None:
    rule(panel, "c", 0, 0)  # clear by the rule of the set; rulings were asked for by a stricter one
    scale = panel.question.scale
    assert scale is not None
    call_command("reference_set", benchmark="panel", scale=scale.name)
    data = with_panel(read_inputs(ReferenceSet.objects.get(), []).data, ReferenceSet.objects.get())
    tables = uncertainty_tables(data, ReferenceSet.objects.get().ambiguous, ratio=5.0)
    assert {row["case"]: str(row["panel_status"]) for row in tables.panel_cases} == dict.fromkeys("abcd", "ambiguous")
    assert tables.panel[0]["n_ambiguous"] == 4


def votes_file(folder: Path, *lines: str) -> Path:
    path = folder / "votes.csv"
    path.write_text("".join(f"{line}\n" for line in ("case,physician,round,level,certainty,note", *lines)), "utf-8")
    return path


def import_votes(path: Path) -> str:
    out = io.StringIO()
    call_command("import_votes", str(path), benchmark="filed", group="Panel", stdout=out)
    return out.getvalue()


def test_votes_of_round_2_come_in_and_go_out_as_they_were(
    db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = BenchmarkFactory(slug="filed")
    for key in ("x", "y"):
        CaseFactory(benchmark=benchmark, key=key)
    lines = [
        "x,P1,1,self-care,50,", "x,P1,2,primary-care,60,seen again", "x,P2,1,emergency,70,",
        "y,P1,1,urgent-care|emergency,80,", "y,P1,2,cannot-tell,,",
    ]  # fmt: skip
    path = votes_file(tmp_path, *lines)
    import_votes(path)
    batches = Batch.objects.order_by("pk")
    assert [(batch.frame["round"], batch.label_tasks.count()) for batch in batches] == [(1, 3), (2, 2)]
    out = tmp_path / "again.csv"
    call_command("export_votes", benchmark="filed", out=out)
    assert out.read_text("utf-8-sig").splitlines() == path.read_text("utf-8").splitlines()
    import_votes(path)  # changes nothing
    assert LabelTask.objects.count() == 5
    # Round 2 alone, where round 1 is stored.
    import_votes(votes_file(tmp_path, "x,P2,2,urgent-care,70,"))
    assert LabelTask.objects.filter(round=2).count() == 3
    for line, sentence in (
        ("y,P2,2,emergency,70,", r"line 2, round: No vote of round 1 precedes this one"),
        ("x,P2,2,emergency,70,", r"line 2, level: .*voted differently"),
        ("x,P2,3,emergency,70,", r"line 2, round: "),
    ):
        with pytest.raises(CommandError, match="1 fault"):
            import_votes(votes_file(tmp_path, line))
        assert re.search(sentence, capsys.readouterr().err)
    # Where another question is asked by now, it has no vote of round 1.
    import_votes(votes_file(tmp_path, "y,P3,1,emergency,70,"))
    LabelQuestion.objects.update(active=False)
    level_question(benchmark, "newer")
    with pytest.raises(CommandError, match="Only physicians who voted in the first round"):
        import_votes(votes_file(tmp_path, "y,P3,2,urgent-care,70,"))
    assert ReferenceSet.objects.count() == 0


def test_who_ruled_on_a_case_imports_no_vote_on_it(
    panel: Panel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule(panel, "a", 1, 1)
    name = AcuityRuling.objects.get().adjudicator.pseudonyms.get().pseudonym
    path = votes_file(tmp_path, f"a,{name},1,self-care,50,")
    with pytest.raises(CommandError, match="1 fault"):
        call_command("import_votes", str(path), benchmark="panel", group=panel.group.name)
    assert "line 2, physician: " in (refusal := capsys.readouterr().err)
    assert "has ruled on this case" in refusal


def test_who_ruled_on_a_case_is_asked_no_question_on_a_scale_about_it(panel: Panel) -> None:
    rule(panel, "a", 1, 1)
    judge = AcuityRuling.objects.get().adjudicator
    member(panel.group, Membership.Role.ANNOTATOR, judge)
    other = level_question(panel.benchmark, "other")
    batch = give_out(panel.group, other, annotators=5, seed=8)
    annotators = LabelTask.objects.filter(batch=batch, case__key="a").values_list("annotator", flat=True)
    assert judge.pk not in set(annotators)
    with pytest.raises(DomainError, match="fewer physicians"):
        give_out(panel.group, level_question(panel.benchmark, "third"), annotators=6, seed=8)
