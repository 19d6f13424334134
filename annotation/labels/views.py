"""Views of label questions for staff: list, form, results, giving cases out, tags."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import access
from annotation.acuity.moves import Move, total_of
from annotation.acuity.outstanding import second_rounds
from annotation.acuity.panel import PanelStatus
from annotation.acuity.panel_results import assigned_with_too_few, case_columns, case_rows
from annotation.acuity.ruling_selectors import ruling_lines
from annotation.acuity.votes import VOTE_COLUMNS, VOTE_TEXT, cast_votes, vote_rows
from annotation.dashboard.views import csv_file
from annotation.labels import batches, selectors, services
from annotation.labels.answer_summary import AnswerState
from annotation.labels.forms import STARTERS, LabelBatchForm, OptionRows, QuestionForm
from annotation.models import Batch, LabelAnswer, LabelQuestion
from annotation.services import new_seed
from annotation.services.previews import AlreadyCreated
from annotation.views.previews import checked_fields, errors_in_words, to_existing_batch
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark, Case
from rubrics.selectors.lists import tag_counts

LIST, FORM, RESULTS, NEW = (
    "annotation/labels/labels.html", "annotation/labels/form.html", "annotation/labels/results.html",
    "annotation/labels/new_batch.html",
)  # fmt: skip
LEVEL_RESULTS = "annotation/labels/level_results.html"
PER_PAGE = 50
# Titles and explanations of the figures of agreement.
_FIGURES = {
    "alpha": (_lazy("Krippendorff’s α"), _lazy("Agreement beyond chance, regardless of who answered")),
    "fleiss_kappa": (_lazy("Fleiss’ κ"), _lazy("The same, for cases with equal numbers of answers")),
    "icc1": ("ICC(1)", _lazy("Certainty of one physician, any physicians on each case")),
    "icc2": ("ICC(2,1)", _lazy("Certainty of one physician, the same on each case: agreement")),
    "icc3": ("ICC(3,1)", _lazy("Certainty of one physician, the same on each case: consistency")),
    "icc1k": ("ICC(1,k)", _lazy("Mean certainty, any physicians on each case")),
    "icc2k": ("ICC(2,k)", _lazy("Mean certainty, the same physicians on each case: agreement")),
    "icc3k": ("ICC(3,k)", _lazy("Mean certainty, the same physicians on each case: consistency")),
    "alpha_ordinal_single": (_lazy("Krippendorff’s α, ordinal"), _lazy("Votes for a single level alone")),
    "alpha_set": (_lazy("α of sets"), _lazy("All votes, by the distance of their nearest levels")),
}
_STATUSES = {
    PanelStatus.CLEAR: _lazy("Clear"),
    PanelStatus.BOUNDARY: _lazy("Between two levels"),
    PanelStatus.AMBIGUOUS: _lazy("Ambiguous"),
    PanelStatus.SET_ASIDE: _lazy("Set aside"),
    PanelStatus.TOO_FEW: _lazy("Too few votes"),
}
MOVE_LABELS = {
    Move.KEPT: _lazy("Kept"),
    Move.TOWARDS: _lazy("Towards the median"),
    Move.AWAY: _lazy("Away from the median"),
    Move.ACROSS: _lazy("To the other side of the median"),
    Move.CANNOT_TELL: _lazy("Cannot tell, before or after"),
}
EMPTY_ROW = {"value": "", "label": "", "help": ""}


@require_safe
@signed_in
def questions(request: SignedInRequest, slug: str) -> HttpResponse:
    """All questions of a benchmark, and the tags that follow from their answers."""
    benchmark = get_benchmark(request.user, slug)
    return _list(request, benchmark)


def _list(request: SignedInRequest, benchmark: Benchmark, refused: DomainError | None = None) -> HttpResponse:
    counts = selectors.question_counts(benchmark)
    tagged = Case.objects.filter(benchmark=benchmark).exclude(label_tags=[])
    context = {
        "benchmark": benchmark,
        "counts": counts,
        "has_active_question": any(count.question.active for count in counts),
        "administers": is_admin(request.user, benchmark),
        "starters": STARTERS.values(),
        "batches": Batch.objects.filter(group__benchmark=benchmark, kind=Batch.Kind.LABEL).select_related("group")[:20],
        "tagged": tagged.count(),
        "changes": len(selectors.tag_changes(benchmark)),
        "written_at": max(
            (count.question.tags_written_at for count in counts if count.question.tags_written_at), default=None
        ),
        "refused": refused,
    }
    return render(request, LIST, context, status=refused.status_code if refused else 200)


# The form -----------------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new(request: SignedInRequest, slug: str) -> HttpResponse:
    """A new question, empty or from a ready-made one."""
    benchmark = get_administered_benchmark(request.user, slug)
    if request.method == "POST":
        return _post(request, benchmark, None)
    starter = STARTERS.get(request.GET.get("from", ""))
    rows = starter.rows() if starter else [EMPTY_ROW, EMPTY_ROW]
    form = QuestionForm(initial=starter.initial() if starter else {}, scales=list(selectors.scales_of(benchmark)))
    return _form(request, benchmark, None, form, OptionRows(rows, bound=False))


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def edit(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Change a question; its words and options only while nobody has answered it."""
    question = access.get_administered_label_question(request.user, slug, public_id)
    if request.method == "POST":
        return _post(request, question.benchmark, question)
    frozen = _answered(question)
    form = QuestionForm(initial=_initial(question), scales=list(selectors.scales_of(question.benchmark)))
    if frozen:
        form.frozen()
    return _form(request, question.benchmark, question, form, OptionRows(question.options, bound=False, frozen=frozen))


def _answered(question: LabelQuestion) -> bool:
    return LabelAnswer.objects.filter(question=question).exists()


def _initial(question: LabelQuestion) -> dict[str, Any]:
    return {
        "name": question.name,
        "text": question.text,
        "kind": question.kind,
        "scale": question.scale.name if question.scale else "",
        "threshold": f"{question.threshold * 100:.2f}".rstrip("0").rstrip("."),
        "minimum_answers": question.minimum_answers,
    }


def _post(request: SignedInRequest, benchmark: Benchmark, question: LabelQuestion | None) -> HttpResponse:
    frozen = question is not None and _answered(question)
    sent = OptionRows.sent(request.POST)
    if not frozen and ("add" in request.POST or "remove" in request.POST):
        return _with_other_rows(request, benchmark, question, sent)
    scales = list(selectors.scales_of(benchmark))
    form = QuestionForm(request.POST, initial=_initial(question) if question else None, scales=scales)
    rows = OptionRows(question.options if question and frozen else sent, bound=True, frozen=frozen)
    if frozen:
        form.frozen()
    status = 422
    # Show all errors at once: validate both. A question on a scale has no rows of its own.
    if all([form.is_valid(), form.is_levels or rows.is_valid()]):
        try:
            question_input = form.question_input([] if form.is_levels else rows.options())
            by, at = request.user, timezone.now()
            if question is None:
                services.make_question(benchmark=benchmark, question_input=question_input, by=by, at=at)
            else:
                services.change_question(question=question, question_input=question_input, by=by, at=at)
        except services.OptionRefused as refused:
            rows.refuse(refused)
        except DomainError as refused:
            form.add_error(None, str(refused))
            status = refused.status_code
        else:
            messages.success(request, _("The question is saved."))
            return redirect("annotation:labels", benchmark.slug)
    return _form(request, benchmark, question, form, rows, status)


def _with_other_rows(
    request: SignedInRequest, benchmark: Benchmark, question: LabelQuestion | None, rows: list[dict[str, str]]
) -> HttpResponse:
    """The form as it was sent, with one row more or less; nothing is saved or validated yet."""
    focus = len(rows)
    removed = request.POST.get("remove", "")
    if removed.isdecimal() and int(removed) < len(rows):
        del rows[int(removed)]
        focus = max(0, int(removed) - 1)
    elif "add" in request.POST and len(rows) < services.MAX_OPTIONS:
        rows.append(dict(EMPTY_ROW))
    initial = {name: request.POST.get(name, "") for name in QuestionForm.base_fields}
    form = QuestionForm(initial=initial, scales=list(selectors.scales_of(benchmark)))
    option_rows = OptionRows(rows, bound=False)
    if option_rows.forms:
        option_rows.forms[min(focus, len(option_rows.forms) - 1)].fields["value"].widget.attrs["autofocus"] = True
    return _form(request, benchmark, question, form, option_rows)


def _form(
    request: SignedInRequest,
    benchmark: Benchmark,
    question: LabelQuestion | None,
    form: QuestionForm,
    rows: OptionRows,
    status: int = 200,
) -> HttpResponse:
    # A question may be on an older version of its scale.
    own_scale = {question.scale.name: question.choices} if question and question.scale else {}
    context = {
        "benchmark": benchmark,
        "question": question,
        "form": form,
        "rows": rows,
        "frozen": question is not None and form.fields["text"].disabled,
        "starters": STARTERS.values(),
        "prefix": selectors.TAG_PREFIX,
        "scales": selectors.scales_of(benchmark) | own_scale,
    }
    return render(request, FORM, context, status=status)


@require_POST
@signed_in
def retire(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Stop asking the question."""
    question = access.get_administered_label_question(request.user, slug, public_id)
    try:
        services.retire_question(question=question)
    except DomainError as refused:
        return _list(request, question.benchmark, refused)
    messages.success(request, _("The question was retired. Its answers are kept."))
    return redirect("annotation:labels", slug)


@require_POST
@signed_in
def restore(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Ask it again."""
    question = access.get_administered_label_question(request.user, slug, public_id)
    try:
        services.restore_question(question=question)
    except DomainError as refused:
        return _list(request, question.benchmark, refused)
    messages.success(request, _("The question is in use again."))
    return redirect("annotation:labels", slug)


# Results ------------------------------------------------------------------------------------------------------------


@require_safe
@signed_in
def results(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The results of one question, case by case."""
    question = access.get_label_question(request.user, slug, public_id)
    if question.is_levels:
        return _level_results(request, question)
    question_results = selectors.results_of(question)
    show = request.GET.get("show", "")
    if show not in {*AnswerState}:
        show = ""
    chosen = [case for case in question_results.cases if not show or case.summary.state == show]
    names = {option["value"]: option["label"] for option in question.options}
    states = (
        (AnswerState.AGREED, _("Agreed")), (AnswerState.OPEN, _("Not agreed")), (AnswerState.FEW, _("Too few answers")),
    )  # fmt: skip
    page = Paginator(chosen, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "benchmark": question.benchmark,
        "question": question,
        "results": question_results,
        "alpha": question_results.alpha,
        "agreement": [(*_FIGURES[name], figure) for name, figure in question_results.agreement.items()],
        "show": show,
        "states": [(str(state), label, question_results.state_counts[state]) for state, label in states],
        "page_obj": page,
        "lines": [(case, names.get(case.summary.majority, "")) for case in page.object_list],
        "administers": is_admin(request.user, question.benchmark),
    }
    return render(request, RESULTS, context)


def _level_results(request: SignedInRequest, question: LabelQuestion) -> HttpResponse:
    level_results = selectors.level_results_of(question)
    show = request.GET.get("show", "")
    if show not in {*PanelStatus}:
        show = ""
    chosen = [case for case in level_results.cases if not show or case.status == show]
    page = Paginator(chosen, PER_PAGE).get_page(request.GET.get("page"))
    moves = level_results.moves
    context = {
        "benchmark": question.benchmark,
        "question": question,
        "results": level_results,
        "alpha": level_results.alpha,
        "agreement": [(*_FIGURES[name], figure) for name, figure in level_results.agreement.items()],
        "show": show,
        "states": [(str(status), label, level_results.state_counts[status]) for status, label in _STATUSES.items()],
        "n_too_few": level_results.state_counts[PanelStatus.TOO_FEW],
        "n_assigned": assigned_with_too_few(level_results),
        "page_obj": page,
        "lines": [(case, level_results.reference(case), _STATUSES[case.status]) for case in page.object_list],
        "moves": [(case, level_results.words(case.first), level_results.words(case.last)) for case in moves],
        "move_labels": list(MOVE_LABELS.values()),
        "move_totals": list(total_of(moves).values()),
        "second_rounds": second_rounds(question),
        "rulings": ruling_lines(question),
        "administers": is_admin(request.user, question.benchmark),
    }
    return render(request, LEVEL_RESULTS, context)


@require_safe
@signed_in
def cases_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The table of cases as CSV, all of them."""
    question = access.get_label_question(request.user, slug, public_id)
    if question.is_levels:
        level_results = selectors.level_results_of(question)
        columns, rows = case_columns(level_results.scale), case_rows(level_results)
        return csv_file(f"{slug}-{question.name}-cases", columns, rows, ("case", "low", "high"))
    rows = selectors.case_rows(selectors.results_of(question))
    return csv_file(
        f"{slug}-{question.name}-cases",
        selectors.case_columns(question),
        rows,
        ("question", "case", "majority", "note"),
    )


@require_safe
@signed_in
def agreement_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """How far the physicians agree, as CSV."""
    question = access.get_label_question(request.user, slug, public_id)
    results = selectors.level_results_of(question) if question.is_levels else selectors.results_of(question)
    rows = selectors.agreement_rows(results)
    return csv_file(
        f"{slug}-{question.name}-agreement", selectors.AGREEMENT_COLUMNS, rows, ("question", "figure", "note")
    )


@require_safe
@signed_in
def answers_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """Every answer that was handed in as CSV, under pseudonyms; of levels, as ``import_votes`` takes it."""
    question = access.get_label_question(request.user, slug, public_id)
    if question.scale is not None:
        rows = vote_rows(cast_votes([question]), question.benchmark, scale_of(question.scale))
        return csv_file(f"{slug}-{question.name}-votes", VOTE_COLUMNS, rows, VOTE_TEXT)
    return csv_file(
        f"{slug}-{question.name}-answers",
        selectors.ANSWER_COLUMNS,
        selectors.answer_rows(question),
        selectors.ANSWER_TEXT,
    )


@require_POST
@signed_in
def write_tags(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make what is agreed tags of the cases."""
    benchmark = get_administered_benchmark(request.user, slug)
    number = batches.write_tags(benchmark=benchmark, at=timezone.now())
    messages.success(
        request,
        ngettext("Tags written: %(number)d case changed.", "Tags written: %(number)d cases changed.", number)
        % {"number": number},
    )
    return redirect("annotation:labels", slug)


# Giving cases out ---------------------------------------------------------------------------------------------------


def _batch_form(benchmark: Benchmark, data: Any = None, **options: Any) -> LabelBatchForm:
    return LabelBatchForm(data, benchmark=benchmark, tags=tag_counts(benchmark), **options)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def batch_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """The form, and giving the cases out."""
    benchmark = get_administered_benchmark(request.user, slug)
    if request.method != "POST":
        active_questions = LabelQuestion.objects.about_cases().filter(benchmark=benchmark, active=True)
        initial = {"seed": new_seed(), "questions": list(active_questions.values_list("public_id", flat=True))}
        return _batch_page(request, benchmark, _batch_form(benchmark, initial=initial))
    form = _batch_form(benchmark, request.POST)
    status = 422
    if form.is_valid():
        try:
            batch = batches.make_label_batch(
                **_chosen(form), by=request.user, at=timezone.now(), digest=form.cleaned_data["digest"]
            )
        except AlreadyCreated as repeated:
            return to_existing_batch(request, slug, repeated)
        except DomainError as refused:
            form.add_error(None, str(refused))
            status = refused.status_code
        else:
            messages.success(request, _("The cases were assigned. Their physicians can now see them."))
            return redirect("annotation:batch", slug, batch.public_id)
    return _batch_page(request, benchmark, form, status)


def _chosen(form: LabelBatchForm) -> dict[str, Any]:
    data = form.cleaned_data
    return {
        "group": data["group"],
        "questions": list(data["questions"]),
        "terms": form.terms(),
        "filter": form.case_filter(),
    }


def _batch_page(
    request: SignedInRequest, benchmark: Benchmark, form: LabelBatchForm, status: int = 200
) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "form": form,
        "groups": benchmark.groups.count(),
        "questions": LabelQuestion.objects.about_cases().filter(benchmark=benchmark, active=True).count(),
    }
    return render(request, NEW, context, status=status)


@require_safe
@signed_in
def batch_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """Who would get which cases by the form; nothing is written."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = _batch_form(benchmark, request.GET)
    form.fields["title"].required = False
    context: dict[str, Any] = {"benchmark": benchmark, "checked_fields": checked_fields(form)}
    if form.is_valid():
        try:
            context["plan"] = batches.plan_labels(**_chosen(form))
        except DomainError as refused:
            context["refused"] = refused
    else:
        context["invalid"] = errors_in_words(form)
    return render(request, f"{NEW}#preview", context)
