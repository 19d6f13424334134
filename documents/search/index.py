"""An index of passages: written once, opened by any number of processes, searched together with others.

Scores are BM25 as tantivy computes it (k1 1.2, b 0.75), summed over two fields. Several indexes are searched as one:

- How rare a word is counts over all of them. Each of tantivy's scores has the factor idf = ln(1 + (N - n + 0.5) /
  (n + 0.5)) of its own index, where n of N passages hold the word. So each term is boosted by the idf over all indexes
  divided by the idf of the one.
- A passage's length is compared with the average length in its own index. A small index beside a large one is padded
  (`build_beside`), so that its average is that of the large one.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import tantivy

from documents.search.words import TERMS_VERSION, analyzer, normalize, pairs, query_pairs, stems

MANIFEST = "manifest.json"
TANTIVY = version("tantivy")
WORDS, HAN = "words", "han"
FIELDS = (WORDS, HAN)

# A builder's memory: tantivy writes what it has to the disk whenever this is full. One thread, so that the same rows
# give the same index everywhere.
WRITER_BYTES = 64_000_000
SMALL_WRITER_BYTES = 15_000_000  # tantivy takes no less
MAX_PADDING = 1000

MAX_QUERY_LENGTH = 10_000  # characters; the rest of a query is not read
MAX_QUERY_TERMS = 64  # the rarest of them; a passage's score hardly depends on the others
MAX_BEGINNINGS = 50  # terms that a single Han character stands for
MAX_TIES = 1000  # passages of one score that are put in order

SCORE_DIGITS = 3  # sums of 32-bit numbers differ in later digits with the order in which they are added


class Row(NamedTuple):
    """A passage as the index takes it."""

    rank: int  # orders passages of equal score; the lower comes first
    passage: int
    document: int
    text: str


class Match(NamedTuple):
    """A passage that matches a query."""

    score: float
    passage: int


class Weight(NamedTuple):
    """A term of a query, and how many passages have it."""

    field: str
    term: str
    holding: list[int]  # of each index
    total: int


class Damaged(Exception):
    """The folder is missing, half built or damaged, or was built by another version."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index holds; its last file, so that a folder without it is half built."""

    content: str  # names the passages, see `open_index`
    passages: int
    documents: list[int]
    files: dict[str, str]  # SHA-256 by name
    terms: int = TERMS_VERSION
    tantivy: str = TANTIVY


@dataclass(frozen=True, slots=True)
class Index:
    """An opened index."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    documents: frozenset[int]
    passages: int
    held: object = field(default=None, repr=False)  # kept as long as the index is open

    @classmethod
    def of(cls, index: tantivy.Index, documents: Iterable[int], passages: int, held: object = None) -> Index:
        """The index for reading. It never changes, so nothing needs to watch its folder."""
        index.register_tokenizer("stems", analyzer())
        index.config_reader("manual")
        index.reload()
        return cls(index, index.searcher(), frozenset(documents), passages, held)

    def average_length(self, name: str) -> float:
        """The average number of terms of a passage in a field, as tantivy's scores have it."""
        terms = self.searcher.terms_with_prefix(name, "", limit=1)
        if not terms:
            return 0.0
        query = tantivy.Query.term_query(self.index.schema, name, terms[0][0], index_option="freq")
        address = self.searcher.search(query, limit=1).hits[0][1]
        explained = json.loads(query.explain(self.searcher, address).to_json())
        return next(value for value in _values(explained, "avgdl, "))


def _values(explained: dict[str, object], beginning: str) -> Iterator[float]:
    if str(explained["description"]).startswith(beginning):
        yield float(str(explained["value"]))
    for part in explained.get("details", []):  # type: ignore[attr-defined]
        yield from _values(part, beginning)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(WORDS, tokenizer_name="stems", index_option="freq")
    builder.add_text_field(HAN, tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("document", indexed=True, fast=True)
    builder.add_unsigned_field("passage", fast=True)
    builder.add_unsigned_field("rank", fast=True)
    return builder.build()


def _add(writer: tantivy.IndexWriter, row: Row) -> int:
    normalized = normalize(row.text)
    document = tantivy.Document()
    document.add_text(WORDS, normalized)
    if not normalized.isascii():
        document.add_text(HAN, " ".join(pairs(normalized)))
    document.add_unsigned("document", row.document)
    document.add_unsigned("passage", row.passage)
    document.add_unsigned("rank", row.rank)
    return writer.add_document(document)


# Writing --------------------------------------------------------------------------------------------------------------


def build(folder: Path, rows: Iterable[Row], *, content: str) -> Manifest:
    """Write an index into a folder, which is emptied first. The manifest comes last.

    Its files are read-only: readers have them mapped, and one that is cut in place ends a reader by SIGBUS. They may be
    deleted, since a file without a name stays as it was for whoever has it open.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    index = tantivy.Index(_schema(), path=str(folder))
    index.register_tokenizer("stems", analyzer())
    writer = index.writer(heap_size=WRITER_BYTES, num_threads=1)
    passages = 0
    documents: set[int] = set()
    for row in rows:
        _add(writer, row)
        documents.add(row.document)
        passages += 1
    writer.commit()
    writer.wait_merging_threads()
    files = {path.name: _digest(path) for path in _index_files(folder)}
    manifest = Manifest(content, passages, sorted(documents), files)
    partial = folder / f"{MANIFEST}.part"
    partial.write_text(json.dumps({name: getattr(manifest, name) for name in Manifest.__slots__}))
    for path in (*_index_files(folder), partial):
        path.chmod(stat.S_IRUSR)
    partial.rename(folder / MANIFEST)
    return manifest


def build_beside(rows: Sequence[Row], large: Index | None) -> Index:
    """An index in memory of a few passages, whose scores can be compared with those of ``large``.

    Passages without a word of any query are added, until the average lengths are those of ``large``.
    """
    if large is None:
        return _in_memory(rows, [])
    count = len(rows)
    averages = {name: large.average_length(name) for name in FIELDS}
    texts = [normalize(row.text) for row in rows]
    lengths = {
        WORDS: sum(len(stems(text)) for text in texts),
        HAN: sum(len(list(pairs(text))) for text in texts),
    }
    paddings = [math.ceil(lengths[name] / averages[name]) - count for name in FIELDS if averages[name]]
    padding = min(max([1, *paddings]), MAX_PADDING)
    missing = {name: max(round(averages[name] * (count + padding) - lengths[name]), 0) for name in FIELDS}
    return _in_memory(rows, [missing] + [dict.fromkeys(FIELDS, 0)] * (padding - 1))


def _in_memory(rows: Sequence[Row], paddings: Sequence[dict[str, int]]) -> Index:
    index = tantivy.Index(_schema())
    index.register_tokenizer("stems", analyzer())
    writer = index.writer(heap_size=SMALL_WRITER_BYTES, num_threads=1)
    for row in rows:
        _add(writer, row)
    for lengths in paddings:
        document = tantivy.Document()
        for name, length in lengths.items():
            document.add_text(name, "_ " * length)  # `normalize` leaves no such word in a query
        document.add_unsigned("document", 0)
        document.add_unsigned("passage", 0)
        document.add_unsigned("rank", 0)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    return Index.of(index, {row.document for row in rows}, len(rows))


# Opening --------------------------------------------------------------------------------------------------------------


def read_manifest(folder: Path) -> Manifest:
    """What the index in a folder holds; `Damaged` where it is not whole."""
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_bytes()))
        whole = {path.name: _digest(path) for path in _index_files(folder)}
    except (OSError, ValueError, TypeError) as error:
        raise Damaged(str(error)) from error
    if (manifest.terms, manifest.tantivy) != (TERMS_VERSION, TANTIVY):
        raise Damaged("built by another version")
    if whole != manifest.files:
        raise Damaged("its files are not those that were written")
    return manifest


def open_index(folder: Path, *, content: str, held: object = None) -> Index:
    """The index in a folder; `Damaged` where it is not whole, or of other ``content`` than the rows have."""
    manifest = read_manifest(folder)
    if manifest.content != content:
        raise Damaged("it holds other passages")
    try:
        return Index.of(tantivy.Index.open(str(folder)), manifest.documents, manifest.passages, held)
    except (OSError, ValueError) as error:
        raise Damaged(str(error)) from error


def _index_files(folder: Path) -> list[Path]:
    """The files that hold the index; locks and lists of tantivy's own, and ours, do not."""
    return sorted(path for path in folder.iterdir() if path.suffix != ".lock" and path.name[0] != "."
                  and not path.name.startswith(MANIFEST))  # fmt: skip


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Searching ------------------------------------------------------------------------------------------------------------


class Terms(NamedTuple):
    """The terms of a query, once each."""

    words: tuple[str, ...]  # stems
    pairs: tuple[str, ...]  # of Han characters; one that stands alone is alone

    @classmethod
    def of(cls, query: str) -> Terms:
        """The terms of what somebody wrote. It may be anything at all."""
        storable = query[:MAX_QUERY_LENGTH].encode("utf-8", "replace").decode()
        normalized = normalize(storable)
        return cls(tuple(dict.fromkeys(stems(normalized))), tuple(dict.fromkeys(query_pairs(normalized))))


def find(indexes: Sequence[Index], terms: Terms, allowed: frozenset[int], limit: int) -> list[Match]:
    """The best matches in documents that are ``allowed``, the best first.

    There are more than ``limit`` where some have the score of the last.
    """
    passages = sum(index.passages for index in indexes)
    weights = _weights(indexes, _expanded(indexes, terms))
    matches: list[Match] = []
    for place, index in enumerate(indexes):
        query = _query(index, place, weights, passages, allowed)
        if query is not None:
            matches += _best(index, query, limit)
    matches.sort(key=attrgetter("score"), reverse=True)
    if len(matches) <= limit:
        return matches
    return [match for match in matches if match.score >= matches[limit - 1].score]


def _expanded(indexes: Sequence[Index], terms: Terms) -> list[tuple[str, str]]:
    """Field and term of each; for a Han character that stands alone, the terms that begin with it."""
    expanded = [(WORDS, word) for word in terms.words]
    for pair in terms.pairs:
        if len(pair) > 1:
            expanded.append((HAN, pair))
            continue
        beginnings = {
            term
            for index in indexes
            for term, _count in index.searcher.terms_with_prefix(HAN, pair, limit=MAX_BEGINNINGS)
        }
        expanded += [(HAN, term) for term in sorted(beginnings)[:MAX_BEGINNINGS]]
    return list(dict.fromkeys(expanded))


def _weights(indexes: Sequence[Index], terms: Sequence[tuple[str, str]]) -> list[Weight]:
    """The rarest of the terms that any passage has."""
    weights = []
    for name, term in terms:
        holding = [index.searcher.doc_freq(name, term) for index in indexes]
        if any(holding):
            weights.append(Weight(name, term, holding, sum(holding)))
    return sorted(weights, key=attrgetter("total"))[:MAX_QUERY_TERMS]


def _query(
    index: Index, place: int, weights: Sequence[Weight], passages: int, allowed: frozenset[int]
) -> tantivy.Query | None:
    """The query for one of the indexes; None where nothing in it can match."""
    schema, queries, occur = index.index.schema, tantivy.Query, tantivy.Occur
    should = []
    for weight in weights:
        if weight.holding[place]:
            term = queries.term_query(schema, weight.field, weight.term, index_option="freq")
            own = _idf(index.searcher.num_docs, weight.holding[place])
            should.append((occur.Should, queries.boost_query(term, _idf(passages, weight.total) / own)))
    inside = allowed & index.documents
    if not should or not inside:
        return None
    text = queries.boolean_query(should)
    outside = index.documents - inside
    if not outside:
        return text
    # Both ways say the same. Whichever list is shorter is the quicker one.
    if len(outside) < len(inside):
        others = queries.term_set_query(schema, "document", sorted(outside))
        return queries.boolean_query([(occur.Must, text), (occur.MustNot, others)])
    among = queries.const_score_query(queries.term_set_query(schema, "document", sorted(inside)), 0.0)
    return queries.boolean_query([(occur.Must, text), (occur.Must, among)])


def _idf(passages: int, holding: int) -> float:
    return math.log1p((passages - holding + 0.5) / (holding + 0.5))


def _best(index: Index, query: tantivy.Query, limit: int) -> list[Match]:
    """The best matches of one index. Of those with equal scores the first by rank, however tantivy orders them."""
    count = limit + 1
    while True:
        hits = index.searcher.search(query, limit=count, count=False).hits
        scores = [round(score, SCORE_DIGITS) for score, _address in hits]
        if len(hits) < count or scores[-1] < scores[limit - 1] or count >= MAX_TIES:
            break
        count = min(count * 4, MAX_TIES)
    addresses = [address for _score, address in hits]
    ranks = index.searcher.fast_field_values("rank", addresses)
    passages = index.searcher.fast_field_values("passage", addresses)
    ordered = sorted(zip((-score for score in scores), ranks, passages, strict=True))
    return [Match(-score, int(passage or 0)) for score, _rank, passage in ordered[:limit]]
