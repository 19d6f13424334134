"""Files about acuity from elsewhere: labels of cases, readings of candidates, votes of physicians. Pure.

Five shapes, by their fields or columns:

    vignettes-jsonl   urgency_level, case_description                        labels of cases, by their position
    results-jsonl     case_id, true_urgency, llm_output, run_id?, correct?   labels and readings
    long-csv          case, candidate, format?, sample?, level, confidence?, reference?
    wide-csv          case, reference?, text?, then a column a candidate
    matrix-csv        set, reference, level, n                               counts; each becomes so many cases

Everything is read to the end, and what is wrong is refused by line and field. A reading that names no level is no
fault: it is what a model said.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.phrases import Phrase
from rubrics.acuity.scales import Scale, folded
from rubrics.acuity.schemes import Mapped, Scheme
from rubrics.parsing.acuity_levels import Answer, State, answer_of
from rubrics.parsing.decisions import read_table, starts_with_object
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.reader import BOM, RecordReader

VIGNETTES, RESULTS, LONG, WIDE, MATRIX = "vignettes-jsonl", "results-jsonl", "long-csv", "wide-csv", "matrix-csv"
SHAPES = (VIGNETTES, RESULTS, LONG, WIDE, MATRIX)
FORMATS = ("qa", "chat")

CASE = ("case", "case_id", "Vignette_id", "vignette_id", "vignette")
CANDIDATE = ("candidate", "App_name", "app")
LEVEL = ("level", "Triage_advice_from_app", "triage_advice", "advice")
REFERENCE = ("reference", "Goldstandard_solution", "gold_standard", "true_urgency")
MATRIX_COLUMNS = ("set", "reference", "level", "n")
VOTE_COLUMNS = ("case", "physician", "round", "level", "certainty", "note")
CANNOT_TELL = "cannot-tell"
MAX_SAMPLE = 9999
MAX_CASES_OF_A_CELL = 1_000_000
MAX_KNOWN_ANSWERS = 1000


@dataclass(frozen=True, slots=True)
class Reading:
    """What a candidate said of a case in one sample; ``confidence`` is 0 to 1."""

    line: int
    case: str
    candidate: str
    format: str
    sample: int
    answer: Answer
    text: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    """A physician's vote: from ``low`` to ``high``; both None where they cannot tell. ``certainty`` is 0 to 100."""

    line: int
    case: str
    physician: str
    round: int
    low: int | None
    high: int | None
    certainty: int | None


@dataclass
class AcuityRecords:
    """What files say, all of them together. ``datasets`` holds the dataset of each case: a matrix is one of its own.

    ``labels`` are by case what its source label becomes, ``source_labels`` the label word for word.
    """

    labels: dict[str, Mapped] = field(default_factory=dict)
    source_labels: dict[str, str] = field(default_factory=dict)
    datasets: dict[str, str] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    votes: list[Vote] = field(default_factory=list)
    contradictions: int = 0  # stored flags such as `correct` that label and level do not bear out
    first_contradictions: list[int] = field(default_factory=list)  # their lines, the first fifty


@dataclass
class AcuityReader:
    """Reads files into ``records``, and their faults into ``faults`` of each file.

    ``candidate`` names the candidate of all files, whose samples they then are. ``default_format`` is that of rows that
    do not name theirs.
    """

    scale: Scale
    scheme: Scheme
    candidate: str = ""
    default_format: str = "qa"
    records: AcuityRecords = field(default_factory=AcuityRecords)
    n_files: int = 0
    _places: dict[tuple[str, str, str, int], tuple[int, int]] = field(default_factory=dict)  # file and line
    _answers: dict[str, Answer | None] = field(default_factory=dict)
    _missing_rules: Counter[str] = field(default_factory=Counter)

    def read(self, path: Path, shape: str = "") -> Faults:
        """Add one file; ``shape`` is one of `SHAPES`, found by the file's beginning where it is empty."""
        faults = Faults()
        self._missing_rules = Counter()
        with path.open("rb") as file:
            shape = shape or shape_of(file, faults)
            if shape:
                own = self.candidate or path.stem
                getattr(self, f"_{shape.replace('-', '_')}")(file, faults, own)
        self.n_files += 1
        return faults

    def read_votes(self, path: Path) -> Faults:
        """Add the votes of a CSV: case, physician, round, level, certainty, note."""
        faults = Faults()
        first: dict[tuple[str, str, int], int] = {}
        with path.open("rb") as file:
            for line, record in read_table(file, faults, columns=VOTE_COLUMNS):
                fields = Fields(line, record, faults)
                vote = self._vote(fields)
                key = (vote.case, vote.physician, vote.round)
                if first.setdefault(key, line) != line:
                    fields.fault("physician", Phrase("This vote is in line %(line)s already.", line=first[key]))
                if fields.sound:
                    self.records.votes.append(vote)
        rounds = {(case, physician): line for (case, physician, number), line in first.items() if number == 1}
        for (case, physician, number), line in first.items():
            if number > 1 and (case, physician) not in rounds:
                faults.add(line, "round", Phrase("There is no vote of round 1 before this one."))
        return faults

    def _vote(self, fields: Fields) -> Vote:
        case, physician = fields.key("case"), fields.text("physician", longest=MAX_KEY_LENGTH)
        number = self._whole(fields, "round", 2, default=1)
        if number == 0:
            fields.fault("round", Phrase("Rounds count from 1."))
        text, certainty = fields.text("level"), self._whole(fields, "certainty", 100)
        if folded(text) == CANNOT_TELL:
            if certainty is not None:
                fields.fault("certainty", Phrase("There is none with cannot tell."))
            return Vote(fields.line, case, physician, number or 1, None, None, None)
        low, high = self._levels(fields, text)
        return Vote(fields.line, case, physician, number or 1, low, high, certainty)

    def _levels(self, fields: Fields, text: str) -> tuple[int, int]:
        """The levels of a vote: one, or two adjacent ones joined by a bar."""
        places = [self.scale.place(part) for part in text.split("|")]
        if not fields.sound:
            return 0, 0
        if any(place is None for place in places) or len(places) > 2:
            names = ", ".join(self.scale.values)
            fields.fault("level", Phrase("“%(value)s” is no level of the scale: %(names)s.", value=text, names=names))
            return 0, 0
        known = sorted(place for place in places if place is not None)
        if len(known) == 2 and known[1] - known[0] != 1:
            fields.fault(
                "level", Phrase("A vote between two levels needs levels side by side: “%(value)s”.", value=text)
            )
        return known[0], known[-1]

    # Shapes

    def _vignettes_jsonl(self, file: BinaryIO, faults: Faults, own: str) -> None:
        for number, (line, record) in enumerate(RecordReader(file, faults), start=1):
            fields = Fields(line, record, faults)
            fields.text("case_description", required=False)
            self._label(fields, f"D-{number:04d}", "urgency_level")
        self._refuse_labels_without_rule(faults)

    def _results_jsonl(self, file: BinaryIO, faults: Faults, own: str) -> None:
        for line, record in RecordReader(file, faults):
            fields = Fields(line, record, faults)
            case = fields.key("case_id")
            self._label(fields, case, "true_urgency")
            candidate = self._candidate(fields, own)
            run = self._whole(fields, "run_id", MAX_SAMPLE + 1)
            sample = self.n_files if run is None and self.candidate else max(0, (run or 1) - 1)
            text = fields.text("llm_output", required=False)
            self._add(fields, case, candidate, self.default_format, sample, text)
            self._compare_flag(line, case, text, fields.take("correct"))
        self._refuse_labels_without_rule(faults)

    def _long_csv(self, file: BinaryIO, faults: Faults, own: str) -> None:
        columns = (*CASE, *CANDIDATE, *LEVEL, *REFERENCE, "format", "sample", "confidence")
        start = len(self.records.readings)
        for line, record in read_table(file, faults, columns=columns):
            fields = Fields(line, record, faults)
            case = fields.key(fields.name_of(*CASE))
            reference = fields.name_of(*REFERENCE)
            if record.get(reference) is not None:
                self._label(fields, case, reference)
            candidate = self._candidate(fields, own)
            format_ = fields.choice("format", FORMATS, required=False) or self.default_format
            sample = self._whole(fields, "sample", MAX_SAMPLE)
            if sample is None:
                sample = self.n_files if self.candidate else 0
            text = fields.text(fields.name_of(*LEVEL), required=False)
            confidence = _number(fields, "confidence")
            self._add(fields, case, candidate, format_, sample, text, confidence)
        self._same_confidences(start, faults)
        self._refuse_labels_without_rule(faults)

    def _wide_csv(self, file: BinaryIO, faults: Faults, own: str) -> None:
        known = {*CASE, *REFERENCE, "text"}
        for line, record in read_table(file, faults, columns=CASE):
            fields = Fields(line, record, faults)
            case = fields.key(fields.name_of(*CASE))
            reference = fields.name_of(*REFERENCE)
            if record.get(reference) is not None:
                self._label(fields, case, reference)
            for name in record:
                if name not in known:
                    text = fields.text(name, required=False)
                    self._add(fields, case, name, self.default_format, 0, text)
        self._refuse_labels_without_rule(faults)

    def _matrix_csv(self, file: BinaryIO, faults: Faults, own: str) -> None:
        counted: Counter[str] = Counter()
        for line, record in read_table(file, faults, columns=MATRIX_COLUMNS):
            fields = Fields(line, record, faults)
            name = self.candidate or fields.text("set", longest=MAX_KEY_LENGTH)
            n = self._whole(fields, "n", MAX_CASES_OF_A_CELL)
            if n is None:
                fields.fault("n", Phrase("This field is missing."))
            text = fields.text("level", required=False)
            mapped = self._mapped(fields, "reference")
            if not fields.sound or mapped is None:
                continue
            for _ in range(n or 0):
                counted[name] += 1
                case = f"{name}-{counted[name]:04d}"
                self.records.labels[case] = mapped
                self.records.source_labels[case] = record["reference"]
                self.records.datasets[case] = name
                self._add(fields, case, name, self.default_format, 0, text)
        self._refuse_labels_without_rule(faults)

    # Rows

    def _candidate(self, fields: Fields, own: str) -> str:
        named = fields.text(fields.name_of(*CANDIDATE), required=False, longest=MAX_KEY_LENGTH)
        return self.candidate or named or own

    def _mapped(self, fields: Fields, name: str) -> Mapped | None:
        label = fields.key(name)
        if not fields.sound:
            return None
        mapped = self.scheme.mapped(label)
        if mapped is None:
            self._missing_rules[label] += 1
            if self._missing_rules[label] == 1:
                fields.fault(
                    name,
                    Phrase("The scheme %(scheme)s has no rule for “%(label)s”.", scheme=self.scheme.name, label=label),
                )
            fields.sound = False
        return mapped

    def _refuse_labels_without_rule(self, faults: Faults) -> None:
        for label, n in self._missing_rules.items():
            if n > 1:
                faults.add(0, "", Phrase("“%(label)s” stands in %(n)s rows.", label=label, n=n))

    def _label(self, fields: Fields, case: str, name: str) -> None:
        """Note the label of a case; another one than before is refused."""
        mapped = self._mapped(fields, name)
        if mapped is None:
            return
        label = str(fields.record[name])
        known = self.records.source_labels.setdefault(case, label)
        if folded(known) != folded(label):
            fields.fault(name, Phrase("The case has another label before: “%(label)s”.", label=known))
        self.records.labels.setdefault(case, mapped)
        self.records.datasets.setdefault(case, "")

    def _add(
        self,
        fields: Fields,
        case: str,
        candidate: str,
        format_: str,
        sample: int,
        text: str,
        confidence: float | None = None,
    ) -> None:
        """Note a reading, unless nothing was given; two of one sample are refused."""
        if not fields.sound:
            return
        self.records.datasets.setdefault(case, "")
        answer = self._answer(text)
        if answer is None:
            return
        line = self._places.setdefault((case, candidate, format_, sample), (self.n_files, fields.line))
        if line != (self.n_files, fields.line):
            message = Phrase("The candidate has this sample already, in line %(line)s.", line=line[1])
            fields.fault("sample", message)
            return
        self.records.readings.append(Reading(fields.line, case, candidate, format_, sample, answer, text, confidence))

    def _answer(self, text: str) -> Answer | None:
        """What a text says. Most texts are among a few, which are read once."""
        if text not in self._answers:
            if len(self._answers) >= MAX_KNOWN_ANSWERS:
                return answer_of(text, self.scale, self.scheme)
            self._answers[text] = answer_of(text, self.scale, self.scheme)
        return self._answers[text]

    def _same_confidences(self, start: int, faults: Faults) -> None:
        """Bring the confidences of one file, the readings from ``start`` on, to 0 to 1; two kinds in it are refused."""
        readings = self.records.readings
        if not any((reading.confidence or 0) > 1 for reading in readings[start:]):
            return
        for place in range(start, len(readings)):
            confidence = readings[place].confidence
            if confidence is None:
                continue
            if 0 < confidence < 1:
                message = Phrase("The file has confidences from 0 to 1 and from 0 to 100.")
                faults.add(readings[place].line, "confidence", message)
            readings[place] = replace(readings[place], confidence=confidence / 100)

    def _compare_flag(self, line: int, case: str, text: str, flag: Any) -> None:
        """Count a stored flag ``correct`` that label and reading do not bear out; it is never used."""
        mapped, answer = self.records.labels.get(case), answer_of(text, self.scale, self.scheme)
        if not isinstance(flag, bool) or mapped is None or mapped.low is None or mapped.high is None:
            return
        right = answer is not None and answer.state is State.LEVEL and mapped.low <= answer.place <= mapped.high
        if right != flag:
            self.records.contradictions += 1
            if len(self.records.first_contradictions) < 50:
                self.records.first_contradictions.append(line)

    @staticmethod
    def _whole(fields: Fields, name: str, largest: int, default: int | None = None) -> int | None:
        """A whole number from 0 to ``largest``; ``default`` where there is none."""
        value = fields.record.get(name)
        if value is None:
            fields.take(name)
            return default
        if isinstance(value, str):
            fields.take(name)
            text = value.strip()
            if not (text.isascii() and text.isdecimal()) or int(text[:12]) > largest:
                fields.fault(name, Phrase("This must be a whole number from 0 to %(largest)s.", largest=largest))
                return default
            return int(text)
        return fields.integer(name, low=0, high=largest)


def _number(fields: Fields, name: str) -> float | None:
    """A confidence from 0 to 100; None where it is missing."""
    value = fields.take(name)
    if value is None or folded(str(value)) in ("na", "nan"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number <= 100:
        fields.fault(name, Phrase("A confidence is a number from 0 to 100."))
        return None
    return number


def shape_of(file: BinaryIO, faults: Faults) -> str:
    """The shape of a file by its first object or its heading; empty, with a fault, where none fits."""
    if starts_with_object(file):
        first = next(iter(RecordReader(file, Faults())), None)
        file.seek(0)
        names: Iterable[str] = first[1] if first else ()
        for shape, name in ((VIGNETTES, "urgency_level"), (RESULTS, "llm_output"), (RESULTS, "true_urgency")):
            if name in names:
                return shape
        faults.add(1, "", Phrase("The fields are those of no file of labels or results."))
        return ""
    names = _heading(file)
    file.seek(0)
    if set(MATRIX_COLUMNS) <= set(names):
        return MATRIX
    if not set(names) & set(CASE):
        faults.add(1, "", Phrase("The heading names no column for the case: %(names)s.", names=", ".join(CASE)))
        return ""
    return LONG if set(names) & set(LEVEL) else WIDE


def _heading(file: BinaryIO) -> list[str]:
    head = file.read(65536).removeprefix(BOM).decode("utf-8", "replace")
    return [name.strip() for name in next(csv.reader(head.splitlines()), [])]
