"""Collections of documents, and the passages that criteria cite."""

from __future__ import annotations

from datetime import date
from typing import Self

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited_fields
from consilium.core.identifiers import new_public_id
from consilium.core.jobs import Job
from consilium.core.limits import (
    MAX_COLLECTION_NAME_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_DOCUMENT_KEY_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_PUBLISHER_LENGTH,
    MAX_TITLE_LENGTH,
    MAX_URL_LENGTH,
    MAX_VERSION_LABEL_LENGTH,
)
from rubrics.models import Benchmark

JURISDICTION = RegexValidator(r"^(?:[A-Z]{2}|INT)\Z", _("A jurisdiction must be an ISO 3166 country code or INT."))


class Collection(models.Model):
    """A collection of documents that criteria of a benchmark may rest on."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="collections")
    name = models.CharField(_("name"), max_length=MAX_COLLECTION_NAME_LENGTH)
    description = models.TextField(_("description"), max_length=MAX_DESCRIPTION_LENGTH, blank=True)
    # The generation of the index that searches read; empty until the first is built.
    generation = models.ForeignKey(
        "SearchGeneration", null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "name"], name="documents_collection_name_once")]

    def __str__(self) -> str:
        return self.name


class DocumentQuerySet(models.QuerySet["Document"]):
    def latest_editions(self) -> Self:
        """Documents that no later edition supersedes."""
        return self.filter(superseded_by__isnull=True)

    def in_use(self) -> Self:
        """Latest editions that are not retired."""
        return self.latest_editions().filter(retired_at__isnull=True)

    def overdue(self, today: date) -> Self:
        """Documents in use whose publisher's date of review has passed."""
        return self.in_use().filter(review_by__lt=today)


@audited_fields("DocumentLicenceEvent", "licence", "may_send", "may_quote", "may_redistribute", "retired_at")
class Document(models.Model):
    """One edition of a document. Its text never changes: a corrected document is a new edition of the same key."""

    class Kind(models.TextChoices):
        GUIDELINE = "guideline", _("Guideline")
        DRUG_REFERENCE = "drug_reference", _("Drug reference")
        PATIENT_INFORMATION = "patient_information", _("Patient information")
        RESEARCH = "research", _("Research")
        LOCAL_PROTOCOL = "local_protocol", _("Local protocol")
        OTHER = "other", _("Other")

    class Audience(models.TextChoices):
        LAY = "lay", _("Patients and the public")
        PROFESSIONAL = "professional", _("Professionals")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="documents")
    key = models.CharField(_("key"), max_length=MAX_DOCUMENT_KEY_LENGTH)
    edition = models.PositiveIntegerField(default=1, editable=False)  # counts the editions of the key, from 1
    supersedes = models.OneToOneField(
        "self", null=True, blank=True, editable=False, on_delete=models.PROTECT, related_name="superseded_by"
    )
    title = models.CharField(_("title"), max_length=MAX_TITLE_LENGTH)
    publisher = models.CharField(_("publisher"), max_length=MAX_PUBLISHER_LENGTH, blank=True)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices, default=Kind.OTHER)
    tier = models.PositiveSmallIntegerField(_("tier of authority"), default=4)  # 1 is the highest
    url = models.CharField(_("address"), max_length=MAX_URL_LENGTH, blank=True)
    version_label = models.CharField(_("version"), max_length=MAX_VERSION_LABEL_LENGTH, blank=True)
    published_on = models.DateField(_("published on"), null=True, blank=True)
    review_by = models.DateField(_("review due"), null=True, blank=True)
    jurisdictions = ArrayField(
        models.CharField(max_length=3, validators=[JURISDICTION]), verbose_name=_("jurisdictions"), default=list,
        blank=True,
    )  # fmt: skip
    language = models.CharField(_("language"), max_length=10, blank=True)
    audience = models.CharField(_("written for"), max_length=12, choices=Audience.choices, blank=True)
    licence = models.CharField(_("licence"), max_length=MAX_LICENCE_LENGTH, blank=True)  # SPDX identifier, or text
    may_send = models.BooleanField(_("may be sent to models"), default=False)
    may_quote = models.BooleanField(_("may be quoted in exports"), default=False)
    may_redistribute = models.BooleanField(_("may be redistributed"), default=False)
    file = models.FileField(upload_to="documents/", blank=True)  # the original; empty where it came in a JSONL file
    media_type = models.CharField(max_length=100, blank=True)
    sha256 = models.CharField(max_length=64)  # of the original bytes, or of the document's part of a JSONL file
    text = models.TextField()
    pages = models.PositiveIntegerField(null=True, blank=True)
    pages_without_text = ArrayField(models.PositiveIntegerField(), default=list, blank=True)  # say scanned ones
    retired_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["collection", "key", "edition"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "key", "edition"], name="documents_document_edition_once"),
            models.UniqueConstraint(fields=["collection", "key", "sha256"], name="documents_document_bytes_once"),
            models.CheckConstraint(condition=models.Q(tier__gte=1, tier__lte=4), name="documents_document_tier"),
            models.CheckConstraint(
                condition=~models.Q(licence="") | models.Q(may_send=False, may_quote=False, may_redistribute=False),
                name="documents_document_unknown_licence",
                violation_error_message=_("Enter the licence before you allow any use."),
            ),
            models.CheckConstraint(
                condition=models.Q(edition=1, supersedes__isnull=True)
                | models.Q(edition__gt=1, supersedes__isnull=False),
                name="documents_document_edition_chain",
            ),
        ]
        triggers = [
            pgtrigger.Protect(
                name="text_is_immutable",
                operation=pgtrigger.Update,
                condition=pgtrigger.AnyChange("collection", "key", "edition", "supersedes", "sha256", "text", "file",
                                              "pages", "pages_without_text"),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.title

    @property
    def edition_name(self) -> str:
        """Its version as the publisher calls it, else the number of the edition."""
        return self.version_label or gettext("edition %(n)d") % {"n": self.edition}

    def is_overdue(self, today: date) -> bool:
        """Whether its publisher's date of review has passed."""
        return self.review_by is not None and self.review_by < today


class Passage(models.Model):
    """A stretch of a document's text that is searched and cited. It never changes."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="passages", db_index=False)
    ordinal = models.PositiveIntegerField()  # from 1
    text = models.TextField()  # document.text[start:end], character by character
    table_header = models.TextField(blank=True)  # of rows of a table: the cells of its header, shown before the text
    headings = ArrayField(models.TextField(), default=list, blank=True)  # the outermost first
    page_from = models.PositiveIntegerField(null=True, blank=True)  # from 1; empty where the document has no pages
    page_to = models.PositiveIntegerField(null=True, blank=True)
    start = models.PositiveIntegerField()  # in characters of the document's text
    end = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)  # of the text

    class Meta:
        ordering = ["document", "ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["document", "ordinal"], name="documents_passage_ordinal_once"),
            models.CheckConstraint(condition=models.Q(end__gt=models.F("start")), name="documents_passage_not_empty"),
        ]
        triggers = [pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return self.locator

    @property
    def locator(self) -> str:
        """``KEY@SHA8#pPAGE:START-END``: the same bytes give the same locators on every instance.

        Without pages, the part ``pPAGE`` is missing.
        """
        page = f"p{self.page_from}" if self.page_from else ""
        return f"{self.document.key}@{self.document.sha256[:8]}#{page}:{self.start}-{self.end}"


class CarriedCitation(models.Model):
    """What became of a citation in a later edition: the same words there, or the finding that they are not in it."""

    class Match(models.TextChoices):
        EXACT = "exact", _("Word for word")
        NORMALISED = "normalised", _("Word for word, typeset differently")
        ABSENT = "absent", _("Not in the later edition")

    edition = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="carried_citations", db_index=False)
    # The citation, as the criterion has it.
    passage = models.ForeignKey(Passage, on_delete=models.PROTECT, related_name="+")
    start = models.PositiveIntegerField()  # in characters of the passage
    end = models.PositiveIntegerField()
    quote = models.TextField()
    match = models.CharField(max_length=12, choices=Match.choices)
    # Where the words stand in the later edition; empty where they do not.
    new_passage = models.ForeignKey(Passage, null=True, on_delete=models.PROTECT, related_name="+")
    new_start = models.PositiveIntegerField(null=True)
    new_end = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["edition", "passage", "start"]
        constraints = [
            models.UniqueConstraint(
                fields=["edition", "passage", "start", "end"], name="documents_carried_citation_once"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    match="absent", new_passage__isnull=True, new_start__isnull=True, new_end__isnull=True
                )
                | ~models.Q(match="absent")
                & models.Q(new_passage__isnull=False, new_start__isnull=False, new_end__isnull=False),
                name="documents_carried_citation_place",
            ),
        ]
        triggers = [pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.passage_id} in {self.edition_id}: {self.match}"


class SearchGeneration(Job):
    """An index over the passages of a collection, built by a job. The index is a folder that may be lost.

    It is in force as long as the collection names it.
    """

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="generations")
    number = models.PositiveIntegerField()  # from 1, within the collection
    passages = models.PositiveIntegerField(default=0)  # how many it holds
    last_passage = models.BigIntegerField(
        default=0
    )  # the highest id of a passage in it; newer ones are searched beside

    class Meta:
        ordering = ["collection", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "number"], name="documents_generation_number_once")
        ]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=models.Q(status__in=["pending", "running"]),
                name="documents_generation_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.collection} {self.number}"
