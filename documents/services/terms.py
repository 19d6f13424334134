"""What is said of a document beside its text: shared by its forms, the API, the command line and the services."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from consilium.core.commands import Label, OneOf
from consilium.core.limits import (
    MAX_COLLECTION_NAME_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_PUBLISHER_LENGTH,
    MAX_TITLE_LENGTH,
    MAX_URL_LENGTH,
    MAX_VERSION_LABEL_LENGTH,
)
from documents.models import Document

HIGHEST_TIER, LOWEST_TIER = 1, 4


@command(frozen=True, slots=True)
class CollectionTerms:
    """What a collection is called."""

    name: Annotated[str, Field(max_length=MAX_COLLECTION_NAME_LENGTH), Label(_("Name"))]
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_LENGTH), Label(_("Description"))] = ""


@command(frozen=True, slots=True)
class LicenceTerms:
    """What may be done with a document. Nothing is allowed as long as the licence is not known."""

    licence: Annotated[
        str,
        Field(max_length=MAX_LICENCE_LENGTH, description="An SPDX identifier, or text; empty if it is not known."),
        Label(
            _("Licence"),
            _("An SPDX identifier such as CC-BY-4.0, or a description. Leave it empty if you do not know."),
        ),
    ] = ""
    may_send: Annotated[
        bool,
        Field(description="Passages may be part of requests to models."),
        Label(_("Passages may be sent to models")),
    ] = False
    may_quote: Annotated[
        bool,
        Field(description="Exports may contain the words of passages; otherwise they contain locators alone."),
        Label(_("Exports may quote passages")),
    ] = False
    may_redistribute: Annotated[
        bool,
        Field(description="Everyone who reads the documents may download the original file."),
        Label(_("The original file may be redistributed")),
    ] = False


# What a new edition has from the edition before, unless it says otherwise. Dates and the version are of one edition.
# The licence has to be stated anew: nobody knows that the publisher has kept it.
KEPT_DETAILS = ("title", "publisher", "kind", "tier", "url", "jurisdictions", "language", "audience")


@command(frozen=True, slots=True)
class DocumentDetails:
    """What describes a document."""

    title: Annotated[str, Field(max_length=MAX_TITLE_LENGTH), Label(_("Title"))]
    publisher: Annotated[str, Field(max_length=MAX_PUBLISHER_LENGTH), Label(_("Publisher"))] = ""
    kind: Annotated[str, OneOf(Document.Kind), Label(_("Kind"))] = Document.Kind.OTHER
    tier: Annotated[
        int,
        Field(ge=HIGHEST_TIER, le=LOWEST_TIER, description="1 is the highest."),
        Label(_("Tier of authority"), _("1 is the highest, for example a national guideline.")),
    ] = LOWEST_TIER
    url: Annotated[str, Field(max_length=MAX_URL_LENGTH), Label(_("Address"))] = ""
    version_label: Annotated[str, Field(max_length=MAX_VERSION_LABEL_LENGTH), Label(_("Version"))] = ""
    published_on: Annotated[date | None, Label(_("Published on"))] = None
    review_by: Annotated[
        date | None, Label(_("Review due"), _("After this date the document is marked as overdue."))
    ] = None
    jurisdictions: Annotated[
        tuple[str, ...],
        Field(description="Country codes of ISO 3166, or INT for international."),
        Label(_("Jurisdictions"), _("Country codes such as GB or CN, or INT for international.")),
    ] = ()
    language: Annotated[str, Field(max_length=10, description="A code such as en or zh."), Label(_("Language"))] = ""
    audience: Annotated[str | None, OneOf(Document.Audience), Label(_("Written for"))] = None
