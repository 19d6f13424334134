"""Remarks of a report: which stay in the table of an artefact, and which say why it has no value."""

from __future__ import annotations

import pytest
from django.utils.translation import override, pgettext

from agreement.replication import gaps, making
from agreement.replication.building import (
    _no_value,
    _note_on,
    _reasons_for,
    _without_figures,
    _without_rows,
    with_intervals,
)
from agreement.replication.manifest import Artefact
from agreement.replication.papers import PAPERS
from agreement.writers.headings import heading_of
from consilium.core.phrases import Phrase

COLUMNS = ("candidate", "mf1", "kappa", "note")
ALL = (*COLUMNS, "ac1", "alpha")
SIGNS = {
    *("%", "AC1", "CACS@k", "CIA", "F1", "JSD", "MF1", "Pass@k", "RPS", "Rubric Accuracy", "TVD", "W₁", "df", "k", "n"),
    *("p", "q", "Δ"),
}
MADE = [artefact for paper in PAPERS.values() for artefact in paper.artefacts if artefact.is_made_here]


@pytest.mark.parametrize(
    ("note", "kept"),
    [
        ("ac1: a; b", ""),
        ("mf1: a; b", "mf1: a; b"),
        ("ac1: a; b; mf1: c; d", "mf1: c; d"),
        ("row; ac1: a; b", "row"),
        ("ac1, mf1: a; b", "mf1: a; b"),
        ("three cases: too few; alpha: x", "three cases: too few"),
        ("row; also", "row; also"),
        ("", ""),
    ],
)
def test_a_remark_goes_with_the_columns_that_it_is_about(note: str, kept: str) -> None:
    assert _note_on(COLUMNS, ALL, note) == kept


@pytest.mark.parametrize(
    ("notes", "reasons"),
    [
        (["no responses"], ["no responses"]),
        (["rate: constant"], ["constant"]),
        (["rate: constant; few"], ["constant", "few"]),
        (["n: none; few"], []),
        (["no responses; rate: constant", "no responses"], ["constant", "no responses"]),
        ([None, ""], []),
    ],
)
def test_reasons_are_about_a_column_or_about_all(notes: list[str | None], reasons: list[str]) -> None:
    assert _reasons_for(["rate"], [{"rate": None, "n": 0, "note": note} for note in notes]) == reasons


@pytest.mark.parametrize("artefact", MADE, ids=lambda artefact: artefact.key)
def test_whatever_can_lack_data_has_a_next_step(artefact: Artefact) -> None:
    refused = making._refused(artefact, gaps.Gap(Phrase("The report could not be computed: %(why)s", why="x")))
    assert refused.step("slug")
    if artefact.why_empty is None:
        assert _without_rows(artefact, []).step("slug")
    leading = [figure for figure, _low in with_intervals(artefact)]
    if leading:
        own = _without_figures(artefact, leading, [dict.fromkeys(artefact.columns)])
        assert own[0].what.startswith("No row has a value: ")
        assert any(gap.step("slug") for gap in own)


def test_headings_in_sentences_are_in_the_language_of_the_reader() -> None:
    names = ["rubric_score", "mf1", "rate_covered_little"]
    own = gaps.Gap.of_json(_no_value(names, [{**dict.fromkeys(names), "note": "mf1: no responses"}]).as_json())
    assert own.what == "No row has a value: Rubric score, MF1, Rate, low coverage (no responses)."
    with override("zh-hans"):
        assert "细则得分、MF1、比例，低覆盖" in own.what_here
        assert "Rubric score" not in own.what_here
    with override("en"):
        assert own.what_here == own.what


def test_every_heading_of_a_figure_is_translated() -> None:
    with override("zh-hans"):
        for artefact in MADE:
            for name in set(artefact.columns) - set(artefact.row):
                heading = heading_of(name, artefact.columns)
                same = pgettext("heading", heading) == heading
                is_end = name.rpartition("_")[2] in ("low", "high")
                assert is_end or not same or heading in SIGNS, heading


def test_every_gap_of_a_choice_has_a_next_step() -> None:
    own = [gap for name, gap in vars(gaps).items() if isinstance(gap, gaps.Gap)]
    without = [gap for gap in own if not gap.step("slug")]
    assert without == [gaps.NOT_HERE]
