"""What a check is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise


MAX_ERROR_LENGTH = 300


def one_line(error: Exception) -> str:
    """What an error says, short enough for a sentence."""
    return " ".join(str(error).split())[:MAX_ERROR_LENGTH]


class State(StrEnum):
    """How a part of the server is."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Result:
    """What a check has seen: one sentence, and one that says what to do where something is to be done.

    ``since`` is given where the check knows it; otherwise the time counts at which the state was first seen.
    ``figures`` are numbers for monitoring; each is a metric, named after the check and its key.
    """

    state: State
    message: str
    advice: str = ""
    since: datetime | None = None
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Check:
    """One check. Where a ``vital`` part has failed, the server as a whole counts as failed."""

    name: str
    label: _StrOrPromise
    look: Callable[[], Result]
    vital: bool = False
    needs_database: bool = False
