"""The settings of a run of coverage from rubric sets, and what it would cost."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.llm.meter import BYTES_PER_TOKEN, MIN_BYTES_PER_TOKEN
from consilium.llm.prompts import body_of
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Benchmark, Case
from scoring.models import EndpointKind
from validation.coverage.config import MAX_POINTS, MAX_SETS, CoverageConfig, coverage_config
from validation.coverage.content import ITSELF, SHIFTED, Point, Points
from validation.coverage.prompts import coverage_messages
from validation.models import RubricSet, RubricSetItem
from validation.models.coverage import BACK, FORWARD
from validation.sets.selectors import criterion_count

FEW_CASES = 10
SPARE_BYTES = 40  # of an entry of the list: its number, points and axis


@dataclass(frozen=True)
class Built:
    """Checked settings with the ids of their cases in the order of the frame, and what was left out.

    ``excluded``: cases of the gold set that count no more; ``with_findings``: those with an open privacy finding.
    ``lacking``: for each set without criteria for some of the cases, how many.
    """

    config: CoverageConfig
    case_ids: list[int]
    excluded: int = 0
    with_findings: int = 0
    lacking: dict[str, int] = field(default_factory=dict)


def check_sets(benchmark: Benchmark, gold: RubricSet, sets: Sequence[RubricSet]) -> None:
    """`DomainError` where these sets cannot be held against each other."""
    if any(own.benchmark_id != benchmark.pk or own.finished_at is None for own in (gold, *sets)):
        raise DomainError(_("This rubric set does not exist."))
    if not sets:
        raise DomainError(_("Choose at least one set to measure."))
    if len(sets) > MAX_SETS:
        raise DomainError(_("A run measures at most %(n)s sets.") % {"n": MAX_SETS})
    if len({own.pk for own in sets}) != len(sets):
        raise DomainError(_("Choose each set only once."))
    if gold in sets:
        raise DomainError(_("The gold set is compared with itself in every run. Choose other sets to measure."))


def build(benchmark: Benchmark, gold: RubricSet, sets: Sequence[RubricSet], settings: Mapping[str, Any]) -> Built:
    """Copy the texts of the sets for the cases of the gold set; a fixed number of queries.

    A case counts if it is neither excluded nor has an open privacy finding. A set without criteria for one of the cases
    covers nothing there.
    """
    check_sets(benchmark, gold, sets)
    criteria = {own.pk: criteria_of(own) for own in (gold, *sets)}
    sources = sources_of(gold)
    rows = Case.objects.filter(benchmark=benchmark, pk__in=criteria[gold.pk]).included().order_by("pk")
    counting: dict[int, str] = {}
    tags: dict[int, list[str]] = {}
    for pk, key, own_tags, label_tags in rows.values_list("pk", "key", "tags", "label_tags"):
        counting[pk], tags[pk] = key, sorted({*own_tags, *label_tags})
    withheld = cases_with_open_findings(counting)
    case_ids = [pk for pk in counting if pk not in withheld]
    if not case_ids:
        raise DomainError(_("No case of the gold set may be sent."))
    if any(len(own.get(pk, ())) > MAX_POINTS for own in criteria.values() for pk in case_ids):
        raise DomainError(_("A case has more than %(n)s criteria in one of the sets.") % {"n": MAX_POINTS})

    def stored(pk: int, own: RubricSet) -> list[list[Any]]:
        return [each.stored() for each in criteria[own.pk].get(pk, ())]

    config = coverage_config(
        {
            **settings,
            "gold": set_config(gold),
            "sets": [set_config(own) for own in sets],
            "cases": [
                {
                    "key": counting[pk],
                    "tags": tags[pk],
                    "gold": stored(pk, gold),
                    "criteria": sources.get(pk, []),
                    "sets": [stored(pk, own) for own in sets],
                }
                for pk in case_ids
            ],
        }
    )
    lacking = {own.name: sum(pk not in criteria[own.pk] for pk in case_ids) for own in sets}
    return Built(
        config,
        case_ids,
        excluded=len(criteria[gold.pk]) - len(counting),
        with_findings=len(withheld),
        lacking={name: number for name, number in lacking.items() if number},
    )


def set_config(rubric_set: RubricSet) -> dict[str, Any]:
    """A set as settings name it."""
    named = {"name": rubric_set.name, "id": rubric_set.public_id, "digest": rubric_set.digest}
    if (drafting := rubric_set.drafting_run) is not None:
        drafted = {
            "recipe": str(drafting.terms.get("recipe", "")),
            "version": int(drafting.terms.get("version", 0)),
            "models": list(drafting.terms.get("models", [])),
            "by_rules": drafting.endpoint_kind == EndpointKind.RULES,
        }
        return {**named, "drafted": drafted}
    run = rubric_set.split_run
    if rubric_set.source is None or run is None:
        return named
    split = {
        "source": rubric_set.source.name,
        "model": str(run.terms.get("model", "")),
        "by_rules": run.endpoint_kind == EndpointKind.RULES,
        "criteria": criterion_count(rubric_set),
        "points": rubric_set.item_count,
        "cases": rubric_set.case_count,
        "unsplit": rubric_set.unsplit_count,
        "corrected": rubric_set.corrected_count,
    }
    return {**named, "split": split}


def sources_of(rubric_set: RubricSet) -> dict[int, list[int]]:
    """The criterion that each point of a split set is of, by its number in the source; empty for another set."""
    if rubric_set.source_id is None:
        return {}
    numbers: dict[int, list[int]] = defaultdict(list)
    rows = RubricSetItem.objects.filter(rubric_set=rubric_set).order_by("case_id", "position")
    for case, number in rows.values_list("case_id", "source_item__position"):
        numbers[case].append(number)
    return numbers


def criteria_of(rubric_set: RubricSet) -> dict[int, Points]:
    """The criteria of a set by case, in their order."""
    by_case: dict[int, list[Point]] = defaultdict(list)
    rows = RubricSetItem.objects.filter(rubric_set=rubric_set).order_by("case_id", "position")
    for case, text, points, axis in rows.values_list("case_id", "text", "points", "axis"):
        by_case[case].append(Point(text, points, axis))
    return {case: tuple(own) for case, own in by_case.items()}


def names_its_judge(model: str, sets: Sequence[RubricSet]) -> list[str]:
    """The sets that the model which is to judge them has drafted, or whose name, description or file names it."""
    name = model.rpartition("/")[2].casefold()

    def texts(own: RubricSet) -> list[str]:
        drafted = own.drafting_run.terms.get("models", []) if own.drafting_run else []
        return [own.name, own.description, own.file_name, *map(str, drafted)]

    return [own.name for own in sets if name and any(name in text.casefold() for text in texts(own))]


@dataclass(frozen=True, slots=True)
class StageSize:
    """The requests of one stage, or of its controls, and what they can cost at most; None without prices."""

    stage: str
    requests: int
    tokens_in: int
    cost_at_most: float | None


@dataclass(frozen=True, slots=True)
class RunSize:
    """The size of a run that has not been made yet."""

    cases: int
    points: int
    stages: list[StageSize]
    currency: str

    @property
    def requests(self) -> int:
        """All requests."""
        return sum(stage.requests for stage in self.stages)

    @property
    def tokens_in(self) -> int:
        """About so many tokens that are sent."""
        return sum(stage.tokens_in for stage in self.stages)

    @property
    def cost_at_most(self) -> float | None:
        """What all requests can cost if each answer is as long as it may be and none is asked again."""
        costs = [stage.cost_at_most for stage in self.stages]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def size_of(built: Built) -> RunSize:
    """Count requests, and the bytes that they send."""
    config, content = built.config, built.config.content
    conversations = dict(Case.objects.filter(pk__in=built.case_ids).values_list("pk", "conversation"))
    own_bytes = {
        stage: len(body_of(coverage_messages(stage, [], Point("", 1), [], nonce="0" * 24), config.parameters(0)))
        for stage in (FORWARD, BACK)
    }
    requests: dict[str, int] = defaultdict(int)
    n_bytes: dict[str, int] = defaultdict(int)

    def add(name: str, stage: str, points: Points, criteria: Points, conversation: int) -> None:
        if criteria:
            each = own_bytes[stage] + conversation + sum(map(listed_bytes, criteria))
            requests[name] += len(points)
            n_bytes[name] += len(points) * each + sum(map(listed_bytes, points))

    for place, pk in enumerate(built.case_ids):
        case, conversation = content.cases[place], len(json.dumps(conversations[pk]))
        for series in content.series:
            control = series == ITSELF or series.startswith(SHIFTED)
            add("controls" if control else FORWARD, FORWARD, case.gold, content.criteria(place, series), conversation)
        for criteria in case.sets:
            add(BACK, BACK, criteria, case.gold, conversation)
    allowance = config.allowance
    return RunSize(
        cases=len(built.case_ids),
        points=sum(len(case.gold) for case in content.cases),
        stages=[
            StageSize(
                name,
                requests[name],
                n_bytes[name] // BYTES_PER_TOKEN,
                allowance.cost(n_bytes[name] / MIN_BYTES_PER_TOKEN, requests[name] * config.max_tokens)
                if config.priced
                else None,
            )
            for name in (FORWARD, "controls", BACK)
        ],
        currency=config.currency if config.priced else "",
    )


def listed_bytes(point: Point) -> int:
    """About how many bytes an entry of a list of criteria takes in a request."""
    return len(json.dumps([point.text, point.axis])) + SPARE_BYTES
