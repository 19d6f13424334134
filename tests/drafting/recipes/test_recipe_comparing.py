"""The difference of two texts, line by line: nothing is lost, and each line is where it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drafting.recipes.comparing import TextLine, line_changes

TEXTS = st.lists(st.sampled_from(["a", "b", "c d", "c e", ""]), min_size=1, max_size=12).map("\n".join)


def side(line: TextLine, mark: str) -> str:
    """A line as it is in one of the texts: without what only the other one has."""
    return "".join(piece.text for piece in line.pieces if piece.mark != mark)


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_from_the_difference(old: str, new: str) -> None:
    before, after = old.split("\n") if old else [], new.split("\n") if new else []
    seen_old = seen_new = 0
    for line in line_changes(old, new):
        if line.kind == "gap":
            # Only lines that are the same in both are left out.
            assert before[seen_old : seen_old + line.left_out] == after[seen_new : seen_new + line.left_out]
            seen_old, seen_new = seen_old + line.left_out, seen_new + line.left_out
            continue
        if line.old_place is not None:
            seen_old += 1
            assert (line.old_place, side(line, "ins")) == (seen_old, before[seen_old - 1])
        if line.new_place is not None:
            seen_new += 1
            assert (line.new_place, side(line, "del")) == (seen_new, after[seen_new - 1])
    assert (seen_old, seen_new) == (len(before), len(after))


def test_lines_far_from_a_change_are_left_out() -> None:
    old = "\n".join("abcdefghij")
    shown = list(line_changes(old, old.replace("f", "F")))
    # Two lines before and after the sixth.
    assert [(line.kind, line.new_place, line.left_out) for line in shown] == [
        ("gap", None, 3), ("same", 4, 0), ("same", 5, 0), ("changed", 6, 0), ("same", 7, 0), ("same", 8, 0),
        ("gap", None, 2),
    ]  # fmt: skip
