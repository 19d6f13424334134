"""What to search for, and in which order to read what was found. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from consilium.llm.rules.drafting.texts import one_line, read_conversation
from consilium.llm.rules.stems import stem_words
from consilium.llm.staged import read_numbered

MIN_QUERIES, MAX_QUERIES = 3, 5
STEMS_A_QUERY = 8
MAX_PLAIN = 100  # characters of a query where the conversation has no stem
LOOKING_FOR = ("recommendation", "dose", "red_flag", "contraindication", "patient_advice")
_FIGURES = re.compile(r"[0-9.]+")


def draft_plan(texts: Mapping[str, str]) -> dict[str, Any]:
    """Three to five queries from the rarest stems of the conversation, dealt in turn.

    Rarest is what occurs least often; of equals, numbers are last, then the longer word is first, then the earlier.
    """
    conversation = read_conversation(texts["CASE"])
    words: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for stem, word in stem_words(conversation.text):
        counts[stem] += 1
        words.setdefault(stem, word)

    def rarity(stem: str) -> tuple[int, bool, int]:
        return counts[stem], _FIGURES.fullmatch(stem) is not None, -len(words[stem])

    rarest = sorted(words, key=rarity)[: MAX_QUERIES * STEMS_A_QUERY]
    n_queries = min(MAX_QUERIES, max(MIN_QUERIES, len(rarest) // STEMS_A_QUERY))
    if len(rarest) < n_queries:
        dealt = [" ".join(map(words.__getitem__, rarest)) or one_line(conversation.text)[:MAX_PLAIN] or "?"] * n_queries
    else:
        dealt = [" ".join(words[stem] for stem in rarest[start::n_queries]) for start in range(n_queries)]
    queries = [{"text": text, "looking_for": what} for text, what in zip(dealt, LOOKING_FOR, strict=False)]
    return {"intent": one_line(conversation.asker)[-MAX_PLAIN:], "queries": queries}


def rank(texts: Mapping[str, str]) -> dict[str, Any]:
    """All passages in the order in which they are given."""
    passages = read_numbered(texts["PASSAGES"])
    return {"order": [{"passage": number, "why": "As it was given."} for number in range(1, len(passages) + 1)]}
