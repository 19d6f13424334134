"""Keys of documents: how a document is called in its collection and in locators."""

from __future__ import annotations

import re
import unicodedata

from consilium.core.limits import MAX_DOCUMENT_KEY_LENGTH

# No slash, no @ and no #: a key is part of addresses and locators, and never of a path.
KEY = re.compile(rf"(?!\.)[\w.:-]{{1,{MAX_DOCUMENT_KEY_LENGTH}}}")
_OTHERS = re.compile(r"[^\w.:-]+")


def is_key(text: str) -> bool:
    """Whether ``text`` can be a document's key: letters, digits, dots, colons, hyphens and underscores."""
    return KEY.fullmatch(text) is not None


def key_from_name(file_name: str) -> str:
    """A key from what a file is called, without its folders and its ending; empty where nothing is left."""
    name = unicodedata.normalize("NFC", file_name).replace("\\", "/").rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return _OTHERS.sub("-", stem).strip(".-_:")[:MAX_DOCUMENT_KEY_LENGTH]
