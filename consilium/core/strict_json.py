"""Strict reading of JSON from outside: lines of imported files and bodies of requests.

Refused: nesting deeper and more values than the limits, the same key twice in an object, NaN and infinities, numbers
that are too large. Python's own decoder takes all of these, and answers 1,000 nested brackets with a `RecursionError`.
"""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any

from consilium.core.phrases import Phrase

MAX_DEPTH = 32
MAX_VALUES = 200_000  # 16 MiB of empty lists took 1.2 GiB
MAX_DIGITS = 18  # more do not fit a bigint


class RefusedJSON(ValueError):
    """A JSON text that is refused.

    ``field`` is None where a number is at fault: the decoder does not say where the number is.
    """

    def __init__(self, field: str | None, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text. `RefusedJSON` over the limits above; `ValueError` where it is no JSON in UTF-8."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if too_many_values(raw, MAX_VALUES) is not None:
        raise RefusedJSON("", Phrase("This contains more than %(n)s values.", n=MAX_VALUES))
    if too_deep(raw, MAX_DEPTH):
        raise RefusedJSON("", Phrase("Brackets are nested deeper than %(depth)s levels.", depth=MAX_DEPTH))
    return _DECODER.decode(text.decode("utf-8") if isinstance(text, bytes) else text)


def strict_decoder(*, digits: int = MAX_DIGITS, accept_nonfinite: bool = False) -> json.JSONDecoder:
    """A decoder that raises `RefusedJSON`; check the text with `too_deep` and `too_many_values` first.

    ``accept_nonfinite`` gives NaN and infinities to a caller who says what becomes of each.
    """

    def parse_int(text: str) -> int:
        if len(text) > digits + text.startswith("-"):
            raise RefusedJSON(None, Phrase("The number %(number)s is too large.", number=_shortened(text)))
        return int(text)

    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_constant=float if accept_nonfinite else _constant,
        parse_float=float if accept_nonfinite else _float,
        parse_int=parse_int,
    )


# A whole JSON string, or anything but a bracket. Without these, only the brackets of a line are left.
_NOT_A_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^\[\]{}"]++', re.DOTALL)
_STRING_OR_SEPARATOR = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{,]', re.DOTALL)
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_QUOTE = ord('"')


def too_deep(line: bytes, depth: int) -> bool:
    """Whether brackets in ``line`` (a JSON text) nest deeper than ``depth``; call it before the text is parsed."""
    if line.count(b"[") + line.count(b"{") <= depth:
        return False
    level = 0
    for byte in _NOT_A_BRACKET.sub(b"", line):
        if byte in b"[{":
            level += 1
            if level > depth:
                return True
        else:
            level -= 1
    return False


def place_too_deep(line: bytes, depth: int) -> int:
    """The place of the first bracket that is nested too deep."""
    level = 0
    for token in _TOKEN.finditer(line):
        if token[0] in (b"[", b"{"):
            level += 1
            if level > depth:
                return token.start()
        elif token[0] in (b"]", b"}"):
            level -= 1
    return len(line)


def too_many_values(line: bytes, most: int) -> int | None:
    """The place in ``line`` (a JSON text) where value number ``most`` + 1 begins; None if it has fewer values."""
    if len(line) <= most or line.count(b",") + line.count(b"[") + line.count(b"{") <= most:
        return None
    separators = (match.start() for match in _STRING_OR_SEPARATOR.finditer(line) if line[match.start()] != _QUOTE)
    return next(islice(separators, most, None), None)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        seen: set[str] = set()
        for key, _value in pairs:
            if key in seen:
                raise RefusedJSON(key, Phrase("The same key appears twice in one object."))
            seen.add(key)
    return values


def _constant(text: str) -> Any:
    raise RefusedJSON(None, Phrase("%(text)s is not a number in JSON.", text=text))


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise RefusedJSON(None, Phrase("The number %(number)s is too large.", number=_shortened(text)))
    return number


def _shortened(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:20]}…"


_DECODER = strict_decoder()
