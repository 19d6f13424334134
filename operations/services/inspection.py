"""Runs checks, and says since when each part is as it is."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from django.db import Error, InterfaceError, OperationalError, connection
from django.utils.translation import gettext as _

from operations.checks import database
from operations.checks.check import Check, Result, State
from operations.services.part_states import known_since, record_states

logger = structlog.get_logger(__name__)
# While the database is away, this process alone remembers since when.
_remembered: dict[str, tuple[State, datetime]] = {}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the server, as a check has seen it."""

    name: str
    label: str
    vital: bool
    state: State
    since: datetime
    message: str
    advice: str
    figures: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """The part for `healthz?deep=1` and ``manage.py status --json``."""
        return {
            "state": str(self.state),
            "since": self.since.isoformat(timespec="seconds"),
            "message": self.message,
            "advice": self.advice,
        }


def inspect(*, checks: Sequence[Check], at: datetime, only_reads: bool = False) -> list[Part]:
    """Run the checks in their order. None raises, and none that needs the database runs while it does not answer.

    With ``only_reads`` nothing is stored: a command may run where less of the server is seen than by the web process.
    """
    results: dict[str, Result] = {}
    is_away = False
    for check in checks:
        if check.needs_database and is_away:
            results[check.name] = Result(
                State.WARNING, _("Not known while the database does not answer."), _("Repair the database first.")
            )
            continue
        results[check.name] = _look(check)
        is_away |= check is database.CHECK and results[check.name].state is State.FAILED
    since = _since(
        {name: result.state for name, result in results.items()}, at=at, is_away=is_away, only_reads=only_reads
    )
    return [
        Part(
            name=check.name,
            label=str(check.label),
            vital=check.vital,
            state=result.state,
            since=result.since or since[check.name],
            message=result.message,
            advice=result.advice,
            figures=result.figures,
        )
        for check in checks
        for result in [results[check.name]]
    ]


def state_of(parts: Sequence[Part]) -> State:
    """The state of the server: failed where a vital part has failed, else a warning where any part is not well."""
    if any(part.vital and part.state is State.FAILED for part in parts):
        return State.FAILED
    return State.OK if all(part.state is State.OK for part in parts) else State.WARNING


def _look(check: Check) -> Result:
    try:
        try:
            return check.look()
        except (OperationalError, InterfaceError):
            # The connection may have ended with an earlier PostgreSQL.
            connection.close()
            return check.look()
    except Exception as error:
        logger.exception("check_failed", check=check.name)
        return Result(
            State.FAILED,
            _("The check ended with an error: %(error)s") % {"error": type(error).__name__},
            _("Look at the log, which has the details."),
        )


def _since(states: Mapping[str, State], *, at: datetime, is_away: bool, only_reads: bool) -> dict[str, datetime]:
    if not is_away:
        with contextlib.suppress(Error):  # it may be read-only
            if only_reads:
                return known_since(states=states, at=at)
            since = record_states(states=states, at=at)
            _remembered.clear()
            return since
    for name, state in states.items():
        if name not in _remembered or _remembered[name][0] is not state:
            _remembered[name] = (state, at)
    return {name: _remembered[name][1] for name in states}
