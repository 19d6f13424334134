"""What the database itself refuses about documents, whoever asks: the tests sign in as the owner of the tables."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from documents.models import Collection, Document, Passage
from tests.documents.library import FEVER, add

pytestmark = pytest.mark.django_db
DOCUMENT, PASSAGE = "documents_document", "documents_passage"
SECOND = "UPDATE documents_document SET supersedes_id = NULL WHERE edition = 2"
# The statement, and a word of the refusal that shows which rule held.
REFUSED = {
    "changing the text": ("UPDATE documents_document SET text = 'other'", DOCUMENT),
    "changing the digest": ("UPDATE documents_document SET sha256 = repeat('0', 64)", DOCUMENT),
    "changing the key": ("UPDATE documents_document SET key = 'other'", DOCUMENT),
    "changing the file": ("UPDATE documents_document SET file = 'other'", DOCUMENT),
    "changing the edition": ("UPDATE documents_document SET edition = edition + 10", DOCUMENT),
    "breaking the chain of editions": (SECOND, DOCUMENT),
    "deleting a document": ("DELETE FROM documents_document", DOCUMENT),
    "changing a passage": ("UPDATE documents_passage SET text = 'other'", PASSAGE),
    "moving a passage": ("UPDATE documents_passage SET start = start", PASSAGE),
    "deleting a passage": ("DELETE FROM documents_passage", PASSAGE),
    "sending under an unknown licence": (
        "UPDATE documents_document SET may_send = true",
        "documents_document_unknown_licence",
    ),
    "changing who allowed what": ("UPDATE documents_documentlicenceevent SET licence = 'x'", "licenceevent"),
    "deleting who allowed what": ("DELETE FROM documents_documentlicenceevent", "licenceevent"),
}


@pytest.mark.parametrize(("statement", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_raw_sql_cannot_change_what_criteria_rest_on(collection: Collection, statement: str, words: str) -> None:
    add(collection, FEVER)
    add(collection, FEVER + "\nMore.\n")
    before = (list(Document.objects.order_by("pk").values()), list(Passage.objects.order_by("pk").values()))
    with pytest.raises(DatabaseError, match=words), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert (list(Document.objects.order_by("pk").values()), list(Passage.objects.order_by("pk").values())) == before


def test_an_edition_has_one_successor(collection: Collection) -> None:
    add(collection, FEVER)
    add(collection, FEVER + "\nMore.\n")
    columns = [field.column for field in Document._meta.concrete_fields if field.name not in ("id", "public_id")]
    values = {"edition": "3", "sha256": "repeat('1', 64)"}
    fork = ", ".join(values.get(column, column) for column in columns)
    statement = (
        f"INSERT INTO documents_document (public_id, {', '.join(columns)})"
        f" SELECT 'fork', {fork} FROM documents_document WHERE edition = 2"
    )
    with pytest.raises(DatabaseError, match="supersedes_id"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
