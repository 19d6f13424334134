"""Several applications with one e-mail address: a stranger who enters somebody's address blocks nobody."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.cohort import services
from annotation.cohort.states import MAX_SAME_ADDRESS, state_of, states_of
from annotation.models import Application, ApplicationCall
from tests.annotation.cohort.test_applications import admin, applicant, call, counts, rows_of, send, step, upload
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import UserFactory
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
__all__ = ["admin", "call"]  # fixtures


@pytest.fixture
def impostor(call: ApplicationCall) -> Application:
    """What a stranger sent with the address of Ada, who then applies herself."""
    return applicant(call, name="Somebody Else", licence_number="1")


@pytest.fixture
def genuine(call: ApplicationCall, impostor: Application) -> Application:
    return applicant(call)


def page_of(admin: Client, row: Application) -> str:
    answer = admin.get(f"/b/{row.benchmark.slug}/cohort/applications/{row.public_id}/")
    return " ".join(answer.content.decode().split())


def admit(admin: Client, workshop: Workshop, row: Application) -> Any:
    step(admin, row, "licence", register="R", confirmed="yes")
    return step(admin, row, "admit", group=workshop.group.public_id, role="annotator")


def test_a_second_application_of_an_address_is_taken_and_its_sender_learns_nothing(call: ApplicationCall) -> None:
    first = send(call)
    second = send(call, email="ADA@example.org", name="Somebody Else")
    assert (second.status_code, second["Location"]) == (first.status_code, first["Location"])
    assert sorted(row.name for row in Application.objects.all()) == ["Ada Applicant", "Somebody Else"]


def test_reviewers_see_both(
    workshop: Workshop, admin: Client, impostor: Application, genuine: Application, call: ApplicationCall
) -> None:
    other = applicant(call, email="bo@example.org", name="Bo")
    assert f"/applications/{impostor.public_id}/" in page_of(admin, genuine)
    assert "1 other application has this address" in page_of(admin, impostor)
    assert "other application has this address" not in page_of(admin, other)
    assert admin.get(f"/b/{workshop.benchmark.slug}/cohort/").content.decode().count("Same address") == 2
    rows = rows_of(admin.get(f"/b/{workshop.benchmark.slug}/cohort/applications.csv"))
    assert {row["name"]: row["same_address"] for row in rows} == {"Somebody Else": "1", "Ada Applicant": "1", "Bo": "0"}
    api = APIClient()
    api.force_authenticate(workshop.admin)
    listed = api.get(f"/api/v1/benchmarks/{workshop.benchmark.slug}/applications/").json()["results"]
    assert {row["id"]: (row["same_address"], row["same_address_count"]) for row in listed} == {
        impostor.public_id: ([genuine.public_id], 1),
        genuine.public_id: ([impostor.public_id], 1),
        other.public_id: ([], 0),
    }


def send_many(call: ApplicationCall, number: int) -> None:
    """Applications with the address of Ada and no other."""
    Application.objects.bulk_create(
        Application(benchmark=call.benchmark, name=f"Sender {n}", email="ada@example.org", submitted_at=timezone.now())
        for n in range(number)
    )


def test_hundreds_with_one_address_share_one_list_that_names_few(
    workshop: Workshop, admin: Client, call: ApplicationCall, genuine: Application
) -> None:
    Application.objects.filter(pk=genuine.pk).update(user=workshop.annotator)
    send_many(call, 300)
    states = states_of(workshop.benchmark, call)
    (shared,) = {id(state.address): state.address for state in states}.values()
    assert shared is not None
    assert (len(states), shared.number, len(shared.named)) == (302, 302, MAX_SAME_ADDRESS + 1)
    for state in states:
        single = state_of(state.application)
        assert (single.same_address, single.same_address_count) == (state.same_address, 301)
        assert single.is_another_admitted is state.is_another_admitted is (state.application.pk != genuine.pk)
        # Whoever was admitted is named however many came later.
        assert len(single.same_address) == MAX_SAME_ADDRESS
        assert state.application.pk == genuine.pk or single.same_address[0].pk == genuine.pk
    page = page_of(admin, states[0].application)
    assert "301 other applications have this address" in page and f"{MAX_SAME_ADDRESS} of them are listed here" in page
    listed = page[page.index("other applications have this address") :].partition("listed here")[0]
    assert listed.count("<li>") == listed.count("/cohort/applications/") == MAX_SAME_ADDRESS
    api = APIClient()
    api.force_authenticate(workshop.admin)
    row, *_rest = api.get(f"/api/v1/benchmarks/{workshop.benchmark.slug}/applications/").json()["results"]
    assert (len(row["same_address"]), row["same_address_count"]) == (MAX_SAME_ADDRESS, 301)


@pytest.mark.parametrize("number", [100, 200])
def test_one_application_reads_few_of_the_others(
    call: ApplicationCall, number: int, django_assert_num_queries: Any
) -> None:
    row = applicant(call)
    send_many(call, number)
    with django_assert_num_queries(4):
        state = state_of(row)
    assert state.address is not None and len(state.address.named) == MAX_SAME_ADDRESS + 1


def test_one_of_them_is_admitted_and_the_others_are_out(
    workshop: Workshop, admin: Client, impostor: Application, genuine: Application
) -> None:
    assert counts(workshop)["eligible"] == (2, 0, 2)
    assert admit(admin, workshop, genuine).status_code in (200, 302)
    genuine.refresh_from_db()
    assert genuine.user is not None
    refused = admit(admin, workshop, impostor)
    assert refused.status_code == 422
    assert "Another application with the same address was admitted already." in refused.content.decode()
    assert Application.objects.get(pk=impostor.pk).user is None
    assert counts(workshop)["licence"] == (2, 1, 0)
    assert counts(workshop)["admitted"] == (1, 0, 1)
    rows = rows_of(admin.get(f"/b/{workshop.benchmark.slug}/cohort/applications.csv"))
    assert {row["name"]: row["state"] for row in rows}["Somebody Else"] == "out: same address"
    assert "Another was admitted" in admin.get(f"/b/{workshop.benchmark.slug}/cohort/?state=out").content.decode()


def test_the_database_admits_one_of_an_address(workshop: Workshop, impostor: Application, genuine: Application) -> None:
    Application.objects.filter(pk=genuine.pk).update(user=workshop.annotator)
    with pytest.raises(IntegrityError, match="annotation_application_admitted_once"), transaction.atomic():
        Application.objects.filter(pk=impostor.pk).update(user=workshop.annotator)


@pytest.mark.django_db(transaction=True)
def test_an_admission_waits_for_one_of_the_same_address() -> None:
    workshop = build_workshop()
    call = services.set_call(benchmark=workshop.benchmark, values={"is_open": True, "licence_required": False})
    UserFactory(email="ada@example.org")  # otherwise making the account twice is refused before
    first, second = (applicant(call, name=f"Person {number}") for number in range(2))
    answers: list[str] = []

    client = Client()
    client.force_login(workshop.admin)

    def admit_second() -> None:
        group = workshop.group.public_id
        answers.append(step(client, second, "admit", group=group, role="checker").content.decode())
        connection.close()

    thread = Thread(target=admit_second)
    with transaction.atomic():
        services.admit(application=first, group=workshop.group, role="annotator", by=workshop.admin, at=timezone.now())
        thread.start()
        wait_until(is_somebody_waiting)
    thread.join(60)
    (page,) = answers
    assert "Another application with the same address was admitted already." in page
    assert Application.objects.get(user__isnull=False) == first


def is_somebody_waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


def test_a_file_brings_an_address_that_somebody_entered_in_the_form(
    workshop: Workshop, admin: Client, impostor: Application
) -> None:
    text = "email,name\nada@example.org,Ada Applicant\n"
    upload(admin, workshop, text)
    upload(admin, workshop, text)
    assert sorted(row.name for row in Application.objects.all()) == ["Ada Applicant", "Somebody Else"]
