"""Detects the language of a text: by its script, and in the Latin script by words; undecided when unsure.

Measured on the 120 examples of HealthBench that come with the tests, and on sentences in 21 languages that these lists
were not written from (`tests/rubrics/parsing/test_language.py`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from rubrics.parsing.language_words import LETTERS, VIETNAMESE, words_by_language

SAMPLE = 2000
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PLAIN_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")  # the same for ASCII texts, in half the time
_CODE = re.compile(r"```.*?(?:```|\Z)|https?://\S+", re.DOTALL)
# A share of letters above which the script of a text decides. Chinese texts hold many names of drugs in Latin letters,
# and a Chinese character says as much as several letters.
_SCRIPT_SHARE, _HAN_SHARE = 0.5, 0.2
_SCRIPTS = {
    "ja": "\u3040-\u30ff",
    "zh": "\u3400-\u4dbf\u4e00-\u9fff",
    "ko": "\u1100-\u11ff\uac00-\ud7af",
    "ru": "\u0400-\u04ff",
    "ar": "\u0600-\u06ff\u0750-\u077f",
    "he": "\u0590-\u05ff",
    "el": "\u0370-\u03ff",
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "si": "\u0d80-\u0dff",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f",
    "ka": "\u10a0-\u10ff",
    "am": "\u1200-\u137f",
    "km": "\u1780-\u17ff",
    "hy": "\u0530-\u058f",
}
_IN_SCRIPT = {language: re.compile(f"[{letters}]") for language, letters in _SCRIPTS.items()}
# Languages that share the script of another, by letters that only they have.
_BY_LETTER = {
    "ru": (("uk", "іїєґ"), ("be", "ў"), ("sr", "ђћљњџј"), ("bg", "")),
    "ar": (("ur", "ٹڈڑےںھ"), ("fa", "پچژگکی")),
    "hi": (("mr", "ळ"),),
}
_BULGARIAN = re.compile(
    r"\b(?:ако|беше|бъде|във|дали|имам|към|който|която|които|моля|няма|са|се|само"
    r"|със|съм|тази|тези|този|това|трябва|ще)\b"
)
_MARATHI = re.compile(r"आहे|नाही|आणि|साठी|करा|मध्ये|झाल")
_RUSSIAN_ONLY = re.compile("[ыэё]")
_ENOUGH_WORDS = 3  # fewer words decide only if each is a word of the language
_SHARE = 0.3  # of the words of a text that must speak for a language
_LEAD = 1.4  # times as much as for the next one
_ALIKE, _LEAD_AMONG_ALIKE = {"da", "nb"}, 1.02  # most words are the same
_MIN_LETTERS = 4  # of all words
_MIN_SCORE = 0.7  # one word that two languages have


def detect_language(text: str) -> str:
    """The tag of the language of ``text``, such as ``zh``, ``es`` or ``hi-Latn``; empty where it is not clear."""
    text = _CODE.sub(" ", text[: SAMPLE * 2])[:SAMPLE]
    if text.isascii():
        return _by_words(_PLAIN_WORD.findall(text.lower()))
    # Words are found before they are put in lower case, which makes two characters of the Turkish İ.
    words = [_lower(word) for word in _WORD.findall(text)]
    letters = sum(map(len, words))
    if letters < 2:
        return ""
    return _by_script(text.lower(), letters) or _by_words(words)


def detect_case_language(conversation: Sequence[Mapping[str, Any]], answers: Sequence[str] = ()) -> str:
    """The language of a case: that of what the user writes, else of the other turns, else of ``answers``.

    A physician answers in the language of the question, so an answer decides where the question is too short: “45y F”.
    """
    turns: dict[bool, list[str]] = {True: [], False: []}
    for turn in conversation:
        turns[turn.get("role") == "user"].append(str(turn.get("content", "")))
    texts = ["\n".join(turns[True]), "\n".join(turns[False]), *answers]
    return next(filter(None, map(detect_language, texts)), "")


def _lower(word: str) -> str:
    return word.replace("İ", "i").replace("’", "'").lower()


def _by_script(text: str, letters: int) -> str:
    """The language of the script that most letters are in; empty for the Latin one."""
    counts = {language: len(pattern.findall(text)) for language, pattern in _IN_SCRIPT.items()}
    kana, han = counts.pop("ja"), counts.pop("zh")
    if (kana + han) / letters > _HAN_SHARE and kana + han >= 2:
        return "ja" if kana > 0.05 * (kana + han) else "zh"
    language = max(counts, key=counts.__getitem__)
    if counts[language] / letters <= _SCRIPT_SHARE:
        return ""
    if language == "ru":
        return _cyrillic(text)
    for other, own_letters in _BY_LETTER.get(language, ()):
        if sum(text.count(letter) for letter in own_letters) > 0.01 * letters:
            return other
    return "mr" if language == "hi" and _MARATHI.search(text) else language


def _cyrillic(text: str) -> str:
    for language, own_letters in _BY_LETTER["ru"]:
        if own_letters and any(letter in text for letter in own_letters):
            return language
    if not _RUSSIAN_ONLY.search(text) and (_BULGARIAN.search(text) or "ъ" in text):
        return "bg"
    return "ru"


@cache
def _lexicon() -> dict[str, tuple[tuple[str, float], ...]]:
    """Word → languages that have it, each with its weight: a word of one language says more than one of several."""
    languages: dict[str, list[str]] = {}
    for language, words in words_by_language().items():
        for word in dict.fromkeys(words):
            languages.setdefault(word, []).append(language)
    return {word: tuple((name, 1 / len(names) ** 0.5) for name in names) for word, names in languages.items()}


def _by_words(words: Sequence[str]) -> str:
    """The language that most of ``words`` speak for, if it is clearly ahead of the next."""
    words = [word for word in words if len(word) > 1 or word in _ONE_LETTER]
    if sum(map(len, words)) < _MIN_LETTERS:
        return ""
    lexicon, scores, hits = _lexicon(), defaultdict[str, float](float), Counter[str]()
    for word in words:
        known = lexicon.get(word, ())
        for language, weight in known:
            scores[language] += weight
            hits[language] += 1
        if not known and not word.isascii():
            _count_letters(word, scores, hits)
    if not scores:
        return ""
    ranking = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    (best, most), (other, second) = [*ranking, ("", 0.0)][:2]
    if hits[best] < (len(words) if len(words) < _ENOUGH_WORDS else _SHARE * len(words)):
        return ""
    lead = _LEAD_AMONG_ALIKE if {best, other} == _ALIKE else _LEAD
    return best if most >= lead * second and most >= _MIN_SCORE else ""


_ONE_LETTER = frozenset("aeiouyàèéóöøå")


def _count_letters(word: str, scores: dict[str, float], hits: Counter[str]) -> None:
    """Add what the letters of a word say that no list has."""
    if not VIETNAMESE.isdisjoint(word) and not {"ă"} >= VIETNAMESE.intersection(word):
        scores["vi"] += 1
        hits["vi"] += 1
        return
    names = [name for letter in set(word) & LETTERS.keys() for name in LETTERS[letter]]
    for name in dict.fromkeys(names):
        scores[name] += 0.8 / len(set(names)) ** 0.5
        hits[name] += 1
