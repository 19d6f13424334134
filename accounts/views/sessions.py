"""View of the reader's own sessions: which there are, and ending one or all others."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.own_sessions import idle_limit, own_sessions
from accounts.services.sessions import end_sessions
from consilium.core.htmx import SignedInRequest, signed_in


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def sessions(request: SignedInRequest) -> HttpResponse:
    """The sessions of the reader. POST ends the one that ``session`` names, or with ``others`` all but this one."""
    at = timezone.now()
    rows = own_sessions(request.user, current_key=request.session.session_key, at=at)
    if request.method == "POST":
        ended = [row for row in rows if not row.is_this]
        if "others" not in request.POST:
            ended = [row for row in ended if row.number == request.POST.get("session")]
            if not ended:
                raise Http404
        number = end_sessions(rows=[row.row for row in ended], user=request.user, at=at, request=request)
        text = ngettext("%(n)d session was ended.", "%(n)d sessions were ended.", number)
        messages.success(request, text % {"n": number})
        return redirect("accounts:sessions")
    limit = idle_limit()
    context = {"sessions": rows, "idle_hours": round(limit.total_seconds() / 3600, 1) if limit else None}
    return render(request, "accounts/own/sessions.html", context)
