"""The input of scores: one row for each criterion of each response, by one query and one rater.

Which responses are scored: those that a judge was to judge, or those of which physicians decided anything. A judge's
missing verdict counts against the candidate; a decision that physicians have not made yet leaves the response without a
score, as does a tie. A criterion that an adjudicator found at fault does not count, nor does an excluded case.

If the replicates of a run count by their mean, a row also has the share of replicates with the verdict met, which the
rubric score uses in place of the outcome.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from annotation.selectors.ratings import faulty_pairs
from consilium.core.ratings import Ratings, Span, copy_columns
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark
from rubrics.selectors.consensus_criteria import SCORED_TAGS
from scoring.runs.selectors import Shares
from scoring.selectors.raters import Rater

OVERALL = "overall_score"
AXIS = "axis:"  # the tag of a criterion that names its axis begins so

Row = dict[str, Any]
Array = NDArray[Any]

_ITEMS = """
    SELECT r.id, r.case_id, r.candidate_id, r.sample::int4, i.criterion_id, i.points::int4
    FROM rubrics_response r
    JOIN rubrics_case c ON c.id = r.case_id
    JOIN rubrics_rubric u ON u.case_id = c.id AND u.track = 'gold' AND u.status = 'published'
    JOIN rubrics_rubricitem i ON i.rubric_id = u.id
    JOIN rubrics_candidate d ON d.id = r.candidate_id
    WHERE c.benchmark_id = %(benchmark)s AND (d.kind <> 'derived' OR d.name = ANY(%(named)s))
    ORDER BY r.id, i.criterion_id
"""
_TAGS = f"""
    SELECT tag, array_agg(i.criterion_id)
    FROM rubrics_rubricitem i
    JOIN rubrics_rubric u ON u.id = i.rubric_id AND u.track = 'gold' AND u.status = 'published'
    JOIN rubrics_case c ON c.id = u.case_id, unnest({SCORED_TAGS}) AS tag
    WHERE c.benchmark_id = %(benchmark)s
    GROUP BY tag
"""


@dataclass(frozen=True, eq=False)
class Sheet:
    """One row for each criterion of each response that is scored.

    ``response``, ``case``, ``candidate`` are indices into the lists with the plural name; ``answer`` holds the codes of
    `consilium.statistics.outcomes.Outcome`. A criterion that an adjudicator found faulty on a response has the code
    FAULTY, so that it is counted although no score uses it. ``open`` marks physicians' decisions that were not made
    yet: they have the code CANNOT_ASSESS in ``answer``, so that their response has no score. ``share`` is the mean of a
    run's replicates, NaN in rows without a valid one; None where no mean is taken.
    """

    response: Array
    criterion: Array  # indices into criterion_ids
    points: Array
    answer: Array
    open: Array
    criterion_ids: Array
    response_ids: Array
    response_case: Array
    response_candidate: Array
    response_sample: Array
    case_ids: Array
    candidate_ids: Array
    share: Array | None = None

    def without_rows(self) -> Sheet:
        """Its responses, cases and candidates alone, for comparisons by response; its rows take far more memory."""
        none = self.answer[:0]
        return replace(self, response=none, criterion=none, points=none, answer=none, open=none, share=None)


@dataclass(frozen=True, eq=False)
class Slice:
    """A part of the benchmark: whole scores of the responses to some cases, or scores over some criteria, on all cases
    or on some.
    """

    name: str
    cases: Array | None = None  # mask over cases
    criteria: Array | None = None  # mask over criteria


def due_pairs(rater: Rater, within: Span | None = None) -> Ratings | None:
    """The pairs that all judges of a rater were to judge; None for physicians, who have no fixed set of pairs."""
    common: Ratings | None = None
    for judge in rater.judges:
        due = judge.due(within)
        if common is not None:
            kept = np.isin(due.keys(), common.keys(), assume_unique=True)
            due = Ratings(due.response[kept], due.criterion[kept], due.outcome[kept])
        common = due
    return common


def read_sheet(benchmark: Benchmark, rater: Rater, *, named: Collection[str] = ()) -> Sheet:
    """The input of the scores of ``rater`` on ``benchmark``; of derived candidates only those that are ``named``."""
    types = {"response": "int8", "case": "int8", "candidate": "int8", "sample": "int4", "criterion": "int8"}
    items = copy_columns(_ITEMS, {"benchmark": benchmark.pk, "named": list(named)}, types={**types, "points": "int4"})
    keys = (items["response"] << 31) | items["criterion"]
    ratings, due = rater.ratings(), due_pairs(rater)
    rated = ratings.keys()
    place = np.minimum(np.searchsorted(rated, keys), max(len(rated) - 1, 0))
    has_rating = rated[place] == keys if len(rated) else np.zeros(len(keys), dtype=bool)
    missing = np.int64(Outcome.MISSING)
    answer = np.where(has_rating, ratings.outcome[place] if len(rated) else missing, missing)
    if due is not None:
        selected = np.isin(keys, due.keys()) | has_rating
    else:
        selected = np.isin(items["response"], np.unique(ratings.response))
    answer[np.isin(keys, faulty_pairs(benchmark).keys())] = Outcome.FAULTY
    still_open = (answer == missing) & (not rater.is_judge)
    answer = np.where(still_open, np.int64(Outcome.CANNOT_ASSESS), answer)

    share = None if rater.shares is None else _shares_of(keys, rater.shares())

    response_ids, first, response = np.unique(items["response"][selected], return_index=True, return_inverse=True)
    criterion_ids, criterion = np.unique(items["criterion"][selected], return_inverse=True)
    case_ids, response_case = np.unique(items["case"][selected][first], return_inverse=True)
    candidate_ids, response_candidate = np.unique(items["candidate"][selected][first], return_inverse=True)
    return Sheet(
        response=response,
        criterion=criterion,
        points=items["points"][selected].astype(np.int64),
        answer=answer[selected],
        open=still_open[selected],
        criterion_ids=criterion_ids,
        response_ids=response_ids,
        response_case=response_case,
        response_candidate=response_candidate,
        response_sample=items["sample"][selected][first],
        case_ids=case_ids,
        candidate_ids=candidate_ids,
        share=None if share is None else share[selected],
    )


def settings_of(response_ids: Array) -> list[str]:
    """The setting of each response, in their order."""
    ids = response_ids.tolist()
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, setting FROM rubrics_response WHERE id = ANY(%s)", [ids])
        settings = dict(cursor.fetchall())
    return [settings[pk] for pk in ids]


def _shares_of(keys: Array, shares: Shares) -> Array:
    """The share of each pair, NaN where it has none."""
    values = np.full(len(keys), np.nan)
    if len(shares.keys):
        place = np.minimum(np.searchsorted(shares.keys, keys), len(shares.keys) - 1)
        matches = shares.keys[place] == keys
        values[matches] = shares.share[place[matches]]
    return values


def labels_of_case(case: Row) -> list[str]:
    """The slices of cases that a case is in by its difficulty, its register and its tags."""
    own = [f"{name}:{case[name]}" for name in ("difficulty", "register") if case[name]]
    return [*own, *dict.fromkeys([*case["tags"], *case["label_tags"]])]


def axes_of_criteria(benchmark: Benchmark, sheet: Sheet) -> dict[str, Array]:
    """Each axis of a criterion of the sheet by name, with the mask of its criteria."""
    tags = tags_of_criteria(benchmark, sheet)
    return {tag.removeprefix(AXIS): tags[tag] for tag in sorted(tags) if tag.startswith(AXIS)}


def tags_of_criteria(benchmark: Benchmark, sheet: Sheet) -> dict[str, Array]:
    """Each tag of a criterion of the sheet, with the mask of its criteria."""
    with connection.cursor() as cursor:
        cursor.execute(_TAGS, {"benchmark": benchmark.pk})
        tags = dict(cursor.fetchall())
    masks = {tag: np.isin(sheet.criterion_ids, np.array(ids, dtype=np.int64)) for tag, ids in tags.items()}
    return {tag: mask for tag, mask in masks.items() if mask.any()}


def slices_of(benchmark: Benchmark, sheet: Sheet, cases: dict[int, Row]) -> Iterator[Slice]:
    """The overall slice, then each difficulty, register and tag that some scored response has."""
    yield Slice(OVERALL)
    labels: dict[str, list[int]] = {}
    for place, pk in enumerate(sheet.case_ids.tolist()):
        for label in labels_of_case(cases[pk]):
            labels.setdefault(label, []).append(place)
    by_criterion = tags_of_criteria(benchmark, sheet)
    for label in sorted({*labels, *by_criterion}):
        # A tag of both a case and criteria is scored over the criteria, as HealthBench's own code does.
        if label in by_criterion:
            yield Slice(label, criteria=by_criterion[label])
        else:
            mask = np.zeros(len(sheet.case_ids), dtype=bool)
            mask[labels[label]] = True
            yield Slice(label, cases=mask)
