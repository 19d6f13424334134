"""Rubrics as tables: what goes out comes in again, and what is wrong is named by line and field."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.editor.draft_content import DraftItem
from rubrics.parsing.faults import Faults
from rubrics.tables import (
    COLUMNS,
    csv_of,
    read_pasted,
    read_table,
    rows_of_file,
    rows_of_items,
    rows_with_heading,
    xlsx_of,
)

# Formula starts, apostrophes, separators, line ends of Unicode, Chinese, an emoji: what tables trip over.
letters = st.text(alphabet="=+-@'＝;；\\,\t\n\"ab 是\u2028🙂_x0041", max_size=12).map(str.strip)
tags = st.lists(letters.filter(bool), max_size=3, unique=True).map(tuple)
items = st.builds(
    DraftItem,
    id=st.just("a"),
    text=letters.filter(bool),
    points=st.integers(-10, 10),
    tags=tags,
    source=letters,
    element=letters,
    expectation=letters,
    bank=letters,
)


def as_csv(rows: list[DraftItem]) -> bytes:
    return "".join(csv_of(COLUMNS, rows_of_items(rows))).encode()


def as_xlsx(rows: list[DraftItem]) -> bytes:
    return xlsx_of(COLUMNS, rows_of_items(rows))


@pytest.mark.slow
@pytest.mark.parametrize("write", [as_csv, as_xlsx])
@given(rows=st.lists(items, min_size=1, max_size=4))
@settings(max_examples=25)
def test_a_table_gives_back_the_criteria_it_was_made_of(
    write: Callable[[list[DraftItem]], bytes], rows: list[DraftItem]
) -> None:
    faults = Faults()
    file = write(rows)
    parsed_rows = list(
        rows_with_heading(rows_of_file(io.BytesIO(file), faults), faults, with_case=False, exact=file.startswith(b"PK"))
    )
    assert not faults.first
    read = [
        DraftItem("a", r.text, r.points, tuple(r.tags), r.source, r.element, r.expectation, r.bank) for r in parsed_rows
    ]
    assert read == rows


def test_no_cell_of_a_csv_is_a_formula() -> None:
    file = as_csv([DraftItem("a", "=1+1", 1, ("@x",), "+a", "-b", "＝c")]).decode()
    assert file.splitlines()[1] == "1,'=1+1,1,'@x,'+a,'-b,'＝c,,"


@pytest.mark.parametrize(
    ("file", "line", "field"),
    [
        (b"criterion,points\nNames the dose,eleven\n", 2, "points"),
        (b"criterion,points\nNames the dose,11\n", 2, "points"),
        (b"criterion,points\nNames the dose,1.5\n", 2, "points"),
        (b'criterion,points\n"One\nline",5\n,5\n', 4, "criterion"),
        (b"criterion,grade\nNames the dose,1\n", 1, "grade"),
        (b"criterion,text\nNames the dose,1\n", 1, "criterion"),
        (b"points\n1\n", 1, "criterion"),
        (b"criterion\nNames \x00 it\n", 2, "criterion"),
        (b"points,criterion\n5,Names \xff it\n", 2, "criterion"),
        (b"criterion\na,b\n", 2, ""),
        (b'points,criterion\n5,"never closed\n', 2, "criterion"),
        (b'criterion,points,tags\n"One, ""two""\nthree",5,"x" y\n', 2, "tags"),
        ("criterion\n".encode("utf-16"), 1, ""),
        (b"\xd0\xcf\x11\xe0 old", 0, ""),
        (b"PK\x03\x04 broken", 0, ""),
        (b"", 0, ""),
        (b'points,criterion\n"5","' + b"x," * (1 << 19) + b'y"\n', 2, "criterion"),
        (b"criterion\n" + b"x" * 20_001, 2, "criterion"),
    ],
)
def test_what_is_wrong_is_named_by_line_and_field(file: bytes, line: int, field: str) -> None:
    faults = Faults()
    list(rows_with_heading(rows_of_file(io.BytesIO(file), faults), faults, with_case=False))
    assert faults.total >= 1
    assert (faults.first[0].line, faults.first[0].field) == (line, field)


def workbook(rows: list[list[object]]) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    for row in rows:
        book.active.append(row)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def test_of_a_table_no_more_is_read_than_a_rubric_has() -> None:
    faults, taken = Faults(), iter([(number, ["Names the dose"]) for number in range(1, 1000)])
    assert read_table(taken, faults).rows == []
    assert [fault.message for fault in faults.first] == ["A rubric can have at most 500 criteria."]
    assert next(taken)[0] == 503  # the heading, 500 criteria, and one to see that there are more


def test_a_formula_or_an_error_in_a_workbook_is_refused_and_a_number_is_read() -> None:
    faults = Faults()
    file = workbook([["Criterion", "Points"], ["Names the dose", 5.0], ["=A2", 1], ["#N/A", 2]])
    rows = list(rows_with_heading(rows_of_file(io.BytesIO(file), faults), faults, with_case=False, exact=True))
    assert [(row.text, row.points) for row in rows] == [("Names the dose", 5)]
    assert [(fault.line, fault.field) for fault in faults.first] == [(3, "criterion"), (4, "criterion")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bomb", "entities", "far row"])
def test_a_workbook_that_swells_is_refused(kind: str) -> None:
    source = zipfile.ZipFile(io.BytesIO(workbook([["Criterion"], ["Names the dose"]])))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            content = source.read(member)
            if member.filename.endswith("sheet1.xml"):
                if kind == "entities":
                    lol = b'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
                    content = lol + content.replace(b"Names", b"&b;")
                elif kind == "far row":
                    content = content.replace(b'r="2"', b'r="999999999"').replace(b'r="A2"', b'r="A999999999"')
            archive.writestr(member.filename, content)
        if kind == "bomb":
            archive.writestr("xl/media/zeros", bytes(65 << 20))
    faults = Faults()
    list(rows_with_heading(rows_of_file(io.BytesIO(target.getvalue()), faults), faults, with_case=False, exact=True))
    assert faults.total >= 1


@pytest.mark.parametrize(
    ("pasted", "columns", "expected"),
    [
        ("Names the dose\t5\nAsks about allergies\t-3", ["criterion", "points"],
         [("Names the dose", 5, []), ("Asks about allergies", -3, [])]),
        ("1\t8\tNames the dose\n2\t4\tAsks, gently, about allergies", ["position", "points", "criterion"],
         [("Names the dose", 8, []), ("Asks, gently, about allergies", 4, [])]),
        ("Points\tCriterion\tAxis\n5\tNames the dose\taxis:accuracy", ["points", "criterion", "axis"],
         [("Names the dose", 5, ["axis:accuracy"])]),
        ("Criterion\tTags\tAxis\nNames the dose\tlevel:example\tContext Awareness",
         ["criterion", "tags", "axis"], [("Names the dose", 0, ["axis:context_awareness", "level:example"])]),
        ("标准\t分值\t维度\n指出最大剂量\t5\t沟通质量", ["criterion", "points", "axis"],
         [("指出最大剂量", 5, ["axis:communication_quality"])]),
        ("Criterion\tAxis\nNames the dose\tBedside manner; level:example\nAsks about allergies\t",
         ["criterion", "axis"],
         [("Names the dose", 0, ["axis:Bedside manner", "level:example"]), ("Asks about allergies", 0, [])]),
        ("Names the dose\t7\tAccuracy\nAsks about allergies\t4\tinstruction-following",
         ["criterion", "points", "axis"],
         [("Names the dose", 7, ["axis:accuracy"]), ("Asks about allergies", 4, ["axis:instruction_following"])]),
        ("Names the dose\taxis:accuracy; level:example\t7", ["criterion", "tags", "points"],
         [("Names the dose", 7, ["axis:accuracy", "level:example"])]),
        ("1. Names the dose (5)\n2) Asks, if unsure, about allergies [-3 points]\n- Warns of liver damage",
         ["criterion"],
         [("Names the dose", 5, []), ("Asks, if unsure, about allergies", -3, []), ("Warns of liver damage", 0, [])]),
        ("criterion,points\n\"Names the dose, in mg\",5", ["criterion", "points"], [("Names the dose, in mg", 5, [])]),
        ("指出最大剂量（5分）\n询问过敏史（−3）", ["criterion"], [("指出最大剂量", 5, []), ("询问过敏史", -3, [])]),
        ("'=SUM is named\t+2", ["criterion", "points"], [("=SUM is named", 2, [])]),
    ],
)  # fmt: skip
def test_what_is_pasted_is_understood(
    pasted: str, columns: list[str], expected: list[tuple[str, int, list[str]]]
) -> None:
    faults = Faults()
    table = read_pasted(pasted, faults)
    assert not faults.first
    assert table.columns == columns
    assert [(row.text, row.points, row.tags) for row in table.rows] == expected


def test_somebody_may_say_what_the_columns_are() -> None:
    faults = Faults()
    table = read_pasted(
        "Long words of a guideline, page 5\tNames it\t3", faults, columns=["source", "criterion", "points"]
    )
    assert [(row.text, row.source) for row in table.rows] == [("Names it", "Long words of a guideline, page 5")]
    read_pasted("Names it\tfive", faults, columns=["criterion", "points"])
    assert [(fault.line, fault.field) for fault in faults.first] == [(1, "points")]
