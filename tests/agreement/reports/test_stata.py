"""Tables as data frames and as files of Stata, read back with pandas."""

from __future__ import annotations

import io
import math
import subprocess
import sys

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement.reports import files
from agreement.reports.tables import Table
from agreement.writers.data_frame import table_frame
from agreement.writers.stata import MAX_LABEL_LENGTH, MAX_NAME_LENGTH, stata_names, write_stata

MAX_STR_LENGTH = 2045  # bytes; Stata stores longer text as strL
LONG = "儿" * (MAX_STR_LENGTH // 3 + 1)
TABLE = Table(
    ("slice", "n", "mf1", "signed", "empty", "mixed", "note"),
    [
        ["all", 12, 0.8125, True, None, 1, LONG],
        ["=1+1", None, None, None, None, 0.5, ""],
        [None, 2**40, -0.5, False, None, None, None],
    ],
    ("slice", "note"),
)


def read_back(table: Table, name: str = "agreement") -> tuple[pd.DataFrame, dict[str, str], str]:
    """The data, the label of each variable and that of the data."""
    file = io.BytesIO()
    write_stata(file, name, table)
    file.seek(0)
    with pd.read_stata(file, iterator=True) as reader:
        frame = reader.read()
        return frame, reader.variable_labels(), reader.data_label


def test_every_column_of_a_frame_has_the_type_of_its_values() -> None:
    frame = table_frame(TABLE)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        "slice": "string", "n": "Int64", "mf1": "float64", "signed": "boolean", "empty": "float64",
        "mixed": "float64", "note": "string",
    }  # fmt: skip
    assert frame["n"].tolist() == [12, pd.NA, 2**40]
    assert frame["signed"].tolist() == [True, pd.NA, False]
    assert frame["slice"].tolist() == ["all", "=1+1", pd.NA]
    assert frame["mf1"].tolist()[::2] == [0.8125, -0.5]
    assert math.isnan(frame["mf1"][1])
    assert frame["empty"].isna().all()


def test_a_file_of_stata_holds_what_the_table_holds() -> None:
    frame, labels, label = read_back(TABLE)
    assert list(frame.columns) == list(TABLE.columns)
    assert frame["slice"].tolist() == ["all", "=1+1", ""]  # Stata has no missing text
    assert frame["n"].tolist()[::2] == [12, 2**40]
    assert frame["n"].isna().tolist() == [False, True, False]
    assert frame["mf1"].tolist()[::2] == [0.8125, -0.5]
    assert frame["signed"].tolist()[::2] == [1, 0]
    assert frame["signed"].isna().tolist() == [False, True, False]
    assert frame["empty"].isna().all()
    assert frame["note"].tolist() == [LONG, "", ""]
    assert (set(labels.values()), label) == ({""}, "agreement")


@pytest.mark.parametrize("bytes_too_many", [0, 1])
def test_text_at_the_length_where_stata_stores_it_otherwise(bytes_too_many: int) -> None:
    text = "é" * (MAX_STR_LENGTH // 2) + "x" * (1 + bytes_too_many)
    assert len(text.encode()) == MAX_STR_LENGTH + bytes_too_many
    frame, _labels, _label = read_back(Table(("note",), [[text]], ("note",)))
    assert frame["note"].tolist() == [text]


@pytest.mark.parametrize("number, is_exact", [(2**53 - 1, True), (1 - 2**53, True), (2**53, False), (2**64, False)])
def test_an_integer_is_never_rounded(number: int, is_exact: bool) -> None:
    frame, _labels, _label = read_back(Table(("seed",), [[number], [1]]))
    assert frame["seed"].tolist() == ([number, 1] if is_exact else [str(number), "1"])


@pytest.mark.parametrize(
    "values, dtype, read",
    [
        (["", 1, None], "Int64", [pd.NA, 1, pd.NA]),
        (["", 0.5], "float64", None),
        ([True, ""], "boolean", [True, pd.NA]),
        (["", None], "string", ["", pd.NA]),
        (["a", 1], "string", ["a", "1"]),
        ([True, 1], "string", ["True", "1"]),
        ([1, 2.5], "float64", [1.0, 2.5]),
        ([None], "float64", None),
    ],
)
def test_the_type_of_a_column_without_text(values: list[object], dtype: str, read: list[object] | None) -> None:
    column = table_frame(Table(("n",), [[value] for value in values]))["n"]
    assert column.dtype == dtype
    assert read is None or column.tolist() == read


@pytest.mark.parametrize("figure", [math.inf, -math.inf, math.nan])
def test_a_figure_that_is_not_finite_reaches_no_file(figure: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        read_back(Table(("mf1",), [[figure], [0.5]]))


@pytest.mark.parametrize("table", [Table(("slice", "n"), [], ("slice",)), Table(("slice", "n"), [["", 1]], ("slice",))])
def test_a_table_without_rows_or_words_has_its_columns(table: Table) -> None:
    frame, _labels, _label = read_back(table)
    assert (list(frame.columns), len(frame)) == (["slice", "n"], len(table.rows))


def test_a_name_that_stata_refuses_is_changed_and_stands_in_the_label() -> None:
    stem = "a_figure_with_a_name_of_32_chars"
    assert len(stem) == MAX_NAME_LENGTH
    columns = (stem, f"{stem}_low", f"{stem}_high", "2nd", "in", "str7", "mf1 (valid)", "mf1__valid_", "x" * 90, "κ")
    frame, labels, _label = read_back(Table(columns, [[n / 2 for n in range(len(columns))]]))
    assert labels == {
        stem: "",
        f"{stem[:30]}_2": f"{stem}_low",
        f"{stem[:30]}_3": f"{stem}_high",
        "v_2nd": "2nd",
        "v_in": "in",
        "v_str7": "str7",
        "mf1__valid__2": "mf1 (valid)",
        "mf1__valid_": "",
        "x" * 32: "x" * (MAX_LABEL_LENGTH - 1) + "…",
        "_": "κ",
    }
    assert frame.iloc[0].tolist() == [n / 2 for n in range(len(columns))]


@pytest.mark.slow
@given(st.lists(st.text(max_size=40) | st.sampled_from(["_", "_2", "v_in", "in", "1", "v_1"]), unique=True))
def test_names_are_allowed_and_differ(columns: list[str]) -> None:
    names = stata_names(columns)
    assert set(names) == set(columns)
    assert len(set(names.values())) == len(columns)
    for own, new in names.items():
        assert 1 <= len(new) <= MAX_NAME_LENGTH
        assert new.isascii() and new.isidentifier()
        assert stata_names([new]) == {new: new}
        assert own == new or stata_names([own]) != {own: own}


def test_the_file_is_the_same_bytes_each_time() -> None:
    first, second = io.BytesIO(), io.BytesIO()
    write_stata(first, "agreement", TABLE)
    write_stata(second, "agreement", TABLE)
    assert first.getvalue() == second.getvalue()
    assert first.getvalue().startswith(b"<stata_dta><header><release>118</release>")


def test_parquet_is_offered_only_where_pyarrow_is_installed() -> None:
    from importlib.util import find_spec

    assert ("parquet" in files.TABLE_FORMATS) == (find_spec("pyarrow") is not None)


@pytest.mark.slow
def test_no_page_waits_for_pandas() -> None:
    code = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; django.setup()\n"
        "import config.urls, agreement.reports.frames, agreement.reports.files; assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
