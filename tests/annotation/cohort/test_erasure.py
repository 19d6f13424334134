"""Erasing the personal data of an application: nothing of it is left in any table, and the counts stay."""

from __future__ import annotations

import io
import json
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.cohort import services
from annotation.models import Application, ApplicationCall, ApplicationReview, LicenceCheck
from tests.annotation.cohort.test_applications import admin, applicant, call, counts, rows_of, step
from tests.annotation.cohort.test_same_address import is_somebody_waiting
from tests.annotation.conftest import Workshop, build_workshop
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
__all__ = ["admin", "call"]  # fixtures
CANARIES = ("canary-name", "canary-address", "canary-specialty", "canary-number", "canary-statement", "canary-note")


@pytest.fixture
def reviewed(call: ApplicationCall, admin: Client) -> Application:
    """An application that was found eligible, whose licence is confirmed, and that was declined."""
    row = applicant(
        call, name="canary-name", email="canary-address@example.org", specialty="canary-specialty",
        licence_number="canary-number", statement="canary-statement", years_in_practice="2",
    )  # fmt: skip
    step(admin, row, "overrule", reason="canary-note")
    step(admin, row, "licence", register="https://example.org/canary-number", confirmed="yes", note="canary-note")
    step(admin, row, "decline", reason="canary-note")
    return row


def erase_url(row: Application) -> str:
    return f"/b/{row.benchmark.slug}/cohort/applications/{row.public_id}/erase/"


def tables_with(words: str) -> list[str]:
    """The tables that hold the words in any column."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        hits = []
        for name in names:
            cursor.execute(f'SELECT EXISTS (SELECT FROM "{name}" t WHERE t::text ILIKE %s)', [f"%{words}%"])
            if cursor.fetchone() == (True,):
                hits.append(name)
    return hits


def test_nothing_that_was_stated_or_noted_is_left_and_the_counts_stay(
    workshop: Workshop, admin: Client, reviewed: Application
) -> None:
    before = counts(workshop)
    assert all(tables_with(words) for words in CANARIES)
    page = admin.get(erase_url(reviewed)).content.decode()
    assert "It cannot be undone" in page
    assert admin.post(erase_url(reviewed)).status_code == 302
    assert [(words, table) for words in CANARIES for table in tables_with(words)] == []
    assert counts(workshop) == before
    row = Application.objects.get()
    assert (row.unmet, row.submitted_at, row.erased_by) == (["years"], reviewed.submitted_at, workshop.admin)
    assert [(review.step, review.passed, review.reviewer) for review in ApplicationReview.objects.all()] == [
        ("eligibility", True, workshop.admin), ("decision", False, workshop.admin),
    ]  # fmt: skip
    assert LicenceCheck.objects.get().confirmed


def test_pages_files_and_trail_say_that_it_was_erased(workshop: Workshop, admin: Client, reviewed: Application) -> None:
    admin.post(erase_url(reviewed))
    base = f"/b/{workshop.benchmark.slug}"
    page = " ".join(admin.get(erase_url(reviewed)[: -len("erase/")]).content.decode().split())
    assert f"{workshop.admin} erased the personal data of this application on" in page
    assert 'name="step"' not in page
    assert "Years in practice" not in page.partition("Rules not met")[0]  # nothing but a dash is left to show
    assert "Erased" in admin.get(f"{base}/cohort/").content.decode()
    (row,) = rows_of(admin.get(f"{base}/cohort/applications.csv"))
    assert (row["name"], row["email"], row["state"], row["unmet"]) == ("Erased", "", "out: declined", "years")
    assert row["erased_at"]
    record = rows_of(admin.get(f"{base}/cohort/reviews.csv"))
    assert [(line["name"], line["step"], line["reason"]) for line in record] == [
        ("Erased", "eligibility", ""), ("Erased", "licence", ""), ("Erased", "decision", ""),
    ]  # fmt: skip
    changes = rows_of(admin.get(f"{base}/records/changes.csv"))
    (erasure,) = [line for line in changes if line["kind"] == "Application" and "erased_at" in line["changes"]]
    assert (erasure["object"], erasure["by"]) == ("Erased", str(workshop.admin))


def test_an_application_that_waited_is_out(workshop: Workshop, admin: Client, call: ApplicationCall) -> None:
    row = applicant(call)
    assert counts(workshop)["eligible"] == (1, 0, 1)
    admin.post(erase_url(row))
    assert counts(workshop)["eligible"] == (1, 1, 0)
    assert "Personal data erased" in admin.get(f"/b/{workshop.benchmark.slug}/cohort/").content.decode()
    assert row.public_id not in admin.get(f"/b/{workshop.benchmark.slug}/cohort/?state=open").content.decode()


def test_an_admitted_applicant_is_kept_and_the_page_says_why(
    workshop: Workshop, admin: Client, call: ApplicationCall
) -> None:
    row = applicant(call)
    step(admin, row, "licence", register="R", confirmed="yes")
    step(admin, row, "admit", group=workshop.group.public_id, role="annotator")
    for answer in (admin.get(erase_url(row)), admin.post(erase_url(row))):
        text = " ".join(answer.content.decode().split())
        assert "The application is kept with their account" in text
        assert "Erase for good" not in text
    assert admin.post(erase_url(row)).status_code == 422
    assert Application.objects.get().name == "Ada Applicant"
    with pytest.raises(IntegrityError, match="annotation_application_erased"), transaction.atomic():
        Application.objects.update(erased_at=timezone.now())


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("licence", {"register": "R", "confirmed": "yes"}),
        ("decline", {"reason": "x"}),
        ("overrule", {"reason": "x"}),
        ("admit", {"role": "annotator"}),
    ],
)
def test_no_step_follows(
    workshop: Workshop, admin: Client, call: ApplicationCall, name: str, fields: dict[str, Any]
) -> None:
    row = applicant(call)
    admin.post(erase_url(row))
    fields = {**fields, "group": workshop.group.public_id} if name == "admit" else fields
    assert step(admin, row, name, **fields).status_code == 422
    assert not ApplicationReview.objects.exists()
    assert not LicenceCheck.objects.exists()


def test_the_person_can_apply_again(admin: Client, call: ApplicationCall) -> None:
    admin.post(erase_url(applicant(call)))
    again = applicant(call)
    assert again.name == "Ada Applicant"
    assert Application.objects.count() == 2


def test_the_api_and_the_command_erase(workshop: Workshop, call: ApplicationCall) -> None:
    first, second = applicant(call), applicant(call, email="bo@example.org", name="Bo")
    api = APIClient()
    api.force_authenticate(workshop.admin)
    slug = workshop.benchmark.slug
    url = f"/api/v1/benchmarks/{slug}/applications/{first.public_id}/erase/"
    body = api.post(url).json()
    assert (body["name"], body["email"], body["licence_number"], body["reasons"]) == ("", "", "", ["erased"])
    assert body["erased_at"]
    assert api.post(url).status_code == 409
    out = io.StringIO()
    call_command("erase_application", second.public_id, "--benchmark", slug, stdout=out)
    assert "personal data erased" in out.getvalue()
    second.refresh_from_db()
    assert (second.name, second.erased_by) == ("", None)
    with pytest.raises(CommandError, match="was erased"):
        call_command("erase_application", second.public_id, "--benchmark", slug)
    with pytest.raises(CommandError, match="There is no application"):
        call_command("erase_application", "none", "--benchmark", slug)


def test_other_applications_with_the_address_are_named_and_kept(
    workshop: Workshop, admin: Client, call: ApplicationCall
) -> None:
    """One may be a stranger's, and no address leads to them once it is erased."""
    rows = [applicant(call, name=f"Person {n}") for n in range(5)]
    alone = applicant(call, email="bo@example.org")
    assert "other application" not in admin.get(erase_url(alone)).content.decode()
    page = " ".join(admin.get(erase_url(rows[0])).content.decode().split())
    assert "4 other applications have this address, and are not erased with this one" in page
    assert [f"/applications/{row.public_id}/" in page for row in rows[1:]] == [True] * 4
    answer = admin.post(erase_url(rows[0]), follow=True)
    assert answer.redirect_chain[-1][0].endswith(f"/applications/{rows[4].public_id}/")
    text = " ".join(answer.content.decode().split())
    assert "4 other applications had the same address, and were not erased" in text
    api = APIClient()
    api.force_authenticate(workshop.admin)
    slug = workshop.benchmark.slug
    body = api.post(f"/api/v1/benchmarks/{slug}/applications/{rows[1].public_id}/erase/").json()
    assert body["same_address"] == [row.public_id for row in reversed(rows[2:])]
    assert (body["same_address_count"], body["email"]) == (3, "")
    out = io.StringIO()
    call_command("erase_application", rows[2].public_id, "--benchmark", slug, stdout=out)
    _done, words, *named = out.getvalue().splitlines()
    assert words.startswith("Not erased, with the same address")
    assert named == [f"application {row.public_id}" for row in reversed(rows[3:])]
    assert [row.name for row in Application.objects.filter(erased_at=None)] == [alone.name, "Person 4", "Person 3"]


def test_the_database_adds_no_review_to_an_erased_application(workshop: Workshop, reviewed: Application) -> None:
    """Nor one that is empty from the start."""
    at = timezone.now()
    review = {"application": reviewed, "step": "decision", "passed": False, "reviewer": workshop.admin, "at": at}
    check = {
        "benchmark": workshop.benchmark, "application": reviewed, "confirmed": True, "checked_by": workshop.admin,
        "checked_at": at,
    }  # fmt: skip
    named = {"country": "DE", "number": "1", "register": "R"}

    def refuses(rows: Any, **fields: Any) -> None:
        with pytest.raises(ProgrammingError, match="Cannot insert"), transaction.atomic():
            rows.create(**fields)

    reviews, checks = ApplicationReview.objects, LicenceCheck.objects
    refuses(reviews, **review, erased=True)
    refuses(checks, **check, erased=True)
    refuses(checks, **{**check, "application": None, "user": workshop.annotator}, erased=True)
    checks.create(**{**check, "application": None, "user": workshop.annotator}, **named)
    services.erase_application(application=reviewed, by=None, at=at)
    refuses(reviews, **review, reason="x")
    refuses(reviews, **review, erased=True)
    refuses(checks, **check, **named)
    refuses(checks, **{**check, "user": workshop.annotator}, **named)


@pytest.mark.django_db(transaction=True)
def test_an_insert_waits_for_an_erasure() -> None:
    workshop = build_workshop()
    row = Application.objects.create(
        benchmark=workshop.benchmark, name="A", email="a@x.org", submitted_at=timezone.now()
    )
    errors: list[str] = []

    def insert() -> None:
        try:
            ApplicationReview.objects.create(
                application=row, step="decision", passed=False, reason="x", reviewer=workshop.admin, at=timezone.now()
            )
        except ProgrammingError as error:
            errors.append(str(error))
        connection.close()

    thread = Thread(target=insert)
    with transaction.atomic():
        services.erase_application(application=row, by=None, at=timezone.now())
        thread.start()
        wait_until(is_somebody_waiting)
    thread.join(60)
    assert "Cannot insert" in errors[0]
    assert not ApplicationReview.objects.exists()


def test_the_database_lets_nothing_else_through(reviewed: Application) -> None:
    """Rows are emptied with their application alone, whole, and once."""

    def refuses(rows: Any, match: str = "Cannot update", **change: Any) -> None:
        with pytest.raises((ProgrammingError, IntegrityError), match=match), transaction.atomic():
            rows.update(**change)

    reviews, checks, rows = ApplicationReview.objects.all(), LicenceCheck.objects.all(), Application.objects.all()
    emptied = {"number": "", "country": "", "register": "", "note": "", "erased": True}
    refuses(reviews, reason="", erased=True)
    refuses(checks, **emptied)
    refuses(rows, "annotation_application_erased", erased_at=timezone.now())
    refuses(rows, name="")
    services.erase_application(application=reviewed, by=None, at=timezone.now())
    refuses(rows, erased_at=timezone.now())
    refuses(rows, erased_at=None, name="Another")
    refuses(rows, unmet=[])
    refuses(reviews, reason="Another", erased=False)
    refuses(checks, number="1", country="DE", register="R", erased=False)
    refuses(checks, confirmed=False)


def test_an_erasure_empties_a_review_and_changes_nothing_else_of_it(workshop: Workshop, call: ApplicationCall) -> None:
    """Also while its application is erased, a review keeps its result."""
    row = applicant(call)
    services.decline(application=row, reason="x", by=workshop.admin, at=timezone.now())
    services.check_licence_of_application(
        application=row, register="R", confirmed=True, by=workshop.admin, at=timezone.now()
    )
    Application.objects.filter(pk=row.pk).update(**services.NOTHING_STATED, erased_at=timezone.now())
    emptied = {"number": "", "country": "", "register": "", "note": "", "erased": True}
    for rows, change in (
        (ApplicationReview.objects.all(), {"reason": "", "erased": True, "passed": True}),
        (LicenceCheck.objects.all(), {**emptied, "confirmed": False}),
        (LicenceCheck.objects.all(), {**emptied, "note": "kept"}),
    ):
        with pytest.raises((ProgrammingError, IntegrityError)), transaction.atomic():
            rows.update(**change)


def test_the_trail_has_no_copy_of_what_was_stated(call: ApplicationCall) -> None:
    applicant(call, name="canary-name")
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(e) FROM annotation_applicationevent e")
        events = cursor.fetchall()
    assert events
    assert "canary-name" not in json.dumps(events)
