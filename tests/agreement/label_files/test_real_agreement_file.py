"""The published HealthBench labels, read where they lie (CONSILIUM_REAL_DATA): what the official code computes."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import defaultdict
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.agreement.label_files.test_agreement_file import rows_by_judge


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> tuple[str, dict[str, list[dict[str, str]]]]:
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    out, stdout = tmp_path_factory.mktemp("real"), io.StringIO()
    call_command(
        "agreement_file",
        folder / "meta_gold.jsonl",
        judge=folder / "judge_labels.jsonl",
        out=out,
        stdout=stdout,
    )
    return stdout.getvalue(), {
        path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8")))) for path in out.iterdir()
    }


def test_judge_against_all_physicians(tables):
    output, rows_by_table = tables
    row = rows_by_table["agreement"][0]
    assert (row["slice"], row["n_pairs"]) == ("all", "250")
    expected = {"f1_balanced": 0.696691, "mf1": 0.696691, "f1_met": 0.805882, "f1_not_met": 0.587500, "kappa": 0.393784}
    for column, value in expected.items():
        assert float(row[column]) == pytest.approx(value, abs=1e-6), column
        assert f"{value:.6f}" in output


def test_ceiling_of_the_physicians(tables):
    output, rows_by_table = tables
    row = rows_by_table["ceiling"][0]
    assert (row["slice"], row["n_pairs"]) == ("all", "282")
    expected = {"f1_balanced": 0.718500, "f1_met": 0.804348, "f1_not_met": 0.632653, "kappa": 0.437001}
    for column, value in expected.items():
        assert float(row[column]) == pytest.approx(value, abs=1e-6), column
        assert f"{value:.6f}" in output
    assert float(row["alpha"]) == pytest.approx(0.42515, abs=1e-5)


def test_every_category_and_physician_has_its_row(tables):
    _, rows_by_table = tables
    assert len(rows_by_table["agreement"]) == len(rows_by_table["ceiling"]) == 1 + 33
    assert sum(int(row["n_pairs"]) for row in rows_by_table["agreement"][1:]) == 250
    assert sum(int(row["n_pairs"]) for row in rows_by_table["ceiling"][1:]) == 282
    overall = [row for row in rows_by_table["physicians"] if row["slice"] == "all"]
    assert len(overall) == 107
    assert sum(int(row["n_pairs"]) for row in overall) == 282


Pairs = list[tuple[bool, bool]]


def f1(pairs: Pairs, of: bool) -> tuple[float | None, float | None, float | None]:
    """Precision, recall and F1 of one answer as the published code has them: None without one to divide by."""
    both = sum(a is of and b is of for a, b in pairs)
    predicted, meant = sum(b is of for _, b in pairs), sum(a is of for a, _ in pairs)
    precision, recall = both / predicted if predicted else None, both / meant if meant else None
    if precision is None or recall is None:
        return precision, recall, None
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def figures_of(pairs: Pairs) -> dict[str, float | None]:
    """All of a row, pair by pair."""
    if not pairs:
        return dict.fromkeys(("precision_met", "recall_met", "mf1", "raw", "kappa", "f1_balanced", "prevalence_a"))
    met, not_met = f1(pairs, True), f1(pairs, False)
    n, agree = len(pairs), sum(a is b for a, b in pairs)
    a_met, b_met = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    used = [
        2 * sum(a is of and b is of for a, b in pairs) / mentions
        for of, mentions in ((True, a_met + b_met), (False, 2 * n - a_met - b_met))
        if mentions
    ]
    chance = (a_met * b_met + (n - a_met) * (n - b_met)) / n**2
    return {
        "precision_met": met[0],
        "recall_met": met[1],
        "precision_not_met": not_met[0],
        "recall_not_met": not_met[1],
        "f1_balanced": None if met[2] is None or not_met[2] is None else (met[2] + not_met[2]) / 2,
        "mf1": sum(used) / len(used),
        "raw": agree / n,
        "kappa": None if {a_met, b_met} & {0, n} else (agree / n - chance) / (1 - chance),
        "prevalence_a": a_met / n,
        "prevalence_b": b_met / n,
    }


def same(row: dict[str, str], pairs: Pairs) -> None:
    assert int(row["n_pairs"]) == len(pairs), row
    for column, value in figures_of(pairs).items():
        assert (float(row[column]) if row[column] else None) == (
            None if value is None else pytest.approx(value, abs=1e-9)
        ), (row, column)
        if value is None:
            assert row["note"], row


def test_every_row_pair_by_pair(tables):
    """The whole, each category and each physician, by loops over the files alone; alpha by the krippendorff package."""
    import krippendorff
    import numpy as np
    from sklearn.metrics import cohen_kappa_score, f1_score

    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    items = [json.loads(line) for line in (folder / "meta_gold.jsonl").read_text("utf-8").splitlines()]
    verdicts = [json.loads(line) for line in (folder / "judge_labels.jsonl").read_text("utf-8").splitlines()]
    verdict = {row["item_id"]: row["criteria_met"] for row in verdicts}
    judge, ceiling, units = defaultdict(list), defaultdict(list), defaultdict(list)
    physicians: dict[tuple[str, str], Pairs] = defaultdict(list)
    for item in items:
        labels = list(zip(item["anonymized_physician_ids"], item["binary_labels"], strict=True))
        for name in ("all", item["category"]):
            units[name].append([label for _, label in labels])
            for place, (physician, label) in enumerate(labels):
                judge[name].append((label, verdict[item["item_id"]]))
                others = [other for position, (_, other) in enumerate(labels) if position != place]
                ceiling[name] += [(other, label) for other in others]
                physicians[physician, name] += [(other, label) for other in others]
    _, rows_by_table = tables
    assert [row["slice"] for row in rows_by_table["agreement"]] == [row["slice"] for row in rows_by_table["ceiling"]]
    for row in rows_by_table["agreement"]:
        same(row, judge[row["slice"]])
    for pairs in (judge["all"], ceiling["all"]):
        a, b = zip(*pairs, strict=True)
        assert figures_of(pairs)["mf1"] == pytest.approx(f1_score(a, b, average="macro"), abs=1e-12)
        assert figures_of(pairs)["kappa"] == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
    for row in rows_by_table["ceiling"]:
        same(row, ceiling[row["slice"]])
        paired = [labels for labels in units[row["slice"]] if len(labels) > 1]
        if len({label for labels in paired for label in labels}) < 2:
            assert (row["alpha"], "alpha" in row["note"] or not paired) == ("", True)
            continue
        width = max(map(len, paired))
        table = np.array([[float(x) for x in labels] + [np.nan] * (width - len(labels)) for labels in paired]).T
        assert float(row["alpha"]) == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"), abs=1e-9)
    physician_rows = {(row["physician"], row["slice"]): row for row in rows_by_table["physicians"]}
    assert physician_rows.keys() == physicians.keys()
    for place, row in physician_rows.items():
        same(row, physicians[place])


@pytest.mark.slow
def test_a_second_judge_with_flipped_verdicts(tables, tmp_path):
    """The verdicts on the first 30 items turned round, as a second judge: MF1 by loops over the files alone."""
    from sklearn.metrics import f1_score

    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    items = [json.loads(line) for line in (folder / "meta_gold.jsonl").read_text("utf-8").splitlines()]
    lines = [json.loads(line) for line in (folder / "judge_labels.jsonl").read_text("utf-8").splitlines()]
    flipped = [
        {"item_id": row["item_id"], "criteria_met": row["criteria_met"] is not (place < 30)}
        for place, row in enumerate(lines)
    ]
    second, out = tmp_path / "second.jsonl", tmp_path / "out"
    second.write_text("".join(f"{json.dumps(row)}\n" for row in flipped), "utf-8")
    call_command(
        "agreement_file",
        folder / "meta_gold.jsonl",
        judge=[f"first={folder / 'judge_labels.jsonl'}", f"flipped={second}"],
        out=out,
        stdout=io.StringIO(),
    )
    rows = list(csv.DictReader(io.StringIO((out / "agreement.csv").read_text("utf-8"))))
    own = rows_by_judge(rows)
    assert own["first"] == tables[1]["agreement"]
    verdict = {row["item_id"]: row["criteria_met"] for row in flipped}
    pairs = [(met, verdict[item["item_id"]]) for item in items for met in item["binary_labels"]]
    assert len(pairs) == 250
    same(own["flipped"][0], pairs)
    assert float(own["flipped"][0]["mf1"]) == pytest.approx(f1_score(*zip(*pairs, strict=True), average="macro"))
    assert float(own["flipped"][0]["mf1"]) < float(own["first"][0]["mf1"])
    # By hand: of the labels of the 30 turned items, right and wrong change places.
    right = {
        name: sum(met is given[item["item_id"]] for item in items for met in item["binary_labels"])
        for name, given in (("first", {row["item_id"]: row["criteria_met"] for row in lines}), ("flipped", verdict))
    }
    for name, n in right.items():
        assert float(own[name][0]["raw"]) == pytest.approx(n / 250)
