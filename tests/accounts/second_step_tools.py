"""A second step as people have it: the app on a phone, and a session whose sign-in is long ago."""

from __future__ import annotations

import base64
import hmac
import re
import struct
import time
from html import unescape
from typing import Any

from django.test import Client

from accounts.models import User
from tests.factories import PASSWORD

LONG_AGO = 3600.0


def code_of(secret: str, *, at: float | None = None) -> str:
    """What an authenticator app shows (RFC 6238: SHA-1, 30 seconds, six digits)."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    counter = int((time.time() if at is None else at) // 30)
    digest = hmac.digest(key, struct.pack(">Q", counter), "sha1")
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def signed_in(user: User) -> Client:
    """A browser in which ``user`` has just typed the password."""
    client = Client()
    assert client.post("/accounts/login/", {"login": user.email, "password": PASSWORD}).status_code == 302
    return client


def set_up_app(client: Client) -> tuple[str, Any]:
    """Set up an authenticator app; returns its secret, and the page that follows."""
    page = client.get("/accounts/2fa/totp/activate/").content.decode()
    [secret] = re.findall(r'name="?authenticator_secret"?|value="([A-Z2-7]{32})"', page)
    return secret, client.post("/accounts/2fa/totp/activate/", {"code": code_of(secret)}, follow=True)


def kept_fields(page: str) -> dict[str, str]:
    """What a page keeps in the hidden fields of its main part, to be sent again."""
    [main] = re.findall(r"<main.*?</main>", page, re.DOTALL)
    [form, *_others] = re.findall(r'<form class="form" method="post".*?</form>', main, re.DOTALL)
    fields = re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)">', form)
    added = ("csrfmiddlewaretoken", "confirmation", "confirmation-kept")
    return {name: unescape(value) for name, value in fields if name not in added}


def let_time_pass(client: Client, seconds: float = LONG_AGO) -> None:
    """Move every proof in the session into the past."""
    session = client.session
    session["signed_in_at"] -= seconds
    for record in session.get("account_authentication_methods", []):
        record["at"] -= seconds
    session.save()
