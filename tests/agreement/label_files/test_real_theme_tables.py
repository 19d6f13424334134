"""`agreement_file --themes` on the real labels: against scikit-learn, scipy, and the figures of the published code."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from scipy.stats import percentileofscore
from sklearn.metrics import f1_score

PREFIXES = (
    *("emergency_referrals", "context_seeking", "global_health", "health_data_tasks", "communication", "hedging"),
    "complex_responses",
)
Pairs = dict[str, list[tuple[bool, bool]]]


def real_rows() -> tuple[list[dict], dict[str, bool]]:
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    rows = [json.loads(line) for line in (folder / "meta_gold.jsonl").read_text("utf-8").splitlines()]
    verdicts = [json.loads(line) for line in (folder / "judge_labels.jsonl").read_text("utf-8").splitlines()]
    return rows, {row["item_id"]: row["criteria_met"] for row in verdicts}


def theme_by_prefix(category: str) -> str:
    return next(theme for theme in PREFIXES if category.startswith(f"cluster:{theme}_"))


def all_pairs(rows: list[dict], verdicts: dict[str, bool]) -> tuple[Pairs, dict[str, Pairs]]:
    """(Reference, rater) by theme, of the judge and of each physician: every pair listed, one by one."""
    judge: Pairs = defaultdict(list)
    physicians: dict[str, Pairs] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for theme in ("all", theme_by_prefix(row["category"])):
            votes = list(zip(row["anonymized_physician_ids"], row["binary_labels"], strict=True))
            for who, label in votes:
                judge[theme].append((label, verdicts[row["item_id"]]))
                physicians[who][theme] += [(other, label) for whom, other in votes if whom != who]
    return judge, physicians


def balanced(pairs: list[tuple[bool, bool]]) -> float | None:
    """As the published code has it: None where one side never used a class."""
    reference, rater = zip(*pairs, strict=True) if pairs else ((), ())
    if len(set(reference)) < 2 or len(set(rater)) < 2:
        return None
    return float(f1_score(reference, rater, average="macro"))


def written(folder: Path) -> dict[str, list[dict[str, str]]]:
    return {path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8")))) for path in folder.iterdir()}


def run(out: Path, *options: object) -> dict[str, list[dict[str, str]]]:
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    judge = folder / "judge_labels.jsonl"
    call_command("agreement_file", folder / "meta_gold.jsonl", *options, judge=judge, out=out, stdout=io.StringIO())
    return written(out)


@pytest.mark.slow
def test_figures_of_each_theme_are_those_of_listed_pairs_and_the_percentile_is_scipys(tmp_path: Path) -> None:
    tables = run(tmp_path / "out", "--themes", "--minimum-pairs", 4)
    judge, physicians = all_pairs(*real_rows())
    rows = {row["theme"]: row for row in tables["themes"]}
    assert list(rows) == ["all", *PREFIXES, "weighted"]
    # The figures of the published code over all items.
    assert float(rows["all"]["f1_met"]) == pytest.approx(0.805882, abs=1e-6)
    assert float(rows["all"]["f1_not_met"]) == pytest.approx(0.587500, abs=1e-6)
    assert float(rows["all"]["f1_balanced"]) == pytest.approx(0.696691, abs=1e-6)
    assert float(rows["all"]["ceiling"]) == pytest.approx(0.718500, abs=1e-6)
    percentiles = {row["theme"]: row for row in tables["percentiles"]}
    n_defined = 0
    for theme in ("all", *PREFIXES):
        reference, rater = zip(*judge[theme], strict=True)
        assert int(rows[theme]["n_pairs"]) == len(reference)
        assert float(rows[theme]["mf1"]) == pytest.approx(f1_score(reference, rater, average="macro"))
        others = [balanced(own[theme]) for own in physicians.values() if len(own[theme]) >= 4]
        values = [value for value in others if value is not None]
        row = percentiles[theme]
        assert int(row["n_physicians"]) == len(values)
        if len(values) < 2:
            assert (row["percentile"], row["note"]) == (
                "",
                f"percentile: {len(values)} of the 2 physicians needed have a figure",
            )
            continue
        n_defined += 1
        own = balanced(judge[theme])
        assert own is not None
        assert float(row["percentile"]) == pytest.approx(percentileofscore(values, own, kind="mean"))
        assert float(row["physicians_mean"]) == pytest.approx(np.mean(values))
        quartiles = [float(row[f"physicians_{name}"]) for name in ("q1", "median", "q3")]
        assert quartiles == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]).tolist())
    assert n_defined == 3  # all, context seeking, hedging
    weights = [len(judge[theme]) for theme in PREFIXES]
    expected = np.average([float(rows[theme]["mf1"]) for theme in PREFIXES], weights=weights)
    assert float(rows["weighted"]["mf1"]) == pytest.approx(expected)
    assert float(rows["weighted"]["mf1_low"]) < expected < float(rows["weighted"]["mf1_high"])
    named = ("context_seeking", "hedging")
    expected = np.average(
        [float(percentiles[theme]["percentile"]) for theme in named], weights=[len(judge[theme]) for theme in named]
    )
    assert float(percentiles["weighted"]["percentile"]) == pytest.approx(expected)
    assert percentiles["weighted"]["note"].endswith("5 themes excluded: undefined")


@pytest.mark.slow
def test_the_other_files_are_the_same_with_and_without_themes(tmp_path: Path) -> None:
    without, with_themes = tmp_path / "without", tmp_path / "with"
    run(without)
    run(with_themes, "--themes")
    for path in without.iterdir():
        assert path.read_bytes() == (with_themes / path.name).read_bytes()
    assert {path.stem for path in with_themes.iterdir()} - {path.stem for path in without.iterdir()} == {
        "themes",
        "percentiles",
    }
