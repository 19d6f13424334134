"""What the pages of every kind of run share: its list, its form, its page, and their changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.forms import Form
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.models import Benchmark, Candidate, Case
from scoring.models import PipelineRun
from scoring.pipelines.forms import BudgetForm
from scoring.pipelines.runs import cancel_run, may_resume, replay_run
from scoring.pipelines.selectors import Counts, counts_of, error_words, frame_words, words_of_failures

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

RunT = TypeVar("RunT", bound=PipelineRun)
Context = dict[str, Any]
PER_PAGE = 20


class Progress(Protocol):
    """How far a run is, as far as every kind shows it."""

    @property
    def counts(self) -> Counts: ...

    @property
    def errors(self) -> tuple[tuple[str, int], ...]: ...

    @property
    def tokens_in(self) -> int: ...

    @property
    def tokens_out(self) -> int: ...


@dataclass(frozen=True)
class RunPages(Generic[RunT]):
    """The pages of one kind of run: routes ``APP:NAME…``, templates in ``APP/NAME/`` or ``APP/FOLDER/``.

    `runs`, `run_page`, `progress`, `cancel`, `resume` and `replay` are views, which the routes of the kind name.
    ``results`` is what a run brings, ``page_words`` what its page shows besides, ``row_words`` its row in the list.
    ``resume_run``: the kind's own function, with the keywords ``run``, ``at`` and ``budget``.
    ``defer``: columns that pages need not read. ``hidden``: the runs that somebody who runs the benchmark must not see.
    """

    name: str
    model: type[RunT]
    results: _StrOrPromise
    runs_on: Callable[[Benchmark], QuerySet[RunT]]
    progress_of: Callable[..., Progress]
    page_words: Callable[[RunT], Context]
    resume_run: Callable[..., object]
    row_words: Callable[[RunT], Context] = lambda run: {}
    app: str = "scoring"
    defer: tuple[str, ...] = ()
    folder: str = ""
    hidden: Callable[[User, Benchmark], QuerySet[Any]] | None = None

    @property
    def templates(self) -> str:
        """The folder of its templates."""
        return f"{self.app}/{self.folder or self.name}"

    @property
    def routes(self) -> dict[str, str]:
        """The names of its routes, for the templates that all kinds share."""
        parts = ("new", "size", "run", "cancel", "resume", "csv")
        return {part: f"{self.app}:{self.name}-{part}" for part in parts}

    def get(self, user: User, slug: str, public_id: str) -> RunT:
        """A run on a benchmark that ``user`` runs, else 404."""
        benchmark = get_benchmark(user, slug)
        rows = self._shown_to(user, benchmark, self.model.objects.filter(benchmark=benchmark))
        rows = rows.select_related("benchmark", "candidate", "created_by").defer(*self.defer)
        run: RunT = get_object_or_404(rows, public_id=public_id)
        return run

    @method_decorator([require_safe, signed_in])
    def runs(self, request: SignedInRequest, slug: str) -> HttpResponse:
        """The runs of a benchmark."""
        benchmark = get_benchmark(request.user, slug)
        shown = self._shown_to(request.user, benchmark, self.runs_on(benchmark))
        page = Paginator(shown, PER_PAGE).get_page(request.GET.get("page"))
        counts = counts_of(list(page))
        rows = [{"run": run, "counts": counts[run.pk], **self.row_words(run)} for run in page]
        context = {"benchmark": benchmark, "page": page, "page_obj": page, "rows": rows}
        context |= {"results": self.results, "routes": self.routes}
        return render(request, f"{self.templates}/{self.folder or self.name}.html", context)

    def _shown_to(self, user: User, benchmark: Benchmark, rows: QuerySet[RunT]) -> QuerySet[RunT]:
        return rows if self.hidden is None else rows.exclude(pk__in=self.hidden(user, benchmark))

    def form_context(self, benchmark: Benchmark) -> Context:
        """What the form for a new run shows besides its fields: names of candidates, and the number of cases."""
        models = Candidate.objects.filter(benchmark=benchmark, kind=Candidate.Kind.MODEL)
        return {
            "benchmark": benchmark,
            "routes": self.routes,
            "names": models.values_list("name", flat=True),
            "total": Case.objects.filter(benchmark=benchmark).included().count(),
        }

    def initial(self, request: SignedInRequest, slug: str, initial_of: Callable[[dict[str, Any]], Context]) -> Context:
        """What a new form begins with: a name from ``candidate``, or the settings of the run that ``from`` names."""
        earlier = request.GET.get("from")
        if not earlier:
            return {"candidate": request.GET.get("candidate", "")}
        run: Any = self.get(request.user, slug, earlier)  # of a kind that asks a candidate
        return {**initial_of(run.config), "candidate": run.candidate_name, "samples": run.samples}

    @method_decorator([require_safe, signed_in])
    def run_page(self, request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
        """One run: its progress, its settings, and what else its kind shows."""
        return self.page(request, self.get(request.user, slug, public_id))

    def page(self, request: SignedInRequest, run: RunT, refused: DomainError | None = None) -> HttpResponse:
        """The page of a run; ``refused`` says why a change was not made."""
        context = {
            **self._progress(run),
            "frame": frame_words(run),
            **self.page_words(run),
            "routes": self.routes,
            "refused": refused,
        }
        status = refused.status_code if refused else 200
        return render(request, f"{self.templates}/run.html", context, status=status)

    @method_decorator([require_safe, signed_in])
    def progress(self, request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
        """The part that polls while the run is live. When the status changes, the page is loaded again."""
        run = self.get(request.user, slug, public_id)
        response = render(request, f"{self.templates}/_progress.html", self._progress(run))
        if run.status not in PipelineRun.LIVE or request.GET.get("status", run.status) != run.status:
            response["HX-Refresh"] = "true"
        return response

    def change(
        self, request: SignedInRequest, slug: str, public_id: str, change: Callable[[RunT, datetime], None]
    ) -> HttpResponse:
        """Change a run and go back to its page; where the change is refused, the page says so."""
        run = self.get(request.user, slug, public_id)
        try:
            change(run, timezone.now())
        except DomainError as error:
            return self.page(request, self.get(request.user, slug, public_id), error)
        return redirect(f"{self.app}:{self.name}-run", slug, run.public_id)

    @method_decorator([require_POST, signed_in])
    def cancel(self, request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
        """Send no more requests of a run; what was written stays."""
        return self.change(request, slug, public_id, lambda run, at: cancel_run(run=run, at=at))

    @method_decorator([require_POST, signed_in])
    def resume(self, request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
        """Request what is due and what failed, with another budget where one is posted."""
        form = BudgetForm(request.POST)
        if not form.is_valid():
            refused = DomainError("; ".join(map(str, form.errors["budget"])))
            return self.page(request, self.get(request.user, slug, public_id), refused)
        budget = form.cleaned_data["budget"]

        def change(run: RunT, at: datetime) -> None:
            self.resume_run(run=run, at=at, budget=budget)

        return self.change(request, slug, public_id, change)

    @method_decorator([require_POST, signed_in])
    def replay(self, request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
        """Do a run again from stored answers alone, and go to the new run."""
        run = self.get(request.user, slug, public_id)
        try:
            again = replay_run(run=run, by=request.user, at=timezone.now())
        except DomainError as error:
            return self.page(request, run, error)
        return redirect(f"{self.app}:{self.name}-run", slug, again.public_id)

    def _progress(self, run: RunT) -> Context:
        progress = self.progress_of(run, at=timezone.now())
        messages = words_of_failures(run) if progress.errors else {}
        return {
            "benchmark": run.benchmark,
            "run": run,
            "progress": progress,
            "progress_url": reverse(f"{self.app}:{self.name}-progress", args=[run.benchmark.slug, run.public_id]),
            "results": self.results,
            "errors": [(kind, error_words(kind), number, messages.get(kind, "")) for kind, number in progress.errors],
            "resumable": may_resume(run) and progress.counts.done < progress.counts.total,
        }


def problems_of(form: Form) -> list[str]:
    """What is wrong with a form, each with the label of its field."""
    return [
        _("%(label)s: %(value)s") % {"label": form.fields[name].label, "value": error}
        if name in form.fields
        else str(error)
        for name, errors in form.errors.items()
        for error in errors
    ]


def steps_csv(
    run: PipelineRun,
    rows: Iterable[tuple[object, ...]],
    columns: tuple[str, ...],
    *,
    text_columns: tuple[str, ...],
    what: str,
    about: str = "",
) -> StreamingHttpResponse:
    """The file of a run's steps, named after the benchmark, ``what`` it holds, and the candidate or ``about``."""
    about = slugify(about or (run.candidate.name if run.candidate else ""))
    pieces = stream_csv(columns, rows, text_columns=text_columns)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    name = "-".join(filter(None, (run.benchmark.slug, what, about, run.public_id)))
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
