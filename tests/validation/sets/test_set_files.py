"""Files of rubric sets: what is read, what is a fault, what is mended, and that a set reads back."""

from __future__ import annotations

import csv
import hashlib
import io
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from consilium.core.errors import Conflict, DomainError, ImportRefused
from rubrics.models import Benchmark
from rubrics.tables import csv_of
from tests.factories import BenchmarkFactory, CaseFactory
from tests.validation.sets.conftest import Import, lines_of
from validation.models import RubricSet
from validation.sets import selectors
from validation.sets.reading import MAX_INDEX

pytestmark = pytest.mark.django_db

ONE = {"criterion": "One", "points": 1}


def items(row: RubricSet) -> list[tuple[Any, ...]]:
    return list(row.items.order_by("case_id", "position").values_list("case__key", "text", "points", "axis"))


def refused(import_set: Import, content: bytes, **options: str) -> list[tuple[int, str, str]]:
    with pytest.raises(ImportRefused) as caught:
        import_set(content, **options)
    assert not RubricSet.objects.exists()
    assert caught.value.total == len(caught.value.errors)
    return [(fault.line, fault.field, str(fault.message)) for fault in caught.value.errors]


def test_cases_are_named_by_key_prompt_or_place(import_set: Import) -> None:
    content = lines_of(
        {"index": 2, "generated_rubrics": [{**ONE, "axis": "axis:safety"}], "model": "m"},
        {"prompt_id": "a", "rubrics": [{**ONE, "tags": ["level:example", "axis:accuracy"]}], "prompt": []},
        {"case": "b", "index": 1, "rubrics": [{"criterion": " Two\n", "points": -10.0, "axis": None}]},
    )
    assert items(import_set(content)) == [
        ("a", "One", 1, "accuracy"),
        ("b", " Two\n", -10, ""),
        ("c", "One", 1, "safety"),
    ]


def test_a_place_counts_excluded_cases_and_a_set_leaves_them_out(benchmark: Benchmark, import_set: Import) -> None:
    benchmark.cases.filter(key="a").update(excluded_at="2026-01-01T00:00Z", exclusion_reason="double")
    row = import_set(lines_of({"index": 0, "rubrics": [ONE]}, {"index": 1, "rubrics": [ONE]}))
    assert items(row) == [("b", "One", 1, "")]
    assert [step["together"] for step in row.frame["funnel"]] == [2, 1]


FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "no points": ({"criterion": "A"}, "points", "This field is missing."),
    "points are null": ({"criterion": "A", "points": None}, "points", "This field is missing."),
    "points are a text": ({"criterion": "A", "points": "5"}, "points", "This must be a whole number, not text."),
    "points are true": (
        {"criterion": "A", "points": True},
        "points",
        "This must be a whole number, not true or false.",
    ),
    "points are a list": ({"criterion": "A", "points": [1]}, "points", "This must be a whole number, not a list."),
    "no points at all": (
        {"criterion": "A", "points": 0},
        "points",
        "A criterion must add or deduct at least one point.",
    ),
    "a fraction": ({"criterion": "A", "points": 2.5}, "points", "2.5 is not a whole number."),
    "too many points": ({"criterion": "A", "points": 11}, "points", "11 is not between -10 and 10."),
    "too few points": ({"criterion": "A", "points": -11}, "points", "-11 is not between -10 and 10."),
    "no text": ({"points": 1}, "criterion", "This field is missing."),
    "an empty text": ({"criterion": " ", "points": 1}, "criterion", "This must not be empty."),
    "an axis that is a number": (
        {**ONE, "axis": 3},
        "axis",
        "“3” is not one of: accuracy, communication_quality, completeness, context_awareness, instruction_following, "
        "safety.",
    ),
    "an unknown axis": (
        {**ONE, "axis": "wisdom"},
        "axis",
        "“wisdom” is not one of: accuracy, communication_quality, completeness, context_awareness, "
        "instruction_following, safety.",
    ),
    "two axes": (
        {**ONE, "axis": "safety", "tags": ["axis:accuracy"]},
        "axis",
        "The criterion names more than one axis.",
    ),
    "tags that are no list": ({**ONE, "tags": "axis:accuracy"}, "tags", "This must be a list, not text."),
}


@pytest.mark.parametrize(("criterion", "field", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_names_line_criterion_and_field(
    import_set: Import, criterion: dict[str, Any], field: str, message: str
) -> None:
    content = lines_of({"case": "b", "rubrics": [ONE]}, {"case": "a", "rubrics": [ONE, criterion]})
    assert refused(import_set, content) == [(2, f"rubrics[1].{field}", message)]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_what_is_no_number_in_json_is_a_fault_at_its_criterion(import_set: Import, number: str) -> None:
    content = b'{"case": "a", "rubrics": [{"criterion": "A", "points": %s}]}' % number.encode()
    ((line, field, _message),) = refused(import_set, content)
    assert (line, field) == (1, "rubrics[0].points")


CASES: dict[str, tuple[list[dict[str, Any]], tuple[int, str, str]]] = {
    "no case": ([{"rubrics": [ONE]}], (1, "case", "The line does not identify a case. Give case, prompt_id or index.")),
    "an unknown case": ([{"case": "z", "rubrics": [ONE]}], (1, "case", "There is no case “z” in this benchmark.")),
    "a place too far": (
        [{"index": 3, "rubrics": [ONE]}],
        (1, "index", "There is no case 3: the benchmark has 3 cases, counted from 0 in the order of import."),
    ),
    "a place below 0": (
        [{"index": -1, "rubrics": [ONE]}],
        (1, "index", f"-1 is not between 0 and {MAX_INDEX}."),
    ),
    "two cases in a line": (
        [{"case": "a", "index": 1, "rubrics": [ONE]}],
        (1, "index", "The line names two different cases."),
    ),
    "the same case twice": (
        [{"case": "a", "rubrics": [ONE]}, {"index": 0, "rubrics": [ONE]}],
        (2, "index", "This case is already on line 1."),
    ),
    "no list": ([{"case": "a"}], (1, "rubrics", "This field is missing.")),
    "an empty list": ([{"case": "a", "rubrics": []}], (1, "rubrics", "There must be at least one criterion.")),
    "two lists": (
        [{"case": "a", "rubrics": [ONE], "generated_rubrics": [ONE]}],
        (1, "generated_rubrics", "Both rubrics and generated_rubrics are given."),
    ),
    "a text for a criterion": (
        [{"case": "a", "rubrics": ["A"]}],
        (1, "rubrics[0]", "This must be an object, not text."),
    ),
    "501 criteria": (
        [{"case": "a", "rubrics": [ONE] * 501}],
        (1, "rubrics", "A rubric can have at most 500 criteria."),
    ),
}


@pytest.mark.parametrize(("rows", "fault"), CASES.values(), ids=CASES.keys())
def test_a_fault_of_a_case(import_set: Import, rows: list[dict[str, Any]], fault: tuple[int, str, str]) -> None:
    assert refused(import_set, lines_of(*rows)) == [fault]


def test_a_case_of_another_benchmark_is_not_there(import_set: Import) -> None:
    CaseFactory(benchmark=BenchmarkFactory(), key="elsewhere")
    assert refused(import_set, lines_of({"case": "elsewhere", "rubrics": [ONE]})) == [
        (1, "case", "There is no case “elsewhere” in this benchmark.")
    ]


def test_files_that_cannot_be_read(import_set: Import) -> None:
    line = lines_of({"case": "a", "rubrics": [ONE]})
    mark = "The file begins with a byte order mark. Save it as UTF-8 without one."
    assert refused(import_set, b"\xef\xbb\xbf" + line) == [(1, "", mark)]
    assert refused(import_set, line.decode().encode("utf-16")) == [(1, "", "The file is UTF-16. Save it as UTF-8.")]
    ((number, _field, message),) = refused(import_set, b"\x1f\x8b" + line)
    assert (number, message) == (1, "This is an archive (gzip), not text. Unpack it and send its contents.")
    assert [fault[0] for fault in refused(import_set, line + line[:-5] + b"\n")] == [2]


@pytest.mark.slow
def test_a_line_that_is_too_long_is_a_fault(import_set: Import) -> None:
    ((number, field, message),) = refused(import_set, lines_of({"case": "a", "note": "x" * (17 << 20)}))
    assert (number, field, message) == (1, "note", "The line is longer than 16 MiB.")


# Mends -----------------------------------------------------------------------------------------------------------

MENDED: dict[str, tuple[dict[str, Any], tuple[int, str] | None, list[tuple[str, str, str]]]] = {
    "a number as text": ({"points": "7"}, (7, ""), [("read", "7", "7")]),
    "a fraction as text": (
        {"points": "-2.5 points"},
        (-3, ""),
        [("read", "-2.5 points", "-2.5"), ("rounded", "-2.5 points", "-3")],
    ),
    "a half away from zero": ({"points": 2.5}, (3, ""), [("rounded", "2.5", "3")]),
    "a third": ({"points": -0.7}, (-1, ""), [("rounded", "-0.7", "-1")]),
    "too many": ({"points": 100}, (10, ""), [("clamped", "100", "10")]),
    "too few": ({"points": -10.6}, (-10, ""), [("rounded", "-10.6", "-11"), ("clamped", "-10.6", "-10")]),
    "rounded to nothing": ({"points": 0.4}, None, [("dropped", "0.4", "")]),
    "nothing": ({"points": 0}, None, [("dropped", "0", "")]),
    "words": ({"points": "many"}, None, [("dropped", "many", "")]),
    "null": ({"points": None}, None, [("dropped", "null", "")]),
    "missing": ({}, None, [("dropped", "null", "")]),
    "true": ({"points": True}, None, [("dropped", "true", "")]),
    "not a number": ({"points": float("nan")}, None, [("dropped", "NaN", "")]),
    "infinity": ({"points": float("inf")}, None, [("dropped", "Infinity", "")]),
    "another spelling": (
        {"points": 1, "axis": "Context Awareness"},
        (1, "context_awareness"),
        [("axis_respelled", "Context Awareness", "context_awareness")],
    ),
    "another axis": ({"points": 1, "axis": "wisdom"}, (1, ""), [("axis_emptied", "wisdom", "")]),
    "two spellings of an axis": (
        {"points": 1, "axis": "Safety", "tags": ["axis:safety"]},
        (1, "safety"),
        [("axis_respelled", "Safety; safety", "safety")],
    ),
    "two axes": (
        {"points": 1, "tags": ["axis:safety", "axis:accuracy"]},
        (1, ""),
        [("axis_emptied", "safety; accuracy", "")],
    ),
    "a number for an axis": ({"points": 1, "axis": 3}, (1, ""), [("axis_emptied", "3", "")]),
    "both": (
        {"points": 11, "axis": "wisdom"},
        (10, ""),
        [("clamped", "11", "10"), ("axis_emptied", "wisdom", "")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("values", "kept", "mends"), MENDED.values(), ids=MENDED.keys())
def test_a_mend_is_named_and_kept_with_the_set(
    import_set: Import,
    values: dict[str, Any],
    kept: tuple[int, str] | None,
    mends: list[tuple[str, str, str]],
) -> None:
    row = import_set(lines_of({"case": "a", "rubrics": [ONE, {"criterion": "Two", **values}]}), mend="1")
    assert items(row) == [("a", "One", 1, ""), *([("a", "Two", *kept)] if kept else [])]
    assert list(row.mends.values_list("how", "before", "after")) == mends
    assert row.mend_count == len(mends)
    assert set(row.mends.values_list("line", "number", "text")) == {(1, 2, "Two")}


def test_sound_criteria_are_not_mended(import_set: Import) -> None:
    content = lines_of({"case": "a", "rubrics": [ONE, {"criterion": "Two", "points": 5.0, "axis": "safety"}]})
    assert import_set(content, mend="1").mend_count == 0


def test_a_case_without_a_usable_criterion_is_a_fault_also_where_points_are_mended(import_set: Import) -> None:
    content = lines_of({"case": "a", "rubrics": [{"criterion": "One", "points": 0}]})
    assert refused(import_set, content, mend="1") == [(1, "rubrics", "The case has no usable criterion.")]


def test_texts_and_cases_are_never_mended(import_set: Import) -> None:
    content = lines_of({"case": "z", "rubrics": [ONE]}, {"case": "a", "rubrics": [ONE, {"criterion": "", "points": 1}]})
    assert [fault[:2] for fault in refused(import_set, content, mend="1")] == [(1, "case"), (2, "rubrics[1].criterion")]


# Tables ----------------------------------------------------------------------------------------------------------


def test_a_table_is_read_by_case_and_position(import_set: Import) -> None:
    content = (
        "\ufeffcase,position,criterion,points,axis\n"
        "b,2,Second,−3,safety\na,1,'=1+1,2 points,\nb,1,First,10,axis:accuracy\n"
    )
    assert items(import_set(content.encode())) == [
        ("a", "=1+1", 2, ""),
        ("b", "First", 10, "accuracy"),
        ("b", "Second", -3, "safety"),
    ]


def test_tags_of_a_table_name_the_axis(import_set: Import) -> None:
    row = import_set("病例,标准,分值,标签\na,先说明,5,level:example; axis:safety\n".encode())
    assert items(row) == [("a", "先说明", 5, "safety")]


def test_faults_and_mends_of_a_table(import_set: Import) -> None:
    content = b"case,criterion,points,axis\na,One,4.5,\na,Two,0,\na,Three,,\nb,Four,12,wisdom\nb,Five,many,\n,Six,1,\n"
    faults = refused(import_set, content)
    assert sorted(fault[:2] for fault in faults) == [
        (2, "points"), (3, "points"), (4, "points"), (5, "axis"), (5, "points"), (6, "points"), (7, "case"),
    ]  # fmt: skip
    row = import_set(content.removesuffix(b",Six,1,\n"), mend="1")
    assert items(row) == [("a", "One", 5, ""), ("b", "Four", 10, "")]
    assert list(row.mends.values_list("line", "number", "field", "how")) == [
        (2, 1, "points", "rounded"),
        (3, 2, "points", "dropped"),
        (4, 3, "points", "dropped"),
        (5, 1, "points", "clamped"),
        (5, 1, "axis", "axis_emptied"),
        (6, 2, "points", "dropped"),
    ]


def test_a_formula_or_an_error_in_a_workbook_is_a_fault(import_set: Import) -> None:
    book = Workbook()
    for row in (["case", "criterion", "points"], ["a", "One", "=1+1"], ["a", "Two", 3], ["a", "Three", "#DIV/0!"]):
        book.worksheets[0].append(row)
    target = io.BytesIO()
    book.save(target)
    message = "The cell contains a formula. Paste its value instead."
    error = "The cell contains the spreadsheet error #DIV/0!. Enter a value instead."
    assert refused(import_set, target.getvalue()) == [(2, "points", message), (4, "points", error)]
    assert items(import_set(target.getvalue(), mend="1")) == [("a", "Two", 3, "")]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"case,criterion\na,One\n", (1, "points", "This column is missing.")),
        (b"criterion,points\nOne,1\n", (1, "case", "This column is missing.")),
        (b"case,criterion,points\na,,1\n", (2, "criterion", "The criterion has no text.")),
        (
            b"case,criterion,points,position\na,A,1,1\na,B,1,1\n",
            (3, "position", "Two criteria of the case have the same position."),
        ),
        (b"case,criterion,points\n", (0, "", "The file contains no cases.")),
        (b"", (0, "", "The table is empty.")),
    ],
)  # fmt: skip
def test_faults_of_tables(import_set: Import, content: bytes, fault: tuple[int, str, str]) -> None:
    assert refused(import_set, content) == [fault]


# The same file, and back -----------------------------------------------------------------------------------------


def test_the_same_file_once_more_changes_nothing_and_another_needs_another_name(import_set: Import) -> None:
    first = lines_of({"case": "a", "rubrics": [ONE]}, {"case": "b", "rubrics": [ONE]})
    row = import_set(first)
    assert import_set(first).pk == row.pk
    with pytest.raises(Conflict, match="There is already a rubric set called “imported”"):
        import_set(lines_of({"case": "a", "rubrics": [ONE]}))
    with pytest.raises(Conflict, match="already"):
        import_set(first, criteria="2")
    with pytest.raises(Conflict, match="already"):
        import_set(first, criteria="1-9")  # another frame, although it leaves the same cases
    assert RubricSet.objects.count() == 1


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_a_set_has_a_name(import_set: Import, name: str) -> None:
    with pytest.raises(DomainError):
        import_set(lines_of({"case": "a", "rubrics": [ONE]}), name=name)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40).filter(
    lambda text: text.strip() != "" and not text.isspace()
)
criterion = st.builds(
    lambda text, points, axis: {"criterion": text, "points": points, "axis": axis},
    texts,
    st.integers(-10, 10).filter(bool),
    st.sampled_from(["", "accuracy", "safety", "completeness"]),
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.dictionaries(st.sampled_from("abc"), st.lists(criterion, min_size=1, max_size=5), min_size=1))
def test_a_set_reads_back_to_the_same_digest(import_set: Import, by_case: dict[str, list[dict[str, Any]]]) -> None:
    name = RubricSet.objects.count()
    row = import_set(lines_of(*({"case": key, "rubrics": rows} for key, rows in by_case.items())), name=f"{name}")
    assert items(row) == [
        (key, each["criterion"], each["points"], each["axis"]) for key in "abc" for each in by_case.get(key, [])
    ]
    again = import_set("".join(selectors.jsonl_lines(row)).encode(), name=f"{name} again")
    assert again.digest == row.digest
    other = import_set(
        lines_of(*({"case": key, "rubrics": [*rows, ONE]} for key, rows in by_case.items())), name=f"{name} other"
    )
    assert other.digest != row.digest


def test_the_digest_is_that_of_the_documented_lines(import_set: Import) -> None:
    row = import_set(
        lines_of(
            {"case": "b", "rubrics": [{"criterion": "先说“明”\n", "points": -2}]},
            {"case": "a", "rubrics": [{"criterion": 'A "dose"', "points": 5, "axis": "safety"}, ONE]},
        )
    )
    lines = '["a",[["A \\"dose\\"",5,"safety"],["One",1,""]]]\n["b",[["先说“明”\\n",-2,""]]]\n'
    assert row.digest == hashlib.sha256(lines.encode()).hexdigest()


def test_the_table_of_a_set_reads_back(import_set: Import) -> None:
    texts = ["=1+1", "'=x", "-5 mg; 'quoted', \"twice\"", "two\nlines", "、中文，", "plain"]
    criteria = [{"criterion": text, "points": 2, "axis": "safety"} for text in texts]
    row = import_set(lines_of({"case": "a", "rubrics": criteria}))
    table = "".join(csv_of(selectors.ITEM_COLUMNS, selectors.item_rows(row)))
    assert [line["criterion"][:1] for line in csv.DictReader(io.StringIO(table))][:3] == ["'", "'", "'"]
    assert import_set(table.encode(), name="again").digest == row.digest
