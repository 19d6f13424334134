"""Reading ahead of the writer changes neither rows, nor faults, nor what an error does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rubrics.imports import prefetch
from rubrics.imports.bulk import array_literal, weighed_chunks
from rubrics.imports.prefetch import prefetch_chunks
from rubrics.parsing.cases import CaseRecord
from rubrics.parsing.faults import Faults
from rubrics.parsing.responses import ResponseRecord


def numbers(faults: Faults, *, until: int = 10, broken: int | None = None) -> Iterator[int]:
    for number in range(1, until + 1):
        if number == broken:
            raise RuntimeError("the disk is gone")
        if number % 4 == 0:
            faults.add(number, "field", "a multiple of four")
        else:
            yield number


def chunks_of(faults: Faults, **options: int) -> Iterator[list[int]]:
    return prefetch_chunks(
        lambda chunk_faults: numbers(chunk_faults, **options), faults, rows=3, weight=100, weigh=lambda _row: 1
    )


def test_rows_come_in_order_and_faults_with_their_chunk() -> None:
    faults = Faults()
    seen = [(chunk, faults.total) for chunk in chunks_of(faults)]
    # 4 stands behind the third row, so it is only known with the second chunk.
    assert seen == [([1, 2, 3], 0), ([5, 6, 7], 1), ([9, 10], 2)]
    assert [fault.line for fault in faults.first] == [4, 8]


def test_heavy_rows_come_in_smaller_chunks() -> None:
    chunks = prefetch_chunks(lambda _heard: iter(range(6)), Faults(), rows=100, weight=4, weigh=lambda _row: 2)
    assert list(chunks) == [[0, 1], [2, 3], [4, 5]]
    assert list(weighed_chunks(range(7), 3, weight=5, weigh=lambda row: row)) == [[0, 1, 2], [3, 4], [5], [6]]


@pytest.mark.parametrize("record", [CaseRecord(1, "c", [], ()), ResponseRecord(1, "c", "m", 0, "")])
def test_fields_that_nobody_knows_weigh_too(record: CaseRecord | ResponseRecord) -> None:
    heavy = replace(record, metadata={"unknown": [{"deep": "x" * 1000}, *([0] * 100)]})
    assert record.weight() < 100
    assert heavy.weight() > 1000 + 100 * 8  # CPython: a pointer for each element


def test_an_error_of_the_reader_is_raised_where_rows_are_taken() -> None:
    with pytest.raises(RuntimeError, match="the disk is gone"):
        list(chunks_of(Faults(), broken=6))


def test_the_reader_ends_with_a_writer_that_gives_up() -> None:
    rows = chunks_of(Faults(), until=1_000_000)
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert "read ahead" not in {thread.name for thread in threading.enumerate()}


def test_more_faults_than_are_kept_are_counted() -> None:
    faults = Faults()
    list(chunks_of(faults, until=400))
    assert (faults.total, len(faults.first)) == (100, 50)


@pytest.mark.django_db
def test_texts_of_an_array_arrive_as_they_are() -> None:
    from django.db import connection

    texts = ('say "ah"', "back\\slash", "{a,b}", "NULL", " ", "头痛，发热", "tab\tline\n")
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::text::text[]", [array_literal(texts)])
        assert tuple(cursor.fetchone()[0]) == texts


def test_the_first_chunks_are_short_and_each_is_twice_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetch, "FIRST", 2)
    chunks = prefetch_chunks(lambda _heard: iter(range(24)), Faults(), rows=8, weight=100, weigh=lambda _row: 1)
    assert [len(chunk) for chunk in chunks] == [2, 4, 8, 8, 2]
