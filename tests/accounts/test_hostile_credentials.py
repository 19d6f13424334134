"""What a key answers comes from the browser: anything may be sent in its place, by a stranger too, and is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone

from accounts.models import User
from tests.accounts.second_step_tools import set_up_app, signed_in
from tests.factories import PASSWORD, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


CLIENT = json.dumps({"type": "webauthn.create", "challenge": "AAAA", "origin": "http://localhost:8000"}).encode()
GET = json.dumps({"type": "webauthn.get", "challenge": "AAAA", "origin": "http://localhost:8000"}).encode()


def answer(**response: Any) -> dict[str, Any]:
    return {"id": b64(b"key"), "rawId": b64(b"key"), "type": "public-key", "response": response}


def signing(client_data: bytes = GET, authenticator: bytes = b"\0" * 37, handle: str = b64(b"1")) -> dict[str, Any]:
    values = {"clientDataJSON": b64(client_data), "authenticatorData": b64(authenticator), "signature": b64(b"s")}
    return answer(**values, userHandle=handle)


CREDENTIALS = {
    "brackets": "[" * 900,
    "objects": '{"a":' * 900 + "1" + "}" * 900,
    "closed brackets": "[" * 900 + "]" * 900,
    "cut": "{",
    "a number": "9" * 5000,
    "NaN": '{"id": NaN}',
    "twice": '{"id": "a", "id": "b"}',
    **{str(value): json.dumps(value) for value in (None, True, 1, "x", [], {}, [1], {"response": 1}, {"response": {}})},
    "no base64": json.dumps(answer(clientDataJSON="!", attestationObject="é")),
    "empty": json.dumps(answer(clientDataJSON="", attestationObject="")),
    "no JSON": json.dumps(answer(clientDataJSON=b64(b"[["), attestationObject=b64(b"\xa0"))),
    "deep JSON": json.dumps(answer(clientDataJSON=b64(b"[" * 5000), attestationObject=b64(b"\xa0"))),
    "no CBOR": json.dumps(answer(clientDataJSON=b64(CLIENT), attestationObject=b64(b"\xff\xff"))),
    "deep CBOR": json.dumps(answer(clientDataJSON=b64(CLIENT), attestationObject=b64(b"\x81" * 5000))),
    "empty CBOR": json.dumps(answer(clientDataJSON=b64(CLIENT), attestationObject=b64(b"\xa0"))),
    "numbers": json.dumps(answer(clientDataJSON=1, attestationObject=2, authenticatorData=3, signature=4)),
    "a stranger": json.dumps(signing()),
    "deep data": json.dumps(signing(client_data=b"[" * 5000)),
    "short": json.dumps(signing(authenticator=b"\0")),
    "cut key": json.dumps(signing(authenticator=b"\0" * 32 + b"\xc1" + b"\0" * 8)),
    "huge handle": json.dumps(signing(handle=b64(b"9" * 400))),
    "no handle": json.dumps(signing(handle="é")),
    "a list as handle": json.dumps({**signing(), "response": {**signing()["response"], "userHandle": [1]}}),
}


@pytest.fixture
def ana() -> User:
    return UserFactory(email="ana@example.org", last_login=timezone.now())


def second_step(ana: User) -> Client:
    """A browser that has given the password, and is to give its second step."""
    set_up_app(signed_in(ana))
    client = Client()
    client.post("/accounts/login/", {"login": ana.email, "password": PASSWORD})
    return client


PLACES = {
    "/accounts/2fa/webauthn/login/": lambda ana: Client(),
    "/accounts/2fa/authenticate/": second_step,
    "/accounts/2fa/webauthn/add/": signed_in,
}


@pytest.mark.parametrize("path", PLACES)
def test_no_answer_of_a_key_is_an_error_of_the_server(path: str, ana: User) -> None:
    client = PLACES[path](ana)
    client.raise_request_exception = False
    wrong = []
    for name, credential in CREDENTIALS.items():
        if path.endswith(("login/", "add/")):
            client.get(path, headers={"Accept": "application/json"})  # which makes a challenge
        status = client.post(path, {"credential": credential, "name": "k"}).status_code
        if status >= 500:
            wrong.append(f"{name}: {status}")
    assert not wrong, "\n".join(wrong)
    assert not Authenticator.objects.filter(type="webauthn").exists()
