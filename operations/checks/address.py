"""Whether SITE_URL, HTTPS and BEHIND_PROXY fit together."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from consilium.hosts import WILDCARDS, is_loopback
from operations.checks.check import Check, Result, State


def is_public() -> bool:
    """Whether other machines may reach the site, as far as the settings say."""
    name = urlsplit(settings.SITE_URL).hostname or ""
    listens_to_all = settings.BIND in WILDCARDS or not is_loopback(settings.BIND)
    return bool(settings.BEHIND_PROXY) or listens_to_all or bool(name and not is_loopback(name))


def look() -> Result:
    """The first thing that does not fit."""
    url = settings.SITE_URL
    if not is_public():
        return Result(State.OK, "The site answers on this machine only.")
    if not url:
        return Result(
            State.FAILED,
            "SITE_URL is not set, so links in mails lead to this machine.",
            "Set SITE_URL to the address where people find the site, for web and worker.",
        )
    if not settings.HTTPS:
        return Result(
            State.FAILED,
            f"{url} is not HTTPS: passwords and decisions can be read on the way.",
            "Put a proxy with HTTPS in front, and set SITE_URL=https://… and BEHIND_PROXY=1.",
        )
    if not settings.BEHIND_PROXY:
        return Result(
            State.WARNING,
            "BEHIND_PROXY is off: limits count all people as one address, and requests are redirected to HTTPS.",
            "Set BEHIND_PROXY=1 if a proxy ends HTTPS and sets X-Forwarded-Proto and X-Forwarded-For itself.",
        )
    if "*" in settings.ALLOWED_HOSTS:
        return Result(
            State.WARNING,
            "ALLOWED_HOSTS has *: no Host is refused.",
            "Name the hosts, unless the proxy checks names and ports itself.",
        )
    return Result(State.OK, f"{url}, behind a proxy.")


CHECK = Check("address", "Address", look)
