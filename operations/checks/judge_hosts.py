"""Whether the hosts that judges may call exist, and are marked if they are private."""

from __future__ import annotations

import ipaddress
import socket

from django.conf import settings

from consilium.hosts import split_port
from consilium.llm.endpoint import PRIVATE
from operations.checks.check import Check, Result, State


def addresses_of(name: str) -> list[str]:
    """The addresses of a host; none where the name is not known."""
    try:
        return sorted({str(row[4][0]) for row in socket.getaddrinfo(name.strip("[]"), None, type=socket.SOCK_STREAM)})
    except OSError:
        return []


def look() -> Result:
    """Ask for the address of each name on the list; no request is sent to a host."""
    hosts: list[str] = [host.strip() for host in settings.JUDGE_ALLOWED_HOSTS if host.strip()]
    if not hosts:
        return Result(State.OK, "Judges may call no host.")
    unknown, private = [], []
    for host in hosts:
        name = split_port(host.removesuffix(PRIVATE))[0]
        addresses = addresses_of(name)
        if not addresses:
            unknown.append(host)
        elif not host.endswith(PRIVATE) and not _is_literal(name) and not all(map(_is_global, addresses)):
            private.append(host)
    if unknown:
        return Result(
            State.WARNING,
            f"No address is known of {', '.join(unknown)}.",
            "Check the spelling in JUDGE_ALLOWED_HOSTS, and the name server of this machine.",
        )
    if private:
        return Result(
            State.WARNING,
            f"{', '.join(private)} leads to a private address.",
            "If that is meant, write @private behind the name in JUDGE_ALLOWED_HOSTS; else remove it.",
        )
    return Result(State.OK, f"Judges may call {', '.join(hosts)}.")


def _is_global(address: str) -> bool:
    return ipaddress.ip_address(address).is_global


def _is_literal(name: str) -> bool:
    """Whether the list names an address, or this machine: what is written there is meant."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name == "localhost"
    return True


CHECK = Check("judge_hosts", "Hosts of judges", look)
