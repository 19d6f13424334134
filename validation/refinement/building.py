"""The settings of a run of refinement from responses, rubric sets and gold criteria, and what it would cost."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.core.limits import MAX_KEY_LENGTH
from consilium.llm.meter import BYTES_PER_TOKEN, MIN_BYTES_PER_TOKEN
from consilium.llm.prompts import body_of
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Benchmark, Candidate, Case, Response, Rubric, RubricItem
from scoring.generation.due_responses import CaseFrame, cases_in
from scoring.pipelines.kind import StepName
from validation.coverage.building import RunSize, StageSize, listed_bytes, set_config
from validation.coverage.config import MAX_POINTS
from validation.coverage.content import Point
from validation.models import RubricSet, RubricSetItem
from validation.models.refinement import EDIT, PLAN
from validation.pairs.privacy import texts_with_findings
from validation.pairs.reading import MAX_TEXT_LENGTH
from validation.refinement.config import GOLD, HALF, SELF, SET, RefinementConfig, refinement_config
from validation.refinement.kind import steps_of
from validation.refinement.overlap import Row, halves, overlapping
from validation.refinement.prompts import edit_messages, plan_messages
from validation.refinement.storing import SETTING
from validation.sets.content import axis_of

ARM_NAMES = {SELF: "self", GOLD: "gold", HALF: "gold half"}
Rows = dict[int, list[Row]]


class Overlapping(DomainError):
    """A set shares criteria with the gold rubric that would grade what it teaches."""


@dataclass(frozen=True)
class Order:
    """What is to be refined, and by what.

    ``upper_bounds``: ids of sets that may share criteria with the gold rubric, since their arms are labelled upper
    bounds. ``split``: one half of the gold criteria guides an arm of its own, and the other half grades all arms.
    """

    candidate: str
    sets: Sequence[RubricSet] = ()
    self_critique: bool = False
    gold: bool = False
    split: bool = False
    upper_bounds: Collection[str] = ()
    frame: CaseFrame = field(default_factory=CaseFrame)


@dataclass(frozen=True)
class Built:
    """Checked settings with the ids of their cases, and what was left out: cases without a response of the candidate or
    a published rubric, and those with an open privacy finding in case or response.

    ``lacking``: for each set without criteria for some of the cases, how many. ``overlaps``: for each set, how many of
    its criteria the gold rubric has as well; ``taken_out``: how many of them were taken out, since they would grade.
    """

    config: RefinementConfig
    case_ids: list[int]
    without_response: int = 0
    without_rubric: int = 0
    with_findings: int = 0
    lacking: dict[str, int] = field(default_factory=dict)
    overlaps: dict[str, int] = field(default_factory=dict)
    taken_out: dict[str, int] = field(default_factory=dict)

    def steps(self, place: int) -> set[StepName]:
        """The steps of the case at ``place``: those of the arms that have criteria for it, or need none."""
        arms = [arm for arm, own in enumerate(self.config.cases[place].arms) if own is not None]
        return {step.name for step in steps_of(arms)}


def _check(benchmark: Benchmark, order: Order) -> Candidate:
    if any(own.benchmark_id != benchmark.pk or own.finished_at is None for own in order.sets):
        raise DomainError(_("This rubric set does not exist."))
    if len({own.pk for own in order.sets}) != len(order.sets):
        raise DomainError(_("Choose each set only once: it guides a single arm."))
    if not (order.sets or order.self_critique or order.gold or order.split):
        raise DomainError(_("Choose at least one set, self-critique or the gold criteria."))
    candidate = Candidate.objects.filter(benchmark=benchmark, name=order.candidate).first()
    if candidate is None:
        raise DomainError(_("There is no candidate “%(name)s”.") % {"name": order.candidate}, field="candidate")
    if candidate.kind == Candidate.Kind.DERIVED:
        raise DomainError(_("The responses of “%(name)s” have already been refined.") % {"name": candidate.name})
    return candidate


def build(benchmark: Benchmark, order: Order, settings: Mapping[str, Any]) -> Built:
    """Copy the texts of the base responses and of what guides each arm; a fixed number of queries.

    A case counts if it has a response of the candidate and a published rubric, by which the results can be graded.
    """
    candidate = _check(benchmark, order)
    ids = cases_in(benchmark, order.frame)
    bases = _bases(candidate, ids)
    answered = [pk for pk in ids if pk in bases]
    gold = _gold(answered)
    graded = [pk for pk in answered if pk in gold]
    withheld = cases_with_open_findings(graded)
    marked = texts_with_findings((pk, bases[pk].text) for pk in graded)
    kept = sorted(pk for pk in graded if pk not in withheld and (pk, bases[pk].text) not in marked)
    if not kept:
        raise DomainError(_nothing(ids, answered, graded, candidate.name))
    if any(len(bases[pk].text) > MAX_TEXT_LENGTH for pk in kept):
        raise DomainError(_("A response is longer than %(n)s characters.") % {"n": f"{MAX_TEXT_LENGTH:,}"})
    cases = {case.pk: case for case in Case.objects.filter(pk__in=kept).only("key", "tags", "label_tags")}
    keys = {pk: case.key for pk, case in cases.items()}
    seed = int(settings.get("draw_seed") or 0)
    guide_half, grade_half = _split({pk: gold[pk] for pk in kept}, keys, seed) if order.split else ({}, {})
    arms: list[dict[str, Any]] = []
    guidance: list[dict[int, list[Row]] | None] = []
    overlaps, taken_out, lacking = {}, {}, {}
    for own, rows in zip(order.sets, map(_rows_of, order.sets), strict=True):
        shared = {pk: overlapping(rows[pk], gold[pk]) for pk in kept if pk in rows}
        number = sum(map(sum, shared.values()))
        overlaps[own.name] = number
        is_bound = own.public_id in order.upper_bounds and number > 0
        if number and not is_bound:
            if not order.split:
                raise Overlapping(_refusal(own.name, number))
            rows, taken_out[own.name] = _without(rows, grade_half)
        arms.append({"kind": SET, "name": own.name, "rubric_set": set_config(own), "upper_bound": is_bound,
                     "overlaps": number})  # fmt: skip
        guidance.append(rows)
        lacking[own.name] = sum(not rows.get(pk) for pk in kept)
    if order.self_critique:
        arms.append({"kind": SELF, "name": ARM_NAMES[SELF]})
        guidance.append(None)
    if order.split:
        rows, taken_out[ARM_NAMES[HALF]] = _without(guide_half, grade_half)
        arms.append({"kind": HALF, "name": ARM_NAMES[HALF]})
        guidance.append(rows)
    if order.gold:
        arms.append({"kind": GOLD, "name": ARM_NAMES[GOLD], "upper_bound": True})
        guidance.append({pk: gold[pk] for pk in kept})
    if any(rows and any(len(own) > MAX_POINTS for own in rows.values()) for rows in guidance):
        raise DomainError(_("A case has more than %(n)s criteria in one of the sets.") % {"n": MAX_POINTS})
    _name(benchmark, candidate.name, arms)

    def stored(pk: int, rows: dict[int, list[Row]] | None) -> list[list[Any]] | None:
        if rows is None:
            return []
        return [row.point.stored() for row in rows[pk]] if rows.get(pk) else None

    config = refinement_config(
        {
            **settings,
            "split": order.split,
            "arms": arms,
            "cases": [
                {
                    "key": keys[pk],
                    "base": bases[pk].text,
                    "base_id": bases[pk].public_id,
                    "tags": sorted({*cases[pk].tags, *cases[pk].label_tags}),
                    "arms": [stored(pk, rows) for rows in guidance],
                    "graded_by": [row.point.text for row in grade_half[pk]] if order.split else None,
                }
                for pk in kept
            ],
        }
    )
    if not any(own is not None for case in config.cases for own in case.arms):
        raise DomainError(_("None of the sets has criteria for any of these cases."))
    return Built(
        config,
        kept,
        without_response=len(ids) - len(answered),
        without_rubric=len(answered) - len(graded),
        with_findings=len(graded) - len(kept),
        lacking={name: number for name, number in lacking.items() if number},
        overlaps={name: number for name, number in overlaps.items() if number},
        taken_out={name: number for name, number in taken_out.items() if number},
    )


def _refusal(name: str, number: int) -> str:
    return _(
        "The set “%(name)s” shares %(n)s criteria with the gold rubric, so the gold rubric would grade "
        "what it had guided. Label its arm an upper bound, or split the gold criteria so that one half "
        "guides and the other grades."
    ) % {"name": name, "n": number}


def _nothing(ids: Collection[int], answered: Collection[int], graded: Collection[int], name: str) -> str:
    if graded:
        return _("Each of these cases has an open privacy finding, so none may be sent.")
    if answered:
        return _("None of these cases has a published rubric for grading the refined responses.")
    if ids:
        return _("“%(name)s” has no response to any of these cases.") % {"name": name}
    return _("No cases match these filters.")


def _bases(candidate: Candidate, cases: Collection[int]) -> dict[int, Response]:
    """The first sample of each case, as to a patient; blank ones are left out."""
    rows = Response.objects.filter(candidate=candidate, case__in=cases, setting=SETTING)
    ordered = rows.only("public_id", "case_id", "text").order_by("-sample", "-pk")
    return {row.case_id: row for row in ordered if row.text.strip()}  # the first sample is read last, and stays


def _gold(cases: Collection[int]) -> Rows:
    """The criteria of the published rubric of each case."""
    rows: Rows = defaultdict(list)
    items = RubricItem.objects.filter(rubric__in=Rubric.objects.current().filter(case__in=cases))
    columns = ("rubric__case_id", "criterion_id", "criterion__text", "points", "tags")
    for case, criterion, text, points, tags in items.order_by("rubric__case_id", "position").values_list(*columns):
        rows[case].append(Row(Point(text, points, axis_of(tags)), criterion))
    return dict(rows)


def _rows_of(rubric_set: RubricSet) -> Rows:
    rows: Rows = defaultdict(list)
    items = RubricSetItem.objects.filter(rubric_set=rubric_set).order_by("case_id", "position")
    for case, text, points, axis, criterion in items.values_list("case_id", "text", "points", "axis", "criterion_id"):
        rows[case].append(Row(Point(text, points, axis), criterion))
    return dict(rows)


def _split(gold: Rows, keys: Mapping[int, str], seed: int) -> tuple[Rows, Rows]:
    drawn = {pk: halves(keys[pk], rows, seed) for pk, rows in gold.items()}
    return {pk: guide for pk, (guide, _grade) in drawn.items()}, {pk: grade for pk, (_guide, grade) in drawn.items()}


def _without(guiding: Rows, grading: Rows) -> tuple[Rows, int]:
    """The guiding criteria that overlap with none of those that grade, and how many were taken out."""
    kept, number = {}, 0
    for pk, rows in guiding.items():
        shared = overlapping(rows, grading.get(pk, []))
        kept[pk] = [row for row, is_shared in zip(rows, shared, strict=True) if not is_shared]
        number += sum(shared)
    return kept, number


def _name(benchmark: Benchmark, base: str, arms: list[dict[str, Any]]) -> None:
    """Give each arm a name of its own, and a candidate NAME + guidance that no earlier run has."""
    taken = {name for kind, name in ARM_NAMES.items() if kind != SET}
    names = set(Candidate.objects.filter(benchmark=benchmark).values_list("name", flat=True))
    for arm in arms:
        if arm["kind"] == SET and arm["name"] in taken:
            arm["name"] = f"{arm['name']} (set)"
        name = number = f"{base} + {arm['name']}"[: MAX_KEY_LENGTH - 6]
        n = 1
        while number in names:
            n += 1
            number = f"{name} {n}"
        names.add(number)
        arm["candidate"] = number


@dataclass(frozen=True, slots=True)
class RefinementSize(RunSize):
    """The size of a run; ``points`` is the number of guiding criteria over all cases and arms."""

    texts: int = 0


def size_of(built: Built) -> RefinementSize:
    """Count requests, and the bytes that they send; a plan is taken to be as long as half an answer may be."""
    config = built.config
    conversations = dict(Case.objects.filter(pk__in=built.case_ids).values_list("pk", "conversation"))
    empty: dict[str, list[Any]] = {"edits": [], "must_not": []}
    nonce = "0" * 24
    own_bytes = {
        PLAN: len(body_of(plan_messages([], "", (), nonce=nonce), config.request_of(PLAN))),
        EDIT: len(body_of(edit_messages([], "", empty, nonce=nonce), config.request_of(EDIT))),
    }
    requests = dict.fromkeys(own_bytes, 0)
    n_bytes = dict.fromkeys(own_bytes, 0)
    points = 0
    plan_bytes = int(config.max_tokens * BYTES_PER_TOKEN) // 2
    for place, pk in enumerate(built.case_ids):
        case = config.cases[place]
        texts = len(json.dumps([conversations[pk], case.base]))
        for criteria in case.arms:
            if criteria is None:
                continue
            listed = sum(listed_bytes(Point.of(each)) for each in criteria)
            points += len(criteria)
            for stage, more in ((PLAN, listed), (EDIT, plan_bytes)):
                requests[stage] += 1
                n_bytes[stage] += own_bytes[stage] + texts + more
    return RefinementSize(
        cases=len(built.case_ids),
        points=points,
        stages=[
            StageSize(
                stage,
                requests[stage],
                int(n_bytes[stage] // BYTES_PER_TOKEN),
                config.allowance.cost(n_bytes[stage] / MIN_BYTES_PER_TOKEN, requests[stage] * config.max_tokens)
                if config.priced
                else None,
            )
            for stage in own_bytes
        ],
        currency=config.currency if config.priced else "",
        texts=requests[EDIT],
    )
