"""The alternative annotator test on the published labels of HealthBench's meta-evaluation, read where they lie."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from consilium.statistics.estimate import Undefined
from tests.statistics.test_alternative_annotator import Labels, by_the_paper, run


def test_on_the_published_labels() -> None:
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    labels: Labels = {}
    for line in (folder / "meta_gold.jsonl").read_text().splitlines():
        row = json.loads(line)
        for who, label in zip(row["anonymized_physician_ids"], row["binary_labels"], strict=True):
            labels.setdefault(who, {})[row["item_id"]] = label
    judge = {}
    for line in (folder / "judge_labels.jsonl").read_text().splitlines():
        row = json.loads(line)
        judge[row["item_id"]] = int(row["criteria_met"])
    expected = by_the_paper(labels, judge, 0.2, 5)
    result = run(labels, judge, minimum=5)
    tested = {
        sorted(labels)[annotator.annotator]: annotator for annotator in result.annotators if annotator.wins is not None
    }
    assert tested.keys() == expected["figures"].keys() and len(tested) >= 3
    for j, annotator in tested.items():
        n, rho_f, rho_h, d = expected["figures"][j]
        assert (annotator.n_instances, annotator.test) == (n, "wilcoxon")
        shown = (annotator.advantage.value, annotator.annotators_advantage.value, annotator.difference.value)
        assert shown == pytest.approx((rho_f, rho_h, -d), abs=1e-12)
    assert result.advantage.value == pytest.approx(np.mean([rho_f for _, rho_f, _, _ in expected["figures"].values()]))
    # Nobody labelled thirty of them, and one physician ten: no verdict.
    assert run(labels, judge).winning_rate == Undefined("1 of the 3 tested annotators needed", 1)
