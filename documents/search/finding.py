"""Searches the passages of collections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from documents.models import Collection, Passage
from documents.search.filters import Filters


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage, with its document and collection loaded, and how well it matches."""

    passage: Passage
    score: float


def search(
    *, collections: Sequence[Collection], query: str, filters: Filters = Filters(), limit: int = 20, at: datetime
) -> list[Hit]:
    """The passages that match a query best, the best first; the query is words, without a syntax."""
    raise NotImplementedError
