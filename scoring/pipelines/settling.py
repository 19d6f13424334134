"""Makes the steps of a case ready once the outputs that they need are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import QuerySet

from consilium.core.among import Among
from rubrics.imports.bulk import chunks
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import KINDS, AnyKind, PlannedStep, StepName
from scoring.pipelines.outputs import outputs_of

State = PipelineStep.State
CASES_AT_ONCE = 1000  # whose steps are loaded with their outputs
UNDECIDED = (State.WAITING, State.READY, State.SKIPPED)


def settle_cases(run: PipelineRun, kind: AnyKind, settings: Any, cases: Collection[int]) -> list[int]:
    """Add the steps that the plans of these cases name by now, and set the states of those that wait.

    Returns the ids of the steps that became ready. Call it in the transaction that changed a step. A step whose needed
    steps are all done is ready; where one of them failed, it is skipped until that one is asked again.
    """
    ids: dict[tuple[int, StepName], int] = {}
    states_of: dict[int, dict[StepName, str]] = defaultdict(dict)
    rows = run.steps.filter(Among("case", cases)).order_by("pk")
    for pk, case, stage, key, number, state in rows.values_list("pk", "case", "stage", "key", "round", "state"):
        name = StepName(stage, key, number)
        ids[case, name] = pk
        states_of[case][name] = state
    done = {case: [name for name, state in own.items() if state == State.DONE] for case, own in states_of.items()}
    outputs = outputs_of(run, states_of, done=done)
    new: list[PipelineStep] = []
    changed: dict[State, list[int]] = {State.WAITING: [], State.READY: [], State.SKIPPED: []}
    for case, states in states_of.items():
        for planned in kind.plan(settings, outputs[case]):
            before = states.get(planned.name)
            if before is not None and before not in UNDECIDED:
                continue
            state = _state(planned, states)
            if before is None:
                new.append(new_step(run, case, planned.name, state))
            elif before != state:
                changed[state].append(ids[case, planned.name])
            states[planned.name] = state
    PipelineStep.objects.bulk_create(new)
    for state, steps in changed.items():
        if steps:
            PipelineStep.objects.filter(Among("pk", steps), state__in=UNDECIDED).update(state=state)
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


def _state(planned: PlannedStep, states: Mapping[StepName, str]) -> State:
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
