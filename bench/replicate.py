"""How long `replicate --paper clinconsensus` takes over a study of that paper's size, and how much memory.

    .venv/bin/python bench/replicate.py [--cases 900] [--judges 3] [--paper clinconsensus]

900 cases with 30 criteria each and 12 candidates are made up, one of them physicians whose responses have all 30
criteria, so that k can be calibrated. Two groups have decided everything (324,000 decisions each), and judges have
verdicts on everything. The command runs twice in a process of its own: once when no report is there, then again, when
every report is up to date and is used again. Reported are its seconds and its peak resident memory. For comparison: the
reports alone, each kind once by the same worker code in one process, without files and figures.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from scratch import ROOT, Clock, scratch_product, show
from two_groups import populate, without_indexes

# As two_groups.DECISIONS draws them: what everybody sees is a hash of the pair, and a judge errs on a share.
VERDICTS = """
    INSERT INTO scoring_verdict (run_id, response_id, criterion_id, replicate, outcome, explanation, created_at)
    SELECT t.run_id, t.response_id, i.criterion_id, 0,
           CASE WHEN (abs(hashint8((t.response_id << 24) # i.criterion_id)::float8 / 2147483647) < 0.48)
                     <> (random() < %(noise)s) THEN 'met' ELSE 'not_met' END, '', now()
    FROM scoring_judgerunitem t JOIN rubrics_rubricitem i ON i.rubric_id = t.rubric_id
    WHERE t.run_id = %(run)s ORDER BY t.response_id, i.criterion_id
"""
ITEMS = """
    INSERT INTO scoring_judgerunitem (run_id, response_id, rubric_id)
    SELECT %(run)s, r.id, u.id
    FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id JOIN rubrics_rubric u ON u.case_id = c.id
    WHERE c.benchmark_id = %(benchmark)s ORDER BY r.id
"""
NOISE = (0.08, 0.12, 0.16, 0.2)


def study(*, cases: int, candidates: int, criteria: int, judges: int) -> Any:
    """The made-up study."""
    from django.db import connection
    from django.utils import timezone

    from rubrics.models import Candidate, Response
    from scoring.models import Judge, JudgeRun

    benchmark = populate(cases=cases, candidates=candidates, criteria=criteria, slug="bench-replicate")
    written = Candidate.objects.filter(benchmark=benchmark).latest("pk")
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        Candidate.objects.filter(pk=written.pk).update(kind="physician", name="physicians")
        Response.objects.filter(candidate=written).update(writing_mode="unaided")
        for place in range(judges):
            judge = Judge.objects.create(
                benchmark=benchmark, name=f"judge-{place}", kind=Judge.Kind.IMPORTED, version=1, created_at=now
            )
            run = JudgeRun.objects.create(
                benchmark=benchmark, judge=judge, status=JudgeRun.Status.FINISHED, imported=True,
                expected=cases * candidates * criteria, created_at=now, finished_at=now,
            )  # fmt: skip
            of_run = {"run": run.pk, "benchmark": benchmark.pk, "noise": NOISE[place % len(NOISE)]}
            cursor.execute(ITEMS, of_run)
            with without_indexes(cursor, "scoring_verdict"):
                cursor.execute(VERDICTS, of_run)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE")
    return benchmark


def command(slug: str, paper: str, folder: Path) -> tuple[float, float, float, str]:
    """Seconds, CPU seconds and MiB at the peak of the command in a process of its own, and its last line but one."""
    arguments = ["manage.py", "replicate", "--benchmark", slug, "--paper", paper, "--out", str(folder)]
    clock = Clock()
    with tempfile.TemporaryFile("w+") as output:
        running = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=output)
        _pid, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        seconds = clock.seconds
        output.seek(0)
        lines = output.read().splitlines()
    if running.returncode:
        raise RuntimeError(f"replicate ended with {running.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, lines[-2]


def each_report(benchmark: Any) -> list[tuple[str, float]]:
    """Kind and seconds of each report that the paper needs, computed here once more."""
    from django.utils import timezone

    from agreement import services
    from agreement.models import Report

    rows = []
    for report in Report.objects.filter(benchmark=benchmark, status="done").order_by("pk"):
        clock = Clock()
        again = services.recompute_report(report=report, at=timezone.now())
        services.run(report_id=again.pk, clock=timezone.now)
        rows.append((f"{report.kind} {' '.join(map(str, report.parameters.values()))[:60]}", clock.seconds))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=900)
    parser.add_argument("--candidates", type=int, default=12)
    parser.add_argument("--criteria", type=int, default=30)
    parser.add_argument("--judges", type=int, default=3)
    parser.add_argument("--paper", default="clinconsensus")
    options = parser.parse_args()
    with scratch_product() as home:
        sizes = {name: getattr(options, name) for name in ("cases", "candidates", "criteria", "judges")}
        benchmark = study(**sizes)
        rows: list[tuple[object, ...]] = []
        for what in ("first", "again, reports up to date"):
            seconds, cpu, mib, counts = command(benchmark.slug, options.paper, home / "out")
            rows.append((what, seconds, cpu, mib))
        columns = ("run", "seconds", "of them CPU", "MiB at the peak")
        show(f"replicate --paper {options.paper}: {counts}", columns, rows)
        show("the reports alone", ("report", "seconds"), each_report(benchmark))


if __name__ == "__main__":
    main()
