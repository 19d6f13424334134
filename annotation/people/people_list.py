"""Reads a list of people: a row each, with or without a heading. Faults name line and field."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils import translation

from accounts.languages_read import MAX_LANGUAGES
from accounts.notices import PARTS
from annotation.models import Membership
from consilium.core.csvfile import stream_csv
from consilium.core.language_tags import language_read
from consilium.core.languages import language_named
from consilium.core.limits import MAX_GROUP_NAME_LENGTH, MAX_PERSON_NAME_LENGTH, MAX_SPECIALTY_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.tables.columns import Cell, refusal_of, text_of
from rubrics.tables.encodings import NAMES as ENCODING_NAMES
from rubrics.tables.encodings import UTF8, encoding_of
from rubrics.tables.reading import MAX_BYTES, Rows, TextForm, rows_of_file, rows_of_text
from rubrics.tables.workbooks import is_workbook

# The columns, in the order of a list without a heading.
COLUMNS = ("email", "name", "role", "group", "specialty", "capacity", "languages")
# Names that people give to the columns, in English and Chinese; compared in lower case without blanks and signs.
NAMES = {
    "email": ("email", "emailaddress", "mail", "address", "邮箱", "邮箱地址", "电子邮箱", "邮件地址"),
    "name": ("name", "fullname", "person", "physician", "姓名", "名字", "医师"),
    "role": ("role", "part", "角色", "职责"),
    "group": ("group", "expertgroup", "组", "小组", "专家组"),
    "specialty": ("specialty", "speciality", "specialties", "specialities", "专业", "专科", "科室"),
    "capacity": ("capacity", "承担量", "工作量上限", "上限"),
    "languages": ("languages", "language", "reads", "语言", "阅读语言"),
}
_BY_NAME = {name: column for column, names in NAMES.items() for name in names}
MAX_PEOPLE = 100
MAX_CAPACITY = 10_000
MAX_LENGTHS = {
    "email": 254,
    "name": MAX_PERSON_NAME_LENGTH,
    "group": MAX_GROUP_NAME_LENGTH,
    "specialty": MAX_SPECIALTY_LENGTH,
}
IN_GROUPS = frozenset(Membership.Role.values)
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """One row: a person and the part that they are given. ``group`` is empty for parts outside expert groups.

    ``languages``: the tags of those that they read, with semicolons between them; empty where the row names none.
    """

    line: int
    email: str
    name: str
    role: str
    group: str
    specialty: str
    capacity: int | None
    languages: str = ""

    @property
    def reads(self) -> list[str]:
        """The tags of ``languages``."""
        return self.languages.split("; ") if self.languages else []


def column_named(heading: str) -> str:
    """The column that a heading names; empty if none does."""
    return _BY_NAME.get(_plain(heading), "")


def people_of_text(text: str, faults: Faults, *, role: str, group: str) -> list[ListedPerson]:
    """The people of a pasted text, with a comma, semicolon or tab between cells; ``role`` and ``group`` fill gaps."""
    first = text.lstrip("\r\n \ufeff").split("\n", 1)[0]
    # A line with semicolons between its cells may have commas within one, between languages.
    delimiter = "\t" if "\t" in first else ";" if first.count(";") > first.count(",") else ","
    form = TextForm(delimiter=delimiter, field_of=column_named)
    return read_people(rows_of_text(text, faults, form=form), faults, role, group)


def people_of_file(file: BinaryIO, faults: Faults, notes: list[str], *, role: str, group: str) -> list[ListedPerson]:
    """The people of a CSV or XLSX file; ``notes`` takes what a person should know of how it was read.

    The encoding of a CSV file is recognised, as that of other tables; ``role`` and ``group`` fill gaps.
    """
    encoding = UTF8 if is_workbook(file) else encoding_of(file, MAX_BYTES)
    if encoding != UTF8:
        message = Phrase(
            "The file was read as %(encoding)s. If a name looks wrong, save the file as UTF-8.",
            encoding=ENCODING_NAMES[encoding],
        )
        notes.append(message)
    form = TextForm(encoding=encoding, field_of=column_named, notes=notes)
    return read_people(rows_of_file(file, faults, form=form), faults, role, group)


def read_people(rows: Rows, faults: Faults, role: str, group: str) -> list[ListedPerson]:
    """The people of the rows; what cannot be read becomes a fault. ``role`` and ``group`` fill empty cells."""
    people: list[ListedPerson] = []
    columns: Sequence[str] = ()
    given: dict[tuple[str, str, str], int] = {}
    for line, cells in rows:
        if not columns:
            if any("@" in text_of(cell) for cell in cells):
                columns = COLUMNS
            else:
                columns = _heading(line, cells, faults)
                if not columns:
                    return []
                continue
        if len(people) == MAX_PEOPLE:
            faults.add(line, "", Phrase("A list can have at most %(n)s people. Split it.", n=MAX_PEOPLE))
            return people
        total = faults.total
        person = _person(line, columns, cells, faults, role, group)
        key = (person.email.lower(), person.role, person.group.casefold())
        if key in given:
            message = Phrase("Line %(line)s already gives this person this role.", line=given[key])
            faults.add(line, "email", message)
        given.setdefault(key, line)
        if faults.total == total:
            people.append(person)
    if not given and not faults.total:
        faults.add(0, "", Phrase("The list does not contain any people. Add at least one line with an email address."))
    return people


def as_csv(people: Iterable[ListedPerson]) -> str:
    """The people as `people_of_text` reads them."""
    return "".join(stream_csv(COLUMNS, [[getattr(person, name) for name in COLUMNS] for person in people]))


def _heading(line: int, cells: Sequence[Cell], faults: Faults) -> list[str]:
    """The columns of a heading; empty, with faults, if one is unknown or there twice, or there is no address."""
    headings = [text_of(cell) for cell in cells]
    while headings and not headings[-1]:
        headings.pop()
    columns = [column_named(heading) for heading in headings]
    total = faults.total
    for place, (heading, column) in enumerate(zip(headings, columns, strict=True)):
        if not column:
            message = Phrase("This column is unknown. The columns are: %(columns)s.", columns=", ".join(COLUMNS))
            faults.add(line, heading or f"#{place + 1}", message)
        elif column in columns[:place]:
            faults.add(line, heading, Phrase("This column appears twice."))
    if "email" not in columns:
        faults.add(line, "email", Phrase("This column is required."))
    return columns if faults.total == total else []


def _person(
    line: int, columns: Sequence[str], cells: Sequence[Cell], faults: Faults, role: str, group: str
) -> ListedPerson:
    row = dict.fromkeys(COLUMNS, "")
    for place, cell in enumerate(cells):
        field = columns[place] if place < len(columns) else ""
        if refusal := refusal_of(cell):
            faults.add(line, field, refusal)
        elif text := text_of(cell):
            if not field:
                faults.add(line, "", Phrase("This row has more cells than there are columns."))
                break
            row[field] = text
            if _NOT_STORABLE.search(text) or "\n" in text:
                faults.add(line, field, Phrase("This contains characters that cannot be stored."))
            elif len(text) > MAX_LENGTHS.get(field, len(text)):
                faults.add(line, field, Phrase("This has more than %(n)s characters.", n=MAX_LENGTHS[field]))
    if not row["email"]:
        faults.add(line, "email", Phrase("Enter an email address."))
    elif not _is_address(row["email"]):
        faults.add(line, "email", Phrase("“%(email)s” is not a valid email address.", email=row["email"]))
    part = _roles().get(_plain(row["role"]), "") if row["role"] else role
    if not part:
        roles = ", ".join(PARTS)
        message = (
            Phrase("“%(value)s” is not a role. The roles are: %(roles)s.", value=row["role"][:40], roles=roles)
            if row["role"]
            else Phrase("The role must be one of: %(roles)s.", roles=roles)
        )
        faults.add(line, "role", message)
    return ListedPerson(
        line,
        row["email"],
        row["name"],
        part,
        _group(line, part, row["group"], group, faults),
        row["specialty"],
        _capacity(line, part, row["capacity"], faults),
        "; ".join(languages_of_cell(line, row["languages"], faults)),
    )


def _is_address(email: str) -> bool:
    try:
        validate_email(email.strip().lower())
    except ValidationError:
        return False
    return True


def _group(line: int, role: str, written: str, otherwise: str, faults: Faults) -> str:
    if role in IN_GROUPS:
        if not (written or otherwise):
            faults.add(
                line,
                "group",
                Phrase("Annotators, checkers and adjudicators belong to an expert group. Enter its name."),
            )
        return written or otherwise
    if written and role:
        faults.add(line, "group", Phrase("This role does not belong to an expert group. Leave the cell empty."))
    return ""


def _capacity(line: int, role: str, written: str, faults: Faults) -> int | None:
    if not written:
        return None
    if role != Membership.Role.ANNOTATOR:
        faults.add(line, "capacity", Phrase("Only annotators have a capacity."))
    elif not re.fullmatch("[0-9]{1,5}", written) or not 1 <= int(written) <= MAX_CAPACITY:
        message = Phrase(
            "A capacity must be a whole number from 1 to %(most)s, or empty for no limit.", most=MAX_CAPACITY
        )
        faults.add(line, "capacity", message)
    else:
        return int(written)
    return None


def languages_of_cell(line: int, written: str, faults: Faults) -> list[str]:
    """The tags of the languages in a cell: names or tags, with commas, semicolons or, between tags, blanks."""
    tags = set()
    for name in filter(None, map(str.strip, re.split(r"[,;，；、/]", written))):
        try:
            tags |= _tags_of(name)
        except ValueError:
            message = Phrase(
                "“%(name)s” is not a known language. Enter a name such as Swahili, or a code such as sw.",
                name=name[:40],
            )
            faults.add(line, "languages", message)
    if len(tags) > MAX_LANGUAGES:
        faults.add(line, "languages", Phrase("A person can have at most %(n)s languages.", n=MAX_LANGUAGES))
    return sorted(tags)


def _tags_of(text: str) -> set[str]:
    try:
        return {language_read(language_named(text))}
    except ValueError:
        words = text.split()
        if len(words) < 2:
            raise
        return {language_read(language_named(word)) for word in words}


@cache
def _roles() -> dict[str, str]:
    """Roles by the words for them: as the API has them, and as the pages call them in each language."""
    words = {_plain(role): role for role in PARTS}
    for language in ("en", "zh-hans"):
        with translation.override(language):
            words |= {_plain(str(label)): role for role, label in PARTS.items()}
            words |= {_plain(str(label)): str(role) for role, label in Membership.Role.choices}
    return words


def _plain(text: str) -> str:
    return "".join(character for character in unicodedata.normalize("NFKC", text).lower() if character.isalnum())
