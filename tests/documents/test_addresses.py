"""Lists of addresses: a worker fetches them, from listed hosts alone, and imports all of them or none."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from consilium.core.errors import ImportRefused
from documents.models import Collection, Document
from documents.services.reading import MAX_ADDRESSES, key_of_address
from tests.documents.library import FEVER, add

pytestmark = pytest.mark.django_db
FILES = {"/fever.txt": FEVER.encode(), "/guides/rash": b"A rash that fades.\n", "/guides-rash": b"A rash that stays.\n"}


@pytest.fixture
def host(settings: Any) -> Iterator[str]:
    """A host on loopback that the operator has listed."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that http.server looks for
            content = FILES.get(self.path)
            self.send_response(200 if content else 404)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        name = f"127.0.0.1:{server.server_port}"
        settings.DOCUMENT_ALLOWED_HOSTS = [name]
        yield f"http://{name}"
        server.shutdown()


def add_addresses(collection: Collection, text: str, **options: str) -> Any:
    return add(collection, text, "addresses.txt", format="urls", **options)


def test_listed_addresses_become_documents(collection: Collection, host: str) -> None:
    text = f"# Guidelines\n\n{host}/fever.txt\n  {host}/guides/rash  \n"
    counts = add_addresses(collection, text, licence="CC0-1.0", may_send="1", kind="guideline")
    assert counts["documents"] == {"created": 2, "unchanged": 0}
    fever, rash = Document.objects.order_by("key")
    assert [fever.key, rash.key] == ["127.0.0.1-fever.txt", "127.0.0.1-guides-rash"]
    assert (fever.url, fever.kind, fever.may_send) == (f"{host}/fever.txt", "guideline", True)
    assert fever.sha256 == hashlib.sha256(FEVER.encode()).hexdigest()
    with fever.file.open("rb") as original:
        assert original.read() == FEVER.encode()
    assert add_addresses(collection, text)["documents"] == {"created": 0, "unchanged": 2}


def test_one_address_that_fails_refuses_them_all_and_is_named(collection: Collection, host: str) -> None:
    with pytest.raises(ImportRefused) as refused:
        add_addresses(collection, f"{host}/fever.txt\n{host}/none\nhttps://example.org/a\n{host}/fever.txt\n")
    assert [error.line for error in refused.value.errors] == [2, 3, 4]
    assert "HTTP 404" in refused.value.errors[0].message
    assert refused.value.errors[2].message == "This address is already in line 1."
    assert not Document.objects.exists()


def test_two_addresses_with_one_key_are_refused(collection: Collection, host: str) -> None:
    """A key has hyphens where an address has slashes."""
    with pytest.raises(ImportRefused) as refused:
        add_addresses(collection, f"{host}/guides/rash\n{host}/guides-rash\n")
    assert [(error.line, error.message) for error in refused.value.errors] == [
        (2, "The document in line 1 has the same key.")
    ]


@pytest.mark.parametrize("text", ["", "\n# nothing\n"])
def test_a_list_without_an_address_is_refused(collection: Collection, host: str, text: str) -> None:
    with pytest.raises(ImportRefused, match="This list contains no addresses"):
        add_addresses(collection, text)


def test_a_list_that_is_too_long_is_refused(collection: Collection, settings: Any) -> None:
    settings.DOCUMENT_ALLOWED_HOSTS = []
    with pytest.raises(ImportRefused) as refused:
        add_addresses(collection, "".join(f"https://example.org/{n}\n" for n in range(MAX_ADDRESSES + 5)))
    # Each of them is refused, as its host is not listed, and then the list.
    assert refused.value.total == MAX_ADDRESSES + 1


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("https://www.example.org/guides/fever.pdf", "www.example.org-guides-fever.pdf"),
        ("https://example.org/", "example.org"),
        ("https://example.org/a%20b?id=7&v=2", "example.org-a-b-id-7-v-2"),
        ("https://example.org/指南/发热.html", "example.org-指南-发热.html"),
        ("https://example.org/../../etc/passwd", "example.org-..-..-etc-passwd"),
        ("https://example.org/" + "a" * 200,
         "example.org-" + "a" * 79 + "-"
         + hashlib.sha256(("https://example.org/" + "a" * 200).encode()).hexdigest()[:8]),
    ],
    ids=["file", "host", "query", "Chinese", "traversal", "long"],
)  # fmt: skip
def test_a_key_is_made_of_an_address(address: str, key: str) -> None:
    assert key_of_address(address) == key
