"""Reads a file of applications: CSV or JSONL, a row an application. Faults name line and field."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.dateparse import parse_datetime

from accounts.countries import country_choices
from accounts.models import PhysicianProfile
from annotation.people.people_list import languages_of_cell
from consilium.core.limits import (
    MAX_LICENCE_NUMBER_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_REASON_LENGTH,
    MAX_SPECIALTY_LENGTH,
)
from consilium.core.phrases import Phrase
from rubrics.parsing.decisions import read_table, starts_with_object
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.reader import RecordReader

COLUMNS = (
    *("email", "name", "specialty", "languages", "licence_country", "licence_number", "years_in_practice"),
    *("seniority", "statement", "submitted_at"),
)
MAX_EMAIL_LENGTH = 254
MAX_YEARS = 80
MAX_ROWS = 20_000


def read_applications(file: BinaryIO, faults: Faults) -> list[dict[str, Any]]:
    """The sound rows, as `services.import_applications` takes them; columns that are not `COLUMNS` are faults."""
    rows: list[dict[str, Any]] = []
    lines: dict[str, int] = {}
    countries = {code for code, _name in country_choices() if code}
    for number, (line, record) in enumerate(_records(file, faults)):
        if number == MAX_ROWS:
            faults.add(line, "", Phrase("A file can have at most %(n)s applications. Split it.", n=f"{MAX_ROWS:,}"))
            break
        fields = Fields(line, record, faults)
        row = _application(fields, countries)
        for name in sorted(fields.rest()):
            faults.add(
                line, name, Phrase("This column is unknown. The columns are: %(columns)s.", columns=", ".join(COLUMNS))
            )
        address = row["email"]
        if address and address in lines:
            faults.add(line, "email", Phrase("Line %(line)s already has this address.", line=lines[address]))
        elif fields.sound:
            rows.append(row)
        lines.setdefault(address, line)
    if not lines and not faults.total:
        faults.add(0, "", Phrase("The file contains no applications."))
    return rows


def _records(file: BinaryIO, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    if starts_with_object(file):
        return iter(RecordReader(file, faults))
    return read_table(file, faults, columns=COLUMNS, required=("email", "name"))


def _application(fields: Fields, countries: set[str]) -> dict[str, Any]:
    email = fields.text("email", longest=MAX_EMAIL_LENGTH).strip().lower()
    if email:
        try:
            validate_email(email)
        except ValidationError:
            fields.fault("email", Phrase("“%(email)s” is not a valid email address.", email=email[:80]))
    languages = fields.take("languages")
    if isinstance(languages, list) and all(isinstance(name, str) for name in languages):
        languages = "; ".join(languages)
    if not isinstance(languages, str | None):
        fields.fault("languages", Phrase("This must be text or a list of texts."))
        languages = ""
    return {
        "email": email,
        "name": fields.text("name", longest=MAX_PERSON_NAME_LENGTH).strip(),
        "specialty": fields.text("specialty", required=False, longest=MAX_SPECIALTY_LENGTH).strip(),
        "languages": languages_of_cell(fields.line, languages or "", fields.faults),
        "licence_country": _country(fields, countries),
        "licence_number": fields.text("licence_number", required=False, longest=MAX_LICENCE_NUMBER_LENGTH).strip(),
        "years_in_practice": _years(fields),
        "seniority": fields.choice("seniority", PhysicianProfile.Seniority.values, required=False),
        "statement": fields.text("statement", required=False, longest=MAX_REASON_LENGTH).strip(),
        "submitted_at": _moment(fields),
    }


def _country(fields: Fields, countries: set[str]) -> str:
    code = fields.text("licence_country", required=False).strip().upper()
    if code and code not in countries:
        fields.fault("licence_country", Phrase("“%(code)s” is not a code of ISO 3166, such as DE.", code=code[:40]))
    return code


def _years(fields: Fields) -> int | None:
    value = fields.take("years_in_practice")
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) < 4:
        value = int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_YEARS):
        return value
    fields.fault("years_in_practice", Phrase("This must be a whole number from 0 to %(most)s.", most=MAX_YEARS))
    return None


def _moment(fields: Fields) -> datetime | None:
    text = fields.text("submitted_at", required=False).strip()
    if not text:
        return None
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        fields.fault("submitted_at", Phrase("This must be a time with its zone, such as 2026-03-01T09:00:00Z."))
        return None
    return moment
