"""How fast a full agreement report is: two groups' decisions in PostgreSQL to every row of `agreement.csv`.

    .venv/bin/python bench/agreement.py [--cases 250] [--candidates 11] [--criteria 30] [--repeats 5] [--skip-sklearn]
    .venv/bin/python bench/agreement.py --decisions 1000000 10000000

The decisions are made up in the database: every candidate answers every case, both groups decide every criterion (2 ×
82,500 by default). The report is all of it: pooled, each candidate, each response, difficulties, registers, all tags,
with the intervals of five statistics. For comparison, in the same run:

* the same report with percentile intervals of 1,000 resamples of cases;
* bare `COPY`: the outcomes of the two groups into NumPy, and one `bincount` for the 2x2 table;
* scikit-learn loops: MF1 by `f1_score(average="macro")`, 1,000 resamples of cases, overall and for each candidate.
  1,000 calls overall are timed in full; the resamples of the candidates are timed for one of them and multiplied.

With ``--decisions`` each group gets that many decisions instead. A separate process computes each report as a worker
does, from claiming it to its last stored row. Reported are its seconds and its peak resident memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from scratch import Clock, peak_of_this_process, scratch_product, show
from two_groups import populate

RESAMPLES = 1000


def full_report(benchmark: Any, interval: str = "jackknife") -> Any:
    """The measured work: reads and counts the decisions of both raters, and computes every row of the report."""
    from agreement.counting.compare import compare_tallies
    from agreement.counting.windows import count
    from consilium.statistics.intervals import interval_rule
    from scoring.selectors.raters import resolve_rater

    a, b = (resolve_rater(benchmark, f"group:{name}@checked") for name in "AB")
    report = compare_tallies(count(benchmark, a, b).tallies, rule=interval_rule(interval, seed=0))
    assert len(list(report.rows)) == len(report.rows)
    return report


def as_a_worker(slug: str) -> dict[str, float]:
    """Compute and store the report of a benchmark in this process: seconds, and resident memory at its peak in MiB."""
    import django

    django.setup()
    from django.utils import timezone

    from agreement import services
    from agreement.models import Report
    from rubrics.models import Benchmark

    given = {"rater_a": "group:A@checked", "rater_b": "group:B@checked"}
    report = Report.objects.create(
        benchmark=Benchmark.objects.get(slug=slug), kind="agreement", parameters=given, created_at=timezone.now()
    )
    clock = Clock()
    services.run(report_id=report.pk, clock=timezone.now)
    seconds = clock.seconds
    report.refresh_from_db()
    assert report.status == "done", report.error
    rows = sum(report.tables.values_list("n_rows", flat=True))
    return {"seconds": seconds, "cpu": clock.cpu_seconds, "mib": peak_of_this_process(), "rows": rows}


def sizes(decisions: list[int], *, candidates: int, criteria: int) -> None:
    """Measure reports of several sizes, each in a process of its own."""
    rows: list[list[object]] = []
    with scratch_product():
        for number in decisions:
            cases = round(number / candidates / criteria)
            clock = Clock()
            benchmark = populate(cases=cases, candidates=candidates, criteria=criteria, slug=f"bench-{number}")
            print(
                f"{cases * candidates * criteria:,} decisions of each group made in {clock.seconds:.0f} s", flush=True
            )
            command = [sys.executable, __file__, "--worker", benchmark.slug]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            result = json.loads(output.splitlines()[-1])
            for_a_million = result["seconds"] / (cases * candidates * criteria / 1e6)
            rows.append(
                [f"2 × {number:,}", result["seconds"], result["cpu"], for_a_million, result["mib"], result["rows"]]
            )
        columns = ["decisions", "seconds", "of them its CPU", "seconds for 2 × 1,000,000", "peak MiB", "rows"]
        show("A report by a worker of its own, from its claim to its last row", columns, rows)


def bare_copy(benchmark: Any) -> int:
    """The floor: the decisions themselves by COPY into NumPy, and one bincount."""
    import numpy as np

    from annotation.models.outcomes import outcome_code_sql
    from consilium.core.ratings import copy_columns

    sides = []
    for group in benchmark.groups.order_by("name"):
        query = f"""
            SELECT a.response_id, d.criterion_id, ({outcome_code_sql("d.outcome")})::int2
            FROM annotation_decision d JOIN annotation_assignment a ON a.id = d.assignment_id
            JOIN annotation_batch b ON b.id = a.batch_id WHERE b.group_id = %(group)s ORDER BY 1, 2
        """
        sides.append(copy_columns(query, {"group": group.pk}, types={"r": "int8", "c": "int8", "o": "int2"})["o"])
    a, b = sides
    answered = (a < 2) & (b < 2)
    return int(np.bincount(a[answered] * 2 + b[answered], minlength=4).sum())


def sklearn_loops(benchmark: Any, *, candidates: int) -> tuple[float, float]:
    """Seconds for MF1 with 1,000 resamples overall and per candidate (one of them timed), and the pooled MF1."""
    import numpy as np
    from sklearn.metrics import f1_score

    from agreement.counting.inputs import join
    from agreement.counting.pairs import PairStatus

    joined = join(benchmark, "group:A@checked", "group:B@checked")
    valid = joined.pairs.status <= PairStatus.TN
    pairs, frame = joined.pairs.chosen(valid), joined.frame
    response = frame.response_places(pairs.response)
    case, candidate = frame.response_case[response], frame.response_candidate[response]
    rng = np.random.default_rng(0)

    def loop(mask: Any) -> float:
        a, b, cases = pairs.a[mask], pairs.b[mask], case[mask]
        by_case = [np.flatnonzero(cases == case_id) for case_id in np.unique(cases)]
        clock = Clock()
        f1_score(a, b, average="macro")
        for _ in range(RESAMPLES):
            drawn = np.concatenate([by_case[i] for i in rng.integers(len(by_case), size=len(by_case))])
            f1_score(a[drawn], b[drawn], average="macro")
        return clock.seconds

    overall = loop(np.ones(len(pairs), dtype=bool))
    return overall + candidates * loop(candidate == 0), float(f1_score(pairs.a, pairs.b, average="macro"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=250)
    parser.add_argument("--candidates", type=int, default=11)
    parser.add_argument("--criteria", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--skip-sklearn", action="store_true")
    parser.add_argument("--decisions", type=int, nargs="+", help="so many of each group, by a process of its own")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        print(json.dumps(as_a_worker(options.worker)))
        return
    if options.decisions:
        sizes(options.decisions, candidates=options.candidates, criteria=options.criteria)
        return
    with scratch_product():
        benchmark = populate(cases=options.cases, candidates=options.candidates, criteria=options.criteria)
        reports, percentile, bare = [], [], []
        comparison = full_report(benchmark)  # not timed: loads imports and fills caches
        for _ in range(options.repeats):
            clock = Clock()
            pairs = bare_copy(benchmark)
            bare.append(clock.seconds)
            clock = Clock()
            comparison = full_report(benchmark)
            reports.append(clock.seconds)
            clock = Clock()
            full_report(benchmark, "percentile")
            percentile.append(clock.seconds)
        ours, floor = statistics.median(reports), statistics.median(bare)
        resampled = statistics.median(percentile)
        rows: list[list[object]] = [
            ["full report", ours, 1.0],
            ["the same with percentile intervals", resampled, ours / resampled],
            ["bare COPY into NumPy and bincount", floor, ours / floor],
        ]
        if not options.skip_sklearn:
            seconds, mf1 = sklearn_loops(benchmark, candidates=options.candidates)
            rows.append(["scikit-learn, MF1 alone, 1,000 resamples", seconds, ours / seconds])
            assert abs(mf1 - comparison.overall["mf1"]) < 1e-12
        total = options.cases * options.candidates * options.criteria
        show(f"Agreement over 2 × {total:,} decisions", ["", "seconds", "full report takes times"], rows)
        print(f"{pairs:,} pairs counted; {len(comparison.rows):,} rows; MF1 {comparison.overall['mf1']:.6f}")


if __name__ == "__main__":
    main()
