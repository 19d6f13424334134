"""A benchmark made up in the database: two groups have decided every criterion of every response."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

DECISIONS = """
    INSERT INTO annotation_decision
        (assignment_id, criterion_id, round, outcome, borderline, note, evidence, version, created_at, updated_at)
    SELECT a.id, i.criterion_id, 1,
           CASE WHEN random() < 0.004 THEN 'cannot_assess'
                WHEN (truth.met <> (random() < %(noise)s)) THEN 'met' ELSE 'not_met' END,
           false, '', '[]', 1, now(), now()
    FROM annotation_assignment a
    JOIN rubrics_rubricitem i ON i.rubric_id = a.rubric_id
    CROSS JOIN LATERAL (
        -- What both groups see in the same way: a hash of the pair, so that they agree beyond chance.
        SELECT abs(hashint8((a.response_id << 24) # i.criterion_id)::float8 / 2147483647) < 0.48 AS met
    ) AS truth
    WHERE a.batch_id = %(batch)s
    ORDER BY a.id, i.id
"""


@contextmanager
def without_indexes(cursor: Any, table: str) -> Iterator[None]:
    """Drop the indexes of a table except its primary key, and create them again at the end."""
    cursor.execute(
        """
        SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE conrelid = %s::regclass AND contype = 'u'
        """,
        [table],
    )
    constraints = cursor.fetchall()
    for name, _definition in constraints:
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    cursor.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexname <> %s", [table, f"{table}_pkey"]
    )
    indexes = cursor.fetchall()
    for name, _definition in indexes:
        cursor.execute(f"DROP INDEX {name}")
    yield
    cursor.execute("SET maintenance_work_mem = '512MB'")
    for _name, definition in indexes:
        cursor.execute(definition)
    for name, definition in constraints:
        cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")


def populate(*, cases: int, candidates: int, criteria: int, slug: str = "bench-agreement") -> Any:
    """A benchmark in which two groups of one physician each have decided everything; returns it."""
    from django.db import connection
    from django.utils import timezone

    from accounts.models import User
    from annotation.models import Batch, ExpertGroup, Physician
    from rubrics.models import Benchmark, Candidate

    benchmark = Benchmark.objects.create(slug=slug, title="Two groups, everything decided")
    Candidate.objects.bulk_create(Candidate(benchmark=benchmark, name=f"model-{i:02d}") for i in range(candidates))
    with connection.cursor() as cursor:
        # Only the reading is measured here: triggers and the audit trail are off while the rows are made.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SELECT setseed(0.25)")
        size = {"benchmark": benchmark.pk, "cases": cases, "criteria": criteria}
        cursor.execute(
            """
            INSERT INTO rubrics_case (public_id, benchmark_id, key, conversation, reference_answer, difficulty,
                                      register, language, tags, label_tags, metadata, created_at)
            SELECT %(benchmark)s || '-' || n, %(benchmark)s, 'case-' || lpad(n::text, 6, '0'), '[]', '',
                   (ARRAY['low', 'medium', 'high'])[1 + n %% 3], (ARRAY['lay', 'professional'])[1 + n %% 2], 'en',
                   ARRAY['theme:' || n %% 7, 'specialty:' || n %% 22, 'task:' || n %% 16], '{}', '{}', now()
            FROM generate_series(1, %(cases)s) AS n
            """,
            size,
        )
        cursor.execute(
            """
            INSERT INTO rubrics_rubric (case_id, track, version, status, criterion_count, provenance, published_at)
            SELECT id, 'gold', 1, 'published', %(criteria)s, 'bench', now() FROM rubrics_case
            WHERE benchmark_id = %(benchmark)s ORDER BY id
            """,
            size,
        )
        cursor.execute(
            """
            INSERT INTO rubrics_criterion (case_id, text)
            SELECT c.id, 'Criterion ' || n FROM rubrics_case c, generate_series(1, %(criteria)s) AS n
            WHERE c.benchmark_id = %(benchmark)s ORDER BY c.id, n
            """,
            size,
        )
        cursor.execute(
            """
            INSERT INTO rubrics_rubricitem (rubric_id, criterion_id, position, points, tags, source_note)
            SELECT r.id, k.id, row_number() OVER (PARTITION BY r.id ORDER BY k.id), 1,
                   ARRAY['axis:' || k.id %% 5, 'level:' || k.id %% 2], ''
            FROM rubrics_rubric r JOIN rubrics_criterion k ON k.case_id = r.case_id
            JOIN rubrics_case c ON c.id = r.case_id WHERE c.benchmark_id = %(benchmark)s
            """,
            size,
        )
        cursor.execute(
            """
            INSERT INTO rubrics_response (public_id, case_id, candidate_id, setting, sample, text, external_id,
                                          writing_mode, metadata, created_at)
            SELECT %(benchmark)s || 'r' || row_number() OVER (ORDER BY c.id, m.id), c.id, m.id, 'chat', 0, 'An answer.',
                   '', '', '{}', now()
            FROM rubrics_case c CROSS JOIN rubrics_candidate m
            WHERE c.benchmark_id = %(benchmark)s AND m.benchmark_id = %(benchmark)s
            """,
            size,
        )
        for name, noise in (("A", 0.10), ("B", 0.17)):
            user = User.objects.create(username=f"{slug}-{name}", email=f"{slug}-{name}@example.org")
            group = ExpertGroup.objects.create(benchmark=benchmark, name=name)
            Physician.objects.create(benchmark=benchmark, user=user, pseudonym=f"P-{name}")
            now = timezone.now()
            batch = Batch.objects.create(
                group=group, title=name, status="closed", seed=1, created_at=now, closed_at=now
            )
            cursor.execute(
                """
                INSERT INTO annotation_assignment (public_id, batch_id, case_id, response_id, rubric_id, annotator_id,
                                                   purpose, status, round, position, to_check, submitted_at,
                                                   accepted_at)
                SELECT %(name)s || r.id, %(batch)s, r.case_id, r.id, u.id, %(user)s, 'work', 'accepted', 1, 0, false,
                       now(), now()
                FROM rubrics_response r JOIN rubrics_rubric u ON u.case_id = r.case_id
                JOIN rubrics_case c ON c.id = r.case_id WHERE c.benchmark_id = %(benchmark)s ORDER BY r.id
                """,
                {**size, "batch": batch.pk, "user": user.pk, "name": name},
            )
            with without_indexes(cursor, "annotation_decision"):
                cursor.execute(DECISIONS, {"batch": batch.pk, "noise": noise})
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE")  # as it would have been in a database that is in use
    return benchmark
