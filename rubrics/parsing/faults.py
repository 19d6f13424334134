"""The faults of a file: the first fifty by line and field, and how many there are."""

from __future__ import annotations

from collections.abc import Callable

from consilium.core.errors import ImportRefused, LineError
from consilium.core.phrases import Phrase

KEPT = 50


def _printable(text: str, longest: int) -> str:
    """``text`` in a form that can be stored and shown; a key of a broken file may be long or hold any character."""
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "?")
    return clean if len(clean) <= longest else f"{clean[: longest - 1]}…"


def _sound(message: str) -> str:
    """The message with printable values; a phrase stays a phrase."""
    if not isinstance(message, Phrase):
        return _printable(message, 500)
    values = {
        name: value if isinstance(value, int | Phrase) else _printable(str(value), 300)
        for name, value in message.values.items()
    }
    return Phrase(message.template, **values)


class Faults:
    """Collects faults while a file is read to its end, so that a person can mend them all at once.

    ``locate`` turns the line and field of a record into those of the file that it was made from, such as a table.
    """

    def __init__(self, locate: Callable[[int, str], tuple[int, str]] | None = None) -> None:
        self.first: list[LineError] = []
        self.total = 0
        self.locate = locate

    def add(self, line: int, field: str, message: str) -> None:
        """Note one fault; ``line`` counts from 1, 0 is the file as a whole."""
        if self.locate is not None:
            line, field = self.locate(line, field)
        self.total += 1
        if len(self.first) < KEPT:
            self.first.append(LineError(line, _printable(field, 200), _sound(message)))

    def since(self, total: int) -> Faults:
        """The faults that came after the first ``total``."""
        faults = Faults()
        faults.first, faults.total = self.first[total:], self.total - total
        return faults

    def absorb(self, others: Faults) -> None:
        """Note those faults as if they had been added here."""
        self.first += others.first[: max(0, KEPT - len(self.first))]
        self.total += others.total

    def refuse_if_any(self) -> None:
        """Raise `ImportRefused` if a fault was found; it holds the kept faults in the order of the file."""
        if self.total:
            raise ImportRefused(sorted(self.first, key=lambda fault: fault.line), self.total)
