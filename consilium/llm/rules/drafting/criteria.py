"""Criteria: one for each fact or need, from fixed phrases. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consilium.llm.rules.drafting.needs import needs as read_needs
from consilium.llm.rules.drafting.sentences import CRITERIA, WHEN_TO_SEEK_CARE, WHY
from consilium.llm.rules.drafting.texts import language_of, one_line, read_conversation
from consilium.llm.rules.names import INSTRUCTIONS
from consilium.llm.staged import read_numbered

MAX_FIRST = 15  # criteria of the synthesis
MAX_ALL = 20  # with those that the audit adds
_MAX_STATED = re.compile(r"at most ([0-9]{1,3}) criteria|最多 ?([0-9]{1,3}) ?条")
# By kind, the gravest first. Red flags and prohibitions have 8 to 10 in size.
POINTS: Mapping[str, int] = {
    "prohibition": -9,
    "red_flag": 9,
    "missing": 6,
    "asks": 6,
    "number": 7,
    "condition": 5,
    "statement": 4,
    "form": 2,
    "tone": 2,
}
POINTS_NOT_ASKED = -8
# The first axis whose name has one of the words of the kind is taken, else the first axis.
_GRAVE = ("safety", "harm", "accuracy", "correct", "安全", "准确")
_AXES: Mapping[str, tuple[str, ...]] = {
    "prohibition": _GRAVE,
    "red_flag": _GRAVE,
    "number": ("accuracy", "correct", "准确"),
    "condition": ("context", "accuracy", "情境", "准确"),
    "statement": ("completeness", "accuracy", "完整", "准确"),
    "missing": ("context", "情境"),
    "asks": ("completeness", "instruction", "完整"),
    "form": ("instruction", "communication", "指令", "沟通"),
    "tone": ("communication", "沟通"),
}
_KIND = re.compile(r"([a-z_]+): (.*)", re.DOTALL)
_LINKED_FACTS = re.compile(r"\bfacts? ([0-9]+(?:, ?[0-9]+)*)")
_LINKED_NEEDS = re.compile(r"\bneeds? ([0-9]+(?:, ?[0-9]+)*)")


@dataclass(frozen=True, slots=True)
class _Subject:
    """A fact or a need, by its number in the request."""

    kind: str
    text: str
    facts: tuple[int, ...] = ()
    needs: tuple[int, ...] = ()


def synthesis(texts: Mapping[str, str]) -> dict[str, Any]:
    """A criterion for each fact and need, the gravest first, and at most 15, or as many as the instructions allow.

    Without a prohibition, the last question that was not answered becomes what must not be left out before a dose.
    """
    subjects = _subjects(texts)
    language, axes = _language(texts), _axes(texts)
    missing = [subject for subject in subjects if subject.kind == "missing"]
    if missing and not any(subject.kind == "prohibition" for subject in subjects):
        last = missing[-1]
        subjects = [subject for subject in subjects if subject is not last]
        subjects.insert(0, _Subject("not_asked", last.text, needs=last.needs))
    return {
        "criteria": [
            _criterion(subject, language, axes) for subject in _by_weight(subjects)[: _at_most(texts, MAX_FIRST)]
        ]
    }


def direct(texts: Mapping[str, str]) -> dict[str, Any]:
    """Criteria from the conversation alone: when to seek care, and one for each need."""
    language, axes = _language(texts), _axes(texts)
    answer = read_needs(texts)
    questions = [entry["question"] for entry in answer["missing"]]
    subjects = [
        *(_Subject("not_asked", question) for question in questions[-1:]),
        *(_Subject("missing", question) for question in questions[:-1]),
        *(_Subject("asks", entry["text"]) for entry in answer["asks"]),
        *(_Subject("form", entry["text"]) for entry in answer["form"]),
        *(_Subject("tone", text) for text in answer["tone"]),
    ]
    seek_care = {
        **_criterion(_Subject("red_flag", ""), language, axes),
        "text": WHEN_TO_SEEK_CARE[language],
    }
    return {
        "criteria": [seek_care, *(_criterion(subject, language, axes) for subject in subjects)][
            : _at_most(texts, MAX_FIRST)
        ]
    }


def audit(texts: Mapping[str, str]) -> dict[str, Any]:
    """Adds a criterion for each fact and need that none carries, up to 20 in all; finds nothing else."""
    links = read_links(texts)
    facts = {number for linked, _needs in links for number in linked}
    needs = {number for _facts, linked in links for number in linked}
    subjects = [
        subject
        for subject in _subjects(texts)
        if not (facts.issuperset(subject.facts) and needs.issuperset(subject.needs))
    ]
    room = max(0, _at_most(texts, MAX_ALL) - len(read_numbered(texts["CRITERIA"])))
    language, axes = _language(texts), _axes(texts)
    return {
        "add": [_criterion(subject, language, axes) for subject in _by_weight(subjects)[:room]],
        **{name: [] for name in ("unsupported", "irrelevant", "contradicts", "merge", "split", "reword")},
    }


def read_links(texts: Mapping[str, str]) -> list[tuple[set[int], set[int]]]:
    """The facts and the needs of each criterion, from lines such as ``facts 1, 2; needs 3``."""

    def numbers(pattern: re.Pattern[str], line: str) -> set[int]:
        return {int(number) for listed in pattern.findall(line) for number in listed.split(",")}

    lines = [item.text for item in read_numbered(texts["LINKS"])]
    return [(numbers(_LINKED_FACTS, line), numbers(_LINKED_NEEDS, line)) for line in lines]


def _subjects(texts: Mapping[str, str]) -> list[_Subject]:
    """Facts and needs; of facts with the same words, one that names them all."""
    facts: dict[tuple[str, str], list[int]] = {}
    for number, item in enumerate(read_numbered(texts["FACTS"]), 1):
        facts.setdefault(_kind_and_text(item.text, "statement"), []).append(number)
    needs = [_kind_and_text(item.text, "asks") for item in read_numbered(texts["NEEDS"])]
    return [
        *(_Subject(kind, text, facts=tuple(numbers)) for (kind, text), numbers in facts.items()),
        *(_Subject(kind, text, needs=(number,)) for number, (kind, text) in enumerate(needs, 1)),
    ]


def _kind_and_text(item: str, default: str) -> tuple[str, str]:
    match = _KIND.fullmatch(item)
    return (match[1], match[2]) if match and match[1] in POINTS else (default, item)


def _by_weight(subjects: Iterable[_Subject]) -> list[_Subject]:
    order = ["not_asked", *POINTS]
    return sorted(subjects, key=lambda subject: order.index(subject.kind))


def _criterion(subject: _Subject, language: str, axes: Sequence[str]) -> dict[str, Any]:
    kind = subject.kind
    words = one_line(subject.text).replace("“", "‘").replace("”", "’")
    why = "fact" if subject.facts else "need" if subject.needs else "direct"
    return {
        "text": CRITERIA[language][kind].format(words),
        "points": POINTS.get(kind, POINTS_NOT_ASKED),
        "axis": _axis(kind, axes),
        "facts": list(subject.facts),
        "needs": list(subject.needs),
        "why": WHY[language][why],
    }


def _axis(kind: str, axes: Sequence[str]) -> str:
    words = _AXES.get(kind, _GRAVE)
    return next((axis for word in words for axis in axes if word in axis.lower()), axes[0])


def _axes(texts: Mapping[str, str]) -> list[str]:
    return [item.text for item in read_numbered(texts["AXES"])]


def _at_most(texts: Mapping[str, str], most: int) -> int:
    """How many criteria there may be: what the instructions say, if that is less."""
    match = _MAX_STATED.search(texts.get(INSTRUCTIONS, ""))
    return min(most, int(match[1] or match[2])) if match else most


def _language(texts: Mapping[str, str]) -> str:
    return language_of(read_conversation(texts["CASE"]).text)
