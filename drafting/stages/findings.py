"""What code and audit notice about drafted criteria: codes with parameters, the gravest first. Pure.

`drafting.stages.finding_words` says them in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Finding = dict[str, Any]

PROBLEM, CAUTION, NOTE = "problem", "caution", "note"
SEVERITIES = (PROBLEM, CAUTION, NOTE)

# Of the case.
UNCOVERED = "uncovered"  # fact | need: nothing carries it
NO_NEGATIVE = "no_negative"  # no criterion has negative points
TOO_MANY = "too_many"  # count, limit
EMPTY = "empty"  # neither a usable fact nor a need
OPERATION_REFUSED = "operation_refused"  # operation, reason, texts of criteria, lost: what would have been, why
REMOVED = "removed"  # text, points, why: the audit called it beside the case
RESTORED = "restored"  # fact: a red flag that the stage of facts had left out
DROP_IGNORED = "drop_ignored"  # fact, kind, why: a red flag or prohibition is not dropped
FACT_NOT_USABLE = "fact_not_usable"  # fact, reason
NEED_NOT_USABLE = "need_not_usable"  # need, quote_state

# Of a criterion.
UNGROUNDED = "ungrounded"  # it rests on no usable fact and no need
INSTRUCTION = "instruction"  # passage, words: the passage addresses a model
JOINED = "joined"  # facts: several red flags or prohibitions in one criterion
NUMBERS_DIFFER = "numbers_differ"  # numbers: in no fact, need or message
OPPOSITE = "opposite"  # criterion, fact: the same act with the opposite direction
LOW_POINTS = "low_points"  # fact, kind: a red flag or prohibition below 8 points
LINT = "lint"  # rule, quote: the words concerned, other: the number of another criterion or None
BANK_DUPLICATE = "bank_duplicate"  # bank: the text of the bank item
CONFLICT = "conflict"  # about, sides
UNSUPPORTED = "unsupported"  # why
CONTRADICTS = "contradicts"  # other: the text of a criterion, fact, why
MOVED_QUOTE = "moved_quote"  # fact: its quotation stood in another passage
NOT_CHECKED = "not_checked"  # facts: no model compared them with their quotations
UNKNOWN_AXIS = "unknown_axis"  # axis: the benchmark has no such axis

# The gravest first; the severity is that of the code unless a finding says otherwise.
SEVERITY_OF: Mapping[str, str] = {
    INSTRUCTION: PROBLEM,
    NUMBERS_DIFFER: PROBLEM,
    CONTRADICTS: PROBLEM,
    UNSUPPORTED: PROBLEM,
    UNGROUNDED: PROBLEM,
    UNCOVERED: PROBLEM,
    JOINED: PROBLEM,
    OPPOSITE: PROBLEM,
    LOW_POINTS: PROBLEM,
    LINT: PROBLEM,
    BANK_DUPLICATE: PROBLEM,
    NO_NEGATIVE: PROBLEM,
    TOO_MANY: PROBLEM,
    EMPTY: CAUTION,
    CONFLICT: CAUTION,
    OPERATION_REFUSED: CAUTION,
    REMOVED: CAUTION,
    RESTORED: CAUTION,
    DROP_IGNORED: CAUTION,
    UNKNOWN_AXIS: CAUTION,
    FACT_NOT_USABLE: NOTE,
    NEED_NOT_USABLE: NOTE,
    MOVED_QUOTE: NOTE,
    NOT_CHECKED: NOTE,
}
_PLACES = {code: place for place, code in enumerate(SEVERITY_OF)}


def finding(code: str, severity: str = "", **parameters: Any) -> Finding:
    """A finding as it is stored."""
    return {"code": code, "severity": severity or SEVERITY_OF[code], **parameters}


def gravest_first(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order of their severity, then of their codes."""
    return sorted(findings, key=lambda each: (SEVERITIES.index(each["severity"]), _PLACES[each["code"]]))


def is_problem(each: Finding) -> bool:
    """Whether the audit should be asked about it again."""
    return bool(each["severity"] == PROBLEM)
