"""Independence held by the database itself: raw SQL is refused, whatever the code above it does."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from annotation import access, services
from annotation.models import Assignment, Check, Decision
from consilium.core.errors import DomainError
from rubrics.models import BenchmarkRole
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import ExpertGroupFactory, ResponseFactory, decide, member

pytestmark = pytest.mark.django_db

MEMBER = """
    INSERT INTO annotation_membership (group_id, user_id, role, active, created_at) VALUES (%s, %s, '{}', true, now())
"""


def refused(sql: str, *parameters: object, name: str = "") -> None:
    """The statement fails, by the constraint of this name."""
    with pytest.raises(DatabaseError) as caught, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, parameters)
    diagnosis = getattr(caught.value.__cause__, "diag", None)
    if name:
        assert diagnosis is not None
        assert diagnosis.constraint_name == name


@pytest.mark.slow
def test_one_person_plays_one_part_for_a_response() -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    refused("UPDATE annotation_assignment SET checker_id = %s WHERE id = %s", row.annotator_id, row.pk,
            name="annotation_one_part_per_response")  # fmt: skip
    decide(row)
    services.claim_check(checker=workshop.checker, waiting=access.waiting_checks(workshop.checker), at=timezone.now())
    other = next(a for a in Assignment.objects.filter(response=row.response_id))
    refused("UPDATE annotation_assignment SET annotator_id = %s WHERE id = %s", workshop.checker.pk, other.pk,
            name="annotation_one_part_per_response")  # fmt: skip
    refused(
        "INSERT INTO annotation_adjudication (public_id, response_id, rubric_id, group_id, criteria, agreement, "
        "adjudicator_id, status, created_at) VALUES ('x', %s, %s, %s, '{1}', 0, %s, 'open', now())",
        row.response_id, row.rubric_id, workshop.group.pk, row.annotator_id, name="annotation_one_part_per_response",
    )  # fmt: skip


@pytest.mark.slow
def test_nobody_grades_their_own_response() -> None:
    workshop = build_workshop()
    own = ResponseFactory(case=workshop.cases[0], author=workshop.annotator)
    rubric = own.case.rubrics.get()
    refused(
        "INSERT INTO annotation_assignment (public_id, batch_id, case_id, response_id, rubric_id, annotator_id, "
        "status, round, position, to_check) VALUES ('y', %s, %s, %s, %s, %s, 'not_started', 1, 1, false)",
        workshop.batch.pk, own.case_id, own.pk, rubric.pk, workshop.annotator.pk, name="annotation_not_the_author",
    )  # fmt: skip


def test_who_runs_the_benchmark_is_in_no_group_and_nobody_is_in_two() -> None:
    workshop = build_workshop()
    refused(MEMBER.format("checker"),
            workshop.group.pk, workshop.admin.pk, name="annotation_membership_not_staff")  # fmt: skip
    with pytest.raises(IntegrityError), transaction.atomic():
        BenchmarkRole.objects.create(benchmark=workshop.benchmark, user=workshop.annotator, role="researcher")
    other = ExpertGroupFactory(benchmark=workshop.benchmark)
    refused(MEMBER.format("annotator"),
            other.pk, workshop.annotator.pk, name="annotation_membership_one_group")  # fmt: skip


@pytest.mark.slow
def test_decisions_and_memberships_are_never_deleted_and_the_trail_never_changes() -> None:
    workshop = build_workshop()
    decide(workshop.queue()[0])
    refused("DELETE FROM annotation_decision")
    refused("DELETE FROM annotation_membership")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM annotation_decisionevent")
        assert cursor.fetchone() == (Decision.objects.count(),)
    refused("UPDATE annotation_decisionevent SET outcome = 'met'")
    refused("DELETE FROM annotation_decisionevent")
    refused("TRUNCATE annotation_decisionevent")


@pytest.mark.slow
def test_a_returned_check_has_a_note_and_an_amendment_a_reason() -> None:
    workshop = build_workshop(check_policy="all")
    decide(workshop.queue()[0])
    row = services.claim_check(
        checker=workshop.checker, waiting=access.waiting_checks(workshop.checker), at=timezone.now()
    )
    assert row is not None
    check = Check.objects.get()
    refused("UPDATE annotation_check SET result = 'returned', note = '' WHERE id = %s", check.pk,
            name="annotation_return_has_a_note")  # fmt: skip
    refused("INSERT INTO annotation_amendment (check_row_id, criterion_id, outcome, reason, version, created_at, "
            "updated_at) VALUES (%s, %s, 'met', '', 1, now(), now())", check.pk, services.criteria_of(row)[0],
            name="annotation_amendment_has_a_reason")  # fmt: skip


@pytest.mark.slow
def test_each_refusal_has_a_sentence(workshop: Workshop) -> None:
    with pytest.raises(DomainError, match="see the candidates’ names"):
        member(workshop.group, "annotator", workshop.admin)
