"""Derived candidates count nowhere unless they are named: batches, runs, scores, calibrations, boards and releases."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agreement.calibration.hits import positive_pairs
from agreement.calibration.inputs import newest_runs
from agreement.scoreboard.subsets import draw
from annotation.models import Assignment, Decision
from annotation.services.drawing import ResponseFilter
from consilium.core.errors import DomainError
from releases.content.optional_content import decision_rows, response_rows
from releases.content.options import ReleaseOptions
from releases.selectors.preview import preview_of
from rubrics.models import Candidate, Case, Response
from scoring.runs.selectors import run_sets
from scoring.runs.services import RunFrame, create_run, frame_responses, frame_size
from scoring.scores.scored import read_scored
from scoring.screening.compute import score_cases
from scoring.selectors.raters import resolve_rater
from scoring.supervision.export import SupervisionTerms, export_supervision
from tests.agreement.study import Study, coin, make_study
from tests.factories import CandidateFactory, ExpertGroupFactory, JudgeFactory, ResponseFactory, make_batch

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@dataclass
class DerivedWorld:
    """A study of *alpha* and *beta*, with a derived candidate of alpha that group and judge graded as well."""

    study: Study
    derived: Candidate


@pytest.fixture
def world() -> DerivedWorld:
    study = make_study(cases=6, points=(1, 1))
    derived = CandidateFactory(benchmark=study.benchmark, name="alpha + set", kind=Candidate.Kind.DERIVED)
    for case in Case.objects.filter(benchmark=study.benchmark):
        base = Response.objects.get(case=case, candidate__name="alpha")
        ResponseFactory(case=case, candidate=derived, derived_from=base, text=f"{base.text} refined")
    # The helper names no candidate, so the group is given what answered by itself.
    study.group("A", coin(1, "met", "not_met"))
    study.judge("echo", coin(2, "met", "not_met"))
    return DerivedWorld(study, derived)


def test_batches(world: DerivedWorld) -> None:
    (group,) = world.study.groups.values()
    fresh = {"skip_given": False}
    drawn = set(ResponseFilter(**fresh).responses(group).values_list("candidate__name", flat=True))
    assert drawn == {"alpha", "beta"}
    for named in ({"candidates": [world.derived.public_id]}, {"kinds": ["derived"]}):
        rows = ResponseFilter(**fresh, **named).responses(group)
        assert set(rows.values_list("candidate__name", flat=True)) == {"alpha + set"}
    assert set(
        ResponseFilter(tags=["theme:even"], **fresh).responses(group).values_list("candidate__name", flat=True)
    ) == {
        "alpha",
        "beta",
    }


@pytest.mark.parametrize("levels", [False, True])
def test_runs_of_judges(world: DerivedWorld, levels: bool) -> None:
    benchmark = world.study.benchmark

    def size(**frame: object) -> int:
        return frame_size(benchmark=benchmark, frame=RunFrame(**frame), levels=levels).responses

    assert size() == 12
    assert size(candidates=("alpha", "alpha + set")) == 12
    assert size(candidates=("alpha + set",)) == size(kinds=("derived",)) == 6
    # A refined response and its base, and no other response of alpha; nothing comes in addition to others.
    base = Response.objects.filter(candidate__name="alpha").earliest("pk")
    ResponseFactory(case=base.case, candidate=base.candidate, sample=1)
    for named in ({"candidates": ("alpha + set",)}, {"kinds": ("derived",)}):
        frame = RunFrame(with_bases=True, **named)
        assert frame_size(benchmark=benchmark, frame=frame, levels=levels).responses == 12
    assert size(with_bases=True) == size() == 13
    assert size(candidates=("beta",), with_bases=True) == 6
    derived = set(Response.objects.filter(candidate=world.derived).values_list("pk", flat=True))
    assert not derived & set(frame_responses(benchmark=benchmark, frame=RunFrame()))


def test_a_run_over_them_counts_under_its_id_alone(world: DerivedWorld, settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1:9"]
    benchmark = world.study.benchmark
    judge = JudgeFactory(benchmark=benchmark, name="chat")
    now = timezone.now()
    plain = create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=now)
    named = create_run(
        benchmark=benchmark, judge=judge, frame=RunFrame(candidates=("alpha", "alpha + set")), by=None, at=now
    )
    for run, at in ((plain, now), (named, timezone.now())):
        run.status, run.finished_at = "finished", at
        run.save(update_fields=["status", "finished_at"])
    assert run_sets(benchmark)["chat"].newest == plain
    assert resolve_rater(benchmark, f"run:{named.public_id}").runs == (named,)
    assert f"run:{named.public_id}" not in newest_runs(benchmark)


def test_scores_screening_and_slices(world: DerivedWorld) -> None:
    benchmark = world.study.benchmark
    rater = resolve_rater(benchmark, "echo")
    assert set(rater.ratings().response.tolist()) & set(
        Response.objects.filter(candidate=world.derived).values_list("pk", flat=True)
    )  # the judge did grade them
    assert sorted(read_scored(benchmark, rater, 1).names) == ["alpha", "beta"]
    scored = score_cases(benchmark, rater, ["alpha", "alpha + set"])
    assert {name for case in scored.cases for name in case.scores} == {"alpha", "alpha + set"}
    assert all(case.scores["alpha + set"] is not None for case in scored.cases)
    named = draw(benchmark=benchmark, rule="hard", rater="echo", candidates=["alpha + set"], n=2)
    assert named.candidates == ["alpha + set"]


def test_calibrations(world: DerivedWorld) -> None:
    positive = set(positive_pairs(world.study.benchmark).response.tolist())
    assert positive == set(Response.objects.exclude(candidate=world.derived).values_list("pk", flat=True))


def test_releases(world: DerivedWorld) -> None:
    benchmark = world.study.benchmark
    released = {row["candidate"] for row in response_rows(benchmark, ReleaseOptions())}
    assert released == {"alpha", "beta"}
    named = ReleaseOptions(candidates=["alpha + set"])
    assert {row["candidate"] for row in response_rows(benchmark, named)} == {"alpha + set"}
    preview = preview_of(benchmark)
    assert preview.responses == 12
    assert ("alpha + set", 6) in preview.candidates  # so that it can be named
    # A physician who graded them, since a batch named them.
    second = make_study_group(world)
    options = ReleaseOptions(raters=[f"group:{second}"])
    keys = set(Case.objects.filter(benchmark=benchmark).values_list("key", flat=True))
    assert not list(decision_rows(benchmark, options, keys, Counter()))
    options = ReleaseOptions(raters=[f"group:{second}"], candidates=["alpha + set"])
    assert len(list(decision_rows(benchmark, options, keys, Counter()))) == 12


def test_supervision_for_a_fine_tune(world: DerivedWorld, tmp_path: Path) -> None:
    group = make_study_group(world, "alpha", "beta", "alpha + set")
    benchmark = world.study.benchmark

    def taken(number: int, **terms: Any) -> set[str]:
        terms = {"held_out": ("gamma",), **terms}
        manifest = export_supervision(
            benchmark=benchmark, terms=SupervisionTerms(group, **terms), out=tmp_path / str(number)
        )
        text = "".join(path.read_text() for path in (tmp_path / str(number)).glob("*.jsonl"))
        names = {name for part in manifest["parts"].values() for name in part["candidates"]}
        assert ("refined" in text) == ("alpha + set" in names)
        assert set(manifest["left_out_candidates"]) | names == {"alpha", "beta", "alpha + set"}
        return names

    CandidateFactory(benchmark=benchmark, name="gamma")
    assert taken(1) == {"alpha", "beta"}
    assert taken(2, candidates=("beta", "alpha + set")) == {"beta", "alpha + set"}
    with pytest.raises(DomainError, match="The candidate “delta” does not exist"):
        taken(3, candidates=("alpha", "delta"))
    # Without candidates to hold out, none that is derived is drawn.
    with pytest.raises(DomainError, match="In total there are 2"):
        taken(4, held_out=())


def make_study_group(world: DerivedWorld, *names: str) -> str:
    """A group that was given the derived responses by name, or those of other candidates, and has graded them."""
    group = ExpertGroupFactory(benchmark=world.study.benchmark, name="B", annotators=1)
    named = Candidate.objects.filter(benchmark=world.study.benchmark, name__in=names or [world.derived.name])
    public_ids = list(named.values_list("public_id", flat=True))
    batch = make_batch(group, by=world.study.admin, candidates=public_ids)
    now = timezone.now()
    for assignment in Assignment.objects.filter(batch=batch):
        Decision.objects.bulk_create(
            Decision(assignment=assignment, criterion_id=criterion, outcome="met", created_at=now, updated_at=now)
            for criterion in world.study.criteria[assignment.case_id]
        )
    Assignment.objects.filter(batch=batch).update(status="accepted", submitted_at=now, accepted_at=now)
    return "B"
