"""How often intervals hold the truth of simulated studies: a small version of `bench/interval_coverage.py`."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.simulated import agreement_models, score_models
from bench.simulated.figures import FIGURES, Figure
from bench.simulated.loop import PERCENTILE, RULE, Cell, Tally, cells, value_of
from bench.simulated.study import Model

ROOT = Path(__file__).resolve().parents[2]
MODELS: dict[str, Model] = {model.name: model for model in (*agreement_models.MODELS, *score_models.MODELS)}


def figures_of(model: str) -> list[Figure]:
    return [figure for figure in FIGURES if figure.kind == MODELS[model].kind]


def covered(model: str, *figures: str, repetitions: int = 2000, resamples: int = 0) -> dict[tuple[str, str], Cell]:
    """Cells with 10 cases, by figure and method."""
    chosen = [figure for figure in FIGURES if figure.name in figures]
    methods = (RULE, PERCENTILE) if resamples else (RULE,)
    rows = cells(MODELS[model], chosen, 10, repetitions=repetitions, resamples=resamples or 1, seed=18, methods=methods)
    return {(row.figure, row.method): row for row in rows}


@pytest.mark.slow
def test_intervals_of_agreement_hold_the_truth_in_95_percent() -> None:
    rows = covered("p.35 a.85", "MF1", "kappa", "alpha", "MF1 of two judges")
    assert len(rows) == 4
    for row in rows.values():
        assert row.coverage == pytest.approx(0.95, abs=0.015), row
        assert row.undefined == 0, row


@pytest.mark.slow
def test_intervals_of_a_share_near_its_bound_hold_the_truth() -> None:
    rows = covered("Pass 0.99, 4 responses", "Pass@k")
    row = rows["Pass@k", RULE]
    assert row.value == pytest.approx(99, abs=0.5)
    assert row.coverage >= 0.93


@pytest.mark.slow
def test_percentile_intervals_of_the_same_studies_are_too_short() -> None:
    rows = covered("p.35 a.85", "MF1", repetitions=500, resamples=200)
    assert rows["MF1", PERCENTILE].coverage < 0.92 < rows["MF1", RULE].coverage
    assert rows["MF1", PERCENTILE].length < rows["MF1", RULE].length


@pytest.mark.slow
@pytest.mark.parametrize("model", ["p.35 a.90, failing", "adaptive missingness", "informative sizes, hits"])
def test_truths_are_those_of_many_drawn_cases(model: str) -> None:
    drawn = MODELS[model].draw(np.random.default_rng(1), 20_000, 4)
    for figure in figures_of(model):
        truth = float(value_of(figure, drawn.truths["cases"])[0])
        drawn_values = value_of(figure, drawn.study)
        scale = 100 if abs(truth) > 1 else 1
        assert drawn_values.mean() == pytest.approx(truth, abs=0.01 * scale), figure.name


def test_a_tally_counts_on_which_side_the_truth_lies() -> None:
    tally = Tally()
    low, high = np.array([0.1, 0.5, 0.1, np.nan]), np.array([0.3, 0.8, 0.15, np.nan])
    tally.add(low, high, np.full(4, 0.2), np.array([6.0, 6.0, 4.0, 6.0]))
    assert (tally.repetitions, tally.shown, tally.below, tally.above) == (4, 3, 1, 1)
    assert tally.length == pytest.approx(0.2 + 0.3 + 0.05)
    assert tally.effective == 22


@pytest.mark.slow
def test_the_measurement_prints_and_writes_every_figure_of_its_models(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    sizes = ["--repetitions", "40", "--resamples", "20", "--cases", "10", "--csv", str(path)]
    command = [sys.executable, str(ROOT / "bench/interval_coverage.py"), *sizes]
    command += ["--models", "crossed", "scores middling", "turns 0.15"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["figure"] for row in rows} == {figure.name for figure in FIGURES}
    assert {row["truth"] for row in rows} == {"cases", "cases and physicians"}
    assert {row["method"] for row in rows} == {RULE, PERCENTILE}
    assert all(row["figure"] in printed for row in rows)
    assert "from 10 cases, rule" in printed
