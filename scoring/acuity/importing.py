"""Imports labels of cases and readings of candidates from a file: all of it, or nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, BinaryIO

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from psycopg.types.json import Jsonb

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.identifiers import new_public_id
from consilium.core.jobs import Progress
from consilium.core.limits import MAX_DATASET_LENGTH, MAX_KEY_LENGTH
from rubrics.acuity import services
from rubrics.acuity.case_texts import conversation_text, text_digest
from rubrics.acuity.fitting import fits
from rubrics.acuity.scales import folded
from rubrics.acuity.schemes import BY_LABELS, Scheme
from rubrics.acuity.stored import scheme_of
from rubrics.imports.bulk import check_references_at_once, chunks, copy_rows, reserve_ids
from rubrics.imports.candidates import Candidates
from rubrics.imports.registry import Counts
from rubrics.models import (
    AcuityImport,
    AcuityScale,
    Benchmark,
    Candidate,
    Case,
    LabelScheme,
    SourceLabel,
    slug_characters,
)
from rubrics.parsing.acuity_files import (
    ALL,
    FORMATS,
    SHAPES,
    WIDE,
    AcuityReader,
    AcuityRecords,
    MissingReading,
    Reading,
)
from rubrics.parsing.acuity_levels import State
from rubrics.parsing.faults import Faults
from scoring.acuity import selectors
from scoring.acuity.preview import fitting_rows, preview_of
from scoring.models import AcuityReading

IMPORTED = AcuityReading.Source.IMPORTED
THREE_LABELS = "em-ne-sc"  # the scheme whose labels are the levels of the scale of three
LOOKUP = 5000
YES_OR_NO = {"yes": True, "no": False}
CASE_COLUMNS = (
    *("id", "public_id", "benchmark", "key", "conversation", "reference_answer", "difficulty", "register"),
    *("language", "tags", "label_tags", "metadata", "created_at", "is_stub"),
)
LABEL_COLUMNS = (
    *("case", "dataset", "source_id", "label", "scheme", "how", "low", "high", "acuity_import", "line"),
    *("is_flagged",),
)
READING_COLUMNS = (
    *("scale", "case", "candidate", "format", "sample", "source", "acuity_import", "line", "state", "level"),
    *("confidence", "text"),
)


class _PreviewDone(Exception):
    """Ends the transaction of a preview, so that nothing of it is kept."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self.counts = counts


@dataclass(frozen=True, slots=True)
class _StoredReading:
    """A reading that is stored, and where it came from."""

    state: str
    level: int | None
    confidence: float | None
    text: str
    file: str
    line: int

    def is_same_answer(self, reading: Reading) -> bool:
        """Whether the level is the same in any words, or the words of no level; a state's own word stands for them."""
        answer = reading.answer
        if answer.state is State.LEVEL:
            return self.state == answer.state.word and self.level == answer.place
        return self.state == answer.state.word and reading.text in (self.text, answer.state.word)


@dataclass(frozen=True)
class _Options:
    """The options of an import, checked."""

    dataset: str
    scheme: str
    scale: str
    shape: str
    candidate: str
    reading_format: str
    file_name: str
    preview: bool
    licence: str
    may_redistribute: bool | None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> _Options:
        """`DomainError` on an option that cannot be right."""
        dataset = given.get("dataset", "").strip()
        try:
            slug_characters(dataset)
        except ValidationError as error:
            message = _("The dataset: %(why)s") % {"why": error.messages[0]}
            raise DomainError(message, field="dataset") from error
        if len(dataset) > MAX_DATASET_LENGTH:
            message = _("The name of a dataset can have at most %(n)s characters.") % {"n": MAX_DATASET_LENGTH}
            raise DomainError(message, field="dataset")
        shape = given.get("format", "")
        if shape not in ("", "auto", *SHAPES):
            message = _("The format must be one of: %(formats)s.") % {"formats": ", ".join(("auto", *SHAPES))}
            raise DomainError(message, field="format")
        reading_format = given.get("reading_format") or FORMATS[0]
        if reading_format not in FORMATS:
            message = _("The format must be one of: %(formats)s.") % {"formats": ", ".join(FORMATS)}
            raise DomainError(message, field="reading_format")
        candidate = given.get("candidate", "").strip()
        if candidate == ALL:
            raise DomainError(_("A candidate cannot be called “all”."), field="candidate")
        scheme = given.get("scheme") or "direct"
        may_redistribute = given.get("may_redistribute", "")
        if may_redistribute not in ("", *YES_OR_NO):
            raise DomainError(
                _("Enter yes or no for whether the dataset may be redistributed."), field="may_redistribute"
            )
        return cls(
            dataset=dataset,
            scheme=scheme,
            scale=given.get("scale") or ("" if scheme == BY_LABELS else "three" if scheme == THREE_LABELS else "four"),
            shape="" if shape == "auto" else shape,
            candidate=candidate,
            reading_format=reading_format,
            file_name=given.get("file_name", ""),
            preview=bool(given.get("preview")),
            licence=given.get("licence", "").strip(),
            may_redistribute=YES_OR_NO.get(may_redistribute),
        )

    def stored(self) -> dict[str, str]:
        """What decides how the same file is read."""
        return {"candidate": self.candidate, "reading_format": self.reading_format}


def check_acuity_options(*, benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> None:
    """`DomainError` on an option that cannot be right, whatever the file is."""
    _Options.of(options)


def import_acuity(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import labels, readings, or both. `ImportRefused` names every fault, and then nothing is written.

    Options: ``dataset`` names where the cases come from; ``scheme`` what their labels become, on ``scale``; ``format``
    is the shape of the file; ``candidate`` is the candidate of the whole file; ``reading_format`` that of readings that
    name none. ``licence`` is that of the dataset, and ``may_redistribute`` (yes or no) says whether it allows to pass
    its texts on. The scheme `BY_LABELS` stands for the one that fits the labels of the file, on ``scale`` or, without
    it, on any. With ``preview`` nothing is written, and the counts have what would be, under ``previews``.
    """
    chosen = _Options.of(options)
    try:
        with transaction.atomic():
            counts = _Import(benchmark, chosen, file, by=by, at=at).run(file, progress)
            if chosen.preview:
                raise _PreviewDone(counts)
    except _PreviewDone as done:
        return done.counts
    return counts


class _Import:
    """One file on its way into the database."""

    def __init__(
        self, benchmark: Benchmark, options: _Options, file: BinaryIO, *, by: User | None, at: datetime
    ) -> None:
        if options.scheme == BY_LABELS:
            options = _with_fitting_scheme(benchmark, options, file)
        self.benchmark = benchmark
        self.options = options
        self.by = by
        self.at = at
        # One import at a time: each compares its rows with those that are stored, and numbers its sample after them.
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        self.scale: AcuityScale = services.get_or_make_scale(benchmark=benchmark, name=options.scale, by=by, at=at)
        self.scheme: LabelScheme = services.get_or_make_scheme(scale=self.scale, name=options.scheme, by=by, at=at)
        self.faults = Faults()
        self.candidates = Candidates(benchmark)
        self.shape = ""
        self.notes: list[str] = []

    def run(self, file: BinaryIO, progress: Progress) -> Counts:
        """Read the file, compare it with what is stored, and write what is new."""
        check_references_at_once()
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        file.seek(0)
        earlier = AcuityImport.objects.filter(
            benchmark=self.benchmark, dataset=self.options.dataset, scheme__scale=self.scale
        )
        # Its labels may be mapped again with a newer scheme; its samples stay what they are.
        same_file = earlier.filter(file_digest=digest, options=self.options.stored()).order_by("pk").first()
        reader = self._reader(earlier if same_file is None else earlier.filter(pk__lt=same_file.pk), progress)
        self.faults = reader.read_file(file, self.options.file_name, self.options.shape)
        records = reader.records
        self._refuse_names(records)
        self.shape = reader.shape
        self.notes = [
            *self._notes_of_same_file(digest, records),
            # With lines that are refused, samples are missing that are in the file.
            *(() if self.faults.total else _notes_of_gaps(records)),
            *_notes_of_labels(records, scheme_of(self.scheme)),
        ]
        if self.options.preview and (self.faults.total or records.without_rule):
            return {"previews": [self._preview(records)]}
        self.faults.refuse_if_any()
        if not (records.labels or records.readings or records.missing or records.texts):
            raise DomainError(_("The file contains no rows."))
        counts = self._write(records, digest, reader.shape)
        if self.options.licence or self.options.may_redistribute is not None:
            services.set_dataset_licence(
                benchmark=self.benchmark,
                name=self.options.dataset,
                licence=self.options.licence,
                may_redistribute=self.options.may_redistribute,
                by=self.by,
                at=self.at,
            )
        if self.options.preview:
            return {**counts, "previews": [self._preview(records)]}
        self.faults.refuse_if_any()
        return {**counts, "warnings": [*self.notes, *_warnings(records)]}

    def _reader(self, earlier: Any, progress: Progress) -> AcuityReader:
        """The reader; of a named candidate each further file of the dataset in one format is the next sample."""
        scheme = scheme_of(self.scheme)
        first_sample = 0
        if self.options.candidate:
            files = earlier.filter(options=self.options.stored()).order_by().values("file_digest")
            first_sample = files.distinct().count()
        return AcuityReader(
            scheme.scale,
            scheme,
            candidate=self.options.candidate,
            default_format=self.options.reading_format,
            dataset=self.options.dataset,
            first_sample=first_sample,
            keep_texts=True,
            refuse_without_rule=not self.options.preview,
            progress=progress,
        )

    def _write(self, records: AcuityRecords, digest: str, shape: str) -> Counts:
        keys = list(
            dict.fromkeys(
                [
                    *(records.texts or ()),
                    *records.labels,
                    *(reading.case for reading in records.readings),
                    *(missing.case for missing in records.missing),
                ]
            )
        )
        known = self._known_cases(keys)
        labels, n_labels_known = self._new_labels(records, known)
        readings, n_readings_known = self._new_readings(records, known)
        missing, n_missing_known = self._new_missing(records, known)
        self._compare_texts(records, known)
        if self.faults.total:
            return {}
        cases, counts = self._write_cases(keys, records, known)
        if labels or readings or missing or counts["cases"]["created"]:
            row = AcuityImport.objects.create(
                benchmark=self.benchmark,
                dataset=self.options.dataset,
                scheme=self.scheme,
                file_name=self.options.file_name[:255],
                file_digest=digest,
                shape=shape,
                options=self.options.stored(),
                created_by=self.by,
                created_at=self.at,
            )
            copy_rows(SourceLabel, LABEL_COLUMNS, self._label_rows(labels, records, cases, row))
            rows: list[Reading | MissingReading] = [*readings, *missing]
            names = dict.fromkeys(own.candidate for own in rows)
            candidates = {name: self.candidates.get(name, Candidate.Kind.MODEL).pk for name in names}
            copy_rows(AcuityReading, READING_COLUMNS, self._reading_rows(readings, missing, cases, candidates, row))
        counts["labels"] = {"created": len(labels), "unchanged": n_labels_known}
        counts["candidates"] = {"created": self.candidates.created, "unchanged": self.candidates.unchanged}
        counts["readings"] = {"created": len(readings), "unchanged": n_readings_known}
        counts["missing readings"] = {"created": len(missing), "unchanged": n_missing_known}
        return {name: count for name, count in counts.items() if any(count.values())}

    def _preview(self, records: AcuityRecords) -> dict[str, Any]:
        labels = [*records.without_rule, *dict.fromkeys(records.source_labels.values())]
        return {
            "file": self.options.file_name,
            **preview_of(records, self.scale, self.scheme, self.faults),
            "fitting": fitting_rows(self.benchmark, labels),
            "notes": [*self.notes, *self._notes_of_votes(records)],
        }

    def _notes_of_votes(self, records: AcuityRecords) -> Iterator[str]:
        """A note where a file could be of physicians' votes, which would become readings of candidates here."""
        if records.readings and (self.shape == WIDE or "physician" in records.unused):
            yield _(
                "All readings in this file will be assigned to candidates: %(names)s. If these are "
                "physicians, import the file under Imports as “Acuity: physicians’ votes” instead."
            ) % {"names": _quoted(sorted({reading.candidate for reading in records.readings}))}

    def _notes_of_same_file(self, digest: str, records: AcuityRecords) -> Iterator[str]:
        """A note where this very file was imported before as other candidates, which it would add a second time."""
        rows: Iterable[Reading | MissingReading] = chain(records.readings, records.missing)
        names = {row.candidate for row in rows}
        earlier = AcuityReading.objects.filter(
            acuity_import__benchmark=self.benchmark, acuity_import__file_digest=digest, scale=self.scale
        )
        stored = dict(
            earlier.order_by("-acuity_import").values_list("candidate__name", "acuity_import__file_name").distinct()
        )
        others = [name for name in stored if name not in names]
        if names - set(stored) and others:
            yield _(
                "This file was already imported as %(before)s (%(file)s). You are now importing it as "
                "%(now)s, so its readings will count a second time, under another candidate."
            ) % {
                "before": _quoted(others),
                "file": stored[others[0]][:80],
                "now": _quoted(sorted(names - set(stored))),
            }

    def _refuse_names(self, records: AcuityRecords) -> None:
        """Refuse names that no field held within its limits: of files, of columns, and those made of several fields."""
        refused: set[str] = set()
        rows: Iterable[Reading | MissingReading] = chain(records.readings, records.missing)
        for row in rows:
            for field, name in (("candidate", row.candidate), ("case", row.case)):
                if name in refused or not (len(name) > MAX_KEY_LENGTH or (name == ALL and field == "candidate")):
                    continue
                refused.add(name)
                if name == ALL:
                    self.faults.add(row.line, field, _("A candidate cannot be called “all”."))
                else:
                    message = _("A name can have at most %(n)s characters: “%(name)s…”.")
                    self.faults.add(row.line, field, message % {"n": MAX_KEY_LENGTH, "name": name[:40]})

    # Comparing with what is stored

    def _known_cases(self, keys: Iterable[str]) -> dict[str, Case]:
        cases: dict[str, Case] = {}
        for some in chunks(keys, LOOKUP):
            rows = Case.with_stubs.filter(benchmark=self.benchmark, key__in=some)
            cases.update((case.key, case) for case in rows.only("key", "conversation", "is_stub", "metadata"))
        return cases

    def _compare_texts(self, records: AcuityRecords, known: Mapping[str, Case]) -> None:
        """Refuse another text than that of a stored case."""
        for key, (line, text) in records.texts.items():
            case = known.get(key)
            if case is None or case.is_stub or case.conversation == _conversation(text):
                continue
            stored, here = (text_digest(own)[:12] for own in (conversation_text(case.conversation), text))
            message = _("The case “%(key)s” is stored with a different text (SHA-256 %(stored)s…, here %(here)s…).")
            self.faults.add(line, "text", message % {"key": key[:80], "stored": stored, "here": here})

    def _new_labels(self, records: AcuityRecords, known: Mapping[str, Case]) -> tuple[list[str], int]:
        """The cases whose labels are not stored yet, and the number of those that are; another label is a fault."""
        key_of = {case.pk: key for key, case in known.items()}
        stored: dict[str, tuple[str, bool | None]] = {}
        rows = SourceLabel.objects.filter(dataset=self.options.dataset, scheme=self.scheme)
        for some in chunks(key_of, LOOKUP):
            own = rows.filter(case__in=some).values_list("case_id", "label", "is_flagged")
            stored.update((key_of[case], (label, flag)) for case, label, flag in own)
        for key, flag in records.flags.items():
            if key in stored and stored[key][1] is not flag:
                message = _("The label of the case “%(key)s” is stored with a different flag, or with none.")
                self.faults.add(records.flag_lines[key], "ambiguous", message % {"key": key[:80]})
            elif key not in stored and key not in records.labels:
                message = _("The case “%(key)s” has a flag but no label in this file. Add the label.")
                self.faults.add(records.flag_lines[key], "ambiguous", message % {"key": key[:80]})
        for key, (label, _flag) in stored.items():
            if key in records.labels and folded(label) != folded(records.source_labels[key]):
                message = _("The case “%(key)s” already has a different label in this dataset: “%(label)s”.")
                line = records.label_lines[key]
                self.faults.add(line, "label", message % {"key": key[:80], "label": label[:80]})
        new = [key for key in records.labels if key not in stored]
        return new, len(records.labels) - len(new)

    def _new_readings(self, records: AcuityRecords, known: Mapping[str, Case]) -> tuple[list[Reading], int]:
        """The readings that are not stored yet, and the number of those that are; another answer is a fault."""
        names = {reading.candidate for reading in records.readings}
        stored: dict[tuple[str, str, str, int], _StoredReading] = {}
        rows = AcuityReading.objects.filter(scale=self.scale, candidate__name__in=names, source=IMPORTED)
        rows = rows.exclude(state="missing")
        key_of = {case.pk: key for key, case in known.items()}
        if names and key_of and rows.exists():
            columns = ("case_id", "candidate__name", "format", "sample", "state", "level", "confidence", "text")
            for case, *place, state, level, confidence, text, file, line in rows.values_list(
                *columns, "acuity_import__file_name", "line"
            ):
                if case in key_of:
                    name, format_, sample = place
                    stored[key_of[case], name, format_, sample] = _StoredReading(
                        state, level, confidence, text, file, line
                    )
        new = []
        for reading in records.readings:
            before = stored.get((reading.case, reading.candidate, reading.format, reading.sample))
            if before is None:
                new.append(reading)
                continue
            given = {"candidate": reading.candidate[:80], "line": before.line, "file": before.file[:80]}
            if not before.is_same_answer(reading):
                message = _("“%(candidate)s” has a different answer in this sample: line %(line)s of %(file)s.")
                self.faults.add(reading.line, "sample", message % given)
            elif reading.confidence is not None and reading.confidence != before.confidence:
                message = _("“%(candidate)s” has a different confidence in this sample: line %(line)s of %(file)s.")
                self.faults.add(reading.line, "confidence", message % given)
        return new, len(records.readings) - len(new)

    def _new_missing(self, records: AcuityRecords, known: Mapping[str, Case]) -> tuple[list[MissingReading], int]:
        """Answers that were asked for and not given, where no other row of the file gives them."""
        if not records.missing:
            return [], 0
        given = {(row.case, row.candidate, row.format, row.sample) for row in records.readings}
        rows = {(row.case, row.candidate, row.format, row.sample): row for row in records.missing}
        names = {row.candidate for row in records.missing}
        key_of = {case.pk: key for key, case in known.items()}
        stored = set()
        if names and key_of:
            own = AcuityReading.objects.filter(scale=self.scale, candidate__name__in=names, source=IMPORTED)
            columns = ("case_id", "candidate__name", "format", "sample")
            stored = {(key_of[row[0]], *row[1:]) for row in own.values_list(*columns) if row[0] in key_of}
        new = [row for place, row in rows.items() if place not in given and place not in stored]
        return new, sum(place in stored for place in rows if place not in given)

    # Writing

    def _write_cases(
        self, keys: list[str], records: AcuityRecords, known: dict[str, Case]
    ) -> tuple[dict[str, int], Counts]:
        """Write the new cases, stubs where nothing but their key is known; ids by key, and the counts."""
        new = [key for key in keys if key not in known]
        ids = dict(zip(new, reserve_ids(Case, len(new)), strict=True))
        copy_rows(Case, CASE_COLUMNS, (self._case_row(pk, key, records) for key, pk in ids.items()))
        filled = [case for key, case in known.items() if case.is_stub and key in records.texts]
        for case in filled:
            case.conversation, case.is_stub = _conversation(records.texts[case.key][1]), False
            case.metadata = {**case.metadata, **self._metadata(case.key, records)}
        Case.with_stubs.bulk_update(filled, ["conversation", "is_stub", "metadata"], batch_size=500)
        stubs = sum(key not in records.texts for key in new)
        stubs_known = sum(case.is_stub for case in known.values())
        counts: Counts = {
            "cases": {
                "created": len(new) - stubs + len(filled),
                "unchanged": len(known) - len(filled) - stubs_known,
            },
            "stubs": {"created": stubs, "unchanged": stubs_known},
        }
        return {**ids, **{key: case.pk for key, case in known.items()}}, counts

    def _case_row(self, pk: int, key: str, records: AcuityRecords) -> tuple[Any, ...]:
        text = records.texts.get(key)
        conversation = _conversation(text[1]) if text else []
        return (
            *(pk, new_public_id(), self.benchmark.pk, key, Jsonb(conversation), "", "", "", "", "{}", "{}"),
            *(Jsonb(self._metadata(key, records)), self.at, text is None),
        )

    def _metadata(self, key: str, records: AcuityRecords) -> dict[str, dict[str, str]]:
        """Under a key that no release gives out."""
        diagnosis = records.diagnoses.get(key)
        known = {"dataset": self.options.dataset} | ({"correct_diagnosis": diagnosis} if diagnosis else {})
        return {"acuity": known}

    def _label_rows(
        self, labels: list[str], records: AcuityRecords, cases: Mapping[str, int], row: AcuityImport
    ) -> Iterator[tuple[Any, ...]]:
        for key in labels:
            mapped = records.labels[key]
            yield (
                *(cases[key], self.options.dataset, records.source_ids.get(key, key), records.source_labels[key]),
                *(self.scheme.pk, mapped.how.value, mapped.low, mapped.high, row.pk, records.label_lines[key]),
                records.flags.get(key),
            )

    def _reading_rows(
        self,
        readings: list[Reading],
        missing: list[MissingReading],
        cases: Mapping[str, int],
        candidates: Mapping[str, int],
        row: AcuityImport,
    ) -> Iterator[tuple[Any, ...]]:
        imported = IMPORTED.value
        for reading in readings:
            answer = reading.answer
            yield (
                *(self.scale.pk, cases[reading.case], candidates[reading.candidate], reading.format, reading.sample),
                *(imported, row.pk, reading.line, answer.state.word, answer.place if answer.place >= 0 else None),
                *(reading.confidence, reading.text),
            )
        for gap in missing:
            yield (
                *(self.scale.pk, cases[gap.case], candidates[gap.candidate], gap.format, gap.sample),
                *(imported, row.pk, gap.line, AcuityReading.State.MISSING.value, None, None, ""),
            )


def _with_fitting_scheme(benchmark: Benchmark, options: _Options, file: BinaryIO) -> _Options:
    """The options with the scheme and scale that fit the labels of the file best; those of readings where it has none.

    What does not fit is refused later, label by label.
    """
    schemes = [scheme for scheme in selectors.schemes_on_offer(benchmark) if options.scale in ("", scheme.scale.name)]
    if not schemes:
        raise DomainError(_("There is no scale “%(name)s”.") % {"name": options.scale[:80]}, field="scale")
    # A scheme without rules: every label is noted, and no reading of a labelled case is looked at.
    reader = AcuityReader(
        schemes[0].scale, Scheme(BY_LABELS, schemes[0].scale, {}), refuse_without_rule=False, dataset=options.dataset
    )
    reader.read_file(file, options.file_name, options.shape)
    file.seek(0)
    labels = list(reader.records.without_rule) or [reading.text for reading in reader.records.readings]
    best = fits(list(dict.fromkeys(labels)), schemes)[0]
    return replace(options, scheme=best.scheme, scale=best.scale)


def _conversation(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def _quoted(names: list[str]) -> str:
    """At most three names, and how many more there are."""
    more = f" … (+{len(names) - 3})" if len(names) > 3 else ""
    return ", ".join(f"“{name[:80]}”" for name in names[:3]) + more


def _notes_of_gaps(records: AcuityRecords) -> Iterator[str]:
    """A note for each candidate of which the file has fewer samples on some cases than on others, in one format."""
    rows: Iterable[Reading | MissingReading] = chain(records.readings, records.missing)
    samples: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        samples.setdefault((row.candidate, row.format), Counter())[row.case] += 1
    for (candidate, format_), cases in samples.items():
        most = max(cases.values())
        short = [case for case, n in cases.items() if n < most]
        if short:
            n = sum(most - cases[case] for case in short)
            message = ngettext(
                "%(candidate)s (%(format)s) has %(most)s samples on some cases and is %(n)s sample short "
                "in total on others (%(cases)s). Reports count it as requested but missing.",
                "%(candidate)s (%(format)s) has %(most)s samples on some cases and is %(n)s samples "
                "short in total on others (%(cases)s). Reports count them as requested but missing.",
                n,
            )
            yield message % {
                "candidate": candidate[:80],
                "format": AcuityReading.Format(format_).label,
                "most": most,
                "n": n,
                "cases": f"{', '.join(short[:10])}{' …' if len(short) > 10 else ''}",
            }


def _notes_of_labels(records: AcuityRecords, scheme: Scheme) -> Iterator[str]:
    """A note where readings are labels that the scheme sends to two levels or to the panel, so that none is usable."""
    texts = Counter(reading.text for reading in records.readings if reading.answer.state is State.SEVERAL)
    wide = {text: n for text, n in texts.items() if scheme.mapped(text) is not None and "|" not in text}
    if wide:
        n = sum(wide.values())
        message = ngettext(
            "%(n)s reading has a label for which the scheme gives no single level (%(labels)s), so it is "
            "not usable. Another scheme may map each label to one level.",
            "%(n)s readings have labels for which the scheme gives no single level (%(labels)s), so they "
            "are not usable. Another scheme may map each label to one level.",
            n,
        )
        yield message % {"n": n, "labels": _quoted(sorted(wide))}


def _warnings(records: AcuityRecords) -> Iterator[str]:
    """What a person should know of rows that were stored and are not counted, or not used."""
    states = Counter(reading.answer.state.word for reading in records.readings)
    names = dict(AcuityReading.State.choices)
    unusable = {state: n for state, n in states.items() if state != AcuityReading.State.LEVEL}
    if unusable:
        number = sum(unusable.values())
        message = ngettext(
            "%(n)s reading does not indicate a single level (%(states)s); it is kept verbatim and counted.",
            "%(n)s readings do not indicate a single level (%(states)s); they are kept verbatim and counted.",
            number,
        )
        listed = ", ".join(f"{names[state]}: {n}" for state, n in sorted(unusable.items()))
        yield message % {"n": number, "states": listed}
    if records.contradictions:
        message = ngettext(
            "%(n)s stored flag contradicts its label and level (lines %(lines)s) and was not used.",
            "%(n)s stored flags contradict their label and level (lines %(lines)s) and were not used.",
            records.contradictions,
        )
        lines = ", ".join(map(str, records.first_contradictions[:10]))
        yield message % {"n": records.contradictions, "lines": lines}
    if records.unused:
        yield _("Columns that were not read: %(names)s.") % {"names": ", ".join(sorted(records.unused))[:300]}
