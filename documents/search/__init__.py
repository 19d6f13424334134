"""Search for passages by words: BM25 over an index that is derived from the rows, and may be lost at any time."""

from documents.search.filters import Filters
from documents.search.finding import Hit, search
from documents.search.generations import passages_added, rebuild

__all__ = ["Filters", "Hit", "passages_added", "rebuild", "search"]
