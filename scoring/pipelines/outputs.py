"""The outputs of the finished steps of cases, as a kind reads them: each stage is fetched when it is first needed.

Most steps and plans read few of the outputs of their case. One may be long, such as all passages that were found. So
each output is decoded only where it is read, and the outputs of a stage are fetched for many cases at once.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Mapping

from django.db.models import TextField
from django.db.models.functions import Cast

from consilium.core.among import Among
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import Output, StepName

State = PipelineStep.State
CaseNames = Mapping[int, Collection[StepName]]
Place = tuple[int, StepName]  # the case and the step
KEPT_CHARACTERS = 16_000_000


class KeptOutputs:
    """Outputs of a run that were fetched before, as JSON, so that the steps of a case do not fetch them again.

    An output never changes once it is stored, so it does not matter when it was fetched. What was not read for the
    longest time is forgotten first.
    """

    def __init__(self, most: int = KEPT_CHARACTERS) -> None:
        self._left = most
        self._texts: OrderedDict[Place, str] = OrderedDict()

    def get(self, place: Place) -> str | None:
        """An output, if it is kept."""
        text = self._texts.get(place)
        if text is not None:
            self._texts.move_to_end(place)
        return text

    def keep(self, texts: Mapping[Place, str]) -> None:
        """Keep these outputs."""
        new = {place: text for place, text in texts.items() if place not in self._texts}
        self._texts.update(new)
        self._left -= sum(map(len, new.values()))
        while self._left < 0:
            _place, text = self._texts.popitem(last=False)
            self._left += len(text)


def outputs_of(
    run: PipelineRun,
    cases: Collection[int],
    *,
    done: CaseNames | None = None,
    kept: KeptOutputs | None = None,
) -> dict[int, Mapping[StepName, Output]]:
    """The outputs of the finished steps of each of these cases; ``done`` names these steps where that is known."""
    stages = _Stages(run, cases, done, kept or KeptOutputs(0))
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

    def __init__(self, run: PipelineRun, cases: Collection[int], done: CaseNames | None, kept: KeptOutputs) -> None:
        self._cases = cases
        self._done_steps = run.steps.filter(state=State.DONE).order_by()
        self._done = done
        self._kept = kept
        self._fetched: dict[str, set[int]] = defaultdict(set)
        self._texts: dict[Place, str] = {}

    def text(self, case: int, name: StepName) -> str:
        """An output as JSON; `KeyError` where the step is not done."""
        if self._done is not None and name not in self._done.get(case, ()):
            raise KeyError(name)
        place = (case, name)
        if (text := self._kept.get(place)) is not None:
            return text
        if case not in self._fetched[name.stage]:
            self._fetch(name)
        try:
            return self._texts[place]
        except KeyError:
            raise KeyError(name) from None

    def names(self, case: int) -> Collection[StepName]:
        """The steps of a case that are done."""
        if self._done is None:
            done = defaultdict[int, list[StepName]](list)
            rows = self._done_steps.filter(Among("case", self._cases))
            for own, stage, key, number in rows.values_list("case", "stage", "key", "round"):
                done[own].append(StepName(stage, key, number))
            self._done = done
        return self._done.get(case, ())

    def _fetch(self, name: StepName) -> None:
        """Fetch the outputs of its stage for the cases whose step of this name is not kept."""
        fetched = self._fetched[name.stage]
        cases = [case for case in self._cases if case not in fetched and self._kept.get((case, name)) is None]
        rows = self._done_steps.filter(Among("case", cases), stage=name.stage).annotate(
            text=Cast("output", TextField())
        )
        columns = ("case", "stage", "key", "round", "text")
        texts = {(case, StepName(*own)): text for case, *own, text in rows.values_list(*columns)}
        fetched.update(cases)
        self._texts.update(texts)
        self._kept.keep(texts)
