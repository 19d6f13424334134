"""Runs processes for ``manage.py up`` and ``manage.py worker``, and starts again what ends or makes no progress."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management import CommandError
from django.db import close_old_connections, connection, models

from consilium.core.heartbeat import BeatHeartbeat, WorkerHeartbeat, leave_server_alone, with_age
from operations.checks.broker import look as look_at_broker
from operations.checks.check import State
from standalone.processes import Process
from standalone.reaper import stop_groups

LAST_LINES = 30
FIRST_PAUSE_S, MAX_PAUSE_S = 0.5, 8.0
# A process that ran this long did not end because of its start: the next pause is the first one again.
RAN_WELL_S = 10.0
# If one process ends this many times within this many seconds, everything is stopped.
MAX_ENDS, ENDS_WITHIN_S = 5, 60.0
# A worker that starts has no row yet.
START_GRACE_S = 120.0
LOOK_EVERY_S = 1.0
# Beat enqueues something with every sweep.
BEATS_MISSED = 4


def start_reaper(*, cwd: Path, home: Path | None = None, inherits: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """Start the process that cleans up after this one, also after a ``kill -9`` (`standalone.reaper`).

    With ``home`` it holds the embedded server there. It acts when its standard input closes.
    """
    reaper = subprocess.Popen(
        [sys.executable, "-m", "standalone.reaper", *([str(home)] if home is not None else [])],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        pass_fds=inherits,
    )
    assert reaper.stdin is not None
    assert reaper.stdout is not None
    return reaper


class Stopped(Exception):
    """The end was requested."""


@dataclass
class _State:
    """What is known of one process."""

    child: subprocess.Popen[bytes] | None = None
    start_due_at: float = 0.0
    started_at: float = 0.0
    pause_s: float = FIRST_PAUSE_S
    ends: list[float] = field(default_factory=list)


class Supervisor:
    """Starts processes, informs the reaper, and keeps them running. ``say`` shows lines to the operator.

    Without ``logs`` the processes write where this one does. ``reaper`` is the standard input of a reaper.
    """

    def __init__(
        self,
        *,
        logs: Path | None,
        cwd: Path,
        environment: Mapping[str, str],
        reaper: IO[bytes],
        say: Callable[[str], None],
    ) -> None:
        self.logs = logs
        self.cwd = cwd
        self.environment = environment
        self.reaper = reaper
        self.say = say
        self._watches: dict[Process, HeartbeatWatch] = {}
        self._states: dict[Process, _State] = {}
        self._is_starting = False
        self._is_stop_requested = False

    def request_stop(self) -> None:
        """For signal handlers: raise ``Stopped``, but never between the start of a process and informing the reaper."""
        if not self._is_starting:
            raise Stopped
        self._is_stop_requested = True

    def log_of(self, process: Process) -> Path | None:
        """The path of a process's log; None where it has none of its own."""
        return self.logs / f"{process.name}.log" if self.logs is not None else None

    def start(self, process: Process) -> None:
        """Start for the first time; the log of the time before is kept beside the new one."""
        log = self.log_of(process)
        if log is not None:
            log.parent.mkdir(mode=0o700, exist_ok=True)
            if log.exists():
                log.replace(log.with_suffix(".log.1"))
        self._states[process] = _State()
        self._spawn(process)

    def keep_running(self) -> None:
        """Look once: start again processes that ended, and kill processes that make no progress.

        Raises CommandError with the last lines of the log where one process ends too often.
        """
        for process, state in self._states.items():
            if state.child is None:
                if time.monotonic() >= state.start_due_at:
                    self._spawn(process)
            elif state.child.poll() is not None:
                self._note_end(process, state, f"ended by itself (exit code {state.child.returncode})")
            elif (watch := self._watches.get(process)) and (silent_s := watch.silent_s()) > watch.patience_s():
                # SIGTERM would only take time: a process that does not run handles no signal.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(state.child.pid, signal.SIGKILL)
                state.child.wait()
                self._note_end(process, state, f"made no progress for {silent_s:.0f} s and was killed")

    def stop(self) -> None:
        """End everything."""
        for watch in self._watches.values():
            watch.stop()
        children = [state.child for state in self._states.values() if state.child is not None]
        stop_groups([child.pid for child in children])
        for child in children:
            child.wait()

    def _spawn(self, process: Process) -> None:
        state = self._states[process]
        self._is_starting = True
        try:
            log = self.log_of(process)
            # Appended: the last lines before a process ended give the reason.
            with log.open("ab") if log is not None else contextlib.nullcontext() as stream:
                state.child = subprocess.Popen(
                    [sys.executable, *process.arguments],
                    cwd=self.cwd,
                    env=dict(self.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT if stream is not None else None,
                    start_new_session=True,
                    pass_fds=process.inherits,
                )
            self._inform_reaper(state.child.pid)
        finally:
            self._is_starting = False
        if self._is_stop_requested:
            raise Stopped
        state.started_at = time.monotonic()
        if process.heartbeat:
            if process not in self._watches:
                self._watches[process] = HeartbeatWatch(is_beat=process.heartbeat == "beat")
            self._watches[process].start(pid=state.child.pid)

    def _note_end(self, process: Process, state: _State, what: str) -> None:
        assert state.child is not None
        # Processes left of its group would hold the port, or do the work twice.
        stop_groups([state.child.pid])
        self._inform_reaper(-state.child.pid)
        state.child = None
        now = time.monotonic()
        if now - state.started_at > RAN_WELL_S:
            state.pause_s = FIRST_PAUSE_S
        state.ends = [*(end for end in state.ends if now - end < ENDS_WITHIN_S), now]
        if len(state.ends) >= MAX_ENDS:
            raise CommandError(
                f"{self._last_lines(process)}The {process.name} process {what}, for the {MAX_ENDS}th time within "
                f"{ENDS_WITHIN_S:.0f} s; everything was stopped.{self._where(process)}"
            )
        self.say(f"The {process.name} process {what}. It starts again in {state.pause_s:g} s.{self._where(process)}")
        state.start_due_at = now + state.pause_s
        state.pause_s = min(2 * state.pause_s, MAX_PAUSE_S)

    def _last_lines(self, process: Process) -> str:
        log = self.log_of(process)
        lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:] if log is not None else []
        return "".join(f"{process.name} | {line}\n" for line in lines)

    def _where(self, process: Process) -> str:
        log = self.log_of(process)
        return f" Its log: {log}" if log is not None else ""

    def _inform_reaper(self, number: int) -> None:
        self.reaper.write(f"{number}\n".encode())
        self.reaper.flush()


class HeartbeatWatch:
    """Looks at a heartbeat's row from a thread of its own, so that a database that hangs blocks nothing else.

    What counts is that the row changes, by the clock of this process. While the database is away nothing can be seen,
    and the time starts again when it is back. The next query starts an embedded server that crashed. Beat writes no
    row while it cannot reach the broker, so the time of a broker that is away does not count either.
    """

    def __init__(self, *, is_beat: bool = False) -> None:
        self.limit_s: float = settings.WORKER_STALL_LIMIT_S
        self._rows: models.QuerySet[Any] = WorkerHeartbeat.objects.all()
        if is_beat:
            self.limit_s = max(self.limit_s, BEATS_MISSED * settings.SWEEP_SECONDS)
            self._rows = BeatHeartbeat.objects.all()
        self._is_beat = is_beat
        self.was_seen = False
        self._pid = 0
        self._beat_at: datetime | None = None
        self._changed_at = self._answered_at = time.monotonic()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, *, pid: int) -> None:
        """Watch the process whose main process is ``pid`` of this machine, and no other."""
        self._pid, self._beat_at = pid, None
        self.was_seen = False
        self._changed_at = time.monotonic()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="heartbeat-watch", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop watching: the next query would start the embedded server again."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(10)

    def patience_s(self) -> float:
        """For how long the row may stay as it is."""
        return self.limit_s if self.was_seen else START_GRACE_S

    def silent_s(self) -> float:
        """For how long the row could be seen and did not change, in seconds."""
        now = time.monotonic()
        return now - self._changed_at if now - self._answered_at < 3 * LOOK_EVERY_S else 0.0

    def _run(self) -> None:
        if self._is_beat:
            leave_server_alone()  # the worker's watch starts it
        while not self._ended.wait(LOOK_EVERY_S):
            with contextlib.suppress(Exception):  # the database is away: only the missing answer is noted
                self._look()
        connection.close()

    def _look(self) -> None:
        pid = self._pid
        close_old_connections()
        rows = with_age(self._rows).filter(age__lte=timedelta(seconds=self.limit_s))
        rows = rows.filter(host=socket.gethostname(), pid=pid)
        beat_at = rows.values_list("beat_at", flat=True).order_by("-beat_at").first()
        is_late = time.monotonic() - self._changed_at > self.patience_s() / 2
        if self._is_beat and is_late and look_at_broker().state == State.FAILED:
            return
        now = time.monotonic()
        if pid != self._pid:
            return
        if now - self._answered_at > 3 * LOOK_EVERY_S or (beat_at is not None and beat_at != self._beat_at):
            self._changed_at = now
        if beat_at is not None:
            self._beat_at, self.was_seen = beat_at, True
        self._answered_at = now
