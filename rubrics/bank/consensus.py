"""The consensus bank: criteria written for this product, in English and Chinese, read from ``consensus.jsonl`` once.

In its own words it covers the subjects of HealthBench's consensus criteria and of ClinConsensus' dimensions;
``covers`` of an item says which. Items with ``applies_to`` are cluster criteria: they apply to cases with one of
these tags, and their keys are the names of HealthBench's clusters.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from rubrics.parsing.bank import BankEntry

NAME = "consensus"
LICENCE = "Apache-2.0"
FILE = Path(__file__).with_name("consensus.jsonl")


@cache
def consensus() -> tuple[BankEntry, ...]:
    """The items in the order of their sections."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    lists = ("tags", "applies_to", "covers")
    return tuple(BankEntry(**{**row, **{name: tuple(row[name]) for name in lists}}, bank=NAME) for row in rows)
