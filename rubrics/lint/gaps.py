"""Placeholders: brackets that name something to fill in, such as “[drug]”, told from others by their words."""

from __future__ import annotations

import re
from functools import cache

from rubrics.bank.consensus import consensus

BRACKETS = re.compile(r"\[[^\[\]\n]{1,60}\]|【[^【】\n]{1,60}】|\{[^{}\n]{1,60}\}|_{3,}")

_NOUNS = (
    "drug|medicine|medication|name|dose|dosage|age|sex|weight|number|value|quantity|amount|level|range|limit|"
    "score|stage|grade|date|time|duration|frequency|interval|route|symptom|sign|complaint|condition|disease|disorder|"
    "illness|diagnosis|diagnoses|treatment|therapy|therapies|procedure|test|result|finding|guideline|indication|"
    "contraindication|allergy|allergies|comorbidity|comorbidities|complication|specialty|country"
)
_BESIDE = (
    "a|an|the|of|and|or|with|units?|this|that|another|other|first|second|third|specific|relevant|exact|correct|target|"
    r"daily|total|maximum|minimum|patient|patient['’]s|generic|brand|adverse|side|lab|laboratory|[a-d]|[1-9]"
)
_UNITS = r"\S*[/%]\S*|mg|g|mcg|[µμ]g|kg|ml|l|mmol|mmhg|cm|mm|minutes|hours|days|weeks|months|years"
# “drug”, “name of the test”, “drug 1”, “dose, in mg/day”
_NAMED = re.compile(
    rf"(?=.*\b(?:{_NOUNS})s?\b)(?:(?:(?:{_NOUNS})s?|{_BESIDE})(?:[\s,;:/]+|$))+(?:in (?:{_UNITS}))?", re.IGNORECASE
)
_ASKED = re.compile(r"(?:insert|fill(?: it)? in|to be (?:filled in|added|determined|confirmed))\b.*", re.IGNORECASE)
_MARKS = re.compile(r"X+|TBD|TBC|TODO")
_ZH_NOUNS = (
    "药物|药名|药品|名称|姓名|剂量|用量|用法|年龄|性别|体重|数字|数值|数量|号码|"
    "范围|单位|评分|分期|分级|日期|时间|时长|时限|疗程|频率|频次|间隔|途径|症状|"
    "体征|主诉|疾病|病名|病情|诊断|治疗|操作|检查|检验|检测|结果|所见|指南|适应证|"
    "适应症|禁忌证|禁忌症|过敏史|合并症|并发症|科室|专科|国家"
)
_ZH_BEFORE = r"(?:某种?|具体|相关|其他|患者)?的?"
_ZH_NAMED = re.compile(rf"{_ZH_BEFORE}(?:(?:{_ZH_NOUNS})[或和及与、，/的\s]*)+[甲乙丙丁A-D1-9一二三]?")
_ZH_ASKED = re.compile("(?:请?(?:填写|填入|插入|输入)|待填|待补|待定|待确认).*")


def placeholders(text: str) -> list[re.Match[str]]:
    """The placeholders in an author's text, in their order: “[drug]”, “【药物】”, “[insert the dose]”.

    Their words name what is missing: they are words of a short list, or a placeholder of the consensus bank. All else
    in brackets is none: “[mmol/L]”, “[K+]”, “[COPD]”, “[or ibuprofen]”, “[guideline](https://…)”.
    """
    return [match for match in BRACKETS.finditer(text) if not _is_link(match) and is_placeholder(match.group())]


def is_placeholder(bracket: str) -> bool:
    """Whether a bracket, such as “[drug]”, names something to fill in."""
    if bracket.startswith("_"):
        return True
    inside = bracket[1:-1].strip(" .…:：")
    named = (_NAMED, _ASKED, _MARKS, _ZH_NAMED, _ZH_ASKED)
    return inside.casefold() in _of_the_bank() or any(pattern.fullmatch(inside) for pattern in named)


def _is_link(match: re.Match[str]) -> bool:
    return match.string[match.end() : match.end() + 5].startswith("(http")


@cache
def _of_the_bank() -> frozenset[str]:
    texts = (text for entry in consensus() for text in entry.text.values())
    return frozenset(match.group()[1:-1].casefold() for text in texts for match in BRACKETS.finditer(text))
