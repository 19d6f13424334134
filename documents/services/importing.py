"""Imports documents: all of a file, or nothing."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from consilium.core.identifiers import new_public_id
from consilium.core.jobs import Progress
from documents.editions.selectors import citing_criteria
from documents.editions.services import carry_citations
from documents.models import Collection, Document, Passage
from documents.search import passages_added
from documents.services.collections import create_collection, lock_names
from documents.services.described import describe, merged, stated_in
from documents.services.reading import ReadDocument, read_file, store_original
from documents.services.terms import KEPT_DETAILS, CollectionTerms, DocumentDetails, LicenceTerms
from rubrics.imports.bulk import array_literal, check_references_at_once, chunks, copy_rows, reserve_ids
from rubrics.imports.registry import Counts
from rubrics.models import Benchmark
from rubrics.parsing.faults import Faults

OPTIONS = (
    *("collection", "create_collection", "format", "key", "title", "publisher", "kind", "tier", "url", "version_label"),
    *("published_on", "review_by", "jurisdictions", "language", "audience"),
    *("licence", "may_send", "may_quote", "may_redistribute"),
)
DOCUMENT_COLUMNS = (
    *("id", "public_id", "collection", "key", "edition", "supersedes", "title", "publisher", "kind", "tier", "url"),
    *("version_label", "published_on", "review_by", "jurisdictions", "language", "audience", "licence", "may_send"),
    *("may_quote", "may_redistribute", "file", "media_type", "sha256", "text", "pages", "pages_without_text"),
    *("created_by", "created_at"),
)
PASSAGE_COLUMNS = (
    *("id", "public_id", "document", "ordinal", "text", "table_header", "headings", "page_from", "page_to"),
    *("start", "end", "sha256"),
)
PASSAGES_AT_ONCE = 5_000
MAX_LISTED_PAGES = 20


@dataclass(frozen=True, slots=True)
class Edition:
    """A stored edition of a document."""

    pk: int
    number: int
    sha256: str


@dataclass(slots=True)
class NewDocument:
    """A document to be written."""

    read: ReadDocument
    details: DocumentDetails
    licence: LicenceTerms
    edition: int = 1
    supersedes: int | None = None


@dataclass(slots=True)
class Plan:
    """What becomes of the documents of a file."""

    new: list[NewDocument] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)


@transaction.atomic
def import_documents(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import the documents of a file into the collection that option ``collection`` names.

    Other bytes under a key that is there are a new edition, which supersedes the latest; the same bytes change nothing.
    What the options say holds for each document that does not say otherwise itself. `ImportRefused` names every fault,
    and then nothing is written.
    """
    faults = Faults()
    read = list(read_file(file, options, faults, progress=progress))
    earlier = _latest_editions(benchmark, options, [document.key for document in read])
    described = _described(read, stated_in(options), earlier, faults)
    faults.refuse_if_any()
    collection = _locked_collection(benchmark, options, by, at)
    plan = _plan(collection, described, earlier)
    check_references_at_once()
    passages = _write(collection, plan.new, by=by, at=at)
    if passages:
        passages_added(collection=collection, by=by, at=at)
    editions = _look_for_citations(plan, at)
    return {
        "documents": {"created": len(plan.new), "unchanged": plan.counts["unchanged"]},
        "new editions": {"created": plan.counts["new editions"]},
        "passages": {"created": passages},
        "warnings": plan.warnings,
        **({"editions": editions} if editions else {}),
    }


def _latest_editions(benchmark: Benchmark, options: Mapping[str, str], keys: Sequence[str]) -> dict[str, Document]:
    """The latest edition of each of these keys in the collection; none where there is no such collection yet."""
    public_id = options.get("collection_id")
    named = {"collection__public_id": public_id} if public_id else {"collection__name": options.get("collection", "")}
    rows = Document.objects.filter(collection__benchmark=benchmark, key__in=list(keys), **named).defer("text")
    return {document.key: document for document in rows.order_by("edition")}


def _described(
    read: Sequence[ReadDocument], stated: Mapping[str, Any], earlier: Mapping[str, Document], faults: Faults
) -> list[NewDocument]:
    """The documents with what is said of them; all of it is checked before anything is written.

    What nobody says of a new edition is as in the edition before (`KEPT_DETAILS`).
    """
    described = []
    for document in read:
        values = {"title": document.title, "language": document.parsed.language, "url": document.url}
        if (before := earlier.get(document.key)) is not None:
            kept = {name: getattr(before, name) for name in KEPT_DETAILS}
            own = {name: value for name, value in values.items() if value and name != "title"}
            values = {**values, **{name: value for name, value in kept.items() if value}, **own}
        terms = describe({**values, **merged(stated, document.parsed.metadata)}, line=document.line, faults=faults)
        if terms is not None:
            described.append(NewDocument(document, *terms))
    return described


def _locked_collection(benchmark: Benchmark, options: Mapping[str, str], by: User | None, at: datetime) -> Collection:
    """The collection, locked: two imports at once would both supersede the same edition."""
    name = options.get("collection", "").strip()
    rows = Collection.objects.select_for_update(no_key=True).filter(benchmark=benchmark)
    public_id = options.get("collection_id")  # of an upload; it stays what it is when the collection is renamed
    collection = rows.filter(**({"public_id": public_id} if public_id else {"name": name})).first()
    if collection is not None:
        return collection
    if public_id or not options.get("create_collection"):
        raise DomainError(_("Collection “%(name)s” does not exist in this benchmark.") % {"name": name})
    lock_names(benchmark)
    terms = CollectionTerms(name=name)
    return rows.filter(name=name).first() or create_collection(benchmark=benchmark, terms=terms, by=by, at=at)


def _plan(collection: Collection, documents: Sequence[NewDocument], earlier: Mapping[str, Document]) -> Plan:
    """Which documents are new, and which edition each of them is."""
    plan = Plan()
    stored = _editions(collection, [document.read.key for document in documents])
    for document in documents:
        editions = stored[document.read.key]
        same = next((edition for edition in editions if edition.sha256 == document.read.parsed.sha256), None)
        if same is not None:
            plan.counts["unchanged"] += 1
            if same is not editions[-1]:
                plan.warnings.append(_superseded_bytes(document.read.key, same, editions[-1]))
            continue
        if editions:
            document.edition, document.supersedes = editions[-1].number + 1, editions[-1].pk
            plan.counts["new editions"] += 1
            before = earlier.get(document.read.key)
            if before is not None and before.licence and not document.licence.licence.strip():
                message = _("“%(key)s”: the licence of edition %(n)s was not carried over. State that of this edition.")
                plan.warnings.append(message % {"key": document.read.key, "n": before.edition})
        plan.new.append(document)
        plan.warnings += [f"“{document.read.key}”: {translate(remark)}" for remark in document.read.parsed.remarks]
        if document.read.parsed.pages_without_text:
            plan.warnings.append(_pages_without_text(document.read))
    return plan


def _editions(collection: Collection, keys: Sequence[str]) -> dict[str, list[Edition]]:
    """The stored editions of each key, the latest last."""
    editions: dict[str, list[Edition]] = defaultdict(list)
    rows = Document.objects.filter(collection=collection, key__in=keys).order_by("key", "edition")
    for key, pk, number, sha256 in rows.values_list("key", "pk", "edition", "sha256"):
        editions[key].append(Edition(pk, number, sha256))
    return editions


def _superseded_bytes(key: str, same: Edition, latest: Edition) -> str:
    message = _(
        "“%(key)s” is identical to its edition %(same)s, which edition %(latest)s supersedes; nothing was changed."
    )
    return message % {"key": key, "same": same.number, "latest": latest.number}


def _pages_without_text(document: ReadDocument) -> str:
    pages = document.parsed.pages_without_text
    listed = ", ".join(map(str, pages[:MAX_LISTED_PAGES])) + (" …" if len(pages) > MAX_LISTED_PAGES else "")
    message = ngettext(
        "“%(key)s”: page %(pages)s has no text. It may be a scan and cannot be searched.",
        "“%(key)s”: %(n)s pages have no text (%(pages)s). They may be scans and cannot be searched.",
        len(pages),
    )
    return message % {"key": document.key, "n": len(pages), "pages": listed}


def _look_for_citations(plan: Plan, at: datetime) -> list[dict[str, str]]:
    """Look for the cited words of earlier editions. Each new edition that lacks some is a warning, and in the list."""
    editions = []
    for new in plan.new:
        if new.supersedes is None:
            continue
        edition = Document.objects.select_related("collection").defer("text").get(supersedes=new.supersedes)
        carry_citations(edition=edition, at=at)
        n = sum(criterion.is_left_behind for criterion in citing_criteria(edition))
        if n:
            message = ngettext(
                "“%(key)s”: %(n)d criterion is based on words that the new edition does not contain.",
                "“%(key)s”: %(n)d criteria are based on words that the new edition does not contain.",
                n,
            )
            plan.warnings.append(message % {"key": edition.key, "n": n})
            editions.append({"key": edition.key, "public_id": edition.public_id})
    return editions


def _write(collection: Collection, documents: Sequence[NewDocument], *, by: User | None, at: datetime) -> int:
    """Write the documents and their passages; the number of passages."""
    ids = reserve_ids(Document, len(documents))
    files = [store_original(document.read) for document in documents]
    copy_rows(
        Document,
        DOCUMENT_COLUMNS,
        (
            _row(pk, collection, document, file, by, at)
            for pk, document, file in zip(ids, documents, files, strict=True)
        ),
    )
    passages = 0
    pairs = ((pk, place) for pk, document in zip(ids, documents, strict=True) for place in _places(document))
    for chunk in chunks(pairs, PASSAGES_AT_ONCE):
        passage_ids = reserve_ids(Passage, len(chunk))
        rows = (
            (pk, new_public_id(), document, *place) for pk, (document, place) in zip(passage_ids, chunk, strict=True)
        )
        copy_rows(Passage, PASSAGE_COLUMNS, rows)
        passages += len(chunk)
    return passages


def _row(
    pk: int, collection: Collection, document: NewDocument, file: str, by: User | None, at: datetime
) -> tuple[Any, ...]:
    read, details, licence = document.read, document.details, document.licence
    return (
        *(pk, new_public_id(), collection.pk, read.key, document.edition, document.supersedes, details.title.strip()),
        *(details.publisher.strip(), details.kind, details.tier, details.url.strip(), details.version_label.strip()),
        *(details.published_on, details.review_by, array_literal(details.jurisdictions), details.language),
        *(details.audience or "", licence.licence.strip(), licence.may_send, licence.may_quote),
        *(licence.may_redistribute, file, read.parsed.media_type if file else "", read.parsed.sha256),
        *(read.parsed.text, read.parsed.pages, list(read.parsed.pages_without_text), by.pk if by else None, at),
    )


def _places(document: NewDocument) -> Iterator[tuple[Any, ...]]:
    """The passages of a document as rows, without their ids."""
    text = document.read.parsed.text
    for ordinal, passage in enumerate(document.read.parsed.passages, start=1):
        words = text[passage.start : passage.end]
        yield (
            *(ordinal, words, passage.table_header, array_literal(passage.headings), passage.page_from),
            *(passage.page_to, passage.start, passage.end, hashlib.sha256(words.encode()).hexdigest()),
        )
