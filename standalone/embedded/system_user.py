"""Runs PostgreSQL's programs as a system user of their own where we are root: it refuses to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NAME = "consilium-postgres"


@dataclass(frozen=True, slots=True)
class SystemUser:
    """A user of the operating system by number."""

    uid: int
    gid: int

    @staticmethod
    def to_run_servers() -> SystemUser | None:
        """The user to run servers as, made if missing; None where this process is not root."""
        return _server_user() if os.geteuid() == 0 else None


@cache
def _server_user() -> SystemUser:
    try:
        entry = pwd.getpwnam(NAME)
    except KeyError:
        subprocess.run(
            ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", NAME],
            check=False,  # another process may have made it meanwhile; the next line raises KeyError if not
            capture_output=True,
        )
        entry = pwd.getpwnam(NAME)
    return SystemUser(entry.pw_uid, entry.pw_gid)


def run_as(user: SystemUser | None, command: Sequence[str], *, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``command`` to its end as ``user`` (None: as ourselves) and return its output as text.

    A checkout under a private folder, such as root's home, cannot be reached by another user. The permissions of the
    folders above it stay as they are: the command keeps the one capability that lets it pass through them.
    """
    environment = {**os.environ, "LC_ALL": "C"}
    for name in [name for name in environment if name.startswith("PG")]:
        del environment[name]
    if user is None:
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    if _can_reach(user, Path(command[0])) and _can_reach(user, folder):
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            user=user.uid,
            group=user.gid,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise PermissionError(f"PostgreSQL runs as {NAME}, which cannot reach {folder}: move it, or set DATABASE_URL.")
    return subprocess.run(
        [
            setpriv,
            f"--reuid={user.uid}",
            f"--regid={user.gid}",
            "--clear-groups",
            "--securebits=+no_setuid_fixup",  # without it access(2), which initdb calls, would ignore the capability
            "--inh-caps=-all,+dac_override",
            "--ambient-caps=-all,+dac_override",
            *command,
        ],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _can_reach(user: SystemUser, path: Path) -> bool:
    """Whether ``user`` may pass through every folder above ``path`` and into it."""
    path = path.resolve()
    for step in (path, *path.parents):
        status = step.stat()
        mode = status.st_mode
        bits = mode >> 6 if status.st_uid == user.uid else mode >> 3 if status.st_gid == user.gid else mode
        if not bits & 1:
            return False
    return True
