"""Pages that belong to no app."""

import sys

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views import defaults
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from consilium.core.api import not_found
from consilium.middleware import reads_json
from consilium.rule_endpoint import page_context
from consilium.time_limits import answer_to


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 for what no view has seen, such as a NUL in the address; as JSON for clients of the API."""
    if not reads_json(request):
        return defaults.bad_request(request, exception)
    return JsonResponse({"detail": _("The address or the headers of this request are not valid.")}, status=400)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404 for an address that there is not, or an object that is not there; as JSON for clients of the API."""
    if not request.path_info.startswith("/api/"):
        return defaults.page_not_found(request, exception)
    return JsonResponse({"detail": not_found()}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 where a time limit ended what a middleware did; as JSON for clients of the API."""
    # Django calls this while it handles the error, and does not pass it.
    response = answer_to(request, sys.exception())
    if response is not None:
        return response
    if not request.path_info.startswith("/api/"):
        return defaults.server_error(request)
    return JsonResponse({"detail": _("Something went wrong on the server. It has been logged.")}, status=500)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 where the database answers, for load balancers and for ``manage.py up``."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def rule_endpoint(request: HttpRequest) -> HttpResponse:
    """Say what the endpoint is that follows rules; for everybody, because it holds nothing of a benchmark."""
    return render(request, "rule_endpoint/page.html", page_context())
