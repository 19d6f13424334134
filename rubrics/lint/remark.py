"""One remark on a criterion, as the editor shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PROBLEM, ADVICE = "problem", "advice"


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that the editor makes at a click: a criterion for each of ``texts`` in place of this criterion."""

    label: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """``start`` and ``end`` are code points of the criterion's text; ``other`` names a second criterion by its id."""

    rule: str
    severity: str
    item: str
    start: int
    end: int
    why: str
    advice: str
    other: str = ""
    fix: Fix | None = None

    def as_json(self, translate: Any = str) -> dict[str, Any]:
        """As it is sent to the browser; ``said`` translates its phrases into the reader's language."""
        fix = {"label": translate(self.fix.label), "texts": list(self.fix.texts)} if self.fix else None
        return {
            "rule": self.rule,
            "severity": self.severity,
            "item": self.item,
            "start": self.start,
            "end": self.end,
            "why": translate(self.why),
            "advice": translate(self.advice),
            "other": self.other,
            "fix": fix,
        }
