"""Files about acuity from elsewhere: labels of cases, readings of candidates, votes of physicians. Pure.

Five shapes, by their fields or columns:

    vignettes-jsonl   urgency_level, case_description                        labels of cases, by their position
    results-jsonl     case_id, true_urgency, llm_output, run_id?, correct?   labels and readings
    long-csv          case, candidate, format?, sample?, level, confidence?, escalation?, reference?
    wide-csv          case, reference?, text?, then a column a candidate
    matrix-csv        set, reference, level, n                               counts; each becomes so many cases

Everything is read to the end, and what is wrong is refused by line and field. A reading that names no level is no
fault: it is what a model said.
"""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from consilium.core.limits import MAX_KEY_LENGTH, MAX_NOTE_LENGTH
from consilium.core.phrases import Phrase
from rubrics.acuity.scales import Scale, folded, folded_value
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
ONE_CASE = ("|".join(CASE),)
CANDIDATE = ("candidate", "App_name", "app")
LEVEL = ("level", "Triage_advice_from_app", "triage_advice", "advice")
FLAG = ("ambiguous", "flag")
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
REFERENCE = ("reference", "Goldstandard_solution", "gold_standard", "true_urgency")
MATRIX_COLUMNS = ("set", "reference", "level", "n")
VOTE_COLUMNS = ("case", "physician", "round", "level", "certainty", "note", *FLAG)
CANNOT_TELL = "cannot-tell"
ALL = "all"  # the row of all candidates
NO_ESCALATION = "none"  # the word for: nothing is advised under a condition
MAX_SAMPLE = 9999
MAX_LINES = 50  # that are named of one thing
MAX_CASES_OF_A_CELL = 1_000_000
MAX_KNOWN_ANSWERS = 1000
MAX_KNOWN_CELLS = 100_000
MAX_NUMBER_LENGTH = 9  # of a case that a file numbers
WITHOUT_FIRST = Phrase("No vote of round 1 precedes this one.")
NUMBERED = "D"  # before the number of a vignette, where no dataset is named


class Reading(NamedTuple):  # a file may have a million, and a frozen dataclass takes six times as long to make
    """What a candidate said of a case in one sample; ``file`` is the number of the file, ``confidence`` is 0 to 1.

    ``escalation`` is the place of the level that is advised under a condition, -1 for none, None where nothing says.
    """

    file: int
    line: int
    case: str
    candidate: str
    format: str
    sample: int
    answer: Answer
    text: str
    confidence: float | None = None
    escalation: int | None = None


@dataclass(frozen=True, slots=True)
class MissingReading:
    """A row that names a case and a candidate and gives no answer: asked, and not given."""

    file: int
    line: int
    case: str
    candidate: str
    format: str
    sample: int


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
    note: str = ""


@dataclass
class Datasets:
    """Which candidates were asked about which cases: about all that stand in a dataset with a row of theirs.

    Each file with readings is a dataset, and files that share a case are one; each set of a matrix is one by itself.
    Cases that only labels or votes name are in none, and nobody was asked about them.
    """

    of_case: dict[str, int] = field(default_factory=dict)
    of_series: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    _parents: list[int] = field(default_factory=list)

    def new(self) -> int:
        """A further dataset."""
        self._parents.append(len(self._parents))
        return len(self._parents) - 1

    def add(self, case: str, series: tuple[str, str], dataset: int) -> None:
        """Note a row about a case, whatever it says; a case of another dataset makes both of them one."""
        known = self.of_case.setdefault(case, dataset)
        if known != dataset:
            low, high = sorted((self.root(known), self.root(dataset)))
            self._parents[high] = low
        self.of_series.setdefault(series, set()).add(dataset)

    def root(self, dataset: int) -> int:
        """The dataset that it has become part of."""
        while self._parents[dataset] != dataset:
            dataset = self._parents[dataset]
        return dataset


@dataclass
class AcuityRecords:
    """What files say, all of them together.

    ``labels`` are by case what its source label becomes, ``source_labels`` the label word for word, ``label_lines`` its
    first line; ``source_ids`` are the ids of cases in their files. ``without_rule`` gives the first line and the number
    of rows of each label that no rule is for. ``flags`` says of a case whether the data call it ambiguous. ``unused``
    names the columns that nobody read.
    """

    labels: dict[str, Mapped] = field(default_factory=dict)
    source_labels: dict[str, str] = field(default_factory=dict)
    label_lines: dict[str, int] = field(default_factory=dict)
    source_ids: dict[str, str] = field(default_factory=dict)
    without_rule: dict[str, tuple[int, int]] = field(default_factory=dict)
    texts: dict[str, tuple[int, str]] = field(default_factory=dict)  # line and text of a case, where they are kept
    diagnoses: dict[str, str] = field(default_factory=dict)  # never shown
    datasets: Datasets = field(default_factory=Datasets)
    without_rule_lines: dict[str, list[int]] = field(default_factory=dict)  # of each such label, the first fifty
    flags: dict[str, bool] = field(default_factory=dict)
    flag_lines: dict[str, int] = field(default_factory=dict)  # their first lines
    readings: list[Reading] = field(default_factory=list)
    missing: list[MissingReading] = field(default_factory=list)
    votes: list[Vote] = field(default_factory=list)
    empty_votes: int = 0  # cells of a wide file of votes with nothing in them
    first_empty_votes: list[int] = field(default_factory=list)  # their lines, the first fifty
    contradictions: int = 0  # stored flags such as `correct` that label and level do not bear out
    first_contradictions: list[int] = field(default_factory=list)  # their lines, the first fifty
    unused: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)  # their names, by number


@dataclass
class AcuityReader:
    """Reads files into ``records``, and their faults into ``faults`` of each file.

    ``candidate`` names the candidate of all files, whose samples they then are. ``default_format`` is that of rows that
    do not name theirs. ``raters`` are the columns of candidates in a wide CSV, by default all that have no other
    meaning. A case with the number n in a file is ``DATASET-000n``, where a ``dataset`` is named: so a file of results
    finds the vignettes, which are numbered by position. With ``keep_texts`` the texts of cases go into the records.
    Without ``refuse_without_rule`` a label that no rule is for is noted in the records alone. ``reads_escalations``:
    the column ``escalation`` of a long CSV is read; else it is one of those that nobody reads.
    """

    scale: Scale
    scheme: Scheme
    candidate: str = ""
    default_format: str = "qa"
    raters: tuple[str, ...] = ()
    dataset: str = ""
    first_sample: int = 0  # of files whose rows name no sample
    keep_texts: bool = False
    refuse_without_rule: bool = True
    reads_escalations: bool = False
    progress: Callable[[int], None] | None = None  # takes the number of bytes read
    records: AcuityRecords = field(default_factory=AcuityRecords)
    n_files: int = 0
    shape: str = ""  # of the file that was read last
    _places: dict[tuple[str, str, str, int], int] = field(default_factory=dict)  # in the readings
    _answers: dict[str, Answer | None] = field(default_factory=dict)
    _missing_rules: Counter[str] = field(default_factory=Counter)
    _texts: dict[str, bytes] = field(default_factory=dict)  # digests of the texts of cases
    _dataset: int = -1

    def read(self, path: Path, shape: str = "") -> Faults:
        """Add one file; ``shape`` is one of `SHAPES`, found by the file's beginning where it is empty."""
        with path.open("rb") as file:
            return self.read_file(file, path.name, shape)

    def read_file(self, file: BinaryIO, name: str, shape: str = "") -> Faults:
        """As `read`, from an open file at its start; its ``name`` without the ending may name its candidate."""
        faults = Faults()
        self._missing_rules, self._dataset = Counter(), self.records.datasets.new()
        self.records.files.append(name)
        self.shape = shape = shape or shape_of(file, faults)
        if shape:
            own = self.candidate or _name(Path(name).stem.encode("utf-8", "replace").decode())
            getattr(self, f"_{shape.replace('-', '_')}")(file, faults, own)
        self.n_files += 1
        return faults

    def read_votes(self, source: Path | BinaryIO, shape: str = "", *, refuse_without_first: bool = True) -> Faults:
        """Add the votes of a CSV, from a path or an open file at its start.

        A row is a vote (case, physician, round, level, certainty, note), or in a wide CSV a case with a column for each
        physician; ``shape`` is `WIDE` or `LONG`, found by the heading where it is empty. A vote of round 2 needs one of
        round 1 in the file; without ``refuse_without_first`` the caller looks for it.
        """
        if isinstance(source, Path):
            with source.open("rb") as file:
                return self.read_votes(file, shape, refuse_without_first=refuse_without_first)
        faults = Faults()
        names = _heading(source)
        source.seek(0)
        is_wide = shape == WIDE or (not shape and not {"physician", "level"} & set(names))
        first: dict[tuple[str, str, int], int] = {}
        for fields, field_name, vote in (
            self._wide_votes(source, names, faults) if is_wide else self._votes(source, faults)
        ):
            key = (vote.case, vote.physician, vote.round)
            if first.setdefault(key, vote.line) != vote.line:
                fields.fault(field_name, Phrase("This vote is already in line %(line)s.", line=first[key]))
            if fields.sound:
                self.records.votes.append(vote)
        if refuse_without_first:
            for (case, physician, number), line in first.items():
                if number > 1 and (case, physician, 1) not in first:
                    faults.add(line, "round", WITHOUT_FIRST)
        return faults

    def _votes(self, file: BinaryIO, faults: Faults) -> Iterator[tuple[Fields, str, Vote]]:
        for line, record in read_table(
            file, faults, columns=VOTE_COLUMNS, required=("case", "physician", "level"), progress=self.progress
        ):
            fields = Fields(line, record, faults)
            yield fields, "physician", self._vote(fields)

    def _wide_votes(self, file: BinaryIO, names: list[str], faults: Faults) -> Iterator[tuple[Fields, str, Vote]]:
        physicians = [name for name in names if name not in {*CASE, *REFERENCE, *FLAG, "text", ""}]
        for line, record in read_table(file, faults, columns=CASE, required=ONE_CASE, progress=self.progress):
            fields = Fields(line, record, faults)
            case = _case(fields, fields.name_of(*CASE))
            self._flag(fields, case)
            self.records.unused.update({*fields.rest()} - {*physicians})
            for name in physicians:
                text = fields.text(name, required=False) if isinstance(record.get(name), str) else _text(fields, name)
                if text.strip():
                    low, high = self._vote_levels(fields, text, name)
                    yield fields, name, Vote(line, case, _name(name), 1, low, high, None)
                else:
                    self._note_empty_vote(line)

    def _note_empty_vote(self, line: int) -> None:
        self.records.empty_votes += 1
        lines = self.records.first_empty_votes
        if len(lines) < MAX_LINES and line not in lines[-1:]:
            lines.append(line)

    def _vote(self, fields: Fields) -> Vote:
        case, physician = _case(fields, "case"), _name(fields.text("physician", longest=MAX_KEY_LENGTH))
        note = fields.text("note", required=False, longest=MAX_NOTE_LENGTH)
        number = self._whole(fields, "round", 2, default=1)
        if number == 0:
            fields.fault("round", Phrase("Rounds are counted from 1."))
        text, certainty = fields.text("level"), self._whole(fields, "certainty", 100)
        self._flag(fields, case)
        self.records.unused.update(fields.rest())
        low, high = self._vote_levels(fields, text, "level")
        if low is None and certainty is not None and fields.sound:
            fields.fault("certainty", Phrase("Certainty is not allowed with cannot tell."))
        return Vote(fields.line, case, physician, number or 1, low, high, certainty, note)

    def _vote_levels(self, fields: Fields, text: str, name: str) -> tuple[int, int] | tuple[None, None]:
        """The levels of a vote: one, or two adjacent ones joined by a bar; None with cannot tell."""
        if folded_value(text) == CANNOT_TELL:
            return None, None
        places = [self.scale.place(part) for part in text.split("|")]
        if not fields.sound:
            return 0, 0
        if any(place is None for place in places) or len(places) > 2:
            names = ", ".join(self.scale.values)
            fields.fault(name, Phrase("“%(value)s” is not a level of the scale: %(names)s.", value=text, names=names))
            return 0, 0
        known = sorted(place for place in places if place is not None)
        if len(known) == 2 and known[1] - known[0] != 1:
            fields.fault(name, Phrase("A vote between two levels must name adjacent levels: “%(value)s”.", value=text))
        return known[0], known[-1]

    # Shapes

    def _vignettes_jsonl(self, file: BinaryIO, faults: Faults, own: str) -> None:
        for number, (line, record) in enumerate(RecordReader(file, faults, progress=self.progress), start=1):
            fields = Fields(line, record, faults)
            case = f"{self.dataset or NUMBERED}-{number:04d}"
            self.records.source_ids[case] = str(number)
            self._same_text(fields, case, "case_description")
            diagnosis = fields.take("correct_diagnosis")
            if isinstance(diagnosis, str) and diagnosis.strip():
                self.records.diagnoses[case] = diagnosis
            self._label(fields, case, "urgency_level")
            self._flag(fields, case)
            self.records.unused.update(fields.rest())
        self._refuse_labels_without_rule(faults)

    def _results_jsonl(self, file: BinaryIO, faults: Faults, own: str) -> None:
        for line, record in RecordReader(file, faults, progress=self.progress):
            fields = Fields(line, record, faults)
            case = self._case(fields, "case_id")
            self._label(fields, case, "true_urgency")
            self._flag(fields, case)
            candidate = self._candidate(fields, own)
            format_ = fields.choice("format", FORMATS, required=False) or self.default_format
            run = self._whole(fields, "run_id", MAX_SAMPLE + 1)
            sample = self._sample_of_file if run is None else max(0, run - 1)
            text = _text(fields, "llm_output")
            self._add(fields, case, candidate, format_, sample, text)
            self._compare_flag(line, case, text, fields.take("correct"))
            fields.take("model")  # metadata, which never names a candidate
            self.records.unused.update(fields.rest())
        self._refuse_labels_without_rule(faults)

    def _long_csv(self, file: BinaryIO, faults: Faults, own: str) -> None:
        columns = (*CASE, *CANDIDATE, *LEVEL, *REFERENCE, *FLAG, "format", "sample", "confidence")
        start = len(self.records.readings)
        has_escalations = self.reads_escalations and "escalation" in _heading(file)
        file.seek(0)
        known = None if has_escalations else _KnownCells()
        for line, record in read_table(file, faults, columns=columns, required=ONE_CASE, progress=self.progress):
            place = known.place(record) if known else None
            if place is not None:
                message = self._note(line, *place)
                if message is not None:
                    faults.add(line, "sample", message)
                continue
            fields = Fields(line, record, faults)
            case = self._case(fields, fields.name_of(*CASE))
            reference = fields.name_of(*REFERENCE)
            if record.get(reference) is not None:
                self._label(fields, case, reference)
            self._flag(fields, case)
            candidate = self._candidate(fields, own)
            format_ = fields.choice("format", FORMATS, required=False) or self.default_format
            sample = self._whole(fields, "sample", MAX_SAMPLE)
            if sample is None:
                sample = self._sample_of_file
            text = _text(fields, fields.name_of(*LEVEL))
            confidence = _number(fields, "confidence")
            escalation = self._escalation(fields, format_) if has_escalations else None
            rest = fields.rest()
            self.records.unused.update(rest)
            if fields.sound and known:
                known.add(record, rest, case, candidate, format_, sample)
            self._add(fields, case, candidate, format_, sample, text, confidence, escalation)
        self._same_confidences(start, faults)
        self._refuse_labels_without_rule(faults)

    def _wide_csv(self, file: BinaryIO, faults: Faults, own: str) -> None:
        known = {*CASE, *REFERENCE, *FLAG, "text", ""}
        # A row leaves out empty cells, and a rater who never answered was asked all the same.
        raters = self.raters or tuple(name for name in _heading(file) if name not in known)
        file.seek(0)
        for line, record in read_table(file, faults, columns=CASE, required=ONE_CASE, progress=self.progress):
            fields = Fields(line, record, faults)
            case = self._case(fields, fields.name_of(*CASE))
            reference = fields.name_of(*REFERENCE)
            if record.get(reference) is not None:
                self._label(fields, case, reference)
            self._flag(fields, case)
            self._same_text(fields, case, "text")
            for name in raters:
                self._add(fields, case, _name(name), self.default_format, 0, _text(fields, name))
            self.records.unused.update(fields.rest())
        self._refuse_labels_without_rule(faults)

    def _matrix_csv(self, file: BinaryIO, faults: Faults, own: str) -> None:
        lines: dict[tuple[str, str, str], int] = {}
        datasets: dict[str, int] = {}
        for line, record in read_table(file, faults, columns=MATRIX_COLUMNS, progress=self.progress):
            fields = Fields(line, record, faults)
            name = self.candidate or _name(fields.text("set", longest=MAX_KEY_LENGTH))
            n = self._whole(fields, "n", MAX_CASES_OF_A_CELL)
            if n is None and fields.sound:
                fields.fault("n", Phrase("This field is missing."))
            text = fields.text("level", required=False)
            mapped = self._mapped(fields, "reference")
            self.records.unused.update(fields.rest())
            if not fields.sound or mapped is None:
                continue
            label = _label_text(record["reference"])
            if lines.setdefault((name, folded(label), folded(text)), line) != line:
                before = lines[name, folded(label), folded(text)]
                fields.fault("level", Phrase("This cell is already in line %(line)s.", line=before))
                continue
            self._dataset = datasets.get(name, -1)
            if self._dataset < 0:
                self._dataset = datasets[name] = self.records.datasets.new()
            for number in range(n or 0):
                # Named by its cell, so that the order of rows changes nothing.
                case = f"{name} {folded(label)} {folded(text)} {number + 1}"
                self.records.labels[case] = mapped
                self.records.source_labels[case] = label
                self.records.label_lines[case] = line
                self.records.source_ids[case] = case
                self._add(fields, case, name, self.default_format, 0, text)
        self._refuse_labels_without_rule(faults)

    # Rows

    @property
    def _sample_of_file(self) -> int:
        """The sample of rows that name none: files of one candidate are its samples, in their order."""
        return self.first_sample + (self.n_files if self.candidate else 0)

    def _case(self, fields: Fields, name: str) -> str:
        """The key of the case that a row is about."""
        source_id = _case(fields, name)
        key = source_id
        if self.dataset and source_id.isascii() and source_id.isdecimal() and len(source_id) <= MAX_NUMBER_LENGTH:
            key = f"{self.dataset}-{int(source_id):04d}"
        if fields.sound:
            self.records.source_ids[key] = source_id
        return key

    def _candidate(self, fields: Fields, own: str) -> str:
        named = _name(fields.text(fields.name_of(*CANDIDATE), required=False, longest=MAX_KEY_LENGTH))
        if named == ALL:
            fields.fault("candidate", Phrase("A candidate cannot be called “all”."))
        return self.candidate or named or own

    def _same_text(self, fields: Fields, case: str, name: str) -> None:
        """Note the text of a case; another one of the same case is refused."""
        text = fields.text(name, required=False)
        if text:
            if self.keep_texts:
                self.records.texts.setdefault(case, (fields.line, text))
            digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
            if self._texts.setdefault(case, digest) != digest:
                first, second = (each.hex()[:12] for each in (self._texts[case], digest))
                message = Phrase(
                    "The case %(case)s has a different text earlier (SHA-256 %(first)s…, here %(second)s…).",
                    case=case, first=first, second=second,
                )  # fmt: skip
                fields.fault(name, message)

    def _mapped(self, fields: Fields, name: str) -> Mapped | None:
        value = fields.record.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            fields.take(name)
            label = _label_text(value)
        else:
            label = fields.text(name, longest=MAX_KEY_LENGTH)
        if not fields.sound:
            return None
        mapped = self.scheme.mapped(label)
        if mapped is None:
            self._missing_rules[label] += 1
            line = self.records.without_rule.get(label, (fields.line, 0))[0]
            self.records.without_rule[label] = (line, self._missing_rules[label])
            lines = self.records.without_rule_lines.setdefault(label, [])
            if len(lines) < MAX_LINES:
                lines.append(fields.line)
            if self._missing_rules[label] == 1 and self.refuse_without_rule:
                fields.fault(
                    name,
                    Phrase("The scheme %(scheme)s has no rule for “%(label)s”.", scheme=self.scheme.name, label=label),
                )
            fields.sound = False
        return mapped

    def _refuse_labels_without_rule(self, faults: Faults) -> None:
        if not self.refuse_without_rule:
            return
        for label, n in self._missing_rules.items():
            if n > 1:
                faults.add(0, "", Phrase("“%(label)s” appears in %(n)s rows.", label=label, n=n))

    def _label(self, fields: Fields, case: str, name: str) -> None:
        """Note the label of a case; another one than before is refused, unless it means the same."""
        mapped = self._mapped(fields, name)
        if mapped is None:
            return
        label = _label_text(fields.record[name])
        self.records.label_lines.setdefault(case, fields.line)
        known = self.records.source_labels.setdefault(case, label)
        if self.records.labels.setdefault(case, mapped) != mapped:
            fields.fault(name, Phrase("The case has a different label earlier: “%(label)s”.", label=known))

    def _flag(self, fields: Fields, case: str) -> None:
        """Note whether the data call the case ambiguous; both yes and no are refused. An empty cell says nothing."""
        name = fields.name_of(*FLAG)
        value = fields.record.get(name)
        if value is None or not str(value).strip():
            return
        flag = FLAGS.get(folded(str(value)))
        if flag is None:
            fields.fault(name, Phrase("“%(value)s” is not one of: %(names)s.", value=value, names=", ".join(FLAGS)))
        elif self.records.flags.setdefault(case, flag) is not flag:
            fields.fault(
                name,
                Phrase("The case has a different flag earlier, in line %(line)s.", line=self.records.flag_lines[case]),
            )
        else:
            self.records.flag_lines.setdefault(case, fields.line)

    def _escalation(self, fields: Fields, format_: str) -> int | None:
        """The level that is advised under a condition; an empty cell is none in advice, unknown in a forced choice."""
        text = fields.text("escalation", required=False)
        if not text.strip():
            return None if format_ == "qa" else -1
        if folded(text) == NO_ESCALATION:
            return -1
        place = self.scale.place(text)
        if place is None:
            names = ", ".join((*self.scale.values, NO_ESCALATION))
            fields.fault("escalation", Phrase("“%(value)s” is not one of: %(names)s.", value=text, names=names))
        return place

    def _add(
        self,
        fields: Fields,
        case: str,
        candidate: str,
        format_: str,
        sample: int,
        text: str,
        confidence: float | None = None,
        escalation: int | None = None,
    ) -> None:
        """Note a reading, unless nothing was given; two of one sample are refused."""
        if not fields.sound:
            return
        message = self._note(fields.line, case, candidate, format_, sample, text, confidence, escalation)
        if message is not None:
            fields.fault("sample", message)

    def _note(
        self,
        line: int,
        case: str,
        candidate: str,
        format_: str,
        sample: int,
        text: str,
        confidence: float | None,
        escalation: int | None = None,
    ) -> Phrase | None:
        """Note a reading of a sound row, unless nothing was given; the fault where the sample has one already."""
        self.records.datasets.add(case, (candidate, format_), self._dataset)
        answer = self._answer(text)
        if answer is None:
            self.records.missing.append(MissingReading(self.n_files, line, case, candidate, format_, sample))
            return None
        readings = self.records.readings
        place = self._places.setdefault((case, candidate, format_, sample), len(readings))
        if place < len(readings):
            before = readings[place]
            return Phrase(
                "The candidate already has this sample, in line %(line)s of %(file)s.",
                line=before.line,
                file=self.records.files[before.file],
            )
        readings.append(
            Reading(self.n_files, line, case, candidate, format_, sample, answer, text, confidence, escalation)
        )
        return None

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
                message = Phrase("The file mixes confidences from 0 to 1 with confidences from 0 to 100.")
                faults.add(readings[place].line, "confidence", message)
            readings[place] = readings[place]._replace(confidence=confidence / 100)

    def _compare_flag(self, line: int, case: str, text: str, flag: Any) -> None:
        """Count a stored flag ``correct`` that label and reading do not bear out; it is never used."""
        mapped, answer = self.records.labels.get(case), answer_of(text, self.scale, self.scheme)
        flag = {"true": True, "false": False, "1": True, "0": False}.get(folded(str(flag)))
        # What was not given is neither right nor wrong.
        if flag is None or answer is None or mapped is None or mapped.low is None or mapped.high is None:
            return
        right = answer.state is State.LEVEL and mapped.low <= answer.place <= mapped.high
        if right != flag:
            self.records.contradictions += 1
            if len(self.records.first_contradictions) < MAX_LINES:
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
            digits = text.lstrip("0") or "0"
            if not (text.isascii() and text.isdecimal()) or len(digits) > 12 or int(digits) > largest:
                fields.fault(name, Phrase("This must be a whole number from 0 to %(largest)s.", largest=largest))
                return default
            return int(digits)
        return fields.integer(name, low=0, high=largest)


class _KnownCells:
    """Cells of a long CSV that a row before had without a fault, with what they mean: a file repeats the same few.

    Rows are read field by field, so that a fault names its field; that takes 12 µs a row, and a row of known cells 4.
    """

    def __init__(self) -> None:
        self._columns: dict[tuple[str, ...], tuple[str, str, str, str]] = {}  # by the cells that a row has
        self._cases: dict[tuple[str | None, str | None], str] = {}
        self._samples: dict[tuple[str | None, str | None, str | None], tuple[str, str, int]] = {}

    def add(
        self, record: dict[str, str], rest: Collection[str], case: str, candidate: str, format_: str, sample: int
    ) -> None:
        """Note a sound row; ``rest`` are its columns that were not read. Rows with a flag are read field by field."""
        if any(name in record for name in FLAG):
            return
        columns = tuple(record)
        if columns not in self._columns:
            used = [name for name in columns if name not in rest]
            names = [
                next((name for name in used if name in own), own[0]) for own in (CASE, REFERENCE, CANDIDATE, LEVEL)
            ]
            self._columns[columns] = names[0], names[1], names[2], names[3]
        if len(self._cases) >= MAX_KNOWN_CELLS or len(self._samples) >= MAX_KNOWN_CELLS:
            return
        case_name, reference_name, candidate_name, _level = self._columns[columns]
        self._cases[record.get(case_name), record.get(reference_name)] = case
        self._samples[record.get(candidate_name), record.get("format"), record.get("sample")] = (
            candidate, format_, sample,
        )  # fmt: skip

    def place(self, record: dict[str, str]) -> tuple[str, str, str, int, str, float | None] | None:
        """Case, candidate, format, sample, text and confidence of a row; None where a cell is not known yet."""
        names = self._columns.get(tuple(record))
        if names is None:
            return None
        case_name, reference_name, candidate_name, level_name = names
        get = record.get
        case = self._cases.get((get(case_name), get(reference_name)))
        place = self._samples.get((get(candidate_name), get("format"), get("sample")))
        if case is None or place is None:
            return None
        cell, confidence = get("confidence"), None
        if cell is not None:
            try:
                confidence = float(cell)
            except ValueError:
                return None
            if not 0 <= confidence <= 100:
                return None
        return (case, *place, get(level_name, ""), confidence)


def _name(text: str) -> str:
    """The name of a candidate or physician: NFC, without blanks around it."""
    return unicodedata.normalize("NFC", text).strip()


def _label_text(value: Any) -> str:
    """A source label word for word; a number as its digits."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _case(fields: Fields, name: str) -> str:
    """The key of a case in NFC."""
    return unicodedata.normalize("NFC", fields.key(name))


def _text(fields: Fields, name: str) -> str:
    """What was said, a number as its digits; empty where nothing was."""
    value = fields.record.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        fields.take(name)
        return f"{value:g}"
    return fields.text(name, required=False)


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
        fields.fault(name, Phrase("A confidence must be a number from 0 to 100."))
        return None
    return number


def shape_of(file: BinaryIO, faults: Faults) -> str:
    """The shape of a file by its first object or its heading; empty, with a fault, where none fits."""
    if starts_with_object(file):
        own = Faults()
        first = next(iter(RecordReader(file, own)), None)
        file.seek(0)
        if first is None:
            faults.absorb(own)
            return ""
        names: Iterable[str] = first[1]
        for shape, name in ((VIGNETTES, "urgency_level"), (RESULTS, "llm_output"), (RESULTS, "true_urgency")):
            if name in names:
                return shape
        faults.add(1, "", Phrase("The fields do not match any file of labels or results."))
        return ""
    names = _heading(file)
    file.seek(0)
    if set(MATRIX_COLUMNS) <= set(names):
        return MATRIX
    if not set(names) & set(CASE):
        faults.add(1, "", Phrase("The header has no column for the case: %(names)s.", names=", ".join(CASE)))
        return ""
    return LONG if set(names) & set(LEVEL) else WIDE


def _heading(file: BinaryIO) -> list[str]:
    head = file.read(65536).removeprefix(BOM).decode("utf-8", "replace")
    return [name.strip() for name in next(csv.reader(head.splitlines()), [])]
