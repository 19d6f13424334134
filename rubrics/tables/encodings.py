"""Tells in which encoding a table was saved: UTF-8, or what Excel writes in China (GB18030) and in the West."""

from __future__ import annotations

import codecs
import re
from typing import BinaryIO

UTF8, GB18030, WINDOWS_1252 = "utf-8", "gb18030", "windows-1252"
NAMES = {UTF8: "UTF-8", GB18030: "GB18030", WINDOWS_1252: "Windows-1252"}
CHUNK_BYTES = 1 << 20
# Nearly all characters of Chinese texts have both of their bytes from A1 on. A letter with an accent that stands before
# an ordinary letter in Windows-1252 looks like a rare character whose second byte is below.
_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]|[\x81-\xfe][\x30-\x39][\x81-\xfe][\x30-\x39]")
COMMON_SHARE = 0.9


def encoding_of(file: BinaryIO, max_bytes: int) -> str:
    """The encoding of the first ``max_bytes`` of a seekable file, which is left at its start.

    A file that is UTF-8 save for some damaged bytes counts as UTF-8, so that its reader names the first of them.
    """
    sample = _until_not_utf8(file, max_bytes)
    if sample is None:
        return UTF8
    if has_utf8_characters(sample):
        return UTF8
    if _is_chinese(sample):
        return GB18030
    # Windows-1252 has five bytes without a meaning. FE and FF are letters of Icelandic and none, and begin files of
    # other kinds; texts have no control characters but tabs and line ends. Halves of surrogate pairs are damaged UTF-8.
    if re.search(rb"\xed[\xa0-\xbf][\x80-\xbf]|[\x81\x8d\x8f\x90\x9d\xfe\xff\x00-\x08\x0e-\x1f]", sample):
        return UTF8
    return WINDOWS_1252


def _until_not_utf8(file: BinaryIO, max_bytes: int) -> bytes | None:
    """The whole file, at most ``max_bytes``, if it is not UTF-8; else None."""
    decoder, chunks, size = codecs.getincrementaldecoder("utf-8")(), [], 0
    is_utf8 = True
    while size < max_bytes and (chunk := file.read(min(CHUNK_BYTES, max_bytes - size))):
        chunks.append(chunk)
        size += len(chunk)
        if is_utf8:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                is_utf8 = False
    file.seek(0)
    if is_utf8:
        try:
            decoder.decode(b"", final=size < max_bytes)
        except UnicodeDecodeError:
            is_utf8 = False
    return None if is_utf8 else b"".join(chunks)


def has_utf8_characters(sample: bytes) -> bool:
    """Whether most bytes beyond ASCII are parts of sound characters of UTF-8."""
    beyond = sum(byte > 0x7F for byte in sample)
    sound = len(sample.decode("utf-8", "ignore").encode()) - (len(sample) - beyond)
    return sound * 2 > beyond


def _is_chinese(sample: bytes) -> bool:
    try:
        sample.decode(GB18030)
    except UnicodeDecodeError as error:
        if error.end < len(sample):  # not only a character that the end of the sample cuts
            return False
    pairs = _PAIR.findall(sample)
    common = sum(len(pair) == 4 or pair[1] >= 0xA1 for pair in pairs)
    return bool(pairs) and common >= COMMON_SHARE * len(pairs)
