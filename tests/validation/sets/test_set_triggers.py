"""What the database refuses of rubric sets, whoever asks."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from rubrics.models import Benchmark, Case
from tests.factories import BenchmarkFactory, CaseFactory
from tests.validation.sets.conftest import Import, lines_of
from validation.models import RubricSet, RubricSetItem

pytestmark = pytest.mark.django_db

ADD_AN_ITEM = """
    INSERT INTO validation_rubricsetitem (rubric_set_id, case_id, position, text, points, axis)
    SELECT rubric_set_id, case_id, 99, 'More', 1, '' FROM validation_rubricsetitem LIMIT 1
"""
ADD_A_MEND = """
    INSERT INTO validation_rubricsetmend (rubric_set_id, case_id, line, number, field, how, before, after, text)
    SELECT rubric_set_id, case_id, 9, 9, 'points', 'dropped', '', '', '' FROM validation_rubricsetmend LIMIT 1
"""
MAKE_FINISHED = """
    INSERT INTO validation_rubricset (
        public_id, benchmark_id, name, description, origin, track, file_name, file_digest, frame, digest, case_count,
        item_count, mend_count, created_at, finished_at
    ) SELECT 'x', benchmark_id, 'x', '', 'generic', '', '', '', '{}', '', 1, 1, 0, now(), now()
    FROM validation_rubricset
"""
REFUSED = {
    "renaming": ("UPDATE validation_rubricset SET name = 'other'", "A rubric set never changes"),
    "moving to another benchmark": (
        "UPDATE validation_rubricset SET benchmark_id = benchmark_id + 1",
        "A rubric set never changes",
    ),
    "opening it again": ("UPDATE validation_rubricset SET finished_at = NULL", "A rubric set never changes"),
    "finishing it again": ("UPDATE validation_rubricset SET finished_at = now()", "A rubric set never changes"),
    "deleting it": ("DELETE FROM validation_rubricset", "Cannot delete rows from validation_rubricset"),
    "emptying sets": ("TRUNCATE validation_rubricset CASCADE", "cannot be truncated"),
    "beginning a finished one": (MAKE_FINISHED, "is finished after its rows are written"),
    "changing points": ("UPDATE validation_rubricsetitem SET points = 9", "Cannot update"),
    "changing a text": ("UPDATE validation_rubricsetitem SET text = 'other'", "Cannot update"),
    "deleting an item": ("DELETE FROM validation_rubricsetitem", "Cannot update or delete|Cannot delete"),
    "emptying items": ("TRUNCATE validation_rubricsetitem", "cannot be truncated"),
    "adding an item": (ADD_AN_ITEM, "takes no more rows"),
    "adding a mend": (ADD_A_MEND, "takes no more rows"),
    "deleting a mend": ("DELETE FROM validation_rubricsetmend", "Cannot"),
    "emptying mends": ("TRUNCATE validation_rubricsetmend", "cannot be truncated"),
    "changing an event": ("UPDATE validation_rubricsetevent SET name = 'other'", "Cannot"),
}


@pytest.fixture
def finished(import_set: Import) -> RubricSet:
    criteria = [{"criterion": "One", "points": 1}, {"criterion": "Two", "points": 12}]
    return import_set(lines_of({"case": "a", "rubrics": criteria}), mend="1")


@pytest.mark.parametrize(("statement", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_raw_sql_cannot_change_a_finished_set(finished: RubricSet, statement: str, words: str) -> None:
    assert (finished.item_count, finished.mend_count) == (2, 1)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with pending checks cannot be truncated anyway
        with pytest.raises(DatabaseError, match=words), transaction.atomic():
            cursor.execute(statement)


def unfinished(benchmark: Benchmark, **changes: object) -> RubricSet:
    values = {
        "benchmark": benchmark,
        "name": "raw",
        "origin": "generic",
        "digest": "0" * 64,
        "created_at": timezone.now(),
        "case_count": 1,
        "item_count": 1,
    }
    return RubricSet.objects.create(**{**values, **changes})


def add_item(row: RubricSet, case: Case, **changes: object) -> RubricSetItem:
    values = {"position": 1, "text": "One", "points": 1}
    return RubricSetItem.objects.create(rubric_set=row, case=case, **{**values, **changes})


def finish(row: RubricSet) -> None:
    row.finished_at = timezone.now()
    row.save(update_fields=["finished_at"])


def test_a_set_ends_with_the_rows_that_it_announces(benchmark: Benchmark) -> None:
    row, case = unfinished(benchmark, item_count=2), benchmark.cases.get(key="a")
    add_item(row, case)
    with pytest.raises(IntegrityError, match="not those that it announces"), transaction.atomic():
        finish(row)
    add_item(row, case, position=2)
    finish(row)
    assert RubricSet.objects.finished().get() == row


def test_a_set_holds_no_case_of_another_benchmark(benchmark: Benchmark) -> None:
    row = unfinished(benchmark)
    add_item(row, CaseFactory())
    with pytest.raises(IntegrityError, match="not those that it announces"), transaction.atomic():
        finish(row)


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"points": 0}, "validation_item_points"),
        ({"points": 11}, "validation_item_points"),
        ({"points": -11}, "validation_item_points"),
        ({"position": 0}, "validation_item_position_from_1"),
        ({"text": " \n"}, "validation_item_text"),
    ],
)
def test_an_item_has_points_a_place_and_a_text(
    benchmark: Benchmark, changes: dict[str, object], constraint: str
) -> None:
    row = unfinished(benchmark)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        add_item(row, benchmark.cases.get(key="a"), **changes)


def test_a_position_is_taken_once_in_a_case(benchmark: Benchmark) -> None:
    row, case = unfinished(benchmark), benchmark.cases.get(key="a")
    add_item(row, case)
    with pytest.raises(IntegrityError, match="validation_item_position_once"), transaction.atomic():
        add_item(row, case)


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"origin": "gold", "track": "silver"}, "validation_set_track_of_origin"),
        ({"origin": "track", "track": "gold"}, "validation_set_track_of_origin"),
        ({"origin": "track", "track": ""}, "validation_set_track_of_origin"),
        ({"origin": "file"}, "validation_set_file_of_origin"),
        ({"mend_count": 1}, "validation_set_file_of_origin"),
        ({"item_count": 0, "case_count": 0}, "validation_set_not_empty"),
        ({"name": ""}, "validation_set_named"),
    ],
)
def test_what_a_set_announces_fits_its_origin(
    benchmark: Benchmark, changes: dict[str, object], constraint: str
) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        unfinished(benchmark, **changes)


def test_a_name_is_taken_once_in_a_benchmark(benchmark: Benchmark) -> None:
    unfinished(benchmark)
    with pytest.raises(IntegrityError, match="validation_set_name_once"), transaction.atomic():
        unfinished(benchmark)


def test_the_beginning_and_the_end_of_a_set_are_on_record(finished: RubricSet) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pgh_label, finished_at IS NULL FROM validation_rubricsetevent ORDER BY pgh_id")
        assert cursor.fetchall() == [("insert", True), ("update", False)]


@pytest.mark.parametrize("changes", ["key = 'other'", "benchmark_id = %(benchmark)s"])
def test_a_case_without_a_published_rubric_keeps_its_name_once_a_set_holds_it(
    benchmark: Benchmark, import_set: Import, changes: str
) -> None:
    CaseFactory(benchmark=benchmark, key="draft", rubric=0)
    free = CaseFactory(benchmark=benchmark, key="free", rubric=0)
    import_set(lines_of({"case": "draft", "rubrics": [{"criterion": "One", "points": 1}]}))
    statement = f"UPDATE rubrics_case SET {changes} WHERE key = %(case)s"
    values = {"benchmark": BenchmarkFactory().pk}
    with connection.cursor() as cursor:
        with pytest.raises(IntegrityError, match="keeps its key and its benchmark"), transaction.atomic():
            cursor.execute(statement, {**values, "case": "draft"})
        cursor.execute(statement, {**values, "case": "free"})
    free.refresh_from_db()
    assert (free.key, free.benchmark_id) != ("free", benchmark.pk)
