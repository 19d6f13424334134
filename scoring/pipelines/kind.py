"""What a kind of run defines. A kind is one module with a subclass of `PipelineKind`, and one line that registers it.

A run has steps for each of its cases. A step is named by its stage, a key (which of several, such as a sample) and a
round. `PipelineKind.plan` says which steps a case needs and which of them need the outputs of others; the engine does
the rest: it makes steps ready, asks endpoints, keeps limits and budget, asks again after a faulty answer, writes each
output once, and survives a kill at any moment.

``plan``, ``input_of``, ``request``, ``output`` and ``check`` are pure: the same arguments give the same result, in
another process and on another machine. On that rest the cache and the replay of a run. What an input depends on, beside
the outputs of other steps, is the case's material (`PipelineKind.materials`) and the settings of the run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from consilium.llm.endpoint import Endpoint
from consilium.llm.errors import ContentError
from consilium.llm.meter import Allowance
from consilium.llm.prompts import Messages
from rubrics.models import Case
from scoring.models import PipelineRun

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

Output = dict[str, Any]  # an object of JSON values


class StepName(NamedTuple):
    """The name of a step within its case. Names are made, compared and hashed by the thousand, so it is a tuple."""

    stage: str
    key: str = ""
    round: int = 0

    def __str__(self) -> str:
        return " ".join(filter(None, (self.stage, self.key, str(self.round or ""))))


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a case, and the steps whose outputs it needs. Where one of these fails, the step is skipped."""

    name: StepName
    needs: tuple[StepName, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointUse:
    """An endpoint of a run: how it is called, its limits and its prices (`Allowance.money` is the engine's).

    ``endpoint.max_tokens`` bounds what an answer can cost: no request may ask for more.
    """

    endpoint: Endpoint
    allowance: Allowance = field(default_factory=Allowance)


@dataclass(frozen=True, slots=True)
class StepRequest:
    """The request of a step.

    ``endpoint`` is one of the names of `PipelineKind.endpoints`; ``parameters`` is the request without its messages.
    ``draw`` tells apart requests that are the same and are to be answered independently, such as samples.
    ``optional``: parameters that are left out, once, where the endpoint refuses the request with them.
    """

    endpoint: str
    messages: Messages
    parameters: Mapping[str, Any]
    draw: int = 0
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Computed:
    """The output of a step that asks nobody."""

    output: Output


@dataclass(frozen=True, slots=True)
class LookUp:
    """A step that looks something up here (`PipelineKind.look_up`): it asks no endpoint, and is done once.

    ``query`` is an object of JSON values that says what is looked for. A replay takes the output of the run that it
    replays, because what is found may change.
    """

    query: Output


@dataclass(frozen=True, slots=True)
class Answer:
    """An endpoint's answer. ``fault`` is the kind of `ContentError` that the client raised, empty for a plain text.

    ``logprobs`` is as in `consilium.llm.client.Reply`. ``left_out`` names the optional parameters that the endpoint
    refused.
    """

    text: str
    model: str = ""
    finish: str = ""
    fault: str = ""
    message: str = ""
    logprobs: list[dict[str, Any]] | None = None
    left_out: tuple[str, ...] = ()

    def usable(self) -> str:
        """The text; `ContentError` where the client found a fault in the answer."""
        if self.fault:
            raise ContentError(self.fault, self.message, self.text)
        return self.text


@dataclass(frozen=True, slots=True)
class FinishedStep:
    """A step whose output is about to be written. ``answer`` is None where it was computed."""

    id: int
    case: int
    name: StepName
    output: Output
    answer: Answer | None
    tokens_in: int | None
    tokens_out: int | None
    latency_ms: int | None


@dataclass(frozen=True, slots=True)
class StepFault:
    """Why a step fails: a kind for the code, and words for the page."""

    kind: str
    message: str


SettingsT = TypeVar("SettingsT")


class PipelineKind(ABC, Generic[SettingsT]):
    """One kind of run. ``SettingsT`` is what `settings_of` reads from a run, and what the pure functions take."""

    name: ClassVar[str]  # at most 20 characters; stored with each run
    stages: ClassVar[tuple[str, ...]]  # in the order of the pages
    re_asks: ClassVar[int] = 2  # how often a step is asked again after a faulty answer
    # Whether a request that was answered in this benchmark before is answered from there.
    reads_cache: ClassVar[bool] = True
    label: ClassVar[_StrOrPromise] = ""  # the heading of its page of runs
    route: ClassVar[str] = ""  # the route of a run's page; empty where it has none, and then nobody is notified

    @property
    def has_chains(self) -> bool:
        """Whether a step may need the outputs of others. Where none does, a run keeps the steps that it began with."""
        return len(self.stages) > 1

    # Pure ------------------------------------------------------------------------------------------------------------

    @abstractmethod
    def plan(self, settings: SettingsT, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """The steps of a case, as far as the outputs so far tell. It never takes a step back."""

    @abstractmethod
    def input_of(self, settings: SettingsT, name: StepName, material: Any, done: Mapping[StepName, Output]) -> Any:
        """The input of a step as JSON values, from the case's material and the outputs of the steps that it needs."""

    @abstractmethod
    def request(self, settings: SettingsT, name: StepName, value: Any, nonce: str) -> StepRequest | Computed | LookUp:
        """The request for an input, what is to be looked up, or the output where neither is needed.

        ``nonce`` is a code for fences around texts from outside. It depends on the input and the server's key alone.
        """

    def output(self, settings: SettingsT, name: StepName, value: Any, answer: Answer) -> Output:
        """The output that an answer is, strictly; `ContentError` for every other answer, which is asked for again."""
        raise NotImplementedError

    def last_output(
        self, settings: SettingsT, name: StepName, value: Any, answer: Answer, fault: ContentError
    ) -> Output | None:
        """The output of an answer that is faulty and is not asked for again; None where the step fails."""
        return None

    def check(self, settings: SettingsT, name: StepName, value: Any, output: Output) -> list[Output]:
        """What code finds on comparing an output with its input; kept with the step as its findings."""
        return []

    # Not pure --------------------------------------------------------------------------------------------------------

    @abstractmethod
    def settings_of(self, run: PipelineRun, *, may_call: bool) -> SettingsT:
        """The settings of a run, checked; `DomainError` where they cannot be used.

        Without ``may_call`` no request will be sent, so that the operator's list of hosts does not count.
        """

    @abstractmethod
    def endpoints(self, settings: SettingsT) -> Mapping[str, EndpointUse]:
        """The endpoints that a run asks, by names of the kind's own; two with the same address and model are one."""

    def materials(self, settings: SettingsT, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """What the inputs of these cases are made of, in a fixed number of queries; a case that is left out fails."""
        return dict(Case.objects.filter(pk__in=cases).values_list("pk", "conversation"))

    def look_up(
        self, settings: SettingsT, run: PipelineRun, queries: Mapping[int, Output], *, at: datetime
    ) -> Mapping[int, Output]:
        """The outputs of steps that look something up, by their ids; a step that is left out fails.

        Not called in a replay.
        """
        raise NotImplementedError

    def keep(
        self, settings: SettingsT, run: PipelineRun, steps: Sequence[FinishedStep], *, at: datetime
    ) -> Mapping[int, StepFault]:
        """Write what else belongs to these outputs, in the transaction that writes them; not called in a replay.

        A step in the result fails instead, by its id.
        """
        return {}

    def archive_refusal(self, run: PipelineRun) -> str:
        """Why no archive of a run can be written, in words; empty where one can."""
        return ""

    def run_ended(self, run: PipelineRun, *, at: datetime) -> None:
        """Tell those whom the end of a run concerns, in the transaction that writes the end; not called in a replay.

        A run that is resumed ends again.
        """

    def hidden_from(self, run: PipelineRun) -> Collection[int]:
        """The ids of those who run the benchmark and must not know of the run."""
        return ()

    def may_ask_again(self, error_kind: str) -> bool:
        """Whether a run that is resumed asks again for a step that failed in this way."""
        return True


# What a step fails by: what it would have stored was stored by something else meanwhile.
TAKEN = "taken"
AnyKind = PipelineKind[Any]
KINDS: dict[str, AnyKind] = {}
KindT = TypeVar("KindT", bound=AnyKind)


def register_kind(kind: KindT) -> KindT:
    """Add a kind; `ValueError` if another one has its name."""
    if kind.name in KINDS:
        raise ValueError(f"{kind.name} is another kind of run")
    KINDS[kind.name] = kind
    return kind
