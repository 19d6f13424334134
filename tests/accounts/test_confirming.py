"""A signature needs a proof of who is there; what was sent is kept until then, and carried out once."""

from __future__ import annotations

import re
import time
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import ApiToken, SecurityEvent, User, UserSession
from agreement.models import ThresholdChoice
from rubrics.models import Benchmark, BenchmarkRole
from tests.accounts.oidc_provider import running_provider
from tests.accounts.second_step_tools import code_of, kept_fields, let_time_pass, set_up_app, signed_in
from tests.accounts.test_sign_on import sign_on
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory, token_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SIGN = "/b/study/calibration/sign/"
API = "/api/v1/benchmarks/study/thresholds/"
SENT = {"k": "3", "reason": "Agreed with <the board>,\nin May", "seen": "0"}


@pytest.fixture
def admin() -> User:
    return UserFactory(email="ada@example.org", name="Ada")


@pytest.fixture
def benchmark(admin: User) -> Benchmark:
    return BenchmarkFactory(slug="study", title="The study", admin=admin)


@pytest.fixture
def client(admin: User, benchmark: Benchmark) -> Client:
    """A session of the admin in which nothing was proved for an hour."""
    client = signed_in(admin)
    let_time_pass(client)
    return client


def lines(kind: str) -> list[dict[str, Any]]:
    return [line.values for line in SecurityEvent.objects.filter(kind=kind).order_by("pk")]


def test_a_sign_in_within_five_minutes_is_enough(admin: User, benchmark: Benchmark) -> None:
    client = signed_in(admin)
    let_time_pass(client, 295)
    assert client.post(SIGN, SENT).status_code == 302
    [signed] = lines("signed")
    assert (signed["what"], signed["target"], signed["way"]) == ("threshold", "1", "sign_in")
    let_time_pass(client, 10)
    assert client.post(SIGN, {**SENT, "seen": "1"}).status_code == 403
    assert ThresholdChoice.objects.count() == 1


def test_the_password_is_asked_for_and_what_was_sent_is_then_carried_out(admin: User, client: Client) -> None:
    answer = client.post(f"{SIGN}?report=", SENT)
    assert answer.status_code == 403
    page = answer.content.decode()
    assert "Confirm who you are" in page and "You sign the threshold of a benchmark." in page
    assert "script" not in answer.headers.get("Location", "")
    kept = kept_fields(page)
    assert kept == SENT
    assert not ThresholdChoice.objects.exists()

    wrong = client.post(SIGN, {**kept, "confirmation": "password", "confirmation-password": "not this one"})
    assert wrong.status_code == 422
    assert "Incorrect password." in wrong.content.decode()
    assert kept_fields(wrong.content.decode()) == SENT
    assert not ThresholdChoice.objects.exists()

    right = client.post(SIGN, {**kept, "confirmation": "password", "confirmation-password": PASSWORD})
    assert right.status_code == 302
    choice = ThresholdChoice.objects.get()
    assert (choice.k, choice.reason, choice.signed_by) == (3, SENT["reason"], admin)
    assert [values["way"] for values in lines("reauthentication_failed")] == ["password"]
    assert [values["way"] for values in lines("reauthenticated")] == ["password"]
    [signed] = lines("signed")
    assert (signed["way"], signed["target"]) == ("password", "1")
    assert PASSWORD not in str(list(SecurityEvent.objects.values_list("values", flat=True)))
    page = " ".join(client.get("/b/study/calibration/").content.decode().split())
    moment = date_format(timezone.localtime(choice.signed_at), "DATETIME_FORMAT")
    meaning = "approves k = 3 as the threshold for the scores of this benchmark."
    assert f"Signed by Ada on {moment} UTC: {meaning}" in page
    # The proof counts for the next signature, too.
    assert client.post(SIGN, {**SENT, "k": "4", "seen": "1"}).status_code == 302


def test_a_confirmed_session_goes_on_under_another_key(admin: User, benchmark: Benchmark, settings: Any) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"  # as on a server
    client = signed_in(admin)
    let_time_pass(client)
    earlier = client.session.session_key
    sent = {**SENT, "confirmation": "password", "confirmation-password": PASSWORD}
    assert client.post(SIGN, sent).status_code == 302
    assert client.get("/session").json()["signed_in"] is True
    [row] = UserSession.objects.filter(user=admin)
    assert row.session_key == client.session.session_key != earlier


def test_a_refused_form_comes_back_at_its_own_address_after_the_confirmation(client: Client) -> None:
    proof = {"confirmation": "password", "confirmation-password": PASSWORD}
    refused = client.post(SIGN, {**SENT, "reason": " ", **proof})
    assert refused.status_code == 422
    page = refused.content.decode()
    assert "A threshold without a calibration requires a reason." in page
    assert PASSWORD not in page and "confirmation" not in page


def test_a_code_of_the_app_or_a_recovery_code_confirms_as_well(admin: User, client: Client, settings: Any) -> None:
    fresh = signed_in(admin)
    secret, _page = set_up_app(fresh)
    let_time_pass(fresh)
    page = fresh.post(SIGN, SENT).content.decode()
    assert "Code from your authenticator app, or a recovery code" in page
    wrong = fresh.post(SIGN, {**SENT, "confirmation": "code", "confirmation-code": "000000"})
    assert (wrong.status_code, "Incorrect code." in wrong.content.decode()) == (422, True)
    settings.MFA_TOTP_TOLERANCE = 1  # a code counts once; the one of the set-up is that of these thirty seconds
    next_code = code_of(secret, at=time.time() + 30)
    done = fresh.post(SIGN, {**SENT, "confirmation": "code", "confirmation-code": next_code})
    assert done.status_code == 302
    assert [values["way"] for values in lines("reauthenticated")] == ["totp"]
    let_time_pass(fresh)
    recovery = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    sent = {**SENT, "seen": "1", "confirmation": "code", "confirmation-code": recovery}
    assert fresh.post(SIGN, sent).status_code == 302
    assert [values["way"] for values in lines("signed")] == ["totp", "recovery_codes"]


def test_guesses_are_limited_and_the_form_is_kept(client: Client) -> None:
    statuses, texts = [], []
    for number in range(12):
        proof = {"confirmation": "password", "confirmation-password": f"guess {number}"}
        answer = client.post(SIGN, {**SENT, **proof})
        statuses.append(answer.status_code)
        texts.append(answer.content.decode())
    assert set(statuses) == {422}
    assert "Too many" in texts[-1]
    assert kept_fields(texts[-1]) == SENT
    refused = client.post(SIGN, {**SENT, "confirmation": "password", "confirmation-password": PASSWORD})
    assert refused.status_code == 422  # while it lasts, the right one does not help either
    assert not ThresholdChoice.objects.exists()


@pytest.mark.parametrize(
    ("address", "sent", "sentence"),
    [
        ("/b/study/releases/new/", {"version": "1.0"}, "You make a release of a benchmark."),
        ("/b/study/reference-sets/new/", {}, "You sign a reference set."),
        ("/b/study/planning/acuity/1/sign", {}, "You sign the plan of a study."),
        ("/b/study/settings/second-step/", {"action": "stop"}, "You change who needs a second step"),
        ("/b/study/people/", {"email": "b@example.org", "role": "admin"}, "You give someone a role that manages"),
    ],
)
def test_every_signature_asks(client: Client, address: str, sent: dict[str, str], sentence: str) -> None:
    answer = client.post(address, sent)
    assert answer.status_code == 403
    assert sentence in answer.content.decode()
    assert kept_fields(answer.content.decode()) == sent
    assert not BenchmarkRole.objects.filter(user__email="b@example.org").exists()


def test_a_researcher_is_added_without_a_confirmation_and_an_admin_by_a_list_is_not(client: Client) -> None:
    assert client.post("/b/study/people/", {"email": "r@example.org", "role": "researcher"}).status_code in (200, 302)
    assert BenchmarkRole.objects.filter(user__email="r@example.org").exists()
    address = "/b/study/groups/people/"
    shown = client.post(address, {"text": "email,role\nboss@example.org,admin\n", "role": "researcher", "group": ""})
    form = shown.context["form"]
    sent = {"text": form["text"].value(), "digest": form["digest"].value(), "role": "researcher", "step": "add"}
    assert client.post(address, sent).status_code == 403
    assert not BenchmarkRole.objects.filter(user__email="boss@example.org").exists()
    proof = {"confirmation": "password", "confirmation-password": PASSWORD}
    assert client.post(address, {**sent, **proof}).status_code in (200, 302)
    assert BenchmarkRole.objects.filter(user__email="boss@example.org", role="admin").exists()


def test_the_api_takes_a_token_and_refuses_a_session_without_a_recent_proof(admin: User, client: Client) -> None:
    sent = {"k": 3, "reason": "by the board", "seen": 0}
    refused = client.post(API, sent, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_required")
    staff = {"email": "b@example.org", "role": "admin"}
    refused = client.post("/api/v1/benchmarks/study/staff/", staff, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_required")
    by_token = Client(headers={"Authorization": f"Token {token_of(admin)}"})
    assert by_token.post(API, sent, content_type="application/json").status_code == 201
    [signed] = lines("signed")
    assert (signed["way"], "proved_at" in signed) == ("api_token", False)
    fresh = signed_in(admin)
    assert fresh.post(API, {**sent, "seen": 1}, content_type="application/json").status_code == 201


def test_strangers_learn_nothing(benchmark: Benchmark) -> None:
    """Whoever has no access gets the same page for a benchmark that is there and for one that is not."""
    client = signed_in(UserFactory())
    let_time_pass(client)
    for slug in ("study", "nothing"):
        assert client.post(f"/b/{slug}/calibration/sign/", SENT).status_code == 403
        proof = {"confirmation": "password", "confirmation-password": PASSWORD}
        assert client.post(f"/b/{slug}/calibration/sign/", {**SENT, **proof}).status_code == 404
        let_time_pass(client)


def test_people_of_single_sign_on_go_through_their_provider_again(
    admin: User, benchmark: Benchmark, settings: Any
) -> None:
    with running_provider() as provider:
        settings.SOCIALACCOUNT_PROVIDERS = provider.settings()
        settings.OIDC_NAME = "Clinic sign-on"
        admin.set_unusable_password()
        admin.save()
        provider.says({"email": "ada@example.org", "email_verified": True})
        client = Client()
        sign_on(client)
        assert SocialAccount.objects.filter(user=admin).exists()
        # Their sessions need no second step of ours.
        settings.REQUIRE_SECOND_FACTOR = "all"
        assert client.get("/b/study/").status_code == 200
        let_time_pass(client)
        answer = client.post(SIGN, SENT)
        page = answer.content.decode()
        assert answer.status_code == 403 and "Sign in again with Clinic sign-on" in page
        [begin] = re.findall(r'action="(/accounts/oidc/sso/login/[^"]+)"', page)
        target = client.post(begin, {"process": "login", "next": "/profile/confirmed/"}).content.decode()
        assert "prompt=login" in target and "max_age=0" in target
        provider.signed_in_at = time.time() - 3600
        sign_on(client)  # their provider does not ask
        assert client.post(SIGN, SENT).status_code == 403
        sign_on(client, begin=begin)
        [key] = re.findall(r'name="next" value="(/profile/confirmed/\?key=[^"]+)"', page)
        assert SIGN not in signed_in(UserFactory()).get(key).content.decode()  # another person finds nothing there
        back = client.get(key).content.decode()
        assert f'action="{SIGN}"' in back
        assert kept_fields(back) == SENT
        [kept] = re.findall(r'name="confirmation-kept" value="([^"]+)"', back)
        assert client.post(SIGN, {**kept_fields(back), "confirmation-kept": kept}).status_code == 302
        assert ThresholdChoice.objects.get().signed_by == admin
        assert "Nothing waits to be carried out." in client.get(key).content.decode(), "it is not sent twice"
        assert "Nothing waits to be carried out." in client.get("/profile/confirmed/").content.decode()


@pytest.mark.parametrize(
    ("claims", "counts"),
    [
        ({"auth_time": None}, False),
        ({"auth_time": "now"}, False),
        ({"auth_time": True}, False),
        ({"auth_time": int(time.time()) + 86_400}, True),  # in the future: now
        ({"auth_time": int(time.time()) - 3600}, False),
    ],
)
def test_a_sign_on_counts_from_when_its_person_signed_in_at_the_provider(
    admin: User, benchmark: Benchmark, settings: Any, claims: dict[str, Any], counts: bool
) -> None:
    with running_provider() as provider:
        settings.SOCIALACCOUNT_PROVIDERS = provider.settings()
        settings.OIDC_NAME = "Clinic sign-on"
        provider.says({"email": "ada@example.org", "email_verified": True})
        provider.id_token.update(claims)
        client = Client()
        sign_on(client)
        assert client.post(SIGN, SENT).status_code == (302 if counts else 403)
        let_time_pass(client, 310)
        assert client.post(SIGN, {**SENT, "seen": "1"}).status_code == 403
        # Nor may they change how they sign in.
        assert client.get("/accounts/2fa/totp/activate/").status_code == 302


# Who has neither a password nor a second step ------------------------------------------------------------------------


@pytest.fixture
def of_sign_on(admin: User, benchmark: Benchmark, settings: Any) -> Client:
    """A session of somebody who has single sign-on alone, and proved nothing for an hour."""
    settings.OIDC_NAME = "Clinic sign-on"
    admin.set_unusable_password()
    admin.save()
    SocialAccount.objects.create(user=admin, provider="sso", uid="person-1")
    client = Client()
    client.force_login(admin)
    let_time_pass(client)
    return client


@pytest.mark.parametrize(
    "page",
    ["/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/add/", "/accounts/password/set/"],
)
def test_who_has_single_sign_on_alone_is_asked_before_they_add_another_way_to_sign_in(
    of_sign_on: Client, page: str
) -> None:
    page_of_proof = of_sign_on.get(page)
    text = page_of_proof.content.decode()
    assert (page_of_proof.status_code, "Sign in again with Clinic sign-on" in text) == (403, True)
    assert "You change how you sign in." in text and "What you sent is kept" not in text
    assert f'name="next" value="{page}"' in text
    let_time_pass(of_sign_on, -3600)
    assert of_sign_on.get(page).status_code == 200


def test_a_first_password_needs_a_proof_and_revokes_the_tokens(of_sign_on: Client, admin: User) -> None:
    token_of(admin)
    sent = {"password1": PASSWORD, "password2": PASSWORD, "revoke_tokens": "on"}
    for before in (True, False):
        assert of_sign_on.post("/accounts/password/set/", sent).status_code == 302
        admin.refresh_from_db()
        assert admin.has_usable_password() is not before
        assert (ApiToken.objects.get().revoked_at is None) is before
        let_time_pass(of_sign_on, -3600)


def test_who_has_single_sign_on_alone_makes_no_token_without_a_proof(of_sign_on: Client) -> None:
    sent = {"name": "Mine", "scopes": ["read", "run"], "benchmark": "", "expires": "30"}
    page_of_proof = of_sign_on.post("/profile/api-tokens/", sent)
    assert page_of_proof.status_code == 403
    assert not ApiToken.objects.exists()
    [key] = re.findall(r'name="next" value="(/profile/confirmed/[?]key=[^"]+)"', page_of_proof.content.decode())
    let_time_pass(of_sign_on, -3600)
    back = of_sign_on.get(key).content.decode()
    assert 'name="scopes" value="read"' in back and 'name="scopes" value="run"' in back
    assert of_sign_on.post("/profile/api-tokens/", sent).status_code == 200
    assert ApiToken.objects.get().name == "Mine"


def test_a_token_that_was_not_made_on_the_page_signs_nothing(admin: User, benchmark: Benchmark) -> None:
    out = StringIO()
    call_command("api_token", admin.email, "--name", "x", "--scope", "run", "--scope", "read", stdout=out)
    by_command = Client(headers={"Authorization": f"Token {out.getvalue().strip()}"})
    assert by_command.get(API).status_code == 200
    refused = by_command.post(API, {"k": 3, "reason": "x", "seen": 0}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_required")
    assert not ThresholdChoice.objects.exists()
