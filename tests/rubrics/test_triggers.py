"""What the database itself refuses, whoever asks."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from rubrics.models import Case, Rubric, RubricContributor, RubricItem, RubricReview
from rubrics.services.drafts import open_draft
from tests.factories import CaseFactory, ResponseFactory, UserFactory

pytestmark = pytest.mark.django_db

ADD_AN_ITEM = """
    INSERT INTO rubrics_rubricitem (rubric_id, criterion_id, position, points, tags, source_note)
    SELECT r.id, c.id, 99, 1, '{}', '' FROM rubrics_rubric r JOIN rubrics_criterion c ON c.case_id = r.case_id
    WHERE c.text = 'A criterion without a place.'
"""
# The statement, and a word of the refusal that shows which rule held.
REFUSED = {
    "rewording a criterion": ("UPDATE rubrics_criterion SET text = 'other'", "rubrics_criterion"),
    "moving a criterion": ("UPDATE rubrics_criterion SET case_id = case_id", "rubrics_criterion"),
    "changing points": ("UPDATE rubrics_rubricitem SET points = 9", "The items of a published rubric stand"),
    "reordering": ("UPDATE rubrics_rubricitem SET position = position + 10", "The items of a published rubric stand"),
    "taking an item away": ("DELETE FROM rubrics_rubricitem", "The items of a published rubric stand"),
    "adding an item": (ADD_AN_ITEM, "The items of a published rubric stand"),
    "taking a rubric back": ("UPDATE rubrics_rubric SET status = 'draft'", "can only be superseded"),
    "deleting a published rubric": ("DELETE FROM rubrics_rubric", "Cannot delete rows from rubrics_rubric"),
    "changing a case": ("UPDATE rubrics_case SET conversation = '[]'", "is frozen"),
    "changing a response": ("UPDATE rubrics_response SET text = 'other'", "rubrics_response"),
    "giving a response away": ("UPDATE rubrics_response SET candidate_id = candidate_id + 1", "rubrics_response"),
}


@pytest.fixture
def case() -> Case:
    case = CaseFactory()
    case.criteria.create(text="A criterion without a place.")
    ResponseFactory(case=case)
    return case


@pytest.mark.parametrize(("statement", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_raw_sql_cannot_change_what_decisions_rest_on(case, statement, words) -> None:
    with pytest.raises(DatabaseError, match=words), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_number_of_criteria_is_that_of_the_items_from_the_day_of_publishing(case) -> None:
    first = case.rubrics.get()
    assert first.criterion_count == first.items.count() > 0
    with connection.cursor() as cursor:
        cursor.execute("UPDATE rubrics_rubric SET criterion_count = 99, note = 'mistaken'")
    first.refresh_from_db()
    assert (first.criterion_count, first.note) == (first.items.count(), "mistaken")
    Rubric.objects.update(status="superseded")
    draft = Rubric.objects.create(case=case, version=2)
    for position, text in enumerate("abc", start=1):
        RubricItem.objects.create(
            rubric=draft, criterion=case.criteria.create(text=text), position=position, points=position
        )
    assert draft.criterion_count is None
    Rubric.objects.filter(pk=draft.pk).update(status="published")
    draft.refresh_from_db()
    assert draft.criterion_count == 3
    draft.criterion_count = None  # whoever holds an older copy does not take the number away
    draft.save()
    first.refresh_from_db()
    draft.refresh_from_db()
    assert (first.criterion_count, draft.criterion_count) == (first.items.count(), 3)
    assert Rubric.objects.create(case=CaseFactory(), track="other", status="published").criterion_count is None
    assert Rubric.objects.get(track="other").criterion_count == 0


def test_a_rubric_brought_in_past_the_triggers_is_counted_with_its_next_change(case) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("UPDATE rubrics_rubric SET criterion_count = NULL")
        cursor.execute("SET LOCAL session_replication_role = origin")
    assert case.rubrics.get().criterion_count is None
    Rubric.objects.update(note="looked at")
    assert case.rubrics.get().criterion_count == 3


@pytest.mark.parametrize("points", [0, 11, -11])
def test_points_are_from_minus_ten_to_ten_and_never_zero(case, points) -> None:
    draft = Rubric.objects.create(case=case, version=2)
    criterion = case.criteria.first()
    with pytest.raises(DatabaseError, match="rubrics_item_points"), transaction.atomic():
        RubricItem.objects.create(rubric=draft, criterion=criterion, position=1, points=points)


def test_a_track_cannot_have_two_published_rubrics(case) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        Rubric.objects.create(case=case, version=2, status="published")


def test_a_draft_can_be_changed_and_published_over_the_old_one(case) -> None:
    old = case.rubrics.get()
    draft = Rubric.objects.create(case=case, version=2)
    kept = old.items.first()
    assert kept is not None
    RubricItem.objects.create(rubric=draft, criterion=kept.criterion, position=1, points=2)
    draft.items.update(points=3)
    Rubric.objects.filter(pk=old.pk).update(status="superseded")
    Rubric.objects.filter(pk=draft.pk).update(status="published")
    assert case.rubrics.current().get().items.get().points == 3
    with pytest.raises(DatabaseError), transaction.atomic():
        Rubric.objects.filter(pk=old.pk).update(status="published")


AROUND_TWO_PHYSICIANS = {
    "deleting the draft": "DELETE FROM rubrics_rubricdraft",
    "giving the draft to another rubric": "UPDATE rubrics_rubricdraft SET rubric_id = {other}",
    "emptying the drafts": "TRUNCATE rubrics_rubricdraft",
    "deleting who wrote it": "DELETE FROM rubrics_rubriccontributor WHERE user_id = {writer}",
    "naming another writer": "UPDATE rubrics_rubriccontributor SET user_id = {bystander} WHERE user_id = {writer}",
    "giving the writer to another rubric": "UPDATE rubrics_rubriccontributor SET rubric_id = {other}",
    "emptying the writers": "TRUNCATE rubrics_rubriccontributor",
}


@pytest.mark.parametrize("statement", AROUND_TWO_PHYSICIANS.values(), ids=AROUND_TWO_PHYSICIANS.keys())
def test_raw_sql_cannot_publish_what_only_its_writer_has_approved(statement: str) -> None:
    at, writer = timezone.now(), UserFactory()
    rubric = open_draft(case=CaseFactory(rubric=0), by=writer, at=at)
    RubricContributor.objects.get_or_create(rubric=rubric, user=writer, defaults={"first_at": at, "last_at": at})
    RubricReview.objects.create(
        rubric=rubric, reviewer=writer, outcome="approved", digest=rubric.draft.digest, created_at=at
    )
    names = {"other": Rubric.objects.create(case=rubric.case, version=2).pk, "writer": writer.pk}
    publish = f"UPDATE rubrics_rubric SET status = 'published' WHERE id = {rubric.pk}"
    with pytest.raises(DatabaseError, match="somebody who did not write it"), transaction.atomic():
        connection.cursor().execute(publish)
    statement = statement.format(**names, bystander=UserFactory().pk)
    connection.check_constraints()
    # Constraints are checked at once here, as they are at the end of a transaction.
    with pytest.raises(DatabaseError, match=r"stays with it|Cannot update|cannot be truncated"), transaction.atomic():
        connection.cursor().execute(f"{statement}; {publish}; SET CONSTRAINTS ALL IMMEDIATE")
    Rubric.objects.get(pk=rubric.pk).reviews.all().delete()
    rubric.delete()  # a draft that is discarded takes with it how it was written
    connection.check_constraints()
    assert not RubricContributor.objects.exists()


def event_tables() -> list[str]:
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
    return [
        name for name in names if name.endswith("event") and name.startswith(("rubrics_", "annotation_", "scoring_"))
    ]


@pytest.mark.parametrize("statement", ["UPDATE {} SET pgh_label = 'x'", "DELETE FROM {}", "TRUNCATE {}"])
def test_the_audit_trail_refuses_every_change(case, statement) -> None:
    tables = event_tables()
    assert {"rubrics_rubricevent", "rubrics_benchmarkroleevent", "annotation_decisionevent"} <= set(tables)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM rubrics_rubricevent")
        assert cursor.fetchone()[0] > 0
    for table in tables if statement.startswith("TRUNCATE") else ["rubrics_rubricevent"]:
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(table))
