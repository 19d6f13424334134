"""Single sign-on through a real provider on loopback: whose account it leads to, and what those read who get none."""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts import openid
from accounts.models import ApiToken, SecurityEvent, User
from accounts.services.sign_on import SignOnRefused, refuse_other_domains
from tests.accounts.oidc_provider import Provider, Shape, running_provider
from tests.factories import PASSWORD, UserFactory, token_of

pytestmark = pytest.mark.django_db
BEGIN = "/accounts/oidc/sso/login/"


@pytest.fixture(scope="module")
def _served() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(_served: Provider, settings: Any) -> Iterator[Provider]:
    settings.SOCIALACCOUNT_PROVIDERS = _served.settings()
    settings.OIDC_NAME = "Clinic sign-on"
    yield _served
    _served.reset()


@pytest.fixture
def ana() -> User:
    return UserFactory(email="ana@example.org", name="Ana Ruiz")


def sign_on(client: Client, process: str = "login", begin: str = BEGIN, **headers: str) -> Any:
    """Go to the provider as a browser would, and come back with its code."""
    page = client.post(begin, {"process": process}, headers=headers)
    (target,) = re.findall(r'content="0;url=([^"]+)"', page.content.decode()) or [page.get("Location")]
    url = urlsplit(unescape(target))
    connection = http.client.HTTPConnection(url.netloc)
    connection.request("GET", f"{url.path}?{url.query}")
    back = urlsplit(connection.getresponse().headers["Location"])
    connection.close()
    return client.get(f"{back.path}?{back.query}", headers=headers, follow=True)


def signed_in(client: Client) -> bool:
    return bool(client.get("/session").json()["signed_in"])


@pytest.mark.slow
def test_first_sign_on_leads_to_the_account_and_keeps_its_password(
    client: Client, provider: Provider, ana: User
) -> None:
    provider.says({"email": "Ana@Example.org", "email_verified": True})
    answer = sign_on(client)
    assert answer.redirect_chain[-1][0] == "/"
    assert "Welcome, Ana Ruiz" in answer.content.decode()
    ana.refresh_from_db()
    assert ana.check_password(PASSWORD)
    assert Client().login(email="ana@example.org", password=PASSWORD)
    assert SocialAccount.objects.get().user == ana
    assert User.objects.count() == 1


@pytest.mark.slow
def test_the_next_sign_on_leads_to_the_same_account_whatever_its_address_is_now(provider: Provider, ana: User) -> None:
    provider.says({"email": "ana@example.org", "email_verified": True})
    sign_on(Client())
    provider.says({"email": "ana.ruiz@example.org", "email_verified": True})
    again = Client()
    assert "Welcome, Ana Ruiz" in sign_on(again).content.decode()
    assert SocialAccount.objects.count() == 1


@pytest.mark.slow
def test_a_second_identity_with_the_same_address_is_refused(client: Client, provider: Provider, ana: User) -> None:
    provider.says({"sub": "person-1", **TRUE})
    sign_on(Client())
    provider.says({"sub": "person-2", **TRUE})
    answer = sign_on(client)
    assert answer.status_code == 403
    assert not signed_in(client)
    assert [account.uid for account in SocialAccount.objects.filter(user=ana)] == ["person-1"]
    text = answer.content.decode()
    assert "ana@example.org is already connected to another sign-in at Clinic sign-on." in text
    assert "Contact the server administrator." in text


@pytest.mark.slow
@pytest.mark.parametrize("email", ["eve@example.org", "ana@example.org"])
def test_nothing_is_connected_in_an_open_session(client: Client, provider: Provider, ana: User, email: str) -> None:
    client.force_login(ana)
    provider.says({"email": email, "email_verified": True})
    answer = sign_on(client, process="connect")
    assert answer.status_code == 403
    assert "Nothing was connected" in answer.content.decode()
    assert not SocialAccount.objects.exists()
    event = SecurityEvent.objects.get(kind="sign_on_refused")
    assert (event.user, event.values) == (ana, {"reason": "no_sign_in"})
    assert sign_on(Client(), process="redirect").status_code == 403


@pytest.mark.slow
def test_nobody_disconnects_an_identity_in_an_open_session(client: Client, provider: Provider, ana: User) -> None:
    provider.says(TRUE)
    sign_on(client)
    identity = SocialAccount.objects.get()
    for address in ("/accounts/3rdparty/", "/accounts/social/connections/"):
        page = client.get(address, follow=True)
        assert page.redirect_chain[-1][0] == "/profile/"
        assert "Third-Party" not in page.content.decode()
        client.post(address, {"account": identity.pk})
    assert SocialAccount.objects.get() == identity


@pytest.mark.slow
def test_an_identity_that_the_operator_disconnected_makes_room_for_the_next(
    client: Client, provider: Provider, ana: User, settings: Any
) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"  # as on a server
    provider.says({"sub": "person-1", **TRUE})
    before = Client()
    sign_on(before)
    token_of(ana)
    call_command("disconnect_sign_on", "Ana@example.org")
    assert SecurityEvent.objects.get(kind="sign_on_disconnected").user == ana
    assert not signed_in(before)
    assert ApiToken.objects.get(user=ana).revoked_at is not None
    with pytest.raises(CommandError, match="is connected"):
        call_command("disconnect_sign_on", "ana@example.org")
    provider.says({"sub": "person-2", **TRUE})
    sign_on(client)
    assert signed_in(client)
    assert SocialAccount.objects.get(user=ana).uid == "person-2"


# Shapes of what providers say of the address: Keycloak, Okta and Google say that it is verified; Entra says nothing.
TRUE = {"email": "ana@example.org", "email_verified": True}
AS_TEXT = {"email": "ana@example.org", "email_verified": "true"}
MISSING = {"email": "ana@example.org", "preferred_username": "ana@example.org", "name": "Ana Ruiz"}
NULL = {"email": "ana@example.org", "email_verified": None}
FALSE = {"email": "ana@example.org", "email_verified": False}
FALSE_AS_TEXT = {"email": "ana@example.org", "email_verified": "false"}
NO_EMAIL = {"preferred_username": "ana@example.org", "upn": "ana@example.org", "name": "Ana Ruiz"}


@pytest.mark.parametrize(
    ("claims", "trusting", "heading"),
    [
        (TRUE, False, None),
        (TRUE, True, None),
        (AS_TEXT, False, None),
        (MISSING, True, None),
        (NULL, True, None),
        (MISSING, False, "ana@example.org could not be confirmed"),
        (NULL, False, "ana@example.org could not be confirmed"),
        (FALSE, False, "ana@example.org is not confirmed"),
        (FALSE, True, "ana@example.org is not confirmed"),
        (FALSE_AS_TEXT, False, "ana@example.org is not confirmed"),
        (FALSE_AS_TEXT, True, "ana@example.org is not confirmed"),
        (NO_EMAIL, False, "Your address is missing"),
        (NO_EMAIL, True, "Your address is missing"),
        ({"email": "not an address", "email_verified": True}, True, "Your address is missing"),
    ],
)
def test_every_shape_signs_in_or_is_refused_by_a_page_with_a_way_forward(
    client: Client, provider: Provider, ana: User, settings: Any, claims: Any, trusting: bool, heading: str | None
) -> None:
    settings.OIDC_TRUST_EMAIL = trusting
    provider.says(claims)
    answer = sign_on(client)
    ana.refresh_from_db()
    assert ana.check_password(PASSWORD)
    if heading is None:
        assert signed_in(client)
        return
    assert not signed_in(client)
    assert answer.status_code == 403
    assert not SocialAccount.objects.exists()
    text = answer.content.decode()
    assert re.search(rf"<h1[^>]*>\s*{re.escape(heading)}\s*</h1>", text)
    assert "Clinic sign-on" in text
    assert "Sign Up Closed" not in text
    assert 'href="/accounts/login/"' in text


@pytest.mark.parametrize(
    ("userinfo", "id_token"),
    [
        (TRUE, FALSE),
        (FALSE, TRUE),
        ({"email": "ana@example.org"}, {"email": "eve@example.net", "email_verified": True}),
        ({"email": "ana@example.org"}, {"email_verified": True}),
    ],
)
def test_what_one_part_says_of_another_address_or_denies_is_not_enough(
    client: Client, provider: Provider, ana: User, userinfo: dict[str, Any], id_token: dict[str, Any]
) -> None:
    provider.says(userinfo, id_token)
    assert sign_on(client).status_code == 403
    assert not signed_in(client)


@pytest.mark.usefixtures("ana")
def test_the_id_token_alone_may_say_that_the_address_is_verified(client: Client, provider: Provider) -> None:
    provider.says({"email": "ana@example.org"}, TRUE)
    sign_on(client)
    assert signed_in(client)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("No account for stranger@example.org", "Ask your study coordinator to add you")),
        ("zh-hans", ("stranger@example.org",)),
    ],
)
def test_a_stranger_reads_our_own_page_and_gets_no_account(
    client: Client, provider: Provider, ana: User, language: str, words: tuple[str, ...]
) -> None:
    provider.says({"email": "stranger@example.org", "email_verified": True})
    answer = sign_on(client, **{"accept-language": language})
    text = answer.content.decode()
    assert answer.status_code == 403
    assert all(word in text for word in words)
    assert 'class="entrance"' in text
    assert f'lang="{language}"' in text
    assert list(User.objects.all()) == [ana]


def test_an_account_that_is_not_active_is_not_connected(client: Client, provider: Provider, ana: User) -> None:
    User.objects.update(is_active=False)
    provider.says(TRUE)
    assert "No account for" in sign_on(client).content.decode()
    assert not SocialAccount.objects.exists()


def test_the_page_before_says_where_it_leads(client: Client, provider: Provider) -> None:
    page = client.get(BEGIN).content.decode()
    assert "Sign in with Clinic sign-on" in page
    assert "third-party" not in page


def test_a_provider_that_is_away_or_cancelled_at_leads_back_to_the_sign_in_page(
    client: Client, provider: Provider, settings: Any
) -> None:
    cancelled = client.get(reverse("socialaccount_login_cancelled")).content.decode()
    failed = client.get(f"{BEGIN}callback/?error=server_error&state=x")
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]["settings"]["server_url"] = "http://127.0.0.1:9"
    away = client.post(BEGIN)
    assert (failed.status_code, away.status_code) == (401, 503)
    for page in (cancelled, failed.content.decode(), away.content.decode()):
        assert 'href="/accounts/login/"' in page
        assert "Third-Party" not in page


# The shapes of known providers ----------------------------------------------------------------------------------------
# From their documentation: where the issuer is, what it says of an address, how a client says who it is.

TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47"
ENTRA = Shape(
    path=f"/{TENANT}/v2.0",
    endpoints=f"/{TENANT}/oauth2/v2.0",
    auth_methods=("client_secret_post", "private_key_jwt", "client_secret_basic"),
    keys_name_algorithm=False,
    claims={"name": "Ana Ruiz", "picture": "https://graph.example/photo"},
    token_claims={
        "preferred_username": "ana@example.org", "upn": "ana@example.org", "tid": TENANT, "oid": "00000000-0000-0001",
        "ver": "2.0", "groups": ["0760b6cf-170e-4a14-91b3-4b78e0739963"], "uti": "x", "rh": "y",
    },
)  # fmt: skip
OKTA = Shape(
    path="/oauth2/default",
    endpoints="/oauth2/default/v1",
    auth_methods=("client_secret_basic", "client_secret_post", "none"),
    claims={"name": "Ana Ruiz", "preferred_username": "ana@example.org", "zoneinfo": "Europe/Madrid"},
    token_claims={"ver": 1, "jti": "ID.1", "amr": ["mfa", "pwd"], "idp": "00o1", "groups": ["Everyone", "Raters"]},
)
KEYCLOAK = Shape(
    path="/realms/clinic",
    endpoints="/realms/clinic/protocol/openid-connect",
    auth_methods=("private_key_jwt", "client_secret_basic"),
    claims={"preferred_username": "ana", "given_name": "Ana", "family_name": "Ruiz", "groups": ["/raters"]},
    token_claims={"typ": "ID", "azp": "consilium", "acr": "1", "sid": "s", "at_hash": "h"},
)
GOOGLE = Shape(
    auth_methods=("client_secret_post", "client_secret_basic"),
    claims={"name": "Ana Ruiz", "picture": "https://example/photo", "hd": "example.org"},
    token_claims={"azp": "consilium", "at_hash": "h"},
)
BARE = Shape(path="/issuer", auth_methods=None)  # all that the specification demands


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "says", "trusting", "auth"),
    [
        (ENTRA, {"email": "ana@example.org"}, True, "client_secret_post"),
        (OKTA, TRUE, False, "client_secret_post"),
        (KEYCLOAK, TRUE, False, "client_secret_basic"),
        (GOOGLE, TRUE, False, "client_secret_post"),
        (BARE, AS_TEXT, False, "client_secret_post"),
    ],
    ids=["entra", "okta", "keycloak", "google", "bare"],
)
def test_the_shape_of_each_provider_signs_in(
    client: Client, provider: Provider, ana: User, settings: Any, shape: Shape, says: Any, trusting: bool, auth: str
) -> None:
    provider.shape = shape
    settings.SOCIALACCOUNT_PROVIDERS = provider.settings()
    settings.OIDC_TRUST_EMAIL = trusting
    provider.says(says)
    assert "Welcome, Ana Ruiz" in sign_on(client).content.decode()
    assert provider.used_auth == [auth]
    assert f"{shape.path}/.well-known/openid-configuration" in provider.requested_paths
    event = SecurityEvent.objects.get(kind="sign_on_connected")
    assert (event.user, event.address) == (ana, "127.0.0.1")
    again = Client()
    sign_on(again)
    assert signed_in(again)


@pytest.mark.slow
def test_entra_without_an_email_claim_reads_what_is_missing(
    client: Client, provider: Provider, ana: User, settings: Any
) -> None:
    provider.shape = ENTRA
    provider.says({})
    settings.SOCIALACCOUNT_PROVIDERS = provider.settings()
    settings.OIDC_TRUST_EMAIL = True
    assert "Your address is missing" in sign_on(client).content.decode()


# What a provider must not be able to say ------------------------------------------------------------------------------

now = time.time
FAULTS: dict[str, Callable[[Provider], None]] = {
    "wrong issuer": lambda provider: provider.id_token.update(iss="https://elsewhere.example"),
    "expired": lambda provider: provider.id_token.update(exp=int(now()) - 3600),
    "no expiry": lambda provider: provider.id_token.update(exp=None),
    "made tomorrow": lambda provider: provider.id_token.update(iat=int(now()) + 86_400),
    "other audience": lambda provider: provider.id_token.update(aud="another-client"),
    "other party": lambda provider: provider.id_token.update(aud=["consilium", "x"], azp="x"),
    "wrong nonce": lambda provider: provider.id_token.update(nonce="of another sign-on"),
    "no nonce": lambda provider: provider.id_token.update(nonce=None),
    "other person in userinfo": lambda provider: provider.userinfo.update(sub="person-2"),
    "no person in userinfo": lambda provider: provider.userinfo.pop("sub"),
    "other key": lambda provider: setattr(provider, "signs_with_other_key", True),
    "no signature": lambda provider: setattr(provider, "algorithm", "none"),
    "signed by the shared secret": lambda provider: setattr(provider, "algorithm", "HS256"),
    "unknown kid": lambda provider: setattr(provider, "names_key", "of last year"),
    "no kid, two keys": lambda provider: provider.__dict__.update(names_key=None, publishes_two_keys=True),
    "no ID token": lambda provider: setattr(provider, "omits_id_token", True),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_answer_that_is_not_valid_signs_nobody_in(
    client: Client, provider: Provider, ana: User, fault: Callable[[Provider], None]
) -> None:
    provider.says(TRUE)
    sign_on(Client())  # the identity is connected: only the check of the token keeps them out
    fault(provider)
    answer = sign_on(client)
    assert answer.status_code == 401
    assert "Single sign-on failed" in answer.content.decode()
    assert not signed_in(client)
    event = SecurityEvent.objects.get(kind="sign_on_refused")
    assert (event.user, event.values) == (None, {"reason": "not_valid"})


@pytest.mark.slow
def test_a_description_of_another_issuer_is_refused_before_anybody_goes_there(
    client: Client, provider: Provider
) -> None:
    provider.described_issuer = "https://elsewhere.example"
    answer = client.post(BEGIN)
    assert answer.status_code == 503
    assert "Single sign-on failed" in answer.content.decode()


@pytest.mark.slow
def test_the_code_of_one_browser_is_of_no_use_in_another(client: Client, provider: Provider, ana: User) -> None:
    provider.says(TRUE)
    answer = client.get(f"{BEGIN}callback/?code=a-code-that-is-used-once&state=made-up")
    assert answer.status_code == 401
    assert not signed_in(client)
    assert not SecurityEvent.objects.exists(), "who makes up addresses fills no log"


def test_a_refusal_is_logged_with_its_reason(client: Client, provider: Provider, ana: User) -> None:
    provider.says(FALSE)
    sign_on(client)
    event = SecurityEvent.objects.get(kind="sign_on_refused")
    assert event.values == {"reason": "not_verified"}
    assert "ana@example.org" not in str(event.values)


# A provider that is slow ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ["discovery", "token", "userinfo", "keys"])
@pytest.mark.parametrize("fault", ["hangs_at", "trickles_at"])
def test_a_provider_that_hangs_is_given_up_within_five_seconds(
    client: Client, provider: Provider, ana: User, fault: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "TIME_LIMIT_S", 1.0)  # the same code, in less time
    provider.says(TRUE)
    setattr(provider, fault, endpoint)
    begin = time.monotonic()
    answer = client.post(BEGIN) if endpoint == "discovery" else sign_on(client)
    assert time.monotonic() - begin < 2.5
    assert answer.status_code in (401, 503)
    text = answer.content.decode()
    assert "Single sign-on failed" in text and 'href="/accounts/login/"' in text
    assert not signed_in(client)


def test_the_limit_leaves_less_than_five_seconds() -> None:
    assert openid.TIME_LIMIT_S + openid.WAIT_S <= 5


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_at_most_four_wait_for_the_provider_and_the_fifth_gets_an_answer_at_once(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "TIME_LIMIT_S", 3.0)
    provider.hangs_at = "discovery"

    def begin(_number: int) -> tuple[int, float]:
        start = time.monotonic()
        try:
            return Client().post(BEGIN).status_code, time.monotonic() - start
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        answers = sorted(pool.map(begin, range(6)), key=lambda answer: answer[1])
    assert {status for status, _seconds in answers} == {503}
    quick, slow = answers[:2], answers[2:]
    assert max(seconds for _status, seconds in quick) < 2
    assert min(seconds for _status, seconds in slow) >= 2.9
    assert provider.requested_paths == ["/.well-known/openid-configuration"] * 4


# Domains --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_people_of_listed_domains_sign_on_also_once_connected(
    client: Client, provider: Provider, ana: User, settings: Any
) -> None:
    provider.says(TRUE)
    sign_on(Client())
    settings.OIDC_DOMAINS = ["clinic.example"]
    answer = sign_on(client)
    assert answer.status_code == 403
    assert "Your organisation is not accepted" in answer.content.decode()
    assert not signed_in(client)
    event = SecurityEvent.objects.get(kind="sign_on_refused")
    assert (event.user, event.values) == (ana, {"reason": "other_domain"})
    settings.OIDC_DOMAINS = ["clinic.example", "example.org"]
    sign_on(client)
    assert signed_in(client)


@pytest.mark.parametrize(
    ("claims", "is_accepted"),
    [
        ({"iss": "https://accounts.google.com", "email": "ana@example.org", "hd": "example.org"}, True),
        # A private account of Google with an address of the clinic, which its owner may have left since.
        ({"iss": "https://accounts.google.com", "email": "ana@example.org"}, False),
        ({"iss": "https://accounts.google.com", "email": "ana@example.org", "hd": "evil.example"}, False),
        ({"iss": "https://login.example", "email": "ana@EXAMPLE.org"}, True),
        ({"iss": "https://login.example", "email": "ana@example.org.evil.example"}, False),
        ({"iss": "https://login.example"}, False),
    ],
)
def test_at_google_the_organisation_counts_and_not_the_address(claims: dict[str, str], is_accepted: bool) -> None:
    with nullcontext() if is_accepted else pytest.raises(SignOnRefused, match="other_domain"):
        refuse_other_domains({"userinfo": {}, "id_token": claims}, domains=["example.org"])
