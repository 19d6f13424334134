"""Time of the report of coverage, beside plain NumPy on the same arrays.

    .venv/bin/python bench/rubric_validity.py [--cases 254] [--sets 3] [--points 10] [--repeats 5]

Made-up answers about the gold points of cases, on five axes. Printed are medians: reading the file; all tables with
percentile intervals of 1,000 resamples, and with those of the default rule; and, as the alternative, what a notebook
would do for CIA of all points and of each axis, and for the differences of two sets: 1,000 resamples of cases by a
matrix product. It ends by saying whether reading and tables with resamples take at most 2 s together.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from consilium.statistics.intent_alignment import Extent
from consilium.statistics.intervals import DEFAULT_RULE, interval_rule
from validation.files.coverage_reading import CoverageFile, read_coverage
from validation.files.coverage_tables import coverage_tables

RESAMPLES = 1000
LIMIT = 2.0
AXES = ("accuracy", "completeness", "context", "communication", "instructions")
CELLS = ("full", "partial", "none", "invalid", "")


def write(path: Path, cases: int, sets: int, points: int) -> None:
    """A file of made-up answers: between half and all of ``points`` a case."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write(
            ",".join(["case", "gold", "points", "axis", *(f"set {number + 1}" for number in range(sets))]) + "\n"
        )
        for case in range(cases):
            for gold in range(int(rng.integers(points // 2, points + 1))):
                cells = rng.choice(CELLS, size=sets, p=(0.5, 0.2, 0.26, 0.02, 0.02))
                row = [f"case-{case:05}", f"g{gold}", str(rng.integers(1, 11)), str(rng.choice(AXES)), *cells]
                file.write(",".join(row) + "\n")


def plain(file: CoverageFile) -> None:
    """What a notebook would do: percentile intervals of CIA and of its differences."""
    n = file.n_cases
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    for member in file.slices.values():
        due = weights @ np.bincount(file.case[member], minlength=n)
        shares = []
        for extent in file.extent.T:
            full = np.bincount(file.case[member & (extent == Extent.FULL)], minlength=n)
            shares.append(weights @ full / due)
        np.quantile(shares, [0.025, 0.975], axis=1)
        np.quantile([first - second for first, second in combinations(shares, 2)], [0.025, 0.975], axis=1)


def timed(repeats: int, work: Callable[[], Any]) -> tuple[float, Any]:
    seconds, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return median(seconds), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("cases", 254), ("sets", 3), ("points", 10), ("repeats", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.csv"
        write(path, options.cases, options.sets, options.points)
        reading, file = timed(options.repeats, lambda: read_coverage(path))
    # A rule of its own each time, since it keeps its resamples.
    resampled, _ = timed(
        options.repeats, lambda: coverage_tables(file, rule=interval_rule("percentile", seed=0, resamples=RESAMPLES))
    )
    rows = [
        ("reading the file", reading),
        ("all tables, 1,000 resamples", resampled),
        ("all tables, default rule", timed(options.repeats, lambda: coverage_tables(file, rule=DEFAULT_RULE))[0]),
        ("plain NumPy: CIA and differences, 1,000 resamples", timed(options.repeats, lambda: plain(file))[0]),
    ]
    print(f"{len(file.case):,} gold points of {file.n_cases:,} cases, {len(file.sets)} sets, {len(file.slices)} slices")
    for name, seconds in rows:
        print(f"{seconds:8.3f} s  {name}")
    print(f"at most {LIMIT:g} s: {'yes' if reading + resampled <= LIMIT else 'no'}, {reading + resampled:.3f} s")


if __name__ == "__main__":
    main()
