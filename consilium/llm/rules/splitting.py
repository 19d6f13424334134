"""Splitting: each criterion at its semicolons and at the ends of its sentences. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from consilium.llm.staged import read_numbered

# After a full stop there must be white space and a capital letter: "1.5" and "e.g. fever" are not cut.
_CUT = re.compile(r"[;；]|(?<=[.!?])\s+(?=[A-Z])|(?<=[。！？])")
_WORD = re.compile(r"\w")


def split_points(texts: Mapping[str, str]) -> dict[str, Any]:
    """The pieces of each criterion; one without such a place stays whole."""
    points = []
    for number, item in enumerate(read_numbered(texts["CRITERIA"]), 1):
        pieces = [piece.strip() for piece in _CUT.split(item.text)]
        own = [piece for piece in pieces if _WORD.search(piece)] or [item.text]
        points += [{"text": piece, "criterion": number} for piece in own]
    return {"points": points}
