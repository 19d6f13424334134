"""The lint of line lengths allows 120 characters, of any width in bytes."""

from __future__ import annotations

from tests.design.line_lengths import long_lines


def test_120_characters_pass_and_121_do_not() -> None:
    assert list(long_lines("a" * 120 + "\n" + "评" * 120)) == []
    assert list(long_lines("short\n" + "评" * 121)) == [(2, 121)]
