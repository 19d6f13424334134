"""Operators deactivate accounts and give rights: on the pages, by command and through the API."""

from __future__ import annotations

import csv
import io
import threading
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ApiToken, Invitation, SecurityEvent, User
from accounts.services.invitations import invite
from accounts.services.rights import LastOperator, set_rights
from annotation.models import Assignment, Membership
from rubrics.models import BenchmarkRole
from tests.accounts.second_step_tools import let_time_pass
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import PASSWORD, BenchmarkFactory, ExpertGroupFactory, UserFactory, token_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LIST = "/server/accounts/"


@pytest.fixture
def operator() -> User:
    return UserFactory(email="op@example.org", name="Opal", is_superuser=True)


@pytest.fixture
def client(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client


@pytest.fixture
def workshop() -> Workshop:
    return build_workshop()


def page_of(person: User) -> str:
    return f"{LIST}{person.username}/"


def deactivate(client: Client, person: User, reason: str = "left the clinic") -> Any:
    return client.post(f"{page_of(person)}deactivate/", {"reason": reason})


def listed(client: Client, query: str) -> list[str]:
    """The addresses in the table of accounts, as its file has them."""
    answer = client.get(f"/server/accounts.csv?{query}")
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return [row["email"] for row in csv.DictReader(io.StringIO(text))]


def test_the_list_is_searched_and_filtered(client: Client, operator: User) -> None:
    person = UserFactory(email="ana@example.org", name="Ana Ruiz", last_login=timezone.now())
    UserFactory(email="gone@example.org", name="Gone", is_active=False)
    invited = UserFactory(email="ned@example.org", name="Ned New", last_login=None)
    invited.set_unusable_password()
    invited.save()
    UserFactory(email="", name="imported rater")
    benchmark = BenchmarkFactory(title="Secret title", admin=person)
    ExpertGroupFactory(benchmark=BenchmarkFactory()).memberships.create(user=person, role="annotator")
    Authenticator.objects.create(user=person, type="totp", data={})
    Authenticator.objects.create(user=operator, type="recovery_codes", data={})
    assert listed(client, "q=RUIZ") == listed(client, "q=ana%40ex") == ["ana@example.org"]
    assert listed(client, "state=deactivated") == ["gone@example.org"]
    assert listed(client, "state=invited") == ["ned@example.org"]
    assert listed(client, "state=operators") == ["op@example.org"]
    assert listed(client, "state=active") == ["ana@example.org", "op@example.org"]
    assert "" not in listed(client, "")
    assert client.get(f"{LIST}?state=nonsense").status_code == 422
    page = client.get(f"{LIST}?q=nobody-has-this").content.decode()
    assert "No account matches" in page
    assert client.get(f"{LIST}imported/").status_code == 404
    text = client.get(LIST).content.decode()
    assert benchmark.title not in text
    answer = client.get("/server/accounts.csv?q=ana")
    [row] = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))  # type: ignore[attr-defined]
    assert (row["benchmarks"], row["second_step"], row["state"]) == ("2", "true", "active")
    [own] = client.get("/api/v1/accounts/?state=operators").json()["results"]
    assert own["second_step"] is False, "recovery codes alone are no second step"


def test_a_page_has_fifty_and_as_many_queries_for_five_as_for_fifty(client: Client) -> None:
    for _number in range(4):
        UserFactory()
    client.get(LIST)
    with CaptureQueriesContext(connection) as few:
        client.get(LIST)
    for number in range(60):
        UserFactory(name=f"Row {number}")
    with CaptureQueriesContext(connection) as many:
        page = client.get(LIST).content.decode()
    assert page.count('<th scope="row">') == 50
    assert len(many) <= len(few) + 1, "the pages are counted"


def test_a_deactivated_account_has_no_way_in_and_its_work_goes_back(client: Client, workshop: Workshop) -> None:
    person = workshop.annotator
    second = ExpertGroupFactory(benchmark=BenchmarkFactory())
    second.memberships.create(user=person, role="checker")
    now = timezone.now()
    Invitation.objects.create(
        user=person, scope="elsewhere", title="Elsewhere", part="annotator", created_at=now, link_shown_at=now,
        expires_at=now + timedelta(days=9),
    )  # fmt: skip
    token_of(person)
    own = Client()
    own.force_login(person)
    assert own.get("/profile/").status_code == 200
    assert Assignment.objects.filter(annotator=person, status__in=Assignment.OPEN).exists()
    assert deactivate(client, person).status_code == 302
    person.refresh_from_db()
    assert not person.is_active
    assert own.get("/profile/").status_code == 302
    assert ApiToken.objects.get(user=person).revoked_at is not None
    assert not Membership.objects.filter(user=person, active=True).exists()
    assert not Assignment.objects.filter(annotator=person, status__in=Assignment.OPEN).exists()
    assert Invitation.objects.get(scope="elsewhere").withdrawn_at is not None
    assert deactivate(client, person).status_code == 422
    event = SecurityEvent.objects.get(kind="account_deactivated")
    assert (event.user, event.by and event.by.email) == (person, "op@example.org")
    assert event.values == {"reason": "left the clinic"}
    assert client.post(f"{page_of(person)}activate/").status_code == 302
    person.refresh_from_db()
    assert person.is_active
    assert SecurityEvent.objects.get(kind="account_activated").user == person
    assert not Membership.objects.filter(user=person, active=True).exists(), "its roles stay stopped"


def test_a_reason_is_needed_and_nobody_deactivates_themselves(client: Client, operator: User) -> None:
    person = UserFactory()
    answer = deactivate(client, person, reason="  ")
    assert answer.status_code == 422
    assert 'id="id_reason_error"' in answer.content.decode()
    UserFactory(is_superuser=True)
    assert deactivate(client, operator).status_code == 422
    assert User.objects.filter(is_active=False).count() == 0


def test_what_a_benchmarks_admin_ended_an_operator_takes_over(client: Client, workshop: Workshop) -> None:
    User.objects.filter(pk=workshop.admin.pk).update(is_staff=True)
    admin = Client()
    admin.force_login(workshop.admin)
    person, url = workshop.annotator, f"/b/{workshop.benchmark.slug}/people/account/"
    admin.post(url, {"person": person.pk, "active": "0"})
    event = SecurityEvent.objects.get(kind="account_deactivated")
    assert (event.scope, event.by) == (workshop.benchmark.slug, workshop.admin)
    assert deactivate(client, person).status_code == 302
    admin.post(url, {"person": person.pk, "active": "1"})
    person.refresh_from_db()
    assert not person.is_active, "an admin cannot undo what an operator did"


def test_the_only_admin_of_a_benchmark_keeps_that_role(client: Client) -> None:
    person = UserFactory()
    alone = BenchmarkFactory(admin=person)
    shared = BenchmarkFactory(admin=person)
    BenchmarkRole.objects.create(benchmark=shared, user=UserFactory(), role="admin")
    deactivate(client, person)
    page = client.get(page_of(person)).content.decode()
    assert "1 benchmark has no other admin, so that role was not stopped." in page
    assert [role.benchmark for role in BenchmarkRole.objects.filter(user=person, active=True)] == [alone]


def test_rights_are_given_and_withdrawn_and_logged(client: Client, operator: User) -> None:
    person = UserFactory()
    url = f"{page_of(person)}rights/"
    client.post(url, {"operator": "on", "creates_benchmarks": "on"})
    person.refresh_from_db()
    assert (person.is_superuser, person.is_staff) == (True, True)
    client.post(url, {"creates_benchmarks": "on"})
    person.refresh_from_db()
    assert (person.is_superuser, person.is_staff) == (False, True)
    events = SecurityEvent.objects.filter(kind="rights_changed").order_by("pk")
    assert [event.values["operator"] for event in events] == [True, False]
    assert {event.by for event in events} == {operator}
    client.post(url, {"creates_benchmarks": "on"})
    assert events.count() == 2, "what changes nothing is not logged"


def test_at_least_one_operator_remains(client: Client, operator: User) -> None:
    UserFactory(is_superuser=True, is_active=False)  # does not count: cannot sign in
    url = f"{page_of(operator)}rights/"
    refused = client.post(url, {})
    assert refused.status_code == 422
    assert "The server needs at least one operator." in refused.content.decode()
    with pytest.raises(CommandError, match="at least one operator"):
        call_command("deactivate_account", "op@example.org", "--reason", "test")
    UserFactory(is_superuser=True)
    assert client.post(url, {}).status_code == 302
    assert client.get(LIST).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_operators_who_withdraw_each_others_right_at_once_leave_one() -> None:
    for _round in range(5):
        User.objects.all().update(is_superuser=False)
        pair = [UserFactory(is_superuser=True) for _ in range(2)]
        barrier = threading.Barrier(2)
        refusals: list[str] = []

        def withdraw(person: User, barrier: threading.Barrier = barrier, refusals: list[str] = refusals) -> None:
            barrier.wait(10)
            try:
                set_rights(person=person, creates_benchmarks=False, operator=False, by=None, at=timezone.now())
            except LastOperator as refused:
                refusals.append(str(refused))
            finally:
                connection.close()

        threads = [threading.Thread(target=withdraw, args=[person]) for person in pair]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert User.objects.filter(is_superuser=True, is_active=True).count() == 1
        assert len(refusals) == 1


def test_the_commands_do_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    person = UserFactory(email="ana@example.org")
    call_command("deactivate_account", "Ana@Example.org", "--reason", "  asked for it ")
    person.refresh_from_db()
    assert not person.is_active
    assert SecurityEvent.objects.get().values == {"reason": "asked for it"}
    with pytest.raises(CommandError, match="already deactivated"):
        call_command("deactivate_account", "ana@example.org", "--reason", "again")
    with pytest.raises(CommandError, match="reason must have"):
        call_command("deactivate_account", "ana@example.org", "--reason", " ")
    call_command("activate_account", "ana@example.org")
    person.refresh_from_db()
    assert person.is_active
    with pytest.raises(CommandError, match="No account has the address"):
        call_command("activate_account", "nobody@example.org")
    assert "ana@example.org can sign in again." in capsys.readouterr().out


def test_open_invitations_are_withdrawn_on_record(client: Client, operator: User) -> None:
    person, at = UserFactory(email="ana@example.org"), timezone.now()
    for slug in ("cardio", "derma"):
        invite(user=person, scope=slug, title=slug, part="author", by=operator, at=at)
    deactivate(client, person)
    lines = SecurityEvent.objects.filter(kind="invitation_withdrawn").order_by("pk")
    assert [(line.user, line.by, line.scope) for line in lines] == [
        (person, operator, "cardio"),
        (person, operator, "derma"),
    ]
    assert not Invitation.objects.filter(withdrawn_at=None).exists()


def test_the_api_does_the_same_for_operators_alone(client: Client) -> None:
    person = UserFactory(email="ana@example.org", name="Ana")
    [row] = client.get("/api/v1/accounts/?q=ana").json()["results"]
    assert (row["email"], row["state"], row["operator"]) == ("ana@example.org", "active", False)
    assert client.get("/api/v1/accounts/?state=nonsense").status_code == 400

    def post(path: str, **body: str) -> Any:
        return client.post(f"/api/v1/accounts/{path}/", body, content_type="application/json")

    assert "reason" in post("deactivate", email="ana@example.org").json()
    assert post("deactivate", email="nobody@example.org", reason="x").status_code == 404
    assert post("deactivate", email="ana@example.org", reason="left").json()["state"] == "deactivated"
    assert post("deactivate", email="ana@example.org", reason="left").status_code == 409
    assert post("activate", email="ana@example.org").json()["state"] == "active"
    client.force_login(person)
    assert client.get("/api/v1/accounts/").status_code == 404
    assert post("deactivate", email="op@example.org", reason="x").status_code == 404


def test_who_tries_to_sign_in_learns_of_the_deactivation_by_the_right_password_alone() -> None:
    UserFactory(email="ana@example.org", is_active=False)
    UserFactory(email="bo@example.org")
    signed = {"login": "ana@example.org", "password": PASSWORD}
    page = Client().post("/accounts/login/", signed, follow=True)
    assert page.request["PATH_INFO"] == "/accounts/inactive/"
    assert "ask your study coordinator or the server administrator" in page.content.decode()
    wrong = [
        Client().post("/accounts/login/", {"login": f"{name}@example.org", "password": "wrong"}).content.decode()
        for name in ("ana", "bo", "nobody")
    ]
    alerts = [text[text.index('role="alert"') :].split("</")[0] for text in wrong]
    assert alerts[0] == alerts[1] == alerts[2]


def test_rights_and_accounts_change_only_after_a_confirmation(client: Client) -> None:
    person = UserFactory(email="ana@example.org")
    let_time_pass(client)
    for what, sent in (("rights", {"operator": "on"}), ("deactivate", {"reason": "x"}), ("activate", {})):
        answer = client.post(f"{page_of(person)}{what}/", sent)
        assert (answer.status_code, "Confirm who you are" in answer.content.decode()) == (403, True), what
        refused = client.post(f"/api/v1/accounts/{what}/", {"email": person.email, "reason": "x"}, "application/json")
        assert what == "rights" or refused.json()["code"] == "confirmation_required"
    person.refresh_from_db()
    assert (person.is_active, person.is_superuser) == (True, False)
    proof = {"confirmation": "password", "confirmation-password": PASSWORD}
    assert client.post(f"{page_of(person)}rights/", {"operator": "on", **proof}).status_code == 302
    person.refresh_from_db()
    assert person.is_superuser
