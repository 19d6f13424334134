"""Every field of every form of every page, with values that no browser sends: no answer 5xx, and none that is slow."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import resolve

from tests.access.endpoints import ENDPOINTS
from tests.access.test_body_limits import address
from tests.access.world import World
from tests.accounts.second_step_tools import signed_in
from tests.chaos import FULL, SEED

pytestmark = pytest.mark.slow

MAX_CPU_S = 5.0
# In `make test` a page is opened by the first of them who sees it, and by strangers; at full size by each of them.
ROLES = ("admin", "author", "auditor", "annotator", "checker", "adjudicator", "superuser", "anonymous")
ROLES += ("researcher",) if FULL else ()
# In `make test` each field gets one of them, another one with another CONSILIUM_CHAOS_SEED; at full size
# (CONSILIUM_CHAOS=full) each gets all of them, and all fields of a form get the same one as well.
TEXTS = (
    *("", " ", "0", "-1", "9" * 400, "1" + "0" * 22, "-9223372036854775809", "2147483648", "1e400", "NaN", "Infinity"),
    *("1.5", "٣", "null", "{}", "[" * 900, '{"a":' * 900, "x" * 70_000, "\0", "a\0b", "\x1b", "\u202e\u2028\ufeff"),
    *("0001-01-01", "9999-12-31", "2026-02-30", "9999-12-31T23:59", "25:61", "%s %(a)s {0}", "' OR 1=1 --", "../../x"),
    *("a,b\n" * 2000, "<script>1</script>", "group:", "jury:+", "http://[::1", "é" * 300, "a@" + "b" * 300 + ".org"),
)
FILES = (b"", b"\xff\xfe\0\0", b"[" * 5000, b'{"a": 1e400}\n', b"a,b\n1\n", b"PK\x03\x04 none", b"%PDF-1.7 none")
LEFT_OUT = ("account_logout",)


@dataclass
class Form:
    """Where a form is sent, and what a browser would send of it as it is."""

    method: str
    action: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)


class Forms(HTMLParser):
    """The forms of a page, those of htmx included."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.forms: list[Form] = []
        self.by_id: dict[str, Form] = {}
        self._open: Form | None = None
        self._select: tuple[Form, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        hx = next((name for name in ("hx-post", "hx-get") if name in values), None)
        if tag == "form" or hx:
            method = hx[3:] if hx else values.get("method", "get").lower()
            form = Form(method, urljoin(self.page, values.get(hx or "action", "")))
            self.forms.append(form)
            if tag == "form":
                self._open = form
                if "id" in values:
                    self.by_id[values["id"]] = form
            elif self._open is not None:
                form.fields, form.files = self._open.fields, self._open.files  # a button sends those of its form
        into = self.by_id.get(values.get("form", "")) or self._open
        name = values.get("name", "")
        if tag == "option" and self._select is not None:
            form, name = self._select
            if "selected" in values or name not in form.fields:
                form.fields[name] = [values.get("value", "")]
        elif into is not None and name and name != "csrfmiddlewaretoken":
            if tag == "select":
                self._select = (into, name)
            elif values.get("type") == "file":
                into.files.add(name)
            elif tag in ("input", "textarea", "button"):
                off = values.get("type") in ("checkbox", "radio") and "checked" not in values
                if not off or name not in into.fields:
                    into.fields[name] = [values.get("value", "")]

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "select" and self._select is not None:
            self._select[0].fields.setdefault(self._select[1], [""])
            self._select = None


def forms_of(client: Client, world: World, role: str) -> Iterator[Form]:
    """Each form that the role meets, once for each view and set of fields."""
    known = set()
    for name, endpoint in ENDPOINTS.items():
        viewers = [viewer for viewer in ROLES if viewer in endpoint.roles]
        if name.startswith("api:") or role not in viewers or endpoint.writes_only:
            continue
        if not FULL and role not in (viewers[0], "anonymous"):
            continue
        path = address(name, world)
        with transaction.atomic():
            answer = client.get(path, follow=True)
            transaction.set_rollback(True)
        if answer.status_code != 200 or not answer.headers["Content-Type"].startswith("text/html"):
            continue
        page = answer.redirect_chain[-1][0] if answer.redirect_chain else path
        parsed = Forms(page)
        parsed.feed(answer.content.decode())
        for form in parsed.forms:
            if urlsplit(form.action).netloc:
                continue
            match = resolve(urlsplit(form.action).path)
            key = (form.method, match.view_name, frozenset(form.fields), frozenset(form.files))
            if key not in known and match.view_name not in LEFT_OUT and (form.fields or form.files):
                known.add(key)
                yield form


def variants(form: Form, place: int) -> Iterator[dict[str, Any]]:
    """The form with one field after the other made hostile."""
    for number, name in enumerate(sorted(form.fields)):
        for text in TEXTS if FULL else (TEXTS[(SEED + place + number) % len(TEXTS)],):
            yield {**form.fields, name: [text]}
    for number, name in enumerate(sorted(form.files)):
        for content in FILES if FULL else (FILES[(SEED + place + number) % len(FILES)],):
            yield {**form.fields, name: SimpleUploadedFile("\u202ea'\"<b>.jsonl", content)}
    if FULL:
        for text in TEXTS:
            yield {name: [text] for name in form.fields}


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names and addresses that Python looked up or called. The database has a library of its own for that."""
    names: list[str] = []

    def note(*values: Any, **_options: Any) -> None:
        names.append(str(values[-1] if isinstance(values[0], socket.socket) else values[0]))
        raise OSError("no page calls anybody")

    monkeypatch.setattr(socket, "getaddrinfo", note)
    for method in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, method, note, raising=False)
    return names


@pytest.mark.parametrize("role", ROLES)
def test_no_field_of_a_form_is_an_error_of_the_server(role: str, world: World, looked_up: list[str]) -> None:
    """Nor does any form make a web process call another server."""
    logging.disable(logging.ERROR)
    user = world.users[role]
    client = Client() if user is None else signed_in(user)
    client.raise_request_exception = False
    cookies = client.cookies.output(header="", sep=";")
    wrong, tried = [], 0
    for place, form in enumerate(forms_of(client, world, role)):
        for sent in variants(form, place):
            began = time.process_time()
            with transaction.atomic():
                send = client.post if form.method == "post" else client.get
                answer = send(form.action, sent, headers={"HX-Request": "true"} if place % 2 else {})
                for close in answer._resource_closers:
                    close()
                transaction.set_rollback(True)
            client.cookies = SimpleCookie(cookies)
            seconds = time.process_time() - began
            tried += 1
            if answer.status_code >= 500 or seconds > MAX_CPU_S:
                changed = {k: str(v)[:60] for k, v in sent.items() if v != form.fields.get(k)}
                wrong.append(f"{form.method} {form.action}: {answer.status_code} after {seconds:.1f} s for {changed}")
    assert not wrong, "\n".join(wrong)
    assert not looked_up
    assert tried > 3
