"""Views of authors and auditors of a benchmark, for its admins."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.services import invitations, person_of
from accounts.views.invitation_link import after_inviting
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access, services
from rubrics.forms import AuthoringRoleForm
from rubrics.models import AuthoringRole


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def authors(request: SignedInRequest, slug: str) -> HttpResponse:
    """Authors and senior auditors of the benchmark; POST adds one."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    form = AuthoringRoleForm(request.POST if request.method == "POST" else None)
    status = 422 if form.errors else 200
    if request.method == "POST" and form.is_valid():
        data, at = form.cleaned_data, timezone.now()
        writes = data["role"] == AuthoringRole.Role.AUTHOR
        try:
            with transaction.atomic():
                person = person_of(email=data["email"], name=data["name"])
                services.give_authoring_role(benchmark=benchmark, user=person, role=data["role"], at=at)
                invitation = invitations.invite(
                    user=person,
                    scope=slug,
                    title=benchmark.title,
                    part=data["role"],
                    by=request.user,
                    at=at,
                    url=reverse("rubrics:write", args=[slug]) if writes else reverse("accounts:home"),
                )
        except DomainError as refused:
            form.add_error("email", str(refused))
            status = refused.status_code
        else:
            message = _("%(person)s can now write cases and rubrics.") if writes else _("%(person)s can now audit.")
            messages.success(request, message % {"person": person})
            back = reverse("rubrics:authors", args=[slug])
            return after_inviting(request, issued=invitation, benchmark=benchmark, back=back)
    held = benchmark.authoring_roles.filter(active=True).select_related("user")
    rows = list(held.order_by("role", "user__name", "pk"))
    states = invitations.states_of(scope=slug, users=[row.user for row in rows], at=timezone.now())
    context = {"benchmark": benchmark, "form": form, "rows": [(row, states[row.user_id]) for row in rows]}
    return render(request, "rubrics/people/authors.html", context, status=status)


@require_POST
@signed_in
def withdraw(request: SignedInRequest, slug: str, role: int) -> HttpResponse:
    """Withdraw somebody's role; what they wrote stays."""
    row = access.get_authoring_role(request.user, slug, role)
    services.withdraw_authoring_role(role=row, at=timezone.now())
    if row.role == AuthoringRole.Role.AUTHOR:
        message = _("%(person)s no longer writes for this benchmark. Their work is kept.")
    else:
        message = _("%(person)s no longer audits this benchmark. Their findings are kept.")
    messages.success(request, message % {"person": row.user})
    return redirect("rubrics:authors", slug)
