"""The page of the keys of endpoints: which the server has, and which benchmarks may use them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest
from operations.access import operators_only
from operations.forms import GrantForm
from operations.selectors.keys import CSV_COLUMNS, CSV_TEXT, csv_rows, key_rows
from rubrics.views.benchmarks import csv_response
from scoring.keys.grants import grant_key, withdraw_key


@require_safe
@never_cache
@operators_only
def keys(request: SignedInRequest) -> HttpResponse:
    """The keys by name, with their hosts and the benchmarks that may use them."""
    return _page(request, GrantForm())


def _page(request: SignedInRequest, form: GrantForm) -> HttpResponse:
    context = {"keys": key_rows(), "form": form}
    return render(request, "operations/keys.html", context, status=422 if form.errors else 200)


@require_safe
@never_cache
@operators_only
def keys_csv(request: SignedInRequest) -> StreamingHttpResponse:
    """A row for each grant."""
    return csv_response("keys.csv", stream_csv(CSV_COLUMNS, csv_rows(), text_columns=CSV_TEXT))


@require_POST
@operators_only
def key_grant(request: SignedInRequest) -> HttpResponse:
    """Let a benchmark use a key. A form of a judge or a run asks by htmx, and stays open."""
    form = GrantForm(request.POST)
    if not form.is_valid():
        if request.htmx:
            return HttpResponse(status=422)
        return _page(request, form)
    name, benchmark = form.cleaned_data["name"], form.chosen
    grant_key(name=name, benchmark=benchmark, by=request.user, at=timezone.now(), request=request)
    if request.htmx:
        return render(request, "operations/_key_granted.html", {"name": name, "granted_to": benchmark})
    messages.success(request, _("The key %(name)s is granted.") % {"name": name})
    return redirect("operations:keys")


@require_POST
@operators_only
def key_withdraw(request: SignedInRequest) -> HttpResponse:
    """End a grant."""
    form = GrantForm(request.POST)
    if not form.is_valid():
        return _page(request, form)
    name = form.cleaned_data["name"]
    if withdraw_key(name=name, benchmark=form.chosen, by=request.user, at=timezone.now(), request=request):
        messages.success(request, _("The grant of the key %(name)s is withdrawn.") % {"name": name})
    return redirect("operations:keys")
