"""Marks what looks as if it named a person: names, telephone numbers, mail addresses, identity and record numbers,
exact dates and addresses, in Chinese and English.

It prefers to miss a finding where medicine is full of numbers: doses, laboratory values, scores, durations, years and
public hotlines are no findings. A person decides about each finding, and must still look for what is not found here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from consilium.core.phrases import Phrase
from rubrics.parsing.person_names import name_spans

NAME, PHONE, EMAIL, IDENTITY, RECORD, DATE, ADDRESS = (
    *("name", "phone", "email", "identity", "record", "date", "address"),
)
# Which of two findings at the same place is reported: the surer one.
KINDS = (EMAIL, IDENTITY, RECORD, PHONE, ADDRESS, DATE, NAME)


@dataclass(frozen=True, slots=True)
class PrivacyFinding:
    """``quote`` is at ``start``:``end`` of the text, in code points; ``why`` is what it looks like."""

    kind: str
    start: int
    end: int
    quote: str
    why: Phrase


_HAN = r"\u4e00-\u9fff"
# Full-width digits, letters and signs of Chinese input methods; replaced one for one, so that offsets stay right.
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_NARROW: dict[int, int | str] = {**_WIDE, **_DASHES}

# A random UUID: one in two thousand has digits that look like a telephone number.
_RANDOM_ID = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w])")

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[a-zA-Z0-9-]{1,63}(?:\.[a-zA-Z0-9-]{1,63}){1,5}")

_PHONE_WORD = r"(?:phone|tel|telephone|mobile|cell|fax|whatsapp|电话|手机|联系方式|联系电话|传真)"
_PHONES = re.compile(
    r"(?<![\d.])(?:"
    r"(?:\+?86[- ]?)?1[3-9]\d(?:[- ]?\d{4}){2}"  # Chinese mobile
    r"|0\d{2,3}[- ]\d{7,8}"  # Chinese landline
    r"|\(0\d{2,3}\) ?\d{7,8}"
    r"|(?:\+\d{1,3}|(?<!\d)0044)[ .-]?\(?\d{1,4}\)?(?:[ .-]?\d{2,4}){2,4}"  # international
    r"|(?:\+?1[ .-])?\(\d{3}\) ?\d{3}[ .-]\d{4}"  # North America
    r"|(?:1[.-])?[2-9]\d{2}([.-])\d{3}\1\d{4}"
    # United Kingdom: 01632 960001, 0131 496 0001, 020 7946 0001, the area code in brackets or not
    r"|(?:\(0[1-9]\d{3}\) ?|0[1-9]\d{3}[ -])\d{3}[ -]?\d{3}"
    r"|(?:\(0[1-9]\d\d\) ?|0[1-9]\d\d[ -])\d{3}[ -]\d{4}"
    r"|(?:\(02\d\) ?|02\d[ -]?)\d{4}[ -]\d{4}"
    r"|07\d{9}|020[378]\d{7}"
    r")(?![\d-]|\.\d)"
)
_TOLL_FREE = re.compile(
    r"(?:\+?1[ .-]?)?\(?(?:400|8(?:00|33|44|55|66|77|88))\)?[ .-]"
)  # lines of institutions, not of people
_PHONE_AFTER = re.compile(
    rf"{_PHONE_WORD}(?: ?(?:number|no\.?|号码|号))?(?: is|是|为)? ?[:# ] ?(\+?\d[\d ().-]{{5,18}}\d)", re.IGNORECASE
)

# “Ext. 4471”; angles of an extension have fewer digits.
_EXTENSION = re.compile(
    r"(?:(?<![A-Za-z])ext(?:n?\.?|ension)|分机)(?: ?(?:number|no\.?|号))? ?[:#]? ?(\d{4,6})"
    r"(?!\d|\.\d| ?(?:[°%]|kcal|kJ|deg|m[gl]|days|years))",
    re.IGNORECASE,
)
_ACCOUNT_AFTER = re.compile(
    r"(?:微信|wechat|weixin|(?<![A-Za-z])QQ|钉钉|抖音|小红书|微博)"
    r"(?: ?(?:号码|账号|号|id|number|account))?(?: is|是|为)? ?[: ] ?((?=[A-Za-z_-]*\d)[A-Za-z\d][A-Za-z\d_-]{4,19})"
    r"|(?:微信|QQ|钉钉|抖音|小红书|微博)(?:号码|账号|号|id)(?:是|为|叫)? ?[: ]? ?([A-Za-z\d][A-Za-z\d_-]{4,19})",
    re.IGNORECASE,
)

_CHINESE_ID = re.compile(
    r"(?<![\dA-Za-z])[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![\dA-Za-z])"
)
_OLD_CHINESE_ID = re.compile(
    r"(?<![\dA-Za-z.])[1-8]\d{5}\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}(?![\dA-Za-z]|\.\d)"
)
_SSN = re.compile(r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
_ID_AFTER = re.compile(
    r"(?:身份证|护照|医保卡|医保|社保卡|社保|军官证|港澳通行证)(?:号码|编号|卡号|号)?"
    r"(?:是|为)? ?[: ]? ?([A-Za-z]{0,3}\d[\dXx]{5,18})"
    r"|\b(?:passport|national id(?:entity)?|identity card|id card|social security|ssn|nhs|insurance|medicare|medicaid|"
    r"driver'?s? licen[cs]e)(?: (?:number|no\.?|id|#))?(?: is)? ?[:#]? ?([A-Z]{0,3}\d[\d -]{4,16}\d)",
    re.IGNORECASE,
)
_RECORD_AFTER = re.compile(
    r"(?:住院|病历|病案|门诊|就诊卡|就诊|病例|登记|检查|影像|标本|样本|条码|医嘱)"
    r"(?:号码|编号|号)(?:是|为)? ?[: ]? ?([A-Za-z]{0,4}-?\d[\d-]{2,17})"
    r"|\b(?:mrn|urn|(?:medical |health |hospital |patient )record(?: (?:number|no\.?|id))|medical record|"
    r"(?:hospital|patient|chart|accession|admission|specimen)(?: (?:number|no\.?|id)))(?: is)? ?[:#]{0,2} ?"
    r"([A-Z]{0,4}-?\d[\d-]{2,17})",
    re.IGNORECASE,
)

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MON = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:19|20)\d{2}"
_DATES = re.compile(
    rf"(?<![\d./-]){_YEAR}([-/.]){_MON}\1{_DAY}(?![\d]|[./-]\d)"
    rf"|(?<!\d){_YEAR} ?年 ?{_MON} ?月 ?{_DAY} ?[日号]"
    rf"|(?<![\d年]){_MON} ?月 ?{_DAY} ?[日号](?!楼)"
    rf"|(?<![\d./-]){_DAY}([-/.]){_DAY}\2{_YEAR}(?![\d]|[./-]\d)"
    rf"|(?<!\w){_DAY}(?:st|nd|rd|th)?(?: of)?[ -]{_MONTH}\.?,?[ -]{_YEAR}(?!\d)"
    rf"|(?<!\w){_MONTH}\.? {_DAY}(?:st|nd|rd|th)?,? {_YEAR}(?!\d)"
    # Without a year, only where a day is clearly meant; "may 10 mg" and "Mar 5" in a list are not dates.
    rf"|(?<=\bon ){_MONTH} {_DAY}(?:st|nd|rd|th)?(?![\d.,]\d| ?(?:mg|g|ml|mcg|%))\b"
    rf"|(?<=\bon ){_DAY}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b"
)
_BIRTH = re.compile(
    rf"(?:\bDOB|\bborn(?: on)?|\bdate of birth|出生日期|出生于|生日)(?: is|是|为)? ?:? ?"
    rf"({_DAY}[-/.]{_DAY}[-/.]\d{{2}}(?!\d)|\d{{2}}[-/.]{_MON}[-/.]{_DAY}(?!\d)|{_YEAR}(?:0[1-9]|1[0-2])[0-3]\d(?!\d))",
    re.IGNORECASE,
)

_STREETS = r"(?:Street|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Drive|Court|Terrace|Highway|Hwy|Crescent)"
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|OR|PA|"
    "RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY|DC"
)
_ADDRESSES = re.compile(
    r"(?<![\w.,/-])\d{1,5}[A-Z]? (?:[NSEW]\.? )?"
    rf"(?:[A-Z][a-z'-]{{1,20}} |\d{{1,3}}(?:st|nd|rd|th) ){{1,3}}{_STREETS}\b"
    r"|(?<![\w.,/-])\d{1,5} (?:[A-Z][a-z'-]{1,20} ){1,3}(?:St|Dr|Ln|Ct|Pl)(?=\.|,|$|\n)"
    r"|\bP\.? ?O\.? Box \d{1,6}\b"
    rf"|, (?:{_STATES}) \d{{5}}(?:-\d{{4}})?(?![\d.])"
    rf"|[{_HAN}]{{2,12}}(?:路|街|大道|巷|弄|胡同) ?\d{{1,5}} ?(?:号|弄)(?:[{_HAN}\d]{{0,12}}(?:室|栋|幢|单元))?"
    rf"|[{_HAN}]{{2,8}}(?:小区|花园|家园|公寓|新村|社区|村)[{_HAN}]{{0,4}}\d{{1,4}} ?(?:号楼|号|栋|幢|单元|组|座)"
    r"|\d{1,4} ?(?:号楼|栋|幢) ?\d{1,3} ?单元(?: ?\d{1,5} ?室?)?",
)


def _plain(pattern: re.Pattern[str], keep: Callable[[str], bool] = lambda _quote: True) -> _Finder:
    def find(text: str) -> list[tuple[int, int]]:
        return [match.span() for match in pattern.finditer(text) if keep(match.group())]

    return find


def _group(pattern: re.Pattern[str]) -> _Finder:
    """Finds the group of ``pattern`` that matched: the number after its label."""

    def find(text: str) -> list[tuple[int, int]]:
        return [match.span(match.lastindex or 0) for match in pattern.finditer(text)]

    return find


def _has_enough_digits(quote: str) -> bool:
    return 7 <= sum(map(str.isdigit, quote)) <= 15


def valid_chinese_id(number: str) -> bool:
    """Whether the last of 18 places is the check digit of the rest (GB 11643, ISO 7064 MOD 11-2)."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(weight * int(digit) for weight, digit in zip(weights, number[:17], strict=True))
    return "10X98765432"[total % 11] == number[17].upper()


_Finder = Callable[[str], list[tuple[int, int]]]
_FINDERS: tuple[tuple[str, _Finder, Phrase], ...] = (
    (EMAIL, _plain(_EMAIL), Phrase("It looks like an email address.")),
    (IDENTITY, _plain(_CHINESE_ID, valid_chinese_id), Phrase("It looks like a Chinese identity number.")),
    (IDENTITY, _plain(_OLD_CHINESE_ID), Phrase("It looks like a Chinese identity number of the old kind.")),
    (IDENTITY, _plain(_SSN), Phrase("It looks like a United States social security number.")),
    (IDENTITY, _group(_ID_AFTER), Phrase("The words before it indicate an identity or insurance number.")),
    (RECORD, _group(_RECORD_AFTER), Phrase("The words before it indicate a medical record number.")),
    (IDENTITY, _group(_ACCOUNT_AFTER), Phrase("The words before it indicate an account of a messaging service.")),
    (PHONE, _group(_EXTENSION), Phrase("The words before it indicate a telephone number.")),
    (PHONE, _group(_PHONE_AFTER), Phrase("The words before it indicate a telephone number.")),
    (
        PHONE,
        _plain(_PHONES, lambda quote: _has_enough_digits(quote) and not _TOLL_FREE.match(quote)),
        Phrase("It looks like a telephone number."),
    ),
    (ADDRESS, _plain(_ADDRESSES), Phrase("It looks like an address.")),
    (DATE, _plain(_DATES), Phrase("It is an exact date; a year or the time since then is enough.")),
    (DATE, _group(_BIRTH), Phrase("It looks like a date of birth.")),
    (NAME, name_spans, Phrase("It looks like a person's name.")),
)


# A run looks at the texts of a case before each of its steps. Longer texts are not kept, which bounds the memory.
KEPT_TEXTS = 4096
KEPT_LENGTH = 10_000


def findings(text: str) -> list[PrivacyFinding]:
    """What in ``text`` looks as if it named a person, in order; no two overlap."""
    return list(_kept_findings(text) if len(text) <= KEPT_LENGTH else _findings(text))


def _findings(text: str) -> tuple[PrivacyFinding, ...]:
    narrow = _RANDOM_ID.sub(lambda match: "x" * len(match[0]), text.translate(_NARROW))
    taken: list[PrivacyFinding] = []
    for kind, find, why in _FINDERS:
        for start, end in find(narrow):
            if end > start and not any(start < finding.end and finding.start < end for finding in taken):
                taken.append(PrivacyFinding(kind, start, end, text[start:end], why))
    return tuple(sorted(taken, key=lambda finding: finding.start))


_kept_findings = lru_cache(KEPT_TEXTS)(_findings)
