"""Views of qualification and gold: the rule, the keyed responses, and a physician's attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import (
    Assignment,
    ExpertGroup,
    KeyedResponse,
    Membership,
    Physician,
    QualificationAttempt,
    QualificationRule,
)
from annotation.qualification import keys as qualification_keys
from annotation.qualification.forms import KeyForm, KeyImportForm, RuleForm
from annotation.qualification.open_work import work_that_waits
from annotation.qualification.pool import agreed_decisions_shown, may_show_agreed_decisions, record_shown
from annotation.qualification.services import marked_rows, start_attempt
from annotation.selectors import reading_pages
from annotation.selectors.eligibility import eligibilities, eligibility_of, seen_by
from annotation.selectors.queue_places import graded_place
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError, ImportRefused
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.order import natural
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.models import Benchmark, Response, RubricItem

PER_PAGE = 50
EXAMPLE = Path(__file__).parent / "examples" / "answer_keys.csv"


# The admin's side -----------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def qualification(request: SignedInRequest, slug: str) -> HttpResponse:
    """The rule, the keyed responses by use, and the annotators' progress; POST sets the rule."""
    if request.method != "POST":
        return _page(request, get_benchmark(request.user, slug))
    benchmark = get_administered_benchmark(request.user, slug)
    form = RuleForm(request.POST, instance=QualificationRule(benchmark=benchmark))
    required_before = QualificationRule.objects.filter(benchmark=benchmark, required=True).exists()
    if form.is_valid():
        try:
            qualification_keys.set_rule(benchmark=benchmark, values=form.cleaned_data)
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, _("The rule is saved."))
            if form.cleaned_data["required"] and not required_before and (waits := work_that_waits(benchmark)):
                messages.warning(request, waits)
            if (warning := _cannot_qualify(benchmark)) and form.cleaned_data["required"]:
                messages.warning(request, warning)
            return redirect("annotation:qualification", slug)
    return _page(request, benchmark, rule_form=form)


def _page(
    request: SignedInRequest,
    benchmark: Benchmark,
    *,
    rule_form: RuleForm | None = None,
    import_form: KeyImportForm | None = None,
    refused: ImportRefused | None = None,
) -> HttpResponse:
    rule = QualificationRule.objects.filter(benchmark=benchmark).first() or QualificationRule(benchmark=benchmark)
    given = qualification_keys.uses_of_keys(benchmark)
    keys: dict[str, list[dict[str, Any]]] = {use: [] for use in KeyedResponse.Use.values}
    rows = KeyedResponse.objects.filter(benchmark=benchmark).select_related("response__case", "response__candidate")
    sizes = qualification_keys.sizes_of_keys(benchmark)
    batches = qualification_keys.ordinary_batches_of(rows.values_list("response", flat=True))
    for row in rows.order_by("-active", "response__case__key", "response__candidate__name", "pk"):
        keys[row.use].append(
            {
                "key": row,
                "given": given.get(row.pk, 0),
                "batches": batches.get(row.response_id, 0),
                "size": sizes.get(row.pk, 0),
            }
        )
    administers = is_admin(request.user, benchmark)
    context = {
        "benchmark": benchmark,
        "cannot_qualify": _cannot_qualify(benchmark) if rule.required or administers else "",
        "waits": work_that_waits(benchmark) if administers and not rule.required else "",
        "rule": rule,
        "rule_form": rule_form or RuleForm.as_filled_in(request.POST, rule),
        "import_form": import_form or KeyImportForm(initial={"use": request.POST.get("use") or request.GET.get("use")}),
        "refused": refused,
        "uses": [(use, label, keys[use]) for use, label in KeyedResponse.Use.choices],
        "people": _people(benchmark, keys["qualification"], names=administers) if rule.required else [],
        "administers": administers,
    }
    failed = refused or (rule_form and rule_form.errors) or (import_form and import_form.errors)
    return render(request, "annotation/qualification/qualification.html", context, status=422 if failed else 200)


def _cannot_qualify(benchmark: Benchmark) -> str:
    """A warning where annotators have no response left to qualify on; empty where all have one."""
    keys = KeyedResponse.objects.filter(benchmark=benchmark, active=True, use=KeyedResponse.Use.QUALIFICATION)
    responses = list(keys.filter(response__case__excluded_at=None).values_list("response_id", flat=True))
    if not responses:
        return _("No response has an answer key for qualification yet, so no one can take it.")
    members = Membership.objects.filter(group__benchmark=benchmark, role=Membership.Role.ANNOTATOR, active=True)
    users = set(members.values_list("user_id", flat=True))
    chosen = set(responses)
    shown = {pair for pair in agreed_decisions_shown(benchmark, users) if pair[1] in chosen}
    known = Counter(user for user, _response in seen_by(users, responses) | shown)
    without = sum(number == len(responses) for number in known.values())
    if not without:
        return ""
    return ngettext(
        "%(n)d of %(all)d annotators knows all of these responses from other work or from agreed decisions, and cannot "
        "qualify on them. Add answer keys of other responses.",
        "%(n)d of %(all)d annotators know all of these responses from other work or from agreed decisions, and cannot "
        "qualify on them. Add answer keys of other responses.",
        without,
    ) % {"n": without, "all": len(users)}


def _people(benchmark: Benchmark, keys: list[dict[str, Any]], *, names: bool) -> list[dict[str, Any]]:
    """Annotators with their eligibility, and how much of the set they know from other work."""
    pseudonyms = dict(Physician.objects.filter(benchmark=benchmark).values_list("user_id", "pseudonym"))
    rows: list[dict[str, Any]] = []
    members = Membership.objects.filter(group__benchmark=benchmark, role=Membership.Role.ANNOTATOR, active=True)
    users = {row.user_id: row.user for row in members.select_related("user")}
    active = [row["key"].response_id for row in keys if row["key"].active]
    known: dict[int, int] = {}
    for user, _response in seen_by(users, active):
        known[user] = known.get(user, 0) + 1
    for group in ExpertGroup.objects.filter(benchmark=benchmark):
        for user, eligibility in eligibilities(group).items():
            name = str(users[user]) if names else pseudonyms.get(user, "")
            rows.append({"name": name, "pseudonym": pseudonyms.get(user, ""), "eligibility": eligibility,
                          "known": known.get(user, 0), "set": len(active)})  # fmt: skip
    return sorted(rows, key=lambda row: (natural(row["eligibility"].group.name), natural(row["name"])))


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def choose(request: SignedInRequest, slug: str) -> HttpResponse:
    """Responses whose decisions are agreed already; POST makes keys of the chosen responses from these decisions."""
    benchmark = get_administered_benchmark(request.user, slug)
    refused: DomainError | None = None
    use = request.POST.get("use") or request.GET.get("use") or KeyedResponse.Use.QUALIFICATION
    if request.method == "POST":
        try:
            keyed_responses = qualification_keys.key_from_consensus(
                benchmark=benchmark, responses=request.POST.getlist("response"), use=use, by=request.user,
                at=timezone.now(),
            )  # fmt: skip
        except DomainError as error:
            refused = error
        else:
            text = ngettext(
                "%(n)d response now has an answer key.", "%(n)d responses now have an answer key.", len(keyed_responses)
            )
            messages.success(request, text % {"n": len(keyed_responses)})
            return redirect("annotation:qualification", slug)
    agreed = qualification_keys.agreed_responses(benchmark)
    sought = request.GET.get("q", "").strip()
    rows = Response.objects.filter(pk__in=agreed).select_related("case", "candidate")
    if sought:
        rows = rows.filter(case__key__icontains=sought)
    page = Paginator(rows.order_by("case__key", "candidate__name", "setting", "sample"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    seen = qualification_keys.annotators_behind([row.pk for row in page])
    context = {
        "benchmark": benchmark,
        "page_obj": page,
        "rows": [{"response": row, "agreed": agreed[row.pk], "seen": seen.get(row.pk, 0)} for row in page],
        "sought": sought,
        "use": use,
        "uses": KeyedResponse.Use.choices,
        "refused": refused,
    }
    status = refused.status_code if refused else 200
    return render(request, "annotation/qualification/responses.html", context, status=status)


@require_POST
@signed_in
def import_keys(request: SignedInRequest, slug: str) -> HttpResponse:
    """Import keys from a file, all or none."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = KeyImportForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            imported = qualification_keys.import_keys(
                benchmark=benchmark, file=form.cleaned_data["file"], use=form.cleaned_data["use"], by=request.user,
                at=timezone.now(),
            )  # fmt: skip
        except ImportRefused as refused:
            return _page(request, benchmark, import_form=form, refused=refused)
        except DomainError as refused:
            form.add_error("file", str(refused))
        else:
            text = _("Answer keys imported: %(new)d new, %(known)d updated.")
            messages.success(request, text % {"new": imported.new, "known": imported.known})
            if imported.in_batches:
                messages.warning(request, _in_batches(imported.in_batches))
            return redirect("annotation:qualification", slug)
    return _page(request, benchmark, import_form=form)


def _in_batches(number: int) -> str:
    text = ngettext(
        "%(n)d of these responses is also in an ordinary batch. Its decisions there count in results as before, and "
        "physicians who have a role in it do not get it for this use.",
        "%(n)d of these responses are also in ordinary batches. Their decisions there count in results as before, and "
        "physicians who have a role in them do not get them for this use.",
        number,
    )
    return text % {"n": number}


@require_safe
@signed_in
def keys_csv(request: SignedInRequest, slug: str, use: str) -> StreamingHttpResponse:
    """The active keys of one use as CSV, in the format that can be imported again."""
    benchmark = get_benchmark(request.user, slug)
    if use not in KeyedResponse.Use.values:
        raise Http404
    columns = qualification_keys.CSV_COLUMNS
    chunks = stream_csv(
        columns,
        qualification_keys.key_rows(benchmark, use),
        text_columns=("case", "candidate", "explanation", "setting"),
    )
    response = StreamingHttpResponse(chunks, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="keys-{use}-{benchmark.slug}.csv"'
    return response


@require_safe
@signed_in
def keys_example(request: SignedInRequest, slug: str) -> HttpResponse:
    """An example of the file of answer keys; it fits the examples of cases and responses."""
    get_benchmark(request.user, slug)
    response = HttpResponse(EXAMPLE.read_bytes(), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{EXAMPLE.name}"'
    return response


def _key(benchmark: Benchmark, public_id: str) -> KeyedResponse:
    rows = KeyedResponse.objects.filter(benchmark=benchmark)
    rows = rows.select_related("response__case", "response__candidate", "created_by")
    return get_object_or_404(rows, public_id=public_id)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def key(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One key, criterion by criterion; POST changes it."""
    if request.method != "POST":
        benchmark = get_benchmark(request.user, slug)
        return _key_page(request, benchmark, _key(benchmark, public_id))
    benchmark = get_administered_benchmark(request.user, slug)
    row = _key(benchmark, public_id)
    form = KeyForm(request.POST, criteria=sorted(row.decisions.values_list("criterion_id", flat=True)))
    if form.is_valid():
        try:
            qualification_keys.edit_key(keyed=row, decisions=form.decisions())
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, _("The answer key was saved. Earlier results do not change."))
            return redirect("annotation:key", slug, public_id)
    return _key_page(request, benchmark, row, form)


def _key_page(
    request: SignedInRequest, benchmark: Benchmark, row: KeyedResponse, form: KeyForm | None = None,
    refused: DomainError | None = None,
) -> HttpResponse:  # fmt: skip
    decisions = {each.criterion_id: each for each in row.decisions.all()}
    if form is None:
        initial: dict[str, str] = {}
        for criterion, each in decisions.items():
            initial |= {f"outcome-{criterion}": each.outcome, f"explanation-{criterion}": each.explanation}
        form = KeyForm(initial=initial, criteria=sorted(decisions))
    lines = reading_pages.criterion_lines(row.rubric_id, sorted(decisions), row.response.case.language)
    context = {
        "benchmark": benchmark,
        "key": row,
        "form": form,
        "lines": [
            {"line": line, "decision": decisions[line.id], "outcome": form[f"outcome-{line.id}"],
             "explanation": form[f"explanation-{line.id}"]}
            for line in lines
        ],
        "reading": reading_pages.reading_of(row.response.case, row.response.text),
        "given": qualification_keys.uses_of_keys(benchmark).get(row.pk, 0),
        "batches": qualification_keys.ordinary_batches_of([row.response_id]).get(row.response_id, 0),
        "other_use": next(pair for pair in KeyedResponse.Use.choices if pair[0] != row.use),
        "administers": is_admin(request.user, benchmark),
        "refused": refused,
    }  # fmt: skip
    status = refused.status_code if refused else (422 if form.errors else 200)
    return render(request, "annotation/qualification/keys_edit.html", context, status=status)


@require_POST
@signed_in
def key_active(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Withdraw a key, or activate it again."""
    benchmark = get_administered_benchmark(request.user, slug)
    row = _key(benchmark, public_id)
    try:
        qualification_keys.set_key_active(keyed=row, active=request.POST.get("active") == "1")
    except DomainError as refused:
        return _key_page(request, benchmark, row, refused=refused)
    return redirect("annotation:key", slug, public_id)


@require_POST
@signed_in
def key_use(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Use a key for the other purpose."""
    benchmark = get_administered_benchmark(request.user, slug)
    row = _key(benchmark, public_id)
    try:
        qualification_keys.set_key_use(keyed=row, use=request.POST.get("use", ""))
    except DomainError as refused:
        return _key_page(request, benchmark, row, refused=refused)
    return redirect("annotation:key", slug, public_id)


# The physician's side -------------------------------------------------------------------------------------------------


@require_POST
@signed_in
def start(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Begin the qualification of a group, or go on with it, on the grading page."""
    member = Membership.objects.filter(user=request.user, active=True, role=Membership.Role.ANNOTATOR)
    group = get_object_or_404(
        ExpertGroup.objects.select_related("benchmark").filter(pk__in=member.values("group")), public_id=public_id
    )
    try:
        attempt = start_attempt(user=request.user, group=group, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
        return redirect("annotation:work")
    first = Assignment.objects.filter(batch=attempt.batch_id, status__in=Assignment.OPEN).order_by("position").first()
    return redirect("annotation:grade", first.public_id) if first else redirect("annotation:work")


@require_safe
@never_cache
@signed_in
def feedback(request: SignedInRequest, public_id: str) -> HttpResponse:
    """A finished attempt of the reader: each decision beside the agreed decision and its explanation.

    While the physician may still try again on the same responses, only the numbers of differing decisions are shown.
    """
    rows = QualificationAttempt.objects.filter(user=request.user).exclude(status=QualificationAttempt.Status.OPEN)
    attempt = get_object_or_404(rows.select_related("group__benchmark", "batch"), public_id=public_id)
    eligibility = eligibility_of(request.user, attempt.group, at=timezone.now())
    shown = may_show_agreed_decisions(attempt, eligibility)
    if shown:
        record_shown(attempt, at=timezone.now())
    marked: dict[int, dict[int, Any]] = {}
    for each in marked_rows(attempt):
        marked.setdefault(each.response, {})[each.criterion] = each
    assignments = Assignment.objects.filter(batch=attempt.batch_id).select_related("case", "response")
    work = list(assignments.order_by("position").annotate(place=graded_place()))
    lines = _lines({row.rubric_id for row in work})
    responses = []
    differing = 0
    for row in work:
        rows_by_criterion = marked.get(row.response_id, {})
        marked_lines = [
            {"line": line, "row": rows_by_criterion[line.id]}
            for line in lines.get(row.rubric_id, [])
            if line.id in rows_by_criterion
        ]
        differ = sum(marked_row.counted and not marked_row.agrees for marked_row in rows_by_criterion.values())
        differing += differ
        responses.append(
            {
                "position": row.place,
                "reading": reading_pages.reading_of(row.case, ""),
                "text": row.response.text,
                "rows": marked_lines if shown else [],
                "differ": differ,
            }
        )
    context = {
        "benchmark": attempt.group.benchmark,
        "attempt": attempt,
        "responses": responses,
        "differing": differing,
        "shown": shown,
        "eligibility": eligibility,
    }
    return render(request, "annotation/qualification/feedback.html", context)


class _Line(NamedTuple):
    id: int
    number: int
    text: str


def _lines(rubrics: Collection[int]) -> dict[int, list[_Line]]:
    """Criteria of several rubrics in one query."""
    lines_by_rubric: dict[int, list[_Line]] = {}
    items = RubricItem.objects.filter(rubric__in=rubrics).order_by("rubric", "position")
    for rubric, criterion, position, text in items.values_list(
        "rubric_id", "criterion_id", "position", "criterion__text"
    ):
        lines_by_rubric.setdefault(rubric, []).append(_Line(criterion, position, text))
    return lines_by_rubric
