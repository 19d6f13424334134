"""Lists of documents for pages, files and the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from documents.models import Collection, Document, DocumentQuerySet, Passage
from rubrics.models import Benchmark, ImportJob

# The states by which documents are listed; a document can be in several.
IN_USE, SUPERSEDED, RETIRED, OVERDUE, ALL = "in_use", "superseded", "retired", "overdue", "all"
STATES = {
    IN_USE: _("In use"),
    OVERDUE: _("Review overdue"),
    SUPERSEDED: _("Superseded"),
    RETIRED: _("Retired"),
    ALL: _("All"),
}
STATE_MARKS = {
    RETIRED: _("Retired"),
    SUPERSEDED: _("Superseded"),
    OVERDUE: _("Review overdue"),
}
CSV_COLUMNS = (
    *("collection", "key", "edition", "title", "publisher", "kind", "tier", "version", "published_on", "review_by"),
    *("jurisdictions", "language", "audience", "licence", "may_send", "may_quote", "may_redistribute", "state", "url"),
    *("pages", "passages", "sha256"),
)
CSV_TEXT = (
    *("collection", "key", "title", "publisher", "version", "jurisdictions", "language", "licence", "url"),
)  # fmt: skip
PASSAGE_CSV_COLUMNS = ("locator", "headings", "page_from", "page_to", "start", "end", "table_header", "text", "sha256")
PASSAGE_CSV_TEXT = ("locator", "headings", "table_header", "text")


def marks_of(document: Document, today: date) -> list[str]:
    """Why a citation of the document needs a look: *retired*, *superseded*, *overdue*."""
    marks = []
    if document.retired_at is not None:
        marks.append(RETIRED)
    if _is_superseded(document):
        marks.append(SUPERSEDED)
    if document.is_overdue(today):
        marks.append(OVERDUE)
    return marks


def _is_superseded(document: Document) -> bool:
    known: bool | None = getattr(document, "is_superseded", None)  # of `listed`
    return Document.objects.filter(supersedes=document.pk).exists() if known is None else known


def listed(benchmark: Benchmark) -> DocumentQuerySet:
    """The documents of a benchmark with ``is_superseded``, ``supersedes_public_id`` and ``passage_count``.

    They come without their texts.
    """
    documents = Document.objects.filter(collection__benchmark=benchmark).select_related("collection").defer("text")
    return documents.annotate(
        is_superseded=Exists(Document.objects.filter(supersedes=OuterRef("pk"))),
        supersedes_public_id=F("supersedes__public_id"),
        passage_count=_count_passages(),
    )


def _count_passages() -> Subquery:
    counted = Passage.objects.filter(document=OuterRef("pk")).order_by()
    counted = counted.annotate(number=Func(template="COUNT(*)", output_field=IntegerField()))
    return Subquery(counted.values("number"), output_field=IntegerField())


def narrowed(documents: DocumentQuerySet, chosen: Mapping[str, Any], today: date) -> DocumentQuerySet:
    """``documents`` by the validated filters; without a state, those in use."""
    if text := chosen.get("q"):
        documents = documents.filter(Q(title__icontains=text) | Q(publisher__icontains=text) | Q(key__icontains=text))
    if collection := chosen.get("collection"):
        documents = documents.filter(collection__public_id=collection)
    for name in ("kind", "language", "tier"):
        if value := chosen.get(name):
            documents = documents.filter(**{name: value})
    if jurisdiction := chosen.get("jurisdiction"):
        documents = documents.filter(jurisdictions__contains=[jurisdiction])
    state = chosen.get("state") or IN_USE
    if state == IN_USE:
        return documents.in_use()
    if state == OVERDUE:
        return documents.overdue(today)
    if state == SUPERSEDED:
        return documents.filter(superseded_by__isnull=False)
    if state == RETIRED:
        return documents.filter(retired_at__isnull=False)
    return documents


@dataclass(frozen=True, slots=True)
class Variety:
    """The values by which the documents of a benchmark can be filtered."""

    collections: list[tuple[str, str]]
    languages: list[str]
    jurisdictions: list[str]


def variety_of(benchmark: Benchmark) -> Variety:
    """What its documents have of each."""
    documents = Document.objects.filter(collection__benchmark=benchmark).order_by()
    codes = documents.annotate(code=Func(F("jurisdictions"), function="unnest")).values_list("code", flat=True)
    return Variety(
        list(Collection.objects.filter(benchmark=benchmark).values_list("public_id", "name")),
        sorted(set(documents.exclude(language="").values_list("language", flat=True).distinct())),
        sorted(set(codes.distinct())),
    )


def editions_of(document: Document) -> list[Document]:
    """All editions of the document's key, the newest first."""
    rows = Document.objects.filter(collection=document.collection, key=document.key).defer("text")
    return list(rows.select_related("created_by").order_by("-edition"))


def collections_of(benchmark: Benchmark) -> QuerySet[Collection]:
    """The collections of a benchmark with ``document_count`` (in use) and ``passage_count`` (of all editions)."""
    in_use = Q(documents__superseded_by__isnull=True, documents__retired_at__isnull=True)
    passages = Passage.objects.filter(document__collection=OuterRef("pk")).order_by()
    counted = passages.annotate(number=Func(template="COUNT(*)", output_field=IntegerField())).values("number")
    return Collection.objects.filter(benchmark=benchmark).annotate(
        document_count=Count("documents", filter=in_use),
        passage_count=Coalesce(Subquery(counted, output_field=IntegerField()), Value(0)),
    )


def imports_into(collection: Collection) -> QuerySet[ImportJob]:
    """The imports into the collection, whatever it was called then, the newest first."""
    jobs = ImportJob.objects.filter(benchmark=collection.benchmark, kind=ImportJob.Kind.DOCUMENTS)
    return jobs.filter(options__collection_id=collection.public_id).select_related("created_by")


def neighbours(passage: Passage) -> tuple[Passage | None, Passage | None]:
    """The passages before and after, of the same document."""
    rows = Passage.objects.filter(document=passage.document_id, ordinal__in=(passage.ordinal - 1, passage.ordinal + 1))
    around = {row.ordinal: row for row in rows}
    return around.get(passage.ordinal - 1), around.get(passage.ordinal + 1)


def csv_rows(documents: QuerySet[Document], today: date) -> Iterator[Sequence[Any]]:
    """The rows of `CSV_COLUMNS`."""
    for document in documents.iterator(chunk_size=500):
        yield (
            *(document.collection.name, document.key, document.edition, document.title, document.publisher),
            *(document.kind, document.tier, document.version_label, document.published_on, document.review_by),
            *("; ".join(document.jurisdictions), document.language, document.audience, document.licence),
            *(document.may_send, document.may_quote, document.may_redistribute),
            "; ".join(marks_of(document, today)) or IN_USE,
            *(document.url, document.pages, document.passage_count, document.sha256),  # type: ignore[attr-defined]
        )


def passage_csv_rows(document: Document) -> Iterator[Sequence[Any]]:
    """The rows of `PASSAGE_CSV_COLUMNS`. Where the document may not be quoted, the words are left out."""
    for passage in Passage.objects.filter(document=document).order_by("ordinal").iterator(chunk_size=500):
        passage.document = document
        words = (passage.table_header, passage.text) if document.may_quote else (None, None)
        headings = " › ".join(passage.headings) if document.may_quote else None
        yield (
            *(passage.locator, headings, passage.page_from, passage.page_to, passage.start, passage.end),
            *(*words, passage.sha256),
        )
