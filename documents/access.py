"""Collections, documents and passages, fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.shortcuts import get_object_or_404

from accounts.models import User
from documents.models import Collection, Document, Passage
from rubrics.access import get_benchmark
from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole


def _read_by(user: User | AnonymousUser) -> QuerySet[Benchmark]:
    """Benchmarks whose documents ``user`` may read: their staff, authors, senior auditors and members of their groups.

    The app of groups is a layer above this one, so the query names its relations and imports nothing.
    """
    if user.pk is None:
        return Benchmark.objects.none()
    here = {"benchmark": OuterRef("pk"), "user": user.pk, "active": True}
    # In one `filter`: the membership that is active is the one in this benchmark.
    members = User.objects.filter(pk=user.pk, memberships__active=True, memberships__group__benchmark=OuterRef("pk"))
    return Benchmark.objects.filter(
        Q(Exists(BenchmarkRole.objects.filter(**here)))
        | Q(Exists(AuthoringRole.objects.filter(**here)))
        | Q(Exists(members))
    )


def may_read_documents(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether ``user`` may read and search the documents of ``benchmark``."""
    return _read_by(user).filter(pk=benchmark.pk).exists()


def may_manage_documents(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether ``user`` may import documents and change their licences: admins and researchers."""
    return BenchmarkRole.objects.filter(benchmark=benchmark.pk, user=user.pk, active=True).exists()


def get_read_benchmark(user: User | AnonymousUser, slug: str) -> Benchmark:
    """The benchmark, for those who may read its documents. The pages behind it show no candidate and no verdict."""
    return get_object_or_404(_read_by(user), slug=slug)


def get_collection(user: User | AnonymousUser, slug: str, public_id: str) -> Collection:
    """A collection, for those who may read the documents of its benchmark."""
    return _collection_in(get_read_benchmark(user, slug), public_id)


def get_managed_collection(user: User | AnonymousUser, slug: str, public_id: str) -> Collection:
    """A collection of a benchmark that ``user`` runs."""
    return _collection_in(get_benchmark(user, slug), public_id)


def get_document(user: User | AnonymousUser, slug: str, public_id: str) -> Document:
    """A document with its collection, for those who may read the documents of the benchmark."""
    return _document_in(get_read_benchmark(user, slug), public_id)


def get_managed_document(user: User | AnonymousUser, slug: str, public_id: str) -> Document:
    """A document with its collection, of a benchmark that ``user`` runs."""
    return _document_in(get_benchmark(user, slug), public_id)


def get_passage(user: User | AnonymousUser, slug: str, public_id: str) -> Passage:
    """A passage with its document and collection, for those who may read the documents of the benchmark."""
    benchmark = get_read_benchmark(user, slug)
    passages = Passage.objects.select_related("document__collection").defer("document__text")
    passage = get_object_or_404(passages, document__collection__benchmark=benchmark, public_id=public_id)
    passage.document.collection.benchmark = benchmark
    return passage


def _collection_in(benchmark: Benchmark, public_id: str) -> Collection:
    collection = get_object_or_404(Collection, benchmark=benchmark, public_id=public_id)
    collection.benchmark = benchmark
    return collection


def _document_in(benchmark: Benchmark, public_id: str) -> Document:
    documents = Document.objects.select_related("collection").defer("text")
    document = get_object_or_404(documents, collection__benchmark=benchmark, public_id=public_id)
    document.collection.benchmark = benchmark
    return document
