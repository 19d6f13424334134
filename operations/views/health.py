"""What programs ask that watch the server: `healthz` and the metrics."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone, translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from consilium.views import healthz as web_answers
from operations.access import has_token, may_see_parts
from operations.checks import PARTS
from operations.checks.check import State
from operations.selectors import metrics
from operations.services import inspection


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Whether the web answers; with ``deep=1``, for those who may know, how each part of the server is.

    Others get the plain answer for ``deep=1`` as well.
    """
    if request.GET.get("deep") != "1" or not may_see_parts(request):
        return web_answers(request)
    at = timezone.now()
    with translation.override("en"):
        parts = inspection.inspect(checks=PARTS, at=at)
    state = inspection.state_of(parts)
    return JsonResponse(
        {
            "state": str(state),
            "at": at.isoformat(timespec="seconds"),
            "parts": {part.name: part.as_json() for part in parts},
        },
        status=503 if state is State.FAILED else 200,
    )


@require_safe
@never_cache
def prometheus(request: HttpRequest) -> HttpResponse:
    """Figures for Prometheus, in its text format; without the token there is no such page."""
    if not has_token(request, settings.METRICS_TOKEN):
        raise Http404
    with translation.override("en"):
        body = metrics.as_text(at=timezone.now())
    return HttpResponse(body, content_type=CONTENT_TYPE_LATEST)
