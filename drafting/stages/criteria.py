"""Drafted criteria, their links to facts and needs, and what must not be lost when they change. Pure.

A criterion is a row with ``text``, ``points``, ``axis``, ``why``, ``facts`` and ``needs`` (numbers within the case),
and ``marks``: findings of the audit that stay with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from consilium.llm.quantities import drugs_in, figures_in, times_in
from consilium.llm.rules.stems import stems
from drafting.stages import needs as needs_module
from drafting.stages.facts import PROTECTED
from drafting.stages.findings import Finding

Row = Mapping[str, Any]
Criterion = dict[str, Any]

_NEGATED = re.compile(
    r"\b(?:not|never|no|without|avoid(?:s|ing)?|against|discourag\w+|contraindicat\w+|refrain\w*|stop(?:s|ping)?|n't)\b|"
    r"n[’']t\b|不|勿|禁|避免|未|无需|停用|劝阻",
    re.IGNORECASE,
)


def drafted(answer: Row, facts: Sequence[int], needs: Sequence[int]) -> Criterion:
    """A criterion of an answer; its numbers are places in the lists ``facts`` and ``needs`` of numbers of the case."""
    return {
        "text": answer["text"].strip(),
        "points": answer["points"],
        "axis": answer["axis"],
        "facts": sorted(facts[place - 1] for place in answer["facts"]),
        "needs": sorted(needs[place - 1] for place in answer["needs"]),
        "why": answer["why"],
        "marks": [],
    }


def is_negated(text: str) -> bool:
    """Whether a criterion speaks of something that is not done."""
    return _NEGATED.search(text) is not None


def must_be_covered(facts: Iterable[Row], needs: Iterable[Row]) -> tuple[set[int], set[int]]:
    """The usable red flags and prohibitions, and the needs of missing context, each of which a criterion carries."""
    return (
        {fact["number"] for fact in facts if fact["kind"] in PROTECTED},
        {need["number"] for need in needs if need["kind"] == needs_module.MISSING},
    )


def protected_of(numbers: Collection[int], facts: Iterable[Row]) -> list[int]:
    """The red flags and prohibitions among these facts, each once: two that say the same are one."""
    texts = set()
    protected = []
    for fact in facts:
        if fact["number"] in numbers and fact["kind"] in PROTECTED and (own := stems(fact["text"])) not in texts:
            texts.add(own)
            protected.append(fact["number"])
    return protected


def texts_behind(criterion: Row, facts: Iterable[Row], needs: Iterable[Row]) -> list[str]:
    """The texts of the facts and needs that a criterion rests on, quotations included."""
    return [
        *(text for fact in facts if fact["number"] in criterion["facts"] for text in (fact["text"], fact["words"])),
        *(
            text
            for need in needs
            if need["number"] in criterion["needs"]
            for text in (need["text"], need["why"], need["quote"])
        ),
    ]


def lost_details(before: Iterable[str], after: str, *, within: Sequence[str] | None = None) -> list[str]:
    """The numbers, medicines and times of ``before`` that ``after`` no longer has, as they were written.

    ``within``: only those count that one of these texts has.
    """
    kept = {name: read(after) for name, read in _DETAILS.items()}
    lost: dict[str, str] = {}
    for text in before:
        for name, read in _DETAILS.items():
            for form, words in read(text).items():
                if _has(form, kept[name], after):
                    continue
                if within is None or any(_has(form, read(source), source) for source in within):
                    lost.setdefault(form, words)
    return list(lost.values())


_DETAILS = {"numbers": figures_in, "drugs": drugs_in, "times": times_in}
_HAN_TAIL = 3  # a name in Chinese begins where no sign shows it, so its last characters are looked for


def _has(form: str, forms: Mapping[str, str], text: str) -> bool:
    if form in forms or (not form[0].isdigit() and form in text.casefold()):
        return True
    return "\u4e00" <= form[-1] <= "\u9fff" and not form[0].isdigit() and form[-_HAN_TAIL:] in text


def unmarked(criterion: Row) -> Criterion:
    """A criterion without the marks."""
    return {name: value for name, value in criterion.items() if name != "marks"}


def with_mark(criterion: Criterion, mark: Finding) -> None:
    """Add a mark, each once."""
    if mark not in criterion["marks"]:
        criterion["marks"].append(mark)
