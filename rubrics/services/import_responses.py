"""Imports responses from a file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress
from rubrics.imports.bulk import check_references_at_once, weighed_chunks
from rubrics.imports.candidates import Candidates
from rubrics.imports.prescan import prescan
from rubrics.imports.registry import Counts
from rubrics.imports.response_rows import NewResponse, ResponseWriter
from rubrics.models import Benchmark, Candidate, Case
from rubrics.parsing.faults import Faults
from rubrics.parsing.responses import ResponseRecord, read_responses

CHUNK = 500
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

    Options: ``candidate`` names the candidate of every row; ``candidate_kind`` is the kind of candidates that are made
    (model by default), and must be that of those that exist.
    """
    kind = options.get("candidate_kind", "")
    if kind and kind not in Candidate.Kind.values:
        raise DomainError(_("A candidate is one of: %(kinds)s.") % {"kinds": ", ".join(Candidate.Kind.values)})
    check_references_at_once()
    faults = Faults()
    candidates = Candidates(benchmark)
    writer = ResponseWriter(benchmark, faults, at)
    candidate = options.get("candidate", "")
    prescan(file, lambda first: read_responses(file, first, candidate=candidate), written=True)
    records = read_responses(file, faults, candidate=candidate, progress=progress)
    for chunk in weighed_chunks(records, CHUNK, weight=CHUNK_CHARACTERS, weigh=ResponseRecord.weight):
        writer.write(_resolve(chunk, benchmark, candidates, kind, faults))
    faults.refuse_if_any()
    return {
        "candidates": {"created": candidates.created, "unchanged": candidates.unchanged},
        "responses": {"created": writer.created, "unchanged": writer.unchanged},
        "warnings": writer.warnings(),
    }


def _resolve(
    chunk: list[ResponseRecord], benchmark: Benchmark, candidates: Candidates, kind: str, faults: Faults
) -> list[NewResponse]:
    """The rows with their cases and candidates; those without a case become faults."""
    cases = dict(
        Case.objects.filter(benchmark=benchmark, key__in={record.case for record in chunk}).values_list("key", "pk")
    )
    responses = []
    for record in chunk:
        case = cases.get(record.case)
        mismatch = candidates.mismatch(record.candidate, kind) if kind else ""
        if case is None:
            message = _("There is no case “%(key)s” in this benchmark.") % {"key": record.case[:80]}
            faults.add(record.line, record.case_field, message)
        elif mismatch:
            faults.add(record.line, "candidate", mismatch)
        else:
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
