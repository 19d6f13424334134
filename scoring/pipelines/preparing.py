"""Makes requests of the steps that are ready, and answers from the store those that need no endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from consilium.llm.errors import BILLED_KINDS
from consilium.llm.meter import MIN_BYTES_PER_TOKEN
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.asking import read_answer
from scoring.pipelines.cache import StoredAnswer, answers_to_replay, good_answers
from scoring.pipelines.hashing import body_of_request, canonical, digest_of, hash_of_request, nonce_for_input
from scoring.pipelines.kind import AnyKind, Computed, EndpointUse, LookUp, Output, StepName
from scoring.pipelines.outputs import KeptOutputs, outputs_of
from scoring.pipelines.steps import NOT_FOUND, NOT_STORED, WITHHELD, PendingStep, ReadyStep, StepResult

State = PipelineStep.State
COLUMNS = ("pk", "case", "stage", "key", "round", "re_asks", "error_kind", "error")


@dataclass(frozen=True, slots=True)
class Preparer:
    """Prepares the steps of one run."""

    run: PipelineRun
    kind: AnyKind
    settings: Any
    uses: Mapping[str, EndpointUse]
    kept: KeptOutputs = field(default_factory=KeptOutputs)

    def prepare(self, rows: Sequence[tuple[Any, ...]], *, at: datetime) -> tuple[list[PendingStep], list[StepResult]]:
        """Requests to send, and the results of the steps that need none, of rows with `COLUMNS`."""
        cases = {row[1] for row in rows}
        materials = self.kind.materials(self.settings, self.run, cases)
        outputs = outputs_of(self.run, cases, kept=self.kept) if self.kind.has_chains else {}
        pending: list[PendingStep] = []
        results: list[StepResult] = []
        queries: list[tuple[ReadyStep, LookUp]] = []
        for row in rows:
            item = self._one(_ready(row), materials, outputs.get(row[1], {}))
            if isinstance(item, PendingStep):
                pending.append(item)
            elif isinstance(item, StepResult):
                results.append(item)
            else:
                queries.append(item)
        if queries:
            results += self._looked_up(queries, at)
        return self._from_store(pending, results)

    def _one(
        self, step: ReadyStep, materials: Mapping[int, Any], done: Mapping[StepName, Output]
    ) -> PendingStep | StepResult | tuple[ReadyStep, LookUp]:
        if step.case not in materials:
            return StepResult(
                step, state=State.FAILED, error_kind=WITHHELD, error="the case may not be used for this any more"
            )
        value = self.kind.input_of(self.settings, step.name, materials[step.case], done)
        text = canonical(value)
        step = replace(step, value=value, input_digest=digest_of(text))
        nonce = nonce_for_input(text)
        request = self.kind.request(self.settings, step.name, value, nonce)
        if isinstance(request, LookUp):
            return step, request
        if isinstance(request, Computed):
            return self._done(step, request.output)
        body = body_of_request(request)
        request_hash = hash_of_request(body, nonce, draw=request.draw)
        if step.fault:
            body = body_of_request(request, fault=step.fault)
        use = self.uses[request.endpoint]
        most = use.allowance.cost(len(body) / MIN_BYTES_PER_TOKEN, use.endpoint.most_tokens_out(1))
        return PendingStep(step, request, request_hash, body, most)

    def _done(self, step: ReadyStep, output: Output) -> StepResult:
        findings = self.kind.check(self.settings, step.name, step.value, output)
        return StepResult(step, state=State.DONE, output=output, findings=findings)

    def _looked_up(self, queries: Sequence[tuple[ReadyStep, LookUp]], at: datetime) -> list[StepResult]:
        """The results of steps that look something up; a replay takes what the replayed run found."""
        if self.run.replay:
            outputs: Mapping[int, Output] = self._found_before([step for step, _query in queries])
            kind, message = NOT_STORED, "the replayed run did not look this up"
        else:
            by_id = {step.id: look_up.query for step, look_up in queries}
            outputs = self.kind.look_up(self.settings, self.run, by_id, at=at)
            kind, message = NOT_FOUND, "nothing could be looked up for this step"
        return [
            self._done(step, outputs[step.id])
            if step.id in outputs
            else StepResult(step, state=State.FAILED, error_kind=kind, error=message)
            for step, _query in queries
        ]

    def _found_before(self, steps: Sequence[ReadyStep]) -> dict[int, Output]:
        """The outputs of the same steps of the replayed run, by the ids of ``steps``, where the inputs are the same."""
        rows = PipelineStep.objects.filter(
            run=self.run.replay_of_id, case__in={step.case for step in steps}, state=State.DONE
        )
        columns = ("case", "stage", "key", "round", "input_digest", "output")
        known = {row[:5]: row[5] for row in rows.values_list(*columns)}
        keys = {step.id: (step.case, *_columns(step.name), step.input_digest) for step in steps}
        return {pk: known[key] for pk, key in keys.items() if key in known}

    def _from_store(
        self, pending: list[PendingStep], results: list[StepResult]
    ) -> tuple[list[PendingStep], list[StepResult]]:
        """Move the requests that have a stored answer to the results; in a replay, all of them."""
        if not pending or not (self.run.replay or self.kind.reads_cache):
            return pending, results
        keys = [(item.request_hash, self.uses[item.request.endpoint].endpoint.url) for item in pending]
        stored = (answers_to_replay if self.run.replay else good_answers)(self.run, set(keys))
        left: list[PendingStep] = []
        for item, key in zip(pending, keys, strict=True):
            answer = stored.get(key)
            result = None if answer is None else self._read(item, answer)
            if result is not None and (self.run.replay or result.state == State.DONE):
                results.append(result)
            elif self.run.replay:
                message = "no stored answer to its request"
                results.append(StepResult(item.step, item, State.FAILED, error_kind=NOT_STORED, error=message))
            else:
                left.append(item)
        return left, results

    def _read(self, item: PendingStep, stored: StoredAnswer) -> StepResult:
        # A replay asks nobody again: the answer that it takes is the one that the step ended with.
        result = read_answer(self.kind, self.settings, item.step, stored.answer, is_last=self.run.replay)
        return replace(result, pending=item, cached=stored.call)


def _columns(name: StepName) -> tuple[str, str, int]:
    return name.stage, name.key, name.round


def _ready(row: tuple[Any, ...]) -> ReadyStep:
    pk, case, stage, key, number, re_asks, error_kind, error = row
    fault = error if re_asks and error_kind not in BILLED_KINDS else ""
    return ReadyStep(pk, case, StepName(stage, key, number), re_asks, fault)
