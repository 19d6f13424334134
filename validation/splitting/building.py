"""The settings of a run that splits the criteria of a set, and what it would cost."""

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
from rubrics.models import Benchmark, Case
from validation.coverage.building import StageSize, criteria_of, listed_bytes, set_config
from validation.coverage.config import MAX_POINTS
from validation.models import RubricSet
from validation.models.splitting import SPLIT_POINTS
from validation.splitting.config import SplittingConfig, splitting_config
from validation.splitting.prompts import splitting_messages


@dataclass(frozen=True)
class Built:
    """Checked settings with the ids of their cases, and what was left out: cases that count no more, and those with an
    open privacy finding, whose criteria stay as they are.
    """

    config: SplittingConfig
    case_ids: list[int]
    excluded: int = 0
    with_findings: int = 0


def check_set(benchmark: Benchmark, gold: RubricSet) -> None:
    """`DomainError` where the criteria of this set cannot be split."""
    if gold.benchmark_id != benchmark.pk or gold.finished_at is None:
        raise DomainError(_("This rubric set does not exist."))
    if gold.origin == RubricSet.Origin.SPLIT:
        raise DomainError(_("The criteria of this set have already been split."))


def build(benchmark: Benchmark, gold: RubricSet, settings: Mapping[str, Any]) -> Built:
    """Copy the criteria of the set for its cases that count and have no open privacy finding; few queries."""
    check_set(benchmark, gold)
    criteria = criteria_of(gold)
    rows = Case.objects.filter(benchmark=benchmark, pk__in=criteria).included().order_by("pk")
    counting = dict(rows.values_list("pk", "key"))
    withheld = cases_with_open_findings(counting)
    case_ids = [pk for pk in counting if pk not in withheld]
    if not case_ids:
        raise DomainError(_("No case of the gold set may be sent."))
    if any(len(criteria[pk]) > MAX_POINTS for pk in case_ids):
        raise DomainError(_("A case has more than %(n)s criteria in one of the sets.") % {"n": MAX_POINTS})
    config = splitting_config(
        {
            **settings,
            "gold": set_config(gold),
            "cases": [{"key": counting[pk], "criteria": [each.stored() for each in criteria[pk]]} for pk in case_ids],
        }
    )
    return Built(config, case_ids, len(criteria) - len(counting), len(withheld))


@dataclass(frozen=True, slots=True)
class SplittingSize:
    """The size of a run that has not been made yet."""

    cases: int
    criteria: int
    stage: StageSize
    currency: str


def size_of(built: Built) -> SplittingSize:
    """Count requests, and the bytes that they send."""
    config = built.config
    conversations = dict(Case.objects.filter(pk__in=built.case_ids).values_list("pk", "conversation"))
    own = len(body_of(splitting_messages([], [], nonce="0" * 24), config.parameters(0)))
    criteria = [each for case in config.criteria.values() for each in case]
    n_bytes = (
        own * len(built.case_ids)
        + sum(len(json.dumps(conversation)) for conversation in conversations.values())
        + sum(map(listed_bytes, criteria))
    )
    requests, cost = len(built.case_ids), None
    if config.priced:
        cost = config.allowance.cost(n_bytes / MIN_BYTES_PER_TOKEN, requests * config.max_tokens)
    stage = StageSize(SPLIT_POINTS, requests, n_bytes // BYTES_PER_TOKEN, cost)
    return SplittingSize(requests, len(criteria), stage, config.currency if config.priced else "")
