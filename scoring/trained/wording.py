"""Sparse features of a criterion's words and characters, and of which words a response has, for a regression.

While `features` measures how close two texts are, these rows describe what they are about, so that a judge can learn
which words of a criterion matter. They are hashed like `features`: there is no vocabulary, and any language works.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.trained.features import Texts, normal, words

WORDS = 2**13
CHARACTERS = 2**14
# Blocks of a row: characters of the criterion; its words; those that the response has; those that it lacks.
COLUMNS = CHARACTERS + 3 * WORDS
AT_ONCE = 2000


def wording_rows(pairs: Sequence[Texts]) -> Any:
    """A sparse row of `COLUMNS` for each pair, each block of length 1; pairs of one response should stand together."""
    from scipy.sparse import csr_matrix, vstack

    # In blocks, since the words of a response are repeated for each of its criteria.
    blocks = [_block(pairs[start : start + AT_ONCE]) for start in range(0, len(pairs), AT_ONCE)]
    return vstack(blocks, format="csr") if blocks else csr_matrix((0, COLUMNS))


def _block(pairs: Sequence[Texts]) -> Any:
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import normalize

    shape: dict[str, Any] = {"alternate_sign": False, "lowercase": False, "norm": None}
    by_word = HashingVectorizer(analyzer=words, n_features=WORDS, binary=True, **shape)
    by_character = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 4), n_features=CHARACTERS, **shape)

    criteria, criterion_of = _distinct([pair.criterion for pair in pairs])
    responses, response_of = _distinct([pair.response for pair in pairs])
    criterion_words = by_word.transform(criteria)[criterion_of]
    shared_words = criterion_words.multiply(by_word.transform(responses)[response_of]).tocsr()
    characters = by_character.transform(criteria)[criterion_of]
    return hstack(
        [normalize(rows) for rows in (characters, criterion_words, shared_words, criterion_words - shared_words)],
        format="csr",
    )


def _distinct(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Each text once, in `normal` form, and for each given one which of them it is."""
    row_of = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    return [normal(text) for text in row_of], [row_of[text] for text in texts]
