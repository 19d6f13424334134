"""Rows as the stages pass them on, each as short as it may be."""

from __future__ import annotations

from typing import Any

ORS = "Give an oral rehydration solution: 5 mL every 5 minutes. If the child vomits, pause for 20 minutes."
ALARM = "Call an ambulance if there was no urine for 12 hours, or if there is blood in the stool."
LOPERAMIDE = "Do not give loperamide to children."
OPERATIONS = ("add", "unsupported", "irrelevant", "contradicts", "merge", "split", "reword")


def passage(number: int, text: str, **more: Any) -> dict[str, Any]:
    """A passage of the pool."""
    return {
        "passage": f"p{number}", "locator": f"doc@00#:{number}", "document": "doc", "title": "Vomiting",
        "publisher": "College", "version": "2025", "page": f"p. {number}", "headings": ["Care"], "table_header": "",
        "text": text, "tier": 1, "rank": number, "score": 0.1, "queries": [1], **more,
    }  # fmt: skip


POOL = [passage(1, ORS), passage(2, ALARM), passage(3, LOPERAMIDE)]


def stated(kind: str, text: str, of: int, quote: str) -> dict[str, Any]:
    """A fact as a model states it."""
    return {"kind": kind, "text": text, "passage": of, "quote": quote}


def fact(number: int, kind: str = "statement", text: str = "", words: str = "", **more: Any) -> dict[str, Any]:
    """A usable fact; ``words`` are its quotation."""
    text = text or f"Statement number {number}."
    words = words or text
    return {
        "number": number, "kind": kind, "text": text, "quote": words, "quote_state": "exact", "passage": "p1",
        "start": 0, "end": len(words), "words": words, "numbers_agree": True, "numbers_missing": [],
        "locator": "doc@00#:1", "source": "Vomiting, College, 2025, p. 1", "support": "entails",
        "support_reason": "", "dropped_because": "", "is_usable": True, "restored": False, **more,
    }  # fmt: skip


def need(number: int, kind: str = "asks", text: str = "") -> dict[str, Any]:
    """A usable need."""
    return {
        "number": number, "kind": kind, "text": text or f"Need number {number}", "why": "", "quote": "",
        "quote_state": "none",
    }  # fmt: skip


def criterion(text: str, points: int = 5, facts: tuple[int, ...] = (), needs: tuple[int, ...] = ()) -> dict[str, Any]:
    """A drafted criterion; its numbers are those of the case."""
    return {
        "text": text, "points": points, "axis": "accuracy", "facts": list(facts), "needs": list(needs), "why": "",
        "marks": [],
    }  # fmt: skip


def answered(text: str, points: int = 5, facts: tuple[int, ...] = (), needs: tuple[int, ...] = ()) -> dict[str, Any]:
    """A criterion of an answer; its numbers are places in the lists of the request."""
    row = criterion(text, points, facts, needs)
    del row["marks"]
    return row


def operations(**some: Any) -> dict[str, Any]:
    """The answer of an audit."""
    return {**{name: [] for name in OPERATIONS}, **some}
