"""PDF files in the library: their pages, what is said of pages without text, and pictures of pages."""

from __future__ import annotations

import hashlib

import pytest
from django.test import Client

from documents.models import Collection, Document
from tests.documents.library import add
from tests.documents.parsing.pdf_writer import Page, write_pdf

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
FIRST = "Give 15 mg/kg of paracetamol every 4 to 6 hours, and no more than four doses in 24 hours."
LAST = "Seek help at once if the child is drowsy, or has a rash that does not fade."
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def document(collection: Collection) -> Document:
    """Three pages, of which the second is a scan."""
    raw = write_pdf([Page().text(72, 720, FIRST, 8), Page().image(), Page().text(72, 720, LAST, 8)])
    counts = add(collection, raw, "fever.pdf", licence="CC0-1.0")
    assert counts["warnings"] == ["“fever”: page 2 has no text. It may be a scan and cannot be searched."]
    document = Document.objects.get()
    assert document.sha256 == hashlib.sha256(raw).hexdigest()
    assert document.file.name == f"documents/{document.sha256}.pdf"
    return document


@pytest.fixture
def reader(collection: Collection) -> Client:
    client = Client()
    client.force_login(collection.benchmark.roles.get(role="researcher").user)
    return client


def test_pages_are_known_by_number(document: Document, reader: Client) -> None:
    assert (document.pages, document.pages_without_text) == (3, [2])
    (passage,) = document.passages.all()  # both pages together are shorter than a passage may be
    assert passage.text.split("\n\n") == [FIRST, LAST]
    assert (passage.page_from, passage.page_to) == (1, 3)
    assert passage.locator == f"fever@{document.sha256[:8]}#p1:{passage.start}-{passage.end}"
    page = reader.get(f"/b/bench/documents/{document.public_id}/").content.decode()
    assert "without text: page 2" in page
    assert "Pages 1–3" in page
    address = f"/b/bench/documents/{document.public_id}/pages/1.png"
    assert address in reader.get(f"/b/bench/documents/passages/{passage.public_id}/").content.decode()


def test_a_page_is_drawn_and_kept_by_the_browser(document: Document, reader: Client) -> None:
    address = f"/b/bench/documents/{document.public_id}/pages/"
    response = reader.get(f"{address}1.png")
    assert response.content.startswith(PNG)
    assert response.headers["Content-Type"] == "image/png"
    assert "private" in response.headers["Cache-Control"]
    assert response.content != reader.get(f"{address}2.png").content
    for number in (0, 4, 10**9):
        assert reader.get(f"{address}{number}.png").status_code == 404


def test_what_is_no_pdf_has_no_pictures(collection: Collection, reader: Client) -> None:
    add(collection, "Words.\n", "words.txt")
    document = Document.objects.get()
    assert reader.get(f"/b/bench/documents/{document.public_id}/pages/1.png").status_code == 404


def test_a_broken_file_leaves_nothing(collection: Collection) -> None:
    raw = write_pdf([Page().text(72, 720, FIRST)])
    with pytest.raises(Exception, match="PDF"):
        add(collection, raw[: len(raw) // 2], "fever.pdf")
    assert not Document.objects.exists()
