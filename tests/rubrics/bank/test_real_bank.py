"""The consensus bank against the categories and clusters of the real sample."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rubrics.bank.consensus import consensus

DATA = Path(os.environ.get("CONSILIUM_REAL_DATA", "../shared/data"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no real data here")


def test_every_category_and_cluster_of_the_sample_has_its_criteria() -> None:
    categories, clusters = set(), set()
    for line in (DATA / "healthbench_sample.jsonl").read_text().split("\n"):
        if line:
            row = json.loads(line)
            categories |= {tag for tag in row["example_tags"] if tag.startswith("physician_agreed_category:")}
            clusters |= {tag for item in row["rubrics"] for tag in item["tags"] if tag.startswith("cluster:")}
    for line in (DATA / "physician_labels/meta_gold.jsonl").read_text().split("\n"):
        if line:
            clusters.add(json.loads(line)["category"])
    assert len(categories) == 16
    assert len(clusters) == 37
    assert clusters == {f"cluster:{entry.key}" for entry in consensus() if entry.applies_to}
    assert categories <= {tag for entry in consensus() for tag in entry.applies_to}
    texts = {entry.text["en"].lower() for entry in consensus()}
    for line in (DATA / "healthbench_sample.jsonl").read_text().split("\n"):
        if line:
            assert not texts & {item["criterion"].lower() for item in json.loads(line)["rubrics"]}, "our own words"
