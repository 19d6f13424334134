"""Long JSON lists read element by element: every value comes back unchanged, in pieces of any size."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import Limits
from scoring.verdict_files.elements import ElementReader
from scoring.verdict_files.records import Container, Layout, Shape, layout_of

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | st.sampled_from(['"', "\\", '\\"', "]}", "[{", "\n", "\\\\", "\u2028"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)
records = st.dictionaries(texts, values, max_size=4)
pieces = st.integers(1, 40)
PATH = ("metadata", "list")


def read(
    data: bytes, chunk_bytes: int = 1 << 16, path: tuple[str, ...] = (), **limits: Any
) -> tuple[list[Any], Faults]:
    faults = Faults()
    reader = ElementReader(io.BytesIO(data), faults, path=path, limits=Limits(**limits), chunk_bytes=chunk_bytes)
    return list(reader), faults


@pytest.mark.slow
@given(st.lists(records, max_size=4), st.booleans(), st.sampled_from([None, 0, 2]), pieces)
def test_a_list_comes_back_as_json_reads_it(given_records, ascii_only, indent, chunk_bytes) -> None:
    data = json.dumps(given_records, ensure_ascii=ascii_only, indent=indent).encode()
    rows, faults = read(data, chunk_bytes)
    assert faults.first == []
    assert [record for _line, _place, record in rows] == json.loads(data)
    for number, (line, place, record) in enumerate(rows):
        assert place == f"[{number}]"
        if indent is not None and record:  # each element begins on a line of its own
            assert data.decode().split("\n")[line - 1].strip() == "{"


@pytest.mark.slow
@given(st.lists(records, max_size=3), st.dictionaries(texts, values, max_size=3), st.booleans(), pieces)
def test_a_list_inside_an_object_is_found_and_the_rest_passed_over(elements, others, first, chunk_bytes) -> None:
    others = {name: value for name, value in others.items() if name not in PATH}
    inner = {"list": elements, **others} if first else {**others, "list": elements}
    whole = {**others, "metadata": inner, "after": others} if first else {"metadata": inner}
    rows, faults = read(json.dumps(whole, indent=1).encode(), chunk_bytes, PATH)
    assert faults.first == []
    assert [record for _line, _place, record in rows] == elements
    assert all(place.startswith("metadata.list[") for _line, place, _record in rows)


jsonish = st.text(st.sampled_from('[]{}",:\\ \n1atruefalsnu0.-'), max_size=60).map(str.encode)


@pytest.mark.slow
@given(st.binary(max_size=200) | jsonish, pieces, st.sampled_from([(), PATH]))
def test_no_bytes_break_the_reader(data, chunk_bytes, path) -> None:
    rows, faults = read(data, chunk_bytes, path)
    assert read(data, 7, path)[0] == rows  # the pieces decide nothing
    for fault in faults.first:
        assert "\x00" not in str(fault)
        str(fault).encode()
    if not path and not faults.total:
        assert [record for _line, _place, record in rows] == json.loads(data)
    layout_of(io.BytesIO(data))


@pytest.mark.parametrize(
    ("data", "line", "field", "words"),
    [
        (b"", 0, "", "empty"),
        (b"[{}, 1]", 1, "[1]", "must be an object"),
        (b"[{},\n{}", 2, "[1]", "The file ends"),
        (b'[{},\n{"a": "b', 2, "[1]", "begins on line 2"),
        (b"[{} {}]", 1, "[0]", "is expected"),
        (b"[{},]", 1, "[1]", "a value is expected"),
        (b"[{}]\n\nx", 3, "", "after the end"),
        (b'[{},\n{"a": 1, "a": 2}]', 2, "[1].a", "appears twice"),
        (b'[{"a": NaN}]', 1, "[0].a", "not a number"),
        (b'[{"a": 1e999}]', 1, "[0].a", "too large"),
        (b'[{"a": "\\u0000"}]', 1, "[0].a", "NUL"),
        (b'[{"a": {"b": "\\ud800"}}]', 1, "[0].a.b", "surrogate"),
        (b'[{"a": "\xff"}]', 1, "[0]", "not UTF-8"),
        (b'[{"a": ' + b"[" * 40 + b"]" * 40 + b"}]", 1, "[0].a", "nested deeper"),
        (b"[" * 100_000, 1, "[0]", "The file ends inside"),
        (b"\xef\xbb\xbf[]", 1, "", "byte order mark"),
        ("[]".encode("utf-16"), 1, "", "UTF-16"),
        (b"{}", 1, "", "must be a list"),
    ],
)
def test_what_is_wrong_is_named_by_line_and_element(data: bytes, line: int, field: str, words: str) -> None:
    _rows, faults = read(data)
    assert [(fault.line, fault.field) for fault in faults.first] == [(line, field)]
    assert words in faults.first[0].message


def test_a_long_element_is_passed_and_named_and_the_next_one_read() -> None:
    data = json.dumps([{"a": "x" * 3000}, {"b": 1}]).encode()
    rows, faults = read(data, 64, line_bytes=2000)
    assert [record for _line, _place, record in rows] == [{"b": 1}]
    assert [fault.field for fault in faults.first] == ["[0]"]


def test_a_whole_file_and_a_name_twice_are_bounded() -> None:
    assert "larger than" in read(b"[" + b"{}," * 1000 + b"{}]", 64, total_bytes=500)[1].first[0].message
    data = b'{"metadata": {"list": [{"a": 1}]}, "metadata": {"list": []}}'
    assert "appears twice" in read(data, 64, PATH)[1].first[0].message
    assert "no metadata.list" in read(b'{"metadata": null}', 64, PATH)[1].first[0].message
    assert read(b'{"metadata": {"list": 3}}', 64, PATH)[1].first[0].field == "metadata.list"


@pytest.mark.slow
def test_what_is_passed_over_is_never_held() -> None:
    """Reports of 64 MiB before a list of one element, within 8 MiB."""
    import tracemalloc

    class Reports(io.RawIOBase):
        def __init__(self) -> None:
            parts = [b'{"htmls": ["', *[b'<p>\\n\\"' * 8192] * 1024, b'"], "metadata": {"list": [{"a": 1}]}}']
            self.parts = iter(parts)

        def read(self, size: int = -1) -> bytes:
            return next(self.parts, b"")

    tracemalloc.start()
    try:
        faults = Faults()
        rows = list(ElementReader(Reports(), faults, path=PATH))  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [record for _line, _place, record in rows] == [{"a": 1}]
    assert peak < 8 << 20


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ('{"case": "a", "criterion": 1}', Layout(Shape.ROWS)),
        ("case,criterion,outcome", Layout(Shape.ROWS)),
        ('{"score": 0.5, "prompt_id": "a", "responses": []}', Layout(Shape.GRADED_RESPONSES)),
        ('[{"prompt_response": []}]', Layout(Shape.GRADED_RESPONSES, Container.LIST)),
        ('[\n {"case_id": "a",\n "criteria_results": []}]', Layout(Shape.JUDGEMENTS, Container.LIST)),
        ('{"case_id": "a", "criteria_results": []}\n', Layout(Shape.JUDGEMENTS)),
        ("[]", Layout(Shape.JUDGEMENTS, Container.LIST)),
        ('{"score": 1, "metrics": {}, "htmls": []}', Layout(Shape.EXAMPLES, Container.ALL_RESULTS)),
        ('{"metadata": {"x": 1, "example_level_metadata": []}}', Layout(Shape.EXAMPLES, Container.ALL_RESULTS)),
        ('{"metadata": {"x": 1}, "criterion": 2}', Layout(Shape.ROWS)),
        ('{"rubric_items": []}', Layout(Shape.EXAMPLES)),
        ("PK\x03\x04", Layout(Shape.INSPECT)),
        ("{", Layout(Shape.ROWS)),
        ("", Layout(Shape.ROWS)),
    ],
)
def test_the_beginning_tells_the_shape(text: str, layout: Layout) -> None:
    file = io.BytesIO(text.encode())
    assert layout_of(file) == layout
    assert file.tell() == 0
