"""What an author sees of what her rubric lacks, and what she must not see yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import PhysicianProfile, User
from rubrics.models import AuthoringRole, Benchmark, Case, Rubric
from scoring.models import PipelineStep
from tests.factories import (
    BenchmarkFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    make_batch,
    member,
    publish_rubric,
)
from validation.models import CoverageDecision, CoverageRun, NearMissPair, PairGroup, RubricSet, TrialRun
from validation.pairs.services import Answers, judge
from validation.sets.frames import Frame
from validation.sets.services import SetName, make_set

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
DANGEROUS = Answers(is_single=True, harm="dangerous", has_other_flaw=False)
OURS = ["Names the dose.", "Says when to return."]
Points = Sequence[tuple[str, int]]


@dataclass
class Ward:
    """A case whose published rubric has `OURS`, a copy of it as a set, its author, and an admin."""

    benchmark: Benchmark
    case: Case
    author: User
    admin: User
    ours: RubricSet

    def page(self, user: User, case: Case | None = None) -> str:
        client = Client()
        client.force_login(user)
        answer = client.get(f"/b/{self.benchmark.slug}/write/{(case or self.case).public_id}/lacks/")
        assert answer.status_code == 200
        return " ".join(answer.content.decode().split())


@pytest.fixture
def ward() -> Ward:
    admin, author = UserFactory(), UserFactory()
    benchmark = BenchmarkFactory(slug="ward", admin=admin)
    case = CaseFactory(benchmark=benchmark, key="c1", rubric=0)
    publish_rubric(case, [5, 3], texts=OURS)
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role=AuthoringRole.Role.AUTHOR)
    return Ward(benchmark, case, author, admin, _copy(benchmark, "Ours"))


def _copy(benchmark: Benchmark, name: str) -> RubricSet:
    return make_set(
        benchmark=benchmark, name=SetName(name), track="gold", frame=Frame(), by=None, at=timezone.now()
    )  # fmt: skip


def _set(own: RubricSet | str) -> dict[str, str]:
    if isinstance(own, str):
        return {"name": own, "id": "none", "digest": "0" * 64}
    return {"name": own.name, "id": own.public_id, "digest": own.digest}


def _criteria(points: Points) -> list[list[Any]]:
    return [[text, own, ""] for text, own in points]


def coverage_run(
    case: Case,
    gold: RubricSet | str,
    gold_points: Points,
    measured: RubricSet | str,
    criteria: Points,
    extents: Mapping[str, str],
    **more: Any,
) -> CoverageRun:
    """A finished run on one case; ``extents`` by the stage and key of a step, such as ``coverage_back 0.1``."""
    run = CoverageRun.objects.create(
        kind="coverage", benchmark=case.benchmark, status="finished", created_at=timezone.now(),
        finished_at=timezone.now(),
        config={
            "endpoint": "http://127.0.0.1:1/v1", "model": "judge-model", "gold": _set(gold), "sets": [_set(measured)],
            "cases": [{"key": case.key, "gold": _criteria(gold_points), "sets": [_criteria(criteria)]}],
        },
        terms={"gold": _set(gold)["name"], "sets": [_set(measured)["name"]], "model": "judge-model"}, **more,
    )  # fmt: skip
    for step, extent in extents.items():
        stage, key = step.split()
        output = {"extent": extent, "by": [1] if extent == "partly" else [], "why": f"why {key}"}
        PipelineStep.objects.create(run=run, case=case, stage=stage, key=key, state="done", output=output)
    return run


def ask(run: CoverageRun, step: str, answer: str = "", by: User | None = None) -> CoverageDecision:
    """A question about a step of a run, decided where there is an answer."""
    stage, key = step.split()
    own = run.steps.get(stage=stage, key=key)
    at = {"decided_at": timezone.now(), "decided_by": by} if answer else {}
    return CoverageDecision.objects.create(
        run=run, step=own, stage=stage, created_at=timezone.now(), answer=answer, **at
    )  # fmt: skip


THEIRS: Points = [("Asks about allergies.", 4), ("Names the dose, too.", 2), ("Is polite.", 1)]
BACK = {"coverage_back 0.1": "none", "coverage_back 0.2": "full", "coverage_back 0.3": "partly"}


def test_criteria_of_another_set_that_the_rubric_does_not_cover(ward: Ward) -> None:
    own_points = [(OURS[0], 5), (OURS[1], 3)]
    run = coverage_run(ward.case, ward.ours, own_points, "Theirs", THEIRS, BACK, endpoint_kind="rules")
    page = ward.page(ward.author)
    assert "Criteria of Theirs that this rubric does not cover" in page and "2 of 3 are not covered in full." in page
    assert "Asks about allergies." in page and "Is polite." in page and "Names the dose, too." not in page
    assert (
        "by judge-model" in page and "These answers come from fixed rules" in page
    )  # which run, and that no model answered
    assert f"/b/ward/rubric-coverage/{run.public_id}/cases/{ward.case.public_id}/" in page
    # A physician calls one of them needless: the rubric need not have it.
    ask(run, "coverage_back 0.3", "needless", by=ward.author)
    page = ward.page(ward.author)
    assert "1 of 3 are not covered in full." in page and "Physicians consider 1 more needless" in page
    assert "Is polite." not in page


def test_gold_points_of_others_that_the_rubric_does_not_cover(ward: Ward) -> None:
    """A physician's decision goes before the answer of the model; of invalid answers nobody knows."""
    criteria = [(OURS[0], 5), (OURS[1], 3)]
    forward = {"coverage 0.1": "none", "coverage 0.2": "partly", "coverage 0.3": "invalid"}
    run = coverage_run(ward.case, "Their gold", THEIRS, ward.ours, criteria, forward)
    page = ward.page(ward.author)
    assert (
        "Gold points of Their gold that this rubric does not cover" in page
        and "2 of 3 are not covered in full." in page
    )
    assert "Names the dose, too." in page and f"1. {OURS[0]}" in page  # by which criterion it is covered in part
    assert "For 1 there is no valid answer." in page and "Is polite." not in page
    assert "These answers come from fixed rules" not in page
    ask(run, "coverage 0.2", "full", by=ward.author)
    ask(run, "coverage 0.3", "none", by=ward.author)
    page = ward.page(ward.author)
    assert "Names the dose, too." not in page and "Is polite." in page and "Physician: Not at all" in page


def test_nothing_of_coverage_is_shown_while_a_question_about_the_case_is_open(ward: Ward) -> None:
    run = coverage_run(ward.case, ward.ours, [(OURS[0], 5)], "Theirs", THEIRS, BACK)
    question = ask(run, "coverage_back 0.1")
    page = ward.page(ward.author)
    assert "Physicians still have questions to decide on the coverage of this case." in page
    assert not any(text in page for text in ("Theirs", "judge-model", "Asks about allergies."))
    assert f'<a href="/b/ward/rubric-coverage/decide/{question.public_id}/">Answer the questions</a>' in page
    danish = UserFactory()
    AuthoringRole.objects.create(benchmark=ward.benchmark, user=danish, role=AuthoringRole.Role.AUTHOR)
    PhysicianProfile.objects.create(user=danish, languages=["da"])
    assert "Answer the questions" not in ward.page(danish)  # the case is in English
    assert "Asks about allergies." in ward.page(ward.admin)  # who decides nothing
    CoverageDecision.objects.filter(pk=question.pk).update(
        answer="needed", decided_by=ward.author, decided_at=timezone.now()
    )
    assert "Asks about allergies." in ward.page(ward.author)


def test_a_case_without_a_published_rubric_shows_nothing(ward: Ward) -> None:
    """Its author is still to write, and must not see what others wrote."""
    case = CaseFactory(benchmark=ward.benchmark, key="c2", rubric=0)
    publish_rubric(case, [1], texts=["Of another track."], track="panel")
    coverage_run(case, ward.ours, THEIRS, "Theirs", [("Of another track.", 1)], {"coverage 0.1": "none"})
    page = ward.page(ward.author, case)
    assert "A rubric can be measured once it is published." in page
    assert not any(text in page for text in ("Theirs", "Asks about allergies.", "Of another track.", "judge-model"))


def test_a_rubric_that_was_published_anew_says_so(ward: Ward) -> None:
    coverage_run(ward.case, ward.ours, [(OURS[0], 5), (OURS[1], 3)], "Theirs", THEIRS, BACK)
    assert "published again since then" not in ward.page(ward.author)
    Rubric.objects.filter(case=ward.case).update(status="superseded")
    rubric = publish_rubric_again(ward.case)
    assert "published again since then" in ward.page(ward.author) and f"version {rubric.version}" in ward.page(
        ward.author
    )


def publish_rubric_again(case: Case) -> Rubric:
    rubric = Rubric.objects.create(case=case, version=2, provenance="test")
    for position, text in enumerate([*OURS, "Asks about allergies."], start=1):
        criterion, _made = case.criteria.get_or_create(text=text)
        rubric.items.create(criterion=criterion, position=position, points=3)
    rubric.status, rubric.published_at = Rubric.Status.PUBLISHED, timezone.now()
    rubric.save(update_fields=["status", "published_at"])
    return rubric


def test_an_empty_page_says_what_to_ask_for(ward: Ward) -> None:
    for_author, for_admin = ward.page(ward.author), ward.page(ward.admin)
    assert "ask an admin or a researcher of the benchmark for" in for_author
    assert "near-miss pairs of this case" in for_author and "a coverage run" in for_author
    assert "/b/ward/rubric-coverage/" not in for_author and "/b/ward/rubric-coverage/" in for_admin
    client = Client()
    client.force_login(ward.author)
    for address in (f"/b/ward/write/{ward.case.public_id}/", f"/b/ward/write/{ward.case.public_id}/rubric/"):
        assert f"/b/ward/write/{ward.case.public_id}/lacks/" in client.get(address).content.decode()


# Near-miss pairs ---------------------------------------------------------------------------------------------------


def make_pair(case: Case, key: str, change: str) -> NearMissPair:
    group, _made = PairGroup.objects.get_or_create(
        benchmark=case.benchmark, name="Doses", defaults={"created_at": timezone.now()}
    )
    return NearMissPair.objects.create(
        group=group, case=case, key=key, reference="Take two.", candidate="Take ten.", start=5, reference_end=8,
        candidate_end=8, kind="dose", change=change, why=f"{key} matters", origin="hand", created_at=timezone.now(),
    )  # fmt: skip


def trial_run(ours: RubricSet, pairs: Mapping[NearMissPair, tuple[Sequence[bool], Sequence[bool]]]) -> TrialRun:
    """A finished run, one trial in each order; ``pairs`` says which criteria reference and candidate meet."""
    by_case: dict[Case, list[NearMissPair]] = {}
    for pair in pairs:
        by_case.setdefault(pair.case, []).append(pair)
    criteria = _criteria([(OURS[0], 5), (OURS[1], 3)])
    run = TrialRun.objects.create(
        kind="trials", benchmark=ours.benchmark, status="finished", created_at=timezone.now(),
        finished_at=timezone.now(),
        config={
            "endpoint": "http://127.0.0.1:1/v1", "model": "trial-model", "trials": 1, "sets": [_set(ours)],
            "cases": [
                {"key": case.key, "tags": [], "sets": [criteria], "pairs": [_stored(pair) for pair in own]}
                for case, own in by_case.items()
            ],
        },
        terms={"sets": [ours.name], "model": "trial-model", "trials": 1, "pairs": len(pairs)},
    )  # fmt: skip
    for case, own in by_case.items():
        for place, pair in enumerate(own):
            reference, candidate = pairs[pair]
            totals = [
                sum(points for met, points in zip(side, (5, 3), strict=True) if met) for side in pairs[pair]
            ]  # fmt: skip
            output = {
                "total_reference": totals[0], "total_candidate": totals[1], "stated": "same", "decision": "same",
                "met_reference": list(reference), "met_candidate": list(candidate),
            }  # fmt: skip
            for order in ("r", "c"):
                PipelineStep.objects.create(
                    run=run, case=case, stage="side_by_side", key=f"0.{place}.{order}.0", state="done", output=output
                )
    return run


def _stored(pair: NearMissPair) -> dict[str, Any]:
    names = ("key", "kind", "axis", "reference", "candidate", "change", "why")
    return {"id": pair.public_id, "grade": "open", **{name: getattr(pair, name) for name in names}}


def test_errors_that_the_rubric_does_not_notice_and_criteria_that_never_decide(ward: Ward) -> None:
    noticed, unnoticed = make_pair(ward.case, "p1", "two became ten"), make_pair(ward.case, "p2", "daily became weekly")
    elsewhere = make_pair(CaseFactory(benchmark=ward.benchmark, key="c3"), "p3", "of another case")
    other = UserFactory()
    AuthoringRole.objects.create(benchmark=ward.benchmark, user=other, role=AuthoringRole.Role.AUTHOR)
    same = ((True, True), (True, True))
    run = trial_run(ward.ours, {noticed: ((True, True), (False, True)), unnoticed: same, elsewhere: same})
    # The pairs wait for her: what became of them would tell her what to say.
    page = ward.page(ward.author)
    assert "shown once you have judged all pairs of this case" in page
    assert f'<a href="/b/ward/pairs/judge/{noticed.public_id}/">Judge the pairs</a>' in page
    assert not any(text in page for text in ("daily became weekly", "trial-model", "p2 matters"))
    for pair in (noticed, unnoticed, elsewhere):
        judge(pair=pair, answers=DANGEROUS, by=other, at=timezone.now())
    page = ward.page(ward.author)
    assert "Its criteria detect 1 of 2 dangerous errors that physicians confirmed." in page
    assert "daily became weekly" in page and "p2 matters" in page
    assert "two became ten" not in page and "of another case" not in page
    never = page.split("Criteria that never decide")[1]
    # How many pairs the figure rests on is beside it, not only in what unfolds.
    assert "1 of 2, on 2 pairs" in " ".join(never.partition("</summary>")[0].split())
    assert "On 2 pairs of this case, none of these criteria" in never
    assert OURS[1] in never and OURS[0] not in never
    assert f"/b/ward/pair-runs/{run.public_id}/" not in page  # a page of those who run the benchmark
    assert f"/b/ward/pair-runs/{run.public_id}/" in ward.page(ward.admin)


def test_an_author_whose_group_grades_sees_nothing_of_pairs(ward: Ward) -> None:
    """A reference may be a response that waits for her."""
    pair = make_pair(ward.case, "p1", "two became ten")
    trial_run(ward.ours, {pair: ((True, True), (True, True))})
    judge(pair=pair, answers=DANGEROUS, by=ward.author, at=timezone.now())
    assert "two became ten" in ward.page(ward.author)
    ResponseFactory(case=ward.case)
    group = ExpertGroupFactory(benchmark=ward.benchmark)
    member(group, user=ward.author)
    make_batch(group)
    page = ward.page(ward.author)
    assert "Judge the pairs" not in page  # she has judged it
    assert "two became ten" not in page and "your groups have no open batch" in page
