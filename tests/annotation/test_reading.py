"""The response on the page leads back to the stored text, whatever it holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.selectors.text_blocks import Block, TextPiece, blocks

MARKUP = st.text(alphabet=st.sampled_from(list("ab1 \t\r\n#*_`>|-.)（。𝒳é\u2028")), max_size=120)


def pieces(blocks: list[Block]) -> list[TextPiece]:
    out = []
    for block in blocks:
        out += [block.marker] if block.marker else []
        out += [piece for line in block.lines for piece in line]
    return out


@pytest.mark.slow
@given(MARKUP | st.text(max_size=80))
def test_every_piece_is_at_its_offset_and_no_word_is_lost(text: str) -> None:
    last = 0
    for piece in pieces(blocks(text)):
        assert text[piece.start : piece.start + len(piece.text)] == piece.text
        assert piece.start >= last
        last = piece.start + len(piece.text)
    shown = "".join(piece.text for piece in pieces(blocks(text)))
    # A fence line's info string ("```python") is markup; nothing else with letters or digits may vanish.
    if not re.search(r"(```|~~~)", text):
        assert re.findall(r"[ab1𝒳é。（]", shown) == re.findall(r"[ab1𝒳é。（]", text)


def test_markup_is_set_and_its_marks_are_no_part_of_the_pieces() -> None:
    text = (
        "## Now\r\nPress **firmly**, not *hard*.\r\n\r\n1. cloth\n   - clean\n> wait\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n---\n```\nx = 1\n```"
    )
    parsed_blocks = blocks(text)
    assert [block.kind for block in parsed_blocks] == ["heading", "p", "item", "item", "quote", "table", "rule", "code"]
    assert parsed_blocks[0].lines == ((TextPiece("Now", 3),),)
    assert parsed_blocks[1].lines[0] == (
        TextPiece("Press ", 8),
        TextPiece("firmly", 16, "strong"),
        TextPiece(", not ", 24),
        TextPiece("hard", 31, "em"),
        TextPiece(".", 36),
    )
    assert [(block.marker and block.marker.text, block.level) for block in parsed_blocks[2:4]] == [("1.", 0), ("-", 1)]
    assert [["".join(p.text for p in cell) for cell in row] for row in parsed_blocks[5].rows] == [
        ["a", "b"],
        ["1", "2"],
    ]


def test_arithmetic_is_not_italic() -> None:
    assert blocks("5*3*2 mg and 2 * 3 * 4")[0].lines == ((TextPiece("5*3*2 mg and 2 * 3 * 4", 0),),)
