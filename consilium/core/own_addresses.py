"""Addresses to which a request asks to be led afterwards."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def own_address(request: HttpRequest, address: str) -> str:
    """The address, if it is a path on this site; else nothing. A word without a slash is no path."""
    allowed = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if allowed and address.startswith("/") else ""
