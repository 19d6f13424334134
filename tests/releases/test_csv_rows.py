"""Rows of a release's CSV files: long cells are read, and the limit of the process stays as it was."""

from __future__ import annotations

import csv
import io

import pytest

from releases.verification.csv_rows import CsvRows


def test_a_cell_longer_than_the_modules_limit_is_read_and_the_limit_stays() -> None:
    before = csv.field_size_limit()
    with CsvRows(io.BytesIO(b"a,b\n" + b"x" * (before + 1) + b",1\n")) as rows:
        assert next(rows) == ["a", "b"]
        assert csv.field_size_limit() == before  # while the rows are still being read
        assert len(next(rows)[0]) == before + 1
        assert rows.line_num == 2
        with pytest.raises(StopIteration):
            next(rows)
    assert csv.field_size_limit() == before
