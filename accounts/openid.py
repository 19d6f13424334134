"""OpenID Connect with all checks of its specification, and within a limited time.

allauth's adapter leaves out the signature of the ID token, because the token comes over TLS, and sends no nonce.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jwt
import requests
import urllib3
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

# For all requests of one step of a sign-on together: the person waits for them.
TIME_LIMIT_S = 4.5
# Sign-ons that wait for the provider at a time, in each process: a provider that hangs must not take all threads.
MAX_AT_ONCE = 4
WAIT_S = 0.5  # for one of them
MAX_ANSWER_BYTES = 1_000_000
CLOCK_DIFFERENCE_S = 60
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
ENDPOINTS = ("issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")

# Twice as many: a reader may wait for its socket after nobody waits for it any more.
_readers = ThreadPoolExecutor(2 * MAX_AT_ONCE, thread_name_prefix="sign-on")
_places = threading.BoundedSemaphore(MAX_AT_ONCE)
_deadline: ContextVar[float] = ContextVar("sign_on_deadline")


class ProviderBusy(requests.RequestException):
    """Too many sign-ons are waiting for the provider."""


@contextmanager
def within_limits() -> Iterator[None]:
    """All requests to the provider inside together take at most `TIME_LIMIT_S`; `ProviderBusy` if too many wait."""
    if not _places.acquire(timeout=WAIT_S):
        raise ProviderBusy("too many sign-ons wait for the provider")
    token = _deadline.set(time.monotonic() + TIME_LIMIT_S)
    try:
        yield
    finally:
        _deadline.reset(token)
        _places.release()


class LimitedSession(requests.Session):
    """Requests that end at the deadline of `within_limits`, even if an answer trickles in. No redirect is followed."""

    def request(self, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        """The answer, read to its end; `requests.RequestException` if it is late or too long."""
        end = _deadline.get(time.monotonic() + TIME_LIMIT_S)
        left = max(0.01, end - time.monotonic())
        headers = {**(options.pop("headers", None) or {}), "Accept-Encoding": "identity"}
        options |= {"timeout": left, "stream": True, "allow_redirects": False, "headers": headers}
        # The limit of a socket is for each read of it, so a thread reads, and this one waits until the deadline.
        reading = _readers.submit(self._read, end, method, url, *args, **options)
        try:
            return reading.result(timeout=left)
        except TimeoutError as error:
            raise requests.Timeout("the provider took too long") from error
        except urllib3.exceptions.HTTPError as error:
            raise requests.ConnectionError(error) from error

    def _read(self, end: float, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        with super().request(method, url, *args, **options) as answer:
            body = bytearray()
            while piece := answer.raw.read1(65_536):
                body += piece
                if time.monotonic() > end:
                    raise requests.Timeout("the provider took too long")
                if len(body) > MAX_ANSWER_BYTES:
                    raise requests.RequestException("the answer of the provider is too long")
            answer._content = bytes(body)
        return answer


class OpenIDClient(OAuth2Client):
    """Adds the nonce to the address at the provider."""

    def get_redirect_url(self, authorization_url: str, scope: Any, extra_params: Mapping[str, Any]) -> str:
        """Where the browser goes to sign on."""
        parameters = {**extra_params, "nonce": nonce_of(self.state or "")}
        return str(super().get_redirect_url(authorization_url, scope, parameters))


class OpenIDAdapter(OpenIDConnectOAuth2Adapter):
    """Checks issuer, signature, audience, times and nonce of the ID token, and that userinfo is of the same person."""

    client_class = OpenIDClient

    def get_provider(self) -> Any:
        """allauth's provider, which redirects by this class as well."""
        provider = super().get_provider()
        provider.oauth2_adapter_class = type(self)
        return provider

    @property
    def openid_config(self) -> dict[str, Any]:
        """What the provider says of itself; `OAuth2Error` if it is another one, or if something is missing."""
        config = super().openid_config
        if not isinstance(config, dict) or not all(isinstance(config.get(name), str) for name in ENDPOINTS):
            raise OAuth2Error("the description of the provider is not complete")
        configured = str(self.get_provider().app.settings["server_url"])
        if "/.well-known/" not in configured and config["issuer"].rstrip("/") != configured.rstrip("/"):
            raise OAuth2Error("the description is that of another issuer")
        return config

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """The identity of the person, from a checked ID token and from userinfo."""
        id_token = kwargs["response"].get("id_token")
        if not isinstance(id_token, str):
            raise OAuth2Error("the provider sent no ID token")
        claims = self._decode_id_token(app, id_token)
        if not constant_time_compare(str(claims.get("nonce", "")), nonce_of(request.GET.get("state", ""))):
            raise OAuth2Error("the ID token was made for another sign-on")
        userinfo = self._fetch_user_info(token.token)
        if not isinstance(userinfo, dict) or userinfo.get("sub") != claims["sub"]:
            raise OAuth2Error("userinfo is that of another person")
        return self.get_provider().sociallogin_from_response(request, {"userinfo": userinfo, "id_token": claims})

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        try:
            key = self._key_of(id_token)
            claims: dict[str, Any] = jwt.decode(
                id_token,
                key=key,
                algorithms=list(ALGORITHMS),
                issuer=self.openid_config["issuer"],
                audience=app.client_id,
                leeway=CLOCK_DIFFERENCE_S,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, LookupError) as error:
            raise OAuth2Error(f"the ID token is not valid: {error}") from error
        if claims.get("azp", app.client_id) != app.client_id:
            raise OAuth2Error("the ID token was made for another client")
        return claims

    def _key_of(self, id_token: str) -> jwt.PyJWK:
        """The key that signed the token, from those that the provider publishes now."""
        number = jwt.get_unverified_header(id_token).get("kid")
        with get_adapter().get_requests_session() as session:
            answer = session.get(self.openid_config["jwks_uri"])
            answer.raise_for_status()
        keys = jwt.PyJWKSet.from_dict(answer.json()).keys
        fitting = [key for key in keys if key.key_id == number or (number is None and len(keys) == 1)]
        if not fitting:
            raise LookupError("the provider publishes no key that the token names")
        return fitting[0]


def nonce_of(state: str) -> str:
    """The nonce of a sign-on. It follows from the state, which is kept in the session of the browser that began it."""
    return salted_hmac("accounts.openid.nonce", state, algorithm="sha256").hexdigest()
