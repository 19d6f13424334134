"""Every figure of the papers' tables has a unit, and published values in another are refused."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from agreement.replication.manifest import Paper
from agreement.replication.papers import PAPERS
from agreement.replication.published import PublishedValue, published_rows, read_published, value_columns
from agreement.writers.units import Unit, unit_of
from rubrics.parsing.faults import ImportRefused

ARTEFACTS = [(paper, artefact) for paper in PAPERS.values() for artefact in paper.artefacts if artefact.is_made_here]
COLUMNS = [
    (artefact, column) for _paper, artefact in ARTEFACTS for column in artefact.columns if column not in artefact.row
]


def of(artefact: str, row: str, column: str, value: Any, paper: Paper = PAPERS["clinconsensus"]) -> float:
    """The value as it is kept; `ImportRefused` where it is refused."""
    (only,) = published_rows([{"artefact": artefact, "row": row, "column": column, "value": value}], paper)
    return only.value


def refusal(artefact: str, row: str, column: str, value: Any, paper: str = "clinconsensus") -> str:
    with pytest.raises(ImportRefused) as refused:
        of(artefact, row, column, value, PAPERS[paper])
    return str(refused.value.errors[0].message)


def test_every_column_has_a_unit() -> None:
    assert [(artefact.key, column) for artefact, column in COLUMNS if unit_of(column, artefact.table) is None] == []


def test_no_word_is_compared_with_a_number() -> None:
    for paper, artefact in ARTEFACTS:
        assert value_columns(artefact)
        words = set(artefact.columns) - set(artefact.row) - set(value_columns(artefact))
        lines = [f"{artefact.key},x,{column},1\n" for column in sorted(words)]
        if lines:
            with pytest.raises(ImportRefused) as refused:
                read_published(BytesIO("".join(["artefact,row,column,value\n", *lines]).encode()), paper)
            assert refused.value.total == len(lines)


@pytest.mark.parametrize(
    ("paper", "artefact", "column"),
    [
        ("clinconsensus", "failures-coverage", "rate_covered_little"),
        ("clinconsensus", "failures-coverage", "rate_others"),
        ("clinconsensus", "failures-agreement", "rate_a"),
        ("clinconsensus", "failures-agreement", "f1_present_low"),
        ("clinconsensus", "graders", "top3"),
        ("healthbench", "physicians-paired", "worse"),
        ("healthbench", "run-to-run", "minimum"),
        ("rubrics", "suggestions", "acceptance"),
        ("rubrics", "refinement-length", "pearson"),
        ("rubrics", "cia", "f1"),
        ("acuity", "spread", "q"),
    ],
)
def test_shares_are_of_one(paper: str, artefact: str, column: str) -> None:
    assert refusal(artefact, "x", column, "71", paper) == "This column is on a scale of 1: write 0.71, or 71%."
    assert of(artefact, "x", column, "71%", PAPERS[paper]) == of(artefact, "x", column, 0.71, PAPERS[paper]) == 0.71


@pytest.mark.parametrize(
    ("paper", "artefact", "column"),
    [
        ("clinconsensus", "judge-error", "by_judge_low"),
        ("clinconsensus", "registers", "cacs_at_k_lay"),
        ("clinconsensus", "composition-cross", "row_percent"),
        ("healthbench", "meta-percentiles", "percentile"),
        ("rubrics", "refinement", "refined"),
    ],
)
def test_others_are_of_a_hundred(paper: str, artefact: str, column: str) -> None:
    assert "is on a scale of 100: write 71" in refusal(artefact, "x", column, "0.71", paper)
    assert of(artefact, "x", column, "0.4%", PAPERS[paper]) == 0.4
    assert of(artefact, "x", column, "71%", PAPERS[paper]) == of(artefact, "x", column, 71, PAPERS[paper]) == 71
    assert refusal(artefact, "x", column, "171", paper) == "A value of this column is at most 100."


@pytest.mark.parametrize(
    ("paper", "artefact", "column"),
    [
        ("clinconsensus", "gap", "gap_cacs"),
        ("clinconsensus", "gap", "gap_cacs_low"),
        ("clinconsensus", "registers", "cacs_at_k_difference"),
        ("clinconsensus", "registers", "cacs_at_k_difference_high"),
        ("clinconsensus", "both-sides", "rubric_accuracy_difference"),
        ("clinconsensus", "judge-error", "bias"),
        ("clinconsensus", "graders", "mean_absolute_difference"),
        ("rubrics", "refinement", "gain_low"),
        ("rubrics", "deltas", "delta_100"),
    ],
)
def test_differences_of_a_hundred_may_be_small(paper: str, artefact: str, column: str) -> None:
    assert of(artefact, "x", column, -0.4, PAPERS[paper]) == of(artefact, "x", column, "-0.4%", PAPERS[paper]) == -0.4


def test_ratios_may_be_above_one_and_counts_are_no_percentages() -> None:
    assert of("refinement", "x", "relative", "130%", PAPERS["rubrics"]) == 1.3
    assert of("failures-coverage", "x", "risk_ratio", 2.5) == 2.5
    assert of("refinement", "x", "worse", 130, PAPERS["rubrics"]) == 130
    assert "not a percentage" in refusal("overall", "x", "n", "71%")
    assert "not a percentage" in refusal("refinement", "x", "worse", "71%", "rubrics")


def test_where_a_row_names_the_figure_the_unit_is_its_own() -> None:
    assert refusal("cacs-by-k", "pass_at_k / 9 / o3", "low", "71").startswith("This column is on a scale of 1:")
    assert refusal("cacs-by-k", "cacs_at_k / 9 / o3", "low", "0.7").startswith("This column is on a scale of 100:")
    acuity = PAPERS["acuity"]
    assert of("formats", "o3 / all / accuracy", "difference_low", "-3%", acuity) == -0.03
    assert refusal("formats", "o3 / all / accuracy", "qa", "71", "acuity").startswith("This column is on a scale of 1:")
    assert of("formats", "o3 / all / cost", "qa", 71, acuity) == 71
    assert "not a percentage" in refusal("judge", "o3 / bias", "value", "71%", "acuity")


def test_units_do_not_change_what_is_kept_of_a_value() -> None:
    value = {"artefact": "overall", "row": "o3", "column": "cacs_at_k", "value": "0.4 %", "source": "here"}
    assert published_rows([value], PAPERS["clinconsensus"]) == [
        PublishedValue("overall", "o3", "cacs_at_k", 0.4, "here")
    ]
    assert unit_of("no_such_column") is None
    assert unit_of("cacs_at_k_rank") is Unit.NONE
