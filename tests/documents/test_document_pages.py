"""Pages of documents, passages and collections."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.services import add_member, create_group
from documents import services
from documents.models import Collection, Document, SearchGeneration
from documents.services.terms import CollectionTerms, LicenceTerms
from rubrics.models import ImportJob
from rubrics.services import give_authoring_role
from tests.documents.library import AT, FEVER, add, add_document, lines, make_collection, make_job, work
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
DOCUMENTS = "/b/bench/documents/"


def signed_in(collection: Collection, role: str = "researcher") -> Client:
    """Somebody of the benchmark: admin, researcher, author or annotator."""
    client = Client()
    user = collection.benchmark.roles.filter(role=role).first()
    if user is not None:
        client.force_login(user.user)
        return client
    person = UserFactory()
    if role == "author":
        give_authoring_role(benchmark=collection.benchmark, user=person, role="author", at=AT)
    else:
        group = create_group(benchmark=collection.benchmark, name="A")
        add_member(group=group, email=person.email, role=role)
    client.force_login(person)
    return client


def words(response: Any) -> str:
    """What a page says, without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def table(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def library_of_three(collection: Collection) -> dict[str, Document]:
    """A guideline with two editions, a retired leaflet in Chinese, and a reference past its date of review."""
    old = add_document(collection, FEVER, kind="guideline", language="en", jurisdictions="GB", tier="1", title="Old")
    new = add_document(collection, FEVER + "\nMore.\n", kind="guideline", language="en", jurisdictions="GB, INT",
                       tier="1", title="Fever in children")  # fmt: skip
    leaflet = add_document(collection, "发热的孩子应多喝水。\n", "leaflet.txt", kind="patient_information",
                           language="zh", jurisdictions="CN", title="发热须知")  # fmt: skip
    services.retire(document=leaflet, at=timezone.now())
    overdue = add_document(collection, "Doses.\n", "doses.txt", kind="drug_reference", review_by="2020-01-01",
                           title="Doses", publisher="A made-up press")  # fmt: skip
    return {"old": old, "new": new, "leaflet": leaflet, "overdue": overdue}


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", ["Doses", "Fever in children"]),
        ("?state=all", ["Doses", "Fever in children", "Old", "发热须知"]),
        ("?state=superseded", ["Old"]),
        ("?state=retired", ["发热须知"]),
        ("?state=overdue", ["Doses"]),
        ("?kind=guideline", ["Fever in children"]),
        ("?language=zh&state=all", ["发热须知"]),
        ("?jurisdiction=INT", ["Fever in children"]),
        ("?tier=1&state=all", ["Fever in children", "Old"]),
        ("?q=made-up", ["Doses"]),
        ("?kind=novel", []),
    ],
)
def test_documents_are_filtered_on_the_page_and_in_the_file_alike(
    collection: Collection, query: str, titles: list[str]
) -> None:
    library_of_three(collection)
    client = signed_in(collection)
    page = client.get(DOCUMENTS + query).content.decode()
    shown = re.findall(r'<th scope="row" class="document-name">.*?<a.*?>(.*?)</a>', page, re.DOTALL)
    assert sorted(title.strip() for title in shown) == titles
    assert [row["title"] for row in table(client.get(f"/b/bench/documents.csv{query}"))] == titles


def test_the_file_of_documents_names_their_state_and_licence(collection: Collection) -> None:
    documents = library_of_three(collection)
    services.change_licence(document=documents["new"], terms=LicenceTerms(licence="=1+1", may_quote=True))
    rows = {row["title"]: row for row in table(signed_in(collection).get("/b/bench/documents.csv?state=all"))}
    assert {title: row["state"] for title, row in rows.items()} == {
        "Fever in children": "in_use", "Old": "superseded", "Doses": "overdue", "发热须知": "retired",
    }  # fmt: skip
    row = rows["Fever in children"]
    assert row["licence"] == "'=1+1"  # inert in a spreadsheet
    assert (row["may_send"], row["may_quote"], row["edition"]) == ("false", "true", "2")
    assert row["sha256"] == documents["new"].sha256


def test_lists_cost_the_same_at_any_length(collection: Collection) -> None:
    client = signed_in(collection)

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            response = client.get(path)
            b"".join(response) if response.streaming else response.content
        return len(captured)

    paths = (DOCUMENTS, "/b/bench/documents.csv?state=all", f"{DOCUMENTS}collections/",
             "/api/v1/benchmarks/bench/documents/?state=all", "/api/v1/benchmarks/bench/collections/")  # fmt: skip
    add(collection, FEVER)
    for path in paths:
        client.get(path)  # what a process reads once
    few = {path: queries(path) for path in paths}
    add(collection, lines(*({"key": f"k{n}", "text": f"Text {n}.", "review_by": "2020-01-01"} for n in range(20))),
        "f.jsonl")  # fmt: skip
    add(collection, lines(*({"key": f"k{n}", "text": f"Other text {n}."} for n in range(10))), "f.jsonl")
    assert {path: queries(path) for path in paths} == few


def test_empty_pages_say_why_and_where_to_go(collection: Collection) -> None:
    page = words(signed_in(collection).get(DOCUMENTS))
    assert "No documents yet" in page
    assert "Collections" in page
    assert "Only admins and researchers of this benchmark can import" in words(
        signed_in(collection, "annotator").get(DOCUMENTS)
    )
    add(collection, FEVER)
    assert "No matching documents" in words(signed_in(collection).get(f"{DOCUMENTS}?kind=research"))


def test_a_document_shows_its_editions_its_licence_and_its_age(collection: Collection) -> None:
    documents = library_of_three(collection)
    client = signed_in(collection)
    old = words(client.get(f"{DOCUMENTS}{documents['old'].public_id}/"))
    assert "A newer edition supersedes this one, which is excluded from searches." in old
    assert "Edition 2" in old
    assert "unknown, so no use is allowed" in old
    assert "15 mg/kg of paracetamol" in old
    assert "planned to review it by 1 Jan. 2020" in words(client.get(f"{DOCUMENTS}{documents['overdue'].public_id}/"))
    assert "This document was retired on" in words(client.get(f"{DOCUMENTS}{documents['leaflet'].public_id}/"))
    services.change_licence(document=documents["new"], terms=LicenceTerms(licence="CC-BY-4.0", may_send=True))
    new = words(client.get(f"{DOCUMENTS}{documents['new'].public_id}/"))
    assert "CC-BY-4.0" in new
    assert "Passages may be sent to models." in new
    assert "Exports contain only locators." in new
    assert "supersedes this one" not in new


def test_a_passage_shows_its_surroundings_and_marks_the_words_of_the_address(collection: Collection) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + f"Word{n} " * 150 for n in range(4))
    document = add_document(collection, text, "long.txt")
    _first, second, *_others = document.passages.order_by("ordinal")
    client = signed_in(collection, "annotator")
    page = client.get(f"{DOCUMENTS}passages/{second.public_id}/")
    assert all(f"Paragraph {n}." in words(page) for n in range(3))
    assert "Paragraph 3." not in words(page)
    assert second.locator in words(page)
    start = second.text.index("Word1")
    marked = client.get(f"{DOCUMENTS}passages/{second.public_id}/?start={start}&end={start + 5}").content.decode()
    assert '<mark id="marked">Word1</mark>' in marked
    for wrong in ("start=5", "start=9&end=9", "start=9&end=3", f"start=0&end={len(second.text) + 1}", "start=-1&end=4",
                  "start=²&end=9", "start=a&end=b", f"start=0&end={'9' * 5000}"):  # fmt: skip
        answer = client.get(f"{DOCUMENTS}passages/{second.public_id}/?{wrong}")
        assert answer.status_code == 200
        assert "<mark" not in answer.content.decode()
        assert "nothing is marked" in words(answer)


def test_what_another_benchmark_has_is_not_there_under_ones_own_name(collection: Collection) -> None:
    other = make_collection(BenchmarkFactory(slug="other"))
    document = add_document(other)
    passage = document.passages.first()
    client = signed_in(collection, "admin")
    for address in (
        f"{DOCUMENTS}collections/{other.public_id}/",
        f"{DOCUMENTS}{document.public_id}/",
        f"{DOCUMENTS}{document.public_id}/edit/",
        f"{DOCUMENTS}passages/{passage.public_id}/",
    ):
        assert client.get(address).status_code == 404, address
    own = add_document(collection)
    assert client.get(f"{DOCUMENTS}passages/{own.passages.first().public_id}/").status_code == 200
    assert client.get(f"{DOCUMENTS}{own.public_id}/edit/").status_code == 200
    assert client.get(f"{DOCUMENTS}collections/{collection.public_id}/").status_code == 200


def test_foreign_text_is_shown_and_never_run(collection: Collection) -> None:
    document = add_document(collection, "<script>alert(1)</script> <b hx-get='/x'>bold</b>\n", "x.txt")
    (passage,) = document.passages.all()
    for address in (f"{DOCUMENTS}{document.public_id}/", f"{DOCUMENTS}passages/{passage.public_id}/"):
        page = signed_in(collection).get(address).content.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page


def test_passages_as_a_file_hold_locators_alone_until_they_may_be_quoted(collection: Collection) -> None:
    document = add_document(collection, f"# Fever\n\n{FEVER}", "fever.md", licence="CC-BY-4.0")
    address = f"{DOCUMENTS}{document.public_id}/passages.csv"
    rows = table(signed_in(collection, "annotator").get(address))
    assert [row["locator"] for row in rows] == [passage.locator for passage in document.passages.order_by("ordinal")]
    assert {row["text"] for row in rows} == {row["headings"] for row in rows} == {""}
    services.change_licence(document=document, terms=LicenceTerms(licence="CC-BY-4.0", may_quote=True))
    rows = table(signed_in(collection, "researcher").get(address))
    assert [row["text"] for row in rows] == [passage.text for passage in document.passages.order_by("ordinal")]
    assert rows[0]["headings"].startswith("Fever")


def downloaded(response: Any) -> bytes:
    content = b"".join(response.streaming_content)
    for close in response._resource_closers:  # `close` itself would end the test's connection as well
        close()
    return content


def test_the_original_is_for_staff_until_it_may_be_passed_on(collection: Collection) -> None:
    document = add_document(collection, licence="CC-BY-4.0")
    address = f"{DOCUMENTS}{document.public_id}/file/"
    staff, author = signed_in(collection), signed_in(collection, "author")
    assert author.get(address).status_code == 404
    response = staff.get(address)
    assert downloaded(response) == FEVER.encode()
    assert response.headers["Content-Disposition"].startswith("attachment")
    services.change_licence(document=document, terms=LicenceTerms(licence="CC-BY-4.0", may_redistribute=True))
    assert downloaded(author.get(address)) == FEVER.encode()
    in_lines = add_document(collection, lines({"key": "a", "text": "Text."}).decode(), "f.jsonl")
    assert staff.get(f"{DOCUMENTS}{in_lines.public_id}/file/").status_code == 404  # it never was a file


def form_of(document: Document, **changes: str) -> dict[str, str]:
    return {"title": document.title, "kind": document.kind, "tier": str(document.tier)} | changes


def test_staff_describe_a_document_and_say_what_its_licence_allows(collection: Collection) -> None:
    document = add_document(collection)
    address = f"{DOCUMENTS}{document.public_id}/edit/"
    client = signed_in(collection)
    assert signed_in(collection, "author").post(address, form_of(document)).status_code == 404
    refused = client.post(address, form_of(document, may_send="on"))
    assert refused.status_code == 422
    assert "Enter the licence before you allow any use." in words(refused)
    response = client.post(
        address,
        form_of(document, title="Fever", licence="CC-BY-4.0", may_send="on", jurisdictions="GB int".upper(),
                audience="lay", review_by="2027-05-01"),
    )  # fmt: skip
    assert response.status_code == 302
    document.refresh_from_db()
    assert (document.title, document.licence, document.may_send, document.may_quote) == (
        "Fever",
        "CC-BY-4.0",
        True,
        False,
    )
    assert (document.jurisdictions, document.audience, str(document.review_by)) == (["GB", "INT"], "lay", "2027-05-01")
    # Who said so is on record.
    event = document.events.order_by("pgh_id").last()
    assert (event.licence, event.may_send) == ("CC-BY-4.0", True)
    assert event.pgh_context["user"] == collection.benchmark.roles.get(role="researcher").user_id
    # What is taken back is taken back.
    client.post(address, form_of(document))
    document.refresh_from_db()
    assert (document.licence, document.may_send, document.audience, document.review_by) == ("", False, "", None)


def test_a_document_is_retired_and_brought_back(collection: Collection) -> None:
    document = add_document(collection)
    client = signed_in(collection)
    assert client.post(f"{DOCUMENTS}{document.public_id}/retire/").status_code == 302
    first = Document.objects.get().retired_at
    assert first is not None
    client.post(f"{DOCUMENTS}{document.public_id}/retire/")
    assert Document.objects.get().retired_at == first
    client.post(f"{DOCUMENTS}{document.public_id}/restore/")
    assert Document.objects.get().retired_at is None


# Collections -----------------------------------------------------------------------------------------------------


def test_a_collection_is_made_once_and_renamed(collection: Collection) -> None:
    client = signed_in(collection)
    assert client.post(f"{DOCUMENTS}collections/", {"name": ""}).status_code == 422
    repeated = client.post(f"{DOCUMENTS}collections/", {"name": "Guidelines"})
    assert repeated.status_code == 409
    assert "A collection “Guidelines” already exists." in words(repeated)
    response = client.post(f"{DOCUMENTS}collections/", {"name": "Leaflets", "description": "For patients"})
    leaflets = Collection.objects.get(name="Leaflets")
    assert response.url == f"{DOCUMENTS}collections/{leaflets.public_id}/"
    assert client.post(f"{response.url}edit/", {"name": "Guidelines"}).status_code == 409
    assert client.post(f"{response.url}edit/", {"name": "For patients"}).status_code == 302
    assert Collection.objects.get(pk=leaflets.pk).name == "For patients"


def test_imports_that_are_not_done_follow_a_collection_to_its_new_name(collection: Collection) -> None:
    waiting = make_job(collection, FEVER.encode(), "fever.txt")
    services.change_collection(collection=collection, terms=CollectionTerms(name="Renamed"))
    assert work(waiting).status == "done"
    assert Document.objects.get().collection == collection
    page = words(signed_in(collection).get(f"{DOCUMENTS}collections/{collection.public_id}/"))
    assert "fever.txt" in page


def test_imports_that_are_done_stay_with_the_collection_that_they_filled(collection: Collection) -> None:
    client, address = signed_in(collection), f"{DOCUMENTS}collections/{collection.public_id}/"
    upload(client, collection, "gout.txt")
    job = ImportJob.objects.get()
    assert work(job).status == "done"
    client.post(f"{address}edit/", {"name": "Renamed"})
    assert client.post(f"{DOCUMENTS}collections/", {"name": "Guidelines"}).status_code == 302
    newer = Collection.objects.get(name="Guidelines")
    assert "gout.txt" in words(client.get(address))
    assert "gout.txt" not in words(client.get(f"{DOCUMENTS}collections/{newer.public_id}/"))
    # The id is for the program alone.
    assert collection.public_id not in words(client.get(f"/b/bench/imports/{job.public_id}/"))


def test_an_upload_goes_where_it_was_sent_although_another_collection_has_the_name_by_now(
    collection: Collection,
) -> None:
    waiting = make_job(collection, FEVER.encode(), "fever.txt")
    Collection.objects.filter(pk=collection.pk).update(name="Renamed")
    make_collection(collection.benchmark)
    assert work(waiting).status == "done"
    assert Document.objects.get().collection == collection


def test_the_page_of_a_collection_says_how_its_index_is(collection: Collection) -> None:
    client, address = signed_in(collection), f"{DOCUMENTS}collections/{collection.public_id}/"
    assert "There is no index yet." in words(client.get(address))
    assert client.post(f"{address}rebuild/").status_code == 302
    generation = SearchGeneration.objects.get(collection=collection)
    assert "The index is being built." in words(client.get(address))
    SearchGeneration.objects.filter(pk=generation.pk).update(status="failed", error="The disk is full.")
    assert "The disk is full." in words(client.get(address))


def upload(client: Client, collection: Collection, *names: str, **fields: str) -> Any:
    files = [SimpleUploadedFile(name, f"{name}: some words.\n".encode()) for name in names]
    return client.post(f"{DOCUMENTS}collections/{collection.public_id}/import/", {"file": files, **fields})


def test_several_files_are_uploaded_at_once_with_one_licence(collection: Collection) -> None:
    client = signed_in(collection)
    response = upload(client, collection, "a.txt", "b.txt", licence="CC0-1.0", may_send="on", kind="research", tier="2",
                      jurisdictions="CN")  # fmt: skip
    assert response.url == f"{DOCUMENTS}collections/{collection.public_id}/"
    for job in ImportJob.objects.order_by("pk"):
        assert work(job).status == "done"
    stored = Document.objects.order_by("key").values_list("key", "licence", "may_send", "kind", "tier", "jurisdictions")
    assert list(stored) == [(key, "CC0-1.0", True, "research", 2, ["CN"]) for key in "ab"]
    page = words(client.get(response.url))
    assert "a.txt" in page
    assert "b.txt" in page


def test_the_page_of_an_import_leads_to_its_documents(collection: Collection) -> None:
    client = signed_in(collection)
    response = upload(client, collection, "a.txt", kind="other", tier="4", key="fever")
    job = ImportJob.objects.get()
    assert response.url == f"/b/bench/imports/{job.public_id}/"
    work(job)
    page = client.get(response.url)
    assert "Guidelines" in words(page)
    assert f'href="{DOCUMENTS}?q=fever"' in page.content.decode()
    # Such files are not offered on the page of all imports, which leads to their own.
    imports = client.get("/b/bench/imports/").content.decode()
    assert '<option value="documents"' not in imports
    assert f'href="{DOCUMENTS}collections/"' in imports


@pytest.mark.parametrize(
    ("names", "fields", "sentence"),
    [
        ((), {}, "Choose files or enter addresses."),
        (("a.txt",), {"urls": "https://example.org/a"}, "Choose files or enter addresses."),
        (("a.txt", "b.txt"), {"key": "a"}, "This can be set only for a single file."),
        (("a.txt", "b.txt"), {"title": "a"}, "This can be set only for a single file."),
        (("a.txt",), {"key": "a b"}, "A key consists of letters"),
        (("a.txt",), {"may_quote": "on"}, "Enter the licence before you allow any use."),
        (("a.txt",), {"published_on": "soon"}, "Enter a valid date."),
        (("a.txt",), {"jurisdictions": "Britain"}, "A jurisdiction must be an ISO 3166 country code"),
        (("a.txt",), {"format": "word"}, "word is not one of the available choices"),
        (tuple(f"{n}.txt" for n in range(51)), {}, "Choose at most 50 files at once."),
    ],
    ids=["nothing", "both", "one key", "one title", "key", "flag", "date", "jurisdiction", "format", "many"],
)
def test_an_upload_that_could_not_succeed_is_refused_at_the_form(
    collection: Collection, names: tuple[str, ...], fields: dict[str, str], sentence: str
) -> None:
    response = upload(signed_in(collection), collection, *names, **{"kind": "other", "tier": "4", **fields})
    assert response.status_code == 422
    assert sentence in words(response)
    assert not ImportJob.objects.exists()


def test_a_new_edition_begins_with_what_is_known_but_not_with_its_licence(collection: Collection) -> None:
    document = add_document(collection, title="Fever", publisher="A made-up college", licence="CC0-1.0", may_send="1")
    address = f"{DOCUMENTS}collections/{collection.public_id}/import/?edition_of={document.public_id}"
    page = signed_in(collection).get(address).content.decode()
    assert 'value="A made-up college"' in page
    assert 'value="fever"' in page
    assert "CC0-1.0" not in page
    assert signed_in(collection).get(address[:-3]).status_code == 404


def test_who_imports_documents_finds_the_button_and_others_read_who_can(collection: Collection) -> None:
    add(collection, FEVER)
    form_url = f"{DOCUMENTS}collections/{collection.public_id}/import/"
    researcher, author = signed_in(collection), signed_in(collection, "author")
    assert f'href="{form_url}"' in researcher.get(DOCUMENTS).content.decode()
    second = make_collection(collection.benchmark, "Leaflets")
    page = researcher.get(DOCUMENTS).content.decode()
    for choice in (collection, second):
        assert f'href="{DOCUMENTS}collections/{choice.public_id}/import/"' in page
        assert f"Into “{choice.name}”" in words(researcher.get(DOCUMENTS))
    read = author.get(DOCUMENTS)
    assert "/import/" not in read.content.decode()
    assert "Only admins and researchers of this benchmark can import documents." in words(read)
    assert "Only admins" not in words(researcher.get(DOCUMENTS))


def test_a_refused_import_lists_its_errors_first_and_asks_for_the_file_again(collection: Collection) -> None:
    client, path = signed_in(collection), f"{DOCUMENTS}collections/{collection.public_id}/import/"

    def post(**fields: str) -> Any:
        values = {"kind": "other", "tier": "4", "file": SimpleUploadedFile("fever.txt", FEVER.encode()), **fields}
        return client.post(path, values)

    refused = post(jurisdictions="International", language="Klingonese")
    assert refused.status_code == 422
    summary = refused.content.decode().split('role="alert"')[1].split("</div>")[0]
    assert re.findall(r'<a href="#([^"]+)">', summary) == ["id_file", "id_language"]
    assert "Choose the file again" in summary
    dates = post(published_on="2026-01-31", review_by="2025-01-31")
    assert "The review cannot be due before the document was published." in words(dates)
    assert not ImportJob.objects.exists()
    assert post(language="西班牙语", published_on="2026-01-31", review_by="2026-01-31").status_code == 302
    job = ImportJob.objects.get()
    assert job.options["language"] == "es"
    page = words(client.get(f"/b/{collection.benchmark.slug}/imports/{job.public_id}/"))
    assert "Language Spanish" in page


def test_the_language_of_a_document_is_shown_by_name_and_stored_by_code(collection: Collection) -> None:
    document = add_document(collection, FEVER, language="en")
    client, path = signed_in(collection), f"{DOCUMENTS}{document.public_id}/edit/"
    page = client.get(path).content.decode()
    assert re.search(r'name="language" value="English"', page)
    assert '<option value="Chinese"></option>' in page
    assert client.post(path, {"title": "T", "kind": "other", "tier": "4", "language": "zh-hans"}).status_code == 302
    document.refresh_from_db()
    assert document.language == "zh-Hans"
