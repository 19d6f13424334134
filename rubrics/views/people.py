"""Views of a benchmark's staff, for its admins."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.confirming import confirmed
from accounts.services import invitations
from accounts.views.invitation_link import after_inviting
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access, services
from rubrics.forms import RoleForm
from rubrics.models import BenchmarkRole


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@confirmed("admin", when=lambda request: request.POST.get("role") == BenchmarkRole.Role.ADMIN)
def people(request: SignedInRequest, slug: str) -> HttpResponse:
    """Admins and researchers of the benchmark; POST lets somebody in, or changes what they are."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    form = RoleForm(request.POST if request.method == "POST" else None)
    status = 422 if form.errors else 200
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            row, invitation = services.invite_to_run(
                benchmark=benchmark,
                email=data["email"],
                name=data["name"],
                role=data["role"],
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as refused:
            form.add_error("email", str(refused))
            status = refused.status_code
        else:
            values = {"person": row.user, "part": row.get_role_display()}
            messages.success(request, _("%(person)s: %(part)s.") % values)
            back = reverse("rubrics:people", args=[slug])
            return after_inviting(request, issued=invitation, benchmark=benchmark, back=back)
    rows = list(benchmark.roles.filter(active=True).select_related("user").order_by("role", "user__name", "pk"))
    states = invitations.states_of(scope=slug, users=[row.user for row in rows], at=timezone.now())
    context = {"benchmark": benchmark, "form": form, "rows": [(row, states[row.user_id]) for row in rows]}
    return render(request, "rubrics/people/people.html", context, status=status)


@require_POST
@signed_in
def withdraw(request: SignedInRequest, slug: str, role: int) -> HttpResponse:
    """Withdraw somebody's role in the benchmark."""
    row = access.get_administered_role(request.user, slug, role)
    try:
        services.withdraw_role(role=row, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("%(person)s no longer runs this benchmark.") % {"person": row.user})
        if row.user == request.user:
            return redirect("accounts:home")
    return redirect("rubrics:people", slug)
