"""Views of plans of studies of acuity: the list with its form, a plan as a file, and signing."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.confirming import confirmed, record_signature
from accounts.models import User
from agreement.models import AcuityPlan
from agreement.planning import services
from agreement.planning.acuity_plan import FILE, MAX_BYTES, read_plan
from agreement.planning.selectors import plans_of
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark


class AcuityPlanForm(forms.Form):
    """A plan as a file."""

    file = forms.FileField(
        label=gettext_lazy("Plan"),
        help_text=gettext_lazy("acuity_plan.json: levels, formats, measures, penalties, ambiguous, judge."),
    )


def get_plan(user: User, slug: str, number: int) -> AcuityPlan:
    """A plan of a benchmark that ``user`` runs, else 404."""
    return get_object_or_404(plans_of(get_benchmark(user, slug)), number=number)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def acuity_plans(request: SignedInRequest, slug: str) -> HttpResponse:
    """The plans of a benchmark; a POST imports one."""
    benchmark = get_benchmark(request.user, slug)
    form = AcuityPlanForm(request.POST or None, request.FILES or None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                plan, created = services.import_plan(
                    benchmark=benchmark,
                    plan=read_plan(form.cleaned_data["file"].read(MAX_BYTES + 1)),
                    by=request.user,
                    at=timezone.now(),
                )
            except DomainError as error:
                form.add_error("file", str(error))
                status = error.status_code
            else:
                text = _("Plan %(number)s has been imported.")
                if not created:
                    text = _("This plan has already been imported as plan %(number)s.")
                messages.success(request, text % {"number": plan.number})
                return redirect("agreement:acuity-plans", slug)
    return _page(request, slug, form, status)


def _page(request: SignedInRequest, slug: str, form: forms.Form, status: int = 200, refused: str = "") -> HttpResponse:
    benchmark = get_benchmark(request.user, slug)
    plans = list(plans_of(benchmark))
    context = {"benchmark": benchmark, "form": form, "plans": plans, "refused": refused}
    return render(request, "agreement/planning/acuity_plans.html", context, status=status)


@require_POST
@signed_in
@confirmed("acuity_plan")
def acuity_plan_sign(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """Sign a plan."""
    plan = get_plan(request.user, slug, number)
    at = timezone.now()
    try:
        with transaction.atomic():  # no signature without its line in the security log
            services.sign_plan(plan=plan, by=request.user, at=at)
            record_signature(request, kind="acuity_plan", scope=slug, target=number, at=at)
    except DomainError as error:
        return _page(request, slug, AcuityPlanForm(), error.status_code, str(error))
    messages.success(request, _("Plan %(number)s has been signed.") % {"number": plan.number})
    return redirect("agreement:acuity-plans", slug)


@require_safe
@signed_in
def acuity_plan_file(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """A plan as the file that an import takes."""
    plan = get_plan(request.user, slug, number)
    response = JsonResponse(plan.content, json_dumps_params={"ensure_ascii": False, "indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{FILE}"'
    return response
