"""Pages that belong to no app."""

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from consilium.rule_endpoint import page_context


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
