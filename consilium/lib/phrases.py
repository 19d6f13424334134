"""Words that pure code says to people: in English at once, and in another language where somebody reads them."""

from __future__ import annotations

from typing import Any


class Phrase(str):
    """An English text that remembers its template and values, so that `consilium.lib.i18n.translate` can translate it.

    ``Phrase("This is longer than %(n)s characters.", n=200)``. A value may be a phrase itself. Everywhere else it is
    the text: it compares, is stored and is printed as such.
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Phrase:
        phrase = super().__new__(cls, template % values if values else template)
        phrase.template, phrase.values = template, values
        return phrase
