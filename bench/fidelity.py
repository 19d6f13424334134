"""How fast a report of fidelity is, and how much memory it takes, with one judge and with several.

    .venv/bin/python bench/fidelity.py [--cases 900] [--candidates 12] [--criteria 30] [--judges 1 5]

Two groups and as many judges as are asked for have decided everything (324,000 decisions of each by default); the
judges agree with the groups beyond chance and leave a few verdicts invalid. Each report is computed by a process of its
own, as a worker does, from claiming it to its last stored row. Reported are its seconds and its peak resident memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from scratch import Clock, peak_of_this_process, scratch_product, show
from two_groups import populate, without_indexes

VERDICTS = """
    INSERT INTO scoring_verdict (run_id, response_id, criterion_id, replicate, outcome, explanation, created_at)
    SELECT %(run)s, r.id, i.criterion_id, 0,
           CASE WHEN random() < 0.01 THEN 'invalid'
                WHEN (truth.met <> (random() < %(noise)s)) THEN 'met' ELSE 'not_met' END,
           '', now()
    FROM rubrics_response r
    JOIN rubrics_rubric u ON u.case_id = r.case_id
    JOIN rubrics_rubricitem i ON i.rubric_id = u.id
    JOIN rubrics_case c ON c.id = r.case_id
    CROSS JOIN LATERAL (
        -- The same truth as that of the groups.
        SELECT abs(hashint8((r.id << 24) # i.criterion_id)::float8 / 2147483647) < 0.48 AS met
    ) AS truth
    WHERE c.benchmark_id = %(benchmark)s
    ORDER BY r.id, i.id
"""


def add_judges(benchmark: Any, number: int) -> list[str]:
    """So many judges with a run over everything, the first the best; their names."""
    from django.db import connection
    from django.utils import timezone

    from rubrics.models import Response
    from scoring.models import Judge, JudgeRun

    names, now = [f"judge-{n + 1:02d}" for n in range(number)], timezone.now()
    expected = Response.objects.filter(case__benchmark=benchmark).count()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        with without_indexes(cursor, "scoring_verdict"):
            for n, name in enumerate(names):
                judge = Judge.objects.create(
                    benchmark=benchmark, name=name, kind=Judge.Kind.IMPORTED, version=1, created_at=now
                )
                run = JudgeRun.objects.create(
                    benchmark=benchmark, judge=judge, status="finished", imported=True, replicates=1,
                    expected=expected, created_at=now, finished_at=now,
                )  # fmt: skip
                given = {"run": run.pk, "benchmark": benchmark.pk, "noise": 0.08 + 0.04 * n}
                cursor.execute(
                    """
                    INSERT INTO scoring_judgerunitem (run_id, response_id, rubric_id)
                    SELECT %(run)s, r.id, u.id FROM rubrics_response r JOIN rubrics_rubric u ON u.case_id = r.case_id
                    JOIN rubrics_case c ON c.id = r.case_id WHERE c.benchmark_id = %(benchmark)s ORDER BY r.id
                    """,
                    given,
                )
                cursor.execute(VERDICTS, given)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("ANALYZE")
    return names


def as_a_worker(slug: str, judges: list[str]) -> dict[str, float]:
    """Compute and store the report in this process: seconds, and resident memory at its peak in MiB."""
    import django

    django.setup()
    from django.utils import timezone

    from agreement import services
    from rubrics.models import Benchmark

    report = services.create_report(
        benchmark=Benchmark.objects.get(slug=slug),
        kind="fidelity",
        parameters={"judges": judges, "group_a": "group:A", "group_b": "group:B"},
        at=timezone.now(),
    )
    before, clock = peak_of_this_process(), Clock()
    services.run(report_id=report.pk, clock=timezone.now)
    seconds = clock.seconds
    report.refresh_from_db()
    assert report.status == "done", report.error
    rows = sum(report.tables.values_list("n_rows", flat=True))
    return {
        "seconds": seconds,
        "cpu": clock.cpu_seconds,
        "mib": peak_of_this_process(),
        "before": before,
        "rows": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=900)
    parser.add_argument("--candidates", type=int, default=12)
    parser.add_argument("--criteria", type=int, default=30)
    parser.add_argument("--judges", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        print(json.dumps(as_a_worker(options.worker[0], options.worker[1:])))
        return
    rows: list[list[object]] = []
    with scratch_product():
        clock = Clock()
        benchmark = populate(cases=options.cases, candidates=options.candidates, criteria=options.criteria)
        names = add_judges(benchmark, max(options.judges))
        decisions = options.cases * options.candidates * options.criteria
        print(f"{decisions:,} decisions of each rater made in {clock.seconds:.0f} s", flush=True)
        for number in options.judges:
            command = [sys.executable, __file__, "--worker", benchmark.slug, *names[:number]]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            result = json.loads(output.splitlines()[-1])
            rows.append([number, result["seconds"], result["cpu"], result["before"], result["mib"], result["rows"]])
    columns = ["judges", "seconds", "of them its CPU", "MiB before", "peak MiB", "rows"]
    show(f"A report of fidelity, {decisions:,} decisions of each rater", columns, rows)


if __name__ == "__main__":
    main()
