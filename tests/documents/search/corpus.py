"""Collections, documents and passages for the tests of search. All texts are made up."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from documents.models import Collection, Document, Passage, SearchGeneration
from documents.search import Filters, generations, rebuild, search
from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory


def make_collection(benchmark: Benchmark | None = None, name: str = "Guidelines") -> Collection:
    """An empty collection."""
    return Collection.objects.create(
        benchmark=benchmark or BenchmarkFactory(),
        name=name,
        created_at=timezone.now(),
    )


@transaction.atomic
def add_document(collection: Collection, key: str, texts: Sequence[str], **fields: Any) -> Document:
    """A document with a passage for each text; ``headings`` are those of all passages."""
    headings = fields.pop("headings", [])
    whole = "\n".join(texts)
    document = Document.objects.create(
        collection=collection,
        key=key,
        sha256=fields.pop("sha256", hashlib.sha256(whole.encode()).hexdigest()),
        text=whole,
        created_at=timezone.now(),
        **{"title": key, "licence": "CC0-1.0", "may_send": True, **fields},
    )
    start, passages = 0, []
    for ordinal, text in enumerate(texts, start=1):
        end = start + len(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        passages.append(
            Passage(
                document=document, ordinal=ordinal, text=text, headings=headings, start=start, end=end, sha256=digest
            )
        )
        start = end + 1
    Passage.objects.bulk_create(passages)
    return document


def build(collection: Collection) -> SearchGeneration:
    """Ask for a generation and build it in this process."""
    generation = rebuild(collection=collection, by=None, at=timezone.now())
    generations.run(generation_id=generation.pk, clock=timezone.now)
    generation.refresh_from_db()
    assert generation.error == ""
    return generation


def find_texts(collection: Collection, query: str, limit: int = 20, **filters: Any) -> list[str]:
    """The texts of the passages that a search finds, the best first."""
    hits = search(collections=[collection], query=query, filters=Filters(**filters), limit=limit, at=timezone.now())
    return [hit.passage.text for hit in hits]
