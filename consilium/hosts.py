"""Which values of the header ``Host`` the site answers to.

A name that is not allowed is refused by Django. Django ignores ports, so they are compared here. Otherwise a client
that sends another port could choose where links and redirections lead, and restart every count kept by address.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings

DEFAULT_PORTS = {"http": 80, "https": 443}
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
# Addresses on which a server may listen, but at which nobody reaches it.
WILDCARDS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  (compared, not bound)


def split_port(address: str) -> tuple[str, str]:
    """``name``, ``name:port``, ``[::1]`` or ``[::1]:port`` as name and port; the port is empty where none is given."""
    name, colon, port = address.rpartition(":")
    if not colon or (address.startswith("[") and address.endswith("]")):
        return address, ""
    return name, port


def is_loopback(name: str) -> bool:
    """Whether ``name`` is this machine and nothing else."""
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def bound_name(bind: str) -> str:
    """The name by which a server that listens on ``bind`` is found from its own machine."""
    if bind in WILDCARDS or bind in {"127.0.0.1", "::1", "localhost"}:
        return "localhost"
    return f"[{bind}]" if ":" in bind else bind


def site_address() -> str:
    """Where people find the site, without a slash at the end: SITE_URL, else the address that the server listens on.

    It never depends on a request: the sender would then choose where the links of a mail lead.
    """
    return str(settings.SITE_URL) or f"http://{bound_name(settings.BIND)}:{settings.PORT}"


def site_ports(*, site_url: str, port: int) -> frozenset[str]:
    """Ports that a request may name: that of ``site_url``, or ``port`` where there is none.

    "" is a header without a port, which is how a browser writes the usual port of http and https.
    """
    if site_url:
        url = urlsplit(site_url)
        usual = DEFAULT_PORTS[url.scheme]
        number = url.port or usual
        return frozenset({str(number), ""} if number == usual else {str(number)})
    return frozenset({str(port), ""} if port in DEFAULT_PORTS.values() else {str(port)})


def host_names(*, site_url: str, allowed_hosts: Iterable[str], bind: str) -> list[str]:
    """Names for Django's ``ALLOWED_HOSTS``: of ``site_url``, and of ``allowed_hosts`` without their ports.

    Where neither gives one: those of this machine, and the one that the server listens on.
    """
    names = [urlsplit(site_url).netloc.rpartition("@")[2]] if site_url else []
    names = [split_port(name)[0] for name in [*names, *allowed_hosts]]
    return list(dict.fromkeys(names or [*LOOPBACK_NAMES, bound_name(bind)]))


def named_ports(*, site_url: str, allowed_hosts: Iterable[str], port: int) -> dict[str, frozenset[str]]:
    """Name → its ports, for those of ``allowed_hosts`` that give a port; all others have `site_ports`."""
    usual = site_ports(site_url=site_url, port=port)
    site_name = split_port(urlsplit(site_url).netloc)[0] if site_url else None
    ports: dict[str, set[str]] = {}
    for address in allowed_hosts:
        name, given = split_port(address)
        ports.setdefault(name, set(usual) if name == site_name else set()).update({given} if given else usual)
    return {name: frozenset(given) for name, given in ports.items() if given != usual}
