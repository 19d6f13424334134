"""Changes to what is said of a document: its details, its licence, and whether it is retired. Texts never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from consilium.core.commands import command_of
from consilium.core.errors import DomainError
from documents.models import Document
from documents.services.described import DETAILS, LANGUAGE, LICENCE
from documents.services.terms import DocumentDetails, LicenceTerms


@transaction.atomic
def change_details(*, document: Document, details: DocumentDetails) -> None:
    """Describe a document anew. The audience is empty where ``details`` name none."""
    if not LANGUAGE.match(details.language):
        raise DomainError(_("A language must be a code such as en or zh-Hans."))
    if details.review_by and details.published_on and details.review_by < details.published_on:
        raise DomainError(_("The review cannot be due before the document was published."))
    values = asdict(details)
    values |= {"audience": details.audience or "", "jurisdictions": list(details.jurisdictions)}
    _change(document, values)


@transaction.atomic
def describe_document(*, document: Document, details: DocumentDetails, licence: LicenceTerms) -> None:
    """`change_details` and `change_licence` at once."""
    change_details(document=document, details=details)
    change_licence(document=document, terms=licence)


@transaction.atomic
def change_licence(*, document: Document, terms: LicenceTerms) -> None:
    """Say under which licence a document is, and what it allows; nothing is allowed under an unknown licence."""
    _change(document, asdict(terms) | {"licence": terms.licence.strip()})


@transaction.atomic
def change_document(*, document: Document, changes: Mapping[str, Any], at: datetime) -> None:
    """Change the fields of `DocumentDetails` and `LicenceTerms` that ``changes`` names, and by ``retired`` its use."""
    locked = _locked(document)
    stored = {name: getattr(locked, name) for name in (*DETAILS, *LICENCE)}
    values = {**stored, **{name: value for name, value in changes.items() if name in stored}}
    values = {name: value for name, value in values.items() if name in LICENCE or value != ""}
    describe_document(
        document=document, details=command_of(DocumentDetails, values), licence=command_of(LicenceTerms, values)
    )
    if changes.get("retired") is True:
        retire(document=document, at=at)
    elif changes.get("retired") is False:
        restore(document=document)


@transaction.atomic
def retire(*, document: Document, at: datetime) -> None:
    """Take a document out of searches. Criteria that cite it keep their citations, which are marked."""
    locked = _locked(document)
    if locked.retired_at is None:
        _save(locked, {"retired_at": at})
    document.retired_at = locked.retired_at


@transaction.atomic
def restore(*, document: Document) -> None:
    """Bring a retired document back into searches."""
    locked = _locked(document)
    if locked.retired_at is not None:
        _save(locked, {"retired_at": None})
    document.retired_at = None


def _locked(document: Document) -> Document:
    return Document.objects.select_for_update(no_key=True).defer("text").get(pk=document.pk)


def _change(document: Document, values: dict[str, Any]) -> None:
    _save(_locked(document), values)
    for name, value in values.items():
        setattr(document, name, value)


def _save(document: Document, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(document, name, value)
    check_fields(document, list(values))
    document.save(update_fields=list(values))


def check_fields(document: Document, names: Sequence[str]) -> None:
    """`DomainError` where a field of ``names``, or what they say together, breaks a rule of the model."""
    others = {field.name for field in document._meta.fields} - set(names)
    try:
        document.clean_fields(exclude=others)
        document.validate_constraints(exclude=others)
    except ValidationError as error:
        raise DomainError(" ".join(error.messages)) from error
