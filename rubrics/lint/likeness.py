"""Finds criteria that are nearly the same, and criteria that were copied.

The likeness is the cosine of TF-IDF vectors, as scikit-learn computes it, in a few lines of numpy: importing
scikit-learn takes two seconds, for which the first author at every new worker would have to wait.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rubrics.lint.wording import is_chinese

RUN_OF_WORDS, RUN_OF_CHARACTERS = 12, 24
_TOKEN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]|[^\W_]+")
# Words that every criterion shares are no sign of likeness.
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the a an of to and or in on for with by as at is are be that this it its from if response answer patient user "
        "should may such not their they them who which",
    )
)


def terms(text: str) -> list[str]:
    """Words and pairs of words; for Chinese, runs of two and three characters."""
    lower = text.lower()
    if is_chinese(text):
        tight = "".join(_TOKEN.findall(lower))
        return [tight[i : i + n] for n in (2, 3) for i in range(len(tight) - n + 1)]
    tokens = [word for word in _TOKEN.findall(lower) if word not in _COMMON]
    return tokens + [f"{first} {second}" for first, second in pairwise(tokens)]


def similarities(texts: Sequence[str]) -> np.ndarray:
    """Cosine similarity of each pair, shape (n, n): smoothed idf, rows of unit length; 0 where a text has no term."""
    counts = [Counter(terms(text)) for text in texts]
    columns = {term: index for index, term in enumerate(dict.fromkeys(term for count in counts for term in count))}
    matrix = np.zeros((len(texts), len(columns)), dtype=np.float32)
    for row, count in enumerate(counts):
        for term, number in count.items():
            matrix[row, columns[term]] = number
    seen = (matrix > 0).sum(axis=0)
    matrix *= np.log((1 + len(texts)) / (1 + seen)) + 1
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(lengths == 0, 1, lengths)
    return matrix @ matrix.T


class Reference:
    """The reference answer, in which long runs of words are looked up that a criterion shares with it."""

    def __init__(self, text: str) -> None:
        tokens = _TOKEN.findall(text.lower())
        self._size = RUN_OF_CHARACTERS if is_chinese(text) else RUN_OF_WORDS
        self._runs = {tuple(tokens[i : i + self._size]) for i in range(len(tokens) - self._size + 1)}

    def shared(self, text: str) -> tuple[int, int] | None:
        """Where ``text`` first repeats a run of the reference answer, as far as the run goes; else None."""
        if not self._runs:
            return None
        matches = list(_TOKEN.finditer(text))
        tokens = [match.group().lower() for match in matches]
        for begin in range(len(tokens) - self._size + 1):
            if tuple(tokens[begin : begin + self._size]) in self._runs:
                end = begin
                while end + self._size < len(tokens) and tuple(tokens[end + 1 : end + 1 + self._size]) in self._runs:
                    end += 1
                return matches[begin].start(), matches[end + self._size - 1].end()
        return None
