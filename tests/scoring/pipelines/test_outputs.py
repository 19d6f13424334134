"""Outputs of steps as a kind reads them: fetched when they are needed, and kept no longer than there is room."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from rubrics.models import Benchmark, Case
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import StepName
from scoring.pipelines.outputs import KeptOutputs, outputs_of

FIRST, SECOND, THIRD = StepName("look", "0"), StepName("look", "1"), StepName("weigh", round=1)


@pytest.fixture
def run() -> PipelineRun:
    """A run with two cases of three steps, of which the last of the second case is not done."""
    benchmark = Benchmark.objects.create(slug="outputs", title="Outputs")
    run = PipelineRun.objects.create(kind="chain", benchmark=benchmark, created_at=timezone.now())
    for number in range(2):
        case = Case.objects.create(
            benchmark=benchmark, key=f"case {number}", conversation=[{"role": "user", "content": "Made up."}]
        )
        for place, name in enumerate((FIRST, SECOND, THIRD)):
            is_done = (number, name) != (1, THIRD)
            PipelineStep.objects.create(
                run=run,
                case=case,
                stage=name.stage,
                key=name.key,
                round=name.round,
                state="done" if is_done else "ready",
                output={"n": 10 * number + place, "text": "…"} if is_done else None,
            )
    return run


def cases_of(run: PipelineRun) -> list[int]:
    return sorted(set(run.steps.order_by().values_list("case", flat=True)))


@pytest.mark.django_db
def test_outputs_are_those_of_finished_steps(run: PipelineRun) -> None:
    first, second = cases_of(run)
    outputs = outputs_of(run, [first, second])
    assert {name: output["n"] for name, output in outputs[first].items()} == {FIRST: 0, SECOND: 1, THIRD: 2}
    assert {name: output["n"] for name, output in outputs[second].items()} == {FIRST: 10, SECOND: 11}
    assert THIRD in outputs[first] and THIRD not in outputs[second]
    assert outputs[second].get(THIRD) is None
    with pytest.raises(KeyError):
        outputs[second][THIRD]


@pytest.mark.django_db
def test_a_stage_is_fetched_once_for_all_cases(run: PipelineRun) -> None:
    cases, kept = cases_of(run), KeptOutputs()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        for _chunk in range(2):
            outputs = outputs_of(run, cases, kept=kept)
            assert [outputs[case][FIRST]["n"] for case in cases] == [0, 10]
    assert len(queries) == 1
    assert outputs[cases[1]][SECOND] == {"n": 11, "text": "…"}


@pytest.mark.django_db
@pytest.mark.parametrize("room", [0, 30, 60, 1000])
def test_what_is_forgotten_is_fetched_again(run: PipelineRun, room: int) -> None:
    cases, kept = cases_of(run), KeptOutputs(room)
    for case in cases:
        assert outputs_of(run, [case], kept=kept)[case][SECOND]["n"] == 10 * cases.index(case) + 1
    for name, place in ((FIRST, 0), (SECOND, 1), (FIRST, 0)):
        outputs = outputs_of(run, cases, kept=kept)
        assert [outputs[case][name]["n"] for case in cases] == [place, 10 + place]


@pytest.mark.django_db
def test_a_step_that_is_done_later_is_there_later(run: PipelineRun) -> None:
    case, kept = cases_of(run)[1], KeptOutputs()
    assert THIRD not in outputs_of(run, [case], kept=kept)[case]
    assert outputs_of(run, [case], kept=kept)[case].get(THIRD) is None
    run.steps.filter(case=case, stage="weigh").update(state="done", output={"n": 5})
    assert outputs_of(run, [case], kept=kept)[case][THIRD] == {"n": 5}
