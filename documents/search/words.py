"""From text to the terms of the index: stems of words, numbers with their units, and pairs of Han characters.

A query and a passage go through the same functions, so nothing in a query is ever syntax.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

import tantivy

# Part of the manifest of every index: one of another number is built again. Raise it when terms change.
TERMS_VERSION = 1

MAX_TERM_BYTES = 100  # longer ones are no words
HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
HAN_RUN = re.compile(f"[{HAN}]+")
_WORD = r"[\p{L}\p{M}\p{N}_%°--\p{Han}]"

# Every spelling of a unit, and the one that is in the index. In both languages, so that 15毫克/公斤 is 15 mg/kg.
_UNITS = {
    "kg": ("kg", "千克", "公斤"),
    "g": ("g", "克"),
    "mg": ("mg", "毫克"),
    "ug": ("µg", "μg", "ug", "mcg", "微克"),
    "ng": ("ng", "纳克"),
    "pg": ("pg", "皮克"),
    "l": ("l", "升"),
    "dl": ("dl", "分升"),
    "ml": ("ml", "毫升"),
    "mol": ("mol", "摩尔"),
    "mmol": ("mmol", "毫摩尔"),
    "umol": ("µmol", "μmol", "umol", "微摩尔"),
    "nmol": ("nmol", "纳摩尔"),
    "pmol": ("pmol", "皮摩尔"),
    "meq": ("meq", "毫当量"),
    "iu": ("iu", "国际单位"),
    "u": ("u", "unit", "units", "单位"),
    "mmhg": ("mmhg", "毫米汞柱"),
    "cmh2o": ("cmh2o", "厘米水柱"),
    "kpa": ("kpa", "千帕"),
    "cm": ("cm", "厘米"),
    "mm": ("mm", "毫米"),
    "kcal": ("kcal", "千卡"),
    "kj": ("kj", "千焦"),
    "°c": ("°c", "摄氏度"),
    "bpm": ("bpm",),
    "min": ("min", "mins", "分钟"),
    "h": ("h", "hr", "hrs", "小时"),
    "%": ("%",),
}
_PER = {
    **_UNITS,
    "h": ("h", "hr", "hour", "小时"),
    "min": ("min", "minute", "分钟"),
    "m2": ("m2", "平方米"),
    "day": ("d", "day", "天", "日"),
    "dose": ("dose", "次"),
    "week": ("wk", "week", "周"),
}


def _alternatives(units: dict[str, tuple[str, ...]]) -> str:
    spellings = sorted((spelling for group in units.values() for spelling in group), key=len, reverse=True)
    # A Latin unit ends where its letters end; a Han one has no end of its own.
    return "|".join(re.escape(each) + ("(?![a-z0-9])" if each.isascii() or each[-1].isascii() else "")
                    for each in spellings)  # fmt: skip


_SPELLED = {spelling: unit for units in (_UNITS, _PER) for unit, group in units.items() for spelling in group}
QUANTITY = re.compile(
    r"(?<![a-z0-9.,])(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)[ \u00a0\u202f\u2009-]?"
    rf"(?P<unit>{_alternatives(_UNITS)})(?P<per>(?:\s?(?:/|\bper\b|每)\s?(?:{_alternatives(_PER)}))*)",
    re.IGNORECASE,
)
_NEXT_PER = re.compile(r"\s?(?:/|\bper\b|每)\s?", re.IGNORECASE)


def normalize(text: str) -> str:
    """The text as the index reads it: one form of each character, and each number joined to its unit.

    ``15 mg/kg/day`` becomes ``15mg_kg_day 15mg_kg``, so that who looks for the dose per kilogram finds it too.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return QUANTITY.sub(lambda match: f" {' '.join(quantities(match))} ", text.replace("_", " "))


def quantities(match: re.Match[str]) -> list[str]:
    """The terms of a match of `QUANTITY`, the whole first."""
    first = match["number"].replace(",", "") + _SPELLED[match["unit"].lower()]
    others = [_SPELLED[spelling.lower()] for spelling in _NEXT_PER.split(match["per"]) if spelling]
    wholes = ["_".join([first, *others[:count]]) for count in range(len(others), 0, -1)]
    return wholes or [first]


@cache
def analyzer() -> tantivy.TextAnalyzer:
    """Splits normalized text into words and brings each to its English stem."""
    splitter = tantivy.Tokenizer.regex(rf"[0-9]+(?:[.][0-9]+)+{_WORD}*|{_WORD}+")
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(splitter).filter(filters.remove_long(MAX_TERM_BYTES))
    builder = builder.filter(filters.lowercase()).filter(filters.ascii_fold())
    return builder.filter(filters.stemmer("english")).build()


def stems(normalized: str) -> list[str]:
    """The stems of a normalized text, in order."""
    return analyzer().analyze(normalized)


def pairs(normalized: str) -> Iterator[str]:
    """Each two neighbouring Han characters, and the last character of each run of them.

    The last character lets a query of one character find it, by the terms that begin with it.
    """
    for match in HAN_RUN.finditer(normalized):
        run = match[0]
        for place in range(len(run) - 1):
            yield run[place : place + 2]
        yield run[-1]


def query_pairs(normalized: str) -> Iterator[str]:
    """The pairs of a query. A character that stands alone stays one character."""
    for match in HAN_RUN.finditer(normalized):
        run = match[0]
        if len(run) == 1:
            yield run
        for place in range(len(run) - 1):
            yield run[place : place + 2]
