"""Text in a request is UTF-8; no charset that a header names chooses the codec that decodes it."""

from __future__ import annotations

from time import process_time

import pytest
from django.test import Client

from config.body_limits import LONG_BODIES
from tests.access.endpoints import ENDPOINTS
from tests.access.test_body_limits import SIGN_IN, address
from tests.access.world import World

BOUNDARY = "edge"
TEXT = "a" * 200_000
API = "/api/v1/benchmarks/study/reports/"


def form_data(text: str, *, part: str = "") -> bytes:
    """One field in multipart/form-data; ``part`` are further headers of it."""
    return (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="login"\r\n{part}\r\n{text}\r\n--{BOUNDARY}--\r\n'
    ).encode()


def post(client: Client, path: str, body: bytes, content_type: str, **headers: str) -> tuple[int, float, str]:
    """Status, seconds of the processor and content type of the answer."""
    began = process_time()
    answer = client.generic("POST", path, body, content_type, **headers)
    return answer.status_code, process_time() - began, answer.headers["Content-Type"].partition(";")[0]


CODECS = ["punycode", '"punycode"', "Punycode", "idna", "utf-7", "utf-16", "latin-1", "bz2_codec", "no-such-codec"]


@pytest.mark.django_db
@pytest.mark.parametrize("charset", CODECS)
def test_200_kb_in_another_encoding_are_refused_at_once(client: Client, charset: str) -> None:
    """At sign-in, which anybody reaches, and in the API. 200 kB of punycode took 3 s to decode."""
    client.get(SIGN_IN)
    forms = (
        (form_data(TEXT), f"multipart/form-data; boundary={BOUNDARY}; charset={charset}"),
        (b"login=" + TEXT.encode(), f"application/x-www-form-urlencoded; charset={charset}"),
    )
    for body, content_type in forms:
        status, seconds, _shape = post(client, SIGN_IN, body, content_type)
        assert status == 400
        assert seconds < 1
    status, seconds, shape = post(
        client, API, b'{"kind": "%s"}' % TEXT.encode(), f"application/json; charset={charset}"
    )
    assert (status, shape) == (400, "application/json")
    assert seconds < 1


@pytest.mark.django_db
def test_a_charset_by_rfc_2231_is_refused_as_well(client: Client) -> None:
    client.get(SIGN_IN)  # what the first request imports is none of it
    content_type = f"multipart/form-data; boundary={BOUNDARY}; charset*=utf-8''punycode"
    status, seconds, _shape = post(client, SIGN_IN, form_data(TEXT), content_type)
    assert status == 400
    assert seconds < 1


@pytest.mark.django_db
def test_the_charset_of_a_part_chooses_no_codec(client: Client) -> None:
    client.get(SIGN_IN)
    of_part = form_data(TEXT, part="Content-Type: text/plain; charset=punycode\r\n")
    named_charset = form_data(TEXT).replace(b'"login"', b'"_charset_"')
    for body in (of_part, named_charset):
        status, seconds, _shape = post(client, SIGN_IN, body, f"multipart/form-data; boundary={BOUNDARY}")
        assert status == 200  # the form again: no password
        assert seconds < 1


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf-8"', "utf8", "US-ASCII"])
def test_utf_8_passes_by_each_of_its_names(client: Client, charset: str) -> None:
    body = "login=é&password=x".encode()
    assert post(client, SIGN_IN, body, f"application/x-www-form-urlencoded; charset={charset}")[0] == 200


@pytest.mark.slow
def test_every_route_with_a_long_body_refuses_another_encoding(world: World) -> None:
    for name in LONG_BODIES:
        user = world.users[next(role for role in ("admin", "author", "annotator") if role in ENDPOINTS[name].roles)]
        assert user is not None
        client = Client()
        client.force_login(user)
        kind = f"multipart/form-data; boundary={BOUNDARY}; charset=punycode"
        status, seconds, _shape = post(client, address(name, world), form_data(TEXT), kind)
        assert (name, status) == (name, 400)
        assert seconds < 1
