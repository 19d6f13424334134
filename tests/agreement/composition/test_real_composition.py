"""The report on composition over the public HealthBench sample, against pandas over the same file."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command
from scipy.stats.contingency import relative_risk

from agreement.models import Report
from agreement.reports.stored import table_of
from rubrics.models import Benchmark
from tests.agreement.composition.reports import composition_of, counts_of, frame_of, slice_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SAMPLE = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "healthbench_sample.jsonl"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def benchmark(rows_of_the_module: None) -> Benchmark:
    call_command("import_cases", str(SAMPLE), "--benchmark", "hb", stdout=io.StringIO())
    return Benchmark.objects.get(slug="hb")


@pytest.fixture(scope="module")
def report(benchmark: Benchmark) -> Report:
    return composition_of(benchmark, row="theme", column="physician_agreed_category")


@pytest.fixture(scope="module")
def cases(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The file as a table, a row for each example."""

    def of_kind(tags: list[str], kind: str) -> list[str]:
        return [tag.removeprefix(f"{kind}:") for tag in tags if tag.startswith(f"{kind}:")]

    return pd.DataFrame(
        {
            "key": row["prompt_id"],
            "theme": of_kind(row["example_tags"], "theme"),
            "category": of_kind(row["example_tags"], "physician_agreed_category"),
            "messages": len(row["prompt"]),
            "user_turns": sum(turn["role"] == "user" for turn in row["prompt"]),
            "characters": sum(len(turn["content"]) for turn in row["prompt"]),
            "last_user": len([turn["content"] for turn in row["prompt"] if turn["role"] == "user"][-1]),
            "criteria": len(row["rubrics"]),
            "positive": sum(max(item["points"], 0) for item in row["rubrics"]),
            "negative": sum(min(item["points"], 0) for item in row["rubrics"]),
        }
        for row in rows
    )


def test_themes_and_categories(report: Report, cases: pd.DataFrame) -> None:
    assert report.result["facts"]["n_cases"] == len(cases) == 120
    for dimension, column in (("theme", "theme"), ("physician_agreed_category", "category")):
        counts = Counter(value for values in cases[column] for value in values)
        first = Counter(values[0] for values in cases[column] if values)
        without = int((cases[column].str.len() == 0).sum())
        expected = dict(counts) | ({"": without} if without else {})
        assert counts_of(report, dimension) == expected
        assert counts_of(report, dimension, "n_first") == {value: first.get(value, 0) for value in counts} | (
            {"": without} if without else {}
        )
        percent = counts_of(report, dimension, "percent_first")
        assert sum(percent.values()) == pytest.approx(100)


def test_turns_and_lengths(report: Report, cases: pd.DataFrame) -> None:
    pairs = {
        "conversations": {
            "messages": "messages",
            "user_turns": "user_turns",
            "characters": "characters",
            "last_user_characters": "last_user",
        },
        "rubrics": {"criteria": "criteria", "points_positive": "positive", "points_negative": "negative"},
    }
    for table, names in pairs.items():
        own = frame_of(report, table).set_index("measure")
        for measure, column in names.items():
            described = cases[column].describe()
            for ours, theirs in (
                ("n", "count"), ("mean", "mean"), ("sd", "std"), ("minimum", "min"), ("q1", "25%"), ("median", "50%"),
                ("q3", "75%"), ("maximum", "max"),
            ):  # fmt: skip
                assert own.loc[measure, ours] == pytest.approx(described[theirs]), (measure, ours)
    single = int((cases["user_turns"] == 1).sum())
    assert report.result["facts"]["n_single_turn"] == single
    assert counts_of(report, "turns") == {"single": single, "several": 120 - single}
    histogram = frame_of(report, "histogram")
    for measure, column in (("user_turns", "user_turns"), ("characters", "characters"), ("criteria", "criteria")):
        for row in histogram[histogram["measure"] == measure].to_dict("records"):
            high = float("inf") if pd.isna(row["high"]) else row["high"]
            assert row["n"] == int(cases[column].between(row["low"], high).sum())
        assert histogram[histogram["measure"] == measure]["n"].sum() == 120


def test_criteria_by_axis_and_level(report: Report, rows: list[dict[str, Any]]) -> None:
    criteria = [item for row in rows for item in row["rubrics"]]
    assert report.result["facts"]["n_criteria"] == len(criteria) == 1413
    table = frame_of(report, "criteria")
    for kind in ("axis", "level"):
        tags = Counter(tag for item in criteria for tag in item["tags"] if tag.startswith(f"{kind}:"))
        own = table[(table["dimension"] == kind) & (table["value"] != "")].set_index("value")
        assert {f"{kind}:{value}": n for value, n in own["n"].items()} == dict(tags)
        points = own["points_positive"].sum() + own["points_negative"].sum()
        assert points == sum(item["points"] * sum(t.startswith(f"{kind}:") for t in item["tags"]) for item in criteria)
    signs = table[table["dimension"] == "sign"].set_index("value")["n"].to_dict()
    assert signs == {
        "positive": sum(item["points"] > 0 for item in criteria),
        "negative": sum(item["points"] < 0 for item in criteria),
    }
    lengths = pd.Series([len(item["criterion"]) for item in criteria])
    own = frame_of(report, "rubrics").set_index("measure").loc["criterion_characters"]
    assert (own["mean"], own["median"]) == (pytest.approx(lengths.mean()), lengths.median())


def test_responses_by_candidate(report: Report, rows: list[dict[str, Any]]) -> None:
    completions = [row["ideal_completions_data"] or {} for row in rows]
    ideal = pd.Series([len(data["ideal_completion"]) for data in completions if data.get("ideal_completion")])
    references = pd.Series(
        [len(text) for data in completions for text in data.get("ideal_completions_ref_completions") or []]
    )
    own = frame_of(report, "responses").set_index("candidate")
    for name, lengths in (("physician", ideal), ("reference", references)):
        assert own.loc[name, "n"] == len(lengths)
        assert own.loc[name, "mean"] == pytest.approx(lengths.mean())
        assert own.loc[name, "sd"] == pytest.approx(lengths.std())


def test_the_cross_table_is_that_of_pandas(report: Report, cases: pd.DataFrame) -> None:
    pairs = pd.DataFrame(
        [(theme, category) for row in cases.itertuples() for theme in row.theme or [""] for category in
         row.category or [""]],
        columns=["row", "column"],
    )  # fmt: skip
    expected = pd.crosstab(pairs["row"], pairs["column"])
    for row in table_of(report, "cross").dicts():
        assert row["n"] == expected.loc[row["row"], row["column"]]
    assert frame_of(report, "cross")["n"].sum() == len(pairs)


def test_long_conversations_against_the_others(benchmark: Benchmark, cases: pd.DataFrame) -> None:
    long = cases["characters"] > cases["characters"].median()
    slice_of(benchmark, "long", cases[long]["key"].tolist())
    rows = table_of(composition_of(benchmark, subset="long"), "enrichment").dicts()
    themes = {row["value"]: row for row in rows if row["dimension"] == "theme"}
    for theme, row in themes.items():
        has = cases["theme"].map(lambda values, theme=theme: theme in values)
        inside, outside = int((has & long).sum()), int((has & ~long).sum())
        assert (row["n_inside"], row["n_outside"]) == (inside, outside)
        if not outside:
            assert row["ratio"] is None
            continue
        risk = relative_risk(inside, int(long.sum()), outside, int((~long).sum()))
        assert row["ratio"] == pytest.approx(risk.relative_risk)
        assert row["enrichment"] == pytest.approx((inside / long.sum()) / (has.sum() / len(cases)))
        if min(inside, outside) >= 10:
            # Katz's interval is another formula for the same: near it where counts are not small.
            low, high = risk.confidence_interval(0.95)
            assert (row["ratio_low"], row["ratio_high"]) == (pytest.approx(low, rel=0.1), pytest.approx(high, rel=0.1))
