"""The first account: a page that takes a code from the terminal, once, as long as nobody has an account."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from threading import Barrier

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.test import Client
from django.utils import timezone

from accounts.models import SetupCode, User
from accounts.services.first_run import new_setup_code
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PERSON = {
    "email": "Ada@Example.org",
    "name": "Ada",
    "password": "seven quiet herons",
    "again": "seven quiet herons",
    "language": "en",
    "time_zone": "Asia/Shanghai",
}
PAGE = "/first-run/"


@pytest.fixture(autouse=True)
def _no_attempts() -> None:
    cache.clear()


@pytest.fixture
def code() -> str:
    return new_setup_code(at=timezone.now())


def test_until_there_is_an_account_every_page_leads_to_the_one_that_makes_it(client: Client, code: str) -> None:
    answer = client.get("/", follow=True)
    assert [address for address, _status in answer.redirect_chain] == ["/accounts/login/?next=/", PAGE]
    assert "Code from the terminal" in answer.content.decode()
    assert "study coordinator" not in answer.content.decode()  # whoever makes this account is the one who coordinates
    assert "The people who run your benchmarks see this name." in answer.content.decode()
    assert code not in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]


def test_the_code_makes_one_account_of_an_operator_who_may_make_benchmarks(client: Client, code: str) -> None:
    typed = code.replace("-", " ").lower()
    answer = client.post(PAGE, {**PERSON, "code": typed}, follow=True)
    assert "New benchmark" in answer.content.decode()
    user = User.objects.get()
    assert (user.email, user.name, user.is_staff, user.is_superuser) == ("ada@example.org", "Ada", True, True)
    assert user.time_zone == "Asia/Shanghai"
    assert Client().login(email="ada@example.org", password=PERSON["password"])
    assert not SetupCode.objects.exists()
    again = Client().post(PAGE, {**PERSON, "email": "eve@example.org", "code": code}, follow=True)
    assert "The first account already exists." in again.content.decode()
    assert User.objects.count() == 1
    assert Client().get(PAGE, follow=True).redirect_chain == [("/accounts/login/", 302)]


@pytest.mark.parametrize("wrong", ["AAAA-AAAA-AAAA-AAAA", "", "8XZD"])
def test_another_code_makes_no_account(client: Client, code: str, wrong: str) -> None:
    answer = client.post(PAGE, {**PERSON, "code": wrong})
    assert answer.status_code == 422
    text = answer.content.decode()
    assert ("Copy the latest code from the terminal" if wrong else "This field is required.") in text
    assert not User.objects.exists()
    assert SetupCode.objects.exists()


def test_codes_cannot_be_tried_without_end(client: Client, code: str) -> None:
    statuses = [client.post(PAGE, {**PERSON, "code": "A"}).status_code for _attempt in range(12)]
    assert statuses == [422] * 10 + [429] * 2


def test_all_that_is_wrong_is_named_at_once(client: Client, code: str) -> None:
    wrong = {"code": "AAAA-AAAA-AAAA-AAAA", "email": "ada", "name": "", "password": "heron", "again": "herons"}
    answer = client.post(PAGE, {**PERSON, **wrong})
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == set(wrong)
    page = answer.content.decode()
    assert page.count("Copy the latest code from the terminal") == 1
    assert "The two passwords do not match." in page
    assert "at least 10 characters" in page


def test_a_weak_password_uses_up_no_code(client: Client, code: str) -> None:
    answer = client.post(PAGE, {**PERSON, "code": code, "password": "Ada", "again": "Ada"})
    assert answer.status_code == 422
    assert client.post(PAGE, {**PERSON, "code": code}).status_code == 302


def test_a_new_code_replaces_the_one_before(client: Client, code: str) -> None:
    newer = new_setup_code(at=timezone.now())
    assert newer != code
    assert client.post(PAGE, {**PERSON, "code": code}).status_code == 422
    assert client.post(PAGE, {**PERSON, "code": newer}).status_code == 302


def test_any_account_ends_the_first_run_in_the_database(client: Client, code: str) -> None:
    with connection.cursor() as cursor:  # past every service
        cursor.execute(
            "INSERT INTO accounts_user (username, email, password, is_superuser, is_staff, is_active, first_name, "
            "last_name, date_joined, name, time_zone, language) "
            "VALUES ('x', '', '!', false, false, true, '', '', now(), '', 'UTC', 'en')"
        )
    assert not SetupCode.objects.exists()
    assert client.post(PAGE, {**PERSON, "code": code}).status_code == 302
    assert User.objects.count() == 1


def test_there_is_one_code_at_most(code: str) -> None:
    with pytest.raises(IntegrityError, match="accounts_setupcode_one"):
        SetupCode.objects.create(id=2, code_hash="x", created_at=timezone.now())


def test_with_an_account_there_is_no_code(client: Client) -> None:
    UserFactory()
    assert new_setup_code(at=timezone.now()) == ""
    with pytest.raises(CommandError, match="Somebody has an account already"):
        call_command("setup_code")
    assert "Sign in" in client.get(PAGE, follow=True).content.decode()


def test_the_command_prints_a_code_for_servers_that_start_otherwise(client: Client) -> None:
    printed, hint = StringIO(), StringIO()
    call_command("setup_code", stdout=printed, stderr=hint)
    assert re.fullmatch(r"(?:[A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}\n", printed.getvalue())
    assert hint.getvalue() == "Enter it at http://localhost:8000/first-run/\n"
    assert client.post(PAGE, {**PERSON, "code": printed.getvalue()}).status_code == 302


def test_the_code_is_neither_stored_nor_logged(client: Client, code: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert code.replace("-", "") not in str(SetupCode.objects.values().get())
    client.post(PAGE, {**PERSON, "code": code})
    assert code not in "".join(capfd.readouterr())


@pytest.mark.django_db(transaction=True)
def test_of_many_requests_at_once_one_makes_an_account() -> None:
    code = new_setup_code(at=timezone.now())
    barrier = Barrier(6)

    def post(number: int) -> str:
        barrier.wait(30)
        try:
            answer = Client().post(PAGE, {**PERSON, "email": f"a{number}@example.org", "code": code})
            return str(answer["Location"])
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        addresses = sorted(pool.map(post, range(6)))
    assert User.objects.count() == 1
    assert addresses == ["/"] + ["/accounts/login/"] * 5
