"""A step on its way through a worker: what was prepared for it, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from consilium.llm.judging import Call
from scoring.models import PipelineStep
from scoring.pipelines.kind import Answer, Output, StepName, StepRequest

# Kinds of failure that are not an endpoint's.
WITHHELD = "withheld"  # the kind gives no material for the case any more
NOT_STORED = "not_stored"  # a replay lacks the answer, or what was looked up
NOT_FOUND = "not_found"  # nothing came of looking something up


@dataclass(frozen=True, slots=True)
class ReadyStep:
    """A step that is ready, with its input."""

    id: int
    case: int
    name: StepName
    re_asks: int = 0
    fault: str = ""  # what was wrong with the last answer, where it is asked again
    value: Any = None
    input_digest: str = ""


@dataclass(frozen=True, slots=True)
class PendingStep:
    """A step with its request. ``most``: what the request can cost, in the currency of the run."""

    step: ReadyStep
    request: StepRequest
    request_hash: str
    body: bytes
    most: float = 0.0


@dataclass(frozen=True, slots=True)
class Exchange(Call):
    """One exchange with an endpoint: the body that was sent, and the answer where one came."""

    body: bytes = b""
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step. Without ``state`` its answer was not read yet; without ``calls`` either it was not asked.

    *ready*: it is asked again. ``cached``: the id of the call whose answer was taken; None where the last of ``calls``
    was taken or none is needed. ``failed``: the endpoint gave no answer.
    """

    step: ReadyStep
    pending: PendingStep | None = None
    state: PipelineStep.State | None = None
    output: Output | None = None
    findings: Sequence[Output] = ()
    answer: Answer | None = None
    cached: int | None = None
    error_kind: str = ""
    error: str = ""
    failed: bool = False
    calls: Sequence[Exchange] = field(default=())

    @property
    def about(self) -> int:
        """The id of the case."""
        return self.step.case


def unasked(pending: PendingStep) -> StepResult:
    """The result of a request that was not sent."""
    return StepResult(pending.step, pending)
