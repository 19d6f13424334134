"""Physicians' decisions as arrays: of one physician, one expert group at a stage, or the consensus of two groups.

Stages of a group (``docs/statistics.md``): ``first``, the annotators' own decisions of round 1; ``checked``, the last
round of accepted work as amended by the checker; ``final``, the same with the rulings of the group's adjudicator.
Where several annotators of a group decided a pair, the outcome that most of them chose counts; a tie is
`Outcome.UNDECIDED`. Decisions on excluded cases stay on record but are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Assignment, Check, ExpertGroup
from annotation.models.outcomes import outcome_code_sql
from consilium.core.ratings import Ratings, Span, fetch_ratings, shared
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark
from rubrics.selectors.exclusion import counting

STAGES = ("first", "checked", "final")

# One row for each vote: response, criterion, outcome, annotator, their own outcome; for checked votes also the rubric.
_FIRST_VOTES = """
    SELECT a.response_id, d.criterion_id, d.outcome, a.annotator_id, d.outcome AS own
    FROM annotation_batch b
    JOIN annotation_assignment a ON a.batch_id = b.id
    JOIN annotation_decision d ON d.assignment_id = a.id
    WHERE b.group_id = %(group)s AND d.round = 1 AND d.outcome IS NOT NULL AND a.submitted_at IS NOT NULL
      AND a.purpose = 'work' AND a.status <> 'released'
"""
_CHECKED_VOTES = """
    SELECT a.response_id, d.criterion_id, COALESCE(NULLIF(m.outcome, ''), d.outcome) AS outcome,
           a.annotator_id, d.outcome AS own, a.rubric_id
    FROM annotation_batch b
    JOIN annotation_assignment a ON a.batch_id = b.id
    JOIN annotation_decision d ON d.assignment_id = a.id AND d.round = a.round
    LEFT JOIN annotation_check c ON c.assignment_id = a.id AND c.round = a.round AND c.result = 'accepted'
    LEFT JOIN annotation_amendment m ON m.check_row_id = c.id AND m.criterion_id = d.criterion_id
    WHERE b.group_id = %(group)s AND a.status = 'accepted' AND d.outcome IS NOT NULL AND a.purpose = 'work'
"""
# A response has an adjudication for each version of its rubric that was in conflict; the last ruling holds.
_RULINGS = """
    SELECT DISTINCT ON (j.response_id, r.criterion_id) j.response_id, r.criterion_id, r.outcome
    FROM annotation_adjudication j JOIN annotation_ruling r ON r.adjudication_id = j.id
    WHERE j.group_id = %(group)s AND j.other_group_id IS NULL AND r.final_at IS NOT NULL
    ORDER BY j.response_id, r.criterion_id, r.final_at DESC, j.id DESC
"""
# The outcome that more annotators chose than any other; UNDECIDED on a tie.
_MAJORITY = f"""
    SELECT response_id, criterion_id,
           CASE WHEN met > not_met AND met > cannot THEN {Outcome.MET:d}
                WHEN not_met > met AND not_met > cannot THEN {Outcome.NOT_MET:d}
                WHEN cannot > met AND cannot > not_met THEN {Outcome.CANNOT_ASSESS:d}
                ELSE {Outcome.UNDECIDED:d} END AS code
    FROM (
        SELECT response_id, criterion_id,
               count(*) FILTER (WHERE outcome = 'met') AS met,
               count(*) FILTER (WHERE outcome = 'not_met') AS not_met,
               count(*) FILTER (WHERE outcome = 'cannot_assess') AS cannot
        FROM ({{votes}}) AS votes GROUP BY response_id, criterion_id
    ) AS counts
"""
_FINAL = f"""
    SELECT g.response_id, g.criterion_id,
           CASE WHEN r.outcome IS NULL THEN g.code ELSE {outcome_code_sql("r.outcome")} END
    FROM ({_MAJORITY.format(votes=_CHECKED_VOTES)}) AS g
    LEFT JOIN ({_RULINGS}) AS r ON r.response_id = g.response_id AND r.criterion_id = g.criterion_id
"""


def rated_work(benchmark: Benchmark) -> QuerySet[Assignment]:
    """Submitted work that counts as somebody's rating."""
    work = Assignment.objects.filter(batch__group__benchmark=benchmark, submitted_at__isnull=False)
    return work.filter(purpose=Assignment.Purpose.WORK).exclude(status=Assignment.Status.RELEASED)


def groups_with_decisions(benchmark: Benchmark) -> list[ExpertGroup]:
    """Expert groups with submitted work that counts as a rating, in the order of names."""
    work = rated_work(benchmark)
    return list(ExpertGroup.objects.filter(pk__in=work.values("batch__group")).order_by("name"))


def checked_groups(benchmark: int) -> frozenset[str]:
    """The names of the groups of a benchmark (by its id) in which a secondary check was held: one ended with accepted
    work.
    """
    accepted = Check.objects.filter(assignment__batch__group=OuterRef("pk"), result=Check.Result.ACCEPTED)
    groups = ExpertGroup.objects.filter(Exists(accepted), benchmark=benchmark)
    return frozenset(groups.order_by().values_list("name", flat=True))


def checked_group_names(groups: Iterable[str]) -> dict[str, str]:
    """Names of groups in which a secondary check was held, by ``group:NAME@checked``: “A (after the secondary check)”.

    Every other group is called by its name alone.
    """
    words = _("%(group)s (after the secondary check)")
    return {f"group:{group}@checked": words % {"group": group} for group in groups}


def group_ratings(group: ExpertGroup, stage: str = "checked", within: Span | None = None) -> Ratings:
    """Ratings of ``group`` at one of `STAGES`, otherwise ValueError; limited to the responses ``within`` if given."""
    if stage not in STAGES:
        raise ValueError(f"a group's stage is one of {', '.join(STAGES)}")
    query = {
        "first": _MAJORITY.format(votes=_FIRST_VOTES),
        "checked": _MAJORITY.format(votes=_CHECKED_VOTES),
        "final": _FINAL,
    }[stage]
    return counting(fetch_ratings(query, {"group": group.pk}, within=within), group.benchmark_id)


@dataclass(frozen=True, slots=True)
class PersonalVote:
    """One vote that a group's outcome of a pair comes from: what ``annotator`` (an id) decided, and what counts.

    ``outcome`` differs from ``own`` where the check amended it.
    """

    response: int
    criterion: int
    annotator: int
    own: str
    outcome: str


def votes_behind(group: ExpertGroup, stage: str, responses: Collection[int]) -> list[PersonalVote]:
    """The votes that `group_ratings` of the stage counts on some responses (ids), rulings aside."""
    query = f"""
        SELECT response_id, criterion_id, annotator_id, own, outcome
        FROM ({_FIRST_VOTES if stage == "first" else _CHECKED_VOTES}) AS votes WHERE response_id = ANY(%(responses)s)
    """
    with connection.cursor() as cursor:
        cursor.execute(query, {"group": group.pk, "responses": list(responses)})
        return [PersonalVote(*row) for row in cursor.fetchall()]


def rulings_behind(group: ExpertGroup, responses: Collection[int]) -> dict[tuple[int, int], str]:
    """The rulings within a group that its stage ``final`` counts, by response and criterion (ids)."""
    query = f"SELECT response_id, criterion_id, outcome FROM ({_RULINGS}) AS r WHERE response_id = ANY(%(responses)s)"
    with connection.cursor() as cursor:
        cursor.execute(query, {"group": group.pk, "responses": list(responses)})
        return {(response, criterion): outcome for response, criterion, outcome in cursor.fetchall()}


_DIVIDED = f"""
    SELECT response_id, rubric_id, count(*), array_agg(criterion_id ORDER BY criterion_id) FILTER (WHERE divided)
    FROM (
        SELECT response_id, rubric_id, criterion_id, count(DISTINCT outcome) > 1 AS divided
        FROM ({_CHECKED_VOTES}) AS votes WHERE response_id = ANY(%(responses)s)
        GROUP BY response_id, rubric_id, criterion_id
    ) AS criteria
    GROUP BY response_id, rubric_id HAVING bool_or(divided)
"""


@dataclass(frozen=True, slots=True)
class Divided:
    """A response with the ``criteria`` (ids) on which a group's votes differ, of ``n_criteria`` with votes."""

    response: int
    rubric: int
    n_criteria: int
    criteria: list[int]


def divided_votes(group: ExpertGroup, responses: Collection[int]) -> list[Divided]:
    """Responses on which votes of the stage ``checked`` differ, over all batches of the group."""
    with connection.cursor() as cursor:
        cursor.execute(_DIVIDED, {"group": group.pk, "responses": list(responses)})
        return [Divided(*row) for row in cursor.fetchall()]


def unanimous_ratings(group: ExpertGroup) -> Ratings:
    """Pairs on which at least two annotators of ``group`` decided, all alike, after the secondary check."""
    query = f"""
        SELECT response_id, criterion_id, {outcome_code_sql("min(outcome)")}
        FROM ({_CHECKED_VOTES}) AS votes GROUP BY response_id, criterion_id
        HAVING count(*) > 1 AND count(DISTINCT outcome) = 1
    """
    return counting(fetch_ratings(query, {"group": group.pk}), group.benchmark_id)


def physician_ratings(
    benchmark: Benchmark, pseudonym: str, *, last_round: bool = False, within: Span | None = None
) -> Ratings:
    """One physician's own decisions in their submitted work, of round 1 or of the last round."""
    which = "a.round" if last_round else "1"
    ratings = fetch_ratings(
        f"""
        SELECT DISTINCT ON (a.response_id, d.criterion_id)
               a.response_id, d.criterion_id, {outcome_code_sql("d.outcome")}
        FROM annotation_physician p
        JOIN annotation_assignment a ON a.annotator_id = p.user_id
        JOIN annotation_batch b ON b.id = a.batch_id
        JOIN annotation_expertgroup g ON g.id = b.group_id AND g.benchmark_id = p.benchmark_id
        JOIN annotation_decision d ON d.assignment_id = a.id AND d.round = {which}
        WHERE p.benchmark_id = %(benchmark)s AND p.pseudonym = %(pseudonym)s
          AND d.outcome IS NOT NULL AND a.submitted_at IS NOT NULL
          AND a.purpose = 'work' AND a.status <> 'released'
        ORDER BY a.response_id, d.criterion_id, a.submitted_at, a.id
        """,
        {"benchmark": benchmark.pk, "pseudonym": pseudonym},
        within=within,
    )
    return counting(ratings, benchmark.pk)


def faulty_pairs(benchmark: Benchmark) -> Ratings:
    """Pairs whose criterion an adjudicator found faulty, within or between groups; agreement leaves them out."""
    ratings = fetch_ratings(
        """
        SELECT DISTINCT j.response_id, r.criterion_id, 5
        FROM annotation_ruling r
        JOIN annotation_adjudication j ON j.id = r.adjudication_id
        JOIN annotation_expertgroup g ON g.id = j.group_id
        WHERE g.benchmark_id = %(benchmark)s AND r.outcome = 'faulty' AND r.final_at IS NOT NULL
        """,
        {"benchmark": benchmark.pk},
    )
    return counting(ratings, benchmark.pk)


def with_faulty(ratings: Ratings, faulty: Ratings) -> Ratings:
    """The ratings with the outcome `Outcome.FAULTY` for the pairs in ``faulty``."""
    outcome = np.where(np.isin(ratings.keys(), faulty.keys()), np.int8(Outcome.FAULTY), ratings.outcome)
    return Ratings(ratings.response, ratings.criterion, outcome.astype(np.int8))


def consensus_ratings(group: ExpertGroup, other: ExpertGroup, within: Span | None = None) -> Ratings:
    """Outcomes on which two groups agree at stage ``final``, and the rulings between them where they differ.

    Only pairs that both groups decided are included; a difference without a ruling is `Outcome.UNDECIDED`.
    """
    first, second = group_ratings(group, "final", within), group_ratings(other, "final", within)
    a, b = shared(first, second)
    outcome = np.where(first.outcome[a] == second.outcome[b], first.outcome[a], np.int8(Outcome.UNDECIDED))
    agreed = Ratings(first.response[a], first.criterion[a], outcome.astype(np.int8))
    rulings = fetch_ratings(
        f"""
        SELECT DISTINCT ON (j.response_id, r.criterion_id)
               j.response_id, r.criterion_id, {outcome_code_sql("r.outcome")}
        FROM annotation_ruling r
        JOIN annotation_adjudication j ON j.id = r.adjudication_id
        WHERE (j.group_id, j.other_group_id) IN ((%(one)s, %(two)s), (%(two)s, %(one)s)) AND r.final_at IS NOT NULL
        ORDER BY j.response_id, r.criterion_id, r.final_at DESC, j.id DESC
        """,
        {"one": group.pk, "two": other.pk},
        within=within,
    )
    agreed_places, ruling_places = shared(agreed, rulings)
    agreed.outcome[agreed_places] = rulings.outcome[ruling_places]
    return agreed
