"""The interface of a judge kind: all that runs, workers, forms, pages, the API and reports need to know of it.

A kind is one module of this package that ends in ``KIND = …``; `scoring.judges.kinds.registered` lists them when the
app is ready. This module imports nothing of the app, so that every other module may import it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from consilium.core.phrases import Phrase

if TYPE_CHECKING:
    from django.db.models import Q
    from django.http import HttpResponse
    from django.utils.functional import _StrOrPromise

    from accounts.models import User
    from consilium.core.htmx import SignedInRequest
    from rubrics.models import Benchmark
    from scoring.forms import JudgeForm
    from scoring.models import Judge, JudgeRun
    from scoring.work.slice_turn import SliceTurn

Row = tuple[int, str, int]  # criterion, text, points


class JudgeKind:
    """One kind of judge; the defaults are those of a judge without runs, prompt and form, and subclasses override."""

    value: ClassVar[str]  # one of `Judge.Kind`
    task: ClassVar[str] = "rubric"  # one of `Judge.Task`

    # What it is ------------------------------------------------------------------------------------------------------

    asks_endpoint = False  # a language model behind an endpoint: it has a prompt, prices and limits
    has_members = False  # it combines the verdicts of other judges of its benchmark, and has none of its own
    learns = False  # it is fitted on decisions of its benchmark
    is_imported = False  # its verdicts are imported from files
    is_measurable = False  # its susceptibility to injections can be measured
    hash_name: Phrase | None = None  # what the hash of its runs is computed from; None: a prompt and a rule sheet
    # The judges of the kind that can run; None where they make no runs.
    ready: Q | None = None

    def is_ready(self, judge: Judge) -> bool:
        """Whether ``judge``, whose trained model is loaded, can run now: the condition `ready` for one judge."""
        return False

    def may_waver(self, config: Mapping[str, Any]) -> bool:
        """Whether it may answer the same request differently the next time."""
        return False

    def request_mode(self, config: Mapping[str, Any]) -> str:
        """How many criteria a request has, ``one`` or ``all``; empty where nothing is requested."""
        return ""

    # Its runs --------------------------------------------------------------------------------------------------------

    def snapshot(self, judge: Judge, benchmark: Benchmark) -> tuple[dict[str, Any], str]:
        """What the snapshot of a run holds besides name, version and settings, and the hash of what requests share.

        `DomainError` where the judge cannot run.
        """
        raise NotImplementedError

    def check_benchmark(self, judge: Judge, benchmark: Benchmark) -> None:
        """Raise `DomainError` if ``judge`` cannot run on ``benchmark``."""

    def check_replicates(self, replicates: int) -> None:
        """Raise `DomainError` if that number of replicates (at least 1) makes no sense."""

    def slices(self, judge: Judge) -> int:
        """How many workers share a run; a judge that needs no network gains nothing from more than one."""
        return 1

    def has_prices(self, judge: Judge) -> bool:
        """Whether its runs have a known cost, so that a budget can be kept."""
        return False

    def check_resumption(self, run: JudgeRun) -> None:
        """Raise `DomainError` if a run cannot be resumed with the settings of its snapshot."""

    def check_continuation(self, run: JudgeRun) -> None:
        """Raise `DomainError` if a run with this snapshot cannot be continued on newer rubrics."""
        self.check_resumption(run)

    def reads_points(self, run: JudgeRun) -> bool:
        """Whether the judge's input depends on the points of a criterion."""
        return False

    def unchanged(self, run: JudgeRun, old: Sequence[Row], new: Sequence[Row]) -> list[int]:
        """Criteria of the rubric ``new`` that keep their verdicts from the rubric ``old``: by default those in both."""
        known = {row[0] for row in old}
        return [row[0] for row in new if row[0] in known]

    def work(self, turn: SliceTurn, until: float) -> bool:
        """Give the verdicts that a slice lacks; True if the time (``until``, of `time.monotonic`) was up first."""
        raise NotImplementedError

    # How it is made --------------------------------------------------------------------------------------------------

    form: type[JudgeForm] | None = None  # None: it is not made on a page, nor through the API
    new_label: _StrOrPromise = ""  # of the link to the form
    new_template = ""  # of the page with the form

    def make_form(self, benchmark: Benchmark, data: Any = None, initial: dict[str, Any] | None = None) -> JudgeForm:
        """The form, with the values of a POST or with initial ones."""
        assert self.form is not None
        return self.form(data, initial=initial)

    def form_part(self, request: SignedInRequest) -> HttpResponse | None:
        """The response to an htmx request of the open form; None if the form makes no such requests."""
        return None

    def initial(self, judge: Judge) -> dict[str, Any]:
        """The values of its form for a new version of ``judge``."""
        return {"name": judge.name, **judge.config}

    def create(
        self, *, benchmark: Benchmark, name: str, config: Mapping[str, Any], by: User | None, at: datetime
    ) -> Judge:
        """The next version of the judge ``name``; `InvalidConfig` names each setting that cannot be used."""
        raise NotImplementedError

    def check_endpoint(self, benchmark: Benchmark, config: Mapping[str, Any], *, seconds: float) -> None:
        """Send one short request with valid settings; `DomainError` if no model answers within ``seconds``.

        It does nothing for a judge without an endpoint.
        """

    # Its pages -------------------------------------------------------------------------------------------------------

    page: Callable[[SignedInRequest, str, str], HttpResponse] | None = None  # in place of the page of a judge
    settings_template = ""  # its settings on the page, as entries of a list of facts
    idle_template = "scoring/judges/_not_run.html"  # its cell in the list of judges while it has no run
    no_runs: _StrOrPromise = ""  # on its page, where it has no run and cannot run now

    def page_context(self, judge: Judge, benchmark: Benchmark, item: int) -> dict[str, Any]:
        """Further context of its page; ``item`` is the number of the previewed request."""
        return {}

    @property
    def key(self) -> str:
        """Its name in `KINDS`, in addresses and in the API."""
        return kind_key(self.value, self.task)

    @property
    def reads_levels(self) -> bool:
        """Whether it reads levels of care out of responses; else it decides criteria of rubrics."""
        return self.task == "acuity"

    @property
    def makes_runs(self) -> bool:
        """Whether a judge of the kind can run here."""
        return self.ready is not None

    @property
    def is_made_here(self) -> bool:
        """Whether a judge of the kind is made by its form or through the API."""
        return self.form is not None

    @property
    def new_route(self) -> str:
        """The name of the route of its form."""
        return f"scoring:judge-new-{self.key}"


def kind_key(kind: str, task: str) -> str:
    """The key of a judge in `KINDS`: its kind; its task where this is not about rubrics."""
    return kind if task in ("", "rubric") else task


KINDS: dict[str, JudgeKind] = {}


def register(kind: JudgeKind) -> None:
    """Add a kind; pages list the kinds in this order."""
    KINDS[kind.key] = kind


def kind_named(value: object) -> JudgeKind:
    """The kind of a stored name; for any other text, such as another kind of rater, a kind with the defaults."""
    return KINDS.get(str(value)) or JudgeKind()


def kinds_where(holds: Callable[[JudgeKind], bool]) -> list[str]:
    """Values of the kinds for which ``holds`` is true, for a condition such as ``kind__in``."""
    return list(dict.fromkeys(kind.value for kind in KINDS.values() if holds(kind)))


def juries() -> list[str]:
    """Values of the kinds that combine other judges."""
    return kinds_where(lambda kind: kind.has_members)
