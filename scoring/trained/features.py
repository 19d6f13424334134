"""Features of a trained judge: how far a response contains what a criterion asks for. Pure; no Django.

There is no vocabulary: n-grams and words are hashed, so that a judge fitted on one benchmark can read the cases of
another. Chinese, which has no blanks between words, is covered by the same character n-grams. Only the weights of the
hash buckets (how rare they are) come from the training texts; a bucket never seen there gets the highest weight.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CHARACTER_BUCKETS = 2**17
WORD_BUCKETS = 2**16
MAX_RESPONSE_LENGTH = 40_000  # characters that are read
MAX_SENTENCES = 400

FEATURES = (
    "best_sentence",  # cosine of character n-grams: the criterion and the sentence closest to it
    "second_sentence",
    "best_pair",  # the closest two neighbouring sentences
    "whole_response",
    "word_recall",  # share of the criterion's words, by rarity, that the response has anywhere
    "sentence_recall",  # … that one sentence has
    "pair_recall",  # … that two neighbouring sentences have
    "new_word_recall",  # … of the words that are not in the conversation already, in one sentence
    "number_recall",  # share of the criterion's numbers that the response has; 1 without any
    "has_numbers",
    "criterion_in_prompt",  # how much of the criterion is in the conversation
    "log_response",  # lengths, as logarithms
    "log_criterion",
    "log_sentences",
    "forbids",  # the criterion is about something to be avoided
    "negative_points",
)

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_TOKEN = re.compile(r"[a-zà-öø-ÿ]+|\d+(?:\.\d+)?|[\u3400-\u9fff]+")
_HAN = re.compile(r"[\u3400-\u9fff]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FORBIDS = re.compile(
    r"\b(not|no|never|without|avoids?|avoiding|against|fails?|incorrect\w*|omits?|instead of)\b"
    r"|不|未|勿|避免|禁|没有|无需|错误"
)
# Words about how to write a criterion, not about what it asks for; their hash buckets would only add noise.
_RUBRIC_WORDS = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "in", "is", "it", "its", "of", "on"),
        *("or", "that", "the", "this", "to", "with", "advis", "asks", "expla", "gives", "ident", "inclu", "menti"),
        *("names", "notes", "provi", "recom", "respo", "says", "state", "sugge", "tells", "warns"),
    )
)
STEM = 5


def normal(text: str) -> str:
    """Text in one form: compatibility characters unified, lower case."""
    return unicodedata.normalize("NFKC", text[:MAX_RESPONSE_LENGTH]).lower()


def sentences(text: str) -> list[str]:
    """Sentences and list items of a text in `normal` form; at least one, at most `MAX_SENTENCES`."""
    parts = [part.strip(" \t-*#•·") for part in _SENTENCE_END.split(text)]
    return [part for part in parts if len(part) > 1][:MAX_SENTENCES] or [text or " "]


def words(text: str) -> list[str]:
    """Stems of Latin words, numbers, and pairs of Chinese characters, of a text in `normal` form."""
    words: list[str] = []
    for token in _TOKEN.findall(text):
        if _HAN.match(token):
            words += [token[i : i + 2] for i in range(len(token) - 1)] or [token]
        else:
            stem = token[:STEM]
            if stem not in _RUBRIC_WORDS:
                words.append(stem)
    return words


@dataclass(frozen=True, slots=True)
class Texts:
    """One pair to be judged."""

    response: str
    criterion: str
    prompt: str = ""
    points: int = 1


def _character_vectorizer() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        analyzer="char_wb",
        ngram_range=(2, 4),
        n_features=CHARACTER_BUCKETS,
        alternate_sign=False,
        norm=None,
        lowercase=False,
        dtype=np.float32,
    )


def _word_vectorizer() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        analyzer=words, n_features=WORD_BUCKETS, alternate_sign=False, norm=None, binary=True, dtype=np.float32
    )


@dataclass(frozen=True, slots=True, eq=False)
class Rarity:
    """Weights of the hash buckets: ln((1 + n) / (1 + df)) + 1 over n training sentences."""

    characters: NDArray[np.float32]
    words: NDArray[np.float32]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Rarity:
        """Counted over the sentences of ``texts``, each text once."""
        units = [unit for text in dict.fromkeys(texts) for unit in sentences(normal(text))] or [" "]
        vectorizers = _character_vectorizer(), _word_vectorizer()
        return cls(*(_weights(vectorizer.transform(units)) for vectorizer in vectorizers))


def _weights(matrix: Any) -> NDArray[np.float32]:
    frequency = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return (np.log((1 + matrix.shape[0]) / (1 + frequency)) + 1).astype(np.float32)


class FeatureMaker:
    """Turns pairs of texts into rows of `FEATURES`; keeps what it computed of a response for its other criteria."""

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity
        self._characters = _character_vectorizer()
        self._words = _word_vectorizer()

    def rows(self, pairs: Sequence[Texts]) -> NDArray[np.float64]:
        """One row a pair, in order; pairs of one response should stand together."""
        return self.rows_and_passages(pairs)[0]

    def rows_and_passages(self, pairs: Sequence[Texts]) -> tuple[NDArray[np.float64], list[str]]:
        """The rows, and for each pair the sentence of the response that comes closest to the criterion."""
        features = np.empty((len(pairs), len(FEATURES)))
        passages: list[str] = []
        for _, group in groupby(range(len(pairs)), key=lambda i: (pairs[i].response, pairs[i].prompt)):
            where = list(group)
            features[where], group_passages = self._of_response([pairs[i] for i in where])
            passages += group_passages
        return features, passages

    def _cosine(self, counts: Any) -> Any:
        from sklearn.preprocessing import normalize

        weighted = counts.copy()
        weighted.data = np.log1p(weighted.data) * self._rarity.characters[weighted.indices]
        return normalize(weighted, copy=False)

    def _of_response(self, pairs: Sequence[Texts]) -> tuple[NDArray[np.float64], list[str]]:
        response, prompt = normal(pairs[0].response), normal(pairs[0].prompt)
        units = sentences(response)
        criteria = [normal(pair.criterion) for pair in pairs]

        criterion_vectors = self._cosine(self._characters.transform(criteria))
        counts = self._characters.transform(units)
        by_unit = _dense(criterion_vectors @ self._cosine(counts).T)
        by_pair = _dense(criterion_vectors @ self._cosine(_neighbours(counts)).T)
        whole = _dense(criterion_vectors @ self._cosine(_sum(counts)).T)[:, 0]
        ordered = -np.sort(-by_unit, axis=1)

        criterion_words = self._words.transform(criteria)
        criterion_words.data = self._rarity.words[criterion_words.indices]
        total = np.maximum(np.asarray(criterion_words.sum(axis=1)).ravel(), 1e-9)
        unit_words = self._words.transform(units)
        features_of_pairs = _binary(_neighbours(unit_words))
        in_response = _binary(_sum(unit_words))
        in_prompt = self._words.transform([prompt])
        of_prompt = _dense(criterion_words @ in_prompt.T)[:, 0] / total
        new = criterion_words.multiply(1 - in_prompt.toarray()).tocsr()
        new_total = np.asarray(new.sum(axis=1)).ravel()
        new_recall = _dense(new @ unit_words.T).max(axis=1)

        numbers_in_response = set(_NUMBER.findall(response))
        columns: list[Any] = [
            ordered[:, 0],
            ordered[:, 1] if ordered.shape[1] > 1 else np.zeros(len(pairs)),
            by_pair.max(axis=1),
            whole,
            _dense(criterion_words @ in_response.T)[:, 0] / total,
            _dense(criterion_words @ unit_words.T).max(axis=1) / total,
            _dense(criterion_words @ features_of_pairs.T).max(axis=1) / total,
            np.where(new_total > 0, new_recall / np.maximum(new_total, 1e-9), 0.0),
            [_recall(_NUMBER.findall(text), numbers_in_response) for text in criteria],
            [float(bool(_NUMBER.search(text))) for text in criteria],
            of_prompt,
            np.full(len(pairs), np.log1p(len(response))),
            [np.log1p(len(text)) for text in criteria],
            np.full(len(pairs), np.log1p(len(units))),
            [float(bool(_FORBIDS.search(text))) for text in criteria],
            [float(pair.points < 0) for pair in pairs],
        ]
        rows = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
        # Rounded, so that the last bits of another machine's arithmetic lead to the same judge.
        return np.round(rows, 6), [units[i] for i in by_unit.argmax(axis=1)]


def _recall(expected: list[str], present: set[str]) -> float:
    return sum(number in present for number in expected) / len(expected) if expected else 1.0


def _neighbours(units: Any) -> Any:
    """Rows for each two neighbouring units; the unit itself where there is only one."""
    return units[:-1] + units[1:] if units.shape[0] > 1 else units


def _sum(units: Any) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(np.ones((1, units.shape[0]), dtype=np.float32)) @ units


def _binary(counts: Any) -> Any:
    counts.data = np.ones_like(counts.data)
    return counts


def _dense(matrix: Any) -> NDArray[np.float64]:
    return np.asarray(matrix.toarray(), dtype=np.float64)


def word_overlap(pairs: Sequence[Texts]) -> NDArray[np.float64]:
    """The baseline: the plain share of the criterion's words that the response has."""
    known: dict[str, frozenset[str]] = {}

    def words_of(text: str) -> frozenset[str]:
        if text not in known:
            known[text] = frozenset(words(normal(text)))
        return known[text]

    overlaps = []
    for pair in pairs:
        criterion_words = words_of(pair.criterion)
        overlaps.append(
            len(criterion_words & words_of(pair.response)) / len(criterion_words) if criterion_words else 0.0
        )
    return np.array(overlaps)
