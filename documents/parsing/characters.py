"""The encoding of a text, and characters that no stored text may hold."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from typing import BinaryIO

from consilium.core.phrases import Phrase

_CHUNK = 1 << 18
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

# Directional embeddings, overrides and isolates show "15 mg" as "51 mg"; single marks of direction stay.
_DIRECTION = "\u202a-\u202e\u2066-\u2069"
# Tags: an invisible copy of ASCII, in which instructions can be hidden.
_INVISIBLE = "\U000e0000-\U000e007f\ufeff\ufff9-\ufffb"
_CONTROL = "\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f"
_NO_CHARACTER = "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
_LINE_END = "\r\x85\u2028\u2029"
_UNWANTED = re.compile(f"[{_DIRECTION}{_INVISIBLE}{_CONTROL}{_NO_CHARACTER}{_LINE_END}]")
_KINDS = {
    "direction": re.compile(f"[{_DIRECTION}]"),
    "invisible": re.compile(f"[{_INVISIBLE}]"),
    "control": re.compile(f"[{_CONTROL}]"),
}
_LINE_ENDS = re.compile("\r\n|[\r\x85\u2028\u2029]")


class Unreadable(ValueError):
    """A file that cannot be read; ``line`` counts from 1, and is 0 where the file as a whole is meant."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class Cleaner:
    r"""Leaves out what no stored text may hold, counts it, and makes every line end ``\n``."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def clean(self, text: str) -> str:
        """``text`` without control characters and without signs that change the direction of what follows."""
        if text.isascii() and text.isprintable():
            return text
        if not _UNWANTED.search(text):
            return text
        text = _LINE_ENDS.sub("\n", text)
        return _UNWANTED.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        for kind, pattern in _KINDS.items():
            if pattern.match(match[0]):
                self.counts[kind] += 1
                return ""
        self.counts["no character"] += 1
        return "\N{REPLACEMENT CHARACTER}"

    def remarks(self) -> tuple[str, ...]:
        """What was left out or replaced, for the person who sent the file."""
        phrases = []
        if n := self.counts["direction"]:
            phrases.append(Phrase("Characters that change the direction of text were removed: %(n)s.", n=n))
        if n := self.counts["invisible"]:
            phrases.append(Phrase("Invisible characters were removed: %(n)s.", n=n))
        if n := self.counts["control"]:
            phrases.append(Phrase("Control characters were removed: %(n)s.", n=n))
        if n := self.counts["no character"]:
            phrases.append(Phrase("Invalid characters were replaced by “�”: %(n)s.", n=n))  # fmt: skip
        return tuple(phrases)


def encoding_of(file: BinaryIO, *, declared: str = "") -> str:
    """The encoding of a text file: by its mark, else as ``declared``, else UTF-8 or GB18030.

    The whole file is decoded once. `Unreadable` names the line that cannot be, or that holds a NUL.
    """
    file.seek(0)
    start = file.read(4)
    if start.startswith(_UTF32_MARKS):
        raise Unreadable(Phrase("The file is UTF-32. Save it as UTF-8."))
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            _check(file, encoding)
            return encoding
    if declared:
        _check(file, declared)
        return declared
    try:
        _check(file, "utf-8")
    except _NotInEncoding as error:
        if _is_chinese(file):
            return "gb18030"
        raise error
    return "utf-8"


class _NotInEncoding(Unreadable):
    pass


def _check(file: BinaryIO, encoding: str) -> None:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    while True:
        chunk = file.read(_CHUNK)
        try:
            text = decoder.decode(chunk, not chunk)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            name = "UTF-8" if encoding == "utf-8" else encoding
            raise _NotInEncoding(
                Phrase(
                    "The line contains a byte that is not valid %(encoding)s. Save the file as UTF-8.", encoding=name
                ),
                line,
            ) from None
        if "\x00" in text:
            line += text[: text.index("\x00")].count("\n")
            if text.count("\x00") > len(text) // 4:
                raise Unreadable(Phrase("The file is not UTF-8; it looks like UTF-16. Save it as UTF-8."), 1)
            raise Unreadable(Phrase("The text contains a NUL character."), line)
        line += text.count("\n")
        if not chunk:
            return


def _is_chinese(file: BinaryIO) -> bool:
    """Whether the file is GB18030: most of what is not ASCII must be Chinese, which no text in Latin-1 looks like."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder("gb18030")()
    han = others = letters = 0
    while True:
        chunk = file.read(_CHUNK)
        try:
            text = decoder.decode(chunk, not chunk)
        except UnicodeDecodeError:
            return False
        if "\x00" in text:
            return False
        n = len(_HAN.findall(text))
        han += n
        others += len(_NOT_ASCII.findall(text)) - n
        letters += sum(map(str.isalpha, text))
        if not chunk:
            return han > 9 * others and 5 * han > letters
