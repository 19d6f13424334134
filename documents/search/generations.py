"""Generations of a collection's index: when a new one is due, and the job that builds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Max, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy

from accounts.models import User
from consilium.core.jobs import Attempt, Clock, JobKind, JobStatus, Progress, no_progress, register
from documents.models import Collection, Document, Passage, SearchGeneration
from documents.search import folders
from documents.search.index import Row
from rubrics.services.job_notices import notify_of_end

# So many passages are searched beside an index before a new one is built.
MAX_BESIDE = 1000
# A search that began before the switch may still open the generation before.
KEPT_FOR = timedelta(minutes=1)
CHUNK = 2000


@transaction.atomic
def passages_added(*, collection: Collection, by: User | None, at: datetime) -> SearchGeneration | None:
    """Ask for a new generation if too many passages are not in the index, or if there is none.

    Call it in the transaction that adds passages. A generation that waits already will hold them.
    """
    _lock(collection)
    passages = Passage.objects.filter(document__collection=collection).count()
    indexed = SearchGeneration.objects.filter(pk__in=_in_force(collection)).values_list("passages", flat=True).first()
    is_due = passages > 0 if indexed is None else passages - indexed > MAX_BESIDE
    return _ask(collection, by=by, at=at) if is_due else None


@transaction.atomic
def rebuild(*, collection: Collection, by: User | None, at: datetime) -> SearchGeneration:
    """Ask for a new generation of the index."""
    _lock(collection)
    return _ask(collection, by=by, at=at)


def _lock(collection: Collection) -> None:
    Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)


def _in_force(collection: Collection) -> list[int]:
    ids = Collection.objects.filter(pk=collection.pk).values_list("generation", flat=True)
    return [each for each in ids if each is not None]


def _ask(collection: Collection, *, by: User | None, at: datetime) -> SearchGeneration:
    generations = SearchGeneration.objects.filter(collection=collection)
    # While its row is locked no worker takes it, so it will read what this transaction writes.
    waiting = generations.filter(status=JobStatus.PENDING).select_for_update().first()
    if waiting is not None:
        return waiting
    last = generations.aggregate(last=Max("number"))["last"] or 0
    generation = SearchGeneration.objects.create(collection=collection, number=last + 1, created_by=by, created_at=at)
    GENERATIONS.enqueue(generation)
    return generation


class GenerationJobs(JobKind[SearchGeneration]):
    """Generations of an index: a worker builds the folder, and switches searches to it."""

    model = SearchGeneration
    task = "documents.tasks.build_generation"
    sweep_task = "documents.tasks.sweep_generations"
    worker_lost = gettext_lazy("The worker stopped unexpectedly %(times)s times while building the search index.")
    crashed = gettext_lazy("The search index could not be built; see the worker’s log for details.")
    related = ("collection__benchmark", "created_by")

    def work(self, attempt: Attempt[SearchGeneration]) -> None:
        """Build the index, and switch the searches of the collection to it."""
        generation, collection = attempt.job, attempt.job.collection
        with transaction.atomic():
            # Whoever adds passages has the collection locked. So no passage of a lower id comes later, and the rows up
            # to the last give the same index on every machine.
            _lock(collection)
            passages = Passage.objects.filter(document__collection=collection)
            last_passage = passages.aggregate(last=Max("pk"))["last"] or 0
            count = passages.count()
        index = folders.opened(
            collection.public_id,
            generation.number,
            content=content_of(last_passage, generation.created_at),
            rows=rows_of(collection.pk, last_passage, progress=_shares(attempt.progress, count)),
        )
        with transaction.atomic():
            _lock(collection)  # else the condition below is not asked again after another worker's switch
            attempt.finish(progress=1.0, passages=index.passages, last_passage=last_passage)
            older = Q(generation=None) | Q(generation__number__lt=generation.number)
            Collection.objects.filter(older, pk=collection.pk).update(generation=generation)

    def ended(self, job: SearchGeneration, *, status: str, at: datetime) -> None:
        """Notify the admins if the index could not be built. That it was built, searches show by themselves."""
        if status != JobStatus.FAILED:
            return
        benchmark = job.collection.benchmark
        notify_of_end(
            benchmark=benchmark,
            by=job.created_by_id,
            begun_at=job.created_at,
            what="index",
            end="failed",
            url=reverse("documents:collection", args=[benchmark.slug, job.collection.public_id]),
            at=at,
            title=job.collection.name,
        )


GENERATIONS = register(GenerationJobs())


def run(*, generation_id: int, clock: Clock) -> None:
    """Build a generation if there is something to do; safe to call any number of times, from any workers."""
    GENERATIONS.run(job_id=generation_id, clock=clock)


def remove_old_folders(*, at: datetime) -> None:
    """Remove this machine's folders of generations that are out of use, unless somebody still reads them."""
    current = SearchGeneration.objects.filter(pk__in=Collection.objects.values("generation"))
    replaced = current.filter(finished_at__lt=at - KEPT_FOR).values_list("collection__public_id", "number")
    for collection, number in replaced:
        folders.remove_older(collection, number)


def _shares(progress: Progress, count: int) -> Progress:
    return lambda rows: progress(rows / max(count, 1))


# Rows -----------------------------------------------------------------------------------------------------------------


def content_of(last_passage: int, created_at: datetime) -> str:
    """What the passages of a generation are called in its folder."""
    return f"{last_passage} {created_at.astimezone(UTC).isoformat()}"


def rows_of(collection: int, last_passage: int, *, progress: Progress = no_progress) -> Callable[[], Iterator[Row]]:
    """Reads the passages of a collection up to ``last_passage`` for its index; ``progress`` gets their number."""

    def rows() -> Iterator[Row]:
        passages = Passage.objects.filter(document__collection=collection, pk__lte=last_passage).order_by("pk")
        for count, row in enumerate(_rows(passages.iterator(CHUNK), _ranks(collection))):
            if count % CHUNK == 0:
                progress(count)
            yield row

    return rows


def rows_beside(collection: int, documents: list[int]) -> list[Row]:
    """The passages of documents that are not in the index: the first of them, if there are too many."""
    passages = Passage.objects.filter(document__in=documents).order_by("document", "ordinal")[:MAX_BESIDE]
    return list(_rows(passages, _ranks(collection)))


def _ranks(collection: int) -> dict[int, int]:
    """The place of each document of a collection by key and edition, the same whatever collation the database has."""
    documents = Document.objects.filter(collection=collection).values_list("key", "edition", "pk")
    return {document: rank for rank, (_key, _edition, document) in enumerate(sorted(documents))}


def _rows(passages: object, ranks: dict[int, int]) -> Iterator[Row]:
    for passage in passages:  # type: ignore[attr-defined]
        text = "\n".join([*passage.headings, passage.table_header, passage.text])
        yield Row(ranks[passage.document_id] << 32 | passage.ordinal, passage.pk, passage.document_id, text)
