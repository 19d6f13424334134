"""CSV files: what is written is read back as it was, by Python's reader and by pandas."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.csvfile import beginning, stream_csv

TEXTS = st.text(st.sampled_from('a,";\r\n\t é'), max_size=6)


def test_a_carriage_return_in_a_cell_is_quoted_and_lines_end_as_on_unix() -> None:
    assert "".join(stream_csv(["a", "b"], [["x\ry", "plain"], ["p\nq", 1]])) == 'a,b\n"x\ry",plain\n"p\nq",1\n'
    assert beginning(["x\ry", 2], is_text=[False, False]) == '"x\ry",2,'


@pytest.mark.slow
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_every_text_comes_back(rows: list[tuple[str, str]]) -> None:
    text = "".join(stream_csv(["a", "b"], rows))
    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))] == [("a", "b"), *rows]
    if rows:
        frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, skip_blank_lines=False)
        assert [tuple(row) for row in frame.itertuples(index=False)] == rows
