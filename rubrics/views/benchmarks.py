"""Views of benchmarks: the list, a new one, its overview, and its settings."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, BinaryIO, cast

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, OuterRef, Subquery
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.confirming import confirmed
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError, ImportRefused
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access, overview, services
from rubrics.editor.rules import AuthoringRules, rules_of
from rubrics.forms import MapsForm, NewBenchmarkForm, RulesForm, SecondStepForm, SettingsForm
from rubrics.models import Benchmark, BenchmarkRole, Candidate, Case, Response, RubricItem
from rubrics.parsing.maps import COLUMNS
from rubrics.selectors import second_step as second_step_selectors
from rubrics.services import second_step as second_step_services


@require_safe
@signed_in
def benchmarks(request: SignedInRequest) -> HttpResponse:
    """The benchmarks that the reader runs."""
    role = BenchmarkRole.objects.filter(benchmark=OuterRef("pk"), user=request.user.pk, active=True).values("role")
    rows = Benchmark.objects.run_by(request.user).annotate(case_count=Count("cases"), own_role=Subquery(role[:1]))
    return render(
        request,
        "rubrics/benchmarks/benchmarks.html",
        {"benchmarks": rows, "role_labels": dict(BenchmarkRole.Role.choices), "may_create": request.user.is_staff},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_benchmark(request: SignedInRequest) -> HttpResponse:
    """Make a benchmark; only for staff."""
    if not request.user.is_staff:
        raise Http404
    form = NewBenchmarkForm(request.POST if request.method == "POST" else None)
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            benchmark = services.create_benchmark(by=request.user, **form.cleaned_data)
        except DomainError as error:
            form.add_error("slug", str(error))
            status = error.status_code
        else:
            return redirect("rubrics:overview", benchmark.slug)
    elif form.errors:
        status = 422
    return render(request, "rubrics/benchmarks/new.html", {"form": form}, status=status)


@require_safe
@signed_in
def benchmark_overview(request: SignedInRequest, slug: str) -> HttpResponse:
    """What is in a benchmark, how far it is, and what comes next."""
    benchmark = access.get_benchmark(request.user, slug)
    items = RubricItem.objects.filter(
        rubric__case__benchmark=benchmark, rubric__status="published", rubric__track="gold"
    )
    cases = Case.objects.filter(benchmark=benchmark).count()
    counts = {
        "cases": cases,
        "without_text": Case.with_stubs.filter(benchmark=benchmark).count() - cases,
        "criteria": items.count(),
        "candidates": Candidate.objects.filter(benchmark=benchmark).count(),
        "responses": Response.objects.filter(case__benchmark=benchmark).count(),
    }
    is_admin = access.is_admin(request.user, benchmark)
    return render(
        request,
        "rubrics/benchmarks/overview.html",
        {
            "benchmark": benchmark,
            "counts": counts,
            "ways": overview.ways(benchmark, is_admin=is_admin),
            "is_admin": is_admin,
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def settings(request: SignedInRequest, slug: str) -> HttpResponse:
    """Title, description, guidelines and rule sheet; the maps have a form of their own."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    # A copy: a refused form must not show in the top bar as if it had been saved.
    copy = Benchmark.objects.get(pk=benchmark.pk)
    form = SettingsForm(request.POST if request.method == "POST" else None, instance=copy)
    if request.method == "POST" and form.is_valid():
        services.update_benchmark(benchmark=benchmark, **form.cleaned_data)
        messages.success(request, _("The settings were saved."))
        return redirect("rubrics:settings", slug)
    return _settings_page(request, benchmark, form, MapsForm(), 422 if form.errors else 200)


@require_POST
@signed_in
def rules(request: SignedInRequest, slug: str) -> HttpResponse:
    """What rubrics must keep to."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    form = RulesForm(request.POST)
    if form.is_valid():
        services.set_authoring_rules(benchmark=benchmark, rules=AuthoringRules(**form.cleaned_data))
        messages.success(request, _("The rules were saved."))
        return redirect("rubrics:settings", slug)
    return _settings_page(request, benchmark, SettingsForm(instance=benchmark), MapsForm(), 422, rules_form=form)


@require_POST
@signed_in
@confirmed("second_step")
def second_step(request: SignedInRequest, slug: str) -> HttpResponse:
    """Require a second step of everybody in the benchmark from a day on, or stop requiring it."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    change: dict[str, Any] = {"benchmark": benchmark, "by": request.user, "at": timezone.now(), "request": request}
    if request.POST.get("action") == "stop":
        second_step_services.stop_requiring_second_step(**change)
        messages.success(request, _("A second step is no longer required."))
        return redirect("rubrics:settings", slug)
    form = SecondStepForm(request.POST)
    if form.is_valid():
        try:
            second_step_services.require_second_step(since=form.cleaned_data["since"], **change)
        except DomainError as error:
            form.add_error("since", str(error))
        else:
            messages.success(request, _("The rule was saved. Everyone concerned sees it on their pages."))
            return redirect("rubrics:settings", slug)
    return _settings_page(request, benchmark, SettingsForm(instance=benchmark), MapsForm(), 422, step_form=form)


def _day(benchmark: Benchmark) -> date:
    """From which day a second step is required, or the day that is proposed."""
    if benchmark.second_step_from is not None:
        return timezone.localdate(benchmark.second_step_from)
    return timezone.localdate() + timedelta(days=second_step_services.USUAL_DAYS)


@require_POST
@signed_in
def maps(request: SignedInRequest, slug: str) -> HttpResponse:
    """Replace the maps by those of an uploaded CSV."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    form = MapsForm(request.POST, request.FILES)
    settings_form = SettingsForm(instance=Benchmark.objects.get(pk=benchmark.pk))
    if not form.is_valid():
        return _settings_page(request, benchmark, settings_form, form, 422)
    upload = cast(UploadedFile, form.cleaned_data["file"])
    try:
        changed = services.replace_maps(benchmark=benchmark, file=cast(BinaryIO, upload))
    except ImportRefused as refused:
        return _settings_page(request, benchmark, settings_form, form, refused.status_code, refused)
    text = _("The maps were replaced.")
    if changed:
        text += " " + ngettext(
            "%(n)d case now has another register.", "%(n)d cases now have another register.", changed
        ) % {"n": changed}
    messages.success(request, text)
    return redirect("rubrics:settings", slug)


def _settings_page(
    request: SignedInRequest,
    benchmark: Benchmark,
    form: SettingsForm,
    maps_form: MapsForm,
    status: int,
    refused: ImportRefused | None = None,
    rules_form: RulesForm | None = None,
    step_form: SecondStepForm | None = None,
) -> HttpResponse:
    without_step, people = second_step_selectors.people_without(benchmark)
    context = {
        "step_form": step_form or SecondStepForm(initial={"since": _day(benchmark)}),
        "step_applies": benchmark.second_step_from is not None and benchmark.second_step_from <= timezone.now(),
        "without_step": without_step,
        "people": people,
        "rules_form": rules_form or RulesForm(initial=rules_of(benchmark).as_json()),
        "benchmark": benchmark,
        "form": form,
        "maps_form": maps_form,
        "refused": refused,
        "maps": [(name, len(rows)) for name, rows in benchmark.maps.items() if rows],
    }
    return render(request, "rubrics/benchmarks/settings.html", context, status=status)


@require_safe
@signed_in
def maps_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The maps as they stand, in the columns of the upload."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    rows = [
        (name, source, target) for name, pairs in benchmark.maps.items() for source, target in sorted(pairs.items())
    ]
    return csv_response(f"{slug}-maps.csv", stream_csv(COLUMNS, rows, text_columns=COLUMNS))


def csv_response(name: str, pieces: object) -> StreamingHttpResponse:
    """A file that the browser saves, sent in pieces."""
    response = StreamingHttpResponse(cast("list[str]", pieces), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
