"""Errors of domain functions, with messages that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


class DomainError(Exception):
    """A rule of the domain was broken; the message is written for the person who made the request.

    Pages show it beside the form (409 or 422), API endpoints as ``{"detail": …}``, commands as ``CommandError``.
    ``field`` names what was wrong of what was sent, in the words of the API, such as ``parameters.k``.
    """

    status_code = 422

    def __init__(self, message: str = "", *, field: str = "") -> None:
        self.field = field
        super().__init__(message)


@contextmanager
def field_named(field: str) -> Iterator[None]:
    """A `DomainError` inside is about ``field`` of what was sent, unless it names another one."""
    try:
        yield
    except DomainError as error:
        error.field = error.field or field
        raise


class Conflict(DomainError):
    """The row is no longer in the state, or at the version, that the caller saw."""

    status_code = 409


@dataclass(frozen=True, slots=True)
class LineError:
    """One fault of a file or a list: ``line`` counts from 1 (0: the file as a whole); ``field`` may be empty."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        place = f"line {self.line}" if self.line else "file"
        return f"{place}, {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


class FaultsRefused(DomainError):
    """Nothing was stored; ``errors`` names the first faults, ``total`` is their number."""

    def __init__(self, errors: Sequence[LineError], total: int | None = None, *, detail: str = "") -> None:
        self.errors = list(errors)
        self.total = len(self.errors) if total is None else total
        super().__init__(detail or "\n".join(str(error) for error in self.errors))


class ImportRefused(FaultsRefused):
    """Nothing was imported. ``file`` names the refused file, where there were several."""

    def __init__(self, errors: Sequence[LineError], total: int | None = None, *, file: str = "") -> None:
        self.file = file
        super().__init__(errors, total)
