"""A benchmark with a collection, files of documents, and imports into it as a worker does them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from django.core.files.base import ContentFile
from django.utils import timezone

from accounts.models import User
from consilium.core.jobs import no_progress
from documents import services
from documents.models import Collection, Document
from documents.services.terms import CollectionTerms
from rubrics.imports.registry import Counts
from rubrics.models import Benchmark, ImportJob
from rubrics.services import create_import, import_jobs
from tests.factories import BenchmarkFactory, UserFactory

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FEVER = """Fever in children

Give 15 mg/kg of paracetamol every 4 to 6 hours, and no more than four doses in 24 hours.

When to seek help

Seek help at once if the child is younger than three months, is drowsy, or has a rash that does not fade.
"""


def make_collection(benchmark: Benchmark, name: str = "Guidelines", by: User | None = None) -> Collection:
    return services.create_collection(benchmark=benchmark, terms=CollectionTerms(name=name), by=by, at=AT)


def library() -> Collection:
    """An empty collection of a benchmark, ``bench``, that has an admin and a researcher."""
    admin, researcher = UserFactory(email="admin@example.org"), UserFactory(email="researcher@example.org")
    benchmark = BenchmarkFactory(slug="bench", admin=admin, researcher=researcher)
    return make_collection(benchmark)


def lines(*rows: dict[str, Any]) -> bytes:
    """A file of JSONL."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def add(collection: Collection, content: str | bytes, file_name: str = "fever.txt", /, **options: str) -> Counts:
    """Import a file at once."""
    raw = content.encode() if isinstance(content, str) else content
    return services.import_documents(
        benchmark=collection.benchmark,
        file=BytesIO(raw),
        options={"collection": collection.name, "file_name": file_name, **options},
        by=None,
        at=AT,
        progress=no_progress,
    )


def add_document(
    collection: Collection, content: str = FEVER, file_name: str = "fever.txt", /, **options: str
) -> Document:
    """Import a file with one document, and return that."""
    before = set(Document.objects.values_list("pk", flat=True))
    add(collection, content, file_name, **options)
    return Document.objects.exclude(pk__in=before).get()


def make_job(collection: Collection, content: bytes, file_name: str = "f.jsonl", /, **options: str) -> ImportJob:
    """An upload that no worker has begun."""
    return create_import(
        benchmark=collection.benchmark,
        kind="documents",
        file=ContentFile(content),
        file_name=file_name,
        options={"collection": collection.name, "collection_id": collection.public_id, **options},
        by=collection.benchmark.roles.first().user,
    )


def work(job: ImportJob) -> ImportJob:
    """Do what a worker would."""
    import_jobs.run(job_id=job.pk, clock=timezone.now)
    job.refresh_from_db()
    return job
