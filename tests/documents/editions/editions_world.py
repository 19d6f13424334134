"""Documents with passages for tests, written through the constraints and triggers of the product."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from documents.models import Collection, Document, Passage
from rubrics.models import Benchmark, Case, Rubric, RubricItem


def make_collection(benchmark: Benchmark, name: str = "Guidelines") -> Collection:
    """An empty collection."""
    return Collection.objects.create(benchmark=benchmark, name=name, created_at=timezone.now())


def make_document(
    collection: Collection,
    paragraphs: Sequence[str],
    *,
    key: str = "chest-pain",
    headings: Sequence[str] = (),
    **fields: Any,
) -> Document:
    """A document with one passage for each paragraph; a later edition where the key is there already.

    ``headings``: one for each paragraph, or none.
    """
    text = "\n\n".join(paragraphs)
    before = Document.objects.filter(collection=collection, key=key).order_by("edition").last()
    values: dict[str, Any] = {"title": "Chest pain in adults", "publisher": "Society of Examples", "licence": "CC0-1.0"}
    document = Document.objects.create(
        collection=collection,
        key=key,
        edition=before.edition + 1 if before else 1,
        supersedes=before,
        text=text,
        sha256=_sha256(text),
        created_at=timezone.now(),
        **values | fields,
    )
    start = 0
    for ordinal, paragraph in enumerate(paragraphs, start=1):
        Passage.objects.create(
            document=document,
            ordinal=ordinal,
            text=paragraph,
            headings=list(headings[ordinal - 1 : ordinal]),
            start=start,
            end=start + len(paragraph),
            sha256=_sha256(paragraph),
        )
        start += len(paragraph) + 2
    return document


def cite(passage: Passage, quote: str = "") -> dict[str, Any]:
    """A citation of a passage, of all of it where no words are named."""
    start = passage.text.index(quote) if quote else 0
    end = start + len(quote) if quote else len(passage.text)
    return {"passage": passage.public_id, "start": start, "end": end, "quote": quote}


def cited_rubric(case: Case, citations: list[list[dict[str, Any]]]) -> Rubric:
    """A published rubric whose criteria have these citations."""
    rubric = Rubric.objects.create(case=case)
    for position, entries in enumerate(citations, start=1):
        criterion = case.criteria.create(text=f"Criterion {position}")
        RubricItem.objects.create(rubric=rubric, criterion=criterion, position=position, points=5, citations=entries)
    rubric.status, rubric.published_at = Rubric.Status.PUBLISHED, timezone.now()
    rubric.save(update_fields=["status", "published_at"])
    return rubric


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
