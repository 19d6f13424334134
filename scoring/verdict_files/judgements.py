"""Shape (c), ClinConsensus' judgement lists: one element a case, with the verdicts on its criteria, by their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from consilium.core.phrases import Phrase
from rubrics.parsing.decisions import replicate_of
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.reader import Limits
from scoring.verdict_files.graded import Grade, candidate_of, grade_of, sample_of
from scoring.verdict_files.records import Container, read_records


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """A list's entry about one response: the texts of criteria with a grade each, maybe none. ``place`` is its own."""

    line: int
    place: str
    case: str
    candidate: str
    sample: int
    replicate: int
    texts: tuple[str, ...]
    grades: tuple[Grade, ...]
    case_field: str = "case_id"

    def weight(self) -> int:
        """About how many characters it holds."""
        return sum(map(len, self.texts)) + sum(len(grade.explanation) for grade in self.grades)

    def field(self, index: int) -> str:
        """The field with the text of a criterion."""
        return f"{self.place}criteria_results[{index}].criterion"


def read_judgements(
    file: BinaryIO,
    faults: Faults,
    container: Container,
    *,
    candidate: str = "",
    replicate: int | None = None,
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[JudgedResponse]:
    """The sound elements of ``file``; everything else is in ``faults`` when the iterator ends."""
    for line, place, record in read_records(file, faults, container, limits=limits, progress=progress):
        fields = Fields(line, record, faults, f"{place}." if place else "")
        element = _element(fields, candidate, replicate)
        if fields.sound:
            yield element


def _element(fields: Fields, candidate: str, replicate: int | None) -> JudgedResponse:
    case_field = fields.name_of("case_id", "case", "prompt_id")
    case = fields.key(case_field)
    name = candidate_of(fields, candidate)
    texts, grades = _results(fields)
    return JudgedResponse(
        line=fields.line,
        place=fields.place,
        case=case,
        candidate=name,
        sample=sample_of(fields) or 0,
        replicate=replicate_of(fields, replicate),
        texts=tuple(texts),
        grades=tuple(grades),
        case_field=f"{fields.place}{case_field}",
    )


def _results(fields: Fields) -> tuple[list[str], list[Grade]]:
    texts: list[str] = []
    grades: list[Grade] = []
    if fields.record.get("criteria_results") == []:  # no verdicts, which is no fault
        return texts, grades
    for index, result in enumerate(fields.objects("criteria_results", what=Phrase("criterion"))):
        inner = fields.within(f"criteria_results[{index}]", result)
        if inner is None:
            continue
        texts.append(inner.text("criterion"))
        grades.append(grade_of(inner.record))
        fields.absorb(inner)
    return texts, grades
