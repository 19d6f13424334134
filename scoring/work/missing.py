"""What is left to do of a slice, asked of the database in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from rubrics.models import Criterion, Response
from scoring.models import JudgeRun

CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Question:
    """One verdict that is due."""

    response_id: int
    criterion_id: int
    replicate: int
    points: int
    # Shared by all questions about one response.
    conversation: list[dict[str, str]]
    response: str
    criterion: str


# Keyset paging: a pass sees each pair once, so what could not be judged is not asked again in the same pass.
_MISSING = """
    SELECT i.id, r.position, n.replicate, i.response_id, r.criterion_id, r.points
    FROM scoring_judgerunitem i
    JOIN rubrics_rubricitem r ON r.rubric_id = i.rubric_id
    CROSS JOIN generate_series(0, %(replicates)s - 1) AS n(replicate)
    WHERE i.run_id = %(run)s AND i.response_id %% %(slices)s = %(number)s
      AND i.id >= %(item)s
      AND (i.id, r.position, n.replicate) > (%(item)s, %(position)s, %(replicate)s)
      AND NOT EXISTS (
          SELECT 1 FROM scoring_verdict v
          WHERE v.run_id = %(run)s AND v.response_id = i.response_id AND v.criterion_id = r.criterion_id
            AND v.replicate = n.replicate
      )
    ORDER BY i.id, r.position, n.replicate
    LIMIT %(chunk)s
"""


def missing_questions(run: JudgeRun, number: int, slices: int, chunk: int = CHUNK) -> Iterator[list[Question]]:
    """Lists of at most ``chunk`` questions of the slice that have no verdict, in one pass over the run's items."""
    item, position, replicate = 0, 0, 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                _MISSING,
                {
                    "run": run.pk,
                    "replicates": run.replicates,
                    "slices": slices,
                    "number": number,
                    "item": item,
                    "position": position,
                    "replicate": replicate,
                    "chunk": chunk,
                },
            )
            rows = cursor.fetchall()
        if not rows:
            return
        responses = Response.objects.select_related("case").in_bulk({row[3] for row in rows})
        criteria = dict(Criterion.objects.filter(pk__in={row[4] for row in rows}).values_list("pk", "text"))
        yield [
            Question(
                response_id=response_id,
                criterion_id=criterion_id,
                replicate=which,
                points=points,
                conversation=responses[response_id].case.conversation,
                response=responses[response_id].text,
                criterion=criteria[criterion_id],
            )
            for _item, _position, which, response_id, criterion_id, points in rows
        ]
        item, position, replicate = rows[-1][:3]
