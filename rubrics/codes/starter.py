"""The starter code book: kinds of failure in the product's own words, read from ``starter.jsonl`` once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from rubrics.codes.code import Code, code_of

FILE = Path(__file__).with_name("starter.jsonl")


@cache
def starter() -> tuple[Code, ...]:
    """The codes in their order."""
    return tuple(code_of(json.loads(line)) for line in FILE.read_text(encoding="utf-8").splitlines())
