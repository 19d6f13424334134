"""Cases with their rubrics from a file, and the completions that came with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress, no_progress
from rubrics.imports.bulk import check_references_at_once
from rubrics.imports.candidates import Candidates
from rubrics.imports.case_rows import CaseWriter
from rubrics.imports.prefetch import prefetch_chunks
from rubrics.imports.prescan import prescan
from rubrics.imports.registry import Counts
from rubrics.imports.response_rows import NewResponse, ResponseWriter
from rubrics.imports.tables import check_table_options, notes_of, open_table
from rubrics.models import Benchmark, Candidate
from rubrics.parsing.cases import FORMATS, CaseRecord, read_cases
from rubrics.parsing.faults import Faults
from rubrics.tables.case_table import CASES, read_case_table

CHUNK = 1000
CHUNK_CHARACTERS = 4 << 20  # a line may be long, and three chunks are in memory at a time
# The candidates to which completions inside a case file belong.
KINDS = {"physician": Candidate.Kind.PHYSICIAN, "reference": Candidate.Kind.REFERENCE}


@transaction.atomic
def import_cases(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import cases; their rubrics arrive published. `ImportRefused` names every fault and then nothing is written.

    The file is JSONL or a table, whose options `rubrics.tables.table.table_of` names. Option ``format``, of JSONL:
    ``auto`` (by the keys of the first record), or one of `FORMATS`.
    """
    form = _checked_format(options)
    check_references_at_once()
    faults = Faults()
    candidates = Candidates(benchmark)
    cases = CaseWriter(benchmark, faults, at, provenance="import")
    responses = ResponseWriter(benchmark, faults, at)
    canary = benchmark.canary

    table = open_table(file, CASES, options)
    faults.locate = table.place if table else None

    def read(faults: Faults, progress: Progress = progress) -> Iterator[CaseRecord]:
        if table:
            return read_case_table(file, table, faults, progress)
        return read_cases(file, faults, form=form, progress=progress)

    prescan(file, lambda first: read(first, no_progress), written=True)
    for chunk in prefetch_chunks(read, faults, rows=CHUNK, weight=CHUNK_CHARACTERS, weigh=CaseRecord.weight):
        ids = cases.write(chunk)
        responses.write(_completions(chunk, ids, candidates, faults))
        canary = canary or next((record.canary for record in chunk if record.canary), "")
    faults.refuse_if_any()
    if canary != benchmark.canary:
        benchmark.canary = canary
        benchmark.save(update_fields=["canary"])
    return {
        "cases": dict(cases.cases),
        "criteria": dict(cases.criteria),
        "candidates": {"created": candidates.created, "unchanged": candidates.unchanged},
        "responses": {"created": responses.created, "unchanged": responses.unchanged},
        "warnings": [*notes_of(table), *cases.warnings(), *responses.warnings()],
    }


def check_case_options(*, benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> None:
    """`DomainError` on an option that cannot be right, whatever the file is."""
    _checked_format(options)
    check_table_options(options)


def _checked_format(options: Mapping[str, str]) -> str:
    form = options.get("format") or "auto"
    if form not in ("auto", *FORMATS):
        message = _("The format must be one of: %(formats)s.") % {"formats": ", ".join(("auto", *FORMATS))}
        raise DomainError(message, field="format")
    return form


def _completions(
    chunk: list[CaseRecord], ids: dict[str, int], candidates: Candidates, faults: Faults
) -> list[NewResponse]:
    """The answers inside case records, as responses of the candidates ``physician`` and ``reference``."""
    completions = []
    for record in chunk:
        if record.key not in ids:
            continue
        for completion in record.completions:
            kind = KINDS[completion.by]
            if mismatch := candidates.mismatch(completion.by, kind):
                faults.add(record.line, completion.field, mismatch)
                continue
            completions.append(
                NewResponse(
                    line=record.line,
                    place=completion.field,
                    case_id=ids[record.key],
                    candidate=candidates.get(completion.by, kind),
                    sample=completion.sample,
                    text=completion.text,
                    writing_mode=completion.writing_mode,
                    metadata=dict(completion.metadata),
                )
            )
    return completions
