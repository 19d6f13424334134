"""Documents for tests: rows as an import makes them, without one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from documents.models import Collection, Document, Passage
from rubrics.models import Benchmark

FEVER = "Give 15 mg/kg of para-\ncetamol every 4–6 hours; do not\nexceed “four doses” in 24 hours. 成人每日不超过４克。"
RED_FLAGS = "A child under three months with a fever is seen by a physician on the same day."


def add_document(
    benchmark: Benchmark, texts: Sequence[str] = (FEVER, RED_FLAGS), *, key: str = "fever", **fields: Any
) -> list[Passage]:
    """A document whose passages are ``texts``, page by page, in the collection ``Guidelines``; returns the passages."""
    at = timezone.now()
    collection, _created = Collection.objects.get_or_create(
        benchmark=benchmark, name="Guidelines", defaults={"created_at": at}
    )
    text = "\n\n".join(texts)
    values = {"title": f"Made-up guideline {key}", "publisher": "Made-up college", "version_label": "2023"} | fields
    document = Document.objects.create(
        collection=collection,
        key=key,
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        pages=len(texts),
        created_at=at,
        **values,
    )
    passages = []
    start = 0
    for number, words in enumerate(texts, start=1):
        passages.append(
            Passage.objects.create(
                document=document,
                ordinal=number,
                text=words,
                headings=["Fever"],
                page_from=number,
                page_to=number,
                start=start,
                end=start + len(words),
                sha256=hashlib.sha256(words.encode()).hexdigest(),
            )
        )
        start += len(words) + 2
    return passages
