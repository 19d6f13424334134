"""Lines of a file that name cases which a benchmark does not have: one fault, however many lines there are."""

from __future__ import annotations

from django.utils.translation import gettext as _

from rubrics.parsing.faults import Faults

SHOWN_KEYS = 3


class UnknownCases:
    """Collects such lines while a file is read; `note` adds them to the faults, with the first few short names.

    ``several`` is the message for more than one line, with ``%(n)s`` lines and ``%(keys)s``, and says what to do;
    ``single`` the message for one line, with ``%(key)s``.
    """

    def __init__(self, several: str, *, single: str = "") -> None:
        self.several = several
        self.single = single or _("There is no case “%(key)s” in this benchmark.")
        self.lines: set[int] = set()
        self._keys: dict[str, None] = {}
        self._first: tuple[int, str] = (0, "case")

    def add(self, line: int, field: str, key: str) -> None:
        """Note a line. A line with several values of one case, as a wide table has, counts once."""
        if not self.lines or line < self._first[0]:
            self._first = line, field
        self.lines.add(line)
        if len(self._keys) <= SHOWN_KEYS:
            self._keys[key[:80]] = None

    def note(self, faults: Faults) -> None:
        """Add the fault, at the first of the lines, if there is one."""
        if not self.lines:
            return
        keys = list(self._keys)
        if len(self.lines) == 1:
            message = self.single % {"key": keys[0]}
        else:
            shown = ", ".join(f"“{key}”" for key in keys[:SHOWN_KEYS]) + (" …" if len(keys) > SHOWN_KEYS else "")
            message = self.several % {"n": len(self.lines), "keys": shown}
        faults.add(*self._first, message)
