"""Pages of the cohort: the form of applicants, and for admins the call, applications, licences and rotation plans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from allauth.core import ratelimit
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.countries import country_choices
from accounts.models import User
from accounts.notices import PARTS
from accounts.views.invitation_link import after_inviting
from annotation.cohort import access, services
from annotation.cohort.forms import (
    AdmitForm,
    ApplicationForm,
    ApplicationsFileForm,
    CallForm,
    LicenceForm,
    ReasonForm,
    RotationForm,
)
from annotation.cohort.reading import COLUMNS as FILE_COLUMNS
from annotation.cohort.reading import read_applications
from annotation.cohort.rotation import Round, turns_of
from annotation.cohort.states import (
    REASON_LABELS,
    STEP_LABELS,
    ApplicationState,
    count_steps,
    flow,
    is_admissible,
    licences,
    state_of,
    states_of,
    steps_of,
)
from annotation.dashboard.views import csv_file
from annotation.models import Application, ApplicationCall, RotationPlan
from consilium.core.errors import DomainError, ImportRefused
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.languages import language_name
from consilium.core.versioning import StaleSave
from rubrics.access import get_administered_benchmark
from rubrics.models import Benchmark
from rubrics.parsing.faults import Faults

PER_PAGE = 50
CSV_COLUMNS = (
    *(*FILE_COLUMNS, "state", "unmet", "same_address", "erased_at"),
    *("licence_checked_by", "licence_checked_at", "licence_register"),
)
CSV_TEXT = tuple(name for name in CSV_COLUMNS if name not in ("years_in_practice", "submitted_at", "same_address"))
REVIEW_COLUMNS = ("email", "name", "step", "result", "reason", "register", "by", "at")
LICENCE_COLUMNS = ("name", "email", "country", "number", "result", "register", "checked_by", "checked_at", "note")
FILTERS = ("open", "out", "admitted")


# The applicants' side -------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def apply(request: HttpRequest, token: str) -> HttpResponse:
    """The form behind the address of a call, for anybody who has it; an unknown or closed call is not there."""
    limited = ratelimit.consume_or_429(request, action="apply") if request.method == "POST" else None
    if limited is not None:
        return limited
    call = access.get_open_call(token)
    form = ApplicationForm(request.POST if request.method == "POST" else None, call=call)
    if request.method == "POST" and form.is_valid():
        try:
            services.submit_application(call=call, fields=form.application(), at=timezone.now())
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("annotation:applied", token)
    context = {"call": call, "form": form}
    return render(request, "annotation/cohort/apply.html", context, status=422 if form.errors else 200)


@require_safe
def applied(request: HttpRequest, token: str) -> HttpResponse:
    """That the application has arrived."""
    call = access.get_call(token)
    return render(request, "annotation/cohort/applied.html", {"call": call})


# The admins' side -----------------------------------------------------------------------------------------------------


@require_safe
@signed_in
def cohort(request: SignedInRequest, slug: str) -> HttpResponse:
    """The flow of applications, and their list."""
    return _cohort_page(request, get_administered_benchmark(request.user, slug))


def _cohort_page(
    request: SignedInRequest,
    benchmark: Benchmark,
    *,
    file_form: ApplicationsFileForm | None = None,
    refused: ImportRefused | None = None,
) -> HttpResponse:
    call = services.call_of(benchmark)
    states = states_of(benchmark, call)
    chosen = request.GET.get("state", "")
    words = request.GET.get("q", "").strip()
    shown = [state for state in states if _matches(state, chosen, words)]
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "call": call,
        "address": _address(request, call),
        "flow": [
            (STEP_LABELS[row.step], row, [(REASON_LABELS[name], n) for name, n in row.reasons.items()])
            for row in count_steps(states, steps_of(benchmark, call))
        ],
        "page_obj": Paginator(shown, PER_PAGE).get_page(request.GET.get("page")),
        "number": len(states),
        "state": chosen if chosen in FILTERS else "",
        "words": words,
        "file_form": file_form or ApplicationsFileForm(),
        "refused": refused,
        "columns": ", ".join(FILE_COLUMNS),
    }
    failed = refused or (file_form and file_form.errors)
    return render(request, "annotation/cohort/cohort.html", context, status=422 if failed else 200)


def _address(request: HttpRequest, call: ApplicationCall) -> str:
    return request.build_absolute_uri(reverse("annotation:apply", args=[call.token])) if call.pk else ""


def _matches(state: ApplicationState, chosen: str, words: str) -> bool:
    if chosen == "open" and (state.out or state.application.user_id):
        return False
    if chosen == "out" and not state.out:
        return False
    if chosen == "admitted" and not state.application.user_id:
        return False
    text = f"{state.application.name} {state.application.email} {state.application.specialty}".casefold()
    return all(word in text for word in words.casefold().split())


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def call(request: SignedInRequest, slug: str) -> HttpResponse:
    """The call and its rules; POST stores them, or with ``renew`` gives the call another address."""
    benchmark = get_administered_benchmark(request.user, slug)
    if request.method == "POST" and "renew" in request.POST:
        services.renew_address(benchmark=benchmark)
        messages.success(request, _("The call has a new address. The previous address no longer works."))
        return redirect("annotation:cohort-call", slug)
    stored = services.call_of(benchmark)
    context: dict[str, Any] = {"benchmark": benchmark, "call": stored, "address": _address(request, stored)}
    if request.method != "POST":
        context |= {"form": CallForm.of(stored), "seen": services.digest_of_call(stored)}
        return render(request, "annotation/cohort/call.html", context)
    form, seen = CallForm(request.POST), request.POST.get("seen", "")
    context |= {"form": form, "seen": seen}
    if not form.is_valid():
        return render(request, "annotation/cohort/call.html", context, status=422)
    try:
        services.set_call(benchmark=benchmark, values=form.cleaned_data, seen=seen)
    except StaleSave as stale:
        # What was typed stays in the form, and is saved if it is sent again.
        context |= {"seen": services.digest_of_call(stale.current), "stale": stale}
        context["stored"] = form.shown_values(services.changed_fields(stale.current, form.cleaned_data), stale.current)
        return render(request, "annotation/cohort/call.html", context, status=stale.status_code)
    messages.success(request, _("The call is saved. Applications keep what the rules of their day said of them."))
    return redirect("annotation:cohort-call", slug)


@require_POST
@signed_in
def import_file(request: SignedInRequest, slug: str) -> HttpResponse:
    """Store the applications of a file, all or none."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = ApplicationsFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _cohort_page(request, benchmark, file_form=form)
    faults = Faults()
    rows = read_applications(form.cleaned_data["file"], faults)
    try:
        faults.refuse_if_any()
    except ImportRefused as refused:
        return _cohort_page(request, benchmark, refused=refused)
    new, known = services.import_applications(benchmark=benchmark, rows=rows, at=timezone.now())
    text = ngettext("%(n)s application was imported.", "%(n)s applications were imported.", new) % {"n": new}
    if known:
        rest = ngettext("%(n)s was on record already.", "%(n)s were on record already.", known) % {"n": known}
        text = f"{text} {rest}"
    messages.success(request, text)
    return redirect("annotation:cohort", slug)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def application(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One application with its reviews; POST takes the next step: ``overrule``, ``licence``, ``admit``, ``decline``."""
    row = access.get_application(request.user, slug, public_id)
    step = request.POST.get("step", "") if request.method == "POST" else ""
    forms: dict[str, Any] = {
        "overrule": ReasonForm(request.POST if step == "overrule" else None, prefix="overrule"),
        "licence": LicenceForm(request.POST if step == "licence" else None, prefix="licence"),
        "admit": AdmitForm(
            request.POST if step == "admit" else None, prefix="admit", groups=row.benchmark.groups.all()
        ),
        "decline": ReasonForm(request.POST if step == "decline" else None, prefix="decline"),
    }
    if request.method == "POST":
        if step not in forms:
            raise Http404
        if forms[step].is_valid():
            try:
                return _take_step(request, row, step, forms[step])
            except DomainError as refused:
                forms[step].add_error(None, str(refused))
    return _application_page(request, row, forms, status=422 if step else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def erase(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """What erasing an application removes and keeps; POST erases it."""
    row = access.get_application(request.user, slug, public_id)
    refused = services.why_not_erasable(row)
    if request.method == "POST":
        try:
            others = services.erase_application(application=row, by=request.user, at=timezone.now())
        except DomainError as error:
            refused = str(error)
        else:
            return _after_erasing(request, row, others)
    context = {"benchmark": row.benchmark, "application": row, "refused": refused, "review": state_of(row)}
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/cohort/erase.html", context, status=status)


def _after_erasing(request: SignedInRequest, row: Application, others: list[str]) -> HttpResponse:
    """The page of the application, or of the newest other one with its address, which names the rest."""
    text = _("The personal data of the application was erased.")
    if others:
        rest = ngettext(
            "%(n)s other application had the same address, and was not erased: this one.",
            "%(n)s other applications had the same address, and were not erased: this one is the newest of them.",
            len(others),
        )
        text = f"{text} {rest % {'n': len(others)}}"
    messages.success(request, text)
    return redirect("annotation:cohort-application", row.benchmark.slug, others[0] if others else row.public_id)


def _take_step(request: SignedInRequest, row: Application, step: str, form: Any) -> HttpResponse:
    by, at = request.user, timezone.now()
    back = reverse("annotation:cohort-application", args=[row.benchmark.slug, row.public_id])
    if step == "overrule":
        eligible = request.POST.get("eligible") == "1"
        services.overrule_eligibility(
            application=row, eligible=eligible, reason=form.cleaned_data["reason"], by=by, at=at
        )
        messages.success(request, _("The application is eligible.") if eligible else _("It is no longer eligible."))
    elif step == "licence":
        services.check_licence_of_application(application=row, by=by, at=at, **form.result())
        messages.success(request, _("The check of the licence is on record."))
    elif step == "decline":
        services.decline(application=row, reason=form.cleaned_data["reason"], by=by, at=at)
        messages.success(request, _("The application is declined. The applicant is not notified."))
    else:
        group, role = form.cleaned_data["group"], form.cleaned_data["role"]
        _membership, issued = services.admit(application=row, group=group, role=role, by=by, at=at)
        messages.success(request, _("%(name)s is a member of “%(group)s”.") % {"name": row.name, "group": group.name})
        return after_inviting(request, issued=issued, benchmark=row.benchmark, back=back)
    return redirect(back)


def _application_page(
    request: SignedInRequest, row: Application, forms: dict[str, Any], *, status: int
) -> HttpResponse:
    state = state_of(row)
    stored = services.call_of(row.benchmark)
    licence = pgettext("of a physician", "Licence")
    history = sorted(
        [
            *((review.at, review.get_step_display(), review.passed, review.reviewer, review.reason, "")
              for review in state.reviews),
            *((check.checked_at, licence, check.confirmed, check.checked_by, check.note, check.register)
              for check in state.checks),
        ],
        key=lambda line: line[0],
    )  # fmt: skip
    context = {
        "benchmark": row.benchmark,
        "application": row,
        "review": state,
        "forms": forms,
        "history": history,
        "unmet": [REASON_LABELS[code] for code in row.unmet],
        "country": dict(country_choices()).get(row.licence_country, "") if row.licence_country else "",
        "languages": [language_name(tag) for tag in row.languages],
        "obstacle": is_admissible(state, stored),
        "licence_required": stored.licence_required,
        "has_groups": row.benchmark.groups.exists(),
    }
    return render(request, "annotation/cohort/application.html", context, status=status)


@require_safe
@signed_in
def applications_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """All applications with their fields, the rules that were not met, and the state; for admins alone."""
    benchmark = get_administered_benchmark(request.user, slug)
    states = states_of(benchmark, services.call_of(benchmark))
    return csv_file(f"{slug}-applications", CSV_COLUMNS, _application_rows(states), CSV_TEXT)


def _name_in_file(row: Application) -> str:
    """Files have the same words in every language."""
    return row.name if row.erased_at is None else "Erased"


def _application_rows(states: list[ApplicationState]) -> Iterator[tuple[object, ...]]:
    for state in states:
        row, check = state.application, state.checks[-1] if state.checks else None
        stated = (
            row.email,
            _name_in_file(row),
            row.specialty,
            "; ".join(row.languages),
            row.licence_country,
            row.licence_number,
        )
        yield (
            *stated,
            row.years_in_practice,
            row.seniority,
            row.statement,
            row.submitted_at.isoformat(timespec="seconds"),
            f"out: {', '.join(state.reasons)}" if state.out else str(state.reached),
            ", ".join(row.unmet),
            state.same_address_count,
            row.erased_at.isoformat(timespec="seconds") if row.erased_at else "",
            str(check.checked_by) if check else "",
            check.checked_at.isoformat(timespec="seconds") if check else "",
            check.register if check else "",
        )


@require_safe
@signed_in
def reviews_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The record of reviews: every step of every application, and every check of a licence."""
    benchmark = get_administered_benchmark(request.user, slug)
    states = states_of(benchmark, services.call_of(benchmark))
    return csv_file(f"{slug}-reviews", REVIEW_COLUMNS, _review_rows(states), REVIEW_COLUMNS[:-1])


def _review_rows(states: list[ApplicationState]) -> Iterator[tuple[object, ...]]:
    for state in states:
        who = (state.application.email, _name_in_file(state.application))
        lines = [
            (review.at, (str(review.step), "passed" if review.passed else "failed", review.reason, "", review.reviewer))
            for review in state.reviews
        ]
        lines += [
            (
                check.checked_at,
                ("licence", "passed" if check.confirmed else "failed", check.note, check.register, check.checked_by),
            )
            for check in state.checks
        ]
        for at, (*words, by) in sorted(lines, key=lambda line: line[0]):
            yield (*who, *words, str(by), at.isoformat(timespec="seconds"))


@require_safe
@signed_in
def flow_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The flow: a row for each step, and below it one for each reason."""
    benchmark = get_administered_benchmark(request.user, slug)
    columns = ("step", "reason", "reached", "out", "waiting")
    return csv_file(f"{slug}-flow", columns, flow_rows(benchmark), ("step", "reason"))


def flow_rows(benchmark: Benchmark) -> Iterator[tuple[object, ...]]:
    """The rows of the file: ``reason`` is empty in the row of a step."""
    for row in flow(benchmark):
        yield (str(row.step), "", row.reached, row.out, row.waiting)
        for reason, number in row.reasons.items():
            yield (str(row.step), reason, None, number, None)


# Licences -------------------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def licences_page(request: SignedInRequest, slug: str) -> HttpResponse:
    """The licences of all members; POST records a check of one."""
    benchmark = get_administered_benchmark(request.user, slug)
    rows = licences(benchmark)
    person = next((row for row in rows if str(row.user.pk) == request.POST.get("person", "")), None)
    form = LicenceForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if person is None:
            raise Http404
        if form.is_valid():
            try:
                services.check_licence_of_member(
                    benchmark=benchmark,
                    user=person.user,
                    country=request.POST.get("country", ""),
                    number=request.POST.get("number", ""),
                    by=request.user,
                    at=timezone.now(),
                    **form.result(),
                )
            except DomainError as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, _("The check of the licence is on record."))
                return redirect(request.get_full_path())
    pages = Paginator(rows, PER_PAGE)
    # A form that was refused is on the page of its person, wherever they are by now.
    page = pages.get_page(request.GET.get("page") if person is None else rows.index(person) // PER_PAGE + 1)
    countries = dict(country_choices())
    context = {
        "benchmark": benchmark,
        "page_obj": page,
        "rows": [
            (
                row,
                countries.get(row.country, row.country),
                form if row is person else LicenceForm(auto_id=f"id_{row.user.pk}_%s"),
            )
            for row in page
        ],
        "chosen": person,
        "number": len(rows),
        "confirmed": sum(row.check is not None and row.check.confirmed for row in rows),
    }
    return render(request, "annotation/cohort/licences.html", context, status=422 if form.errors else 200)


@require_safe
@signed_in
def licences_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The licences of all members with who checked them; for admins alone."""
    benchmark = get_administered_benchmark(request.user, slug)
    text = tuple(name for name in LICENCE_COLUMNS if name != "checked_at")
    return csv_file(f"{slug}-licences", LICENCE_COLUMNS, _licence_rows(benchmark), text)


def _licence_rows(benchmark: Benchmark) -> Iterator[tuple[object, ...]]:
    for row in licences(benchmark):
        check = row.check
        result = "" if check is None else "confirmed" if check.confirmed else "not confirmed"
        yield (
            *(row.user.name, row.user.email, row.country, row.number, result),
            check.register if check else "",
            str(check.checked_by) if check else "",
            check.checked_at.isoformat(timespec="seconds") if check else None,
            check.note if check else "",
        )


# Rotation -------------------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def rotation(request: SignedInRequest, slug: str) -> HttpResponse:
    """The newest rotation plan, the ones before it, and the form for the next."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = RotationForm(request.POST if request.method == "POST" else None, groups=benchmark.groups.all())
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            plan = services.draw_up_rotation(
                benchmark=benchmark,
                title=values["title"],
                group=values["group"],
                parts=form.parts(),
                rounds=values["rounds"],
                seed=values["seed"],
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as refused:
            form.add_error("annotator", str(refused))
        else:
            messages.success(request, _("Plan %(number)s is drawn up.") % {"number": plan.number})
            return redirect("annotation:cohort-rotation", slug)
    plans = list(RotationPlan.objects.filter(benchmark=benchmark).select_related("created_by"))
    chosen = request.GET.get("plan", "")
    shown = next((each for each in plans if each.public_id == chosen), plans[0] if plans else None)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "form": form,
        "plans": plans,
        "plan": shown,
        "has_groups": benchmark.groups.exists(),
    }
    if shown is not None:
        names = _names_of(shown)
        rounds = rounds_of(shown)
        parts = list(shown.parameters["parts"])
        turns = turns_of(rounds)
        context |= {
            "parts": [PARTS[part] for part in parts],
            "rounds": [[[names[pk] for pk in each.parts[part]] for part in parts] for each in rounds],
            "turns": sorted((names[pk], [counts.get(part, 0) for part in parts]) for pk, counts in turns.items()),
        }
    return render(request, "annotation/cohort/rotation.html", context, status=422 if form.errors else 200)


def rounds_of(plan: RotationPlan) -> list[Round]:
    """The rounds of a stored plan, with the ids of members."""
    return [Round(each["parts"], each["free"]) for each in plan.rounds]


def _names_of(plan: RotationPlan) -> dict[str, str]:
    ids = {pk for each in rounds_of(plan) for people in (*each.parts.values(), each.free) for pk in people}
    return {str(user.pk): str(user) for user in User.objects.filter(pk__in=ids)}


@require_safe
@signed_in
def rotation_csv(request: SignedInRequest, slug: str, public_id: str) -> HttpResponseBase:
    """A plan as CSV: a row for each round, part and person."""
    plan = access.get_rotation_plan(request.user, slug, public_id)
    return csv_file(f"{slug}-rotation-{plan.number}", ("round", "part", "name"), _rotation_rows(plan), ("part", "name"))


def _rotation_rows(plan: RotationPlan) -> Iterator[tuple[object, ...]]:
    names = _names_of(plan)
    for number, each in enumerate(rounds_of(plan), 1):
        for part, people in each.parts.items():
            for name in sorted(names[pk] for pk in people):
                yield (number, part, name)
