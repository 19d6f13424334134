"""The made-up cases, one JSON file each, and their reader.

A file has the ClinConsensus fields and, beside each criterion, ``met_by`` (a sentence that satisfies it in full) and
for at least 40% of the criteria ``near_miss`` (touches the topic and fails it). ``openings``, ``closings`` and
``asides`` satisfy no criterion; responses are composed of all of these by `demo.responses`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class DemoCriterion:
    """A criterion with its place (``heading``) in an answer and the sentences that meet or just miss it."""

    text: str
    axis: str
    heading: str
    met_by: str
    near_miss: str = ""


@dataclass(frozen=True)
class DemoCase:
    """A made-up case. ``fields`` are those of the ClinConsensus shape up to ``user_request``."""

    key: str
    language: str  # en, zh-Hans
    difficulty: str  # low, medium, high
    fields: dict[str, Any]
    openings: tuple[str, ...]
    closings: tuple[str, ...]
    asides: tuple[str, ...]
    criteria: tuple[DemoCriterion, ...]

    @property
    def joiner(self) -> str:
        """The separator of two sentences: Chinese needs no space."""
        return "" if self.language.startswith("zh") else " "


def _case(document: dict[str, Any]) -> DemoCase:
    fields = {
        name: value for name, value in document.items() if name not in {"openings", "closings", "asides", "sections"}
    }
    criteria = tuple(
        DemoCriterion(
            text=row["criterion"],
            axis=row["axis"],
            heading=section["heading"],
            met_by=row["met_by"],
            near_miss=row.get("near_miss", ""),
        )
        for section in document["sections"]
        for row in section["criteria"]
    )
    return DemoCase(
        key=document["case_id"],
        language=document["language"],
        difficulty=document["difficulty"],
        fields=fields,
        openings=tuple(document["openings"]),
        closings=tuple(document["closings"]),
        asides=tuple(document["asides"]),
        criteria=criteria,
    )


@lru_cache(maxsize=1)
def read_cases() -> tuple[DemoCase, ...]:
    """The twelve cases in the order of their file names."""
    files = sorted(Path(__file__).parent.glob("*.json"))
    return tuple(_case(json.loads(file.read_text(encoding="utf-8"))) for file in files)
