"""Edit distance: how much of a text was changed.

    d(a, b) = Levenshtein(a', b') / max(|a'|, |b'|)

a' and b' are the texts in NFC with one blank for each run of white space and none at either end; lengths and edits
count code points. 0 where both are the same, 1 where nothing of one is left in the other. Two empty texts are the same.

Source: Levenshtein 1966. The distance itself is computed by rapidfuzz.
"""

from __future__ import annotations

import unicodedata

from rapidfuzz.distance import Levenshtein


def edit_distance(before: str, after: str) -> float:
    """The share of code points that changed, from 0 to 1."""
    return float(Levenshtein.normalized_distance(_canonical(before), _canonical(after)))


def _canonical(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))
