"""Subsets of cases against the rule written out as a loop, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.case_subsets import hardest, met_by_some

NAN = float("nan")
KEYS = ["a", "b", "c", "d", "e", "f"]
SCORES = [
    [0.2, 0.4],  # mean 0.3
    [-0.5, 0.0],  # nobody above 0: dropped
    [-0.5, 0.1],  # mean −0.2: the hardest
    [0.9, 0.9],
    [0.3, 0.3],  # mean 0.3, tied with a
    [0.1, NAN],  # one has no score
]


def chosen(subset: object, keys: list[str] = KEYS) -> list[str]:
    return [keys[i] for i in subset.chosen.tolist()]  # type: ignore[attr-defined]


def test_the_hardest_by_hand() -> None:
    two = hardest(SCORES, KEYS, 2)
    assert chosen(two) == ["a", "c"]  # of the tied a and e the first by its key
    assert (two.n_unscored, two.n_without_positive) == (1, 1)
    assert chosen(hardest(SCORES, KEYS, 100)) == ["a", "c", "d", "e"]


def test_met_by_some_by_hand() -> None:
    assert chosen(met_by_some(SCORES, KEYS)) == ["a", "c", "d", "e"]
    assert chosen(met_by_some(SCORES, KEYS, 3)) == ["a", "d", "e"]  # both above 0; on c only one is
    assert chosen(met_by_some(SCORES, KEYS, 1)) == ["d"]


def test_healthbench_rule_as_a_loop() -> None:
    # "We drop examples on which no model scores above 0, then take the n with the lowest average score."
    rng = np.random.default_rng(1)
    table = np.round(rng.uniform(-1, 0.6, (200, 4)), 2)
    keys = [f"case-{i:03d}" for i in rng.permutation(200)]
    left = [(sum(row) / 4, key) for row, key in zip(table.tolist(), keys, strict=True) if max(row) > 0]
    expected = sorted(key for _mean, key in sorted((round(mean, 12), key) for mean, key in left)[:50])
    assert chosen(hardest(table, keys, 50), keys) == expected


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_rows_and_columns_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, keys = rng.integers(-2, 3, (30, 3)) / 3, [f"{i:02d}" for i in range(30)]
    rows, columns = rng.permutation(30), rng.permutation(3)
    mixed, mixed_keys = table[rows][:, columns], [keys[i] for i in rows]
    assert chosen(hardest(table, keys, 7), keys) == chosen(hardest(mixed, mixed_keys, 7), mixed_keys)
    assert chosen(met_by_some(table, keys, 7), keys) == chosen(met_by_some(mixed, mixed_keys, 7), mixed_keys)


def test_what_cannot_be_drawn_is_refused() -> None:
    for scores, keys, n in ((SCORES, KEYS, 0), (SCORES, KEYS[:2], 1), (np.ones((2, 0)), ["a", "b"], 1)):
        with pytest.raises(ValueError, match=r"subset|row"):
            hardest(scores, keys, n)
    assert not len(hardest([[-1.0]], ["a"], 1).chosen)
