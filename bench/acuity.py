"""Time and memory of `acuity_file`, beside plain NumPy on the same arrays.

    .venv/bin/python bench/acuity.py [--cases 914] [--candidates 12] [--samples 5] [--repeats 5]

Made-up readings of all candidates in both formats on four levels. Printed are medians: reading the file; its arrays;
the measures of ``acuity.csv`` with their intervals; all tables; and, as the alternative, what a notebook would do for
accuracy, over, under, QWK and cost: one confusion matrix a candidate and format by `numpy.bincount`, and 1,000
resamples of cases by a matrix product.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agreement.acuity.acuity_tables import acuity_tables
from agreement.acuity.measures import Price, measured
from agreement.acuity.readings import AcuityData, data_of
from agreement.acuity.tables import Aggregate, case_tables, everything
from annotation.acuity.panel import AmbiguousRule
from consilium.statistics.intervals import DEFAULT_RULE
from rubrics.acuity.scales import FOUR
from rubrics.acuity.schemes import scheme_of
from rubrics.parsing.acuity_files import AcuityReader

RESAMPLES = 1000


def write(path: Path, cases: int, candidates: int, samples: int, unusable: float = 0.0) -> None:
    """A long CSV of made-up readings; a share ``unusable`` of the case, candidate and format refuse in every sample."""
    rng = np.random.default_rng(0)
    references = rng.integers(0, 4, cases)
    with path.open("w", encoding="utf-8") as file:
        file.write("case,candidate,format,sample,level,reference\n")
        for case, reference in enumerate(references.tolist()):
            levels = np.clip(np.rint(reference + rng.normal(0, 0.7, (candidates, 2, samples))), 0, 3).astype(int)
            refused = rng.random((candidates, 2)) < unusable if unusable else np.zeros((candidates, 2), dtype=bool)
            for candidate, by_format in enumerate(levels.tolist()):
                for place, (format_, by_sample) in enumerate(zip(("qa", "chat"), by_format, strict=True)):
                    file.writelines(
                        f"case-{case:05},model-{candidate:02},{format_},{sample},"
                        f"{'refused' if refused[candidate, place] else FOUR.values[level]},{FOUR.values[reference]}\n"
                        for sample, level in enumerate(by_sample)
                    )


def plain(data: AcuityData) -> None:
    """What a notebook would do: percentile intervals of five measures for each series."""
    n_cases, n_levels = len(data.cases), data.n_levels
    weights = np.random.default_rng(0).multinomial(n_cases, np.full(n_cases, 1 / n_cases), size=RESAMPLES)
    apart = np.arange(n_levels)[None, :] - np.arange(n_levels)[:, None]
    cells = np.stack([apart == 0, apart > 0, apart < 0, 5 * np.maximum(-apart, 0) + np.maximum(apart, 0)])
    for series in range(len(data.series_names)):
        own = data.readings.of_series(series)
        flat = ((own.case * n_levels + data.low[own.case]) * n_levels + own.place)[own.usable]
        tables = np.bincount(flat, minlength=n_cases * n_levels**2).reshape(n_cases, n_levels**2)
        drawn = (weights @ tables).reshape(RESAMPLES, n_levels, n_levels)
        total = drawn.sum(axis=(1, 2))
        shares = np.einsum("rij,kij->kr", drawn, cells) / total
        expected = drawn.sum(axis=2)[:, :, None] * drawn.sum(axis=1)[:, None, :] / total[:, None, None]
        kappa = 1 - (drawn * apart**2).sum(axis=(1, 2)) / (expected * apart**2).sum(axis=(1, 2))
        np.quantile(np.vstack([shares, kappa]), [0.025, 0.975], axis=1)


def timed(repeats: int, work: Callable[[], Any]) -> tuple[float, Any]:
    seconds, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return median(seconds), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("cases", 914), ("candidates", 12), ("samples", 5), ("repeats", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--unusable", type=float, default=0.0, help="share of case, candidate and format")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "readings.csv"
        write(path, options.cases, options.candidates, options.samples, options.unusable)

        def read() -> AcuityReader:
            reader = AcuityReader(FOUR, scheme_of("direct", FOUR))
            reader.read(path).refuse_if_any()
            return reader

        reading, reader = timed(min(options.repeats, 3), read)
    arrays, data = timed(options.repeats, lambda: data_of(reader.records, FOUR, AmbiguousRule()))

    def measures() -> None:
        for aggregate in Aggregate:
            measured(case_tables(data, everything(data), aggregate), aggregate, Price(), rule=DEFAULT_RULE)

    rows = [
        ("reading the file", reading),
        ("arrays", arrays),
        ("measures of acuity.csv with intervals, three aggregates", timed(options.repeats, measures)[0]),
        ("all tables", timed(options.repeats, lambda: acuity_tables(data, price=Price(), rule=DEFAULT_RULE))[0]),
        (
            "plain NumPy: five measures, percentile intervals, one aggregate",
            timed(options.repeats, lambda: plain(data))[0],
        ),
    ]
    print(f"{len(data.readings):,} readings of {len(data.series_names)} series on {len(data.cases):,} cases")
    for name, seconds in rows:
        print(f"{seconds:8.3f} s  {name}")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MiB at the most")


if __name__ == "__main__":
    main()
