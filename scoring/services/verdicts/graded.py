"""Shapes (b) and (d): responses with their rubric and grades. Missing cases and responses are created."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consilium.llm.parsing import storable
from rubrics.imports.bulk import weighed_chunks
from rubrics.imports.candidates import Candidates
from rubrics.imports.case_rows import CaseWriter
from rubrics.imports.registry import Counts
from rubrics.imports.response_rows import NewResponse, ResponseWriter
from rubrics.models import Benchmark, Candidate, Case
from rubrics.parsing.faults import Faults
from scoring.services.verdicts.collected import Collected, CollectedVerdict
from scoring.services.verdicts.sheets import Sheet, sheets_of
from scoring.verdict_files import GradedResponse

CHUNK = 500
CHUNK_CHARACTERS = 4 << 20  # a response may be long
SCORE_TOLERANCE = 1e-9
NAMED = 10


@dataclass(slots=True)
class _Samples:
    """The number of each response: from its row, or by the order of the file among those of case and candidate."""

    faults: Faults
    _next: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    _lines: dict[tuple[str, str, int, int], int] = field(default_factory=dict)

    def of(self, row: GradedResponse) -> int | None:
        """The sample of ``row``; None and a fault where the file has that response and replicate already."""
        counted = (row.key, row.candidate, row.replicate)
        sample = self._next[counted] if row.sample is None else row.sample
        self._next[counted] += 1
        known = self._lines.get((row.key, row.candidate, sample, row.replicate))
        if known is None:
            self._lines[row.key, row.candidate, sample, row.replicate] = row.line
            return sample
        message = _("Sample %(sample)s of this case and candidate is already on line %(line)s.")
        self.faults.add(row.line, row.key_field, message % {"sample": sample, "line": known})
        return None


@dataclass(slots=True)
class _StoredScores:
    """The scores that rows carry, against those that their grades give."""

    compared: int = 0
    differ: int = 0
    first: list[str] = field(default_factory=list)

    def compare(self, row: GradedResponse) -> None:
        """Compare the score of one row, if it carries one."""
        if row.stored_score is None:
            return
        self.compared += 1
        score = row.score()
        if score is not None and abs(score - row.stored_score) <= SCORE_TOLERANCE:
            return
        self.differ += 1
        if len(self.first) < NAMED:
            where = _("line %(line)s") % {"line": row.line} if row.line else row.key_field.rpartition(".")[0]
            computed = _("undefined: no criterion with positive points") if score is None else repr(score)
            figures = {"where": where, "stored": repr(row.stored_score), "computed": computed}
            self.first.append(_("%(where)s: stored %(stored)s, computed %(computed)s") % figures)

    def warnings(self) -> list[str]:
        """One warning with the first differences, or none."""
        if not self.differ:
            return []
        message = ngettext(
            "%(n)d of %(compared)d stored scores does not match its grades. %(first)s.",
            "%(n)d of %(compared)d stored scores do not match their grades. %(first)s.",
            self.differ,
        )
        return [message % {"n": self.differ, "compared": self.compared, "first": "; ".join(self.first)}]


def collect_graded_responses(
    benchmark: Benchmark, rows: Iterator[GradedResponse], collected: Collected, at: datetime
) -> Counts:
    """Note the grades of ``rows``, and write the cases and responses that are not there."""
    faults = collected.faults
    candidates = Candidates(benchmark)
    cases = CaseWriter(benchmark, faults, at, provenance="import")
    responses = ResponseWriter(benchmark, faults, at)
    samples = _Samples(faults)
    scores = _StoredScores()
    new_keys: set[str] = set()
    stood: set[str] = set()
    for chunk in weighed_chunks(rows, CHUNK, weight=CHUNK_CHARACTERS, weigh=GradedResponse.weight):
        rubrics = _rubrics_of(benchmark, chunk, cases, new_keys, faults)
        stood |= rubrics.keys() - new_keys
        new: list[tuple[GradedResponse, NewResponse]] = []
        for row in chunk:
            scores.compare(row)
            sheet = rubrics.get(row.key)
            sample = samples.of(row)
            if sheet is None or sample is None:
                continue
            response = NewResponse(
                line=row.line,
                place=row.text_field,
                case_id=sheet.case,
                candidate=candidates.get(row.candidate, Candidate.Kind.MODEL),
                sample=sample,
                text=row.text,
                external_id=row.external_id,
                metadata=row.metadata,
                only_text=True,
                repeated=row.replicate > 0,
            )
            new.append((row, response))
        ids = responses.write([response for _row, response in new])
        for row, response in new:
            sheet = rubrics[row.key]
            criteria = sheet.same_criteria([(criterion.text, criterion.points) for criterion in row.criteria])
            if criteria is None:
                message = _("These criteria and points do not match the case’s published rubric.")
                faults.add(row.line, row.rubric_field, message)
            elif response.key in ids:
                for criterion, grade in zip(criteria, row.grades, strict=True):
                    verdict = CollectedVerdict(row.line, grade.outcome, storable(grade.explanation))
                    collected.add(ids[response.key], criterion, sheet.rubric, verdict, row.replicate, row.rubric_field)
    cases.cases["unchanged"] += len(stood)
    return {
        "cases": dict(cases.cases),
        "criteria": dict(cases.criteria),
        "candidates": {"created": candidates.created, "unchanged": candidates.unchanged},
        "responses": {"created": responses.created, "unchanged": responses.unchanged},
        "warnings": [*cases.warnings(), *responses.warnings(), *scores.warnings()],
    }


def _rubrics_of(
    benchmark: Benchmark, rows: list[GradedResponse], cases: CaseWriter, new_keys: set[str], faults: Faults
) -> dict[str, Sheet]:
    """The sheets of the rows' cases; missing cases are written first (and noted in ``new_keys``), others are faults."""
    keys = {row.key for row in rows}
    known = set(Case.objects.filter(benchmark=benchmark, key__in=keys).values_list("key", flat=True)) - new_keys
    first: dict[str, GradedResponse] = {}
    for row in rows:
        if row.key in known or row.key in new_keys or row.key in first:
            continue
        if row.case is None:
            message = _(
                "There is no case “%(key)s” in this benchmark, and the row has no prompt from which to create it."
            )
            faults.add(row.line, row.key_field, message % {"key": row.key[:80]})
        else:
            first[row.key] = row
    cases.write([row.case for row in first.values() if row.case is not None])
    new_keys.update(first)
    sheets = sheets_of(benchmark, keys)
    for row in rows:
        if row.key in known and row.key not in sheets:
            faults.add(row.line, row.key_field, _("This case has no published rubric."))
    return sheets
