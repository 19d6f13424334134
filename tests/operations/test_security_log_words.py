"""What services write into the security log is said in words, of each kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts.models import SecurityEvent, User, UserSession
from accounts.services import api_tokens, invitations
from accounts.services.access_ends import remove_second_factor
from accounts.services.confirmations import record_failure, record_signature
from accounts.services.people import person_of
from accounts.services.rights import set_rights
from accounts.services.sessions import end_idle_session, end_sessions, note_device
from annotation.people.deactivation import activate_account, deactivate_account
from consilium.core.jobs import JobStatus
from operations.models import Backup
from operations.security_log.words import sentence
from operations.services.backups import BACKUPS, after_restore
from rubrics.models import Benchmark
from rubrics.services.second_step import require_second_step, stop_requiring_second_step
from scoring.keys.grants import grant_key, withdraw_key
from tests.accounts.second_step_tools import set_up_app, signed_in
from tests.factories import BenchmarkFactory, UserFactory
from tests.operations.unclear_lines import unclear_lines

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def ana() -> User:
    return UserFactory(name="Ana", email="ana@example.org")


@pytest.fixture
def olga() -> User:
    return UserFactory(name="Olga", is_superuser=True)


@pytest.fixture
def cardio() -> Benchmark:
    return BenchmarkFactory(slug="cardio")


def sentences() -> list[str]:
    """The sentences of all lines, oldest first."""
    assert unclear_lines() == []
    return [sentence(event) for event in SecurityEvent.objects.order_by("pk")]


def test_rights_are_in_words_whoever_gives_them(ana: User, olga: User, settings: Any) -> None:
    set_rights(person=ana, creates_benchmarks=True, operator=False, by=olga, at=AT)
    set_rights(person=ana, creates_benchmarks=True, operator=True, by=None, at=AT)
    call_command("add_person", "bo@example.org", "--name", "Bo", "--operator", "--no-password")
    assert sentences() == [
        "Olga changed the rights of Ana (may create benchmarks, is not an operator)",
        "The rights of Ana changed (may create benchmarks, is an operator)",
        "A command made the account of Bo (by command)",
        "The rights of Bo changed (is an operator)",
    ]


def test_who_removed_a_second_step_and_which(ana: User, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        set_up_app(signed_in(ana))
    remove_second_factor(user=ana, at=AT)
    texts = sentences()
    assert "Ana added a second step (code of an authenticator app)" in texts
    assert texts[-1] == "A command removed a second step of Ana (code of an authenticator app)"
    for kind in (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN):
        Authenticator.objects.create(user=ana, type=kind, data={})
    remove_second_factor(user=ana, at=AT)
    assert sentences()[-1] == (
        "A command removed a second step of Ana (code of an authenticator app, security key or passkey)"
    )


@pytest.mark.parametrize(
    ("kind", "target", "text"),
    [
        ("threshold", 2, "Ana signed version 2 of the threshold (API token)"),
        ("acuity_plan", 3, "Ana signed plan 3 (API token)"),
        ("reference_set", 4, "Ana signed reference set 4 (API token)"),
        ("release", "1.0", "Ana signed release 1.0 (API token)"),
    ],
)
def test_a_line_says_what_was_signed(ana: User, olga: User, kind: str, target: Any, text: str) -> None:
    request = RequestFactory().post("/")
    request.user = ana
    record_signature(user=ana, kind=kind, scope="cardio", target=target, at=AT, request=request, by_token=True)
    assert sentences() == [text]
    client = Client()
    client.force_login(olga)
    page = client.get("/server/security-log/?group=signatures")
    assert [line.text for line in page.context["lines"]] == [text]


def test_accounts_invitations_and_tokens(ana: User, olga: User) -> None:
    person_of(email="list@example.org", name="Li", way="list")
    invitations.invite(user=ana, scope="cardio", title="Cardio", part="author", by=olga, at=AT)
    token, _key = api_tokens.make_token(
        user=ana, name="of_a script", scopes=["read", "admin"], expires_at=AT + timedelta(days=9), by=None, at=AT
    )
    api_tokens.record_refusal(token=token, reason="expired", at=AT, request=RequestFactory().get("/"))
    deactivate_account(person=ana, reason="left the clinic", by=olga, at=AT)
    activate_account(person=ana, by=olga, at=AT)
    _other, _key = api_tokens.make_token(
        user=ana, name="second", scopes=["grade"], benchmark="cardio", expires_at=AT + timedelta(days=9), by=ana, at=AT
    )
    api_tokens.revoke_all_tokens(user=ana, by=ana, at=AT)
    assert sorted(sentences()) == sorted(
        [
            "The account of Li was made (from a list of people)",
            "Olga invited Ana (author, by email)",
            "A command made the API token “of_a script” of Ana (read, administer)",
            "The API token “of_a script” of Ana was refused (expired, read, administer)",
            "A command withdrew the invitation of Ana",
            "Olga deactivated the account of Ana",
            "Olga revoked the API token “of_a script” of Ana (read, administer)",
            "Olga activated the account of Ana",
            "Ana made the API token “second” (grade)",
            "Ana revoked the API token “second” (grade)",
        ]
    )


def test_sessions_and_confirmations(ana: User, settings: Any) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"  # in the database
    client, _other = signed_in(ana), signed_in(ana)
    rows = UserSession.objects.exclude(session_key=client.session.session_key)
    end_sessions(rows=rows, user=ana, at=AT, request=RequestFactory().get("/"))
    record_failure(user=ana, request=None, way="recovery_codes")
    for device in ("one", "two"):
        note_device(device=device, user=ana, at=timezone.now(), request=RequestFactory().get("/"))
    request = RequestFactory().get("/")
    request.session = client.session
    request.user = ana
    end_idle_session(request=request, at=timezone.now())
    assert {
        "Ana signed in (password)",
        "Ana ended sessions of their own (1 session)",
        "A session of Ana ended after a time without activity",
        "Ana signed in on a new device",
        "Someone signed in as Ana failed to confirm who they are (recovery code)",
    } <= set(sentences())


def test_rules_keys_and_backups(cardio: Benchmark, olga: User) -> None:
    require_second_step(benchmark=cardio, since=AT, by=olga, at=AT)
    stop_requiring_second_step(benchmark=cardio, by=olga, at=AT)
    grant_key(name="SET_API_KEY", benchmark=None, by=olga, at=AT)
    grant_key(name="SET_API_KEY", benchmark=cardio, by=None, at=AT)
    withdraw_key(name="SET_API_KEY", benchmark=cardio, by=olga, at=AT)
    for by, source in ((olga, "page"), (None, "schedule"), (None, "command")):
        backup = Backup.objects.create(created_by=by, source=source, created_at=AT)
        BACKUPS.ended(backup, status=JobStatus.DONE, at=AT)
        BACKUPS.ended(backup, status=JobStatus.FAILED, at=AT)
    after_restore(at=AT, values={"made_at": AT.isoformat(), "same": True})
    assert sentences() == [
        "Olga required a second step of everybody in the benchmark (from 1 March 2026, 12:00)",
        "Olga no longer required a second step in the benchmark",
        "Olga granted the key “SET_API_KEY” of an endpoint (for all benchmarks)",
        "A command granted the key “SET_API_KEY” of an endpoint",
        "Olga withdrew the key “SET_API_KEY” of an endpoint",
        "Olga made a backup",
        "A backup that Olga started failed",
        "A backup was made (by schedule)",
        "A backup failed (by schedule)",
        "A backup was made (by command)",
        "A backup failed (by command)",
        "A backup was restored (made at 1 March 2026, 12:00, the content is the same)",
    ]
