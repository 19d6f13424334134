"""Activates the reader's language and time zone for each request."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

Handler = Callable[[HttpRequest], HttpResponse]


def reader_preferences(get_response: Handler) -> Handler:
    """Show times in the zone of the reader, and words in their language unless this browser chose another.

    Only pages are affected: exports write UTC, whoever asks for them.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        user = request.user
        if not user.is_authenticated:
            return get_response(request)
        if settings.LANGUAGE_COOKIE_NAME not in request.COOKIES and translation.check_for_language(user.language):
            translation.activate(user.language)
            request.LANGUAGE_CODE = translation.get_language()
        with timezone.override(zone_of(user.time_zone)):
            return get_response(request)

    return middleware


def zone_of(name: str) -> ZoneInfo:
    """The zone of that name; UTC where this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):  # a zone that the tz database of this machine does not know
        return ZoneInfo("UTC")
