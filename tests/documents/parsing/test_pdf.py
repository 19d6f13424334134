"""PDFs of many shapes, written by `pdf_writer`: reading order, tables, headers, and what is refused."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from textwrap import wrap

import pytest

from documents.parsing.blocks import Block, DocumentFacts
from documents.parsing.characters import Unreadable
from documents.parsing.limits import LIMITS
from documents.parsing.pdf import pdf_blocks
from documents.parsing.read import read_documents
from rubrics.parsing.faults import Faults
from tests.documents.parsing.pdf_writer import Page, write_pdf

WORDS = ["Give", "the", "adult", "patient", "five", "hundred", "milligrams"]


def read(data: bytes) -> tuple[list[Block], DocumentFacts]:
    *blocks, facts = pdf_blocks(io.BytesIO(data))
    assert isinstance(facts, DocumentFacts)
    return [block for block in blocks if isinstance(block, Block)], facts


def read_pages(*pages: Page) -> tuple[list[Block], DocumentFacts]:
    return read(write_pdf(pages))


def column(name: str, n: int) -> list[str]:
    """Lines of nearly the same width, each with its place."""
    return [f"{name} line {number:02} of the made-up column text" for number in range(n)]


def kinds(blocks: Iterable[Block]) -> list[str]:
    return [block.kind for block in blocks]


def test_headings_are_found_by_their_size_and_paragraphs_by_the_space_between() -> None:
    page = Page().text(60, 780, "Treatment of made-up fever", 20).text(60, 740, "Adults", 14)
    page.lines(60, 715, column("First", 4)).lines(60, 650, column("Second", 4))
    blocks, facts = read_pages(page)
    assert [(block.kind, block.level, block.text) for block in blocks] == [
        ("heading", 1, "Treatment of made-up fever"),
        ("heading", 2, "Adults"),
        ("paragraph", 1, "\n".join(column("First", 4))),
        ("paragraph", 1, "\n".join(column("Second", 4))),
    ]
    assert (facts.pages, facts.pages_without_text, facts.remarks) == (1, (), ())


@pytest.mark.parametrize("order", ["columns", "rows"])
def test_two_columns_are_read_one_after_the_other(order: str) -> None:
    page = Page().text(60, 800, "A title over both of the columns of this page, as wide as the page itself is", 13)
    left, right = column("Left", 20), column("Right", 20)
    if order == "columns":
        page.lines(60, 770, left).lines(320, 770, right)
    else:  # as some programs write it: line by line across both columns
        for number in range(20):
            page.text(60, 770 - 12 * number, left[number]).text(320, 770 - 12 * number, right[number])
    page.text(60, 500, "A closing remark below both of the columns that is as wide as the page, and ends here.")
    blocks, _facts = read_pages(page)
    lines = "\n".join(block.text for block in blocks).split("\n")
    assert lines[1:-1] == [*left, *right]
    assert lines[0].startswith("A title") and lines[-1].startswith("A closing")


def running_text(n_columns: int, language: str) -> list[list[str]]:
    """Made-up text in columns of 12 lines: lines end where the next word has no room, paragraphs at own heights."""
    sentence, width = {
        "en": (
            "Take the made-up tablet with water and never with wine, since that makes its effects last longer. ",
            27,
        ),
        "zh": ("每日服用两片虚构药物并多喝温水如有不适应立即停药并联系医生", 11),
    }[language]
    columns = []
    for number in range(n_columns):
        text = f"{sentence[3 * number :]}{sentence * 5}"
        lines = [text[at : at + width] for at in range(0, 12 * width, width)] if language == "zh" else wrap(text, width)
        lines[4 + number] = lines[4 + number][: width // 3]  # the end of a paragraph
        columns.append(lines[:12])
    return columns


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("n_columns", [3, 4])
@pytest.mark.parametrize("pitch", [12, 16])
def test_more_columns_are_read_one_after_the_other(n_columns: int, language: str, pitch: int) -> None:
    columns = running_text(n_columns, language)
    title = "A title over all of the columns of this made-up leaflet, as wide as its page"
    page = Page().text(40, 800, title, 13)
    for number, lines in enumerate(columns):
        page.lines(40 + 530 / n_columns * number, 770, lines, 10, pitch)
    blocks, _facts = read_pages(page)
    assert "row" not in kinds(blocks)
    lines = "\n".join(block.text for block in blocks).split("\n")
    assert lines == [title, *(line.strip() for lines in columns for line in lines)]


def test_a_table_as_wide_as_three_columns_of_text_keeps_its_rows() -> None:
    rows = [("Drug and how it is given", "Dose for an adult patient", "What to look for then")]
    rows += [
        ("Fentamorph by the vein", "five milligrams an hour", "slow breathing and pulse"),
        ("Nitrolan under the tongue", "one tablet, then another", "low pressure, headache"),
        ("Mockacin by mouth", "two capsules at breakfast", "rash, fever, yellow skin"),
        ("Fakolol by mouth", "half a tablet at night", "slow pulse, cold hands"),
        ("Sedatrin by the muscle", "ten milligrams, only once", "sleepiness for a day"),
        ("Placebol as an inhaler", "two puffs in an attack", "fast pulse, shaking hands"),
        ("Inventacin by the vein", "one gram in half an hour", "rash, pain in the arm"),
        ("Fabulin under the skin", "ten units before a meal", "hunger, sweating, tremor"),
    ]
    page = Page()
    for number, row in enumerate(rows):
        for x, cell in zip((40, 175, 310), row, strict=True):
            page.text(x, 770 - 14 * number, cell)
    blocks, _facts = read_pages(page)
    assert [(block.kind, block.text) for block in blocks] == [("row", " | ".join(row)) for row in rows]


def test_rows_with_cells_of_several_lines_as_wide_as_columns_of_text_are_kept() -> None:
    page, y = Page(), 770
    columns = running_text(3, "en")
    for n_lines in ((2, 4, 3), (3, 2, 4), (4, 3, 2), (2, 3, 4), (3, 4, 2)):  # of the cells of each row
        for number, n in enumerate(n_lines):
            page.lines(40 + 177 * number, y, columns[number][:n], 10, 12)
        y -= 12 * max(n_lines) + 3
    blocks, _facts = read_pages(page)
    assert blocks[0].kind == "row"
    assert all(lines[0].strip() in blocks[0].text for lines in columns)


@pytest.mark.parametrize("places", [(60, 180, 240, 420), (60, 180, 320, 440)], ids=["across", "in line"])
def test_columns_above_and_below_a_table_are_read_one_after_the_other(places: tuple[int, ...]) -> None:
    wide = "A paragraph as wide as both columns of this page, which goes on in one more line that"
    page = Page().text(60, 800, wide)
    page.text(60, 788, "is a short one.").text(60, 765, "Drugs", 14)
    page.lines(60, 740, column("Left", 8)).lines(320, 736, column("Right", 8))
    page.text(60, 620, "Doses", 14)
    rows = [
        ("Drug", "First dose", "Largest dose in a day", "Never with"),
        ("Fentamorph", "5 mg", "30 mg", "slow breathing"),
    ]
    rows.append(("Nitrolan", "0.4 mg", "1.2 mg", "low pressure"))
    for number, row in enumerate(rows):
        for x, cell in zip(places, row, strict=True):
            page.text(x, 600 - 16 * number, cell)
    page.lines(60, 530, column("Lower left", 6)).lines(320, 530, column("Lower right", 5))
    blocks, _facts = read_pages(page)
    assert [(block.kind, block.text) for block in blocks] == [
        ("paragraph", f"{wide}\nis a short one."),
        ("heading", "Drugs"),
        ("paragraph", "\n".join(column("Left", 8))),
        ("paragraph", "\n".join(column("Right", 8))),
        ("heading", "Doses"),
        *(("row", " | ".join(row)) for row in rows),
        ("paragraph", "\n".join(column("Lower left", 6))),
        ("paragraph", "\n".join(column("Lower right", 5))),
    ]


def test_a_table_keeps_its_rows_and_each_names_its_header() -> None:
    page = Page().text(60, 800, "Doses of made-up medicines by age, for everybody who gives them to patients.")
    rows = [("Medicine", "Adult", "Child"), ("Mockacin", "500 mg", "15 mg/kg"), ("Fakolol", "25 mg", "0.5 mg/kg")]
    for number, row in enumerate(rows):
        for x, cell in zip((60, 200, 330), row, strict=True):
            page.text(x, 770 - 20 * number, cell)
    blocks, _facts = read_pages(page)
    header = "Medicine | Adult | Child"
    assert [(block.kind, block.text, block.header) for block in blocks[1:]] == [
        ("row", header, ""),
        ("row", "Mockacin | 500 mg | 15 mg/kg", header),
        ("row", "Fakolol | 25 mg | 0.5 mg/kg", header),
    ]


def test_a_cell_of_several_lines_stays_in_its_row_and_an_empty_one_keeps_its_place() -> None:
    page = Page()
    for y, cells in (
        (770, ((60, "Medicine"), (200, "Adult"), (330, "Child"))),
        (740, ((60, "Mockacin"), (200, "500 mg with"), (330, "15 mg/kg"))),
        (728, ((200, "much water"),)),
        (700, ((60, "Fakolol"), (330, "0.5 mg/kg"))),
    ):
        for x, cell in cells:
            page.text(x, y, cell)
    blocks, _facts = read_pages(page)
    assert [block.text for block in blocks] == [
        "Medicine | Adult | Child",
        "Mockacin | 500 mg with much water | 15 mg/kg",
        "Fakolol |  | 0.5 mg/kg",
    ]


def test_lines_of_text_with_wide_gaps_make_no_table() -> None:
    page = Page()
    for number, gap in enumerate((9, 4, 14, 7)):
        page.text(60, 770 - 12 * number, f"word{'x' * gap} then").text(60 + 60 + 9 * gap, 770 - 12 * number, "more")
    blocks, _facts = read_pages(page)
    assert "row" not in kinds(blocks)


def test_pages_without_text_are_named_by_their_numbers() -> None:
    written = [Page().lines(60, 500, column(f"Page{number}", 3)) for number in range(4)]
    written[1] = Page().image()
    written[3] = Page()
    blocks, facts = read_pages(*written)
    assert facts.pages_without_text == (2, 4)
    assert [block.page for block in blocks] == [1, 3]


def test_headers_and_footers_that_repeat_are_left_out_and_counted() -> None:
    pages = []
    for number in range(1, 7):
        page = Page().text(60, 820, "Guideline of the Invented Society").text(280, 20, f"Page {number} of 6")
        pages.append(page.lines(60, 700, column(f"Body{number}", 5)))
    pages[2].text(60, 806, "Only here: do not exceed the dose.")
    blocks, facts = read_pages(*pages)
    text = "\n".join(block.text for block in blocks)
    assert "Invented Society" not in text and "of 6" not in text
    assert "Only here" in text and text.count("line 04") == 6
    assert facts.remarks == ("Repeated lines of headers and footers were removed: 12.",)


def test_a_page_that_holds_a_stamp_alone_is_one_without_text() -> None:
    pages = [Page().text(60, 15, "Downloaded on a made-up day") for _ in range(4)]
    pages[0].lines(60, 600, column("Body", 5))
    _blocks, facts = read_pages(*pages)
    assert facts.pages_without_text == (2, 3, 4)


def test_chinese() -> None:
    lines = ["成人患者每日口服两次，每次五毫克。", "老年患者应减量并监测肾功能。"]
    blocks, _facts = read_pages(Page().text(60, 780, "用药指南", 20).lines(60, 740, lines, 11, 14))
    assert [(block.kind, block.text) for block in blocks] == [("heading", "用药指南"), ("paragraph", "\n".join(lines))]


@pytest.mark.parametrize("stored", ["as read", "as seen"])
def test_right_to_left_words_are_in_the_order_of_reading_whichever_way_the_file_holds_them(stored: str) -> None:
    first, second = "\u05ea\u05e8\u05d5\u05e4\u05d4", "\u05d9\u05d5\u05de\u05d9\u05ea"
    page = Page()
    # Glyphs always stand as they are seen; a file may name them from either end.
    for x, word in ((300, first), (200, second)):
        if stored == "as seen":
            page.text(x, 700, word[::-1])
        else:
            page.spread(x + 10 * (len(word) - 1), 700, word, step=-10)
    page.text(270, 700, "500")
    blocks, _facts = read_pages(page)
    assert [block.text for block in blocks] == [f"{first} 500 {second}"]


@pytest.mark.parametrize(("rotate", "turn"), [(90, 1), (180, 2), (270, 3)])
def test_a_turned_page_reads_as_it_is_shown(rotate: int, turn: int) -> None:
    places = {1: lambda n: (100 + 12 * n, 60), 2: lambda n: (500, 100 + 12 * n), 3: lambda n: (500 - 12 * n, 780)}
    page = Page(rotate=rotate)
    lines = column("Turned", 4)
    for number, line in enumerate(lines):
        page.text(*places[turn](number), line, turn=turn)
    blocks, _facts = read_pages(page)
    assert [block.text for block in blocks] == ["\n".join(lines)]


def test_turned_text_on_an_upright_page_follows_the_rest() -> None:
    page = Page().lines(60, 780, column("Upright", 4))
    for number, line in enumerate(column("Sideways", 3)):
        page.text(300 + 12 * number, 100, line, turn=1)
    blocks, _facts = read_pages(page)
    assert [block.text for block in blocks] == ["\n".join(column("Upright", 4)), "\n".join(column("Sideways", 3))]


def test_a_hyphen_at_a_lines_end_stays() -> None:
    lines = ["Give 15 mg/kg of para-", "cetamol every four hours, and", "rest"]
    blocks, _facts = read_pages(Page().lines(60, 700, lines))
    assert blocks[0].text == "\n".join(lines)


def test_list_items_are_items() -> None:
    lines = ["1. Stop the infusion at once.", "2. Call for help and stay with", "the patient.", "3. Give oxygen."]
    blocks, _facts = read_pages(Page().lines(60, 700, lines))
    assert [(block.kind, block.text) for block in blocks] == [
        ("item", "1. Stop the infusion at once."),
        ("item", "2. Call for help and stay with\nthe patient."),
        ("item", "3. Give oxygen."),
    ]


def test_bold_lines_are_headings_below_the_larger_ones() -> None:
    page = Page().text(60, 780, "Large", 18).text(60, 740, "Bold and short", 10, bold=True)
    page.lines(60, 726, column("Body", 9))
    blocks, _facts = read_pages(page)
    assert [(block.kind, block.level) for block in blocks] == [("heading", 1), ("heading", 5), ("paragraph", 1)]


def test_text_outside_of_the_page_or_too_small_is_left_out_and_counted() -> None:
    page = Page().lines(60, 700, column("Seen", 3)).text(60, -50, "Below").text(60, 500, "Tiny", 0.5)
    blocks, facts = read_pages(page)
    assert [block.text for block in blocks] == ["\n".join(column("Seen", 3))]
    assert facts.remarks == ("Characters outside the page or too small to read were removed: 9.",)


def test_signs_of_direction_are_left_out_and_counted() -> None:
    blocks, facts = read_pages(Page().text(60, 700, "剂量\u202e五毫克\u2066每日"))
    assert blocks[0].text == "剂量五毫克每日"
    assert facts.remarks == ("Characters that change the direction of text were removed: 2.",)


def test_the_title_is_that_of_the_metadata_unless_it_is_a_files_name() -> None:
    page = Page().lines(60, 700, column("Body", 3))
    assert read(write_pdf([page], title="Made-up guideline"))[1].title == "Made-up guideline"
    assert read(write_pdf([page], title="guideline_v3_final.docx"))[1].title == ""


SOUND = write_pdf([Page().lines(60, 700, column("Body", 3)), Page().lines(60, 700, column("Second", 3))])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(SOUND[: len(SOUND) // 2], "incomplete", id="cut off"),
        pytest.param(write_pdf([Page().text(60, 700, "x")], shift_xref=7), "object table", id="broken table"),
        pytest.param(write_pdf([Page().text(60, 700, "x")], password="secret"), "encrypted", id="encrypted"),
        pytest.param(write_pdf([]), "The PDF is damaged.", id="no page"),
        pytest.param(write_pdf([Page(), Page(), Page()], leave_out_page=2), "Page 2 cannot be read", id="lost page"),
        pytest.param(b"%PDF-1.4\n" + b"x" * 200 + b"\n%%EOF\n", "damaged", id="no PDF behind its first line"),
    ],
)
@pytest.mark.slow
def test_a_pdf_that_cannot_be_read_whole_is_refused(data: bytes, message: str) -> None:
    faults = Faults()
    assert list(read_documents(io.BytesIO(data), faults, file_name="guideline.pdf")) == []
    assert faults.total == 1
    assert message in faults.first[0].message


def test_a_pdf_that_only_its_owner_may_change_is_read() -> None:
    blocks, _facts = read(write_pdf([Page().text(60, 700, "Open to all who read")], password=""))
    assert [block.text for block in blocks] == ["Open to all who read"]


def test_too_many_pages_are_refused() -> None:
    with pytest.raises(Unreadable, match="has 2 pages; a document can have at most 1"):
        list(pdf_blocks(io.BytesIO(SOUND), limits=replace(LIMITS, pages=1)))


def test_the_same_bytes_give_the_same_blocks() -> None:
    assert read(SOUND) == read(SOUND)
