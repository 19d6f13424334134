"""Codes of remarks that were stored as English text: the one place that reads English sentences.

Tables of reports, run cards and screenings hold their notes as text, because their files are the same bytes for every
reader, and reports of years ago hold nothing else. Code that shows such a text converts it here first. A text that was
just computed still has its codes and needs no conversion.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from consilium.core.former_reasons import FORMER_TEXTS
from consilium.core.phrases import AFTER_LABEL, BETWEEN_PHRASES, Joined, Labelled, Phrase, joined, parts_of
from consilium.core.reasons import CodedPhrase, Reason, code_of

# Parameters that may hold spaces; the others are numbers, dates and letters.
_FREE = {"arm", "judge", "members", "names", "setting", "why", "one", "two"}
# Reasons whose parameters are reasons themselves.
_WITH_REASONS = {Reason.NO_BALANCED_F1, Reason.NO_BALANCED_F1_OF_TWO}
_LABEL = re.compile("[a-z][a-z0-9_]*(, [a-z][a-z0-9_]*)*")


def from_english(text: str) -> str:
    """A stored text, ``kappa, alpha: constant ratings: …; 2 pairs left out: undecided``, with its codes.

    A text that already has its codes, and a part that no reason fits, stay unchanged.
    """
    if isinstance(text, Phrase | Labelled | Joined):
        return text
    return _read_all(text)


def codes_in(text: str) -> set[Reason]:
    """The codes of a stored text, without the parts that no reason fits."""
    phrases = (part.phrase if isinstance(part, Labelled) else part for part in parts_of(from_english(text)))
    return {code for phrase in phrases if (code := code_of(phrase))}


@lru_cache(maxsize=4096)  # a page shows the same remark in many rows
def _read_all(text: str) -> str:
    return joined(*(_read(part) for part in text.split(BETWEEN_PHRASES)))


def _read(part: str) -> str:
    # Labels are names of columns. They are read first, since the pattern of a parameter would include them.
    label, colon, rest = part.partition(AFTER_LABEL)
    if colon and _LABEL.fullmatch(label):
        return Labelled(label, _read(rest))
    for pattern, reason in _patterns():
        match = pattern.fullmatch(part)
        if match:
            values = match.groupdict()
            if reason in _WITH_REASONS:
                values = {name: _read(value) for name, value in values.items()}
            return CodedPhrase.stored(part, reason, values)
    return Labelled(label, _read(rest)) if colon else part


@cache
def _patterns() -> list[tuple[re.Pattern[str], Reason]]:
    patterns = []
    for reason in Reason:
        for template in filter(None, (reason.template, reason.singular, *FORMER_TEXTS.get(reason, ()))):
            parts = re.split(r"%\((\w+)\)s", template)
            pattern = "".join(_group(part) if i % 2 else re.escape(part) for i, part in enumerate(parts))
            # Older texts, too, have the singular where the number is 1.
            patterns.append((re.compile(re.sub("(responses|pairs)\\b", r"\1?", pattern)), reason))
    return patterns


def _group(parameter: str) -> str:
    return f"(?P<{parameter}>{'.' if parameter in _FREE else r'[^ ]'}+?)"
