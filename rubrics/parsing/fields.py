"""Reads a record field by field; a fault names its field."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Collection
from typing import Any

from consilium.core.limits import MAX_KEY_LENGTH, MAX_TAG_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults

_EACH = 50  # bytes that a value takes, whatever it holds
_64_BITS = (1 << 64) - 1


class Fields:
    """Takes known fields out of a record; `rest` gives the fields that were not taken.

    ``place`` comes before the name of a field in faults: ``rubrics[2].`` for the third element of a list.
    """

    def __init__(self, line: int, record: dict[str, Any], faults: Faults, place: str = "") -> None:
        self.line = line
        self.record = record
        self.faults = faults
        self.place = place
        self.sound = True
        self._taken: set[str] = set()

    def fault(self, name: str, message: str) -> None:
        """Note a fault of the field ``name``."""
        self.sound = False
        self.faults.add(self.line, f"{self.place}{name}", message)

    def take(self, name: str) -> Any:
        """The raw value of a field, None where it is missing."""
        self._taken.add(name)
        return self.record.get(name)

    def name_of(self, *names: str) -> str:
        """The first of the accepted names that the record has, else the first of all; two in a record are a fault."""
        present = [name for name in names if self.record.get(name) is not None]
        if len(present) > 1:
            self.fault(
                present[1],
                Phrase("Both %(first)s and %(second)s are given.", first=present[0], second=present[1]),
            )
        self._taken.update(names)
        return present[0] if present else names[0]

    def rest(self) -> dict[str, Any]:
        """The fields that were not taken, as they are."""
        return {name: value for name, value in self.record.items() if name not in self._taken}

    def text(self, name: str, *, required: bool = True, blank: bool = False, longest: int | None = None) -> str:
        """A text; empty where it is missing or null and not ``required``."""
        value = self.take(name)
        if value is None:
            if required:
                self.fault(name, Phrase("This field is missing."))
            return ""
        if not isinstance(value, str):
            self.fault(name, Phrase("This must be text, not %(kind)s.", kind=kind(value)))
            return ""
        if required and not blank and not value.strip():
            self.fault(name, Phrase("This must not be empty."))
        if longest is not None and len(value) > longest:
            self.fault(name, Phrase("This is longer than %(longest)s characters.", longest=longest))
        return value

    def key(self, name: str) -> str:
        """An id: a short text without white space around it; whole numbers are read as their digits."""
        value = self.take(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = self.text(name, longest=MAX_KEY_LENGTH)
        if text.strip() not in ("", text):
            self.fault(name, Phrase("There is white space around this id."))
        return text

    def choice(self, name: str, choices: Collection[str], *, required: bool = True) -> str:
        """One of ``choices``; empty where it is missing and not ``required``."""
        value = self.text(name, required=required)
        if value and value not in choices:
            self.fault(
                name, Phrase("“%(value)s” is not one of: %(names)s.", value=value[:40], names=", ".join(choices))
            )
        return value

    def integer(self, name: str, *, low: int, high: int, default: int | None = None) -> int:
        """A whole number (5.0 is one, true is none) from ``low`` to ``high``."""
        value = self.take(name)
        if value is None:
            if default is None:
                self.fault(name, Phrase("This field is missing."))
            return low if default is None else default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fault(name, Phrase("This must be a whole number, not %(kind)s.", kind=kind(value)))
            return low
        if not low <= value <= high:
            self.fault(name, Phrase("%(value)s is not between %(low)s and %(high)s.", value=value, low=low, high=high))
        return value

    def texts(self, name: str, *, required: bool = False, longest: int = MAX_TAG_LENGTH) -> list[str]:
        """A list of short texts; empty where it is missing or null and not ``required``."""
        value = self.take(name)
        if value is None and not required:
            return []
        if not isinstance(value, list):
            self.fault(
                name,
                Phrase("This field is missing.")
                if value is None
                else Phrase("This must be a list, not %(kind)s.", kind=kind(value)),
            )
            return []
        for index, each in enumerate(value):
            if not isinstance(each, str):
                self.fault(f"{name}[{index}]", Phrase("This must be text, not %(kind)s.", kind=kind(each)))
            elif not each.strip():
                self.fault(f"{name}[{index}]", Phrase("This must not be empty."))
            elif len(each) > longest:
                self.fault(f"{name}[{index}]", Phrase("This is longer than %(longest)s characters.", longest=longest))
        return value if self.sound else []

    def mapping(self, name: str) -> dict[str, Any]:
        """An object; empty where it is missing or null."""
        value = self.take(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fault(name, Phrase("This must be an object, not %(kind)s.", kind=kind(value)))
            return {}
        return value

    def objects(self, name: str, *, what: str) -> list[Any]:
        """A list that holds at least one ``what``; its elements are not checked."""
        value = self.take(name)
        if not isinstance(value, list):
            self.fault(
                name,
                Phrase("This field is missing.")
                if value is None
                else Phrase("This must be a list, not %(kind)s.", kind=kind(value)),
            )
            return []
        if not value:
            self.fault(name, Phrase("There must be at least one %(what)s.", what=what))
        return value

    def within(self, name: str, value: Any) -> Fields | None:
        """The fields of an object inside this record, at ``name``; None and a fault if it is no object."""
        if isinstance(value, dict):
            return Fields(self.line, value, self.faults, f"{self.place}{name}.")
        self.fault(name, Phrase("This must be an object, not %(kind)s.", kind=kind(value)))
        return None

    def absorb(self, inner: Fields) -> None:
        """Count the faults of an inner object as this record's."""
        self.sound = self.sound and inner.sound


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return Phrase("null")
    names = {
        bool: Phrase("true or false"),
        int: Phrase("a number"),
        float: Phrase("a number"),
        str: Phrase("text"),
        list: Phrase("a list"),
        dict: Phrase("an object"),
    }
    return names[type(value)]


def size_of(value: Any) -> int:
    """About how many bytes a JSON value takes in memory, texts counted by their characters."""
    if isinstance(value, str):
        return _EACH + len(value)
    if isinstance(value, dict):
        return _EACH + sum(size_of(name) + size_of(inner) for name, inner in value.items())
    return _EACH + sum(map(size_of, value)) if isinstance(value, list | tuple) else _EACH


class Ids:
    """Ids of a file: none twice, and no two that differ only in how their characters are composed (NFC).

    A file may have millions of ids: each takes 30 to 60 bytes in a hash table of arrays, where a dictionary of texts
    took 600. Two ids with the same 64 bits of hash would be taken for one; among files of a million ids, that happens
    in one of 37 million.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._count = 0
        self._hashes, self._exact, self._lines = self._empty(1 << 10)

    @staticmethod
    def _empty(size: int) -> tuple[array[int], array[int], array[int]]:
        """Room for ``size`` ids: hashes of their normal forms (0: free), hashes of themselves, and lines."""
        return array("Q", bytes(8 * size)), array("Q", bytes(8 * size)), array("I", bytes(4 * size))

    def add(self, fields: Fields, name: str, *parts: str) -> None:
        """Note an id, which may consist of several parts; add a fault at ``name`` if it is there already."""
        normal = tuple(part if part.isascii() else unicodedata.normalize("NFC", part) for part in parts)
        key, exact = hash(normal) & _64_BITS or 1, hash(parts) & _64_BITS
        place = self._place(key)
        if not self._hashes[place]:
            self._hashes[place], self._exact[place], self._lines[place] = key, exact, fields.line
            self._count += 1
            if 3 * self._count > 2 * len(self._hashes):
                self._grow()
            return
        line = self._lines[place]
        if self._exact[place] == exact:
            fields.fault(name, Phrase("This %(what)s is already on line %(line)s.", what=self.what, line=line))
        else:
            fields.fault(
                name,
                Phrase(
                    "This %(what)s differs from the one on line %(line)s only in composed characters.",
                    what=self.what,
                    line=line,
                ),
            )

    def _place(self, key: int) -> int:
        """The position of an id, or the one where it would be inserted."""
        hashes, mask = self._hashes, len(self._hashes) - 1
        place = key & mask
        while hashes[place] and hashes[place] != key:
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        stored = zip(self._hashes, self._exact, self._lines, strict=True)
        self._hashes, self._exact, self._lines = self._empty(2 * len(self._hashes))
        for key, exact, line in stored:
            if key:
                place = self._place(key)
                self._hashes[place], self._exact[place], self._lines[place] = key, exact, line
