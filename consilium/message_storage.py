"""Where a message to the reader waits for the next page: a cookie of this host alone, and the session if it is long."""

from __future__ import annotations

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class HostCookieStorage(CookieStorage):
    """Django's, with a name of our own: it has no setting for that."""

    cookie_name = settings.MESSAGES_COOKIE_NAME


class MessageStorage(FallbackStorage):
    """Django's default, with that cookie."""

    storage_classes = (HostCookieStorage, SessionStorage)
