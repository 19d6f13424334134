"""``/.well-known/security.txt`` (RFC 9116): whom somebody tells who finds a vulnerability of this installation."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

VALID_FOR = timedelta(days=180)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """The contact that the operator has set; 404 without one."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = (timezone.now() + VALID_FOR).replace(microsecond=0, hour=0, minute=0, second=0)
    lines = [f"Contact: {settings.SECURITY_CONTACT}", f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}"]
    return HttpResponse(
        "\n".join([*lines, "Preferred-Languages: en, zh", ""]), content_type="text/plain; charset=utf-8"
    )
