"""``import_verdicts``: verdicts of judges made elsewhere become a finished run of an imported judge."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.imports.decisions import Places
from consilium.lib.errors import DomainError
from consilium.llm.parsing import storable
from rubrics.imports.bulk import check_references_at_once, chunks, copy_rows, reserve_ids
from rubrics.imports.candidates import Candidates
from rubrics.imports.case_rows import CaseWriter
from rubrics.imports.registry import Counts, Progress
from rubrics.imports.response_rows import NewResponse, ResponseWriter
from rubrics.models import Benchmark, Candidate, Case, RubricItem
from rubrics.parsing.decisions import DecisionReader
from rubrics.parsing.faults import Faults
from scoring.judge_config import check_judge_name
from scoring.models import JudgeRun, JudgeRunItem, Verdict
from scoring.services.judges import imported_judge
from scoring.verdict_files import OUTCOMES, GradedResponse, is_graded_responses, read_graded_responses

CHUNK = 500
VERDICT_COLUMNS = (
    *("id", "run", "response", "criterion", "replicate", "outcome", "probability", "explanation", "call"),
    "created_at",
)


@dataclass(frozen=True, slots=True)
class _Said:
    line: int
    outcome: str
    explanation: str


@dataclass(slots=True)
class _Collected:
    """Verdicts by (response, criterion), and the rubric of each response."""

    faults: Faults
    said: dict[tuple[int, int], _Said] = field(default_factory=dict)
    rubrics: dict[int, int] = field(default_factory=dict)

    def add(self, response: int, criterion: int, rubric: int, said: _Said) -> None:
        known = self.said.get((response, criterion))
        if known is not None:
            message = _("This verdict stands on line %(line)s already.") % {"line": known.line}
            self.faults.add(said.line, "criterion", message)
            return
        self.said[response, criterion] = said
        self.rubrics[response] = rubric

    def ordered(self) -> Iterator[tuple[int, int, _Said]]:
        for response, criterion in sorted(self.said):
            yield response, criterion, self.said[response, criterion]

    def digest(self) -> str:
        """SHA-256 of what was said, whatever the order of the file."""
        made = hashlib.sha256()
        for response, criterion, said in self.ordered():
            made.update(f"{response}\x1f{criterion}\x1f{said.outcome}\x1f{said.explanation}\x1e".encode())
        return made.hexdigest()


@transaction.atomic
def import_verdicts(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import verdicts as one run of the judge called by option ``judge``; the same verdicts again change nothing.

    Option ``candidate`` names the candidate of rows that name none. `ImportRefused` names every fault and then nothing
    is written.
    """
    name = check_judge_name(options.get("judge", "").strip())
    candidate = options.get("candidate", "").strip()
    check_references_at_once()
    faults = Faults()
    collected = _Collected(faults)
    counts: Counts = {}
    if is_graded_responses(file):
        counts = _graded_responses(benchmark, file, candidate, collected, at, progress)
    else:
        counts = _rows(benchmark, file, candidate, collected, progress)
    faults.refuse_if_any()
    if not collected.said:
        raise DomainError(_("The file holds no verdicts."))
    judge = imported_judge(benchmark=benchmark, name=name, by=by)
    digest = collected.digest()
    known = JudgeRun.objects.filter(judge=judge, benchmark=benchmark, snapshot__digest=digest).exists()
    if not known:
        run = JudgeRun.objects.create(
            benchmark=benchmark,
            judge=judge,
            status=JudgeRun.Status.FINISHED,
            frame={"imported": True},
            snapshot={"name": judge.name, "version": judge.version, "kind": judge.kind, "digest": digest},
            expected=_due(collected),
            imported=True,
            created_by=by,
            created_at=at,
            started_at=at,
            finished_at=at,
        )
        _write(run, collected, at)
    new = 0 if known else len(collected.said)
    by_outcome = Counter(said.outcome for said in collected.said.values())
    counts["runs"] = {"created": int(not known), "unchanged": int(known)}
    counts["verdicts"] = {"created": new, "unchanged": len(collected.said) - new}
    missing = _due(collected) - len(collected.said)
    warnings = counts.pop("warnings", [])
    if by_outcome["invalid"]:
        warnings.append(_("%(n)s verdicts are invalid.") % {"n": by_outcome["invalid"]})
    if missing:
        warnings.append(_("%(n)s criteria of these responses have no verdict in the file.") % {"n": missing})
    if warnings:
        counts["warnings"] = warnings
    return counts


def _rows(benchmark: Benchmark, file: BinaryIO, candidate: str, collected: _Collected, progress: Progress) -> Counts:
    """Shape (a)."""
    places = Places(benchmark, collected.faults)
    reader = DecisionReader(
        file, collected.faults, outcomes=OUTCOMES, candidate=candidate, rater=False, progress=progress
    )
    for records in chunks(reader, CHUNK):
        places.learn(records)
        for record in records:
            found = places.find(record)
            if found is not None:
                sheet, response, criterion = found
                said = _Said(record.line, record.outcome, storable(record.explanation or record.note))
                collected.add(response, criterion, sheet.rubric, said)
    if reader.unused:
        names = ", ".join(sorted(reader.unused)[:10])
        return {"warnings": [_("Columns that were not read: %(names)s.") % {"names": names}]}
    return {}


def _graded_responses(
    benchmark: Benchmark,
    file: BinaryIO,
    candidate: str,
    collected: _Collected,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Shape (b): cases and responses are made where they are missing."""
    faults = collected.faults
    candidates = Candidates(benchmark)
    cases = CaseWriter(benchmark, faults, at, provenance="import")
    responses = ResponseWriter(benchmark, faults, at)
    samples: Counter[tuple[str, str]] = Counter()
    made: set[str] = set()
    for rows in chunks(read_graded_responses(file, faults, candidate=candidate, progress=progress), CHUNK):
        rubrics = _rubrics_of(benchmark, rows, cases, made, faults)
        new: list[tuple[GradedResponse, NewResponse]] = []
        for row in rows:
            sheet = rubrics.get(row.key)
            if sheet is None:
                continue
            sample = samples[row.key, row.candidate] if row.sample is None else row.sample
            samples[row.key, row.candidate] += 1
            response = NewResponse(
                line=row.line,
                place=row.text_field,
                case_id=sheet.case,
                candidate=candidates.get(row.candidate, Candidate.Kind.MODEL),
                sample=sample,
                text=row.text,
            )
            new.append((row, response))
        ids = responses.write([response for _row, response in new])
        for row, response in new:
            criteria = rubrics[row.key].criteria_of(row, faults)
            if response.key in ids and criteria is not None:
                for criterion, grade in zip(criteria, row.grades, strict=True):
                    said = _Said(row.line, grade.outcome, storable(grade.explanation))
                    collected.add(ids[response.key], criterion, rubrics[row.key].rubric, said)
    if not faults.total:
        cases.publish()
    return {
        "cases": dict(cases.cases),
        "criteria": dict(cases.criteria),
        "candidates": {"created": candidates.created, "unchanged": candidates.unchanged},
        "responses": {"created": responses.created, "unchanged": responses.unchanged},
        "warnings": [*cases.warnings(), *responses.warnings()],
    }


@dataclass(slots=True)
class _Sheet:
    """The rubric of a case as it stands: (criterion, text, points) in order."""

    case: int
    rubric: int
    items: list[tuple[int, str, int]] = field(default_factory=list)

    def criteria_of(self, row: GradedResponse, faults: Faults) -> list[int] | None:
        """The criteria that the row's grades are about, in the row's order; None and a fault where they differ."""
        wanted = [(criterion.text, criterion.points) for criterion in row.criteria]
        if wanted == [(text, points) for _pk, text, points in self.items]:
            return [pk for pk, _text, _points in self.items]
        by_text = {(text, points): pk for pk, text, points in self.items}
        found = [by_text.get(each) for each in wanted]
        # Another order is fine, as long as each text is there once.
        if len(by_text) == len(self.items) == len(set(wanted)) and None not in found:
            return [pk for pk in found if pk is not None]
        faults.add(row.line, "rubrics", _("These are not the criteria and points of the case’s published rubric."))
        return None


def _rubrics_of(
    benchmark: Benchmark, rows: list[GradedResponse], cases: CaseWriter, made: set[str], faults: Faults
) -> dict[str, _Sheet]:
    """The sheets of the rows' cases; missing cases are written first (and noted in ``made``), others are faults."""
    keys = {row.key for row in rows}
    known = set(Case.objects.filter(benchmark=benchmark, key__in=keys).values_list("key", flat=True)) - made
    first: dict[str, GradedResponse] = {}
    for row in rows:
        if row.key in known or row.key in made or row.key in first:
            continue
        if row.case is None:
            message = _("There is no case “%(key)s” in this benchmark, and the row has no prompt to make it from.")
            faults.add(row.line, "prompt_id", message % {"key": row.key[:80]})
        else:
            first[row.key] = row
    cases.write([row.case for row in first.values() if row.case is not None])
    made |= first.keys()
    sheets: dict[str, _Sheet] = {}
    # A case that this file makes has its rubric as a draft until the end; one that was there has it published.
    items = RubricItem.objects.filter(
        Q(rubric__status="published", rubric__case__key__in=known)
        | Q(rubric__status="draft", rubric__case__key__in=keys - known),
        rubric__case__benchmark=benchmark,
        rubric__track="gold",
    )
    columns = ("rubric__case__key", "rubric__case_id", "rubric_id", "criterion_id", "criterion__text", "points")
    for key, case, rubric, criterion, text, points in items.order_by("rubric", "position").values_list(*columns):
        sheets.setdefault(key, _Sheet(case, rubric)).items.append((criterion, text, points))
    for row in rows:
        if row.key in known and row.key not in sheets:
            faults.add(row.line, "prompt_id", _("This case has no published rubric."))
    return sheets


def _due(collected: _Collected) -> int:
    """Criteria of the rubrics of all responses."""
    uses = Counter(collected.rubrics.values())
    per_rubric = Counter(RubricItem.objects.filter(rubric__in=uses).values_list("rubric", flat=True))
    return sum(per_rubric[rubric] * count for rubric, count in uses.items())


def _write(run: JudgeRun, collected: _Collected, at: datetime) -> None:
    items = sorted(collected.rubrics.items())
    copy_rows(
        JudgeRunItem,
        ("id", "run", "response", "rubric"),
        ((pk, run.pk, *item) for pk, item in zip(reserve_ids(JudgeRunItem, len(items)), items, strict=True)),
    )
    ids = reserve_ids(Verdict, len(collected.said))
    copy_rows(
        Verdict,
        VERDICT_COLUMNS,
        (
            (pk, run.pk, response, criterion, 0, said.outcome, None, said.explanation, None, at)
            for pk, (response, criterion, said) in zip(ids, collected.ordered(), strict=True)
        ),
    )
