"""The axes that the criteria of a benchmark use."""

from __future__ import annotations

from django.db import connection

from rubrics.axes import PREFIX
from rubrics.models import Benchmark, Case


def used_axes(benchmark: Benchmark, *, but: Case | None = None) -> frozenset[str]:
    """The names of the axes of all its criteria, as they are stored: of every rubric, and of every draft.

    ``but`` is a case whose drafts are not read.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT tag FROM rubrics_rubricitem i
            JOIN rubrics_rubric r ON r.id = i.rubric_id
            JOIN rubrics_case c ON c.id = r.case_id AND c.benchmark_id = %(benchmark)s
            CROSS JOIN unnest(i.tags) AS tag
            WHERE starts_with(tag, %(prefix)s)
            UNION
            SELECT tag FROM rubrics_rubricdraft d
            JOIN rubrics_rubric r ON r.id = d.rubric_id
            JOIN rubrics_case c ON c.id = r.case_id AND c.benchmark_id = %(benchmark)s
            CROSS JOIN jsonb_path_query(d.content, '$.items[*].tags[*]') AS stored
            CROSS JOIN LATERAL (SELECT stored #>> '{}' AS tag) AS text
            WHERE starts_with(tag, %(prefix)s) AND c.id IS DISTINCT FROM %(case)s
            """,
            {"benchmark": benchmark.pk, "prefix": PREFIX, "case": but.pk if but is not None else None},
        )
        return frozenset(tag.removeprefix(PREFIX) for (tag,) in cursor.fetchall())
