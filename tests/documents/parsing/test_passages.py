"""Passages: their sizes, their places, and what they never cross."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.parsing.blocks import Block
from documents.parsing.limits import DocumentLimits
from documents.parsing.parsed import ParsedDocument
from documents.parsing.passages import PassageBuilder, TooLarge, build, size_of_text

WORDS = ("dose", "patient.", "mg", "Review", "(twice", "daily)", "3.5", "water,", "Stop!", "15mg/kg")
SPACES = (" ", " ", " ", "\n", "  ", "\t")
HAN = "患者每日服药两次饭后量。，；"


def random_text(seed: int, n: int, script: str) -> str:
    """Text of ``n`` made-up words or characters."""
    rng = random.Random(seed)
    if script == "Han":
        return "".join(rng.choices(HAN, k=n))
    if script == "one long run":
        return "".join(rng.choices("ACGT", k=10 * n))
    return "".join(word + space for word, space in zip(rng.choices(WORDS, k=n), rng.choices(SPACES, k=n), strict=True))


SCRIPTS = st.sampled_from(("English", "English", "Han", "one long run"))
TEXT = st.builds(random_text, st.integers(0, 10**6), st.integers(1, 500), SCRIPTS)
BODY = st.tuples(st.sampled_from(["paragraph", "item"]), TEXT).map(lambda pair: Block(pair[0], pair[1]))
HEADING = st.tuples(st.integers(0, 10**6), st.integers(1, 6)).map(
    lambda pair: Block("heading", f"§{pair[0]} Heading", pair[1])
)
ROW = TEXT.map(lambda text: Block("row", " ".join(text.split())[:300], header="Drug | Dose"))
BLOCKS = st.lists(st.one_of(BODY, BODY, HEADING), max_size=30)
BLOCKS_AND_ROWS = st.lists(st.one_of(BODY, HEADING, ROW), max_size=30)


def texts(document: ParsedDocument) -> list[str]:
    return [document.text[passage.start : passage.end] for passage in document.passages]


@pytest.mark.slow
@settings(deadline=None)
@given(BLOCKS_AND_ROWS)
def test_every_word_is_in_exactly_one_passage(blocks: list[Block]) -> None:
    document = build(blocks)
    end = 0
    for passage in document.passages:
        assert document.text[end : passage.start].strip() == ""
        assert passage.start < passage.end
        end = passage.end
    assert document.text[end:].strip() == ""
    written = "".join("".join(block.text.split()) for block in blocks)
    assert "".join("".join(text.split()) for text in texts(document)) == written
    for text in texts(document):
        assert text == text.strip()


@pytest.mark.slow
@settings(deadline=None)
@given(BLOCKS)
def test_passages_have_60_to_220_words_unless_their_section_is_shorter(blocks: list[Block]) -> None:
    document = build(blocks)
    sections: list[list[int]] = []
    for text in texts(document):
        if text.startswith("§") or not sections:
            sections.append([])
        sections[-1].append(size_of_text(text))
    for sizes in sections:
        assert max(sizes) <= 440
        assert len(sizes) == 1 or min(sizes) >= 120


@pytest.mark.slow
@settings(deadline=None)
@given(BLOCKS_AND_ROWS)
def test_no_passage_continues_across_a_heading_or_cuts_a_row(blocks: list[Block]) -> None:
    document = build(blocks)
    passages = texts(document)
    for text in passages:
        parts = [part for part in text.split("\n\n") if part.strip()]
        are_headings = [part.startswith("§") for part in parts]
        assert are_headings == sorted(are_headings, reverse=True), "a heading stands behind text"
    for block in blocks:
        if block.kind == "row":
            assert any(block.text.strip() in text for text in passages)


@pytest.mark.slow
@settings(deadline=None)
@given(BLOCKS_AND_ROWS)
def test_the_same_blocks_give_the_same_passages(blocks: list[Block]) -> None:
    assert build(blocks) == build(blocks)


def test_words_and_han_characters_are_weighed() -> None:
    # 2 for a word, 1 for a Han character, nothing for its punctuation; 41 characters count as two words.
    assert size_of_text("Give 15 mg/kg daily") == 8
    assert size_of_text("每日两次，每次5毫克。") == 4 + 2 + 2 + 2
    assert size_of_text("a" * 40) == 2
    assert size_of_text("a" * 41) == 4


def test_a_passage_ends_between_paragraphs_where_it_can() -> None:
    # 70 + 145 words fit into 220, 70 + 145 + 90 do not.
    paragraphs = ["word " * n for n in (70, 145, 90)]
    document = build(Block("paragraph", text) for text in paragraphs)
    assert [len(text.split()) for text in texts(document)] == [215, 90]


def test_a_long_paragraph_is_cut_behind_a_sentence() -> None:
    sentence = "One two three four five six seven eight nine ten. "
    document = build([Block("paragraph", sentence * 50)])
    assert [len(text.split()) for text in texts(document)] == [220, 220, 60]
    assert all(text.endswith("ten.") for text in texts(document))


def test_nothing_short_is_left_over_at_the_end_of_a_section() -> None:
    document = build([Block("paragraph", "word " * 230)])
    sizes = [len(text.split()) for text in texts(document)]
    assert sum(sizes) == 230
    assert min(sizes) >= 60


def test_headings_are_those_above_and_stand_in_the_first_passage() -> None:
    document = build(
        [
            *(Block("heading", "Fever", 1), Block("heading", "Adults", 2), Block("paragraph", "Give water.")),
            *(Block("heading", "Children", 2), Block("paragraph", "Give less.")),
            *(Block("heading", "Cough", 1), Block("paragraph", "Wait.")),
        ]
    )
    assert [passage.headings for passage in document.passages] == [
        ("Fever", "Adults"),
        ("Fever", "Children"),
        ("Cough",),
    ]
    assert texts(document) == ["Fever\n\nAdults\n\nGive water.", "Children\n\nGive less.", "Cough\n\nWait."]
    assert document.title == "Fever"


def test_later_rows_of_a_table_carry_its_header() -> None:
    rows = [Block("row", f"Drug {n} | " + "word " * 20, header="Drug | Dose") for n in range(30)]
    document = build([Block("row", "Drug | Dose"), *rows])
    assert len(document.passages) > 2
    assert document.passages[0].table_header == ""
    assert texts(document)[0].startswith("Drug | Dose\nDrug 0")
    assert {passage.table_header for passage in document.passages[1:]} == {"Drug | Dose"}


def test_a_passage_names_its_first_and_last_page() -> None:
    document = build([Block("paragraph", "one", page=3), Block("paragraph", "two", page=4)])
    assert [(passage.page_from, passage.page_to) for passage in document.passages] == [(3, 4)]


def test_a_heading_of_any_length_does_not_multiply() -> None:
    document = build([Block("heading", "very long " * 1000), Block("paragraph", "word " * 5000)])
    assert all(sum(map(len, passage.headings)) <= 300 for passage in document.passages)


@pytest.mark.parametrize(
    ("text", "fits"), [("a" * 100, True), ("a" * 101, False), ("é" * 100, True), ("剂" * 51, False)]
)
def test_text_is_counted_by_what_it_takes_in_memory(text: str, fits: bool) -> None:
    builder = PassageBuilder(DocumentLimits(text_bytes=100))
    if fits:
        builder.add(Block("paragraph", text))
        assert builder.finish().text == text
    else:
        with pytest.raises(TooLarge):
            builder.add(Block("paragraph", text))
