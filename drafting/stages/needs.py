"""What the asker needs: from an answer to numbered needs with checked quotations of the conversation. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from documents.quoting import Match
from drafting.stages.facts import ABSENT, EXACT, NONE, STANDS, TOO_SHORT, find_words

ASKS, MISSING, TONE, FORM = "asks", "missing", "tone", "form"  # as `drafting.models.evidence.NeedKind` names them
Row = Mapping[str, Any]


def needs_of(answer: Row, conversation: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """The needs with their numbers within the case, from 1: what is asked for, missing context, tone, form."""
    rows = [
        *({"kind": ASKS, "text": each["text"], "why": "", "quote": each["quote"]} for each in answer["asks"]),
        *({"kind": MISSING, "text": each["question"], "why": each["why"], "quote": None} for each in answer["missing"]),
        *({"kind": TONE, "text": text, "why": "", "quote": None} for text in answer["tone"]),
        *({"kind": FORM, "text": each["text"], "why": "", "quote": each["quote"]} for each in answer["form"]),
    ]
    turns = [turn["content"] for turn in conversation if turn["role"] != "assistant"]
    return [
        {"number": number, **row, "quote": row["quote"] or "", "quote_state": _state(row["quote"], turns)}
        for number, row in enumerate(rows, 1)
    ]


def _state(quote: str | None, turns: Sequence[str]) -> str:
    """How a quotation stands in what the asker wrote; a kind of need that quotes nothing has none."""
    if quote is None:
        return NONE
    if not quote.strip():
        return ABSENT
    if any(quote.strip() == turn.strip() for turn in turns):  # however short it is
        return EXACT
    matches = [find_words(quote, turn).match for turn in turns]
    for match in (Match.EXACT, Match.NORMALISED):
        if match in matches:
            return str(match.value)
    return TOO_SHORT if Match.TOO_SHORT in matches else ABSENT


def is_usable(need: Row) -> bool:
    """Whether a criterion may rest on it: nothing is quoted, or the conversation has these words."""
    return need["quote_state"] == NONE or need["quote_state"] in STANDS
