"""Views of acuity for staff: what is there, the import with its preview, scales and label schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.i18n import translate
from rubrics.access import get_benchmark, get_import
from rubrics.acuity.scales import FOUR, MIN_LEVELS, STARTERS, Scale
from rubrics.acuity.schemes import BY_LABELS
from rubrics.acuity.shown import ShownLevel, shown_levels, shown_mapping
from rubrics.acuity.stored import scale_of
from rubrics.models import AcuityScale, Benchmark, ImportJob, LabelScheme
from rubrics.services import create_import
from scoring.acuity import mapping, selectors, services
from scoring.acuity.forms import (
    MAX_RULES,
    AcuityImportForm,
    LevelForm,
    LevelRows,
    MapAgainForm,
    NameForm,
    Row,
    RuleForm,
    RuleRows,
    rows_of_scale,
    rows_of_scheme,
    sent_rows,
    starters_on,
)
from scoring.models import AcuityReading

N_IMPORTS = 20
IMPORTED = AcuityReading.Source.IMPORTED
IMPORT_PAGE, SCALE_FORM, SCHEME_FORM = (
    "scoring/acuity/import.html", "scoring/acuity/scale_form.html", "scoring/acuity/scheme_form.html",
)  # fmt: skip
EMPTY_LEVEL: Row = dict.fromkeys(LevelForm.FIELDS, "")
EMPTY_RULE: Row = dict.fromkeys(RuleForm.FIELDS, "")


@require_safe
@signed_in
def acuity(request: SignedInRequest, slug: str) -> HttpResponse:
    """Labels of cases, readings of candidates, and the files that they came from."""
    benchmark = get_benchmark(request.user, slug)
    labels = selectors.label_rows(benchmark)
    flow = selectors.flow_rows(labels)
    series = selectors.series_rows(benchmark)
    imports = selectors.imports(benchmark)
    context = {
        "benchmark": benchmark,
        "flow": flow,
        "labels": labels,
        "series": series,
        "scales_with_readings": selectors.scales_with_readings(benchmark) if series else [],
        "n_scales": len({row.scale.pk for row in series}),
        "imports": imports[:N_IMPORTS],
        "n_imports": imports.count(),
        "datasets": selectors.datasets(benchmark),
        "n_candidates": len({row.candidate.pk for row in series}),
        "n_readings": sum(row.readings for row in series),
        "n_usable": sum(row.usable for row in series),
        "n_unusable": sum(row.readings - row.usable for row in series if row.source == IMPORTED),
        "n_missing": sum(row.missing or 0 for row in series),
    }
    return render(request, "scoring/acuity/acuity.html", context)


def _plain(text: str) -> str:
    """A text of a request as the database can compare it."""
    return text.replace("\x00", "")


# Files ---------------------------------------------------------------------------------------------------------------


Rows = Callable[[Benchmark], Iterator[tuple[Any, ...]]]


def _csv(name: str, columns: tuple[str, ...], rows: Rows) -> Callable[..., HttpResponseBase]:
    """The view of a table of a benchmark as CSV."""

    @require_safe
    @signed_in
    def table(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
        return _file(f"{slug}-acuity-{name}.csv", columns, rows(get_benchmark(request.user, slug)))

    return table


def _file(name: str, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> StreamingHttpResponse:
    pieces = stream_csv(columns, rows, text_columns=selectors.TEXT_COLUMNS)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


flow_csv = _csv("flow", selectors.FLOW_COLUMNS, selectors.flow_csv)
labels_csv = _csv("labels", selectors.LABEL_COLUMNS, selectors.labels_csv)
source_labels_csv = _csv("source_labels", selectors.SOURCE_LABEL_COLUMNS, selectors.source_labels_csv)
series_csv = _csv("candidates", selectors.SERIES_COLUMNS, selectors.series_csv)
unusable_csv = _csv("unusable", selectors.UNUSABLE_COLUMNS, selectors.unusable_csv)
imports_csv = _csv("imports", selectors.IMPORT_COLUMNS, selectors.imports_csv)
levels_csv = _csv("scales", selectors.LEVEL_COLUMNS, selectors.levels_csv)
rules_csv = _csv("rules", selectors.RULE_COLUMNS, selectors.rules_csv)


@require_safe
@signed_in
def readings_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The readings on one scale, ``?scale=`` and ``&version=``; without them on that of the newest reading."""
    benchmark = get_benchmark(request.user, slug)
    scales = selectors.scales_with_readings(benchmark)
    name, version = request.GET.get("scale", ""), request.GET.get("version", "")
    if name:
        scales = [scale for scale in scales if scale.name == name and version in ("", str(scale.version))]
        if not scales:
            raise Http404
    rows = selectors.readings_csv(scales[0]) if scales else iter(())
    return _file(f"{slug}-acuity-readings.csv", selectors.READING_COLUMNS, rows)


# Import --------------------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_import(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose a file and how to read it; a POST makes the preview. ``?from=`` is a preview to begin with."""
    benchmark = get_benchmark(request.user, slug)
    earlier = _earlier(request, slug, "from")
    if request.method != "POST":
        initial = {**(earlier.options if earlier else {}), **request.GET.dict()}
        if initial.get("scheme") == BY_LABELS:
            initial["scheme"] = ""
        return _import_form(request, benchmark, AcuityImportForm(initial=initial, benchmark=benchmark, earlier=earlier))
    data = request.POST.copy()
    if "scheme_on_scale" in data:  # of the preview, which offers both as one
        data["scheme"], _space, data["scale"] = str(data["scheme_on_scale"]).partition(" ")
    form = AcuityImportForm(data, request.FILES, benchmark=benchmark, earlier=earlier)
    status = 422
    if form.is_valid():
        file, name = form.file_to_read()
        try:
            with file:
                job = create_import(
                    benchmark=benchmark,
                    kind=ImportJob.Kind.ACUITY,
                    file=file,
                    file_name=name,
                    options=form.options(),
                    by=request.user,
                )
        except DomainError as error:
            form.add_error(None, translate(error.args[0]))
            status = error.status_code
        else:
            return redirect("rubrics:import", slug, job.public_id)
    return _import_form(request, benchmark, form, status)


def _import_form(
    request: SignedInRequest, benchmark: Benchmark, form: AcuityImportForm, status: int = 200
) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "form": form,
        "earlier": form.earlier,
        "datasets": selectors.datasets(benchmark),
        "scales": [(name, shown_levels(scale)) for name, scale in selectors.scales_on_offer(benchmark).items()],
    }
    return render(request, IMPORT_PAGE, context, status=status)


def _earlier(request: SignedInRequest, slug: str, name: str) -> ImportJob | None:
    """The import about acuity that the address names; 404 where it names any other."""
    public_id = request.GET.get(name, "")
    if not public_id:
        return None
    job = get_import(request.user, slug, _plain(public_id))
    if job.kind != ImportJob.Kind.ACUITY:
        raise Http404
    return job


@require_POST
@signed_in
def confirm(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Import what a preview showed."""
    job = get_import(request.user, slug, public_id)
    try:
        job = services.confirm_preview(job=job, by=request.user)
    except DomainError as refused:
        messages.error(request, str(refused))
    return redirect("rubrics:import", slug, job.public_id)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def map_again(request: SignedInRequest, slug: str) -> HttpResponse:
    """Map stored labels by another scheme; ``?dataset=&scheme_on_scale=`` shows what a POST would write."""
    benchmark = get_benchmark(request.user, slug)
    sent = request.POST if request.method == "POST" else request.GET
    form = MapAgainForm(sent if "dataset" in sent else None, benchmark=benchmark)
    plan, status = None, 200
    if form.is_bound and form.is_valid():
        try:
            if request.method == "POST":
                seen = request.POST.get("seen", "")
                plan = mapping.map_again(
                    benchmark=benchmark, **form.terms(), by=request.user, at=timezone.now(), seen=seen
                )
                _say_mapped(request, plan)
                return redirect("scoring:acuity", slug)
            plan = mapping.plan_mapping(benchmark=benchmark, **form.terms())
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
    elif form.is_bound:
        status = 422
    context = {"benchmark": benchmark, "form": form, "plan": plan}
    return render(request, "scoring/acuity/map_again.html", context, status=status)


def _say_mapped(request: SignedInRequest, plan: mapping.MappingPlan) -> None:
    message = ngettext(
        "%(n)s label has been mapped with the scheme %(scheme)s.",
        "%(n)s labels have been mapped with the scheme %(scheme)s.",
        plan.n_labels,
    )
    messages.success(request, message % {"n": plan.n_labels, "scheme": plan.scheme_name})


# Scales and schemes --------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def scales(request: SignedInRequest, slug: str) -> HttpResponse:
    """The scales with their levels, and the schemes with their rules; a POST takes a starter scale, ``take``."""
    benchmark = get_benchmark(request.user, slug)
    if request.method == "POST":
        starter = STARTERS.get(request.POST.get("take", ""))
        if starter is None:
            raise Http404
        services.take_scale(benchmark=benchmark, name=starter.name, by=request.user, at=timezone.now())
        messages.success(request, _("The scale “%(scale)s” has been saved.") % {"scale": starter.name})
        return redirect("scoring:acuity-scales", slug)
    rows = list(selectors.scales(benchmark))
    newest = {scale.name: scale.pk for scale in reversed(rows)}
    context = {
        "benchmark": benchmark,
        "scales": [_shown_scale(scale, is_newest=newest[scale.name] == scale.pk) for scale in rows],
        "starters": [(scale.name, shown_levels(scale)) for scale in STARTERS.values() if scale.name not in newest],
    }
    return render(request, "scoring/acuity/scales.html", context)


def _shown_scale(row: AcuityScale, *, is_newest: bool) -> dict[str, Any]:
    scale = scale_of(row)
    return {
        "row": row,
        "is_newest": is_newest,
        "levels": shown_levels(scale),
        "schemes": [(scheme, _shown_rules(scheme, scale)) for scheme in row.schemes.all()],
    }


def _shown_rules(scheme: LabelScheme, scale: Scale) -> list[tuple[str, str]]:
    return [
        (rule.source_label, shown_mapping(scale, rule.low, rule.high) or str(rule.get_how_display()))
        for rule in scheme.rules.all()
    ]


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_scale(request: SignedInRequest, slug: str) -> HttpResponse:
    """A new scale, or a new version of one; ``?from=`` is the scale to begin with."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        start = selectors.scale_called(benchmark, _plain(request.GET.get("from", "")))
        own = start is not None and start.name not in STARTERS
        rows = rows_of_scale(start) if start else [dict(EMPTY_LEVEL) for _number in range(MIN_LEVELS)]
        form = NameForm(initial={"name": start.name if start and own else ""})
        return _scale_form(request, benchmark, form, LevelRows(rows, bound=False), rows)
    rows = sent_rows(request.POST, LevelForm.FIELDS, LevelRows([], bound=False).most)
    changed = _with_other_rows(request, rows, EMPTY_LEVEL, LevelRows([], bound=False).most)
    if changed or "preview" in request.POST:
        form = NameForm(initial={"name": request.POST.get("name", "")})
        return _scale_form(request, benchmark, form, LevelRows(rows, bound=False), rows)
    form, levels = NameForm(request.POST), LevelRows(rows, bound=True)
    status = 422
    if all([form.is_valid(), levels.is_valid()]):
        try:
            scale = services.save_scale(
                benchmark=benchmark,
                scale=levels.scale(form.cleaned_data["name"]),
                by=request.user,
                at=timezone.now(),
            )
        except ValueError as error:
            form.add_error(None, str(error))
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            messages.success(request, _("The scale “%(scale)s” has been saved.") % {"scale": scale})
            return redirect("scoring:acuity-scales", slug)
    return _scale_form(request, benchmark, form, levels, rows, status)


def _scale_form(
    request: SignedInRequest,
    benchmark: Benchmark,
    form: NameForm,
    levels: LevelRows,
    rows: list[Row],
    status: int = 200,
) -> HttpResponse:
    name = str(form["name"].value() or "")
    context = {
        "benchmark": benchmark,
        "form": form,
        "rows": levels,
        "names": selectors.scale_names(benchmark),
        "newest": selectors.newest_scale(benchmark, _plain(name)),
        "shown": [
            ShownLevel(at, letter, row["value"], row["label_en"] or row["value"], row["definition_en"])
            for at, (letter, row) in enumerate(zip("ABCDEF", rows, strict=False))
        ],
    }
    return render(request, SCALE_FORM, context, status=status)


def _with_other_rows(request: SignedInRequest, rows: list[Row], empty: Row, most: int) -> bool:
    """Whether the request adds or removes a row, which is then done; nothing is saved or validated yet."""
    removed = request.POST.get("remove", "")
    if removed.isdecimal() and int(removed) < len(rows):
        del rows[int(removed)]
    elif "add" in request.POST and len(rows) < most:
        rows.append(dict(empty))
    return "remove" in request.POST or "add" in request.POST


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_scheme(request: SignedInRequest, slug: str) -> HttpResponse:
    """A new scheme, or a new version of one. ``?preview=`` is a preview whose labels without a rule are to get one."""
    benchmark = get_benchmark(request.user, slug)
    preview = _earlier(request, slug, "preview")
    sent = request.POST if request.method == "POST" else request.GET
    given = {name: sent.get(name, preview.options.get(name, "") if preview else "") for name in ("scale", "scheme")}
    scale = selectors.scale_called(benchmark, _plain(given["scale"])) or FOUR
    if request.method != "POST":
        name, rows = _first_rules(benchmark, scale, request.GET.get("from", "") or given["scheme"], preview)
        form = NameForm(initial={"name": name})
        return _scheme_form(request, benchmark, form, RuleRows(rows, bound=False, scale=scale), preview)
    rows = sent_rows(request.POST, RuleForm.FIELDS, RuleRows([], bound=False, scale=scale).most)
    changed = _with_other_rows(request, rows, EMPTY_RULE, RuleRows([], bound=False, scale=scale).most)
    if changed or "rescale" in request.POST:
        form = NameForm(initial={"name": request.POST.get("name", "")})
        return _scheme_form(request, benchmark, form, RuleRows(rows, bound=False, scale=scale), preview)
    form, rules = NameForm(request.POST), RuleRows(rows, bound=True, scale=scale)
    status = 422
    if all([form.is_valid(), rules.is_valid()]):
        try:
            scheme = services.save_scheme(
                benchmark=benchmark,
                scheme=rules.scheme(form.cleaned_data["name"]),
                by=request.user,
                at=timezone.now(),
            )
        except ValueError as error:
            form.add_error(None, str(error))
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            messages.success(request, _("The label scheme “%(scheme)s” has been saved.") % {"scheme": scheme})
            if preview is None:
                return redirect("scoring:acuity-scales", slug)
            query = urlencode({"from": preview.public_id, "scale": scale.name, "scheme": scheme.name})
            return redirect(f"{reverse('scoring:acuity-import', args=[slug])}?{query}")
    return _scheme_form(request, benchmark, form, rules, preview, status)


def _first_rules(benchmark: Benchmark, scale: Scale, start: str, preview: ImportJob | None) -> tuple[str, list[Row]]:
    """Name and rows that the form begins with: labels without a rule first, then the rules of a scheme."""
    scheme = selectors.scheme_called(benchmark, scale.name, _plain(start))
    shown = preview.counts.get("previews", []) if preview else []
    labels = [row["label"] for row in shown[0]["labels"] if not row["how"]] if shown else []
    rows = [{"source_label": label, "becomes": ""} for label in labels]
    if scheme is not None:
        rows += rows_of_scheme(scheme)
    return scheme.name if scheme else "", rows[: MAX_RULES + 1] or [dict(EMPTY_RULE)]


def _scheme_form(
    request: SignedInRequest,
    benchmark: Benchmark,
    form: NameForm,
    rules: RuleRows,
    preview: ImportJob | None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "form": form,
        "rows": rules,
        "scale": rules.scale,
        "scale_names": selectors.scale_names(benchmark),
        "starters": starters_on(rules.scale, benchmark),
        "preview": preview,
        "levels": shown_levels(rules.scale),
    }
    return render(request, SCHEME_FORM, context, status=status)
