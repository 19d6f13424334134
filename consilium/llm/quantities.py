"""Numbers with their units, times, and words like names of drugs, in forms that compare equal. Pure.

Units have one form in English and Chinese, long or short: ``24 hours``, ``24h`` and ``24小时`` are the same. So are
``3 times a day`` and ``three times daily``. Nothing is converted: 1 g is not 1,000 mg, because what is compared are
texts, of which the one should say what the other says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

_SPELLINGS: Mapping[str, str] = {
    "ug": "microgram|micrograms|mcg|μg|ug|微克",
    "mg": "milligram|milligrams|mg|毫克",
    "g": "gram|grams|g|克",
    "kg": "kilogram|kilograms|kg|千克|公斤",
    "ml": "millilitre|millilitres|milliliter|milliliters|ml|毫升",
    "dl": "dl|分升",
    "l": "litre|litres|liter|liters|l|升",
    "mmol": "mmol|毫摩尔",
    "umol": "μmol|umol|微摩尔",
    "mol": "mol|摩尔",
    "meq": "meq|毫当量",
    "iu": "iu|international units|国际单位",
    "unit": "unit|units|单位",
    "mmhg": "mmhg|毫米汞柱",
    "cm": "cm|厘米",
    "mm": "mm|毫米",
    "bpm": "bpm",
    "°c": "°c|c|degrees celsius|摄氏度",
    "°f": "°f|f|degrees fahrenheit|华氏度",
    "degree": "degree|degrees|度",
    "%": "%|percent|per cent",
    "tablet": "tablet|tablets|片",
    "capsule": "capsule|capsules|粒",
    "puff": "puff|puffs|喷",
    "drop": "drop|drops|滴",
    "dose": "dose|doses|剂",
    "time": "time|times|次",
    "second": "second|seconds|sec|secs|秒",
    "minute": "minute|minutes|min|mins|分钟",
    "hour": "hour|hours|hr|hrs|h|小时",
    "day": "day|days|d|天|日",
    "week": "week|weeks|wk|wks|周",
    "month": "month|months|个月|月",
    "year": "year|years|yr|yrs|岁|年",
    "fold": "倍",
}
_UNIT_OF = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split("|")}
# The longest first. A Latin unit ends where its letters end.
_UNIT = "|".join(
    re.escape(spelling) + (r"(?![^\W_])" if spelling[-1].isascii() and spelling[-1].isalpha() else "")
    for spelling in sorted(_UNIT_OF, key=len, reverse=True)
)
_ADVERBS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year"}
_PER = r"\s?(?:/|\bper\b|\ba\b|\ban\b|\bevery\b|\beach\b|每)\s?"
_WORDS = {
    **{
        word: str(number)
        for number, word in enumerate(
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1
        )
    },
    "eleven": "11",
    "twelve": "12",
    **{word: str(number) for number, word in enumerate("一二三四五六七八九十", 1)},
    "两": "2",
    "半": "0.5",
}
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_FIGURE = r"\d+(?:[.,]\d+)*"
# A number does not begin within a word, as in B12, unless that is of Han characters.
_BEGIN = rf"(?:(?<=[{_HAN}])|(?<![^\W_]))(?<!\d[.,])"
_UNITS = rf"(?P<unit>{_UNIT})(?P<per>(?:{_PER}(?:{_UNIT})|\s(?:{'|'.join(_ADVERBS)})\b)*)"
_RANGE = r"\s?(?:[-–~～—至]|\bto\b|\bor\b|或|到)\s?"
_NUMBER = re.compile(
    rf"{_BEGIN}(?P<first>{_FIGURE})(?:{_RANGE}(?P<last>{_FIGURE}))?(?:[ \u2009-]?{_UNITS})?", re.IGNORECASE
)
# A number that is written out counts only with a unit.
_WRITTEN = "|".join(sorted(_WORDS, key=len, reverse=True))
_IN_WORDS = re.compile(
    rf"(?:(?<![^\W_])|(?<=[{_HAN}]))(?P<first>{_WRITTEN})(?:{_RANGE}(?P<last>{_WRITTEN}))?[ -]?{_UNITS}", re.IGNORECASE
)
_ADVERB_OF_TIMES = {"once": "1 time", "twice": "2 time", "thrice": "3 time"}
_TIMES = re.compile(
    rf"\b(?P<word>once|twice|thrice)(?P<per>{_PER}(?:{_UNIT})|\s(?:{'|'.join(_ADVERBS)})\b)", re.IGNORECASE
)
_RAISED = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")

_WHEN = re.compile(
    r"\b(?:immediately|at once|urgently|today|tonight|tomorrow|same day|overnight|daily|weekly|monthly|hourly|"
    r"right away|straight away|before meals|after meals|with meals|at bedtime|as soon as possible)\b|"
    r"立即|立刻|马上|尽快|当天|当日|今天|今晚|明天|每日|每天|每周|每月|饭前|餐前|饭后|餐后|睡前",
    re.IGNORECASE,
)
_DRUG = re.compile(
    r"\b[a-z]*(?:cillin|mycin|micin|cycline|oxacin|sulfa|prim|azole|prazole|tidine|setron|triptan|statin|fibrate|pril|"
    r"sartan|olol|dipine|thiazide|semide|lactone|formin|gliptin|gliflozin|glutide|glitazone|parin|xaban|gatran|grel|"
    r"profen|fenac|oxicam|coxib|caine|codone|morphone|fentanyl|zepam|zolam|barbital|oxetine|ipramine|triptyline|"
    r"peridol|azine|apine|idone|mab|nib|ciclib|vir|vudine|sone|solone|onide|terol|tropium|lukast|phylline|trexate|"
    r"cetamol|aspirin|insulin|warfarin|digoxin|lithium|morphine|heparin|colchicine|steroids?)\b",
    re.IGNORECASE,
)
# A word that a dose is of, whatever it ends in.
_DOSED = re.compile(rf"\d\s?(?:{_UNIT})\s+of\s+([A-Za-z][A-Za-z-]{{3,}})", re.IGNORECASE)
_HAN_DRUG = re.compile(
    "[\u4e00-\u9fff]{1,3}(?:西林|霉素|环素|沙星|康唑|拉唑|替丁|他汀|普利|沙坦|洛尔|地平|噻嗪|双胍|列汀|列净|肝素|沙班|"
    "洛芬|昔布|卡因|西泮|唑仑|西汀|替林|单抗|替尼|韦|松龙|特罗|司特|茶碱|酰氨基酚|司匹林|胰岛素|法林|蝶呤|秋水仙碱)"
)
_NO_DRUGS = frozenset(
    {"someone", "medicine", "magazine", "prone", "person", "reason", "season", "comparin", "alone", "body", "weight"}
)


def numbers_in(text: str) -> dict[str, str]:
    """The numbers with units of a text: a form that compares equal, and the words that stand there."""
    return {form: words for form, words in _numbers(text).items() if " " in form}


def figures_in(text: str) -> dict[str, str]:
    """All numbers of a text, also those without a unit; a written number counts only with a unit."""
    return _numbers(text)


def _numbers(text: str) -> dict[str, str]:
    text = _plain(text)
    forms: dict[str, str] = {}
    for pattern in (_NUMBER, _IN_WORDS):
        for match in pattern.finditer(text):
            unit = _unit(match["unit"], match["per"])
            for number in filter(None, (match["first"], match["last"])):
                forms.setdefault(f"{_value(number)} {unit}".strip(), match[0].strip())
    for match in _TIMES.finditer(text):
        forms.setdefault(f"{_ADVERB_OF_TIMES[match['word'].lower()]}{_per(match['per'])}", match[0].strip())
    return forms


def _plain(text: str) -> str:
    """A text in NFKC. An exponent stays one: 10⁵ is not 105."""
    return unicodedata.normalize("NFKC", _RAISED.sub(lambda match: f"^{match[0]}", text))


def _value(number: str) -> str:
    number = _WORDS.get(number.lower(), number)
    number = number.replace(",", "") if _THOUSANDS.fullmatch(number) else number.replace(",", ".")
    whole, point, part = number.partition(".")
    part = part.rstrip("0") if "." not in part else part
    return f"{whole.lstrip('0') or '0'}{f'.{part}' if point and part else ''}"


def _unit(unit: str | None, per: str | None) -> str:
    return f"{_UNIT_OF[unit.lower()]}{_per(per or '')}" if unit else ""


def _per(words: str) -> str:
    """``/kg/day`` of “per kg daily”."""
    units = re.findall(rf"{_PER}({_UNIT})|\s({'|'.join(_ADVERBS)})\b", words, re.IGNORECASE)
    return "".join(f"/{_UNIT_OF[unit.lower()] if unit else _ADVERBS[adverb.lower()]}" for unit, adverb in units)


def times_in(text: str) -> dict[str, str]:
    """Times that are said without a number, such as *immediately*: a form that compares equal, and the words."""
    words = [match[0] for match in _WHEN.finditer(_plain(text))]
    return {word.casefold(): word for word in words}


def drugs_in(text: str) -> dict[str, str]:
    """Words like names of drugs: a form that compares equal, and the words that stand there."""
    words = [match[0] for match in _DRUG.finditer(text)]
    words += [match[1] for match in _DOSED.finditer(text)]
    words += [match[0] for match in _HAN_DRUG.finditer(text)]
    return {word.casefold(): word for word in words if len(word) > 2 and word.casefold() not in _NO_DRUGS}


def missing_numbers(text: str, sources: Iterable[str]) -> list[str]:
    """The numbers of ``text`` that no source has with the same unit, as they are written.

    A number without a unit is there if a source has the number at all.
    """
    known = {form for source in sources for form in _numbers(source)}
    bare = {form.partition(" ")[0] for form in known}
    return [
        words for form, words in _numbers(text).items() if form not in (known if " " in form else bare)
    ]  # fmt: skip
