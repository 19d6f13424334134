"""Searches the passages of collections."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.conf import settings
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from documents.models import Collection, Document, Passage, SearchGeneration
from documents.search import folders
from documents.search.filters import Filters
from documents.search.generations import MAX_BESIDE, content_of, rows_beside, rows_of
from documents.search.index import Index, Match, Terms, build_beside, find
from documents.selectors import marks_of

logger = structlog.get_logger(__name__)

IN_USE = Filters()
MAX_LIMIT = 200
MAX_SMALL = 32  # indexes of newer passages that a process keeps, each of at most `MAX_BESIDE`


# A page that is asked for on a machine without the index builds it, if that takes no longer than about two seconds.
MAX_BUILT_IN_REQUEST = 5_000


class NotReady(DomainError):
    """This machine does not have the index yet; the search can be repeated in a moment."""

    status_code = 503


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage, with its document and collection loaded, and how well it matches."""

    passage: Passage
    score: float
    marks: tuple[str, ...]  # why to take care: names of `documents.selectors.STATE_MARKS`


def search(
    *,
    collections: QuerySet[Collection] | Sequence[Collection],
    query: str,
    filters: Filters = IN_USE,
    limit: int = 20,
    at: datetime,
) -> list[Hit]:
    """The passages that match a query best, the best first; the query is words, without a syntax.

    Which documents are looked at is read from the database before anything is ranked. Equal scores are in the order of
    document key, edition and place in the document.
    """
    limit = min(limit, MAX_LIMIT)
    return _hits(matches_of(collections=collections, queries=[query], filters=filters, limit=limit)[0], limit, at)


def matches_of(
    *,
    collections: QuerySet[Collection] | Sequence[Collection],
    queries: Sequence[str],
    filters: Filters = IN_USE,
    limit: int = 20,
) -> list[list[Match]]:
    """The best matches of each query, the best first, by one read of collections and documents for all of them.

    There are more than ``limit`` where some have the score of the last, and a match may be of no passage at all: load
    the passages of those that are wanted.
    """
    terms = [Terms.of(query) for query in queries]
    if not any(each.words or each.pairs for each in terms):
        return [[] for _query in queries]
    # The generation first: whatever is in its index was committed before the documents are read.
    if not isinstance(collections, QuerySet):
        collections = Collection.objects.filter(pk__in=[collection.pk for collection in collections])
    read = list(collections.select_related("generation").order_by("pk"))
    documents, allowed = _documents(read, filters)
    indexes = [index for collection in read for index in _indexes(collection, documents.get(collection.pk, []))]
    return [find(indexes, each, allowed, limit) if each.words or each.pairs else [] for each in terms]


def _documents(collections: Sequence[Collection], filters: Filters) -> tuple[dict[int, list[int]], frozenset[int]]:
    """The documents of each collection, and those of all collections that the filters let through."""
    rows = (
        Document.objects.filter(collection__in=collections)
        .order_by()
        .values("collection")
        .annotate(every=ArrayAgg("pk"), passed=ArrayAgg("pk", filter=filters.condition()))
        .values_list("collection", "every", "passed")
    )
    documents, allowed = {}, set()
    for collection, every, passed in rows:
        documents[collection] = every
        allowed.update(passed or [])
    return documents, frozenset(allowed)


def _indexes(collection: Collection, documents: Sequence[int]) -> list[Index]:
    """The index in force, and one of the passages that are newer."""
    indexes = [] if collection.generation is None else [_in_force(collection, collection.generation)]
    # Documents are never deleted, so an index that has as many has all of them.
    if len(documents) > sum(len(index.documents) for index in indexes):
        newer = sorted(set(documents).difference(*(index.documents for index in indexes)))
        indexes.append(_beside(collection, tuple(newer[:MAX_BESIDE]), *indexes))
    return indexes


def _in_force(collection: Collection, generation: SearchGeneration) -> Index:
    content = content_of(generation.last_passage, generation.created_at)
    rows = rows_of(collection.pk, generation.last_passage)
    place = collection.public_id, generation.number
    takes_long = settings.WEB_PROCESS and generation.passages > MAX_BUILT_IN_REQUEST
    if takes_long and not folders.is_here(*place, content=content):
        folders.build_in_background(*place, content=content, rows=rows)
        raise NotReady(_("The search index is being built on this machine. Try again in a minute."))
    try:
        return folders.opened(*place, content=content, rows=rows)
    except OSError as error:  # say a full disk
        logger.exception("search_index_not_built", collection=collection.public_id)
        raise NotReady(_("The search index cannot be built on this machine; see its log for details.")) from error


# By public id of the collection, generation, and documents.
_small: OrderedDict[tuple[str, int | None, tuple[int, ...]], Index] = OrderedDict()
_changing_small = threading.Lock()


def _beside(collection: Collection, documents: tuple[int, ...], large: Index | None = None) -> Index:
    """The index in memory of documents beside the one in force; kept, because their passages never change."""
    key = collection.public_id, collection.generation_id, documents
    with _changing_small:
        index = _small.get(key)
        if index is not None:
            _small.move_to_end(key)
            return index
    index = build_beside(rows_beside(collection.pk, list(documents)), large)
    with _changing_small:
        for other in [other for other in _small if other[0] == collection.public_id]:
            del _small[other]
        _small[key] = index
        while len(_small) > MAX_SMALL:
            _small.popitem(last=False)
    return index


def _hits(matches: Sequence[Match], limit: int, at: datetime) -> list[Hit]:
    passages = (
        Passage.objects.select_related("document__collection")
        .defer("document__text")
        .annotate(is_superseded=Exists(Document.objects.filter(supersedes=OuterRef("document"))))
        .in_bulk([match.passage for match in matches])
    )
    today = timezone.localdate(at)
    hits = []
    for match in matches:
        passage = passages.get(match.passage)
        if passage is not None:  # and not the padding of a small index
            passage.document.is_superseded = passage.is_superseded  # type: ignore[attr-defined]
            hits.append(Hit(passage, match.score, tuple(marks_of(passage.document, today))))
    return sorted(hits, key=_order)[:limit]


def _order(hit: Hit) -> tuple[float, str, int, int]:
    document = hit.passage.document
    return -hit.score, document.key, document.edition, hit.passage.ordinal
