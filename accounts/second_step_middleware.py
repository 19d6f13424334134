"""Demands a second step of those who need one, on every page and address of the API but those of signing in."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from accounts import second_step
from accounts.middleware import Handler
from accounts.repeated_post import posted_fields
from accounts.services import second_factor
from consilium.core.htmx import View
from consilium.middleware import API, reads_json


def demand_second_step(get_response: Handler) -> Handler:
    """Lead people who need a second step and have none to the page that explains it; see `accounts.second_step`.

    Scripts get 401, on which a page opens a dialog and keeps what was typed. A form that was sent is kept on the page
    of the refusal, and is sent again from there. The API answers 403 with a code.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        return get_response(request)

    def process_view(request: HttpRequest, view: View, args: Any, kwargs: dict[str, Any]) -> HttpResponse | None:
        match, path, user = request.resolver_match, request.path_info, request.user
        if match is None or not user.is_authenticated or not second_step.may_be_demanded(match, path):
            return None
        demands = second_factor.demands_on(user)
        if match.view_name == second_step.HOME:
            now = [demand for demand in demands if not demand.slug]
            later = [demand for demand in demands if demand.slug]
        else:
            now, later = second_step.split(second_step.applying(demands, path=path, arguments=kwargs))
        if not (now or later) or second_step.is_exempt(request) or second_factor.has_factor(user):
            return None
        if not now:
            request.second_step_notice = later  # type: ignore[attr-defined]  # for the notice on the page
            return None
        if path.startswith(API):
            return JsonResponse(second_step.refusal(), status=403)
        if request.headers.get("HX-Request") or reads_json(request):
            return JsonResponse(second_step.refusal(), status=401)
        if request.method in ("GET", "HEAD"):
            query = urlencode({"next": request.get_full_path()})
            return redirect(f"{reverse('accounts:second-step')}?{query}")
        context = {"demands": now, "posted": posted_fields(request), "has_files": bool(request.FILES)}
        return render(request, "accounts/second_step/before_sending.html", context, status=403)

    middleware.process_view = process_view  # type: ignore[attr-defined]  # Django looks for it there
    return middleware
