"""Ask a web server whether it is well: ``python -m consilium.healthcheck URL`` ends with 0 where it answers 200.

The request carries a host name that the site allows, whatever address it is sent to.
"""

from __future__ import annotations

import http.client
import os
import sys
import urllib.error
import urllib.request
from typing import Any


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Follow no redirect: it could lead away from this machine."""


def is_well(url: str, *, host: str, timeout_s: float = 5.0) -> bool:
    """Whether ``url`` answers 200 to a request for ``host``, without a proxy and without following redirects."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
    request = urllib.request.Request(url, headers={"Host": host})  # noqa: S310  (the operator's own address)
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError):
        return False


def known_host(allowed_hosts: list[str]) -> str:
    """One name that the site answers to."""
    first = next(iter(allowed_hosts), "localhost").lstrip(".")
    return "localhost" if first == "*" else first


def main(arguments: list[str]) -> int:
    """Exit code for a container's health check."""
    allowed = os.environ.get("ALLOWED_HOSTS") or os.environ.get("SITE_URL", "").partition("://")[2].split("/")[0]
    host = known_host([name.strip() for name in allowed.split(",") if name.strip()])
    return 0 if is_well(arguments[0], host=host) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
