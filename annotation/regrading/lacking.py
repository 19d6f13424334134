"""Criteria of current rubrics that a group has not graded, on responses that it graded under earlier versions.

Decisions on unchanged criteria stay valid: a new version uses the same criterion rows. Only the rest is asked for here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db import connection
from django.utils.translation import gettext_lazy

from annotation.models import ExpertGroup
from rubrics.consequences import Consequence, Cost
from rubrics.models import Benchmark, Case, Rubric
from rubrics.versions.revisions import decision_counts

# Work that the group has handed in or still will hand in; open work of a closed batch is never handed in.
_ASKED = """
    SELECT a.response_id, a.case_id, a.rubric_id, a.criteria, a.annotator_id, a.submitted_at
    FROM annotation_assignment a JOIN annotation_batch b ON b.id = a.batch_id
    WHERE b.group_id = %(group)s AND a.purpose = 'work' AND a.status <> 'released'
      AND (a.submitted_at IS NOT NULL OR b.status <> 'closed')
"""
# One row for each response and lacking criterion.
_LACKING = f"""
    WITH asked AS MATERIALIZED ({_ASKED}),
    graded AS (
        SELECT DISTINCT w.response_id, w.case_id, o.track
        FROM asked w JOIN rubrics_rubric o ON o.id = w.rubric_id WHERE w.submitted_at IS NOT NULL
    )
    SELECT g.response_id, g.case_id, u.id AS rubric_id, i.criterion_id, i.position
    FROM graded g
    JOIN rubrics_case c ON c.id = g.case_id AND c.excluded_at IS NULL
    JOIN rubrics_rubric u ON u.case_id = g.case_id AND u.track = g.track AND {{chosen}}
    JOIN rubrics_rubricitem i ON i.rubric_id = u.id
    WHERE NOT EXISTS (
        SELECT 1 FROM asked w JOIN rubrics_rubricitem k ON k.rubric_id = w.rubric_id
        WHERE w.response_id = g.response_id AND k.criterion_id = i.criterion_id
          AND (w.criteria IS NULL OR i.criterion_id = ANY(w.criteria))
    )
    ORDER BY g.case_id, g.response_id, i.position
"""
_CURRENT = "u.track = 'gold' AND u.status = 'published' AND u.version > 1"
_GRADED = """
    SELECT count(*) FROM (
        SELECT DISTINCT a.response_id, d.criterion_id
        FROM annotation_assignment a
        JOIN annotation_batch b ON b.id = a.batch_id AND b.group_id = %(group)s
        JOIN annotation_decision d ON d.assignment_id = a.id AND d.outcome IS NOT NULL
        JOIN rubrics_rubricitem i ON i.criterion_id = d.criterion_id AND i.rubric_id = %(rubric)s
        WHERE a.case_id = %(case)s AND a.purpose = 'work' AND a.status <> 'released' AND a.submitted_at IS NOT NULL
    ) AS pairs
"""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A graded response, the current rubric of its case, and its criteria that were never asked about."""

    response: int
    case: int
    rubric: int
    criteria: tuple[int, ...]


def lacking_in(group: ExpertGroup, *, rubric: Rubric | None = None) -> list[Lacking]:
    """Graded responses of ``group`` and what they lack under current rubrics, or under one version; in one query."""
    chosen, params = _CURRENT, {"group": group.pk}
    if rubric is not None:
        chosen, params = "u.id = %(rubric)s", {"group": group.pk, "rubric": rubric.pk}
    with connection.cursor() as cursor:
        cursor.execute(_LACKING.format(chosen=chosen), params)
        rows = cursor.fetchall()
    criteria_by_response: dict[tuple[int, int, int], list[int]] = {}
    for response, case, of_rubric, criterion, _position in rows:
        criteria_by_response.setdefault((response, case, of_rubric), []).append(criterion)
    return [Lacking(*key, tuple(criteria)) for key, criteria in criteria_by_response.items()]


def graders_of(group: ExpertGroup, responses: Iterable[int]) -> dict[int, list[int]]:
    """Response → the users who handed it in for the group, in the order of handing in, then those still working on it.

    A user with open work under an earlier version finishes that version. If they were left out here, they would never
    be asked about the new criteria.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT response_id, annotator_id FROM ({_ASKED}) AS asked WHERE response_id = ANY(%(responses)s)"
            " ORDER BY response_id, submitted_at, annotator_id",
            {"group": group.pk, "responses": list(responses)},
        )
        rows = cursor.fetchall()
    users_by_response: dict[int, list[int]] = {}
    for response, user in rows:
        if user not in users_by_response.setdefault(response, []):
            users_by_response[response].append(user)
    return users_by_response


@dataclass(frozen=True, slots=True)
class GroupLacks:
    """How much a group has to grade again."""

    group: ExpertGroup
    responses: int
    decisions: int
    cases: int


def lacks_of(benchmark: Benchmark) -> list[GroupLacks]:
    """What each group of the benchmark has to grade again; one query per group."""
    lacks = []
    for group in ExpertGroup.objects.filter(benchmark=benchmark).order_by("name", "pk"):
        rows = lacking_in(group)
        cases = {row.case for row in rows}
        lacks.append(GroupLacks(group, len(rows), sum(len(row.criteria) for row in rows), len(cases)))
    return lacks


def consequences(case: Case, rubric: Rubric) -> list[Consequence]:
    """For each group that graded responses to the case: what is graded under ``rubric``, and what is missing."""
    from django.urls import reverse
    from django.utils.translation import gettext as _

    url = reverse("annotation:regrading", args=[case.benchmark.slug])
    consequence_list = []
    for group in ExpertGroup.objects.filter(benchmark=case.benchmark_id).order_by("name", "pk"):
        with connection.cursor() as cursor:
            cursor.execute(_GRADED, {"group": group.pk, "case": case.pk, "rubric": rubric.pk})
            n_graded = int(cursor.fetchone()[0])
        rows = lacking_in(group, rubric=rubric)
        missing = sum(len(row.criteria) for row in rows)
        if n_graded or missing:
            address = f"{url}?group={group.public_id}" if rubric.status == Rubric.Status.PUBLISHED else ""
            consequence_list.append(Consequence(group.name, _("decisions"), n_graded, missing, len(rows), address))
    return consequence_list


def decision_cost(criteria: Collection[int]) -> Cost:
    """Decisions that would have to be made again if these criteria were reworded."""
    return Cost(gettext_lazy("decisions"), decision_counts(set(criteria)))
