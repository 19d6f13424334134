"""A bank of reusable criteria: its items, and files of them (JSONL, or CSV with a header)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from consilium.core.limits import (
    MAX_BANK_KEY_LENGTH,
    MAX_CRITERION_LENGTH,
    MAX_DIMENSION_LENGTH,
    MAX_SECTION_LENGTH,
    MAX_TAG_LENGTH,
)
from consilium.core.phrases import Phrase
from rubrics.parsing.decisions import read_table, starts_with_object
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids, kind
from rubrics.parsing.language import detect_language
from rubrics.parsing.reader import Limits, RecordReader

MAX_TAGS = 50
LOWEST, HIGHEST, USUAL = -10, 10, 5
# Characters of URLs and of the tag ``cluster:KEY``.
KEY = re.compile(r"[\w.:-]+")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
COLUMNS = (
    "key", "section", "text_en", "text_zh", "guidance_en", "guidance_zh", "dimension", "points", "tags", "applies_to",
)  # fmt: skip
LIMITS = Limits(line_bytes=1 << 20, total_bytes=32 << 20)
MAX_ITEMS = 10_000


def in_language(texts: Mapping[str, str], language: str) -> str:
    """The text in ``language`` (``zh-hans`` finds ``zh``), else in English, else in any language."""
    for name in (language, language.partition("-")[0], "en"):
        if texts.get(name):
            return texts[name]
    return next((text for text in texts.values() if text), "")


@dataclass(frozen=True, slots=True)
class BankEntry:
    """A criterion of a bank. Texts are keyed by language; the key is empty where the language is unknown."""

    key: str
    section: str
    text: Mapping[str, str]
    guidance: Mapping[str, str] = field(default_factory=dict)  # how to adapt it to a case
    dimension: Mapping[str, str] = field(default_factory=dict)  # the quality that it checks
    points: int = USUAL
    tags: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()  # tags of cases; a cluster criterion applies to cases with any of them
    covers: tuple[str, ...] = ()
    bank: str = ""

    @property
    def name(self) -> str:
        """BANK/KEY, as criteria that were taken from it name their source."""
        return f"{self.bank}/{self.key}"

    @property
    def words(self) -> str:
        """All that a search looks through, in lower case."""
        parts = (self.key, self.section, *self.text.values(), *self.guidance.values(), *self.dimension.values())
        return "\n".join((*parts, *self.tags, *self.applies_to)).casefold()


def read_bank(
    file: BinaryIO, faults: Faults, *, progress: Callable[[int], None] | None = None
) -> Iterator[tuple[int, BankEntry]]:
    """The sound items of a file with their lines; everything else is in ``faults`` when the iterator ends."""
    is_json = starts_with_object(file)
    if is_json:
        records: Iterator[tuple[int, dict[str, Any]]] = iter(
            RecordReader(file, faults, limits=LIMITS, progress=progress)
        )
    else:
        records = read_table(
            file, faults, limits=LIMITS, progress=progress, columns=COLUMNS, required=("key", "section")
        )
    ids = Ids(Phrase("key"))
    for count, (line, record) in enumerate(records, start=1):
        if count > MAX_ITEMS:
            faults.add(line, "key", Phrase("A bank can have at most %(n)s criteria.", n=MAX_ITEMS))
            return
        fields = Fields(line, record, faults)
        entry = _entry(fields, is_json)
        for name in fields.rest():
            fields.fault(name, Phrase("This field does not exist."))
        if fields.sound:
            ids.add(fields, "key", entry.key)
        if fields.sound:
            yield line, entry


def _entry(fields: Fields, is_json: bool) -> BankEntry:
    key = fields.text("key", longest=MAX_BANK_KEY_LENGTH)
    if key and not KEY.fullmatch(key):
        fields.fault("key", Phrase("A key must consist of letters, digits, dots, colons, hyphens and underscores."))
    section = fields.text("section", longest=MAX_SECTION_LENGTH).strip()
    text = _texts(fields, "text", is_json)
    if not text and fields.sound:
        fields.fault("text", Phrase("The criterion has no text."))
    return BankEntry(
        key=key,
        section=section,
        text=text,
        guidance=_texts(fields, "guidance", is_json),
        dimension={"": value} if (value := _dimension(fields)) else {},
        points=_points(fields),
        tags=_list(fields, "tags", is_json),
        applies_to=_list(fields, "applies_to", is_json),
    )


def _dimension(fields: Fields) -> str:
    return fields.text("dimension", required=False, longest=MAX_DIMENSION_LENGTH).strip()


def _texts(fields: Fields, name: str, is_json: bool) -> dict[str, str]:
    """``text`` (its language is detected), ``text_en``, ``text_zh``…, or in JSON an object keyed by language."""
    texts: dict[str, str] = {}
    value = fields.record.get(name)
    if is_json and isinstance(value, dict):
        for language in fields.mapping(name):
            _keep(fields, f"{name}.{language}", value[language], language, texts)
    elif value is not None:
        text = fields.text(name, required=False, longest=MAX_CRITERION_LENGTH).strip()
        if text:
            texts[detect_language(text)] = text
    for column in [each for each in fields.record if each.startswith(f"{name}_")]:
        _keep(fields, column, fields.take(column), column.removeprefix(f"{name}_"), texts)
    return texts


def _keep(fields: Fields, place: str, value: Any, language: str, texts: dict[str, str]) -> None:
    """Note the text of one language, unless something is wrong with it."""
    if not LANGUAGE.fullmatch(language):
        fields.fault(place, Phrase("“%(name)s” is not a language code such as en or zh.", name=language[:20]))
    elif value is None:
        return
    elif not isinstance(value, str):
        fields.fault(place, Phrase("This must be text, not %(kind)s.", kind=kind(value)))
    elif len(value) > MAX_CRITERION_LENGTH:
        fields.fault(place, Phrase("This is longer than %(longest)s characters.", longest=MAX_CRITERION_LENGTH))
    elif language in texts:
        fields.fault(place, Phrase("There are two texts in this language."))
    elif value.strip():
        texts[language] = value.strip()


def _points(fields: Fields) -> int:
    value = fields.record.get("points")
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,3}", value.strip()):  # a CSV gives digits
        fields.record["points"] = int(value)
    points = fields.integer("points", low=LOWEST, high=HIGHEST, default=USUAL)
    if points == 0:
        fields.fault("points", Phrase("A criterion must add or deduct at least one point."))
    return points


def _list(fields: Fields, name: str, is_json: bool) -> tuple[str, ...]:
    """A list in JSON; in a cell of a table the parts between semicolons."""
    value = fields.record.get(name)
    if not is_json and isinstance(value, str):
        fields.record[name] = [part.strip() for part in value.split(";") if part.strip()]
    values = tuple(dict.fromkeys(each.strip() for each in fields.texts(name, longest=MAX_TAG_LENGTH)))
    if len(values) > MAX_TAGS:
        fields.fault(name, Phrase("At most %(n)s are allowed.", n=MAX_TAGS))
    return values
