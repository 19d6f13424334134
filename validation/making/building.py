"""The settings of a run that makes pairs from the references of cases, and what it would cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.llm.meter import BYTES_PER_TOKEN, MIN_BYTES_PER_TOKEN
from consilium.llm.prompts import body_of
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Benchmark, Candidate, Case, Response
from scoring.generation.due_responses import CaseFrame, cases_in
from validation.coverage.building import StageSize
from validation.making.config import MakingConfig, making_config
from validation.making.prompts import making_messages
from validation.models.pairs import MAKING
from validation.pairs.privacy import texts_with_findings


@dataclass(frozen=True)
class Built:
    """Checked settings with the ids of their cases, and what was left out: cases without a reference, and those with an
    open privacy finding in the case or the reference.
    """

    config: MakingConfig
    case_ids: list[int]
    without_reference: int = 0
    with_findings: int = 0


def build(benchmark: Benchmark, *, frame: CaseFrame, candidate: str, settings: Mapping[str, Any]) -> Built:
    """The references: the cases' reference answers, or the first responses of ``candidate`` where one is named."""
    ids = cases_in(benchmark, frame)
    if not ids:
        raise DomainError(_("No cases match these filters."))
    references = _references(benchmark, ids, candidate)
    with_reference = [pk for pk in ids if references.get(pk, "").strip()]
    withheld = cases_with_open_findings(with_reference)
    marked = texts_with_findings((pk, references[pk]) for pk in with_reference)
    kept = [pk for pk in with_reference if pk not in withheld and (pk, references[pk]) not in marked]
    if not kept:
        raise DomainError(
            _("Each of these cases has an open privacy finding, so none may be sent.")
            if with_reference
            else _("None of these cases has a reference.")
        )
    keys = dict(Case.objects.filter(pk__in=kept).values_list("pk", "key"))
    cases = [{"key": keys[pk], "reference": references[pk]} for pk in kept]
    config = making_config({**settings, "cases": cases})
    return Built(config, kept, len(ids) - len(with_reference), len(with_reference) - len(kept))


def _references(benchmark: Benchmark, ids: list[int], candidate: str) -> dict[int, str]:
    if not candidate:
        return dict(Case.objects.filter(pk__in=ids).values_list("pk", "reference_answer"))
    row = Candidate.objects.filter(benchmark=benchmark, name=candidate).first()
    if row is None:
        raise DomainError(_("There is no candidate “%(name)s”.") % {"name": candidate})
    rows = Response.objects.filter(candidate=row, case__in=ids).order_by("-sample", "-pk")
    return dict(rows.values_list("case_id", "text"))  # the first sample is read last, and stays


@dataclass(frozen=True, slots=True)
class MakingSize:
    """The size of a run that has not been made yet."""

    cases: int
    stage: StageSize
    currency: str


def size_of(built: Built) -> MakingSize:
    """Count requests, and the bytes that they send."""
    config = built.config
    conversations = dict(Case.objects.filter(pk__in=built.case_ids).values_list("pk", "conversation"))
    own = len(body_of(making_messages([], "", config.kinds[0], 1, nonce="0" * 24), config.parameters(0)))
    texts = sum(
        len(json.dumps([conversations[pk], case.reference]))
        for pk, case in zip(built.case_ids, config.cases, strict=True)
    )
    requests = config.each * len(built.case_ids)
    n_bytes = requests * own + config.each * texts
    cost = None
    if config.priced:
        cost = config.allowance.cost(n_bytes / MIN_BYTES_PER_TOKEN, requests * config.max_tokens)
    stage = StageSize(MAKING, requests, n_bytes // BYTES_PER_TOKEN, cost)
    return MakingSize(len(built.case_ids), stage, config.currency if config.priced else "")
