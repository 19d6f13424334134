"""Questions that reach only physicians who read the case, and the way out for those who cannot judge."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import PhysicianProfile, User
from annotation.models import Membership
from consilium.core.errors import Conflict
from consilium.core.todo import todos_of
from rubrics.models import Case
from tests.factories import ExpertGroupFactory
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.validation.coverage.coverage_world import CoverageWorld, matching
from tests.validation.pairs.pair_world import PairWorld, make_world, scripted
from validation.coverage.selectors import open_decisions, queue_counts
from validation.coverage.services import ask_physicians, decide
from validation.models import CoverageDecision, NearMissPair, PairJudgement, SkippedQuestion
from validation.pairs.selectors import open_pairs
from validation.skipping import skip_decision, skip_pair

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def reads(user: User, *languages: str) -> None:
    PhysicianProfile.objects.update_or_create(user=user, defaults={"languages": list(languages)})


def world_with_questions(loopback: Loopback) -> CoverageWorld:  # noqa: F811  # the fixture
    world = matching()
    ask_physicians(run=world.run(loopback.url), at=timezone.now())
    return world


@pytest.fixture
def two_pairs(db: None) -> PairWorld:
    return make_world("ward", [scripted("P1 5-3w | 5-3w"), scripted("P2 4-4s | 4-4s")], {})


def test_coverage_questions_reach_only_who_reads_the_case(loopback: Loopback) -> None:  # noqa: F811
    world = world_with_questions(loopback)
    Case.objects.filter(benchmark=world.benchmark).update(language="zh-Hans")
    first_reader, other = world.physicians
    reads(first_reader, "en", "da")
    reads(other, "zh")
    question = open_decisions(world.benchmark, other)[0]
    path = f"/b/{world.benchmark.slug}/rubric-coverage/decide/"
    assert not open_decisions(world.benchmark, first_reader).exists()
    assert signed_in(first_reader).get(path).status_code == 200  # nothing to do
    assert signed_in(first_reader).get(f"{path}{question.public_id}/").status_code == 404
    assert signed_in(other).get(f"{path}{question.public_id}/").status_code == 200
    assert [len(list(todos_of(user))) for user in (first_reader, other)] == [0, 1]
    # What they have decided before they changed their profile stays theirs.
    decide(decision=question, answer=question.OF_POINTS[0] if question.stage == "coverage" else "needed", by=other,
           at=timezone.now())  # fmt: skip
    reads(other, "en")
    assert signed_in(other).get(f"{path}{question.public_id}/").status_code == 200


def test_pairs_reach_only_who_reads_the_case(two_pairs: PairWorld) -> None:
    Case.objects.filter(benchmark=two_pairs.benchmark, key="P1").update(language="zh")
    first_reader, other, unsaid = two_pairs.physicians
    reads(first_reader, "en", "da")
    reads(other, "zh", "en")
    pairs = [sorted(row.key for row in open_pairs(two_pairs.benchmark, user)) for user in (first_reader, other, unsaid)]
    assert pairs == [["P2"], ["P1", "P2"], ["P1", "P2"]]
    path = f"/b/ward/pairs/judge/{two_pairs.pair('P1').public_id}/"
    assert [signed_in(user).get(path).status_code for user in (first_reader, other)] == [404, 200]
    # The page counts what the To do list counts, and says what is left out because of its language.
    client = signed_in(first_reader)
    assert [todo.left for todo in todos_of(first_reader)] == ["1 pair"]
    page = " ".join(client.get("/b/ward/pairs/judge/", follow=True).content.decode().split())
    assert "0 of 1 judged · 1 left" in page
    assert "Not counted: 1 in a language that you do not read" in page
    assert "Not counted" not in signed_in(other).get(path).content.decode()


def test_the_page_of_questions_counts_what_the_to_do_list_counts(loopback: Loopback) -> None:  # noqa: F811
    """It counted the decisions of everybody in the run, in all languages."""
    world = world_with_questions(loopback)
    first_reader, other = world.physicians
    number = open_decisions(world.benchmark, first_reader).count()
    for user in (other, first_reader):
        own = open_decisions(world.benchmark, user)[0]
        decide(decision=own, answer="full" if own.stage == "coverage" else "needed", by=user, at=timezone.now())
    left = number - 2
    assert left > 1
    client, path = signed_in(first_reader), f"/b/{world.benchmark.slug}/rubric-coverage/decide/"
    assert [todo.left for todo in todos_of(first_reader)] == [f"{left} questions"]
    text = " ".join(client.get(path, follow=True).content.decode().split())
    assert f"1 of {left + 1} decided · {left} left" in text
    assert "Not counted" not in text
    assert "<h1>Questions about criteria</h1>" in text
    Case.objects.filter(benchmark=world.benchmark).update(language="zh-Hans")
    reads(first_reader, "en")
    text = " ".join(client.get(path).content.decode().split())
    assert f"Not counted: {left} in languages that you do not read" in text


def test_my_work_lists_what_the_home_page_lists(two_pairs: PairWorld) -> None:
    user = two_pairs.physicians[0]
    member_of = ExpertGroupFactory(benchmark=two_pairs.benchmark)
    Membership.objects.create(group=member_of, user=user, role="annotator")
    elsewhere = Membership.objects.create(group=ExpertGroupFactory(), user=user, role="annotator").group.benchmark
    client = signed_in(user)
    listed = '<section class="card todo">'
    for path in ("/", "/work/", reverse("annotation:work-in", args=["ward"])):
        page = client.get(path).content.decode()
        assert "Pairs of texts to compare" in page.partition(listed)[2].partition("</section>")[0], path
    assert listed not in client.get(reverse("annotation:work-in", args=[elsewhere.slug])).content.decode()


def test_a_skipped_question_gives_no_answer_and_does_not_come_back(loopback: Loopback) -> None:  # noqa: F811
    world = world_with_questions(loopback)
    first_reader, other = world.physicians
    client, slug = signed_in(first_reader), world.benchmark.slug
    before = open_decisions(world.benchmark, first_reader).count()
    first = client.get(f"/b/{slug}/rubric-coverage/decide/")["Location"]
    assert "Skip: cannot judge" in client.get(first).content.decode()
    sent = client.post(f"{first}skip", {"reason": "Outside my field."})
    assert sent.status_code == 302 and client.get(sent["Location"])["Location"] != first
    row = CoverageDecision.objects.get(public_id=first.rstrip("/").rpartition("/")[2])
    assert (row.answer, row.decided_by, row.skips.get().reason) == ("", None, "Outside my field.")
    assert queue_counts([row.run_id])[row.run_id].decided == 0
    assert open_decisions(world.benchmark, first_reader).count() == before - 1
    assert open_decisions(world.benchmark, other).count() == before
    page = signed_in(world.admin).get(f"/b/{slug}/rubric-coverage/{row.run.public_id}/").content.decode()
    assert "Outside my field." in page and "Skipped by physicians and still open: 1" in page
    # Twice is once; who answers after all has not skipped it.
    client.post(f"{first}skip", {})
    assert SkippedQuestion.objects.count() == 1
    answer = "full" if row.stage == "coverage" else "needed"
    decide(decision=row, answer=answer, by=first_reader, at=timezone.now())
    assert not SkippedQuestion.objects.exists()
    with pytest.raises(Conflict, match="but not skip it"):
        skip_decision(decision=row, reason="", by=first_reader, at=timezone.now())
    with pytest.raises(Conflict, match="Someone else"):
        skip_decision(decision=row, reason="", by=other, at=timezone.now())


def test_a_skipped_pair_gives_no_judgement_and_does_not_come_back(two_pairs: PairWorld) -> None:
    first_reader, other, _third = two_pairs.physicians
    path = f"/api/v1/benchmarks/ward/pairs-to-judge/{two_pairs.pair('P1').public_id}/skip/"
    assert signed_in(first_reader).post(path, {"why": ""}, content_type="application/json").status_code == 400
    assert signed_in(first_reader).post(path, {}, content_type="application/json").status_code == 204
    assert [row.key for row in open_pairs(two_pairs.benchmark, first_reader)] == ["P2"]
    assert open_pairs(two_pairs.benchmark, other).count() == 2
    assert not PairJudgement.objects.exists() and two_pairs.pair("P1").state == NearMissPair.State.PROPOSED
    page = signed_in(two_pairs.admin).get(f"/b/ward/pairs/{two_pairs.pair('P1').public_id}/").content.decode()
    assert f"Skipped by {first_reader}" in " ".join(page.split())
    two_pairs.judge("P1", by=0)
    assert not SkippedQuestion.objects.exists()
    with pytest.raises(Conflict, match="but not skip it"):
        skip_pair(pair=two_pairs.pair("P1"), reason="", by=first_reader, at=timezone.now())
