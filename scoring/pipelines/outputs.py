"""The outputs of the finished steps of cases, as a kind reads them: each stage is fetched when it is first needed.

Most steps and plans read few of the outputs of their case. One may be long, such as all passages that were found. So
each output is decoded only where it is read, and the outputs of a stage are fetched for many cases at once.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from django.db.models import TextField
from django.db.models.functions import Cast

from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import Output, StepName

State = PipelineStep.State
CaseNames = Mapping[int, Collection[StepName]]


def outputs_of(
    run: PipelineRun, cases: Collection[int], *, done: CaseNames | None = None
) -> dict[int, Mapping[StepName, Output]]:
    """The outputs of the finished steps of each of these cases; ``done`` names these steps where that is known.

    An output never changes, so it does not matter when it is read.
    """
    stages = _Stages(run, cases, done)
    return {case: CaseOutputs(stages, case) for case in cases}


class CaseOutputs(Mapping[StepName, Output]):
    """The outputs of one case, by the names of their steps."""

    def __init__(self, stages: _Stages, case: int) -> None:
        self._stages = stages
        self._case = case
        self._decoded: dict[StepName, Output] = {}

    def __getitem__(self, name: StepName) -> Output:
        output = self._decoded.get(name)
        if output is None:
            output = self._decoded[name] = json.loads(self._stages.text(self._case, name))
        return output

    def __contains__(self, name: object) -> bool:
        return name in self._stages.names(self._case)

    def __iter__(self) -> Iterator[StepName]:
        return iter(self._stages.names(self._case))

    def __len__(self) -> int:
        return len(self._stages.names(self._case))


class _Stages:
    """What was fetched so far for some cases of a run."""

    def __init__(self, run: PipelineRun, cases: Collection[int], done: CaseNames | None) -> None:
        self._steps = run.steps.filter(case__in=cases, state=State.DONE).order_by()
        self._done = done
        self._texts: dict[str, dict[tuple[int, StepName], str]] = {}

    def text(self, case: int, name: StepName) -> str:
        """An output as JSON; `KeyError` where the step is not done."""
        if self._done is not None and name not in self._done.get(case, ()):
            raise KeyError(name)
        texts = self._texts.get(name.stage)
        if texts is None:
            texts = self._texts[name.stage] = self._fetch(name.stage)
        try:
            return texts[case, name]
        except KeyError:
            raise KeyError(name) from None

    def names(self, case: int) -> Collection[StepName]:
        """The steps of a case that are done."""
        if self._done is None:
            done = defaultdict[int, list[StepName]](list)
            for own, stage, key, number in self._steps.values_list("case", "stage", "key", "round"):
                done[own].append(StepName(stage, key, number))
            self._done = done
        return self._done.get(case, ())

    def _fetch(self, stage: str) -> dict[tuple[int, StepName], str]:
        rows = self._steps.filter(stage=stage).annotate(text=Cast("output", TextField()))
        columns = ("case", "stage", "key", "round", "text")
        return {(case, StepName(*name)): text for case, *name, text in rows.values_list(*columns)}
