"""What became of a criterion between two versions, by rows and texts written down by hand."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.editor.draft_content import DraftItem
from rubrics.versions.diff import Kind, compare, word_marks


def item(text: str, criterion: int | None = None, points: int = 5, *tags: str) -> DraftItem:
    return DraftItem(f"i{criterion}{text[:8]}", text, points, tags, criterion=criterion)


OLD = [
    item("Asks how old the patient is", 1),
    item("Names the dose of paracetamol", 2),
    item("Tells when to see a doctor", 3),
    item("Says that antibiotics do not help", 4),
]


def test_each_criterion_is_found_again() -> None:
    new = [
        item("Tells when to see a doctor", 3),
        item("Asks how old the patient is", 1, 7, "axis:safety"),
        item("Names the daily dose of paracetamol", 2),
        item("Mentions fluids", None),
    ]
    comparison = compare(OLD, new)
    assert [(line.kind, line.old_place, line.new_place, line.moved) for line in comparison.lines] == [
        (Kind.SAME, 3, 1, True),
        (Kind.CHANGED, 1, 2, False),
        (Kind.REWORDED, 2, 3, False),
        (Kind.NEW, None, 4, False),
        (Kind.REMOVED, 4, None, False),
    ]
    assert comparison.lines[1].fields == ("points", "tags") and comparison.lines[1].added_tags == ["axis:safety"]
    assert [(piece.text, piece.mark) for piece in comparison.lines[2].pieces] == [
        ("Names the", ""),
        (" daily", "ins"),
        (" dose of paracetamol", ""),
    ]
    assert comparison.n_regraded == 2
    cited = dataclasses.replace(OLD[0], source="Guideline 7")
    assert compare(OLD, [cited, *OLD[1:]]).lines[0].grounds == [("source", "", "Guideline 7")]


def test_without_rows_texts_lead_to_each_other_and_what_differs_altogether_is_new() -> None:
    new = [item("Names the usual dose of paracetamol"), item("Recommends vaccination against influenza")]
    kinds = {line.item.text: (line.kind, line.old_place) for line in compare(OLD, new).lines}
    assert kinds[new[0].text] == (Kind.REWORDED, 2)
    assert kinds[new[1].text] == (Kind.NEW, None)


def test_chinese_is_marked_by_character() -> None:
    assert [(piece.text, piece.mark) for piece in word_marks("询问患者年龄", "询问患者的年龄")] == [
        ("询问患者", ""),
        ("的", "ins"),
        ("年龄", ""),
    ]


texts = st.text(alphabet="ab 中’-\n_", max_size=30)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(texts, max_size=6, unique=True), st.lists(texts, max_size=6, unique=True))
def test_nothing_is_lost_and_both_texts_can_be_read_from_the_marks(old: list[str], new: list[str]) -> None:
    before = [item(text, place) for place, text in enumerate(old, start=1)]
    comparison = compare(before, [item(text) for text in new])
    assert [line.new.text for line in comparison.lines if line.new] == new
    assert sorted(line.old_place for line in comparison.lines if line.old_place) == list(range(1, len(old) + 1))
    for line in comparison.lines:
        if line.kind is Kind.REWORDED and line.old and line.new:
            assert "".join(piece.text for piece in line.pieces if piece.mark != "ins") == line.old.text
            assert "".join(piece.text for piece in line.pieces if piece.mark != "del") == line.new.text
