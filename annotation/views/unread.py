"""Responses that were assigned before their annotator named the languages they read: told of, and released."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts.models import User
from annotation import access
from annotation.models import Assignment
from annotation.selectors.unread_work import own_unread
from annotation.services import slots
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in


def message_about_unread(user: User) -> str:
    """How many responses the person has in languages that they do not read; empty where there are none."""
    number = own_unread(user.pk).count()
    if not number:
        return ""
    text = ngettext(
        "%(n)d response that was assigned to you earlier is in a language you do not read. If you have not begun it, "
        "you can release it under “My work”.",
        "%(n)d responses that were assigned to you earlier are in languages you do not read. You can release those "
        "that you have not begun under “My work”.",
        number,
    )
    return text % {"n": number}


@require_POST
@signed_in
def release_unread(request: SignedInRequest) -> HttpResponse:
    """Release the reader's responses in languages that they do not read, if they have not begun them: all of them, or
    those in the benchmark whose page asks for it.
    """
    rows = own_unread(request.user.pk).filter(status=Assignment.Status.NOT_STARTED)
    slug = request.POST.get("benchmark", "")
    if slug:
        rows = rows.filter(batch__group__benchmark=access.get_member_benchmark(request.user, slug))
    try:
        number = slots.release(assignments=rows, by=request.user, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        text = ngettext("%(n)d response is released.", "%(n)d responses are released.", number)
        messages.success(request, text % {"n": number})
    return redirect("annotation:work-in", slug) if slug else redirect("annotation:work")
