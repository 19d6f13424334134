"""The API tokens of a person: made behind the password, shown once, kept as a hash, used within limits, revoked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.core.management import CommandError, call_command
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, Notification, SecurityEvent, User
from accounts.notices import words_of
from accounts.services import api_tokens
from tests.accounts.second_step_tools import kept_fields, let_time_pass
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory, token_of
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
PAGE = "/profile/api-tokens/"
STUDY = "/api/v1/benchmarks/study/"
KEY = re.compile(r"data-link>(consilium_[0-9A-Za-z]{40})<")
READ_FOR_A_MONTH = {"name": "Notebook", "scopes": ["read"], "benchmark": "", "expires": "30"}
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def person(client: Client) -> User:
    user: User = UserFactory()
    BenchmarkFactory(slug="study", researcher=user)
    client.force_login(user)
    return user


@pytest.fixture
def signed(client: Client, person: User) -> Client:
    """The person, who has just given the password again."""
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def with_key(key: str, word: str = "Token") -> Client:
    return Client(headers={"Authorization": f"{word} {key}"})


def refusal_of(key: str) -> tuple[int, str]:
    answer = with_key(key).get(STUDY)
    return answer.status_code, "" if answer.status_code == 200 else answer.json()["detail"]


def make(person: User, **values: Any) -> tuple[ApiToken, str]:
    at = values.pop("at", timezone.now())
    values = {"name": "A script", "scopes": ["read"], "expires_at": at + timedelta(days=30), "by": person} | values
    return api_tokens.make_token(user=person, at=at, **values)


# Making --------------------------------------------------------------------------------------------------------------


def test_a_token_needs_the_password_and_what_was_filled_in_is_kept_meanwhile(client: Client, person: User) -> None:
    assert "No tokens yet" in client.get(PAGE).content.decode()
    let_time_pass(client)
    to_password = client.post(PAGE, READ_FOR_A_MONTH)
    assert to_password.status_code == 403 and "You make an API token." in to_password.content.decode()
    assert not ApiToken.objects.exists()
    kept = kept_fields(to_password.content.decode())
    proof = {"confirmation": "password", "confirmation-password": "something else"}
    wrong = client.post(PAGE, kept | proof)
    assert not KEY.search(wrong.content.decode()) and not ApiToken.objects.exists()

    created = client.post(PAGE, kept | proof | {"confirmation-password": PASSWORD})
    [key] = KEY.findall(created.content.decode())
    assert "no-store" in created["Cache-Control"]
    token = ApiToken.objects.get()
    assert (token.name, token.scopes, token.benchmark) == ("Notebook", ["read"], "")
    assert token.expires_at - token.created_at == timedelta(days=30)
    assert token.prefix == key[:16]
    assert refusal_of(key) == (200, "")

    again = client.get(PAGE).content.decode()
    assert key not in again and key[:16] in again and "Notebook" in again
    event = SecurityEvent.objects.get(kind="api_token_made")
    assert (event.user, event.by, event.address) == (person, person, "127.0.0.1")
    assert event.values["name"] == "Notebook" and event.values["scopes"] == ["read"]
    notice = Notification.objects.get(user=person, kind="account")
    assert words_of(notice).text == "A new API token was made for your account."
    assert words_of(notice).detail.startswith("Its name is “Notebook”.")


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"name": ""}, "name", "This field is required."),
        ({"scopes": []}, "scopes", "This field is required."),
        ({"scopes": ["everything"]}, "scopes", "Select a valid choice."),
        ({"benchmark": "hidden"}, "benchmark", "Select a valid choice."),
        ({"expires": "1000"}, "expires", "Select a valid choice."),
        ({"expires": "date"}, "expires_on", "Enter the date."),
        ({"expires": "date", "expires_on": "2020-01-01"}, "expires_on", "Choose a day from today on"),
        ({"expires": "date", "expires_on": "2999-01-01"}, "expires_on", "Choose a day from today on"),
    ],
)
def test_a_wrong_entry_is_refused_beside_its_field(
    signed: Client, change: dict[str, Any], field: str, message: str
) -> None:
    BenchmarkFactory(slug="hidden")
    refused = signed.post(PAGE, READ_FOR_A_MONTH | change)
    assert refused.status_code == 422
    assert message in str(refused.context["form"].errors[field])
    assert not ApiToken.objects.exists()


def test_a_date_of_expiry_is_a_whole_day_where_the_reader_is(signed: Client, person: User) -> None:
    User.objects.filter(pk=person.pk).update(time_zone="Asia/Shanghai")
    day = (timezone.now() + timedelta(days=10)).date()
    signed.post(PAGE, READ_FOR_A_MONTH | {"expires": "date", "expires_on": day.isoformat()})
    # The day ends in Shanghai at 16:00 UTC.
    assert ApiToken.objects.get().expires_at == datetime(day.year, day.month, day.day, 16, tzinfo=UTC)


def test_nobody_has_more_than_twenty_tokens_that_work(signed: Client, person: User) -> None:
    for _number in range(19):
        make(person)
    make(person, at=NOON - timedelta(days=400))  # expired: it does not count
    assert signed.post(PAGE, READ_FOR_A_MONTH).status_code == 200
    refused = signed.post(PAGE, READ_FOR_A_MONTH)
    assert refused.status_code == 422
    assert "There are already 20 API tokens. Revoke one first." in refused.content.decode()
    api_tokens.revoke_token(token=ApiToken.objects.latest("pk"), by=person, at=timezone.now())
    assert signed.post(PAGE, READ_FOR_A_MONTH).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_who_is_deactivated_at_the_same_moment_gets_no_token(signed: Client, person: User) -> None:
    def ask() -> Any:
        try:
            return signed.post(PAGE, READ_FOR_A_MONTH)
        finally:
            connection.close()

    def is_waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            )
            return bool(cursor.fetchone()[0])

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            User.objects.filter(pk=person.pk).update(is_active=False)
            answer = pool.submit(ask)
            wait_until(is_waiting, message="the request waits for this transaction")
        assert answer.result().status_code == 422
    assert "This account is deactivated" in answer.result().content.decode()
    assert not ApiToken.objects.exists()


def test_the_database_refuses_what_no_token_may_be(person: User) -> None:
    token, _key = make(person)
    row = {"user": person, "name": "x", "prefix": "x", "created_at": NOON, "expires_at": NOON + timedelta(days=1)}
    for number, change in enumerate(
        [
            {"scopes": []},
            {"scopes": ["read", "all"]},
            {"expires_at": NOON},
            {"expires_at": NOON + timedelta(days=366, seconds=1)},
            {"token_hash": token.token_hash},
            {"revoked_by": person},
        ]
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiToken.objects.create(**({"scopes": ["read"], "token_hash": str(number)} | row | change))
    ApiToken.objects.create(**row | {"scopes": ["read"], "token_hash": "a", "expires_at": NOON + timedelta(days=366)})
    rows = ApiToken.objects.filter(pk=token.pk)
    for change in (
        {"scopes": ["admin"]},
        {"benchmark": "study"},
        {"expires_at": token.expires_at + timedelta(seconds=1)},
        {"token_hash": "b"},
        {"user": UserFactory()},
    ):
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            rows.update(**change)
    rows.update(revoked_at=NOON)
    with pytest.raises(DatabaseError, match="A revoked token stays revoked"), transaction.atomic():
        rows.update(revoked_at=None)


def text_columns() -> Iterator[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
            " USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
            " AND data_type IN ('text', 'character varying', 'character', 'jsonb', 'json', 'ARRAY', 'bytea')"
        )
        yield from cursor.fetchall()


def test_the_key_is_in_no_table(signed: Client, person: User) -> None:
    [key] = KEY.findall(signed.post(PAGE, READ_FOR_A_MONTH).content.decode())
    assert refusal_of(key) == (200, "")
    token = ApiToken.objects.get()
    signed.post(f"{PAGE}{token.public_id}/revoke/")
    assert refusal_of(key)[0] == 401
    places: dict[str, list[tuple[str, str]]] = {"key": [], "hash": []}
    with connection.cursor() as cursor:
        for table, column in text_columns():
            for what, text in (("key", key.removeprefix("consilium_")), ("hash", token.token_hash)):
                cursor.execute(
                    f'SELECT EXISTS (SELECT FROM "{table}" WHERE strpos("{column}"::text, %s) > 0)',
                    [text],
                )
                if cursor.fetchone()[0]:  # type: ignore[index]
                    places[what].append((table, column))
    assert places == {"key": [], "hash": [("accounts_apitoken", "token_hash")]}
    assert token.token_hash == hashlib.sha256(key.encode()).hexdigest()


# Use -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["Token", "token", "Bearer", "bearer"])
def test_a_token_is_accepted_after_either_word(person: User, word: str) -> None:
    key = token_of(person)
    assert with_key(key, word).get(STUDY).status_code == 200


@pytest.mark.parametrize("sent", ["", "x", "consilium_" + "a" * 40, "two words", "ä", "consilium_\x00"])
def test_an_unknown_token_is_refused_with_401(person: User, sent: str) -> None:
    token_of(person)
    answer = with_key(sent).get(STUDY)
    assert (answer.status_code, answer.json()) == (401, {"detail": "This API token is not known."})
    assert answer["WWW-Authenticate"] == "Bearer"
    assert not SecurityEvent.objects.filter(kind="api_token_refused").exists()


def test_without_a_token_the_answer_is_as_before(person: User) -> None:
    assert Client().get(STUDY).status_code == 403
    assert with_key("x", "Basic").get(STUDY).status_code == 403


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        (timedelta(days=30, seconds=-1), (200, "")),
        (timedelta(days=30), (401, "This API token has expired.")),
        (timedelta(days=30, seconds=1), (401, "This API token has expired.")),
    ],
)
def test_a_token_works_until_the_moment_of_its_expiry(
    person: User, since: timedelta, expected: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _token, key = make(person, at=NOON)
    monkeypatch.setattr(timezone, "now", lambda: NOON + since)
    assert refusal_of(key) == expected


def test_the_last_use_is_written_at_most_once_an_hour(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    token, key = make(person, at=NOON)

    def use(minute: int, address: str = "127.0.0.1") -> tuple[datetime | None, str | None]:
        monkeypatch.setattr(timezone, "now", lambda: NOON + timedelta(minutes=minute))
        assert with_key(key).get(STUDY, REMOTE_ADDR=address).status_code == 200
        token.refresh_from_db()
        return token.last_used_at, token.last_used_address

    assert token.last_used_at is None
    assert use(1) == (NOON + timedelta(minutes=1), "127.0.0.1")
    assert use(60, "10.0.0.2") == (NOON + timedelta(minutes=1), "127.0.0.1")
    assert use(61, "10.0.0.2") == (NOON + timedelta(minutes=61), "10.0.0.2")
    assert token.events.count() == 1, "a use is no change of the token"


def test_a_refused_token_is_logged_once_an_hour(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    token, key = make(person, at=NOON)
    other, other_key = make(person, at=NOON)
    for each in (token, other):
        api_tokens.revoke_token(token=each, by=person, at=NOON)
    for minute in (1, 2, 60):
        monkeypatch.setattr(timezone, "now", lambda minute=minute: NOON + timedelta(minutes=minute))
        assert refusal_of(key) == (401, "This API token was revoked.")
    events = SecurityEvent.objects.filter(kind="api_token_refused")
    event = events.get()
    assert (event.user, event.by, event.values["reason"]) == (person, None, "revoked")
    assert refusal_of(other_key)[0] == 401
    assert events.count() == 2
    monkeypatch.setattr(timezone, "now", lambda: NOON + timedelta(minutes=61))
    assert refusal_of(key)[0] == 401
    assert events.count() == 3


def test_a_session_is_not_limited_by_scopes(client: Client, person: User) -> None:
    assert client.get(STUDY).status_code == 200


def test_the_token_of_a_deactivated_account_says_no_more_than_an_unknown_one(person: User) -> None:
    key = token_of(person)
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert refusal_of(key) == (401, "This API token is not known.")


# Revoking ------------------------------------------------------------------------------------------------------------


def test_one_token_or_all_are_revoked(client: Client, person: User) -> None:
    keys = [token_of(person) for _number in range(3)]
    first = ApiToken.objects.earliest("pk")
    page = client.post(f"{PAGE}{first.public_id}/revoke/", follow=True).content.decode()
    assert "The token “Of a test” was revoked." in page
    assert "1 revoked token" in " ".join(page.split())
    assert [refusal_of(key)[0] for key in keys] == [401, 200, 200]
    assert "2 API tokens were revoked." in client.post(f"{PAGE}revoke-all/", follow=True).content.decode()
    assert [refusal_of(key)[0] for key in keys] == [401, 401, 401]
    assert [(e.user, e.by) for e in SecurityEvent.objects.filter(kind="api_token_revoked")] == [(person, person)] * 3


def test_nobody_revokes_the_token_of_somebody_else(client: Client, person: User) -> None:
    other = UserFactory()
    key = token_of(other)
    BenchmarkFactory.create(slug="theirs", researcher=other)
    assert client.post(f"{PAGE}{other.api_tokens.get().public_id}/revoke/").status_code == 404
    client.post(f"{PAGE}revoke-all/")
    assert with_key(key).get("/api/v1/benchmarks/theirs/").status_code == 200


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("way", ["change", "reset"])
def test_a_new_password_revokes_the_tokens_unless_that_is_unticked(
    client: Client, person: User, way: str, kept: bool
) -> None:
    key = token_of(person)
    new = "another battery of horses"
    values = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    address = "/accounts/password/change/"
    if way == "reset":
        client = Client()
        uid = user_pk_to_url_str(person)
        opened = client.get(f"/accounts/password/reset/key/{uid}-{default_token_generator.make_token(person)}/")
        address = opened["Location"]
        values.pop("oldpassword")
    page = client.get(address).content.decode()
    assert re.search(r'name="revoke_tokens"[^>]*checked', page)
    answer = client.post(address, values | ({} if kept else {"revoke_tokens": "on"}))
    assert answer.status_code == 302, answer.content.decode()
    person.refresh_from_db()
    assert person.check_password(new)
    assert refusal_of(key)[0] == (200 if kept else 401)
    revoked = SecurityEvent.objects.filter(kind="api_token_revoked")
    assert [event.address for event in revoked] == ([] if kept else ["127.0.0.1"])


def test_without_tokens_a_new_password_asks_nothing(client: Client, person: User) -> None:
    make(person, at=NOON - timedelta(days=400))
    assert "revoke_tokens" not in client.get("/accounts/password/change/").content.decode()


def test_an_expired_token_is_shown_as_such(client: Client, person: User) -> None:
    make(person, at=NOON - timedelta(days=400))
    assert '<dt class="expired">Expired</dt>' in client.get(PAGE).content.decode()


# Notices -------------------------------------------------------------------------------------------------------------


def test_a_week_before_it_expires_the_owner_is_notified_once(person: User) -> None:
    token, _key = make(person, at=NOON)  # until 1 April
    make(person, at=NOON, expires_at=NOON + timedelta(days=7))  # who makes one for a week knows
    revoked, _key = make(person, at=NOON)
    api_tokens.revoke_token(token=revoked, by=person, at=NOON)
    Notification.objects.all().delete()
    due = token.expires_at - timedelta(days=7)
    assert api_tokens.notify_of_expiry(at=due - timedelta(seconds=1)) == 0
    assert api_tokens.notify_of_expiry(at=due) == 1
    assert api_tokens.notify_of_expiry(at=due + timedelta(hours=1)) == 0
    words = words_of(Notification.objects.get())
    assert words.text == "One of your API tokens expires on 1 April 2026, 12:00."
    assert words.detail.startswith("Its name is “A script”.")


def test_an_expired_token_is_announced_no_longer(person: User) -> None:
    token, _key = make(person, at=NOON)
    Notification.objects.all().delete()
    assert api_tokens.notify_of_expiry(at=token.expires_at) == 0


# The command ---------------------------------------------------------------------------------------------------------


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("api_token", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def test_the_command_prints_a_key_and_revokes_by_name(person: User) -> None:
    key = command(person.email, "--name", "Nightly", "--scope", "read", "--scope", "run", "--benchmark", "study")
    assert refusal_of(key) == (200, "")
    token = ApiToken.objects.get()
    assert (token.scopes, token.benchmark) == (["read", "run"], "study")
    assert token.expires_at - token.created_at == timedelta(days=90)
    event = SecurityEvent.objects.get(kind="api_token_made")
    assert (event.user, event.by, event.scope) == (person, None, "study")
    assert command(person.email.upper(), "--name", "Nightly", "--revoke") == "Tokens revoked: 1."
    assert refusal_of(key)[0] == 401
    with pytest.raises(CommandError, match="has no token 'Nightly'"):
        command(person.email, "--name", "Nightly", "--revoke")


def test_the_command_refuses_what_the_page_refuses(person: User) -> None:
    BenchmarkFactory(slug="hidden")
    for arguments, message in (
        (["nobody@example.org", "--name", "x"], "No account has the address"),
        ([person.email, "--name", " "], "--name must have 1 to 60 characters"),
        ([person.email, "--name", "x", "--benchmark", "hidden"], "has no part in a benchmark 'hidden'"),
        ([person.email, "--name", "x", "--days", "367"], "Choose an expiry within the next 366 days"),
        ([person.email, "--name", "x", "--days", "0"], "Choose an expiry within the next 366 days"),
        ([person.email, "--name", "x", "--scope", "all"], "invalid choice"),
    ):
        with pytest.raises(CommandError, match=message):
            command(*arguments)
    assert not ApiToken.objects.exists()


def test_pages_lead_to_the_tokens_and_to_the_documentation(client: Client, person: User) -> None:
    assert f'href="{PAGE}"' in client.get("/profile/").content.decode()
    for page in (PAGE, "/b/study/"):
        assert 'href="/api/v1/docs/"' in client.get(page).content.decode()
