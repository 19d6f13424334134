"""The queue: who decides, what they see and do not see, and what two of them at once come to."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from consilium.core.errors import Conflict
from rubrics.editor.draft_content import DraftItem
from rubrics.models import AuthoringRole, BenchmarkRole, Rubric
from rubrics.services.drafts import save_first
from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory, member
from tests.scoring.conftest import Loopback
from tests.validation.coverage.coverage_world import CoverageWorld, case_of, worked_example
from validation.coverage.selectors import open_by_benchmark, open_decisions
from validation.coverage.services import ask_physicians, decide
from validation.models import CoverageDecision, CoverageRun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def with_questions(loopback: Loopback) -> tuple[CoverageWorld, CoverageRun]:
    """The worked example with its questions."""
    world = worked_example()
    run = world.run(loopback.url)
    ask_physicians(run=run, at=timezone.now())
    return world, run


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_all_partly_all_invalid_and_a_share_of_the_rest_are_asked(loopback: Loopback) -> None:
    _world, run = with_questions(loopback)
    rows = CoverageDecision.objects.filter(run=run).select_related("step")
    of_points = [(own.step.key[0], own.step.output["extent"]) for own in rows if own.stage == "coverage"]
    # A: 17 full, 2 partly, 5 none, 1 invalid. B: 12 full, 3 partly, 10 none. A fifth of full and none, rounded up.
    counts = {key: of_points.count(key) for key in set(of_points)}
    assert counts == {
        ("0", "full"): 4, ("0", "partly"): 2, ("0", "none"): 1, ("0", "invalid"): 1,
        ("1", "full"): 3, ("1", "partly"): 3, ("1", "none"): 2,
    }  # fmt: skip
    # Every criterion that no gold point covers in full, and no other: 25 of A less 17, 25 of B less 12.
    assert sum(own.stage == "coverage_back" for own in rows) == 8 + 13
    assert ask_physicians(run=run, at=timezone.now()) == 0
    assert not [own for own in rows if own.step.key.startswith(("g", "s"))]


def test_who_decides_sees_neither_set_nor_answer(loopback: Loopback) -> None:
    world, run = with_questions(loopback)
    slug, (first, second) = world.benchmark.slug, world.physicians
    client = signed_in(first)
    assert "Questions about criteria" in client.get("/").content.decode()
    begun = client.get(f"/b/{slug}/rubric-coverage/decide/")
    assert begun.status_code == 302
    page = client.get(begun["Location"]).content.decode()
    assert "0 of 37 decided" in page
    for secret in (run.public_id, ">A<", ">B<", "By [1]", "Nothing asks for it.", "against itself", "/rubric-sets/"):
        assert secret not in page
    sent = client.post(begun["Location"], {"answer": "everything"})
    assert sent.status_code == 422 and "Choose one of the answers." in sent.content.decode()
    answer = "none" if "How far do the criteria in the list cover this point?" in page else "wrong"
    sent = client.post(begun["Location"], {"answer": answer})
    assert sent.status_code == 302 and sent["Location"] == f"/b/{slug}/rubric-coverage/decide/"
    decision = CoverageDecision.objects.get(decided_by=first)
    assert decision.answer == answer
    # One's own may be changed; nobody else can see it or change it.
    other = "partly" if answer == "none" else "needed"
    assert client.post(begun["Location"], {"answer": other}).status_code == 302
    decision.refresh_from_db()
    assert decision.answer == other
    assert signed_in(second).get(begun["Location"]).status_code == 404
    assert signed_in(world.admin).get(f"/b/{slug}/rubric-coverage/decide/").status_code == 404
    assert signed_in(UserFactory()).get(f"/b/{slug}/rubric-coverage/decide/").status_code == 404
    group = ExpertGroupFactory(benchmark=world.benchmark)
    assert signed_in(member(group)).get(f"/b/{slug}/rubric-coverage/decide/").status_code == 302
    assert signed_in(UserFactory()).get(f"/b/{slug}/rubric-coverage/decide/").status_code == 404


def test_who_runs_the_benchmark_decides_nothing_even_as_an_author(loopback: Loopback) -> None:
    """They see which set is which, and where a pair is from."""
    world, _run = with_questions(loopback)
    slug, admin = world.benchmark.slug, world.admin
    AuthoringRole.objects.create(benchmark=world.benchmark, user=admin, role=AuthoringRole.Role.AUTHOR)
    question = open_decisions(world.benchmark, world.physicians[0])[0]
    for path in ("rubric-coverage/decide/", f"rubric-coverage/decide/{question.public_id}/", "pairs/judge/"):
        assert signed_in(admin).get(f"/b/{slug}/{path}").status_code == 404, path
        assert signed_in(world.physicians[0]).get(f"/b/{slug}/{path}").status_code in (200, 302), path
    former = UserFactory()
    AuthoringRole.objects.create(benchmark=world.benchmark, user=former, role=AuthoringRole.Role.AUTHOR)
    BenchmarkRole.objects.create(benchmark=world.benchmark, user=former, role="researcher", active=False)
    assert signed_in(former).get(f"/b/{slug}/rubric-coverage/decide/{question.public_id}/").status_code == 200
    AuthoringRole.objects.filter(user=former).update(active=False)
    assert signed_in(former).get(f"/b/{slug}/rubric-coverage/decide/{question.public_id}/").status_code == 404
    assert list(open_by_benchmark(admin)) == []


def test_the_second_of_two_at_once_changes_nothing(loopback: Loopback) -> None:
    world, run = with_questions(loopback)
    first, second = (signed_in(user) for user in world.physicians)
    row = CoverageDecision.objects.filter(run=run, stage="coverage").first()
    assert row is not None
    at = f"/api/v1/benchmarks/{world.benchmark.slug}/coverage-questions/{row.public_id}/"
    queue = f"/api/v1/benchmarks/{world.benchmark.slug}/coverage-questions/next/"
    ahead = second.post(queue).json()
    assert ahead["waiting"] == open_decisions(world.benchmark, world.physicians[1]).count() > 0
    assert set(ahead["question"]) == {"id", "about", "case_id", "point", "criteria", "answers", "answer"}
    member(ExpertGroupFactory(benchmark=BenchmarkFactory(slug="empty")), user=world.physicians[1])
    empty = second.post("/api/v1/benchmarks/empty/coverage-questions/next/")
    assert (empty.status_code, empty.content) == (204, b"")
    question = second.get(at).json()
    assert question["answers"] == ["full", "partly", "none"] and question["about"] == "point"
    assert set(question) == {"id", "about", "case_id", "point", "criteria", "answers", "answer"}
    assert first.put(at, {"answer": "full"}, content_type="application/json").status_code == 200
    assert second.put(at, {"answer": "none"}, content_type="application/json").status_code == 404
    assert first.put(at, {"answer": "needed"}, content_type="application/json").status_code == 422
    row.refresh_from_db()
    assert (row.answer, row.decided_by) == ("full", world.physicians[0])


def test_a_decision_that_another_has_made_meanwhile_stays(loopback: Loopback) -> None:
    """Both had the question open; the row that the second read says that nobody has decided."""
    world, run = with_questions(loopback)
    first, second = world.physicians
    row = CoverageDecision.objects.filter(run=run, stage="coverage_back").first()
    assert row is not None
    decide(decision=row, answer="needed", by=first, at=timezone.now())
    assert row.answer == ""
    with pytest.raises(Conflict, match="Someone else has decided"):
        decide(decision=row, answer="wrong", by=second, at=timezone.now())
    row.refresh_from_db()
    assert (row.answer, row.decided_by) == ("needed", first)


def test_an_author_sees_a_case_once_nothing_about_it_waits(loopback: Loopback) -> None:
    world, run = with_questions(loopback)
    case = case_of(world, "c2")  # A covers one of its points in part, on which physicians decide
    address = f"/b/{world.benchmark.slug}/rubric-coverage/{run.public_id}/cases/{case.public_id}/"
    author, now = signed_in(world.physicians[0]), timezone.now()
    waiting = CoverageDecision.objects.filter(step__case=case)
    assert waiting.exists()
    assert author.get(address).status_code == 404
    for row in waiting:
        answer = "full" if row.stage == "coverage" else "needed"
        CoverageDecision.objects.filter(pk=row.pk).update(answer=answer, decided_by=world.physicians[1], decided_at=now)
    page = author.get(address).content.decode()
    assert "Gold c2 0" in page and "Set A: full: Gold c2 0;" in page
    assert signed_in(world.admin).get(address).status_code == 200
    group = ExpertGroupFactory(benchmark=world.benchmark)
    assert signed_in(member(group)).get(address).status_code == 404


def test_nobody_is_asked_about_a_case_whose_first_rubric_they_are_writing(loopback: Loopback) -> None:
    """The question shows what others wrote for the case."""
    world, run = with_questions(loopback)
    writer, other = world.physicians
    case = case_of(world, "c2")
    questions = CoverageDecision.objects.filter(run=run, step__case=case)
    assert questions.exists()
    Rubric.objects.filter(case=case).update(status="superseded")  # none is published any more
    save_first(
        case=case,
        items=[DraftItem(id="a", text="Of my own.", points=1)],
        client_id=uuid.uuid4(),
        by=writer,
        at=timezone.now(),
    )
    slug = world.benchmark.slug
    for question in questions:
        address = f"/b/{slug}/rubric-coverage/decide/{question.public_id}/"
        assert signed_in(writer).get(address).status_code == 404
        assert signed_in(other).get(address).status_code == 200
    assert not open_decisions(world.benchmark, writer).filter(step__case=case).exists()
    counts = [dict(open_by_benchmark(user))[world.benchmark.pk] for user in (other, writer)]
    assert counts[0] - counts[1] == questions.count()
    # Nor do they see what the run found about it, once others have decided.
    for question in questions:
        answer = question.OF_CRITERIA[0] if question.stage == "coverage_back" else question.OF_POINTS[0]
        decide(decision=question, answer=answer, by=other, at=timezone.now())
    covered = f"/b/{slug}/rubric-coverage/{run.public_id}/cases/{case.public_id}/"
    assert signed_in(writer).get(covered).status_code == 404
    assert signed_in(world.admin).get(covered).status_code == 200
