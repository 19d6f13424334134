"""Reads the files of acuity in a release into rows, each checked against its schema."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any, BinaryIO, cast

from consilium.core.phrases import Phrase
from consilium.llm.acuity import PromptText
from releases.content import acuity_files as files
from releases.content.schemas import SCHEMAS, schema_of
from releases.verification.csv_rows import CsvRows
from releases.verification.lines import fault_of
from releases.verification.sources import Source, Unreadable
from rubrics.acuity.scales import Level, Scale
from rubrics.acuity.schemes import How, Mapped, Scheme
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import RecordReader

Row = dict[str, Any]
ScaleKey = tuple[str, int]
SchemeKey = tuple[str, int, str, int]
ResponseKey = tuple[str, str, int]  # case, candidate, sample
MAX_FAULTS = 100
_MAX_BYTES = 64 << 20  # of scale.json, which is read as a whole


@dataclass(frozen=True, slots=True)
class AcuityFault:
    """A fault of a file; ``line`` counts from 1, 0 is the file as a whole."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{place}, {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


@dataclass(slots=True)
class AcuityFaults:
    """The faults of all files: the first hundred, and how many there are."""

    first: list[AcuityFault] = field(default_factory=list)
    total: int = 0

    def add(self, file: str, line: int, name: str, message: str) -> None:
        """Note a fault."""
        self.total += 1
        if len(self.first) < MAX_FAULTS:
            self.first.append(AcuityFault(file, line, name, message))


class FolderWithin:
    """A source that is the folder of acuity alone, with the names that its files have in a release."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.problems = source.problems

    def names(self) -> list[str]:
        """All files, in order."""
        return [f"{files.FOLDER}{name}" for name in self._source.names()]

    def size(self, name: str) -> int:
        """Bytes of a file."""
        return self._source.size(name.removeprefix(files.FOLDER))

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A file to read."""
        return self._source.open(name.removeprefix(files.FOLDER))


def with_acuity(source: Source) -> Source | None:
    """The source if it holds acuity, alone or in a release; else None."""
    names = set(source.names())
    if files.SCALE in names:
        return source
    return FolderWithin(source) if files.SCALE.removeprefix(files.FOLDER) in names else None


@dataclass
class AcuityContent:
    """Everything but the readings, by name; rows keep their line. Sets, imports and batches are known by number."""

    source: Source
    names: set[str]
    scales: dict[ScaleKey, Scale] = field(default_factory=dict)
    levels: dict[ScaleKey, list[dict[str, str]]] = field(default_factory=dict)  # as they stand in the file
    questions: dict[str, Row] = field(default_factory=dict)
    schemes: dict[SchemeKey, Scheme] = field(default_factory=dict)
    datasets: dict[str, tuple[str, bool]] = field(default_factory=dict)
    imports: dict[int, tuple[int, Row]] = field(default_factory=dict)
    cases: dict[str, tuple[int, Row]] = field(default_factory=dict)
    labels: list[tuple[int, Row]] = field(default_factory=list)
    physicians: dict[str, str] = field(default_factory=dict)  # the group of each
    votes: list[tuple[int, Row]] = field(default_factory=list)
    rulings: list[tuple[int, Row]] = field(default_factory=list)
    runs: dict[str, tuple[int, Row]] = field(default_factory=dict)
    # What the cells of a run hold, and its prompt by digest.
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    prompts: dict[str, PromptText] = field(default_factory=dict)
    responses: dict[ResponseKey, tuple[int, Row]] = field(default_factory=dict)
    batches: dict[int, tuple[int, Row]] = field(default_factory=dict)
    strata: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    advice: list[tuple[int, Row]] = field(default_factory=list)
    sets: dict[int, tuple[int, Row]] = field(default_factory=dict)
    items: dict[int, list[tuple[int, Row]]] = field(default_factory=dict)

    @property
    def has_votes(self) -> bool:
        """Whether votes and rulings went out; without them sets have the votes that they froze."""
        return files.VOTES in self.names


def read_content(source: Source, faults: AcuityFaults) -> AcuityContent:
    """Read everything but the readings; what does not fit its schema, or stands twice, is a fault."""
    content = AcuityContent(source, set(source.names()))
    needed = (
        *files.ALWAYS,
        *(files.OF_PHYSICIANS if content.names & {*files.OF_PHYSICIANS} else ()),
        *(files.OF_READERS if content.names & {files.ADVICE, files.ADVICE_BATCHES} else ()),
    )
    for path in needed:
        if path not in content.names:
            faults.add(path, 0, "", Phrase("This file is missing."))
    _read_scales(content, faults)
    _read_schemes(content, faults)
    for line, row in rows_of(content, files.DATASETS, faults):
        _once(row["dataset"] not in content.datasets, files.DATASETS, line, "dataset", faults)
        content.datasets[row["dataset"]] = row["licence"], row["may_redistribute"] == "true"
    for path, name, rows in (
        (files.IMPORTS, "import", content.imports),
        (files.SETS, "set", content.sets),
        (files.RUNS, "run", content.runs),
        (files.ADVICE_BATCHES, "batch", content.batches),
    ):
        for line, row in rows_of(content, path, faults):
            _once(rows.setdefault(row[name], (line, row))[0] == line, path, line, name, faults)
    for run, (line, row) in content.runs.items():
        settings = _cell(row["settings"], files.SETTINGS_SCHEMA, files.RUNS, line, "settings", faults)
        content.settings[run] = settings or {}
    for number, (line, row) in content.batches.items():
        strata = _cell(row["strata"], files.STRATA_SCHEMA, files.ADVICE_BATCHES, line, "strata", faults)
        content.strata[number] = strata or []
    _read_prompts(content, faults)
    for line, row in _records(content, files.RESPONSES, faults):
        key = row["case"], row["candidate"], row["sample"]
        is_first = content.responses.setdefault(key, (line, row))[0] == line
        _once(is_first, files.RESPONSES, line, "sample", faults)
    for line, row in _records(content, files.CASES, faults):
        _once(content.cases.setdefault(row["case"], (line, row))[0] == line, files.CASES, line, "case", faults)
    for line, row in rows_of(content, files.PHYSICIANS, faults):
        _once(row["physician"] not in content.physicians, files.PHYSICIANS, line, "physician", faults)
        content.physicians[row["physician"]] = row["group"]
    content.labels = list(rows_of(content, files.LABELS, faults))
    content.votes = list(rows_of(content, files.VOTES, faults))
    content.rulings = list(rows_of(content, files.RULINGS, faults))
    content.advice = list(rows_of(content, files.ADVICE, faults))
    for line, row in rows_of(content, files.REFERENCE, faults):
        content.items.setdefault(row["set"], []).append((line, row))
    return content


def readings_of(content: AcuityContent, faults: AcuityFaults) -> Iterator[tuple[int, Row]]:
    """The readings with their lines, one by one."""
    yield from rows_of(content, files.READINGS, faults)


def rows_of(content: AcuityContent, path: str, faults: AcuityFaults) -> Iterator[tuple[int, Row]]:
    """The rows of a table with their lines; a row that its schema does not allow is a fault, and is left out."""
    if path not in content.names:
        return
    columns, schema = files.TABLES[path], SCHEMAS[schema_of(path)]
    line = 1
    try:
        with content.source.open(path) as raw, CsvRows(raw) as reader:
            if next(reader, None) != [*columns]:
                names = ", ".join(columns)
                faults.add(path, 1, "", Phrase("The heading must be: %(names)s.", names=names))
                return
            line = reader.line_num + 1
            for cells in reader:
                if any("\x00" in cell for cell in cells):
                    faults.add(path, line, "", Phrase("The text contains a NUL character."))
                elif len(cells) != len(columns):
                    message = Phrase(
                        "The row has %(n)s cells, but the heading has %(columns)s.", n=len(cells), columns=len(columns)
                    )
                    faults.add(path, line, "", message)
                else:
                    row = {
                        name: files.value_of(cell_schema, cell)
                        for (name, cell_schema), cell in zip(columns.items(), cells, strict=True)
                    }
                    if fault := fault_of(row, schema):
                        name, _colon, why = fault.partition(": ")
                        faults.add(path, line, name, why)
                    else:
                        yield line, row
                line = reader.line_num + 1
    except (csv.Error, UnicodeDecodeError, Unreadable) as error:
        faults.add(path, line, "", str(error))


def _once(is_first: bool, path: str, line: int, name: str, faults: AcuityFaults) -> None:
    if not is_first:
        faults.add(path, line, name, Phrase("This appears twice here."))


def _read_scales(content: AcuityContent, faults: AcuityFaults) -> None:
    document = _json(content, files.SCALE, faults)
    if document is None:
        return
    for row in document["scales"]:
        key = row["name"], row["version"]
        _once(key not in content.scales, files.SCALE, 0, "scales", faults)
        try:
            content.scales[key] = Scale(row["name"], tuple(Level(**level) for level in row["levels"]))
        except ValueError as error:
            faults.add(files.SCALE, 0, row["name"], str(error))
        content.levels[key] = row["levels"]
    for row in document["questions"]:
        _once(row["name"] not in content.questions, files.SCALE, 0, "questions", faults)
        content.questions[row["name"]] = row
        if (row["scale"], row["scale_version"]) not in content.scales:
            faults.add(files.SCALE, 0, row["name"], Phrase("This scale does not exist in this release."))


def _json(content: AcuityContent, path: str, faults: AcuityFaults) -> Any:
    if path not in content.names:
        return None
    try:
        with content.source.open(path) as file:
            document = json.loads(file.read(_MAX_BYTES))
    except (ValueError, RecursionError, Unreadable) as error:
        faults.add(path, 0, "", Phrase("This is not JSON: %(why)s", why=str(error)[:100]))
        return None
    if fault := fault_of(document, SCHEMAS[schema_of(path)]):
        faults.add(path, 0, "", fault)
        return None
    return document


def _cell(text: str, schema: Mapping[str, Any], path: str, line: int, name: str, faults: AcuityFaults) -> Any:
    """What a cell of JSON holds; a fault, and None, where it is none or does not fit."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        faults.add(path, line, name, Phrase("This is not JSON: %(why)s", why=str(error)[:100]))
        return None
    if fault := fault_of(value, schema):
        faults.add(path, line, name, fault)
        return None
    return value


def _read_prompts(content: AcuityContent, faults: AcuityFaults) -> None:
    for path in sorted(name for name in content.names if name.startswith(files.PROMPTS)):
        document = _json(content, path, faults)
        if document is None:
            continue
        prompt = PromptText(document["system"], document["system_descending"], document["user"])
        if prompt.digest != document["digest"] or path != files.prompt_path(prompt.digest):
            faults.add(path, 0, "digest", Phrase("This is not the digest of the prompt."))
        content.prompts[prompt.digest] = prompt


def _read_schemes(content: AcuityContent, faults: AcuityFaults) -> None:
    rules: dict[SchemeKey, dict[str, Mapped]] = {}
    for line, row in rows_of(content, files.SCHEMES, faults):
        scale = content.scales.get((row["scale"], row["scale_version"]))
        if scale is None:
            faults.add(files.SCHEMES, line, "scale", Phrase("This scale does not exist in this release."))
            continue
        own = rules.setdefault(scheme_key(row), {})
        _once(row["source_label"] not in own, files.SCHEMES, line, "source_label", faults)
        mapped = mapped_of(row, scale)
        if mapped is None:
            faults.add(files.SCHEMES, line, "low", Phrase("The levels do not match “%(how)s”.", how=row["how"]))
        else:
            own[row["source_label"]] = mapped
    for key, own in rules.items():
        content.schemes[key] = Scheme(key[2], content.scales[key[0], key[1]], own)


def _records(content: AcuityContent, path: str, faults: AcuityFaults) -> Iterator[tuple[int, Row]]:
    """The lines of a file of JSON objects; one that its schema does not allow is a fault, and is left out."""
    if path not in content.names or not content.source.size(path):
        return
    schema, own = SCHEMAS[schema_of(path)], Faults()
    try:
        with content.source.open(path) as file:
            for line, row in RecordReader(cast(BinaryIO, file), own):
                if fault := fault_of(row, schema):
                    name, _colon, why = fault.partition(": ")
                    faults.add(path, line, name, why)
                else:
                    yield line, row
    except Unreadable as error:
        faults.add(path, 0, "", str(error))
    for refused in own.first:
        faults.add(path, refused.line, refused.field, refused.message)


def scheme_key(row: Row) -> SchemeKey:
    """The scheme that a row names."""
    return row["scale"], row["scale_version"], row["scheme"], row["version"]


def places_of(row: Row, scale: Scale) -> tuple[int | None, int | None] | None:
    """The places of ``low`` and ``high``, both None where both are empty; None where one is no level."""
    places = [scale.values.index(row[name]) if row[name] in scale.values else None for name in ("low", "high")]
    if all(place is None for place in places):
        return (None, None) if not (row["low"] or row["high"]) else None
    return None if None in places else (places[0], places[1])


def mapped_of(row: Row, scale: Scale) -> Mapped | None:
    """What a label becomes by ``how``, ``low`` and ``high`` of a row; None where they do not fit together."""
    how, places = How(row["how"]), places_of(row, scale)
    if places is None:
        return None
    low, high = places
    steps = {How.DIRECT: 0, How.BOUNDARY: 1}.get(how)
    if low is None or high is None:
        return Mapped(how) if steps is None else None
    return Mapped(how, low, high) if high - low == steps else None


def vote_levels(text: str, scale: Scale, cannot_tell: str) -> tuple[int | None, int | None] | None:
    """The levels of a vote, both None with cannot tell; None where it names none, or two that are not adjacent."""
    if text == cannot_tell:
        return None, None
    if any(part not in scale.values for part in text.split("|")):
        return None
    places = [scale.values.index(part) for part in text.split("|")]
    return (places[0], places[-1]) if len(places) <= 2 and places[-1] - places[0] == len(places) - 1 else None


def moment(text: str) -> datetime | None:
    """A time with its zone; None where the text is none."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
