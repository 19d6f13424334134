"""Pairs that are compared in groups have the figures that all of them have at once."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from agreement.acuity import acuity_tables
from agreement.acuity.measures import Price
from agreement.acuity.readings import AcuityData, data_of
from agreement.acuity.tables import pair_groups
from annotation.acuity.panel import AmbiguousRule
from consilium.statistics.intervals import DEFAULT_RULE
from rubrics.acuity.scales import FOUR
from rubrics.acuity.schemes import scheme_of
from rubrics.parsing.acuity_files import AcuityReader


def test_groups_hold_every_pair_once_in_order() -> None:
    pairs = list(combinations(range(7), 2))
    alike = np.ones((5, 7), dtype=bool)
    assert [list(group) for group in pair_groups(pairs, alike, 8)] == [pairs]
    own = np.random.default_rng(0).random((40, 7)) < 0.8
    groups = [list(group) for group in pair_groups(pairs, own, 8)]
    assert [pair for group in groups for pair in group] == pairs
    # Each pair has cases of its own, and so two series.
    assert [len(group) for group in groups] == [4, 4, 4, 4, 4, 1]


@pytest.fixture
def data(tmp_path: Any) -> AcuityData:
    """Five candidates on 30 cases, each refusing some of its own."""
    rng = np.random.default_rng(1)
    lines = ["case,candidate,sample,level,reference"]
    for case in range(30):
        reference = int(rng.integers(4))
        for name in "ABCDE":
            level = FOUR.values[int(np.clip(reference + rng.integers(-1, 2), 0, 3))]
            lines.append(f"c{case},{name},0,{'refused' if rng.random() < 0.2 else level},{FOUR.values[reference]}")
    (tmp_path / "r.csv").write_text("\n".join([*lines, ""]), "utf-8")
    reader = AcuityReader(FOUR, scheme_of("direct", FOUR))
    reader.read(tmp_path / "r.csv").refuse_if_any()
    return data_of(reader.records, FOUR, AmbiguousRule())


@pytest.mark.slow
def test_figures_do_not_depend_on_the_groups(data: AcuityData, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = acuity_tables.acuity_tables(data, price=Price(), rule=DEFAULT_RULE).pairs
    monkeypatch.setattr(acuity_tables, "MAX_SERIES_AT_ONCE", 4)
    parts = acuity_tables.acuity_tables(data, price=Price(), rule=DEFAULT_RULE).pairs
    assert len(whole) == len(parts) > 100
    for row, own in zip(whole, parts, strict=True):
        numbers = [name for name, value in row.items() if isinstance(value, float)]
        assert {name: own[name] for name in numbers} == pytest.approx({name: row[name] for name in numbers}, abs=1e-12)
        assert {**own, **{name: row[name] for name in numbers}} == row
