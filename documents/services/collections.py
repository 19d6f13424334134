"""Making and renaming collections of documents."""

from __future__ import annotations

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import JobStatus
from documents.models import Collection
from documents.services.terms import CollectionTerms
from rubrics.models import Benchmark, ImportJob


@transaction.atomic
def create_collection(*, benchmark: Benchmark, terms: CollectionTerms, by: User | None, at: datetime) -> Collection:
    """Make an empty collection; `Conflict` if there is one of that name."""
    lock_names(benchmark)
    collection = Collection(benchmark=benchmark, created_by=by, created_at=at)
    _set_terms(collection, terms)
    collection.save(force_insert=True)
    return collection


@transaction.atomic
def change_collection(*, collection: Collection, terms: CollectionTerms) -> None:
    """Rename or describe a collection; `Conflict` if another one has that name.

    Imports that are not done show its new name.
    """
    lock_names(collection.benchmark)
    locked = Collection.objects.select_for_update(no_key=True).select_related("benchmark").get(pk=collection.pk)
    _set_terms(locked, terms)
    locked.save(update_fields=["name", "description"])
    unfinished = ImportJob.objects.filter(
        benchmark=locked.benchmark, kind=ImportJob.Kind.DOCUMENTS, options__collection_id=locked.public_id
    ).exclude(status=JobStatus.DONE)
    for job in unfinished.select_for_update(no_key=True):
        ImportJob.objects.filter(pk=job.pk).update(options={**job.options, "collection": locked.name})
    collection.name, collection.description = locked.name, locked.description


def lock_names(benchmark: Benchmark) -> None:
    """Keep others from naming collections of the benchmark until this transaction ends."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)


def _set_terms(collection: Collection, terms: CollectionTerms) -> None:
    collection.name, collection.description = terms.name.strip(), terms.description.strip()
    try:
        collection.clean_fields(exclude=["created_by"])
    except ValidationError as error:
        raise DomainError(" ".join(error.messages)) from error
    others = Collection.objects.filter(benchmark=collection.benchmark, name=collection.name)
    if others.exclude(pk=collection.pk).exists():
        raise Conflict(_("A collection “%(name)s” already exists.") % {"name": collection.name})
