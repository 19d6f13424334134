"""What handing over the unsure cases would have brought, by hand."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from agreement.acuity.routing_table import physician_pairs
from annotation.acuity.panel import PanelCase
from rubrics.models import Benchmark

pytestmark = pytest.mark.django_db

VOTES = {"x1": (0, 0, 3), "x2": (1, 1, 1)}
READINGS = {"x1": (0, 0), "x2": (3, 0)}
LEVELS = ("self-care", "primary-care", "urgent-care", "emergency")


def test_a_vote_for_two_levels_is_half_a_vote_for_each() -> None:
    low, high = np.array([0, 1]), np.array([1, 1])
    panel = PanelCase("x", low, high, 0, np.array([0.25, 0.75]), 0, 1, 0.0, 0.0)
    # Each against the other: (½ of 0, ½ of 1) and 1, both ways.
    assert physician_pairs(panel, 2) == pytest.approx(np.array([[0.0, 0.25], [0.25, 0.5]]))


@pytest.mark.slow
def test_the_curve_by_hand(benchmark: Benchmark, tmp_path: Path) -> None:
    readings = [f"{case},M,qa,{s},{LEVELS[level]}" for case, own in READINGS.items() for s, level in enumerate(own)]
    votes = [f"{case},p{i},1,{LEVELS[level]},80" for case, own in VOTES.items() for i, level in enumerate(own)]
    for name, head, lines in (
        ("readings", "case,candidate,format,sample,level", readings),
        ("votes", "case,physician,round,level,certainty", votes),
    ):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines, ""]), "utf-8")
    quiet = {"benchmark": benchmark.slug, "stdout": io.StringIO()}
    call_command("import_acuity", str(tmp_path / "readings.csv"), dataset="d", **quiet)
    call_command("import_votes", str(tmp_path / "votes.csv"), group="Panel", **quiet)
    call_command("reference_set", **quiet)
    call_command("acuity_uncertainty", out=tmp_path / "out", **quiet)
    with (tmp_path / "out" / "routing.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # x1: M is 3 levels too low against one vote of three, 5 · 3 / 3 = 5; of six pairs of votes two are too low and two
    # too high, (2 · 15 + 2 · 3) / 6 = 6. x2: M is too high by two and too low by one, (2 + 5) / 2; nobody else errs.
    # M is sure of x1 (1) and not of x2 (0.5).
    expected = [
        ("0.5", "0", 5 / 12, 3 / 12, (5 + 3.5) / 2, "false"),
        ("1", "1", 1 / 6, 0.0, 5 / 2, "true"),
        ("", "2", 1 / 6, 1 / 6, 6 / 2, "false"),
    ]
    assert len(rows) == 3
    for row, (threshold, n_handed, under, over, cost, is_least) in zip(rows, expected, strict=True):
        assert (row["confidence_source"], row["n_cases"], row["n_handed"]) == ("samples", "2", n_handed)
        assert row["threshold"] == threshold or float(row["threshold"]) == float(threshold)
        assert [float(row[name]) for name in ("under", "over", "cost")] == pytest.approx([under, over, cost])
        assert row["is_least"].lower() == is_least
