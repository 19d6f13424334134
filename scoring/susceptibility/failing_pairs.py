"""Pairs whose decision costs the candidate points: the pairs that a prompt injection would aim to turn.

A pair fails where a criterion with positive points is not met, or one with negative points is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.models import ExpertGroup
from annotation.selectors.ratings import checked_group_names, checked_groups, faulty_pairs
from consilium.core.errors import DomainError
from consilium.core.ratings import Ratings, copy_columns
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark
from scoring.models import Judge, JudgeRun
from scoring.selectors.raters import resolve_rater

_ITEMS = """
    SELECT r.id, r.case_id, u.id, i.criterion_id, i.points::int4
    FROM rubrics_response r
    JOIN rubrics_case c ON c.id = r.case_id
    JOIN rubrics_rubric u ON u.case_id = c.id AND u.track = 'gold' AND u.status = 'published'
    JOIN rubrics_rubricitem i ON i.rubric_id = u.id
    WHERE c.benchmark_id = %(benchmark)s
    ORDER BY r.id, i.criterion_id
"""
_TYPES = {"response": "int8", "case": "int8", "rubric": "int8", "criterion": "int8", "points": "int4"}


@dataclass(frozen=True, slots=True)
class FailingPairs:
    """Arrays of one length, in the order of response and criterion: ids, and the points in the current rubric."""

    response: NDArray[np.int64]
    case: NDArray[np.int64]
    rubric: NDArray[np.int64]
    criterion: NDArray[np.int64]
    points: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.response)

    def at(self, places: NDArray[Any]) -> FailingPairs:
        """The pairs at ``places`` (numbers or a mask)."""
        return FailingPairs(*(getattr(self, name)[places] for name in _TYPES))


@dataclass(frozen=True, slots=True)
class Reference:
    """Whose decisions say which pairs fail: a rater's name, and what people read."""

    rater: str
    label: str


def references(benchmark: Benchmark, judge: Judge) -> list[Reference]:
    """The groups that decided something on the benchmark, and the newest finished run of this version of the judge."""
    groups = ExpertGroup.objects.filter(
        benchmark=benchmark, batches__assignments__submitted_at__isnull=False
    ).distinct()
    names = checked_group_names(checked_groups(benchmark.pk))
    references = [
        Reference(f"group:{name}@checked", names.get(f"group:{name}@checked", name))
        for name in groups.order_by("name").values_list("name", flat=True)
    ]
    newest = JudgeRun.objects.graded().filter(benchmark=benchmark, judge=judge).first()
    if newest is not None:
        references.append(Reference(f"run:{newest.public_id}", _("its own newest run")))
    return references


def reference_label(benchmark: int, rater: str) -> str:
    """What people read for the rater of a measurement; the name itself where it is of no kind that is offered."""
    kind, _colon, name = rater.partition(":")
    base, _at, stage = name.rpartition("@")
    if kind == "group":
        if stage != "checked":
            return name
        return checked_group_names(checked_groups(benchmark)).get(rater, base)
    if kind == "run":
        judge = Judge.objects.filter(runs__public_id=name, runs__benchmark=benchmark).first()
        if judge is not None:
            return _("a run of %(judge)s, version %(n)s") % {"judge": judge.name, "n": judge.version}
    return rater


def failing_pairs(benchmark: Benchmark, reference: str) -> FailingPairs:
    """All pairs that fail by the rater called ``reference``, by the current rubrics; `UnknownRater` if it is none.

    Criteria that an adjudicator found at fault are left out.
    """
    ratings = resolve_rater(benchmark, reference).ratings()
    items = copy_columns(_ITEMS, {"benchmark": benchmark.pk}, types=_TYPES)
    known = FailingPairs(*(items[name].astype(np.int64) for name in _TYPES))
    keys = (known.response << 31) | known.criterion
    costly = np.where(known.points > 0, int(Outcome.NOT_MET), int(Outcome.MET))
    fails = _outcomes(ratings, keys) == costly
    return known.at(fails & ~np.isin(keys, faulty_pairs(benchmark).keys()))


def _outcomes(ratings: Ratings, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The outcome of each of ``keys``; −1 where the rater has none."""
    if not len(ratings):
        return np.full(len(keys), -1)
    rated = ratings.keys()
    place = np.minimum(np.searchsorted(rated, keys), len(rated) - 1)
    return np.where(rated[place] == keys, ratings.outcome[place].astype(np.int64), -1)


def draw(pairs: FailingPairs, number: int, rng: np.random.Generator) -> FailingPairs:
    """At most ``number`` pairs by chance, over as many responses as there are, and then over as many cases.

    A second criterion of a response is drawn only once every response has one. Ties are broken by chance.
    """
    order = rng.permutation(len(pairs))
    shuffled = pairs.at(order)
    nth_of_response = _nth(shuffled.response)
    # Counted among the pairs of the same round, so that a round goes through all cases before it comes back to one.
    nth_of_case = _nth(shuffled.case * (int(nth_of_response.max(initial=0)) + 1) + nth_of_response)
    chosen = np.lexsort((np.arange(len(pairs)), nth_of_case, nth_of_response))[:number]
    return pairs.at(np.sort(order[chosen]))


def _nth(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each entry's value occurs before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(values) else np.zeros(0, np.int64)
    sizes = np.diff(np.r_[starts, len(values)])
    nth = np.empty(len(values), dtype=np.int64)
    nth[order] = np.arange(len(values)) - np.repeat(starts, sizes)
    return nth


def reference_or_default(benchmark: Benchmark, judge: Judge, reference: str) -> str:
    """``reference``, or the first that there is: physicians before the judge itself."""
    if reference:
        return reference
    known = references(benchmark, judge)
    if not known:
        raise DomainError(
            _("No decisions yet on which responses fail. Have a group or the judge itself grade some responses.")
        )
    return known[0].rater
