"""A kind of run for tests, with all that a kind can have: several endpoints, stages, rounds, a computed stage.

For each case: *look* asks the fast model once for each sample; *weigh* asks the strong one about all looks, and a
second time where its first answer is met; *sum* counts by code how many weighings were met. An answer is a verdict in
the form of judges, so that `bench/loopback_judge.py` can answer, and misbehave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from consilium.llm.endpoint import Endpoint, RetryPolicy
from consilium.llm.meter import Allowance
from consilium.llm.structured import StructuredAnswer, parse_structured
from rubrics.models import Benchmark, Case
from scoring.models import PipelineRun
from scoring.pipelines.kind import (
    KINDS,
    Answer,
    Computed,
    EndpointUse,
    Output,
    PipelineKind,
    PlannedStep,
    StepName,
    StepRequest,
    register_kind,
)
from scoring.pipelines.runs import create_run
from scoring.pipelines.working import work_on_run

MAX_TOKENS = 100


class Verdict(StructuredAnswer):
    """The form of an answer."""

    explanation: str
    criteria_met: bool


@dataclass(frozen=True)
class ChainSettings:
    """The configuration of a run."""

    url: str
    fast: str
    strong: str
    samples: int
    temperature: float
    price: float  # of a million tokens of answers
    concurrency: int
    attempts: int
    timeout_s: float
    logprobs: bool


class VerdictChain(PipelineKind[ChainSettings]):
    name = "verdict-chain"
    stages = ("look", "weigh", "sum")

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> ChainSettings:
        return ChainSettings(**{name: value for name, value in run.config.items() if name != "pauses"})

    def endpoints(self, settings: ChainSettings) -> Mapping[str, EndpointUse]:
        def use(model: str) -> EndpointUse:
            retry = RetryPolicy(attempts=settings.attempts, first_wait_s=0.01, longest_wait_s=0.02)
            endpoint = Endpoint(
                settings.url, model, max_tokens=MAX_TOKENS, timeout_s=settings.timeout_s, retry=retry,
                concurrency=settings.concurrency,
            )  # fmt: skip
            return EndpointUse(endpoint, Allowance(price_out=settings.price))

        return {"fast": use(settings.fast), "strong": use(settings.strong)}

    def plan(self, settings: ChainSettings, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        looks = tuple(StepName("look", str(number)) for number in range(settings.samples))
        weigh = StepName("weigh")
        steps = [*(PlannedStep(name) for name in looks), PlannedStep(weigh, looks)]
        if weigh in done:
            last = weigh
            if done[weigh]["criteria_met"]:
                last = StepName("weigh", round=1)
                steps.append(PlannedStep(last, (weigh,)))
            steps.append(PlannedStep(StepName("sum"), (last,)))
        return steps

    def input_of(self, settings: ChainSettings, name: StepName, material: Any, done: Mapping[StepName, Output]) -> Any:
        before = {"look": "", "weigh": "look", "sum": "weigh"}[name.stage]
        earlier = [done[other] for other in sorted(done) if other.stage == before or (name.round and other < name)]
        return {"conversation": material, "earlier": earlier, "round": name.round}

    def request(self, settings: ChainSettings, name: StepName, value: Any, nonce: str) -> StepRequest | Computed:
        if name.stage == "sum":
            return Computed({"met": sum(output["criteria_met"] for output in value["earlier"])})
        texts = "\n".join(turn["content"] for turn in value["conversation"])
        earlier = "".join(f"\n{output['explanation']} {output['criteria_met']}" for output in value["earlier"])
        content = f"{name.stage} {name.round}{earlier}\n<<<REPLY {nonce}\n{texts}\n>>>REPLY {nonce}"
        endpoint, model = ("fast", settings.fast) if name.stage == "look" else ("strong", settings.strong)
        parameters: dict[str, Any] = {
            "model": model, "max_tokens": MAX_TOKENS, "temperature": settings.temperature,
        }  # fmt: skip
        if settings.logprobs:
            parameters["logprobs"] = True
        return StepRequest(
            endpoint,
            [{"role": "user", "content": content}],
            parameters,
            draw=int(name.key or 0),
            optional=("logprobs",) if settings.logprobs else (),
        )

    def output(self, settings: ChainSettings, name: StepName, value: Any, answer: Answer) -> Output:
        output = parse_structured(answer.usable(), Verdict).model_dump()
        return {**output, "left_out": list(answer.left_out)} if settings.logprobs else output

    def check(self, settings: ChainSettings, name: StepName, value: Any, output: Output) -> list[Output]:
        return [{"kind": "met"}] if output.get("criteria_met") else []


KIND = KINDS.get(VerdictChain.name) or register_kind(VerdictChain())
CONFIG = {
    "fast": "ok", "strong": "ok-strong", "samples": 2, "temperature": 1.0, "price": 0.0, "concurrency": 4,
    "attempts": 2, "timeout_s": 30.0, "logprobs": False, "pauses": 0,
}  # fmt: skip


def begin(
    benchmark: Benchmark, url: str, *, cases: Sequence[str] = (), budget: Decimal | None = None, **config: Any
) -> PipelineRun:
    """A run over the cases of a benchmark, or over those with these keys."""
    rows = Case.objects.filter(benchmark=benchmark).order_by("key")
    ids = [pk for pk, key in rows.values_list("pk", "key") if not cases or key in cases]
    return create_run(
        kind=KIND, benchmark=benchmark, config={"url": url, **CONFIG, **config}, cases=ids, budget=budget,
        currency="USD" if budget else "", by=None, at=timezone.now(),
    )  # fmt: skip


def work(run: PipelineRun) -> PipelineRun:
    """What a worker does, until the run needs none."""
    while work_on_run(run.pk, clock=timezone.now):
        pass
    run.refresh_from_db()
    return run
