"""The pages of accounts: who can sign in, and what operators change about it."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.confirming import confirmed
from accounts.models import User
from accounts.services.rights import set_rights
from annotation.dashboard.views import csv_file
from annotation.people.deactivation import activate_account, deactivate_account
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest
from operations.access import get_account, operators_only
from operations.forms import AccountFilters, ReasonForm, RightsForm
from operations.selectors import accounts as account_selectors

PER_PAGE = 50


@require_safe
@never_cache
@operators_only
def accounts(request: SignedInRequest) -> HttpResponse:
    """The list of accounts, narrowed by a part of the name or the address, and by state."""
    filters = AccountFilters(request.GET)
    chosen = filters.cleaned_data if filters.is_valid() else {}
    page = Paginator(account_selectors.accounts(**chosen), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": filters,
        "page_obj": page,
        "rows": account_selectors.rows_of(page.object_list),
        "is_filtered": any(chosen.values()) or bool(filters.errors),
        "filters": request.GET.urlencode(),
    }
    return render(request, "operations/accounts/accounts.html", context, status=422 if filters.errors else 200)


@require_safe
@operators_only
def accounts_csv(request: SignedInRequest) -> HttpResponse | StreamingHttpResponse:
    """The same list as CSV, all pages of it."""
    filters = AccountFilters(request.GET)
    if not filters.is_valid():
        return HttpResponse(status=422)
    rows = account_selectors.rows_of(account_selectors.accounts(**filters.cleaned_data))
    columns, words = account_selectors.COLUMNS, account_selectors.TEXT_COLUMNS
    return csv_file("accounts", columns, account_selectors.csv_rows(rows), words)


@require_http_methods(["GET", "HEAD"])
@never_cache
@operators_only
def account(request: SignedInRequest, username: str) -> HttpResponse:
    """One account: how it stands, its rights, and how to deactivate or activate it."""
    return _page(request, get_account(request.user, username=username))


@require_POST
@operators_only
@confirmed("account")
def rights(request: SignedInRequest, username: str) -> HttpResponse:
    """Change what the account may do on the server."""
    person = get_account(request.user, username=username)
    form = RightsForm(request.POST)
    if form.is_valid():
        try:
            set_rights(person=person, **form.cleaned_data, by=request.user, at=timezone.now(), request=request)
        except DomainError as refused:
            form.add_error("operator", str(refused))
    if form.errors:
        return _page(request, person, rights_form=form, status=422)
    messages.success(request, _("The rights of %(person)s were saved.") % {"person": person})
    if person.pk == request.user.pk and not form.cleaned_data["operator"]:
        return redirect("accounts:home")  # this page does not exist for them any more
    return redirect("operations:account", username)


@require_POST
@operators_only
@confirmed("account")
def deactivate(request: SignedInRequest, username: str) -> HttpResponse:
    """Deactivate the account; the reason is kept in the security log."""
    person = get_account(request.user, username=username)
    form = ReasonForm(request.POST)
    kept = 0
    if form.is_valid():
        try:
            kept = deactivate_account(
                person=person,
                reason=form.cleaned_data["reason"],
                by=request.user,
                at=timezone.now(),
                request=request,
            )
        except DomainError as refused:
            form.add_error(None, str(refused))
    if form.errors:
        return _page(request, person, reason_form=form, status=422)
    messages.success(request, _("%(person)s can no longer sign in.") % {"person": person})
    if kept:
        messages.warning(request, only_admin(kept))
    return redirect("operations:account", username)


@require_POST
@operators_only
@confirmed("account")
def activate(request: SignedInRequest, username: str) -> HttpResponse:
    """Activate the account again."""
    person = get_account(request.user, username=username)
    try:
        activate_account(person=person, by=request.user, at=timezone.now(), request=request)
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        text = _("The account of %(person)s is active again.") % {"person": person}
        more = _("Its roles are still stopped; the admins of each benchmark can give them again.")
        messages.success(request, f"{text} {more}")
    return redirect("operations:account", username)


def only_admin(number: int) -> str:
    """That so many benchmarks have no admin who can sign in."""
    return ngettext(
        "%(n)d benchmark has no other admin, so that role was not stopped.",
        "%(n)d benchmarks have no other admin, so these roles were not stopped.",
        number,
    ) % {"n": number}


def _page(
    request: SignedInRequest,
    person: User,
    *,
    rights_form: RightsForm | None = None,
    reason_form: ReasonForm | None = None,
    status: int = 200,
) -> HttpResponse:
    [row] = account_selectors.rows_of([person])
    rights_now = {"creates_benchmarks": person.is_staff, "operator": person.is_superuser}
    context = {
        "row": row,
        "rights_form": rights_form or RightsForm(initial=rights_now),
        "reason_form": reason_form or ReasonForm(),
    }
    return render(request, "operations/accounts/account.html", context, status=status)
