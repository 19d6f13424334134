"""Queries for the missing verdicts of a slice, in chunks, and how these are cut into requests."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from django.db import connection
from django.db.models import Max, Min

from rubrics.models import Criterion, Response
from scoring.models import JudgeRun
from scoring.susceptibility.level_texts import with_level_text

CHUNK = 1000
LAST = 2**62
# Items that one query looks at.
WINDOW = 200


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


@dataclass(frozen=True, slots=True)
class LevelQuestion:
    """One reading of a level that is due."""

    response_id: int
    replicate: int
    conversation: list[dict[str, str]]
    response: str


# The content of one request: one question, or all missing questions about one response.
Questions = tuple[Question, ...]
Row = tuple[int, ...]
Q = TypeVar("Q")

# Keyset paging: a pass visits each pair once, so a failed question is not asked again in the same pass. Questions
# of one response and replicate are adjacent, so that they can be asked in one request.
_MISSING = """
    SELECT i.id, n.replicate, r.position, i.response_id, r.criterion_id, r.points
    FROM scoring_judgerunitem i
    JOIN rubrics_rubricitem r ON r.rubric_id = i.rubric_id
    CROSS JOIN generate_series(0, %(replicates)s - 1) AS n(replicate)
    WHERE i.run_id = %(run)s AND i.id %% %(slices)s = %(number)s
      AND (i.criteria IS NULL OR r.criterion_id = ANY(i.criteria))
      AND i.id >= %(item)s AND i.id < %(before)s
      AND (i.id, n.replicate, r.position) > (%(item)s, %(replicate)s, %(position)s)
      AND NOT EXISTS (
          SELECT 1 FROM scoring_verdict v
          WHERE v.run_id = %(run)s AND v.response_id = i.response_id AND v.criterion_id = r.criterion_id
            AND v.replicate = n.replicate
          OFFSET 0  -- one look into the unique index for each pair, whatever the planner thinks of fresh tables
      )
    ORDER BY i.id, n.replicate, r.position
    LIMIT %(chunk)s
"""

# The same of readings: one for each response and replicate, whose position is always 1.
_MISSING_LEVELS = """
    SELECT i.id, n.replicate, 1, i.response_id
    FROM scoring_judgerunitem i
    CROSS JOIN generate_series(0, %(replicates)s - 1) AS n(replicate)
    WHERE i.run_id = %(run)s AND i.id %% %(slices)s = %(number)s
      AND i.id >= %(item)s AND i.id < %(before)s
      AND (i.id, n.replicate, 1) > (%(item)s, %(replicate)s, %(position)s)
      AND NOT EXISTS (
          SELECT 1 FROM scoring_acuityreading r
          WHERE r.judge_run_id = %(run)s AND r.response_id = i.response_id AND r.replicate = n.replicate
          OFFSET 0
      )
    ORDER BY i.id, n.replicate
    LIMIT %(chunk)s
"""


def missing_levels(
    run: JudgeRun, slice_number: int, slices: int, chunk: int = CHUNK, *, rng: random.Random | None = None
) -> Iterator[list[LevelQuestion]]:
    """As `missing_questions`, of a run that reads levels."""
    edited = run.purpose == JudgeRun.Purpose.ACUITY_EDITED

    def questions(rows: list[Row]) -> list[LevelQuestion]:
        responses = Response.objects.select_related("case").in_bulk({row[3] for row in rows})
        return [
            LevelQuestion(
                response_id=response_id,
                replicate=replicate,
                conversation=responses[response_id].case.conversation,
                response=with_level_text(responses[response_id].text, replicate if edited else 0),
            )
            for _item, replicate, _position, response_id in rows
        ]

    yield from _passes(run, slice_number, slices, chunk, False, rng, _MISSING_LEVELS, questions)


def missing_questions(
    run: JudgeRun,
    slice_number: int,
    slices: int,
    chunk: int = CHUNK,
    *,
    whole: bool = False,
    rng: random.Random | None = None,
) -> Iterator[list[Question]]:
    """Lists of at most ``chunk`` questions of the slice that have no verdict, in one pass over the run's items.

    ``whole``: the questions about one response and replicate stay in one list, unless they are more than a chunk.
    With ``rng`` the pass begins at a random place and wraps around, so that the questions that failed last time do not
    come first again.
    """
    texts = _texts_of(run)
    yield from _passes(run, slice_number, slices, chunk, whole, rng, _MISSING, lambda rows: _questions(rows, texts))


def _passes(
    run: JudgeRun,
    slice_number: int,
    slices: int,
    chunk: int,
    whole: bool,
    rng: random.Random | None,
    query: str,
    read: Callable[[list[Row]], list[Q]],
) -> Iterator[list[Q]]:
    """One pass over the items, in one part or in two; ``read`` makes questions of the rows of ``query``."""
    begin = 0
    if rng is not None:
        ends = run.items.aggregate(first=Min("pk"), last=Max("pk"))
        if ends["first"] is not None:
            begin = rng.randint(ends["first"], ends["last"])
    for start, end in ((begin, LAST), (0, begin)):
        yield from _pass(run, slice_number, slices, chunk, whole, (start, -1, 0), end, query, read)


def _pass(
    run: JudgeRun,
    slice_number: int,
    slices: int,
    chunk: int,
    whole: bool,
    place: Row,
    end: int,
    query: str,
    read: Callable[[list[Row]], list[Q]],
) -> Iterator[list[Q]]:
    """The questions after ``place`` (item, replicate, position) and before the item ``end``."""
    while (last := _window(run, slice_number, slices, place[0], end)) is not None:
        values = {"run": run.pk, "replicates": run.replicates, "slices": slices, "number": slice_number, "chunk": chunk}
        more = True
        while more:
            with connection.cursor() as cursor:
                cursor.execute(
                    query,
                    {**values, "before": last + 1, "item": place[0], "replicate": place[1], "position": place[2]},
                )
                rows = cursor.fetchall()
            more = len(rows) == chunk
            if whole and more and rows[0][:2] != rows[-1][:2]:
                cut = rows[-1][:2]
                rows = [row for row in rows if row[:2] != cut]
            if rows:
                yield read(rows)
                place = rows[-1][:3]
        place = (last + 1, -1, 0)


def _window(run: JudgeRun, slice_number: int, slices: int, item: int, end: int) -> int | None:
    """The last of the slice's next few items, which bounds what one query reads, however many items are left."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT max(id) FROM (
                SELECT id FROM scoring_judgerunitem
                WHERE run_id = %s AND id %% %s = %s AND id >= %s AND id < %s ORDER BY id LIMIT %s
            ) AS following
            """,
            [run.pk, slices, slice_number, item, end, WINDOW],
        )
        value = cursor.fetchone()[0]
    return None if value is None else int(value)


def _questions(rows: list[Row], texts: Callable[[str, int], str]) -> list[Question]:
    responses = Response.objects.select_related("case").in_bulk({row[3] for row in rows})
    criteria = dict(Criterion.objects.filter(pk__in={row[4] for row in rows}).values_list("pk", "text"))
    return [
        Question(
            response_id=response_id,
            criterion_id=criterion_id,
            replicate=replicate,
            points=points,
            conversation=responses[response_id].case.conversation,
            response=texts(responses[response_id].text, replicate),
            criterion=criteria[criterion_id],
        )
        for _item, replicate, _position, response_id, criterion_id, points in rows
    ]


def _texts_of(run: JudgeRun) -> Callable[[str, int], str]:
    """The text of a response for a judge: unchanged, or with the replicate's injection in a run over injections."""
    if run.purpose != JudgeRun.Purpose.SUSCEPTIBILITY:
        return lambda text, _replicate: text
    from scoring.susceptibility.injections import injected

    return injected


def requests_of(questions: list[Question], *, together: bool) -> Iterator[Questions]:
    """Cut questions into requests: one for each, or with ``together`` one for all of a response and replicate."""
    if not together:
        yield from ((question,) for question in questions)
        return
    group: list[Question] = []
    for question in questions:
        if group and (question.response_id, question.replicate) != (group[0].response_id, group[0].replicate):
            yield tuple(group)
            group = []
        group.append(question)
    if group:
        yield tuple(group)
