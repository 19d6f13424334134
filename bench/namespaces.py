"""Network namespaces: separate machines as far as the network is concerned (Linux, root, iproute2).

Each has an address of its own and a veth pair to this machine, and reaches nothing else: 10.203.N.2 there, 10.203.N.1
here. `HOST` is this machine for all of them. The file system is shared, so the embedded PostgreSQL is reached by its
socket.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

HOST = "10.203.0.1"


def _ip(*arguments: str, check: bool = True) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextmanager
def namespaces(count: int) -> Iterator[list[str]]:
    """Make ``count`` namespaces and yield their names; they are removed afterwards."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise SystemExit("Network namespaces need root and the program ip (package iproute2).")
    names = [f"consilium-{os.getpid()}-{number}" for number in range(count)]
    try:
        _ip("address", "add", f"{HOST}/32", "dev", "lo")
        for number, name in enumerate(names, start=1):
            here, peer = f"cns{os.getpid() % 100_000}-{number}h", f"cns{os.getpid() % 100_000}-{number}n"
            _ip("netns", "add", name)
            _ip("link", "add", here, "type", "veth", "peer", "name", peer, "netns", name)
            _ip("address", "add", f"10.203.{number}.1/24", "dev", here)
            _ip("link", "set", here, "up")
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "address", "add", f"10.203.{number}.2/24", "dev", peer)
            _ip("-n", name, "link", "set", peer, "up")
            _ip("-n", name, "route", "add", "default", "via", f"10.203.{number}.1")
        yield names
    finally:
        for number, name in enumerate(names, start=1):
            _ip("link", "delete", f"cns{os.getpid() % 100_000}-{number}h", check=False)
            _ip("netns", "delete", name, check=False)
        _ip("address", "delete", f"{HOST}/32", "dev", "lo", check=False)


def inside(name: str) -> list[str]:
    """The prefix of a command that is to run in a namespace."""
    return ["ip", "netns", "exec", name]
