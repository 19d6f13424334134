"""What a file and the person who imports it say of a document, checked against `terms`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError as ModelError
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from consilium.core.commands import command_fields, command_of
from consilium.core.limits import MAX_DOCUMENT_KEY_LENGTH
from consilium.core.phrases import Phrase
from documents.models import JURISDICTION, Document
from documents.parsing.keys import is_key
from documents.services.terms import HIGHEST_TIER, LOWEST_TIER, DocumentDetails, LicenceTerms
from rubrics.parsing.faults import Faults

DETAILS = tuple(command_fields(DocumentDetails))
LICENCE = tuple(command_fields(LicenceTerms))
LANGUAGE = re.compile(r"(?:[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)?\Z")
# The beginning of the type of an error of pydantic → the sentence for people.
SENTENCES = {
    "date": Phrase("Dates must have the form 2026-03-31."),
    "bool": Phrase("This must be true or false."),
    "int": Phrase("This must be a number."),
    "greater_than": Phrase("This must be a number from %(first)s to %(last)s.", first=HIGHEST_TIER, last=LOWEST_TIER),
    "less_than": Phrase("This must be a number from %(first)s to %(last)s.", first=HIGHEST_TIER, last=LOWEST_TIER),
    "missing": Phrase("This is missing."),
}


def stated_in(options: Mapping[str, str]) -> dict[str, Any]:
    """The options of an import that describe documents, as values of `DocumentDetails` and `LicenceTerms`."""
    stated: dict[str, Any] = {name: options[name] for name in (*DETAILS, *LICENCE) if options.get(name)}
    if "jurisdictions" in stated:
        stated["jurisdictions"] = [code for code in re.split(r"[,;\s]+", stated["jurisdictions"]) if code]
    return stated


def merged(stated: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a document: ``own`` (by the file, of this document) comes before ``stated`` (of all of them).

    A document that says anything about its licence says all of it: flags of another licence do not apply to it.
    """
    common = dict(stated)
    if any(name in own for name in LICENCE):
        common = {name: value for name, value in common.items() if name not in LICENCE}
    return {**common, **own}


def check_key(key: str) -> str:
    """Why ``key`` cannot name a document; empty if it can."""
    if len(key) > MAX_DOCUMENT_KEY_LENGTH:
        return Phrase("This is longer than %(n)s characters.", n=MAX_DOCUMENT_KEY_LENGTH)
    if unicodedata.normalize("NFC", key) != key:
        return Phrase("Write the key with composed characters (NFC).")
    if not is_key(key):
        return Phrase(
            "A key consists of letters, digits, dots, colons, hyphens and underscores, and does not begin with a dot."
        )
    return ""


def describe(values: Mapping[str, Any], *, line: int, faults: Faults) -> tuple[DocumentDetails, LicenceTerms] | None:
    """The details and licence of a document; None where something is wrong, which is then in ``faults``."""
    before = faults.total
    details = _command(DocumentDetails, values, line, faults)
    licence = _command(LicenceTerms, values, line, faults)
    for code in details.jurisdictions if details else ():
        try:
            JURISDICTION(code)
        except ModelError:
            faults.add(line, "jurisdictions", Phrase("A jurisdiction must be an ISO 3166 country code or INT."))
    if details and not LANGUAGE.match(details.language):
        faults.add(line, "language", Phrase("A language must be a code such as en or zh-Hans."))
    if details and details.review_by and details.published_on and details.review_by < details.published_on:
        faults.add(line, "review_by", Phrase("The review cannot be due before the document was published."))
    if licence and not licence.licence.strip():
        for name in LICENCE[1:]:
            if getattr(licence, name):
                faults.add(line, name, Phrase("Enter the licence before you allow any use."))
    if details is None or licence is None or faults.total > before:
        return None
    return details, licence


def _command(command: type[Any], values: Mapping[str, Any], line: int, faults: Faults) -> Any:
    try:
        return command_of(command, values)
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            faults.add(line, str(problem["loc"][0]), _sentence(problem))
        return None


def _sentence(problem: ErrorDetails) -> str:
    kind = problem["type"]
    if kind == "literal_error":
        field = str(problem["loc"][0])
        choices = Document.Audience if field == "audience" else Document.Kind
        return Phrase("This must be one of: %(names)s.", names=", ".join(choices.values))
    if kind == "string_too_long":
        return Phrase("This is longer than %(n)s characters.", n=problem["ctx"]["max_length"])
    return next(
        (sentence for beginning, sentence in SENTENCES.items() if kind.startswith(beginning)),
        Phrase("This cannot be read."),
    )
