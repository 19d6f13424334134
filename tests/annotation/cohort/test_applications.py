"""Applications from the form to the first work: eligibility, licences, admission, and the counts of the flow."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import PhysicianProfile, User
from agreement import services as reports
from agreement.reports.stored import table_of
from annotation.cohort import services
from annotation.cohort.forms import MAX_FILE_BYTES
from annotation.cohort.states import flow
from annotation.contributions.credentials import language_counts
from annotation.models import Application, ApplicationCall, ApplicationReview, LicenceCheck, Membership
from consilium.core.errors import Conflict
from tests.annotation.conftest import Workshop
from tests.factories import UserFactory, decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

STATED: dict[str, Any] = {
    "name": "Ada Applicant",
    "email": "ada@example.org",
    "specialty": "Neurology",
    "languages_usual": ["en"],
    "languages_other": "",
    "licence_country": "DE",
    "licence_number": "B-4711",
    "years_in_practice": "6",
    "seniority": "specialist",
    "statement": "I would like to.",
    "agrees": "on",
}


@pytest.fixture
def admin(workshop: Workshop, client: Client) -> Client:
    client.force_login(workshop.admin)
    return client


@pytest.fixture
def call(workshop: Workshop) -> ApplicationCall:
    return services.set_call(
        benchmark=workshop.benchmark,
        values={"is_open": True, "min_years": 5, "languages": ["en"], "licence_required": True},
    )


def send(call: ApplicationCall, **changes: Any) -> Any:
    return Client().post(f"/apply/{call.token}/", {**STATED, **changes})


def applicant(call: ApplicationCall, **changes: Any) -> Application:
    assert send(call, **changes).status_code == 302
    return Application.objects.latest("pk")


def step(admin: Client, application: Application, name: str, *, eligible: str = "1", **fields: Any) -> Any:
    url = f"/b/{application.benchmark.slug}/cohort/applications/{application.public_id}/"
    sent = {"step": name, "eligible": eligible, **{f"{name}-{field}": value for field, value in fields.items()}}
    return admin.post(url, sent)


def rows_of(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def labels_of(answer: Any) -> dict[str, str]:
    """What the list on the page says of each applicant, by the part of the address before the @."""
    _flow, _title, table = answer.content.decode().partition('id="applications-title"')
    rows = [" ".join(row.partition("</tr>")[0].split()) for row in table.split("<tr>")[2:]]
    labels = [re.search(r'class="sub">([^<@]*)@.*<span class="badge [^"]*"> ([^<]*) </span>', row) for row in rows]
    return {match[1]: match[2] for match in labels if match}


def counts(workshop: Workshop) -> dict[str, tuple[int, int, int]]:
    return {str(row.step): (row.reached, row.out, row.waiting) for row in flow(workshop.benchmark)}


def test_whoever_has_the_address_can_apply(call: ApplicationCall) -> None:
    page = Client().get(f"/apply/{call.token}/")
    assert page.status_code == 200
    assert send(call)["Location"] == f"/apply/{call.token}/received/"
    row = Application.objects.get()
    assert (row.email, row.languages, row.licence_number, row.unmet) == ("ada@example.org", ["en"], "B-4711", [])
    assert "Application received" in Client().get(f"/apply/{call.token}/received/").content.decode()


def test_a_closed_call_and_a_former_address_are_not_there(call: ApplicationCall) -> None:
    former = call.token
    services.renew_address(benchmark=call.benchmark)
    assert Client().get(f"/apply/{former}/").status_code == 404
    call.refresh_from_db()
    ApplicationCall.objects.update(is_open=False)
    assert send(call).status_code == 404
    with pytest.raises(Conflict, match="closed"):
        services.submit_application(call=call, fields={"email": "x@example.org", "name": "X"}, at=timezone.now())
    assert not Application.objects.exists()


def test_what_is_missing_is_named_beside_its_field(call: ApplicationCall) -> None:
    answer = send(call, licence_number="", name="", agrees="")
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == {"licence_number", "name", "agrees"}
    assert not Application.objects.exists()


def test_languages_are_needed_where_the_call_is_for_readers_of_some(call: ApplicationCall) -> None:
    none: dict[str, Any] = {"languages_usual": []}
    answer = send(call, **none)
    assert (answer.status_code, set(answer.context["form"].errors)) == (422, {"languages"})
    assert "Choose each language that you can read." in answer.content.decode()
    ApplicationCall.objects.update(languages=[])
    call.refresh_from_db()
    assert "You can leave this empty." in Client().get(f"/apply/{call.token}/").content.decode()
    assert applicant(call, **none).languages == []


def test_an_application_that_is_sent_twice_is_stored_once(call: ApplicationCall) -> None:
    first, second = send(call), send(call, email="ADA@example.org")
    assert (second.status_code, second["Location"]) == (first.status_code, first["Location"])
    assert Application.objects.get().email == "ada@example.org"


def test_an_application_is_what_was_submitted_for_good(call: ApplicationCall) -> None:
    row = applicant(call)
    for change in ({"unmet": ["years"]}, {"licence_number": "other"}):
        with pytest.raises(ProgrammingError, match="Cannot update"), transaction.atomic():
            Application.objects.filter(pk=row.pk).update(**change)
    with pytest.raises(Exception, match="Cannot delete"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM annotation_application WHERE id = %s", [row.pk])


def test_from_the_application_to_an_invited_member(workshop: Workshop, admin: Client, call: ApplicationCall) -> None:
    row = applicant(call)
    group = {"group": workshop.group.public_id, "role": "annotator"}
    refused = step(admin, row, "admit", **group)
    assert refused.status_code == 422
    assert "The licence is not confirmed yet." in refused.content.decode()
    assert not ApplicationReview.objects.exists()

    step(admin, row, "licence", register="Register of Berlin", confirmed="yes")
    answer = step(admin, row, "admit", **group)
    assert answer.status_code in (200, 302)
    row.refresh_from_db()
    user = User.objects.get(email="ada@example.org")
    assert row.user == user
    assert Membership.objects.get(user=user).group == workshop.group
    profile = PhysicianProfile.objects.get(user=user)
    assert (profile.specialty, profile.licence_number, profile.years_in_practice) == ("Neurology", "B-4711", 6)
    check = LicenceCheck.objects.get()
    assert (check.checked_by, check.register, check.number) == (workshop.admin, "Register of Berlin", "B-4711")
    licences = admin.get(f"/b/{workshop.benchmark.slug}/cohort/licences/").content.decode()
    assert "Register of Berlin" in licences
    again = step(admin, row, "decline", reason="Too late.")
    assert (again.status_code, ApplicationReview.objects.count()) == (422, 1)


def test_an_ineligible_application_needs_a_reason_to_be_admitted(admin: Client, call: ApplicationCall) -> None:
    row = applicant(call, years_in_practice="4")
    assert row.unmet == ["years"]
    step(admin, row, "licence", register="R", confirmed="yes")
    group = call.benchmark.groups.get()
    with pytest.raises(Conflict, match="not eligible"):
        services.admit(application=row, group=group, role="annotator", by=UserFactory(), at=timezone.now())
    assert step(admin, row, "overrule", reason=" ").status_code == 422
    assert step(admin, row, "overrule", reason="Five years abroad.").status_code == 302
    assert step(admin, row, "overrule", reason="Five years abroad.").status_code == 302  # sent twice, stored once
    # The page of a second admin, opened before, would say the same again.
    assert step(admin, row, "overrule", reason="Again.").status_code == 422
    review = ApplicationReview.objects.get()
    assert (review.step, review.passed, review.reason) == ("eligibility", True, "Five years abroad.")
    page = admin.get(f"/b/{call.benchmark.slug}/cohort/applications/{row.public_id}/").content.decode()
    assert "Admit and invite" in page
    assert "Five years abroad." in page


def test_reviews_and_checks_are_never_changed(admin: Client, call: ApplicationCall) -> None:
    row = applicant(call)
    step(admin, row, "licence", register="R", confirmed="no")
    step(admin, row, "decline", reason="No licence.")
    for model, change in ((ApplicationReview, {"reason": "x"}), (LicenceCheck, {"confirmed": True})):
        with pytest.raises(Exception, match="Cannot update"), transaction.atomic():
            model.objects.update(**change)  # type: ignore[attr-defined]
    by = UserFactory()
    with pytest.raises(IntegrityError, match="annotation_applicationreview_reason"), transaction.atomic():
        ApplicationReview.objects.create(
            application=row, step="decision", passed=False, reason="", reviewer=by, at=timezone.now()
        )
    with pytest.raises(IntegrityError, match="annotation_licencecheck_not_own"), transaction.atomic():
        LicenceCheck.objects.create(
            benchmark=call.benchmark, user=by, country="DE", number="1", register="R", confirmed=True, checked_by=by,
            checked_at=timezone.now(),
        )  # fmt: skip


def test_what_is_sent_twice_is_on_record_once(admin: Client, call: ApplicationCall) -> None:
    row = applicant(call)
    check = {"register": "R", "confirmed": "no"}
    for _sent in range(2):
        assert step(admin, row, "licence", **check).status_code == 302
    assert LicenceCheck.objects.count() == 1
    for _sent in range(2):
        assert step(admin, row, "decline", reason="No licence.").status_code == 302
    assert ApplicationReview.objects.count() == 1
    # Another result or reason is another entry, and so is the same one after something else.
    step(admin, row, "licence", register="R", confirmed="yes")
    step(admin, row, "decline", reason="No time.")
    step(admin, row, "licence", **check)
    step(admin, row, "decline", reason="No time.")
    assert list(LicenceCheck.objects.values_list("confirmed", flat=True)) == [False, True, False]
    reasons = list(ApplicationReview.objects.values_list("reason", flat=True))
    assert reasons == ["No licence.", "No time.", "No time."]


def test_the_flow_counts_every_applicant_once(workshop: Workshop, admin: Client, call: ApplicationCall) -> None:
    """By hand: seven apply. One is too young and reads nothing here, one is unlicensed, one is declined, one waits for
    the licence and one for the decision; two are admitted, of whom one has opened the account.
    """
    names = ("young", "unlicensed", "declined", "unchecked", "undecided", "invited", "opened")
    people = {name: applicant(call, email=f"{name}@example.org", name=name) for name in names[1:]}
    people["young"] = applicant(call, email="young@example.org", years_in_practice="1", languages_usual=["de"])
    for name in ("unlicensed", "declined", "undecided", "invited", "opened"):
        step(admin, people[name], "licence", register="R", confirmed="no" if name == "unlicensed" else "yes")
    step(admin, people["declined"], "decline", reason="Conflict of interest.")
    for name in ("invited", "opened"):
        step(admin, people[name], "admit", group=workshop.group.public_id, role="annotator")
    opened = User.objects.get(email="opened@example.org")
    opened.set_password("a long pass phrase")
    opened.save()
    assert counts(workshop) == {
        "applied": (7, 1, 0),
        "eligible": (6, 1, 1),
        "licence": (4, 1, 1),
        "admitted": (2, 0, 1),
        "account": (1, 0, 1),
        "contributed": (0, 0, 0),
    }
    base = f"/b/{workshop.benchmark.slug}/cohort"
    rows = rows_of(admin.get(f"{base}/flow.csv"))
    reasons = {row["reason"]: row["out"] for row in rows if row["reason"]}
    assert reasons == {"years": "1", "language": "1", "not confirmed": "1", "declined": "1"}
    assert labels_of(admin.get(f"{base}/")) == {
        "young": "Not eligible", "unlicensed": "Licence not confirmed", "declined": "Declined",
        "unchecked": "Eligible", "undecided": "Licence confirmed", "invited": "Admitted",
        "opened": "Opened the account",
    }  # fmt: skip
    left = admin.get(f"{base}/?state=out").content.decode()
    assert "declined@example.org" in left
    assert "opened@example.org" not in left
    states = {row["email"].split("@")[0]: row["state"] for row in rows_of(admin.get(f"{base}/applications.csv"))}
    assert states == {
        "young": "out: years, language", "unlicensed": "out: not confirmed", "declined": "out: declined",
        "unchecked": "eligible", "undecided": "licence", "invited": "admitted", "opened": "account",
    }  # fmt: skip
    record = rows_of(admin.get(f"{base}/reviews.csv"))
    assert [row["step"] for row in record if row["name"] == "declined"] == ["licence", "decision"]
    assert {row["by"] for row in record} == {str(workshop.admin)}


def test_who_is_declined_early_is_listed_as_declined(workshop: Workshop, admin: Client, call: ApplicationCall) -> None:
    """Before anybody looked the licence up, and where the call wants no licence."""
    row = applicant(call)
    step(admin, row, "decline", reason="Conflict of interest.")
    url = f"/b/{workshop.benchmark.slug}/cohort/"
    assert labels_of(admin.get(url)) == {"ada": "Declined"}
    ApplicationCall.objects.update(licence_required=False)
    assert labels_of(admin.get(url)) == {"ada": "Declined"}
    step(admin, row, "overrule", reason="Found out.", eligible="0")
    assert labels_of(admin.get(url)) == {"ada": "Not eligible"}


def test_a_check_no_longer_counts_when_the_number_changes(workshop: Workshop, admin: Client) -> None:
    person = workshop.annotator
    profile, _ = PhysicianProfile.objects.update_or_create(
        user=person, defaults={"licence_country": "DE", "licence_number": "1"}
    )
    url = f"/b/{workshop.benchmark.slug}/cohort/licences/"
    sent = {"person": person.pk, "country": "DE", "number": "1", "register": "R", "confirmed": "yes"}
    assert admin.post(url, {**sent, "register": ""}).status_code == 422
    admin.post(url, sent)
    checked = {row["email"]: row["result"] for row in rows_of(admin.get(f"{url[:-1]}.csv"))}
    assert checked[person.email] == "confirmed"
    profile.licence_number = "2"
    profile.save()
    checked = {row["email"]: row["result"] for row in rows_of(admin.get(f"{url[:-1]}.csv"))}
    assert checked[person.email] == ""


def upload(admin: Client, workshop: Workshop, text: str) -> Any:
    file = io.BytesIO(text.encode())
    file.name = "applications.csv"
    return admin.post(f"/b/{workshop.benchmark.slug}/cohort/import/", {"file": file})


def test_applications_of_another_form_are_imported_once(
    workshop: Workshop, admin: Client, call: ApplicationCall
) -> None:
    text = (
        "email,name,languages,years_in_practice,licence_country,licence_number,submitted_at\n"
        "bo@example.org,Bo,English; German,7,de,12,2026-03-01T09:00:00Z\n"
        "cy@example.org,Cy,,3,,,\n"
    )
    assert upload(admin, workshop, text).status_code == 302
    bo, cy = Application.objects.order_by("email")
    assert (bo.languages, bo.licence_country, bo.unmet, bo.submitted_at.year) == (["de", "en"], "DE", [], 2026)
    assert cy.unmet == ["years", "language", "licence"]
    upload(admin, workshop, text)
    assert Application.objects.count() == 2


def test_a_long_file_is_taken_with_few_statements(workshop: Workshop, admin: Client) -> None:
    """More than 3 MB, the limit of other forms, and each application with its event in the trail."""
    statement = "I would like to take part. " * 60
    text = "email,name,statement\n" + "".join(f"p{n}@example.org,Person {n},{statement}\n" for n in range(2_000))
    assert 3_100_000 < len(text) < MAX_FILE_BYTES
    with CaptureQueriesContext(connection) as queries:
        assert upload(admin, workshop, text).status_code == 302
    assert Application.objects.filter(events__pgh_label="insert").distinct().count() == 2_000
    inserts = [query for query in queries if 'INSERT INTO "annotation_application"' in query["sql"]]
    assert len(inserts) == 2
    too_large = text + "x" * (MAX_FILE_BYTES - len(text))
    answer = upload(admin, workshop, too_large + "yy")
    assert (answer.status_code, "larger than 8 MiB" in answer.content.decode()) == (422, True)


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("email,name\nnobody,Bo\n", "email", "not a valid email address"),
        ("email,name,age\nbo@example.org,Bo,50\n", "age", "This column is unknown"),
        ("email,name,seniority\nbo@example.org,Bo,boss\n", "seniority", "is not one of"),
        ("email,name,years_in_practice\nbo@example.org,Bo,many\n", "years_in_practice", "a whole number from 0 to 80"),
        ("email,name,submitted_at\nbo@example.org,Bo,2026-03-01\n", "submitted_at", "a time with its zone"),
        ("email,name,licence_country\nbo@example.org,Bo,Germany\n", "licence_country", "ISO 3166"),
        ("email,name\nbo@example.org,Bo\nBO@example.org,Bo\n", "email", "Line 2 already has this address"),
    ],
)
def test_a_file_with_an_error_is_refused_by_line_and_field(
    workshop: Workshop, admin: Client, text: str, field: str, words: str
) -> None:
    answer = upload(admin, workshop, text)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert f"<code>{field}</code>" in page
    assert words in page
    assert not Application.objects.exists()


def test_rows_without_an_address_are_no_rows_with_the_same(workshop: Workshop, admin: Client) -> None:
    answer = upload(admin, workshop, "email,name\n,Bo\n,Cy\n")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert page.count("<code>email</code>") == 2
    assert "already has this address" not in page


def test_the_form_takes_ten_applications_a_minute_from_an_address(call: ApplicationCall) -> None:
    client = Client()
    answers = [
        client.post(f"/apply/{call.token}/", {**STATED, "email": f"n{number}@example.org"}).status_code
        for number in range(11)
    ]
    assert (answers[9], answers[10]) == (302, 429)


def test_rules_are_set_on_the_page(workshop: Workshop, admin: Client) -> None:
    url = f"/b/{workshop.benchmark.slug}/cohort/call/"
    values = {
        "is_open": "on", "min_years": "3", "specialties": "Neurology\n\nEmergency  medicine\n",
        "languages_usual": ["en"], "countries": ["DE", "CN"], "seniorities": ["senior"], "licence_required": "on",
        "seen": admin.get(url).context["seen"],
    }  # fmt: skip
    assert admin.post(url, values).status_code == 302
    call = ApplicationCall.objects.get()
    assert (call.min_years, call.specialties, call.countries) == (3, ["Neurology", "Emergency medicine"], ["DE", "CN"])
    assert f"/apply/{call.token}/" in admin.get(url).content.decode()
    assert admin.post(url, {**values, "min_years": "-1"}).status_code == 422
    admin.post(url, {"renew": "1"})
    assert ApplicationCall.objects.get().token != call.token


def test_a_call_that_someone_changed_meanwhile_is_not_overwritten(workshop: Workshop, admin: Client) -> None:
    url = f"/b/{workshop.benchmark.slug}/cohort/call/"
    seen = re.search(r'name="seen" value="(\w+)"', admin.get(url).content.decode())[1]  # type: ignore[index]
    first = {"is_open": "on", "min_years": "3", "countries": ["DE"], "licence_required": "on", "seen": seen}
    second = {"min_years": "7", "introduction": "Read this first.", "licence_required": "on", "seen": seen}
    assert admin.post(url, first).status_code == 302
    # Sent twice: what is stored is what is being saved.
    assert admin.post(url, first).status_code == 302

    refused = admin.post(url, second)
    page = " ".join(refused.content.decode().split())
    assert refused.status_code == 409
    assert "Someone changed this call after you opened this page." in page
    assert "<li>Years in practice, at least: 3</li>" in page
    assert "<li>Countries or regions of licence: Germany</li>" in page
    assert "<li>People can apply: Yes</li>" in page
    assert "Read this first." in page and 'value="7"' in page
    call = ApplicationCall.objects.get()
    assert (call.min_years, call.introduction, call.is_open) == (3, "", True)

    assert admin.post(url, {**second, "seen": refused.context["seen"]}).status_code == 302
    call.refresh_from_db()
    assert (call.min_years, call.introduction, call.is_open, call.countries) == (7, "Read this first.", False, [])


def test_a_rotation_plan_is_kept_and_exported(workshop: Workshop, admin: Client) -> None:
    base = f"/b/{workshop.benchmark.slug}/cohort/rotation/"
    people = {str(user) for user in User.objects.filter(memberships__group=workshop.group)}
    values = {
        "title": "First half", "group": workshop.group.public_id, "annotator": 1, "checker": 1, "adjudicator": 0,
        "author": 0, "rounds": len(people), "seed": 5,
    }  # fmt: skip
    too_many = admin.post(base, {**values, "annotator": 99})
    assert too_many.status_code == 422
    assert "The parts need 100 people" in too_many.content.decode()
    assert admin.post(base, values).status_code == 302
    page = admin.get(base).content.decode()
    assert all(name in page for name in people)
    plan = workshop.benchmark.rotation_plans.get()
    rows = rows_of(admin.get(f"{base}{plan.public_id}.csv"))
    assert {row["name"] for row in rows if row["part"] == "checker"} == people
    assert len(rows) == 2 * len(people)


def test_the_report_on_the_cohort_has_the_counts_of_the_flow(
    workshop: Workshop, admin: Client, call: ApplicationCall
) -> None:
    """By hand: one applicant is too young; one physician has graded, too few for any credential to be shown."""
    applicant(call, years_in_practice="2")
    PhysicianProfile.objects.update_or_create(
        user=workshop.annotator,
        defaults={"specialty": "Surgery", "languages": ["en"], "licence_country": "DE", "licence_number": "1"},
    )
    decide(workshop.queue()[0], "met", "met", "met")
    report = reports.create_report(benchmark=workshop.benchmark, kind="cohort", parameters={}, at=timezone.now())
    reports.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    (applied, *_others) = table_of(report, "flow").dicts()
    assert applied == {"step": "applied", "reached": 1, "out": 1, "waiting": 0}
    assert table_of(report, "flow_reasons").dicts() == [{"step": "applied", "reason": "years", "n": 1}]
    assert table_of(report, "credentials").dicts() == table_of(report, "languages").dicts() == []
    (licences,) = table_of(report, "licences").dicts()
    assert (licences["n_with_number"], licences["n_confirmed"]) == (1, 0)
    page = admin.get(f"/b/{workshop.benchmark.slug}/{report.section}/{report.public_id}/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "figure-svg" in text
    assert '<th scope="col" ></th>' not in text and "Credential</th>" in text
    assert "Years in practice: 1" in text
    assert "Surgery" not in text


def test_languages_of_few_people_are_other() -> None:
    """By hand: three read English. German and Chinese have one reader each, so together two: not even “other”."""
    people = []
    for number, languages in enumerate([["de", "en"], ["en"], ["en"], ["zh"]]):
        person = UserFactory(username=f"reader{number}")
        PhysicianProfile.objects.create(user=person, languages=languages)
        people.append(person)
    assert language_counts(people) == (("en", 3),)
    PhysicianProfile.objects.filter(user=people[1]).update(languages=["en", "fr"])
    assert language_counts(list(User.objects.filter(pk__in=[person.pk for person in people]))) == (
        ("en", 3), ("other", 3),
    )  # fmt: skip


def test_the_api_takes_the_steps_in_their_order(workshop: Workshop, call: ApplicationCall) -> None:
    row = applicant(call)
    api = APIClient()
    api.force_authenticate(workshop.admin)
    base = f"/api/v1/benchmarks/{workshop.benchmark.slug}"
    url = f"{base}/applications/{row.public_id}/reviews/"
    admit = {"step": "admit", "group": workshop.group.name}
    assert api.post(url, admit, format="json").status_code == 409
    assert api.post(url, {"step": "licence", "register": "R"}, format="json").status_code == 422
    for _sent in range(2):  # the answer to the first was lost
        answer = api.post(url, {"step": "licence", "register": "R", "confirmed": True}, format="json")
        assert (answer.status_code, len(answer.json()["reviews"])) == (201, 1)
    refused = api.post(url, {**admit, "group": "None such"}, format="json")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "group")
    answer = api.post(url, admit, format="json").json()
    assert (answer["reached"], answer["out"]) == ("admitted", False)
    assert [line["step"] for line in answer["reviews"]] == ["licence", "decision"]
    listed = api.get(f"{base}/applications/").json()
    assert [line["email"] for line in listed["results"]] == ["ada@example.org"]
    steps = {line["step"]: line["reached"] for line in api.get(f"{base}/cohort/flow/").json()}
    assert (steps["applied"], steps["admitted"], steps["account"]) == (1, 1, 0)


def lists_read(queries: CaptureQueriesContext) -> int:
    """How many statements read all applications of a benchmark."""
    whole = re.compile(r'FROM "annotation_application" .*WHERE "annotation_application"."benchmark_id" = \d+ ORDER BY')
    return sum(whole.search(query["sql"]) is not None for query in queries)


def test_the_list_is_read_once_for_its_page_and_never_for_one_application(
    workshop: Workshop, admin: Client, call: ApplicationCall
) -> None:
    row, other = applicant(call), applicant(call, email="bo@example.org", years_in_practice="2")
    with CaptureQueriesContext(connection) as queries:
        admin.get(f"/b/{workshop.benchmark.slug}/cohort/")
    assert lists_read(queries) == 1
    api = APIClient()
    api.force_authenticate(workshop.admin)
    base = f"/api/v1/benchmarks/{workshop.benchmark.slug}/applications/"
    answers = []
    with CaptureQueriesContext(connection) as queries:
        for public_id, path, body in (
            (row.public_id, "reviews", {"step": "licence", "register": "R", "confirmed": True}),
            (row.public_id, "reviews", {"step": "admit", "group": workshop.group.name}),
            (other.public_id, "reviews", {"step": "decline", "reason": "Too young."}),
            (other.public_id, "erase", {}),
        ):
            answers.append(api.post(f"{base}{public_id}/{path}/", body, format="json").json())
    assert lists_read(queries) == 0
    listed = {line["id"]: line for line in api.get(base).json()["results"]}
    for answer in (answers[1], answers[3]):  # the last of each application
        stored = listed[answer["id"]]
        assert {name: answer[name] for name in stored} == stored
    assert [(answer["reached"], answer["out"], answer["reasons"]) for answer in answers] == [
        ("licence", False, []), ("admitted", False, []), ("applied", True, ["years"]), ("applied", True, ["years"]),
    ]  # fmt: skip


def test_the_command_imports_all_lines_or_none(workshop: Workshop, tmp_path: Path) -> None:
    path = tmp_path / "applications.jsonl"
    good = {"email": "bo@example.org", "name": "Bo", "languages": ["English", "de"], "years_in_practice": 7}
    path.write_text(json.dumps(good) + "\n" + json.dumps({"email": "cy@example.org"}) + "\n")
    err = io.StringIO()
    with pytest.raises(CommandError, match="1 faults"):
        call_command("import_applications", str(path), "--benchmark", workshop.benchmark.slug, stderr=err)
    assert "line 2, name: This field is missing." in err.getvalue()
    assert not Application.objects.exists()
    path.write_text(json.dumps(good) + "\n")
    out = io.StringIO()
    call_command("import_applications", str(path), "--benchmark", workshop.benchmark.slug, stdout=out)
    assert "applications: 1 created, 0 unchanged" in out.getvalue()
    assert Application.objects.get().languages == ["de", "en"]


def test_nobody_reviews_their_own_application(workshop: Workshop, admin: Client, call: ApplicationCall) -> None:
    row = applicant(call, email=workshop.admin.email)
    for name, fields in (
        ("licence", {"register": "R", "confirmed": "yes"}),
        ("decline", {"reason": "x"}),
        ("overrule", {"reason": "x"}),
    ):
        answer = step(admin, row, name, **fields)
        assert answer.status_code == 422
        assert "has to be reviewed by someone else" in answer.content.decode()
    assert not ApplicationReview.objects.exists()
    assert not LicenceCheck.objects.exists()


def test_members_stay_in_the_flow_when_the_rules_change(
    workshop: Workshop, admin: Client, call: ApplicationCall
) -> None:
    ApplicationCall.objects.update(licence_required=False)
    row = applicant(call)
    step(admin, row, "admit", group=workshop.group.public_id, role="annotator")
    ApplicationCall.objects.update(licence_required=True)
    assert counts(workshop)["admitted"] == (1, 0, 1)
    assert step(admin, row, "licence", register="R", confirmed="no").status_code == 422


def test_an_invitation_keeps_what_the_application_brought(
    workshop: Workshop, admin: Client, call: ApplicationCall, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"  # so that the link is shown
    row = applicant(call)
    step(admin, row, "licence", register="R", confirmed="yes")
    link = step(admin, row, "admit", group=workshop.group.public_id, role="annotator").context["link"]
    client = Client()
    form = client.get(link).context["form"]
    sent = {name: form[name].value() for name in ("name", "specialty", "licence_country", "licence_number")}
    sent |= {"years_in_practice": form["years_in_practice"].value(), "languages_usual": ["en"]}
    sent |= {"password": "four quiet rivers", "again": "four quiet rivers", "language": "en", "time_zone": "UTC"}
    assert client.post(link, sent).status_code == 302
    profile = PhysicianProfile.objects.get(user__email="ada@example.org")
    assert (profile.licence_country, profile.licence_number, profile.years_in_practice) == ("DE", "B-4711", 6)
    rows = rows_of(admin.get(f"/b/{row.benchmark.slug}/cohort/licences.csv"))
    assert {line["email"]: line["result"] for line in rows}["ada@example.org"] == "confirmed"
