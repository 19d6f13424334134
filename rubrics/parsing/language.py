"""Detects the language of a text by its script: separates Chinese cases from others, undecided when unsure."""

from __future__ import annotations

import re

_HAN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")
_KANA_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
# Frequent words of English that related languages in the Latin script do not share.
_ENGLISH = frozenset(
    (
        "the",
        "and",
        "is",
        "are",
        "my",
        "have",
        "what",
        "with",
        "for",
        "how",
        "can",
        "should",
        "this",
        "you",
        "i",
        "of",
        "to",
    )
)
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN_WORD = re.compile(r"[a-z]+")  # the same for ASCII texts, in half the time
SAMPLE = 2000


def detect_language(text: str) -> str:
    """``zh``, ``en``, or empty where the text is too short or mixed, or in another language."""
    text = text[:SAMPLE]
    # Words of other texts are found before they are put in lower case, which makes two characters of the Turkish İ.
    words = _PLAIN_WORD.findall(text.lower()) if text.isascii() else list(map(str.lower, _WORD.findall(text)))
    letters = sum(map(len, words))
    if letters < 4:
        return ""
    if not text.isascii():
        han = len(_HAN.findall(text))
        if han / letters > 0.4:
            return "" if len(_KANA_HANGUL.findall(text)) / letters > 0.05 else "zh"
        if han == 0 and sum(not word.isascii() for word in words) / len(words) > 0.1:
            return ""
    english = sum(map(_ENGLISH.__contains__, words))
    return "en" if len(words) >= 3 and english / len(words) > 0.15 else ""
