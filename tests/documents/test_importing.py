"""Files of documents become editions with passages: all of a file, or nothing."""

from __future__ import annotations

import hashlib
from datetime import date
from typing import Any

import pytest
from django.core.files.storage import default_storage

from consilium.core.errors import DomainError, ImportRefused
from documents.models import Collection, Document, Passage
from tests.documents.library import AT, FEVER, add, add_document, lines

pytestmark = pytest.mark.django_db
NO_KEY = (
    "file, key: A key consists of letters, digits, dots, colons, hyphens and underscores, and does not begin with"
    " a dot."
)
ROW = {"key": "fever", "text": "Give 15 mg/kg of paracetamol."}


def faults(refused: pytest.ExceptionInfo[ImportRefused]) -> list[str]:
    return [str(error) for error in refused.value.errors]


def test_a_file_becomes_a_document_with_its_passages(collection: Collection) -> None:
    counts = add(collection, FEVER, "Fever in children.txt", publisher="A made-up college", kind="guideline", tier="1",
                 published_on="2026-01-31", review_by="2028-01-31", jurisdictions="GB, INT", language="en")  # fmt: skip
    document = Document.objects.get()
    assert counts["documents"] == {"created": 1, "unchanged": 0}
    assert counts["passages"]["created"] == document.passages.count() > 0
    assert (document.collection, document.key, document.edition) == (collection, "Fever-in-children", 1)
    assert (document.kind, document.tier, document.language) == ("guideline", 1, "en")
    assert (document.published_on, document.review_by) == (date(2026, 1, 31), date(2028, 1, 31))
    assert document.jurisdictions == ["GB", "INT"]
    assert document.sha256 == hashlib.sha256(FEVER.encode()).hexdigest()
    assert document.created_at == AT
    with document.file.open("rb") as original:
        assert original.read() == FEVER.encode()
    for passage in document.passages.all():
        assert passage.text == document.text[passage.start : passage.end]
        assert passage.sha256 == hashlib.sha256(passage.text.encode()).hexdigest()
    assert [passage.ordinal for passage in document.passages.all()] == [1 + n for n in range(document.passages.count())]


def test_nothing_is_allowed_unless_a_licence_allows_it(collection: Collection) -> None:
    document = add_document(collection)
    assert document.licence == ""
    assert not (document.may_send or document.may_quote or document.may_redistribute)


@pytest.mark.parametrize("flag", ["may_send", "may_quote", "may_redistribute"])
def test_a_flag_without_a_licence_is_a_fault_with_its_name(collection: Collection, flag: str) -> None:
    with pytest.raises(ImportRefused) as refused:
        add(collection, FEVER, **{flag: "1"})
    assert faults(refused) == [f"file, {flag}: Enter the licence before you allow any use."]
    assert not Document.objects.exists()
    document = add_document(collection, licence="CC0-1.0", **{flag: "1"})
    allowed = {name for name in ("may_send", "may_quote", "may_redistribute") if getattr(document, name)}
    assert allowed == {flag}


def test_a_line_with_a_licence_of_its_own_takes_no_flags_from_the_options(collection: Collection) -> None:
    rows = lines({**ROW, "key": "a"}, {**ROW, "key": "b", "licence": "all rights reserved"})
    add(collection, rows, "f.jsonl", licence="CC0-1.0", may_send="1")
    stored = Document.objects.order_by("key").values_list("key", "licence", "may_send")
    assert list(stored) == [("a", "CC0-1.0", True), ("b", "all rights reserved", False)]


def test_what_a_line_says_comes_before_the_options(collection: Collection) -> None:
    rows = lines({**ROW, "key": "a"}, {**ROW, "key": "b", "title": "Own title", "kind": "research"})
    add(collection, rows, "f.jsonl", kind="guideline", publisher="A made-up college")
    stored = Document.objects.order_by("key").values_list("title", "kind", "publisher")
    assert list(stored) == [
        ("a", "guideline", "A made-up college"),
        ("Own title", "research", "A made-up college"),
    ]


def test_the_same_bytes_under_the_same_key_change_nothing(collection: Collection) -> None:
    add(collection, FEVER)
    counts = add(collection, FEVER, licence="CC0-1.0", may_send="1")
    assert counts["documents"] == {"created": 0, "unchanged": 1}
    assert counts["passages"]["created"] == 0
    assert Document.objects.get().licence == ""
    # Under another key, and in another collection, they are another document.
    assert add(collection, FEVER, key="other")["documents"] == {"created": 1, "unchanged": 0}


def test_other_bytes_under_the_same_key_are_a_new_edition(collection: Collection) -> None:
    add(collection, FEVER, licence="CC0-1.0", may_send="1")
    counts = add(collection, FEVER + "\nA correction.\n")
    assert (counts["documents"]["created"], counts["new editions"]["created"]) == (1, 1)
    add(collection, FEVER + "\nA second correction.\n")
    first, second, third = Document.objects.order_by("edition")
    assert (first.supersedes, second.supersedes, third.supersedes) == (None, first, second)
    assert [document.edition for document in (first, second, third)] == [1, 2, 3]
    assert list(Document.objects.in_use()) == [third]
    assert second.licence == ""  # that of the first edition need not be that of the second
    assert first.passages.exists()  # for the criteria that cite them


def test_the_bytes_of_a_superseded_edition_stay_superseded_and_say_so(collection: Collection) -> None:
    add(collection, FEVER)
    add(collection, FEVER + "\nA correction.\n")
    counts = add(collection, FEVER)
    assert counts["documents"] == {"created": 0, "unchanged": 1}
    assert counts["warnings"] == [
        "“fever” is identical to its edition 1, which edition 2 supersedes; nothing was changed."
    ]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"kind": "novel"}, "file, kind: This must be one of: guideline, drug_reference, patient_information, research,"
                            " local_protocol, other."),
        ({"tier": "5"}, "file, tier: This must be a number from 1 to 4."),
        ({"tier": "high"}, "file, tier: This must be a number."),
        ({"published_on": "31.1.2026"}, "file, published_on: Dates must have the form 2026-03-31."),
        ({"jurisdictions": "GB, Britain"}, "file, jurisdictions: A jurisdiction must be an ISO 3166 country code"
                                           " or INT."),
        ({"language": "English"}, "file, language: A language must be a code such as en or zh-Hans."),
        ({"audience": "all"}, "file, audience: This must be one of: lay, professional."),
        ({"title": "t" * 201}, "file, title: This is longer than 200 characters."),
        ({"key": "a b"}, NO_KEY),
        ({"key": "../secrets"}, NO_KEY),
        ({"key": "cafe\u0301"}, "file, key: Write the key with composed characters (NFC)."),
        ({"key": "k" * 101}, "file, key: This is longer than 100 characters."),
    ],
    ids=["kind", "tier", "tier in words", "date", "jurisdiction", "language", "audience", "title", "blank in a key",
         "traversal", "composed", "long key"],
)  # fmt: skip
def test_what_cannot_be_true_of_a_document_is_refused_by_its_name(
    collection: Collection, options: dict[str, str], fault: str
) -> None:
    with pytest.raises(ImportRefused) as refused:
        add(collection, FEVER, **options)
    assert faults(refused) == [fault]
    assert not Document.objects.exists()


def test_one_bad_line_refuses_the_whole_file_and_is_named(collection: Collection) -> None:
    rows: list[dict[str, Any]] = [{**ROW, "key": f"k{n}"} for n in range(3)]
    rows[1] |= {"may_quote": True}
    with pytest.raises(ImportRefused) as refused:
        add(collection, lines(*rows), "f.jsonl")
    assert faults(refused) == ["line 2, may_quote: Enter the licence before you allow any use."]
    assert not Document.objects.exists()
    assert not Passage.objects.exists()


def test_a_collection_that_is_not_there_is_made_only_on_request(collection: Collection) -> None:
    with pytest.raises(DomainError, match="Collection “Others” does not exist in this benchmark"):
        add(collection, FEVER, collection="Others")
    add(collection, FEVER, collection="Others", create_collection="1")
    assert Document.objects.get().collection.name == "Others"


def test_one_key_for_several_documents_is_refused(collection: Collection) -> None:
    with pytest.raises(ImportRefused) as refused:
        add(collection, lines({**ROW, "key": "a"}, {**ROW, "key": "b"}), "f.jsonl", key="both")
    assert faults(refused) == ["file, key: This file contains several documents, which cannot share a key."]


def test_an_import_that_is_tried_again_stores_the_original_once(collection: Collection, settings: Any) -> None:
    first, second = add_document(collection), add_document(collection, key="other")
    assert first.file.name == second.file.name == f"documents/{first.sha256}.txt"


@pytest.mark.parametrize("options", [{"tier": "9"}, {"collection": "Nowhere"}])
def test_a_refused_import_leaves_no_original(collection: Collection, options: dict[str, str]) -> None:
    with pytest.raises(DomainError):
        add(collection, FEVER, **options)
    name = f"documents/{hashlib.sha256(FEVER.encode()).hexdigest()}.txt"
    assert not default_storage.exists(name)
    assert add_document(collection).file.name == name
    assert default_storage.exists(name)
