"""Decisions of physicians (or verdicts of judges) made elsewhere: JSONL or CSV, one row for each decision."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

from consilium.core.csvfile import bare
from consilium.core.limits import MAX_KEY_LENGTH, MAX_NOTE_LENGTH
from consilium.core.phrases import Phrase
from consilium.llm.errors import ContentError
from consilium.llm.parsing import parse_verdict
from consilium.statistics.outcomes import Outcome
from rubrics.parsing.csv_record import DELIMITERS, CsvRecord
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.label_rows import LABELS, LabelRows
from rubrics.parsing.reader import BOM, Limits, LineReader, RecordReader
from rubrics.parsing.responses import LARGEST_SAMPLE

OUTCOMES = (Outcome.MET.word, Outcome.NOT_MET.word, Outcome.CANNOT_ASSESS.word)
STAGES = ("annotator", "checker", "adjudicator")
COLUMNS = ("case", "candidate", "sample", "criterion", "rater", "outcome", "stage", "note")
VERDICT_COLUMNS = ("case", "candidate", "sample", "criterion", "outcome", "explanation")
OPTIONAL_COLUMNS = ("setting", "criteria_met", "explanation", "replicate", "prompt_id", "case_id", "model", "output")
CASE, CANDIDATE = ("case", "prompt_id", "case_id"), ("candidate", "model")
MAX_POSITION_LENGTH = 6
MAX_COLUMNS = 500
MAX_REPLICATE = 999


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """One decision. ``criterion`` is its position in the rubric, from 1, or its exact text."""

    line: int
    case: str
    candidate: str
    sample: int
    criterion: int | str
    outcome: str
    rater: str = ""
    stage: str = "annotator"
    note: str = ""
    explanation: str = ""
    setting: str = ""
    replicate: int = 0  # which of a judge's answers to the same question

    def weight(self) -> int:
        """About how many characters it holds."""
        return len(self.note) + len(self.explanation) + (len(self.criterion) if isinstance(self.criterion, str) else 0)


class DecisionReader:
    """Yields the sound decisions of a file; `unused` names the columns that nobody read.

    ``outcomes`` are the allowed ones; ``candidate``, if given, replaces the candidate that a row names; ``rater`` says
    whether each row must name its rater. Rows without one are verdicts of a judge, which may have answered several
    times: ``replicate``, if given, holds for the whole file. Such a row may have the judge's whole answer as ``output``
    instead of the outcome; an answer that is no verdict is *invalid*, with its text as the explanation.
    """

    def __init__(
        self,
        file: BinaryIO,
        faults: Faults,
        *,
        outcomes: Collection[str] = OUTCOMES,
        candidate: str = "",
        rater: bool = True,
        replicate: int | None = None,
        limits: Limits | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.file = file
        self.faults = faults
        self.outcomes = outcomes
        self.candidate = candidate
        self.rater = rater
        self.replicate = replicate
        self.limits = limits
        self.progress = progress
        self.unused: set[str] = set()

    def __iter__(self) -> Iterator[DecisionRecord]:
        unnamed = LabelRows(self.faults, CASE, CANDIDATE, ("criterion",))
        for line, record in self._records():
            if unnamed.counts(line, record):
                continue
            fields = Fields(line, record, self.faults)
            decision = self._decision(fields)
            self.unused.update(fields.rest())
            if fields.sound:
                yield decision
        unnamed.report()

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if starts_with_object(self.file):
            return iter(RecordReader(self.file, self.faults, limits=self.limits, progress=self.progress))
        return read_table(
            self.file,
            self.faults,
            limits=self.limits,
            progress=self.progress,
            named=COLUMNS if self.rater else VERDICT_COLUMNS,
            required=self._required,
        )

    def _required(self, header: Collection[str]) -> Sequence[str]:
        """Columns without which no row is sound; none of a file of labels without texts, which has its own fault."""
        if {*LABELS} & {*header} and not {*CASE, *CANDIDATE, "criterion"} & {*header}:
            return ()
        names = ["|".join(CASE), "criterion", "outcome|criteria_met" if self.rater else "outcome|criteria_met|output"]
        if not self.candidate:
            names.append("|".join(CANDIDATE))
        return [*names, "rater"] if self.rater else names

    def _decision(self, fields: Fields) -> DecisionRecord:
        candidate_field = fields.name_of(*CANDIDATE)
        candidate = fields.text(candidate_field, required=not self.candidate, longest=MAX_KEY_LENGTH)
        outcome, explanation = self._verdict(fields)
        return DecisionRecord(
            line=fields.line,
            case=fields.key(fields.name_of(*CASE)),
            candidate=self.candidate or candidate,
            sample=_whole(fields, "sample", LARGEST_SAMPLE),
            criterion=_criterion(fields),
            outcome=outcome,
            rater=fields.text("rater", required=self.rater, longest=MAX_KEY_LENGTH).strip(),
            stage=fields.choice("stage", STAGES, required=False) or "annotator",
            note=fields.text("note", required=False, longest=MAX_NOTE_LENGTH if self.rater else None),
            explanation=explanation,
            setting=fields.text("setting", required=False),
            replicate=0 if self.rater else replicate_of(fields, self.replicate),
        )

    def _verdict(self, fields: Fields) -> tuple[str, str]:
        """The outcome of a row and its explanation."""
        if self.rater or fields.record.get("output") is None:
            return self._outcome(fields), fields.text("explanation", required=False)
        fields.name_of("outcome", "criteria_met", "output")  # another of these beside it is a fault
        answer = fields.text("output", blank=True)
        try:
            verdict = parse_verdict(answer)
        except ContentError:
            return Outcome.INVALID.word, answer
        return (Outcome.MET if verdict.criteria_met else Outcome.NOT_MET).word, verdict.explanation

    def _outcome(self, fields: Fields) -> str:
        name = fields.name_of("outcome", "criteria_met")
        if name == "outcome":
            return fields.choice("outcome", self.outcomes)
        value = fields.take("criteria_met")
        if isinstance(value, str):  # CSV has no booleans
            value = {"true": True, "false": False}.get(value.strip().lower(), value)
        if not isinstance(value, bool):
            fields.fault("criteria_met", Phrase("This must be true or false."))
        return (Outcome.MET if value is True else Outcome.NOT_MET).word


def replicate_of(fields: Fields, of_file: int | None) -> int:
    """Which of a judge's answers to a question a row holds: its own number or that of the file, else the first."""
    if fields.record.get("replicate") is None:
        return of_file or 0
    replicate = _whole(fields, "replicate", MAX_REPLICATE)
    if of_file is not None and replicate != of_file:
        message = Phrase(
            "This is replicate %(replicate)s, but the whole file is replicate %(of_file)s.",
            replicate=replicate,
            of_file=of_file,
        )
        fields.fault("replicate", message)
    return replicate


def _whole(fields: Fields, name: str, largest: int) -> int:
    """A whole number from 0 to ``largest``; a CSV holds it as digits."""
    value = fields.record.get(name)
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) < 11:
        fields.take(name)
        number = int(value)
        if number > largest:
            fields.fault(name, Phrase("%(number)s is too large.", number=number))
        return number
    return fields.integer(name, low=0, high=largest, default=0)


def _criterion(fields: Fields) -> int | str:
    value = fields.take("criterion")
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.isdecimal() and len(text) <= MAX_POSITION_LENGTH:
            value = int(text)
        elif not text:
            fields.fault("criterion", Phrase("This field is missing."))
            return ""
        else:
            return value
    if isinstance(value, bool) or not isinstance(value, int):
        fields.fault(
            "criterion", Phrase("This must be a position in the rubric, from 1, or the exact text of a criterion.")
        )
        return ""
    if value < 1:
        fields.fault("criterion", Phrase("Positions are counted from 1."))
    return value


def starts_with_object(file: BinaryIO) -> bool:
    """Whether a seekable file looks like JSONL rather than CSV; the file is left at its start."""
    head = file.read(4096)
    file.seek(0)
    return head.removeprefix(BOM).lstrip().startswith((b"{", b"[")) or head.startswith((b"\xff\xfe", b"\xfe\xff"))


def read_table(
    file: BinaryIO,
    faults: Faults,
    *,
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
    columns: tuple[str, ...] = COLUMNS,
    required: tuple[str, ...] | Callable[[Collection[str]], Sequence[str]] = (),
    keep_empty: bool = False,
    named: tuple[str, ...] = (),
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a CSV with a header, as (line, {column: text}); an empty cell is a missing field.

    A byte order mark is accepted here: spreadsheets write one. The header must name at least one of ``columns``, and
    all that are ``required``, or that this gives for the header (``a|b``: one of both). It decides which of
    `DELIMITERS` separates the cells. With ``keep_empty`` a row has every column of the header, an empty cell as "". A
    fault of the header names the columns ``named``, or else ``columns``.
    """
    record = CsvRecord()
    lines = LineReader(
        file,
        faults,
        limits=limits,
        progress=progress,
        accept_mark=True,
        keep_blank=True,
        field_at=lambda start: record.column_at(start, MAX_COLUMNS),
    )
    texts = _decoded(lines, record, faults, {*columns, *OPTIONAL_COLUMNS})
    try:
        first = next(texts, "")
    except _Unreadable:
        return
    rows = csv.reader(chain([first] if first else [], texts), strict=True, delimiter=record.delimiter)
    header: list[str] | None = None
    line = 1
    while True:
        if line > 1:  # the first record has begun with its first line
            record.begin()
        try:
            row = next(rows, None)
        except _Unreadable:
            return
        except csv.Error as error:
            faults.add(line, record.column(), Phrase("This is not valid CSV: %(error)s.", error=error))
            return
        start, line = line, rows.line_num + 1
        if row is None:
            return
        if not any(map(str.strip, row)):
            continue
        if header is None:
            header = [name.strip() for name in row]
            needed = required(header) if callable(required) else required
            if not _sound_header(header, columns, needed, named or columns, faults, start):
                return
            record.names = header
        elif len(row) != len(header):
            faults.add(
                start,
                "",
                Phrase("The row has %(n)s cells, the header %(in_header)s.", n=len(row), in_header=len(header)),
            )
        elif "\x00" in "".join(row):
            nul = next(name for name, cell in zip(header, row, strict=True) if "\x00" in cell)
            faults.add(start, nul, Phrase("The text contains a NUL character."))
        else:
            yield (
                start,
                {
                    name: bare(cell) if cell[:1] == "'" else cell
                    for name, cell in zip(header, row, strict=True)
                    if cell or keep_empty
                },
            )


def _sound_header(
    header: list[str],
    columns: tuple[str, ...],
    required: Sequence[str],
    named: tuple[str, ...],
    faults: Faults,
    line: int,
) -> bool:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        faults.add(line, twice[0], Phrase("This column appears twice in the header."))
        return False
    if "\x00" in "".join(header):
        faults.add(line, "", Phrase("The line contains a NUL character."))
        return False
    if not set(header) & {*columns, *OPTIONAL_COLUMNS}:
        faults.add(line, "", Phrase("The first line must name the columns: %(names)s.", names=", ".join(named)))
        return False
    missing = [name.split("|") for name in required if not {*name.split("|")} & {*header}]
    for names in missing:
        faults.add(line, " / ".join(names), Phrase("This column is not in the header."))
    return not missing


class _Unreadable(Exception):
    """The rest of the file cannot be read; the fault has been noted."""


def _delimiter(heading: str, known: set[str]) -> str:
    """The first of `DELIMITERS` that sets two known columns apart in a heading; a comma where none does."""
    for delimiter in DELIMITERS:
        if len({name.strip(' "\r\n') for name in heading.split(delimiter)} & known) > 1:
            return delimiter
    return DELIMITERS[0]


def _decoded(lines: LineReader, record: CsvRecord, faults: Faults, known: set[str]) -> Iterator[str]:
    """Lines as texts, as long as their record stays within the limits; the first tells the delimiter of ``record``."""
    for place, (number, line) in enumerate(lines):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            field = record.column_at(line[: error.start], MAX_COLUMNS)
            faults.add(number, field, Phrase("Byte %(start)s of the line is not UTF-8.", start=error.start + 1))
            raise _Unreadable from error
        if not place:
            record.delimiter = _delimiter(text, known)
        if not record.add(text, MAX_COLUMNS):
            message = (
                Phrase("The row has more than %(n)s cells.", n=MAX_COLUMNS)
                if record.names
                else Phrase("The header has more than %(n)s columns.", n=MAX_COLUMNS)
            )
            faults.add(number, "", message)
            raise _Unreadable
        if record.length > lines.limits.line_bytes:
            message = Phrase("The line is longer than %(longest)s MiB.", longest=lines.limits.line_bytes >> 20)
            faults.add(number, record.column(), message)
            raise _Unreadable
        yield f"{text}\n"
