"""The settings of a run of trials from pairs and rubric sets, and what it would cost."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consilium.core.errors import DomainError
from consilium.llm.meter import BYTES_PER_TOKEN, MIN_BYTES_PER_TOKEN
from consilium.llm.prompts import body_of
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Benchmark, Case
from validation.coverage.building import RunSize, StageSize, criteria_of, listed_bytes, set_config
from validation.coverage.content import Point
from validation.models import NearMissPair, PairGroup, RubricSet
from validation.models.trials import NO_RUBRIC, SIDE_BY_SIDE
from validation.pairs.privacy import texts_with_findings
from validation.trials.config import MAX_PAIRS, MAX_SETS, TrialConfig, trial_config
from validation.trials.content import ORDERS
from validation.trials.prompts import trial_messages


class Which(models.TextChoices):
    """Which pairs of a group are tried."""

    DANGEROUS = "dangerous", gettext_lazy("Confirmed as dangerous")
    CONFIRMED = "confirmed", gettext_lazy("Confirmed")
    ALL = "all", gettext_lazy("All pairs that are not rejected")


@dataclass(frozen=True)
class Built:
    """Checked settings with the ids of their cases in the order of import, and what was left out.

    ``excluded``: pairs whose case counts no more; ``with_findings``: pairs with an open privacy finding in their case
    or texts. ``lacking``: for each set without criteria for some of the pairs, how many.
    """

    config: TrialConfig
    case_ids: list[int]
    n_pairs: int
    excluded: int = 0
    with_findings: int = 0
    lacking: dict[str, int] = field(default_factory=dict)


def check_choice(benchmark: Benchmark, groups: Sequence[PairGroup], sets: Sequence[RubricSet]) -> None:
    """`DomainError` where these groups and sets cannot be tried together."""
    if any(own.benchmark_id != benchmark.pk or own.finished_at is None for own in sets):
        raise DomainError(_("This rubric set does not exist."))
    if any(group.benchmark_id != benchmark.pk for group in groups):
        raise DomainError(_("This group of pairs does not exist."))
    if not groups:
        raise DomainError(_("Choose at least one group of pairs."))
    if len(sets) > MAX_SETS:
        raise DomainError(_("A run tests at most %(n)s sets.") % {"n": MAX_SETS})
    if len({own.pk for own in sets}) != len(sets):
        raise DomainError(_("Choose each set only once."))


def pairs_in(groups: Sequence[PairGroup], which: str) -> list[NearMissPair]:
    """The pairs of the groups, in the order of import of their cases."""
    rows = NearMissPair.objects.filter(group__in=groups)
    if which == Which.ALL:
        rows = rows.exclude(state=NearMissPair.State.REJECTED)
    else:
        rows = rows.filter(state=NearMissPair.State.CONFIRMED)
    if which == Which.DANGEROUS:
        rows = rows.filter(grade=NearMissPair.Grade.DANGEROUS)
    return list(rows.order_by("case_id", "group_id", "pk"))


def build(
    benchmark: Benchmark,
    *,
    groups: Sequence[PairGroup],
    which: str,
    sets: Sequence[RubricSet],
    settings: Mapping[str, Any],
) -> Built:
    """Copy the texts of pairs and sets; a fixed number of queries.

    A case counts if it is neither excluded nor has an open privacy finding.
    """
    check_choice(benchmark, groups, sets)
    every = pairs_in(groups, which)
    counting = {case.pk: case for case in _cases(every)}
    here = [pair for pair in every if pair.case_id in counting]
    withheld = cases_with_open_findings(counting)
    marked = texts_with_findings((pair.case_id, text) for pair in here for text in (pair.reference, pair.candidate))
    pairs: dict[int, list[NearMissPair]] = defaultdict(list)
    for pair in here:
        if (
            pair.case_id not in withheld
            and not {(pair.case_id, pair.reference), (pair.case_id, pair.candidate)} & marked
        ):
            pairs[pair.case_id].append(pair)
    n_pairs = sum(map(len, pairs.values()))
    if not n_pairs:
        raise DomainError(_nothing(every, here))
    if max(map(len, pairs.values())) > MAX_PAIRS:
        raise DomainError(_("A case has more than %(n)s pairs.") % {"n": MAX_PAIRS})
    criteria = {own.pk: criteria_of(own) for own in sets}
    names = _names([pair for own in pairs.values() for pair in own], groups)
    config = trial_config(
        {
            **settings,
            "sets": [set_config(own) for own in sets],
            "cases": [
                {
                    "key": counting[pk].key,
                    "tags": sorted({*counting[pk].tags, *counting[pk].label_tags}),
                    "pairs": [_stored(pair, names[pair.pk]) for pair in own],
                    "sets": [[each.stored() for each in criteria[own_set.pk].get(pk, ())] for own_set in sets],
                }
                for pk, own in pairs.items()
            ],
        }
    )
    if not any(config.content.series(case) for case in config.content.cases):
        raise DomainError(_("None of the sets has criteria for a case with one of these pairs."))
    lacking = {own.name: sum(len(pairs[pk]) for pk in pairs if pk not in criteria[own.pk]) for own in sets}
    return Built(
        config,
        list(pairs),
        n_pairs,
        excluded=len(every) - len(here),
        with_findings=len(here) - n_pairs,
        lacking={name: number for name, number in lacking.items() if number},
    )


def _cases(pairs: Sequence[NearMissPair]) -> models.QuerySet[Case]:
    rows = Case.objects.filter(pk__in={pair.case_id for pair in pairs}).included()
    return rows.only("key", "tags", "label_tags").order_by("pk")


def _nothing(every: Sequence[NearMissPair], here: Sequence[NearMissPair]) -> str:
    if here:
        return _("Each of these pairs has an open privacy finding, so none of them may be sent.")
    if every:
        return _("The cases of all these pairs are excluded.")
    return _("No pair meets this condition. Pairs count as confirmed once physicians have judged them.")


def _names(pairs: Sequence[NearMissPair], groups: Sequence[PairGroup]) -> dict[int, str]:
    """What the pairs are called: their keys, with the group where two groups have one key."""
    counts = Counter(pair.key for pair in pairs)
    of_group = {group.pk: group.name for group in groups}
    return {pair.pk: pair.key if counts[pair.key] == 1 else f"{of_group[pair.group_id]}: {pair.key}" for pair in pairs}


def _stored(pair: NearMissPair, name: str) -> dict[str, str]:
    return {
        "id": pair.public_id,
        "key": name,
        "kind": pair.kind,
        "axis": pair.axis,
        "reference": pair.reference,
        "candidate": pair.candidate,
        "change": pair.change,
        "why": pair.why,
        "grade": pair.grade_now,
    }


@dataclass(frozen=True, slots=True)
class TrialSize(RunSize):
    """The size of a run of trials; ``points`` is the number of criteria over all cases and sets."""

    pairs: int = 0


def size_of(built: Built) -> TrialSize:
    """Count requests, and the bytes that they send."""
    config, content = built.config, built.config.content
    conversations = dict(Case.objects.filter(pk__in=built.case_ids).values_list("pk", "conversation"))
    criterion = [Point("", 1)]
    own_bytes = {
        stage: len(body_of(trial_messages([], "", "", criteria, nonce="0" * 24), config.parameters(0)))
        for stage, criteria in ((SIDE_BY_SIDE, criterion), (NO_RUBRIC, []))
    }
    requests = dict.fromkeys(own_bytes, 0)
    n_bytes = dict.fromkeys(own_bytes, 0)
    each = config.trials * len(ORDERS)
    for place, pk in enumerate(built.case_ids):
        case, conversation = content.cases[place], len(json.dumps(conversations[pk]))
        texts = sum(len(json.dumps([pair.reference, pair.candidate])) for pair in case.pairs)
        for stage, lists in ((SIDE_BY_SIDE, [own for own in case.sets if own]), (NO_RUBRIC, [()] * config.no_rubric)):
            for criteria in lists:
                listed = sum(map(listed_bytes, criteria))
                requests[stage] += each * len(case.pairs)
                n_bytes[stage] += each * (len(case.pairs) * (own_bytes[stage] + conversation + listed) + texts)
    allowance = config.allowance
    stages = [
        StageSize(
            stage,
            requests[stage],
            n_bytes[stage] // BYTES_PER_TOKEN,
            allowance.cost(n_bytes[stage] / MIN_BYTES_PER_TOKEN, requests[stage] * config.max_tokens)
            if config.priced
            else None,
        )
        for stage in own_bytes
        if requests[stage]
    ]
    return TrialSize(
        cases=len(built.case_ids),
        points=sum(len(criteria) for case in content.cases for criteria in case.sets),
        stages=stages,
        currency=config.currency if config.priced else "",
        pairs=built.n_pairs,
    )
