"""Views of notifications, of their settings, and of the unsubscribe link in mails."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access
from accounts.forms import DeliveryForm
from accounts.models import Notification
from accounts.notices import words_of
from accounts.services import notifications as notification_services
from consilium.core.htmx import SignedInRequest, signed_in

A_PAGE = 30


@require_safe
@never_cache
@signed_in
def notifications(request: SignedInRequest) -> HttpResponse:
    """What happened, the latest first; ``?show=unread`` leaves out what was read."""
    rows = access.own_notifications(request.user)
    unread = rows.filter(read_at=None)
    only_unread = request.GET.get("show") == "unread"
    page = Paginator(unread if only_unread else rows, A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page_obj": page,
        "notices": [(row, words_of(row)) for row in page],
        "unread": unread.count(),
        "only_unread": only_unread,
    }
    return render(request, "accounts/notices/notifications.html", context)


@require_safe
@never_cache
@signed_in
def notification(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Mark a notification as read, and redirect to what it is about."""
    row = access.get_own_notification(request.user, public_id)
    notification_services.mark_read(notifications=Notification.objects.filter(pk=row.pk), at=timezone.now())
    return redirect(row.url)


@require_POST
@signed_in
def read(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Mark one notification as read."""
    row = access.get_own_notification(request.user, public_id)
    notification_services.mark_read(notifications=Notification.objects.filter(pk=row.pk), at=timezone.now())
    return redirect("accounts:notifications")


@require_POST
@signed_in
def read_all(request: SignedInRequest) -> HttpResponse:
    """Mark all notifications as read."""
    notification_services.mark_read(notifications=access.own_notifications(request.user), at=timezone.now())
    return redirect("accounts:notifications")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def deliveries(request: SignedInRequest) -> HttpResponse:
    """For each kind: only here, in a daily mail, or by mail at once."""
    current = notification_services.settings_of(request.user)
    kinds = notification_services.kinds_for(request.user)
    form = DeliveryForm(request.POST if request.method == "POST" else None, current=current, kinds=kinds)
    if request.method == "POST" and form.is_valid():
        notification_services.choose_deliveries(user=request.user, choices=form.cleaned_data)
        messages.success(request, _("Your notification settings were saved."))
        return redirect("accounts:deliveries")
    return render(request, "accounts/notices/deliveries.html", {"form": form}, status=422 if form.errors else 200)


@csrf_exempt  # the signed token identifies the user; mail programs send this form without a session
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Unsubscribe from mails. GET only asks: programs that open links before people do must not answer for them."""
    known = notification_services.read_unsubscribe_token(token)
    if known is None:
        return render(request, "accounts/notices/unsubscribe.html", {"unknown": True}, status=404)
    user, what = known
    if request.method == "POST":
        notification_services.unsubscribe(user=user, what=what)
    label = "" if what == notification_services.DAILY else Notification.Kind(what).label
    return render(request, "accounts/notices/unsubscribe.html", {"what": label, "done": request.method == "POST"})
