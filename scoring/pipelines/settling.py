"""Makes the steps of a case ready once the outputs that they need are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from rubrics.imports.bulk import chunks
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import KINDS, AnyKind, Output, PlannedStep, StepName

State = PipelineStep.State
CASES_AT_ONCE = 1000  # whose steps are loaded with their outputs
UNDECIDED = (State.WAITING, State.READY, State.SKIPPED)


def settle_cases(run: PipelineRun, kind: AnyKind, settings: Any, cases: Collection[int]) -> list[int]:
    """Add the steps that the plans of these cases name by now, and set the states of those that wait.

    Returns the ids of the steps that became ready. Call it in the transaction that changed a step. A step whose needed
    steps are all done is ready; where one of them failed, it is skipped until that one is asked again.
    """
    rows = defaultdict[int, dict[StepName, PipelineStep]](dict)
    for step in run.steps.filter(case__in=cases).order_by("pk"):
        rows[step.case_id][name_of(step)] = step
    new: list[PipelineStep] = []
    changed: dict[State, list[int]] = {State.WAITING: [], State.READY: [], State.SKIPPED: []}
    for case, steps in rows.items():
        done = {name: step.output for name, step in steps.items() if step.output is not None}
        states = {name: State(step.state) for name, step in steps.items()}
        for planned in kind.plan(settings, done):
            state = _state(planned, states)
            stored = steps.get(planned.name)
            if stored is None:
                new.append(new_step(run, case, planned.name, state))
            elif stored.state in UNDECIDED and stored.state != state:
                changed[state].append(stored.pk)
            else:
                state = State(stored.state)
            states[planned.name] = state
    PipelineStep.objects.bulk_create(new)
    for state, ids in changed.items():
        if ids:
            PipelineStep.objects.filter(pk__in=ids, state__in=UNDECIDED).update(state=state)
    return [*changed[State.READY], *(step.pk for step in new if step.state == State.READY)]


def make_ready(run: PipelineRun, steps: QuerySet[PipelineStep]) -> None:
    """Let steps that failed be asked again, and those wait again that were skipped because of them."""
    cases = sorted(set(steps.order_by().values_list("case", flat=True).iterator()))
    steps.update(state=State.READY, re_asks=0, error_kind="", error="", finished_at=None)
    kind = KINDS[run.kind]
    if kind.has_chains and cases:
        settings = kind.settings_of(run, may_call=not run.replay)
        for own in chunks(cases, CASES_AT_ONCE):
            settle_cases(run, kind, settings, own)


def _state(planned: PlannedStep, states: dict[StepName, State]) -> State:
    needed = {states.get(name, State.WAITING) for name in planned.needs}
    if needed & {State.FAILED, State.SKIPPED}:
        return State.SKIPPED
    return State.WAITING if needed - {State.DONE} else State.READY


def new_step(run: PipelineRun, case: int, name: StepName, state: State) -> PipelineStep:
    """A step that is not stored yet."""
    return PipelineStep(run=run, case_id=case, key=name.key, stage=name.stage, round=name.round, state=state)


def name_of(step: PipelineStep) -> StepName:
    """The name of a stored step within its case."""
    return StepName(step.stage, step.key, step.round)


def outputs_of(run: PipelineRun, cases: Collection[int]) -> dict[int, dict[StepName, Output]]:
    """The outputs of the finished steps of these cases, by case."""
    outputs = defaultdict[int, dict[StepName, Output]](dict)
    rows = run.steps.filter(case__in=cases, state=State.DONE).order_by()
    for case, stage, key, number, output in rows.values_list("case", "stage", "key", "round", "output"):
        outputs[case][StepName(stage, key, number)] = output or {}
    return outputs
