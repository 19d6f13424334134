"""Edit distance of texts; examples counted by hand, properties of a distance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.edit_distance import edit_distance


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        (
            "Advises emergency care if chest pain occurs",
            "Advises calling emergency services if chest pain lasts over 15 minutes",
            32 / 70,
        ),
        ("建议立即就医", "建议在24小时内就医", 6 / 10),
        ("kitten", "sitting", 3 / 7),  # the textbook's example: two replaced, one added
        ("", "", 0.0),
        ("", "abc", 1.0),
        ("caf\u00e9", "cafe\u0301", 0.0),  # one letter, composed or not
        ("  a\n\tb ", "a b", 0.0),
        ("\U0001f600", "\U0001f601", 1.0),  # code points, not bytes or UTF-16 units
    ],
)
def test_the_share_that_changed(before: str, after: str, share: float) -> None:
    assert edit_distance(before, after) == pytest.approx(share, abs=1e-12)


@given(st.text(max_size=30), st.text(max_size=30))
def test_it_is_the_same_both_ways_and_from_0_to_1(before: str, after: str) -> None:
    share = edit_distance(before, after)
    assert share == edit_distance(after, before)
    assert 0.0 <= share <= 1.0
    assert edit_distance(before, before) == 0.0
