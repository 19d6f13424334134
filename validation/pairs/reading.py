"""Reads near-miss pairs from a file: JSONL, or a CSV with the same names as columns.

Each has ``case`` (a key), ``kind``, and either ``reference`` and ``candidate``, or ``find`` and ``replace``. Without
``reference`` the case's reference answer is meant. Optional: ``pair`` (a key), ``axis``, ``why``, ``change``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from consilium.core.jobs import Progress, no_progress
from consilium.core.limits import MAX_AXIS_LENGTH, MAX_PAIR_CHANGE_LENGTH, MAX_REASON_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.decisions import read_table, starts_with_object
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids
from rubrics.parsing.reader import Limits, RecordReader
from validation.near_miss import ChangedSpan, UnusableEdit, change_words, changed_span, import_warning, near_miss
from validation.sets.content import AXIS_PREFIX

REQUIRED = ("case", "kind")
TEXTS = ("reference", "candidate", "find", "replace")
MAX_PAIRS = 20_000
MAX_TEXT_LENGTH = 200_000
LIMITS = Limits(total_bytes=1 << 30)


@dataclass(frozen=True, slots=True)
class PairRow:
    """A sound pair of a file. ``key`` is empty where the file names none."""

    line: int
    case: str
    key: str
    kind: str
    reference: str
    candidate: str
    span: ChangedSpan
    axis: str
    change: str
    why: str
    warning: str


class PairReader:
    """Yields the sound pairs of ``file``; all faults are in ``faults`` when it ends.

    ``kinds`` are the names of kinds of error. ``reference_of`` gives the reference answer of a case, None where there
    is no such case. `unused` names the fields that nobody read.
    """

    def __init__(
        self,
        file: BinaryIO,
        faults: Faults,
        *,
        kinds: Collection[str],
        reference_of: Callable[[str], str | None],
        progress: Progress = no_progress,
    ) -> None:
        self.file, self.faults, self.kinds = file, faults, kinds
        self.reference_of, self.progress = reference_of, progress
        self.unused: set[str] = set()

    def __iter__(self) -> Iterator[PairRow]:
        keys = Ids("pair")
        for number, (line, record) in enumerate(self._records(), 1):
            if number > MAX_PAIRS:
                self.faults.add(line, "", Phrase("A file has at most %(n)s pairs.", n=MAX_PAIRS))
                return
            fields = Fields(line, record, self.faults)
            row = _row(fields, self.kinds, self.reference_of)
            self.unused.update(name for name in fields.rest() if name)
            if row is None:
                continue
            if row.key:
                keys.add(fields, "pair", row.key)
            if fields.sound:
                yield row

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if starts_with_object(self.file):
            return iter(RecordReader(self.file, self.faults, limits=LIMITS, progress=self.progress))
        return read_table(
            self.file, self.faults, limits=LIMITS, progress=self.progress, columns=REQUIRED, required=REQUIRED
        )


def _row(fields: Fields, kinds: Collection[str], reference_of: Callable[[str], str | None]) -> PairRow | None:
    case, kind = fields.key("case"), fields.choice("kind", kinds)
    key = "" if fields.record.get("pair") in (None, "") else fields.key("pair")
    axis, why, change = (
        fields.text(name, required=False, longest=longest).strip()
        for name, longest in (
            ("axis", MAX_AXIS_LENGTH), ("why", MAX_REASON_LENGTH), ("change", MAX_PAIR_CHANGE_LENGTH),
        )
    )  # fmt: skip
    reference, candidate, find, replace = (fields.text(name, required=False, longest=MAX_TEXT_LENGTH) for name in TEXTS)
    if not fields.sound:
        return None
    known = reference_of(case)
    if known is None:
        fields.fault("case", Phrase("There is no case “%(key)s” in this benchmark.", key=case[:80]))
        return None
    reference = reference or known
    if not reference.strip():
        fields.fault("reference", Phrase("The case has no reference answer, so the file must give the reference."))
        return None
    if bool(find) == bool(candidate):
        fields.fault("candidate", Phrase("Give either candidate, or find and replace."))
        return None
    span, candidate = _changed(fields, reference, candidate, find, replace)
    if span is None:
        return None
    before, after = reference[span.start : span.reference_end], candidate[span.start : span.candidate_end]
    return PairRow(
        line=fields.line,
        case=case,
        key=key,
        kind=kind,
        reference=reference,
        candidate=candidate,
        span=span,
        axis=axis.removeprefix(AXIS_PREFIX),
        change=change or change_words(before, after),
        why=why,
        warning=import_warning(reference, candidate, span),
    )


def _changed(fields: Fields, reference: str, candidate: str, find: str, replace: str) -> tuple[ChangedSpan | None, str]:
    """Where the texts differ, and the candidate; None after a fault."""
    if find:
        try:
            miss = near_miss(reference, find, replace)
        except UnusableEdit as error:
            fields.fault("find", error.phrase)
            return None, ""
        return miss.span, miss.candidate
    span = changed_span(reference, candidate)
    if span is None:
        fields.fault("candidate", Phrase("The text with the error (candidate) is the same as the reference."))
    return span, candidate
