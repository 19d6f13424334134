"""Inputs of quality figures as arrays; one COPY reads each input, for any number of people and decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.models import ExpertGroup
from annotation.models.outcomes import outcome_code_sql
from annotation.selectors.ratings import group_ratings
from consilium.core.ratings import copy_columns
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark

Ints = npt.NDArray[np.int64]

# First-round decisions that were handed in. Weeks begin on Monday; week 0 contains 1970-01-01.
_DECISIONS = f"""
    SELECT DISTINCT ON (a.annotator_id, a.response_id, d.criterion_id)
           a.annotator_id::int8, b.group_id::int8, a.response_id::int8, d.criterion_id::int8,
           ({outcome_code_sql("d.outcome")})::int2,
           floor((extract(epoch FROM a.submitted_at) / 86400 + 3) / 7)::int4,
           (b.status = 'closed')::int::int2, (a.purpose = 'gold')::int::int2,
           (b.annotators_per_item > 1 OR EXISTS (
               SELECT 1 FROM annotation_check c WHERE c.assignment_id = a.id AND c.result = 'accepted'
           ) OR (a.purpose = 'gold' AND a.to_check AND a.status = 'accepted'))::int::int2
    FROM annotation_batch b
    JOIN annotation_assignment a ON a.batch_id = b.id
    JOIN annotation_decision d ON d.assignment_id = a.id AND d.round = 1 AND d.outcome IS NOT NULL
    WHERE b.group_id = ANY(%(groups)s) AND a.submitted_at IS NOT NULL AND a.status <> 'released'
      AND a.purpose = ANY(%(purposes)s)
    ORDER BY a.annotator_id, a.response_id, d.criterion_id, a.submitted_at, a.id
"""
# Responses whose final decisions rest on more than one person: two annotators, or an annotator and a checker.
_SETTLED = """
    SELECT b.group_id::int8, a.response_id::int8
    FROM annotation_batch b JOIN annotation_assignment a ON a.batch_id = b.id
    WHERE b.group_id = ANY(%(groups)s) AND a.status = 'accepted' AND a.purpose = 'work'
    GROUP BY 1, 2
    HAVING count(*) > 1 OR bool_or(EXISTS (
        SELECT 1 FROM annotation_check c WHERE c.assignment_id = a.id AND c.result = 'accepted'))
    ORDER BY 1, 2
"""
_KEYS = f"""
    SELECT r.response_id::int8, k.criterion_id::int8, ({outcome_code_sql("k.outcome")})::int2
    FROM annotation_keyedresponse r JOIN annotation_keyeddecision k ON k.keyed_id = r.id
    WHERE r.benchmark_id = %(benchmark)s AND r.use = 'gold' AND r.active
    ORDER BY 1, 2
"""
_CASES = """
    SELECT r.id::int8, r.case_id::int8
    FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id
    WHERE c.benchmark_id = %(benchmark)s
    ORDER BY 1
"""
# One row for each piece of work that was begun or passed over. No checker sees gold items; those drawn for a check
# count as checked without a change, so that the annotator's own figures do not reveal how many there were.
_WORK = """
    SELECT a.annotator_id::int8, a.response_id::int8,
           (a.submitted_at IS NOT NULL AND a.status <> 'released')::int::int2,
           EXISTS (SELECT 1 FROM annotation_skip s WHERE s.assignment_id = a.id AND s.reason <> 'later')::int::int2,
           ((SELECT count(*) FROM annotation_check c WHERE c.assignment_id = a.id AND c.result <> '')
            + (a.purpose = 'gold' AND a.to_check AND a.status = 'accepted')::int)::int4,
           EXISTS (SELECT 1 FROM annotation_check c
                   WHERE c.assignment_id = a.id AND c.result = 'returned')::int::int2,
           (SELECT count(*) FROM annotation_decision d
            WHERE d.assignment_id = a.id AND d.outcome IS NOT NULL
              AND (d.round IN (SELECT c.round FROM annotation_check c
                               WHERE c.assignment_id = a.id AND c.result = 'accepted')
                   OR (a.purpose = 'gold' AND a.to_check AND a.status = 'accepted' AND d.round = a.round)))::int4,
           (SELECT count(*) FROM annotation_check c JOIN annotation_amendment m ON m.check_row_id = c.id
            WHERE c.assignment_id = a.id AND c.result = 'accepted' AND m.outcome <> '')::int4,
           COALESCE((SELECT t.seconds FROM annotation_attention t
                     WHERE t.assignment_id = a.id AND t.user_id = a.annotator_id), 0)::int4,
           (SELECT count(*) FROM annotation_decision d
            WHERE d.assignment_id = a.id AND d.round = 1 AND d.outcome IS NOT NULL)::int4
    FROM annotation_batch b JOIN annotation_assignment a ON a.batch_id = b.id
    WHERE b.group_id = ANY(%(groups)s) AND a.purpose = ANY(%(purposes)s)
      AND (a.status NOT IN ('not_started', 'released')
           OR EXISTS (SELECT 1 FROM annotation_skip s WHERE s.assignment_id = a.id AND s.reason <> 'later'))
    ORDER BY a.id
"""
_CHECKS = """
    SELECT c.checker_id::int8, a.response_id::int8, (c.result = 'returned')::int::int2,
           (SELECT count(*) FROM annotation_decision d
            WHERE d.assignment_id = c.assignment_id AND d.round = c.round AND d.outcome IS NOT NULL)::int4,
           (SELECT count(*) FROM annotation_amendment m WHERE m.check_row_id = c.id AND m.outcome <> '')::int4
    FROM annotation_batch b
    JOIN annotation_assignment a ON a.batch_id = b.id
    JOIN annotation_check c ON c.assignment_id = a.id
    WHERE b.group_id = ANY(%(groups)s) AND c.result <> '' AND a.purpose = ANY(%(purposes)s)
    ORDER BY c.id
"""
# Amendments of criteria that the group's adjudicator has ruled on.
_RULED = """
    SELECT c.checker_id::int8, a.response_id::int8, (m.outcome = u.outcome)::int::int2
    FROM annotation_batch b
    JOIN annotation_assignment a ON a.batch_id = b.id
    JOIN annotation_check c ON c.assignment_id = a.id AND c.result = 'accepted'
    JOIN annotation_amendment m ON m.check_row_id = c.id AND m.outcome <> ''
    JOIN annotation_adjudication j ON j.response_id = a.response_id AND j.group_id = b.group_id
         AND j.other_group_id IS NULL
    JOIN annotation_ruling u ON u.adjudication_id = j.id AND u.criterion_id = m.criterion_id AND u.final_at IS NOT NULL
    WHERE b.group_id = ANY(%(groups)s) AND a.purpose = 'work' AND u.outcome <> 'faulty'
    ORDER BY m.id
"""


@dataclass(frozen=True, slots=True)
class Decisions:
    """First-round decisions, one row each. ``final`` is `Outcome.UNDECIDED` where no final decision can be compared."""

    user: Ints
    group: Ints
    response: Ints
    criterion: Ints
    outcome: Ints
    week: Ints
    final: Ints

    def where(self, rows: npt.NDArray[np.bool_]) -> Decisions:
        """The decisions at ``rows``, a mask."""
        return Decisions(*(getattr(self, name)[rows] for name in self.__slots__))


def decisions(benchmark: Benchmark, groups: Sequence[ExpertGroup], *, own_view: bool = False) -> Decisions:
    """The first-round decisions of the groups' annotators, beside the final decision of their group.

    With ``own_view`` the result holds what an annotator may learn about their own work. Only closed batches count,
    since nobody may work out the decisions of others before a batch is closed. Gold items are included, with the key
    as the final decision: a count without them would reveal how many there were.
    """
    purposes = ["work", "gold"] if own_view else ["work"]
    ids = [group.pk for group in groups]
    names = ("user", "group", "response", "criterion", "outcome", "week", "closed", "gold", "vetted")
    kinds = ("int8", "int8", "int8", "int8", "int2", "int4", "int2", "int2", "int2")
    answers = copy_columns(
        _DECISIONS, {"groups": ids, "purposes": purposes}, types=dict(zip(names, kinds, strict=True))
    )
    if own_view:
        answers = {name: column[answers["closed"] == 1] for name, column in answers.items()}
    settled = copy_columns(_SETTLED, {"groups": ids}, types={"group": "int8", "response": "int8"})
    final = np.full(len(answers["user"]), int(Outcome.UNDECIDED), dtype=np.int64)
    for group in groups:
        known = group_ratings(group, "final")
        rows = np.flatnonzero(
            (answers["group"] == group.pk)
            & (answers["gold"] == 0)
            & np.isin(answers["response"], settled["response"][settled["group"] == group.pk])
        )
        final[rows] = _looked_up(answers, rows, known.keys(), known.outcome)
    if own_view:
        keys = copy_columns(
            _KEYS, {"benchmark": benchmark.pk}, types={"response": "int8", "criterion": "int8", "key": "int2"}
        )
        rows = np.flatnonzero((answers["gold"] == 1) & (answers["vetted"] == 1))
        final[rows] = _looked_up(answers, rows, (keys["response"] << 31) | keys["criterion"], keys["key"])
    columns = {name: answers[name].astype(np.int64) for name in names[:6]}
    return Decisions(**columns, final=final)


def _looked_up(answers: dict[str, Ints], rows: Ints, keys: Ints, outcomes: npt.NDArray[np.integer]) -> Ints:
    """The ``outcomes`` of the pairs ``rows``, looked up in ``keys``, which must be sorted."""
    matched_outcomes = np.full(len(rows), int(Outcome.UNDECIDED), dtype=np.int64)
    if len(keys) and len(rows):
        pair_keys = (answers["response"][rows] << 31) | answers["criterion"][rows]
        place = np.minimum(np.searchsorted(keys, pair_keys), len(keys) - 1)
        matched_outcomes = np.where(keys[place] == pair_keys, outcomes[place], matched_outcomes)
    return matched_outcomes.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Cases:
    """The case of every response of a benchmark; ``responses`` are in ascending order."""

    responses: Ints
    cases: Ints

    def of(self, response: Ints) -> Ints:
        """The case of each of some responses."""
        return self.cases[np.searchsorted(self.responses, response)]


def cases(benchmark: Benchmark) -> Cases:
    """The cases of all its responses."""
    columns = copy_columns(_CASES, {"benchmark": benchmark.pk}, types={"response": "int8", "case": "int8"})
    return Cases(columns["response"], columns["case"])


@dataclass(frozen=True, slots=True)
class Work:
    """A row for each piece of work that somebody began or passed over."""

    user: Ints
    response: Ints
    handed_in: Ints
    skipped: Ints
    checks: Ints  # number of finished checks
    returned: Ints
    checked: Ints  # decisions in an accepted check
    amended: Ints
    seconds: Ints
    decisions: Ints


def work(groups: Sequence[ExpertGroup], *, own_view: bool = False) -> Work:
    """Pieces of work of the groups; with ``own_view`` gold items are included."""
    kinds = ("int8", "int8", "int2", "int2", "int4", "int2", "int4", "int4", "int4", "int4")
    columns = copy_columns(
        _WORK,
        {"groups": [group.pk for group in groups], "purposes": ["work", "gold"] if own_view else ["work"]},
        types=dict(zip(Work.__slots__, kinds, strict=True)),
    )
    return Work(*(columns[name].astype(np.int64) for name in Work.__slots__))


@dataclass(frozen=True, slots=True)
class Checks:
    """A row for each finished check."""

    user: Ints
    response: Ints
    returned: Ints
    decisions: Ints
    amended: Ints


def checks(groups: Sequence[ExpertGroup], *, own_view: bool = False) -> Checks:
    """Finished checks in the groups; with ``own_view`` those of gold items are included."""
    columns = copy_columns(
        _CHECKS,
        {"groups": [group.pk for group in groups], "purposes": ["work", "gold"] if own_view else ["work"]},
        types=dict(zip(Checks.__slots__, ("int8", "int8", "int2", "int4", "int4"), strict=True)),
    )
    return Checks(*(columns[name].astype(np.int64) for name in Checks.__slots__))


def ruled_amendments(groups: Sequence[ExpertGroup]) -> dict[str, Ints]:
    """Columns user (the checker), response, upheld: amendments beside the ruling on the same criterion."""
    return copy_columns(
        _RULED,
        {"groups": [group.pk for group in groups]},
        types={"user": "int8", "response": "int8", "upheld": "int2"},
    )
