"""How often an interval holds the truth: the rule of figures over cases beside the percentile bootstrap.

    .venv/bin/python bench/interval_coverage.py [--repetitions 4000] [--resamples 1000] [--seed 18] [--csv FILE]
    .venv/bin/python bench/interval_coverage.py --figures MF1 kappa --models crossed --cases 10 30

Draws studies with few cases from models (`simulated/agreement_models.py`, `simulated/score_models.py`) whose truth is
known, by expectation over all cases or from 600,000 drawn ones, and counts for each figure how often its interval holds
that truth. ``--figures`` and ``--models`` take parts of names. No database is needed.

A line for each figure and number of cases, in percent: coverage of the intervals that a report shows, the truth below
the low end, above the high end; the mean length; the share of studies without interval. Then the same five of the
percentile bootstrap. At the end the shares of cells that reach 93%, and every cell that does not. A cell in which fewer
than 5% of the studies have an interval does not count there.

An interval over cases is to hold the figure over all *cases* that might have been drawn, with the physicians who grade.
For the models with crossed physicians, lines marked "cases and physicians" show how often it holds the figure over all
physicians as well: that is not what it promises.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.simulated import agreement_models, score_models
from bench.simulated.figures import FIGURES
from bench.simulated.loop import PERCENTILE, RULE, Cell, cells
from bench.simulated.study import Model

MODELS: tuple[Model, ...] = (*agreement_models.MODELS, *score_models.MODELS)
CASES = (5, 10, 20, 30, 100)
OVER_CASES = "cases"
# A cell counts where at least this share of its studies has an interval.
SHARE_TO_TELL = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--figures", nargs="+", default=[""], metavar="PART")
    parser.add_argument("--models", nargs="+", default=[""], metavar="PART")
    parser.add_argument("--cases", nargs="+", type=int, default=CASES)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    figures = [figure for figure in FIGURES if any(part in figure.name for part in options.figures)]
    rows: list[Cell] = []
    for model in MODELS:
        if not any(part in model.name for part in options.models):
            continue
        print(f"\n{model.name}", flush=True)
        start = process_time()
        for cases in options.cases:
            sizes = {"repetitions": options.repetitions, "resamples": options.resamples, "seed": options.seed}
            some = list(cells(model, figures, cases, **sizes))
            print_cells(some)
            rows += some
            if options.csv:
                write(options.csv, rows)
        print(f"  {process_time() - start:.0f} s of CPU", flush=True)
    summarise(rows)


def print_cells(rows: Sequence[Cell]) -> None:
    """A line for each figure, the rule and the percentile bootstrap beside each other."""
    others = {(row.figure, row.truth): row for row in rows if row.method == PERCENTILE}
    for row in rows:
        if row.method != RULE:
            continue
        note = "" if row.truth == OVER_CASES else f"  [{row.truth}]"
        line = f"  {row.figure:28}{row.cases:4} {numbers(row)}"
        if (row.figure, row.truth) in others:
            line += f"  | {numbers(others[row.figure, row.truth])}"
        print(line + note, flush=True)


def numbers(row: Cell) -> str:
    shares = (row.coverage, row.below, row.above)
    return " ".join(f"{100 * share:6.1f}" for share in shares) + f" {row.length:8.4f} {100 * row.undefined:5.1f}"


def summarise(rows: Sequence[Cell]) -> None:
    """The shares of cells that reach what was aimed at, and those that do not."""
    counted = [row for row in rows if row.truth == OVER_CASES and row.undefined <= 1 - SHARE_TO_TELL]
    print()
    for span, chosen in (("from 10 cases", from_ten), ("below 10 cases", below_ten)):
        for method in (RULE, PERCENTILE):
            some = [row.coverage for row in counted if row.method == method and chosen(row)]
            if some:
                reach = sum(share >= 0.93 for share in some) / len(some)
                within = sum(0.93 <= share <= 0.97 for share in some) / len(some)
                print(
                    f"{span}, {method}: {len(some)} cells, {100 * reach:.1f}% reach 93%, {100 * within:.1f}% lie "
                    f"within 93-97%, the least {100 * min(some):.1f}%"
                )
    print_cells_below(counted)


def from_ten(row: Cell) -> bool:
    return row.cases >= 10


def below_ten(row: Cell) -> bool:
    return row.cases < 10


def print_cells_below(rows: Sequence[Cell]) -> None:
    others = {(row.model, row.figure, row.cases): row for row in rows if row.method == PERCENTILE}
    low = [row for row in rows if row.method == RULE and row.coverage < 0.93]
    print("cells of the rule below 93%, with the percentile bootstrap's, and the share without interval:")
    for row in sorted(low, key=lambda row: row.coverage):
        other = others.get((row.model, row.figure, row.cases))
        beside = "" if other is None else f" ({100 * other.coverage:.1f})"
        share = f"{100 * row.coverage:5.1f}{beside:8} {100 * row.undefined:5.1f}"
        print(f"  {share}  {row.figure}, {row.cases} cases, {row.model}")


def write(path: Path, rows: Sequence[Cell]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Cell)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


if __name__ == "__main__":
    main()
