"""The strict reader: what it takes it gives back whole, what it refuses it names by line and field."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from consilium.core.errors import ImportRefused, LineError
from consilium.core.strict_json import too_deep
from rubrics.parsing import cases as rubrics_parsing_cases
from rubrics.parsing.cases import read_cases
from rubrics.parsing.csv_record import CsvRecord
from rubrics.parsing.decisions import DecisionReader
from rubrics.parsing.faults import KEPT, Faults
from rubrics.parsing.reader import Limits, RecordReader

# JSON texts can hold any code point that UTF-8 can, but PostgreSQL stores no NUL.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
records = st.dictionaries(texts, values, max_size=5)


def read(data: bytes, **limits: Any) -> tuple[list[tuple[int, dict[str, Any]]], Faults]:
    faults = Faults()
    return list(RecordReader(io.BytesIO(data), faults, limits=Limits(**limits))), faults


def only_fault(data: bytes, **limits: Any) -> LineError:
    rows, faults = read(data, **limits)
    assert faults.total == 1, (rows, faults.first)
    return faults.first[0]


@pytest.mark.slow
@given(st.lists(records, min_size=1, max_size=5), st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_every_json_object_comes_back_as_it_was(given_records, ascii_only, end) -> None:
    data = end.join(json.dumps(record, ensure_ascii=ascii_only) for record in given_records).encode()
    rows, faults = read(data)
    assert faults.first == []
    assert [record for _line, record in rows] == given_records


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data) -> None:
    rows, faults = read(data)
    for _line, record in rows:
        json.dumps(record).encode()
    for fault in faults.first:
        # Faults are stored as JSON by PostgreSQL, which takes neither NUL nor half a surrogate pair.
        assert "\x00" not in str(fault)
        str(fault).encode()


@pytest.mark.slow
@given(values, st.integers(1, 6))
def test_depth_is_that_of_the_brackets_outside_texts(value, depth) -> None:
    def deepest(inner: Any) -> int:
        if isinstance(inner, dict):
            return 1 + max(map(deepest, inner.values()), default=0)
        if isinstance(inner, list):
            return 1 + max(map(deepest, inner), default=0)
        return 0

    assert too_deep(json.dumps(value).encode(), depth) == (deepest(value) > depth)


def test_lines_end_at_line_feeds_alone() -> None:
    separators = "\u2028\u2029\x85\x0b\x0c\x1c"
    rows, faults = read(json.dumps({"a": separators}, ensure_ascii=True).encode() + b'\n{"b": "\xe2\x80\xa8"}')
    assert faults.first == []
    assert rows == [(1, {"a": separators}), (2, {"b": "\u2028"})]


GOOD = b'{"ok": 1}\n'
POISON = {
    "a byte order mark": (b'\xef\xbb\xbf{"a": 1}', 1, "", "byte order mark"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), 1, "", "UTF-16"),
    "UTF-16 without a mark": ('{"a": 1}'.encode("utf-16-le"), 1, "", "UTF-16"),
    "Latin-1": (GOOD + '{"a": "é"}'.encode("latin-1"), 2, "a", "not UTF-8"),
    "a surrogate in UTF-8": (GOOD + b'{"a": "\xed\xa0\x80"}', 2, "a", "not UTF-8"),
    "a raw NUL": (GOOD + b'{"a": "\x00"}', 2, "a", "not valid JSON"),
    "an escaped NUL": (GOOD + rb'{"a": {"b": ["x", "\u0000"]}}', 2, "a.b[1]", "NUL"),
    "an escaped NUL in a key": (GOOD + rb'{"\u0000": 1}', 2, "", "NUL"),
    "half a surrogate pair": (GOOD + rb'{"a": "\uD83D!"}', 2, "a", "surrogate"),
    "NaN": (GOOD + b'{"a": NaN}', 2, "a", "NaN"),
    "minus infinity": (GOOD + b'{"a": {"b": [1, -Infinity]}}', 2, "a.b[1]", "-Infinity"),
    "1e400": (GOOD + b'{"a": 1e400}', 2, "a", "too large"),
    "5,000 digits": (GOOD + b'{"a": ' + b"9" * 5000 + b"}", 2, "a", "too large"),
    "a key twice": (GOOD + b'{"a": {"key": 1, "key": 2}}', 2, "key", "twice"),
    "100,000 brackets": (GOOD + b'{"a": ' + b"[" * 100_000, 2, "a", "nested"),
    "more values than can be held": (GOOD + b'{"a": [' + b"[]," * 200_000 + b"[]]}", 2, "a", "200000 values"),
    "a list": (GOOD + b"[1]", 2, "", "one JSON object"),
    "a number": (GOOD + b"1", 2, "", "one JSON object"),
    "half a line": (GOOD + b'{"a": "b', 2, "a", "not valid JSON"),
    "two objects on a line": (GOOD + b'{"a": 1} {"b": 2}', 2, "", "not valid JSON"),
    "a gzip file": (gzip.compress(b'{"a": 1}'), 1, "", "archive (gzip)"),
    "a number in a line that breaks off": (GOOD + b'{"a": 1e400, "b', 2, "", "too large"),
    "nothing": (b"", 0, "", "empty"),
    "white space": (b"\n \n\r\n", 0, "", "empty"),
}


@pytest.mark.parametrize(("data", "line", "field", "words"), POISON.values(), ids=POISON.keys())
def test_poison_is_refused_by_line_and_field(data, line, field, words) -> None:
    fault = only_fault(data)
    assert (fault.line, fault.field) == (line, field)
    assert words in fault.message


def test_what_only_looks_like_poison_is_taken() -> None:
    line = rb'{"a": "\\u0000 \\ud800 \ud83d\ude00 [[[[", "b": -12345678901234567, "c": "NaN"}'
    commas = "[{," * 100_000
    assert read(json.dumps({"a": f'"{commas}\\"'}).encode())[0] == [(1, {"a": f'"{commas}\\"'})]
    rows, faults = read(line)
    assert faults.first == []
    assert rows == [(1, {"a": "\\u0000 \\ud800 😀 [[[[", "b": -12345678901234567, "c": "NaN"})]


class Endless(io.RawIOBase):
    """A line of two gigabytes without an end, made as it is read."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.largest = 0

    def readline(self, limit: int | None = -1) -> bytes:
        assert limit is not None
        assert limit > 0, "the reader asked for a whole line of any length"
        self.largest = max(self.largest, limit)
        take = min(limit, self.left)
        self.left -= take
        return b"x" * take


def test_a_line_of_two_gigabytes_takes_bounded_memory() -> None:
    file, faults = Endless(2 << 30), Faults()
    assert list(RecordReader(file, faults)) == []  # type: ignore[arg-type]
    assert [fault.line for fault in faults.first] == [1]
    assert file.left == 0
    assert file.largest < 17 << 20


def test_lines_after_a_long_one_are_still_read() -> None:
    rows, faults = read(b'{"a": "' + b"x" * 100 + b'"}\n{"b": 2}\n' + b'{"c": "' + b"y" * 12 + b'"}\n', line_bytes=21)
    assert [(fault.line, fault.field) for fault in faults.first] == [(1, "a")]
    assert rows == [(2, {"b": 2}), (3, {"c": "y" * 12})]


def test_a_file_over_the_limit_is_refused() -> None:
    assert only_fault(GOOD * 30, total_bytes=100).line == 11


def test_the_first_fifty_faults_are_kept_and_all_are_counted() -> None:
    rows, faults = read(b"oops\n" * 60 + GOOD)
    assert [line for line, _record in rows] == [61]
    with pytest.raises(ImportRefused) as caught:
        faults.refuse_if_any()
    assert len(caught.value.errors) == KEPT == 50
    assert caught.value.total == 60


def decisions(data: str | bytes) -> tuple[list[Any], Faults, DecisionReader]:
    faults = Faults()
    reader = DecisionReader(io.BytesIO(data.encode() if isinstance(data, str) else data), faults)
    return list(reader), faults, reader


@pytest.mark.parametrize(
    ("missing", "field"),
    [
        ("case", "case / prompt_id / case_id"),
        ("candidate", "candidate / model"),
        ("criterion", "criterion"),
        ("rater", "rater"),
        ("outcome", "outcome / criteria_met"),
    ],
)
def test_a_column_that_is_missing_is_one_fault_and_not_one_for_each_row(missing: str, field: str) -> None:
    row = {"case": "c1", "candidate": "m", "criterion": "1", "rater": "P1", "outcome": "met"}
    names = [name for name in row if name != missing]
    table = "\n".join([",".join(names), *[",".join(row[name] for name in names)] * 64])
    rows, faults, _reader = decisions(table)
    assert rows == []
    assert [(fault.line, fault.field, str(fault.message)) for fault in faults.first] == [
        (1, field, "This column is not in the header.")
    ]


def test_decisions_come_as_csv_or_jsonl_alike() -> None:
    table = (
        "\ufeffcase,candidate,sample,criterion,rater,outcome,stage,note,mood\r\n"
        'c1,m,0,2,P1,met,,"two\nlines, and ""quotes""",good\r\n'
        "c1,m,,Names the drug,P1,cannot_assess,checker,,\r\n"
    )
    lines = "\n".join(
        json.dumps(row)
        for row in [
            {
                "prompt_id": "c1",
                "model": "m",
                "criterion": 2,
                "rater": "P1",
                "criteria_met": True,
                "note": 'two\nlines, and "quotes"',
                "mood": "good",
            },
            {
                "case": "c1",
                "candidate": "m",
                "sample": 0,
                "criterion": "Names the drug",
                "rater": "P1",
                "outcome": "cannot_assess",
                "stage": "checker",
            },
        ]
    )
    from_table, faults, reader = decisions(table)
    assert faults.first == []
    assert reader.unused == {"mood"}
    from_lines, faults, _reader = decisions(lines)
    assert faults.first == []
    as_tuples = [
        [
            (row.case, row.candidate, row.sample, row.criterion, row.rater, row.outcome, row.stage, row.note)
            for row in rows
        ]
        for rows in (from_table, from_lines)
    ]
    assert as_tuples[0] == as_tuples[1]
    assert [row.line for row in from_table] == [2, 4]


def test_faults_of_a_table_are_named_by_line_and_column() -> None:
    header = "case,candidate,sample,criterion,rater,outcome\n"
    _rows, faults, _reader = decisions(
        header + "c,m,x,1,P,met\nc,m,0,0,P,met\nc,m,0,1,,met\nc,m,0,1,P,perhaps\nc,m,0,1,P\nc,m,0,1,P,met\n"
    )
    assert [(fault.line, fault.field) for fault in faults.first] == [
        (2, "sample"), (3, "criterion"), (4, "rater"), (5, "outcome"), (6, ""),
    ]  # fmt: skip


def test_a_note_is_no_longer_than_on_the_page() -> None:
    header = "case,candidate,criterion,rater,outcome,note\n"
    rows, faults, _reader = decisions(f"{header}c,m,1,P,met,{'x' * 5000}\nc,m,2,P,met,{'x' * 5001}\n")
    assert [len(row.note) for row in rows] == [5000]
    assert [(fault.line, fault.field) for fault in faults.first] == [(3, "note")]


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("case,case\nx,y\n", 1, "twice"),
        ("what,ever\n1,2\n", 1, "must name the columns"),
        ('case,candidate,criterion,rater,outcome\n"open,2\n', 2, "not valid CSV"),
        (b"case,candidate,criterion,rater,outcome\n\xff,1\n", 2, "not UTF-8"),
        ("case,candidate,criterion,rater,outcome\na\x00b,m,1,P,met\n", 2, "NUL"),
    ],
)
def test_tables_that_cannot_be_read(data, line, words) -> None:
    _rows, faults, _reader = decisions(data)
    assert (faults.first[0].line, words in faults.first[0].message) == (line, True), faults.first


@pytest.mark.parametrize(
    ("data", "line", "field", "words"),
    [
        ('c,"two\nlines, ""and""","open', 2, "note", "not valid CSV"),
        ('c,"shut"x,"n"\n', 2, "candidate", "not valid CSV"),
        ('"c,1",' + "x" * 140_000 + ",n\n", 2, "candidate", "limit"),
        (b'c,"a, b\n\xff', 3, "candidate", "not UTF-8"),
        ('c,m,"' + "x," * (9 << 20), 2, "note", "longer than 16 MiB"),
        ('c,m,"' + '","'.join(["x" * 100_000 + "\n"] * 170), 169, "", "longer than 16 MiB"),
        ("ab," * 500 + "\n", 2, "", "more than 500 cells"),
        ('"ab\n",' * 501, 502, "", "more than 500 cells"),
        ('a"b,' * 500 + "\n", 2, "", "more than 500 cells"),
    ],
)
def test_the_column_is_named_in_which_a_table_breaks(data: str | bytes, line: int, field: str, words: str) -> None:
    heading = b"case,candidate,note,criterion,rater,outcome\n"
    _rows, faults, _reader = decisions(heading + (data.encode() if isinstance(data, str) else data))
    errors = [(fault.line, fault.field, words in fault.message) for fault in faults.first]
    assert errors == [(line, field, True)], faults.first


@pytest.mark.slow
@given(st.lists(st.text('a",;\n ', max_size=8), min_size=1, max_size=6))
def test_cells_of_a_record_are_counted_as_csv_reads_them(cells: list[str]) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(cells)
    record = CsvRecord()
    record.names = [f"column {number}" for number in range(9)]
    enough = [record.add(line, len(cells)) for line in io.StringIO(written.getvalue(), newline="")]
    assert enough[-1] and record.column() == f"column {len(cells) - 1}"
    record.begin()
    assert not all(record.add(line, len(cells) - 1) for line in io.StringIO(written.getvalue(), newline=""))


@pytest.mark.slow
@given(st.sampled_from(["=", "+", "-", "@", "\t", "＝", "'=", "''+", "' -", "'", "a"]), texts)
def test_a_cell_that_was_made_inert_is_read_as_it_was(start, rest) -> None:
    from consilium.core.csvfile import bare, inert

    assert bare(inert(start + rest)) == start + rest


nearly_plain = st.fixed_dictionaries(
    {
        "criterion": st.sampled_from(["States the dose.", "Names the risk.", "", " ", None, 5]),
        "points": st.integers(-12, 12) | st.sampled_from([True, 2.0, 2.5, "3", None]),
        "tags": st.lists(st.sampled_from(["level:example", "axis:x", " ", "x" * 301, 7, None]), max_size=2) | st.none(),
    }
)
with_more = st.builds(lambda plain, more: {**plain, **more}, nearly_plain, st.dictionaries(texts, values, max_size=1))


@pytest.mark.slow
@given(st.lists(nearly_plain | with_more | values, max_size=4))
def test_criteria_seen_at_a_glance_are_those_that_are_read_field_by_field(rubrics) -> None:
    line = {"prompt_id": "c", "prompt": [{"role": "user", "content": "x"}], "rubrics": rubrics, "example_tags": []}

    def read_once() -> tuple[Any, ...]:
        faults = Faults()
        cases = list(read_cases(io.BytesIO(json.dumps(line).encode()), faults))
        return cases, [(fault.line, fault.field, str(fault.message)) for fault in faults.first]

    at_a_glance = read_once()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rubrics_parsing_cases, "_plain", lambda _element: None)
        assert read_once() == at_a_glance


def test_a_workbook_where_a_text_is_due_is_called_a_workbook() -> None:
    book = Workbook()
    book.active.append(["case", "candidate", "criterion", "rater", "outcome"])
    excel, other = io.BytesIO(), io.BytesIO()
    book.save(excel)
    with zipfile.ZipFile(other, "w") as archive:  # as Excel itself orders its files
        for name in ("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"):
            archive.writestr(name, "<x/>")
    for content in (excel.getvalue(), other.getvalue()):
        _rows, faults, _reader = decisions(content)
        assert [fault.message for fault in faults.first] == [
            "This is an Excel workbook (XLSX), which cannot be used for this kind of file. Save it as CSV in UTF-8."
        ]
    with zipfile.ZipFile(at_line_end := io.BytesIO(), "w") as archive:  # 01:16:20, whose byte is a line feed
        archive.writestr(zipfile.ZipInfo("[Content_Types].xml", (2026, 11, 27, 1, 16, 20)), "<x/>")
    assert b"\n" in at_line_end.getvalue()[:30]
    _rows, faults, _reader = decisions(at_line_end.getvalue())
    assert "This is an Excel workbook" in faults.first[0].message
    with zipfile.ZipFile(plain := io.BytesIO(), "w") as archive:
        archive.writestr("cases.jsonl", "{}")
    _rows, faults, _reader = decisions(plain.getvalue())
    assert "This is an archive (ZIP)" in faults.first[0].message
