"""The security policy that browsers enforce."""

import re

import pytest


def directives(answer):
    policy = answer.headers["Content-Security-Policy"]
    return {name: values for name, _, values in (part.strip().partition(" ") for part in policy.split(";"))}


def test_pages_allow_nothing_inline_and_nothing_from_elsewhere(client, db):
    policy = directives(client.get("/accounts/login/"))
    assert policy["default-src"] == "'none'"
    assert re.fullmatch(r"'self'( 'nonce-[\w+/=-]+')?", policy["script-src"])
    assert (policy["style-src"], policy["img-src"]) == ("'self'", "'self' data:")
    assert (policy["frame-ancestors"], policy["base-uri"], policy["form-action"]) == ("'none'", "'none'", "'self'")
    assert "unsafe" not in str(policy)
    assert "http" not in str(policy)


def test_pages_cannot_be_framed_and_types_are_not_guessed(client, db):
    answer = client.get("/accounts/login/")
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"


@pytest.mark.slow
def test_api_refuses_strangers(client, db):
    assert client.get("/api/v1/no-such-endpoint/").status_code in (401, 403, 404)
    assert client.get("/api/v1/schema/?format=json").status_code == 200
