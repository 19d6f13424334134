"""A citation of a criterion: the passage of a document that it rests on. Pure.

What a passage is, the app of documents knows, which is a layer above this one (`rubrics.hooks`, `rubrics.cited`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _

from consilium.core.limits import MAX_CITATIONS, MAX_PUBLIC_ID_LENGTH, MAX_QUOTE_LENGTH

_KEYS = frozenset({"passage", "start", "end", "quote"})


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage by its public id, and the words of it that the criterion rests on.

    ``start`` and ``end`` count the characters of the passage's text: ``text[start:end] == quote``. The passage as a
    whole is cited with an empty quote, and with neither start nor end.
    """

    passage: str
    start: int | None = None
    end: int | None = None
    quote: str = ""


def citations_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Citation, ...]:
    """Stored citations."""
    return tuple(Citation(**row) for row in rows)


def citation_row(citation: Citation) -> dict[str, Any]:
    """A citation as it is stored and sent."""
    return asdict(citation)


def citation_rows(citations: Iterable[Citation]) -> list[dict[str, Any]]:
    """Citations as they are stored and sent."""
    return [citation_row(citation) for citation in citations]


def read_citations(value: Any) -> tuple[Citation, ...] | str:
    """Citations from JSON, strictly; or what is wrong with them. Equal ones are kept once."""
    if not isinstance(value, list):
        return _("Citations must be a list.")
    if len(value) > MAX_CITATIONS:
        return _("A criterion can have at most %(n)d citations.") % {"n": MAX_CITATIONS}
    citations = []
    for element in value:
        citation = _citation(element)
        if isinstance(citation, str):
            return citation
        citations.append(citation)
    return tuple(dict.fromkeys(citations))


def _citation(element: Any) -> Citation | str:
    if not isinstance(element, Mapping) or not element.keys() <= _KEYS:
        return _("A citation must be an object of passage, start, end and quote.")
    passage, quote = element.get("passage"), element.get("quote", "")
    start, end = element.get("start"), element.get("end")
    if not isinstance(passage, str) or not 0 < len(passage) <= MAX_PUBLIC_ID_LENGTH or not passage.isalnum():
        return _("A citation must name its passage.")
    if not isinstance(quote, str) or "\x00" in quote or any("\ud800" <= character <= "\udfff" for character in quote):
        return _("The quotation is not text that can be stored.")
    if len(quote) > MAX_QUOTE_LENGTH:
        return _("A quotation can have at most %(n)d characters.") % {"n": MAX_QUOTE_LENGTH}
    if not quote and (start, end) != (None, None):
        return _("A passage that is cited as a whole must not have a start or an end.")
    if quote and not quote.strip():
        return _("The quotation contains no words.")
    if (start is None) != (end is None) or not (_is_place(start) and _is_place(end)) or (start or 0) > (end or 0):
        return _("Start and end of a quotation must be whole numbers, or both must be omitted.")
    return Citation(passage, start, end, quote)


def _is_place(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value < 2**31)
