"""Single sign-on through a real provider on loopback: whose account it leads to, and what those read who get none."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.urls import reverse

from accounts.models import User
from tests.accounts.oidc_provider import Provider, running_provider
from tests.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db
BEGIN = "/accounts/oidc/sso/login/"


@pytest.fixture(scope="module")
def _served() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(_served: Provider, settings: Any) -> Provider:
    settings.SOCIALACCOUNT_PROVIDERS = _served.settings()
    settings.OIDC_NAME = "Clinic sign-on"
    _served.redirect_uris.clear()
    return _served


@pytest.fixture
def ana() -> User:
    return UserFactory(email="ana@example.org", name="Ana Ruiz")


def sign_on(client: Client, **headers: str) -> Any:
    """Go to the provider as a browser would, and come back with its code."""
    page = client.post(BEGIN, headers=headers)
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
def test_an_identity_that_the_operator_disconnected_makes_room_for_the_next(
    client: Client, provider: Provider, ana: User
) -> None:
    provider.says({"sub": "person-1", **TRUE})
    sign_on(Client())
    SocialAccount.objects.filter(user__email="ana@example.org", provider="sso").delete()  # as in docs/operating.md
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
