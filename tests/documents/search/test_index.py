"""Scores by the formula, and indexes that are searched as one."""

from __future__ import annotations

import math
import random
import shutil
import stat
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from documents.search.index import Damaged, Index, Row, Terms, build, build_beside, find, open_index, read_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.slow

WORDS = ["fever", "cough", "rash", "pain", "dose", "child", "adult", "asthma", "insulin", "stroke", "sepsis", "salt"]


def rows(texts: Sequence[str], first: int = 1) -> list[Row]:
    return [Row(number, number, number, text) for number, text in enumerate(texts, start=first)]


def some_texts(count: int, seed: int, low: int = 3, high: int = 30) -> list[str]:
    """Texts of words of unequal frequencies, no longer than the lengths that an index stores exactly."""
    drawn = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]
    return [" ".join(drawn.choices(WORDS, weights, k=drawn.randint(low, high))) for _ in range(count)]


def on_disk(folder: Path, texts: Sequence[str], first: int = 1) -> Index:
    build(folder, rows(texts, first), content="x")
    return open_index(folder, content="x")


def bm25(query: str, texts: Sequence[str]) -> list[float]:
    """Okapi BM25 with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza 2009), with Lucene's idf."""
    split = [text.split() for text in texts]
    average = sum(map(len, split)) / len(split)
    scores = []
    for words in split:
        score = 0.0
        for word in set(query.split()):
            holding = sum(word in other for other in split)
            idf = math.log(1 + (len(split) - holding + 0.5) / (holding + 0.5))
            times = Counter(words)[word]
            score += idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(words) / average))
        scores.append(score)
    return scores


def scores_of(indexes: Sequence[Index], query: str) -> dict[int, float]:
    everything = frozenset().union(*(index.documents for index in indexes))
    return {match.passage: match.score for match in find(indexes, Terms.of(query), everything, 200)}


def test_scores_are_those_of_the_formula(tmp_path: Path) -> None:
    texts = some_texts(60, seed=1)
    index = on_disk(tmp_path / "1", texts)
    for query in ("fever", "insulin stroke", "rash pain dose salt"):
        expected = {number: score for number, score in enumerate(bm25(query, texts), start=1) if score}
        assert scores_of([index], query) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("newer", [1, 7, 40])
def test_passages_beside_an_index_score_as_if_they_were_in_it(tmp_path: Path, newer: int) -> None:
    """One formula over all passages. Only the average length is that of the large index, so both have the same here."""
    texts = [" ".join(text.split()[:12]) for text in some_texts(120, seed=2, low=12)]
    beside = some_texts(newer, seed=3, low=12, high=12)
    large = on_disk(tmp_path / "1", texts)
    indexes = [large, build_beside(rows(beside, first=1000), large)]
    for query in ("fever", "insulin stroke", "rash pain dose salt"):
        formula = bm25(query, texts + beside)
        numbers = [*range(1, 121), *range(1000, 1000 + newer)]
        expected = {number: score for number, score in zip(numbers, formula, strict=True) if score}
        assert scores_of(indexes, query) == pytest.approx(expected, abs=2e-3)


def test_a_long_passage_beside_an_index_counts_as_long(tmp_path: Path) -> None:
    """Alone in its index it would be of average length, and so better than the same words in a short one."""
    large = on_disk(tmp_path / "1", ["fever " + "salt " * 3] * 10)
    beside = build_beside(rows(["fever " + "salt " * 30], first=1000), large)
    scores = scores_of([large, beside], "fever")
    assert scores[1000] < 0.5 * scores[1]


def test_what_an_index_beside_weighs_against_one_without_chinese(tmp_path: Path) -> None:
    large = on_disk(tmp_path / "1", ["fever"] * 5)
    beside = build_beside(rows(["发热", "发热咳嗽"], first=1000), large)
    assert list(scores_of([large, beside], "发热")) == [1000, 1001]


def test_an_index_without_passages_finds_nothing(tmp_path: Path) -> None:
    empty = on_disk(tmp_path / "1", [])
    assert find([empty], Terms.of("fever 发"), frozenset(), 10) == []
    assert list(scores_of([empty, build_beside(rows(["fever"]), empty)], "fever")) == [1]


def test_the_rarest_words_of_a_long_query_count(tmp_path: Path) -> None:
    """A word that only one passage has decides, however many common words surround it."""
    common = [f"common{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)]
    index = on_disk(tmp_path / "1", [" ".join(common)] * 5 + ["melioidosis"])
    assert 6 in scores_of([index], " ".join([*common, "melioidosis"]))


def replace(file: Path, content: bytes) -> None:
    """Another file under this name: an index file is read-only."""
    file.unlink()
    file.write_bytes(content)


@pytest.mark.parametrize("damage", ["no manifest", "shortened", "changed", "gone", "other version", "not JSON"])
def test_a_damaged_folder_is_not_opened(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "1"
    on_disk(folder, some_texts(30, seed=4))
    manifest = folder / "manifest.json"
    file = next(folder / name for name in read_manifest(folder).files if name.endswith(".idx"))
    if damage == "no manifest":
        manifest.unlink()
    elif damage == "shortened":
        replace(file, file.read_bytes()[:-1])
    elif damage == "changed":
        content = file.read_bytes()
        replace(file, bytes([content[0] ^ 1]) + content[1:])  # tantivy itself notices only damage at the end
    elif damage == "gone":
        file.unlink()
    elif damage == "other version":
        replace(manifest, manifest.read_bytes().replace(b'"terms": 1', b'"terms": 0'))
    else:
        replace(manifest, b"{")
    with pytest.raises(Damaged):
        open_index(folder, content="x")


def test_no_file_of_an_index_may_be_written_and_all_may_be_deleted(tmp_path: Path) -> None:
    """A file that is cut in place while it is mapped would end the reader's process; a deleted one stays readable."""
    index = on_disk(tmp_path / "1", ["fever", "cough"])
    files = [tmp_path / "1" / name for name in (*read_manifest(tmp_path / "1").files, "manifest.json")]
    assert len(files) > 5
    assert {stat.S_IMODE(file.stat().st_mode) & 0o222 for file in files} == {0}
    before = scores_of([index], "fever")
    shutil.rmtree(tmp_path / "1")
    assert scores_of([index], "fever") == before
    assert list(scores_of([on_disk(tmp_path / "1", ["fever", "cough"])], "fever")) == list(before)


def test_a_folder_of_other_passages_is_not_opened(tmp_path: Path) -> None:
    on_disk(tmp_path / "1", ["fever"])
    with pytest.raises(Damaged):
        open_index(tmp_path / "1", content="y")
