"""The page that says how the server is."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from consilium.core.heartbeat import WorkerHeartbeat
from consilium.core.htmx import SignedInRequest
from operations.access import operators_only


@require_safe
@never_cache
@operators_only
def status(request: SignedInRequest) -> HttpResponse:
    """The workers that were seen, and when."""
    return render(request, "operations/status.html", {"workers": WorkerHeartbeat.objects.order_by("host", "pid")})
