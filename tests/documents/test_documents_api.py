"""The API of collections, documents and passages."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.services import add_member, create_group
from documents.models import Collection, Document
from rubrics.models import ImportJob
from tests.documents.library import FEVER, add_document, work
from tests.factories import UserFactory, token_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ROOT = "/api/v1/benchmarks/bench/"


class Caller:
    """A client with a token."""

    def __init__(self, user: Any) -> None:
        self.headers = {"Authorization": f"Token {token_of(user)}"}
        self.client = Client()

    def get(self, path: str) -> Any:
        return self.client.get(ROOT + path, headers=self.headers)

    def send(self, path: str, body: Any, method: str = "post") -> Any:
        return getattr(self.client, method)(ROOT + path, body, content_type="application/json", headers=self.headers)

    def upload(self, path: str, **fields: Any) -> Any:
        return self.client.post(ROOT + path, fields, headers=self.headers)


@pytest.fixture
def researcher(collection: Collection) -> Caller:
    return Caller(collection.benchmark.roles.get(role="researcher").user)


@pytest.fixture
def annotator(collection: Collection) -> Caller:
    person = UserFactory()
    add_member(group=create_group(benchmark=collection.benchmark, name="A"), email=person.email, role="annotator")
    return Caller(person)


def test_a_file_goes_through_the_api_into_a_collection_and_out_again(researcher: Caller, annotator: Caller) -> None:
    leaflets = researcher.send("collections/", {"name": "Leaflets", "description": "For patients"})
    assert leaflets.status_code == 201
    assert (leaflets.json()["name"], leaflets.json()["document_count"]) == ("Leaflets", 0)
    path = f"collections/{leaflets.json()['id']}/"
    sent = {"file": SimpleUploadedFile("fever.txt", FEVER.encode()), "licence": "CC0-1.0", "may_send": "true",
            "jurisdictions": "GB, INT", "kind": "guideline", "tier": "1", "published_on": "2026-01-31"}  # fmt: skip
    assert annotator.upload(f"{path}documents/", **sent).status_code == 404
    sent["file"].seek(0)
    answer = researcher.upload(f"{path}documents/", **sent)
    assert (answer.status_code, answer.json()["kind"]) == (201, "documents")
    assert work(ImportJob.objects.get()).status == "done"
    assert researcher.get(f"imports/{answer.json()['id']}/").json()["counts"]["documents"]["created"] == 1

    assert annotator.get(path).json()["document_count"] == 1
    (row,) = annotator.get("documents/").json()["results"]
    assert row["collection"] == leaflets.json()["id"]
    assert (row["key"], row["edition"], row["supersedes"], row["state"]) == ("fever", 1, None, [])
    assert (row["licence"], row["may_send"], row["may_quote"]) == ("CC0-1.0", True, False)
    assert (row["kind"], row["tier"], row["jurisdictions"]) == ("guideline", 1, ["GB", "INT"])
    assert "text" not in row
    assert annotator.get(f"documents/{row['id']}/").json() == row
    passages = annotator.get(f"documents/{row['id']}/passages/").json()["results"]
    assert len(passages) == row["passage_count"]
    stored = Document.objects.get()
    for passage in passages:
        assert passage["text"] == stored.text[passage["start"] : passage["end"]]
        assert annotator.get(f"passages/{passage['id']}/").json() == passage
    assert passages[0]["locator"].startswith(f"fever@{stored.sha256[:8]}#")


@pytest.mark.slow
def test_a_new_edition_keeps_what_is_not_given_but_its_licence(
    researcher: Caller, annotator: Caller, collection: Collection
) -> None:
    def upload(text: str, **fields: str) -> dict[str, Any]:
        file = SimpleUploadedFile("fever.txt", text.encode())
        answer = researcher.upload(f"collections/{collection.public_id}/documents/", file=file, **fields)
        assert work(ImportJob.objects.get(public_id=answer.json()["id"])).status == "done"
        counts = researcher.get(f"imports/{answer.json()['id']}/").json()["counts"]
        (row,) = annotator.get("documents/").json()["results"]
        return {**row, "warnings": counts["warnings"]}

    kept = {"title": "Fever in children", "publisher": "A made-up college", "kind": "guideline", "tier": 1}
    fields_given = {name: str(value) for name, value in kept.items()}
    upload(
        FEVER,
        **fields_given,
        jurisdictions="GB, INT",
        audience="lay",
        version_label="1.0",
        licence="CC0-1.0",
        may_send="1",
    )
    second = upload(FEVER + "\nA correction.\n")
    assert {name: second[name] for name in kept} == kept
    assert (second["edition"], second["jurisdictions"], second["audience"]) == (2, ["GB", "INT"], "lay")
    assert (second["version_label"], second["licence"], second["may_send"]) == ("", "", False)
    assert second["warnings"] == ["“fever”: the licence of edition 1 was not carried over. State that of this edition."]
    third = upload(FEVER + "\nAnother.\n", tier="4", kind="other", title="Fever")
    assert [third[name] for name in ("title", "publisher", "kind", "tier")] == [
        "Fever",
        "A made-up college",
        "other",
        4,
    ]
    assert third["warnings"] == []


def test_what_a_patch_leaves_out_stays(researcher: Caller, annotator: Caller, collection: Collection) -> None:
    document = add_document(collection, title="Fever", licence="CC0-1.0", may_send="1", publisher="A made-up college")
    path = f"documents/{document.public_id}/"
    assert annotator.send(path, {"licence": ""}, "patch").status_code == 404
    changed = researcher.send(path, {"may_quote": True, "review_by": "2020-01-01", "audience": "lay"}, "patch").json()
    assert (changed["licence"], changed["may_send"], changed["may_quote"]) == ("CC0-1.0", True, True)
    assert (changed["title"], changed["publisher"], changed["audience"]) == ("Fever", "A made-up college", "lay")
    assert changed["state"] == ["overdue"]
    assert researcher.send(path, {"review_by": None, "audience": None}, "patch").json()["audience"] == ""
    assert researcher.send(path, {"retired": True}, "patch").json()["state"] == ["retired"]
    assert annotator.get("documents/").json()["count"] == 0
    assert annotator.get("documents/?state=retired").json()["count"] == 1
    assert researcher.send(path, {"retired": False}, "patch").json()["retired_at"] is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": "other"}, 400),
        ({"key": "other"}, 400),
        ({"sha256": "0" * 64}, 400),
        ({"kind": "novel"}, 400),
        ({"tier": 0}, 400),
        ({"jurisdictions": ["Britain"]}, 400),
        ({"jurisdictions": ["gb"]}, 422),
        ({"language": "English"}, 422),
        ({"licence": ""}, 422),  # while it may be sent to models
        ({"title": ""}, 400),
    ],
)
def test_what_may_not_be_changed_is_refused(
    researcher: Caller, collection: Collection, body: dict[str, Any], status: int
) -> None:
    document = add_document(collection, title="Fever", licence="CC0-1.0", may_send="1")
    before = Document.objects.values().get()
    assert researcher.send(f"documents/{document.public_id}/", body, "patch").status_code == status
    assert Document.objects.values().get() == before


@pytest.mark.parametrize(
    "fields", [{"key": "a b"}, {"format": "word"}, {"may_send": "perhaps"}, {"collection": "Other"}, {"options": "x"}]
)
def test_an_upload_that_cannot_succeed_is_refused_at_once(
    researcher: Caller, collection: Collection, fields: dict[str, str]
) -> None:
    file = SimpleUploadedFile("fever.txt", FEVER.encode())
    answer = researcher.upload(f"collections/{collection.public_id}/documents/", file=file, **fields)
    assert answer.status_code == 400
    assert list(answer.json()) == list(fields)
    assert not ImportJob.objects.exists()


def test_the_list_refuses_filters_that_it_does_not_know(annotator: Caller) -> None:
    for query in ("user__password=x", "kind=novel", "state=broken", "collection=foreign"):
        assert annotator.get(f"documents/?{query}").status_code == 400


def test_a_collection_is_renamed_by_those_who_run_the_benchmark(
    researcher: Caller, annotator: Caller, collection: Collection
) -> None:
    path = f"collections/{collection.public_id}/"
    assert annotator.send(path, {"name": "x"}, "patch").status_code == 404
    assert annotator.send("collections/", {"name": "x"}).status_code == 404
    assert researcher.send(path, {"description": "For fever"}, "patch").json()["name"] == "Guidelines"
    assert researcher.send(path, {"name": "Fever"}, "patch").json()["description"] == "For fever"
    assert [row["name"] for row in annotator.get("collections/").json()["results"]] == ["Fever"]
