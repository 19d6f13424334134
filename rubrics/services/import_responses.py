"""Imports responses from a file."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import Progress, no_progress
from consilium.core.locks import RowLock, lock_exclusive_within
from rubrics.imports.bulk import check_references_at_once, weighed_chunks
from rubrics.imports.candidates import Candidates
from rubrics.imports.prescan import prescan
from rubrics.imports.registry import Counts
from rubrics.imports.response_rows import NewResponse, ResponseWriter
from rubrics.imports.shown_references import ShownReferences
from rubrics.imports.tables import check_table_options, notes_of, open_table
from rubrics.imports.unknown_cases import UnknownCases
from rubrics.models import Benchmark, Candidate, Case
from rubrics.parsing.faults import Faults
from rubrics.parsing.responses import ResponseRecord, read_responses
from rubrics.tables.response_table import RESPONSES, read_response_table

CHUNK = 500
MAX_WAIT_S = 10  # of a request for a running import; less than a web server waits for its answer
CHUNK_CHARACTERS = 4 << 20  # a response may be long


@transaction.atomic
def import_responses(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import responses to cases that are there; `ImportRefused` names every fault and then nothing is written.

    The file is JSONL or a table, whose options `rubrics.tables.table.table_of` names. Options: ``candidate`` names the
    candidate of every row; ``candidate_kind`` is the kind of candidates that are made (model by default), and must be
    that of those that exist.
    """
    kind = _checked_kind(options)
    check_references_at_once()
    faults = Faults()
    candidates = Candidates(benchmark)
    writer = ResponseWriter(benchmark, faults, at)
    candidate = options.get("candidate", "")
    table = open_table(file, RESPONSES, options)
    faults.locate = table.place if table else None
    unknown = UnknownCases(_unknown_rows() if table else _unknown_lines())
    shown = ShownReferences()

    def read(faults: Faults, progress: Progress = progress) -> Iterator[ResponseRecord]:
        if table:
            return read_response_table(file, table, faults, candidate=candidate, progress=progress)
        return read_responses(file, faults, candidate=candidate, progress=progress)

    prescan(file, lambda first: read(first, no_progress), written=True)
    for chunk in weighed_chunks(read(faults), CHUNK, weight=CHUNK_CHARACTERS, weigh=ResponseRecord.weight):
        writer.write(_resolve(chunk, benchmark, candidates, kind, faults, unknown, shown))
    unknown.note(faults)
    shown.note(faults)
    faults.refuse_if_any()
    return {
        "candidates": {"created": candidates.created, "unchanged": candidates.unchanged},
        "responses": {"created": writer.created, "unchanged": writer.unchanged},
        "warnings": [*notes_of(table), *writer.warnings()],
    }


def check_response_options(*, benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> None:
    """`DomainError` on an option that cannot be right, whatever the file is."""
    _checked_kind(options)
    check_table_options(options)


def _checked_kind(options: Mapping[str, str]) -> str:
    kind = options.get("candidate_kind", "")
    if kind and kind not in Candidate.Kind.values:
        message = _("A candidate must be one of: %(kinds)s.") % {"kinds": ", ".join(Candidate.Kind.values)}
        raise DomainError(message, field="candidate_kind")
    return kind


@transaction.atomic
def add_responses(
    *, benchmark: Benchmark, rows: Sequence[Mapping[str, Any]], candidate_kind: str = "", by: User, at: datetime
) -> Counts:
    """Import ``rows``, each with the fields of the file format: all or none. Line 1 of a fault is the first row.

    `Conflict` where another import into the benchmark does not end within `MAX_WAIT_S`.
    """
    if not lock_exclusive_within(RowLock.IMPORT, benchmark.pk, seconds=MAX_WAIT_S):
        raise Conflict(_("Another import into this benchmark is running. Try again when it has finished."))
    return import_responses(
        benchmark=benchmark,
        file=io.BytesIO("\n".join(map(json.dumps, rows)).encode()),
        options={"candidate_kind": candidate_kind},
        by=by,
        at=at,
        progress=no_progress,
    )


def _unknown_rows() -> str:
    return _(
        "%(n)s rows name cases that are not in this benchmark (%(keys)s). Import these cases first, or correct the "
        "short names."
    )


def _unknown_lines() -> str:
    return _(
        "%(n)s lines name cases that are not in this benchmark (%(keys)s). Import these cases first, or correct the "
        "short names."
    )


def _resolve(
    chunk: list[ResponseRecord],
    benchmark: Benchmark,
    candidates: Candidates,
    kind: str,
    faults: Faults,
    unknown: UnknownCases,
    shown: ShownReferences,
) -> list[NewResponse]:
    """The rows with their cases and candidates; those without a case go to ``unknown``."""
    cases = dict(
        Case.objects.filter(benchmark=benchmark, key__in={record.case for record in chunk}).values_list("key", "pk")
    )
    responses = []
    for record in chunk:
        case = cases.get(record.case)
        mismatch = candidates.mismatch(record.candidate, kind) if kind else ""
        if case is None:
            unknown.add(record.line, record.case_field, record.case)
        elif mismatch:
            faults.add(record.line, "candidate", mismatch)
        else:
            shown.add(record, case)
            responses.append(
                NewResponse(
                    line=record.line,
                    place=record.text_field,
                    case_id=case,
                    candidate=candidates.get(record.candidate, kind or Candidate.Kind.MODEL),
                    sample=record.sample,
                    text=record.text,
                    setting=record.setting,
                    external_id=record.external_id,
                    writing_mode=record.writing_mode,
                    metadata=record.metadata,
                )
            )
    return responses
