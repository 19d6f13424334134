"""The page that searches, the panel's answer, the API and the command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from documents.models import Document, Passage
from tests.documents.search.corpus import add_document, build, make_collection
from tests.factories import BenchmarkFactory, UserFactory

if TYPE_CHECKING:
    from django.test import Client

    from documents.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DOSE = "Give paracetamol 15 mg/kg, and <b>no</b> more than four doses."
ZH = "儿童发热时，口服对乙酰氨基酚15毫克/公斤。"


@pytest.fixture
def collection() -> Collection:
    benchmark = BenchmarkFactory(slug="bench", researcher=UserFactory(email="researcher@example.org"))
    collection = make_collection(benchmark)
    add_document(
        collection,
        "fever",
        [DOSE, "Seek help if the child is drowsy."],
        title="Fever in children",
        publisher="Made-up Health",
        version_label="2024",
        language="en",
        licence="CC-BY-4.0",
        headings=["Fever", "Dose"],
    )
    add_document(collection, "zh", [ZH], title="儿童发热", language="zh-Hans", may_send=False)
    build(collection)
    return collection


@pytest.fixture
def researcher(client: Client, collection: Collection) -> Client:
    client.force_login(collection.benchmark.roles.get().user)
    return client


def page(client: Client, query: str, **headers: str) -> str:
    response = client.get(f"/b/bench/documents/search/{query}", headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_shows_passages_with_the_words_of_the_query_marked(researcher: Client) -> None:
    shown = page(researcher, "?q=doses+of+15+mg/kg")
    assert (
        "Give paracetamol <mark\n>15 mg/kg</mark>, and &lt;b&gt;no&lt;/b&gt; more than four <mark\n>doses</mark>."
        in shown
    )
    assert "Fever › Dose" in shown
    assert "Made-up Health ·" in shown
    assert "CC-BY-4.0" in shown
    assert "对乙酰氨基酚<mark\n>15毫克/公斤</mark>。" in shown
    assert shown.count("Not sent to models") == 1
    passage = Passage.objects.get(text=DOSE)
    assert f'href="/b/bench/documents/passages/{passage.public_id}/"' in shown


def test_htmx_gets_the_passages_alone(researcher: Client) -> None:
    part = page(researcher, "?q=drowsy", **{"HX-Request": "true"})
    assert "<html" not in part
    assert "<mark\n>drowsy</mark>" in part
    whole = page(researcher, "?q=drowsy", **{"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert "<html" in whole


def test_the_page_says_why_there_is_nothing(researcher: Client, collection: Collection) -> None:
    assert "What are you looking for?" in page(researcher, "")
    assert "No passages contain any of these words." in page(researcher, "?q=xyzzy")
    assert 'href="/b/bench/documents/search/?q=drowsy"' in page(researcher, "?q=drowsy&language=zh")
    assert "A filter has a value that is not available here." in page(researcher, "?q=drowsy&kind=nonsense")
    empty = BenchmarkFactory(slug="empty", researcher=collection.benchmark.roles.get().user)
    response = researcher.get(f"/b/{empty.slug}/documents/search/?q=drowsy")
    assert "No documents yet" in response.content.decode()


def test_age_is_marked_beside_each_passage(researcher: Client) -> None:
    Document.objects.filter(key="fever").update(review_by="2020-01-01", retired_at=timezone.now())
    assert "drowsy</mark>" not in page(researcher, "?q=drowsy")
    shown = page(researcher, "?q=drowsy&retired=on")
    assert "Review overdue" in shown
    assert "Retired</span>" in shown


def test_filters_of_the_page_narrow_the_search(researcher: Client) -> None:
    assert DOSE[:16] in page(researcher, "?q=15+mg/kg&language=en")
    assert DOSE[:16] not in page(researcher, "?q=15+mg/kg&language=zh")
    assert "对乙酰氨基酚" not in page(researcher, "?q=15+mg/kg&may_send=on")


def test_the_panel_gets_what_it_shows_and_cites(researcher: Client) -> None:
    passage = Passage.objects.get(text=DOSE)
    answer = researcher.get("/b/bench/documents/find/?q=paracetamol&language=en").json()
    (hit,) = answer["hits"]
    assert hit.pop("score") > 0
    assert hit == {
        "passage": passage.public_id,
        "locator": passage.locator,
        "text": DOSE,
        "matches": [[5, 16]],
        "table_header": "",
        "headings": ["Fever", "Dose"],
        "document": passage.document.public_id,
        "collection": "Guidelines",
        "title": "Fever in children",
        "publisher": "Made-up Health",
        "version": "2024",
        "page": "",
        "language": "en",
        "licence": "CC-BY-4.0",
        "may_send": True,
        "may_quote": False,
        "reference": "Made-up Health, Fever in children, 2024",
        "marks": [],
    }
    assert researcher.get("/b/bench/documents/find/?q=x&kind=nonsense").status_code == 400


def test_a_reference_names_the_pages(researcher: Client, collection: Collection) -> None:
    document = add_document(collection, "pdf", ["tetanus"], title="Wounds")
    Passage.objects.bulk_create(
        Passage(
            document=document, ordinal=n, text="tetanus again", start=0, end=7, sha256="", page_from=n, page_to=last
        )
        for n, last in ((2, 2), (3, 4))
    )
    hits = researcher.get("/b/bench/documents/find/?q=tetanus").json()["hits"]
    assert [hit["reference"] for hit in hits] == ["Wounds", "Wounds, p. 2", "Wounds, pp. 3–4"]


def test_the_api_searches(researcher: Client) -> None:
    url = "/api/v1/benchmarks/bench/passages/"
    (hit,) = researcher.get(url, {"q": "paracetamol", "limit": "5", "tier": "3"}).json().get("results") or [None]
    assert hit is None
    (hit,) = researcher.get(url, {"q": "paracetamol", "limit": "5"}).json()["results"]
    assert (hit["text"], hit["state"], hit["reference"]) == (DOSE, [], "Made-up Health, Fever in children, 2024")
    assert len(researcher.get(url, {"q": "15 mg/kg", "limit": "1"}).json()["results"]) == 1
    assert len(researcher.get(url, {"q": "15 mg/kg"}).json()["results"]) == 2
    faults = [
        ("limit", "0"),
        ("limit", "9" * 400),
        ("limit", "-1"),
        ("limit", "²"),
        ("tier", "9"),
        ("order", "score"),
    ]
    for name, value in faults:
        assert researcher.get(url, {name: value}).status_code == 400, (name, value)
    assert researcher.get(url, {"q": "x" * 10_001}).status_code == 414  # the address as a whole is too long
    for name in ("may_send", "retired", "superseded"):
        refused = researcher.get(url, {"q": "paracetamol", name: "foo"})
        assert (refused.status_code, refused.json()) == (400, {name: ["One of: true, false."]})
    for query, sendable in (("paracetamol", True), ("儿童发热", False)):  # the Chinese document may not be sent
        for value in (True, False):
            answer = researcher.get(url, {"q": query, "may_send": str(value).lower()}).json()["results"]
            assert bool(answer) == (sendable == value), (query, value)


def test_strangers_find_nothing(client: Client, collection: Collection) -> None:
    client.force_login(UserFactory())
    for url in ("/b/bench/documents/search/", "/b/bench/documents/find/", "/api/v1/benchmarks/bench/passages/"):
        assert client.get(url, {"q": "drowsy"}).status_code == 404


def test_the_command_prints_passages(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("search_documents", "15", "mg/kg", benchmark="bench")
    lines = capsys.readouterr().out.splitlines()
    assert DOSE in " ".join(lines)
    assert "Made-up Health, Fever in children, 2024" in " ".join(lines)
    call_command("search_documents", "drowsy", benchmark="bench", collection="Guidelines", json=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["text"] == "Seek help if the child is drowsy."
    call_command("search_documents", "xyzzy", benchmark="bench")
    assert capsys.readouterr().out == "No passage has any of these words.\n"


@pytest.mark.parametrize("wrong", [{"collection": "None"}, {"limit": 0}, {"limit": 1000}])
def test_the_command_refuses(collection: Collection, wrong: dict[str, Any]) -> None:
    with pytest.raises(CommandError):
        call_command("search_documents", "x", **{"benchmark": "bench", **wrong})
