"""Cases and responses as tables: what each cell becomes, and what is wrong is named by row and heading."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from rubrics.parsing.cases import CaseRecord
from rubrics.parsing.faults import Faults
from rubrics.parsing.responses import ResponseRecord
from rubrics.tables.case_table import CASES, read_case_table, turns_of
from rubrics.tables.response_table import RESPONSES, read_response_table
from rubrics.tables.table import Table, is_table, table_of

HEADING = ["case", "question", "criterion", "points"]


def workbook(rows: Sequence[Sequence[object]], merged: Sequence[str] = (), sheets: Sequence[str] = ()) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    for reference in merged:
        book.active.merge_cells(reference)
    for name in sheets:
        book.create_sheet(name)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def opened(content: bytes, kind: object = CASES, **options: str) -> tuple[io.BytesIO, Table]:
    file = io.BytesIO(content)
    table = table_of(file, kind, {"file_name": "t.csv", **options})  # type: ignore[arg-type]
    assert table is not None
    return file, table


def cases(content: bytes, **options: str) -> tuple[list[CaseRecord], list[tuple[int, str, str]], list[str]]:
    """Cases, faults as (row, heading, message), and notes."""
    file, table = opened(content, **options)
    faults = Faults()
    records = list(read_case_table(file, table, faults))
    return records, [(fault.line, fault.field, str(fault.message)) for fault in faults.first], table.notes


def responses(content: bytes, candidate: str = "", **options: str) -> tuple[list[ResponseRecord], Faults, Table]:
    file, table = opened(content, RESPONSES, **options)
    faults = Faults()
    return list(read_response_table(file, table, faults, candidate=candidate)), faults, table


def as_sheet(rows: Sequence[Sequence[object]]) -> bytes:
    return workbook(rows)


def as_csv(rows: Sequence[Sequence[object]]) -> bytes:
    import csv

    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().encode()


@pytest.mark.parametrize("write", [as_sheet, as_csv])
def test_the_rows_of_a_case_are_one_case(write: object) -> None:
    rows = [
        ["Case", "Background", "Question", "Criterion", "Points", "Tags", "Case tags", "Difficulty", "Reference"],
        ["c-1", "Woman, 58.", "What?", "Calls help", 10, "axis:accuracy; level:example", "theme:x", "High", "Call."],
        ["", "", "", "Waits", -8, "", "", "", ""],
        [7, "", "Why?", "Asks", 5.0, "", "", "", ""],
        ["c-1", "", "What?", "Asks for pain", "+4", "", "", "", ""],
    ]  # fmt: skip
    records, faults, notes = cases(write(rows))  # type: ignore[operator]
    assert not faults
    assert notes == ["Rows without a case: 3 (1 in total). Each is read as part of the case above it."]
    first, second = records
    assert (first.key, second.key) == ("c-1", "7")
    assert first.conversation == [{"role": "user", "content": "Woman, 58.\n\nWhat?"}]
    assert [(each.text, each.points, each.tags) for each in first.criteria] == [
        ("Calls help", 10, ("axis:accuracy", "level:example")), ("Waits", -8, ()), ("Asks for pain", 4, ()),
    ]  # fmt: skip
    assert (first.tags, first.difficulty, first.reference_answer) == (("theme:x",), "high", "Call.")


def test_rows_that_join_the_case_above_are_counted_and_named() -> None:
    rows = [HEADING, ["c-1", "Why?", "Asks", 5], ["", "", "Waits", -2], ["c-2", "How?", "Says", 1], ["", "", "Goes", 3]]
    assert cases(as_csv(rows))[2] == [
        "Rows without a case: 3, 5 (2 in total). Each is read as part of the case above it."
    ]
    assert cases(as_csv([HEADING, ["c-1", "Why?", "Asks", 5], ["c-1", "", "Waits", -2]]))[2] == []
    many = [HEADING, ["c-1", "Why?", "Asks", 5], *(["", "", f"Asks {number}", 1] for number in range(30))]
    named = ", ".join(str(row) for row in range(3, 23))
    (note,) = cases(as_csv(many))[2]
    assert note == f"Rows without a case: {named} … (30 in total). Each is read as part of the case above it."


def test_merged_cells_hold_for_all_of_their_rows_and_other_sheets_are_named() -> None:
    rows = [HEADING, ["c-1", "Why?", "Asks", 5], ["", "", "Waits", -2], ["c-2", "How?", "Says", 1]]
    for row in rows[2:3]:
        row[0] = row[1] = None  # type: ignore[call-overload]
    records, faults, notes = cases(workbook(rows, merged=["A2:A3", "B2:B3"], sheets=["Key", "Old"]))
    assert not faults
    assert [(record.key, len(record.criteria)) for record in records] == [("c-1", 2), ("c-2", 1)]
    assert notes == ["Only the first sheet, “Sheet”, was read. Sheets not read: “Key”, “Old”."]


def test_a_response_in_merged_cells_of_a_case_has_its_case() -> None:
    content = workbook(
        [["case", "model", "answer"], ["c-1", "A", "x"], [None, "B", "y"], ["c-2", "A", "z"]], merged=["A2:A3"]
    )
    records, faults, _table = responses(content)
    assert not faults.total
    assert [(each.case, each.candidate, each.text) for each in records] == [
        ("c-1", "A", "x"), ("c-1", "B", "y"), ("c-2", "A", "z"),
    ]  # fmt: skip


def test_a_column_may_hold_the_answers_of_one_candidate() -> None:
    content = as_csv([["Fall", "GPT", "Claude", "note"], ["c-1", "a", "b", "n"], ["c-2", "", " c\n", ""]])
    chosen = json.dumps({"Fall": "case", "GPT": "answers", "Claude": "answers"})
    records, faults, table = responses(content, columns=chosen)
    assert not faults.total
    assert [(each.case, each.candidate, each.text, each.metadata) for each in records] == [
        ("c-1", "GPT", "a", {"note": "n"}), ("c-1", "Claude", "b", {"note": "n"}), ("c-2", "Claude", " c\n", {}),
    ]  # fmt: skip
    assert table.notes == [
        "Kept only as additional information: “note”.",
        "Empty cells, not counted as responses: 1.",
    ]


@pytest.mark.parametrize(
    ("rows", "row", "heading", "words"),
    [
        (
            [["病例", "问题", "标准", "分值"], ["c", "q", "a", 5], ["", "", "b", "十一"]],
            3, "分值", "is not a whole number",
        ),
        ([HEADING, ["c", "q", "a", 5], ["", "", "b", 0]], 3, "points", "at least one point"),
        ([HEADING, ["c", "q", "a", 5], ["", "", "", 4]], 3, "criterion", "no text"),
        ([HEADING, ["c", "q", "a", 5], ["", "", "b", ""]], 3, "points", "missing"),
        ([HEADING, ["", "q", "a", 5]], 2, "case", "does not name a case"),
        ([HEADING, ["c", "q", "a", 5], ["c", "p", "b", 5]], 3, "question", "Row 2"),
        ([HEADING, ["c", "", "a", 5]], 2, "question", "missing"),
        ([HEADING, ["c", "q", "", ""]], 2, "criterion", "at least one"),
        ([[*HEADING, "Grade"], ["c", "q", "a", 5, "x"], ["", "", "b", 5, "y"]], 3, "Grade", "Row 2"),
        ([[*HEADING, "difficulty"], ["c", "q", "a", 5, "so so"]], 2, "difficulty", "is not one of"),
        ([[*HEADING, ""], ["c", "q", "a", 5, "x"]], 2, "", "more cells"),
        ([["case", "", "question", "criterion"], ["c", "x", "q", "a"]], 2, "column B", "no heading"),
        (
            [["case", "id", "question", "criterion"], ["c", "x", "q", "a"]],
            1, "case", "Two columns have the same meaning",
        ),
        ([["case", "criterion"], ["c", "a"]], 1, "prompt / conversation", "missing"),
        ([["case", "dialogue", "criterion"], ["c", "Hello", "a"]], 2, "dialogue", "role"),
        (
            [["case", "dialogue", "criterion"], ["c", '[{"role": "nurse", "content": "x"}]', "a"]],
            2, "dialogue", "is not one of",
        ),
        ([HEADING, ["c" * 201, "q", "a", 5]], 2, "case", "longer"),
        ([HEADING, ["c", "q\0", "a", 5]], 2, "question", "cannot be stored"),
        ([[*HEADING, "source"], ["c", "q", "a", 5, "s" * 2001]], 2, "source", "too long"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_row_and_heading(
    rows: list[list[object]], row: int, heading: str, words: str
) -> None:
    records, faults, _notes = cases(as_csv(rows))
    assert not records or faults[0][0] == row
    assert faults[0][:2] == (row, heading)
    assert words in faults[0][2]


def test_a_row_is_counted_as_a_spreadsheet_counts_it() -> None:
    _records, faults, _notes = cases(b'case,question,criterion,points\nc,"a\nb\nc",x,5\n\nc,,y,50\n')
    assert faults[0][:2] == (4, "points")


def test_a_formula_an_error_and_a_cell_beyond_the_last_column_are_faults() -> None:
    _records, faults, _notes = cases(workbook([HEADING, ["c", "q", "=A1", 5]]))
    assert [fault[:2] for fault in faults] == [(2, "criterion")]
    assert "Paste its value" in faults[0][2]
    _records, faults, _notes = cases(workbook([HEADING, ["c", "q", "a", 5], ["", "", "#N/A", "#REF!"]]))
    assert faults == [
        (3, "criterion", "The cell contains the spreadsheet error #N/A. Enter a value instead."),
        (3, "points", "The cell contains the spreadsheet error #REF!. Enter a value instead."),
    ]
    wide = [*HEADING, *(f"n{number}" for number in range(37))]
    _records, faults, _notes = cases(workbook([wide, ["c", "q", "a", 5]]))
    assert faults == [(1, "", "The row has more than 40 cells.")]


def test_columns_are_chosen_by_heading_and_nothing_is_dropped_silently() -> None:
    content = as_csv([["Fall", "Frage", "Kriterium", "Kommentar", "Intern"], ["c", "q", "a", "k", "i"]])
    chosen = {"Fall": "case", "Frage": "prompt", "Kriterium": "criterion", "Intern": "leave_out"}
    records, faults, notes = cases(content, columns=json.dumps(chosen))
    assert not faults
    assert records[0].metadata == {"Kommentar": "k"}
    assert notes == [
        "Kept only as additional information: “Kommentar”.",
        "Not imported: “Intern”.",
        "There is no column with points, so every criterion is worth 1 point.",
    ]
    _records, faults, _notes = cases(content, columns=json.dumps({**chosen, "Frag": "prompt", "Kommentar": "colour"}))
    assert [fault[:2] for fault in faults] == [(1, "Frag"), (1, "Kommentar")]


@pytest.mark.parametrize(
    ("text", "encoding", "delimiter"),
    [
        ("病例,问题,标准\nc,我咳嗽三天了，需要抗生素吗？,说明感冒不需要抗生素\n", "gb18030", ","),
        ("case;question;criterion\nc;Müssen wir übermäßig husten – oder nicht?;Frägt nach\n", "windows-1252", ";"),
        ("case\tquestion\tcriterion\nc\tÇa va, déjà là-bas ?\tDit l’âge\n", "windows-1252", "\t"),
        ("case|question|criterion\nc|问题 ü|Asks\n", "utf-8", "|"),
        ("case,question,criterion\nc,Why?,Asks\n", "utf-8-sig", ","),
    ],
)
def test_encoding_and_delimiter_are_recognised_and_an_unusual_encoding_is_named(
    text: str, encoding: str, delimiter: str
) -> None:
    records, faults, notes = cases(text.encode(encoding))
    assert not faults
    expected = text.splitlines()[1].split(delimiter)
    assert [records[0].key, records[0].conversation[0]["content"], records[0].criteria[0].text] == expected
    named = [note for note in notes if "The file was read as" in note]
    assert len(named) == (encoding in ("gb18030", "windows-1252"))


def test_a_damaged_byte_of_utf8_is_a_fault_and_no_other_encoding() -> None:
    text = "case,question,criterion\nc,咳嗽三天，需要抗生素吗？,说明\n".encode()
    _records, faults, _notes = cases(text.replace("嗽".encode(), "嗽".encode()[:2]))
    assert faults[0][0] == 2
    assert "is not UTF-8" in faults[0][2]


def test_an_encoding_may_be_chosen() -> None:
    text = "case,question,criterion\nc,é,è\n".encode("windows-1252")
    records, faults, _notes = cases(text, encoding="windows-1252")
    assert not faults
    assert records[0].criteria[0].text == "è"
    _records, faults, _notes = cases(text, encoding="gb18030")
    assert "is not valid gb18030" in faults[0][2]
    with pytest.raises(ValueError, match="encoding"):
        table_of(io.BytesIO(text), CASES, {"file_name": "t.csv", "encoding": "ebcdic"})


@pytest.mark.parametrize("start", [b'{"prompt_id": 1}\n', b"\x1f\x8b", b"[1]\n", b"", b"no table\n", b"PK\x03\x04 zip"])
def test_what_is_no_table_is_left_to_the_reader_of_jsonl(start: bytes) -> None:
    assert not is_table(io.BytesIO(start), CASES, {"file_name": "f.jsonl"})


def test_a_workbook_that_is_cut_off_is_called_damaged() -> None:
    whole = workbook([HEADING, ["c-1", "What?", "Calls help", 1]])
    damaged = "This Excel workbook (XLSX) is damaged or incomplete. Save it again, and upload the new file."
    for content in (whole[:-30], whole[: len(whole) // 2], whole[:600]):
        for name in ("t.xlsx", "cases"):
            records, faults, _notes = cases(content, file_name=name)
            assert (records, faults) == ([], [(0, "", damaged)])
        _records, response_faults, _table = responses(content)
        assert [str(fault.message) for fault in response_faults.first] == [damaged]
    # An archive of something else is still an archive.
    assert not is_table(io.BytesIO(b"PK\x03\x04" + bytes(26) + b"cases.jsonl"), CASES, {"file_name": "t.xlsx"})


def test_a_conversation_has_turns_in_lines_or_in_json() -> None:
    turns = [{"role": "user", "content": "A cough.\nSince: Monday"}, {"role": "assistant", "content": "Fever?"}]
    assert turns_of("user: A cough.\nSince: Monday\nAssistant：Fever?") == turns
    assert turns_of(json.dumps(turns)) == turns
    assert turns_of("用户：你好\n助手：您好") == [
        {"role": "user", "content": "你好"}, {"role": "assistant", "content": "您好"},
    ]  # fmt: skip
    assert "Brackets" in str(turns_of("[" * 100_000))


@pytest.mark.slow
@given(st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
@settings(max_examples=300)
def test_any_bytes_give_cases_or_faults(tail: bytes) -> None:
    content = b"case,question,criterion,points\n" + tail
    records, faults, _notes = cases(content)
    answers, answer_faults, _table = responses(b"case,model,answer\n" + tail)
    for fault in (*faults, *((each.line, each.field, each.message) for each in answer_faults.first)):
        f"{fault[1]} {fault[2]}".encode()
    for text in (*(each.text for record in records for each in record.criteria), *(each.text for each in answers)):
        assert "\0" not in text
        text.encode()


words = st.text(alphabet="=+-@'＝;,\t\n\"ab 是🙂", min_size=1, max_size=12).map(str.strip).filter(bool)


@pytest.mark.slow
@given(st.lists(st.tuples(words, st.integers(-10, 10).filter(bool)), min_size=1, max_size=5), words)
@settings(max_examples=40)
def test_criteria_of_a_workbook_come_in_as_they_are(criteria: list[tuple[str, int]], question: str) -> None:
    from rubrics.tables import xlsx_of

    rows = [("c" if not place else "", question if not place else "", *each) for place, each in enumerate(criteria)]
    records, faults, _notes = cases(xlsx_of(HEADING, rows))
    assert not faults
    assert [(each.text, each.points) for each in records[0].criteria] == criteria
    assert records[0].conversation[0]["content"] == question
