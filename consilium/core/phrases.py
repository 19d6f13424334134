"""Messages of pure code: in English at once, and in another language where somebody reads them.

Everything here is a `str`, the English text: it compares, is stored and is printed as such. Beside its text it keeps
what `consilium.core.i18n.translate` needs. That is lost where text alone is kept: `str()` and JSON give text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

BETWEEN_PHRASES = "; "
AFTER_LABEL = ": "


class Phrase(str):
    """An English text that remembers its template and values.

    ``Phrase("This is longer than %(n)s characters.", n=200)``. A value may be a phrase itself.
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Phrase:
        phrase = super().__new__(cls, template % values if values else template)
        phrase.template, phrase.values = template, values
        return phrase

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.template,), self.values


class Labelled(str):
    """A phrase and the names that it is about: ``kappa, alpha: constant ratings``. Names are not translated."""

    label: str
    phrase: str

    def __new__(cls, label: str, phrase: str) -> Labelled:
        labelled_phrase = super().__new__(cls, f"{label}{AFTER_LABEL}{phrase}")
        labelled_phrase.label, labelled_phrase.phrase = label, phrase
        return labelled_phrase

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.label, self.phrase

    @property
    def names(self) -> list[str]:
        """The names in the label."""
        return self.label.split(", ")


class Joined(str):
    """Several phrases, ``a; b``; `joined` makes it."""

    parts: tuple[str, ...]

    def __new__(cls, parts: Iterable[str]) -> Joined:
        kept = tuple(parts)
        text = super().__new__(cls, BETWEEN_PHRASES.join(kept))
        text.parts = kept
        return text

    def __getnewargs__(self) -> tuple[tuple[str, ...]]:  # type: ignore[override]
        return (self.parts,)


def parts_of(text: str) -> tuple[str, ...]:
    """The phrases that `joined` put together; a text that was not joined is one part, an empty one none."""
    if isinstance(text, Joined):
        return text.parts
    return (text,) if text else ()


def joined(*texts: str) -> str:
    """One text of several, in their order; empty ones are left out, and what is joined already is taken apart."""
    parts = tuple(part for text in texts for part in parts_of(text))
    return parts[0] if len(parts) == 1 else Joined(parts) if parts else ""


def labelled(label: str, text: str) -> str:
    """The text with a label before its first phrase: ``mf1: a; b``."""
    first, *rest = parts_of(text) or ("",)
    return joined(Labelled(label, first), *rest)


def once(text_by_name: Iterable[tuple[str, str]]) -> str:
    """The texts of several names, each once, with all of its names as its label; empty texts are left out."""
    names_by_text: dict[str, list[str]] = {}
    for name, text in text_by_name:
        if text:
            names_by_text.setdefault(text, []).append(name)
    return joined(*(labelled(", ".join(names), text) for text, names in names_by_text.items()))


def each_once(text_by_name: Iterable[tuple[str, str]]) -> str:
    """The phrases of several names, each phrase once and labelled with all of its names."""
    names_by_phrase: dict[str, list[str]] = {}
    for name, text in text_by_name:
        for phrase in parts_of(text):
            names_by_phrase.setdefault(phrase, []).append(name)
    return joined(*(Labelled(", ".join(names), phrase) for phrase, names in names_by_phrase.items()))
