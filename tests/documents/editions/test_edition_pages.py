"""Page, table and API of a later edition: from the import of the edition to requests to reword criteria."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from documents.models import Collection, Document
from rubrics.models import Case, RevisionRequest, Rubric
from tests.documents.editions.editions_world import cite, cited_rubric
from tests.documents.library import add_document, make_job, work
from tests.documents.test_document_pages import signed_in, words
from tests.factories import CaseFactory, JudgeFactory, JudgeRunFactory, ResponseFactory, VerdictFactory

pytestmark = pytest.mark.django_db

ECG = "Record an electrocardiogram within ten minutes of arrival."
OXYGEN = "Give oxygen to every patient with chest pain."


@pytest.fixture
def rubric(collection: Collection) -> Rubric:
    """Three criteria: on words that stay, on words that go, and on nothing."""
    first = add_document(collection, f"{ECG}\n\n{OXYGEN}\n", "chest.txt", title="Chest pain")
    ecg, oxygen = first.passages.get(text__contains=ECG), first.passages.get(text__contains=OXYGEN)
    case: Case = CaseFactory(benchmark=collection.benchmark, key="case-of-chest-pain", rubric=0)
    return cited_rubric(case, [[cite(ecg, ECG)], [cite(oxygen, OXYGEN)], []])


def edition_without_oxygen(collection: Collection) -> Document:
    text = f"{ECG}\n\nGive oxygen to patients who are hypoxic.\n"
    return add_document(collection, text, "chest.txt", title="Chest pain", version_label="2026")


def address(edition: Document, rest: str = "citations/") -> str:
    return f"/b/bench/documents/{edition.public_id}/{rest}"


def test_the_page_says_what_is_carried_over_and_what_is_left_behind(collection: Collection, rubric: Rubric) -> None:
    edition = edition_without_oxygen(collection)
    _ecg, second, _third = rubric.items.all()
    response = ResponseFactory(case=rubric.case)
    for judge in ("one", "two"):
        run = JudgeRunFactory(judge=JudgeFactory(benchmark=collection.benchmark, name=judge))
        VerdictFactory(run=run, response=response, criterion=second.criterion)
    page = words(signed_in(collection).get(address(edition)))
    left, carried = page.split("Carried over")
    assert "Criterion 2" in left and "Criterion 1" not in left
    assert OXYGEN in left
    assert "Nearest words in this edition: Give oxygen to patients" in left
    assert "Needed again if it is reworded: 0 decisions, 2 verdicts" in left
    assert "Criterion 1" in carried and ECG in carried and "Word for word" in carried
    assert "Criterion 3" not in page


@pytest.mark.slow
def test_exactly_the_chosen_criteria_are_asked_to_be_reworded(collection: Collection, rubric: Rubric) -> None:
    edition = edition_without_oxygen(collection)
    first, second, _third = rubric.items.all()
    client = signed_in(collection)
    answer = client.post(address(edition), {"criterion": [second.pk]})
    assert answer.headers["Location"] == "/b/bench/revisions/"
    assert RevisionRequest.objects.get().criterion == second.criterion
    refused = client.post(address(edition), {"criterion": [first.pk]})
    assert refused.status_code == 422 or refused.status_code == 400
    assert "Reload the page." in words(refused)
    none = client.post(address(edition), {})
    assert "Choose at least one criterion." in words(none)
    assert RevisionRequest.objects.count() == 1
    assert "Rewording has already been requested." in words(client.get(address(edition)))


def test_the_table_has_a_row_for_each_citation(collection: Collection, rubric: Rubric) -> None:
    edition = edition_without_oxygen(collection)
    answer = signed_in(collection).get(address(edition, "citations.csv"))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [(row["number"], row["match"], row["quote"]) for row in rows] == [("1", "exact", ""), ("2", "absent", "")]
    assert rows[0]["carried_to"].startswith(f"chest@{edition.sha256[:8]}#")
    assert rows[1]["carried_to"] == ""


@pytest.mark.parametrize(("earlier", "later"), [(True, False), (False, True)])
def test_the_table_has_words_where_the_edition_that_has_them_may_be_quoted(
    collection: Collection, rubric: Rubric, earlier: bool, later: bool
) -> None:
    edition = edition_without_oxygen(collection)
    for document, flag in ((edition.supersedes, earlier), (edition, later)):
        Document.objects.filter(pk=document.pk).update(licence="CC0-1.0", may_quote=flag)
    answer = signed_in(collection).get(address(edition, "citations.csv"))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [row["quote"] for row in rows] == ([ECG, OXYGEN] if earlier else ["", ""])


def test_the_api_says_the_same(collection: Collection, rubric: Rubric) -> None:
    edition = edition_without_oxygen(collection)
    client = signed_in(collection)
    url = f"/api/v1/benchmarks/bench/documents/{edition.public_id}/citations/"
    rows = client.get(url).json()["results"]
    assert client.get(f"{url}?limit=1").json()["count"] == 2
    assert [(row["number"], row["is_left_behind"]) for row in rows] == [(1, False), (2, True)]
    assert rows[1]["citations"][0]["match"] == "absent"
    answer = client.post(url, {"items": [rows[1]["item"]]}, content_type="application/json")
    assert answer.status_code == 201
    assert answer.json()["requests"] == [RevisionRequest.objects.get().public_id]


def test_the_import_warns_of_criteria_that_are_left_behind_and_leads_to_them(
    collection: Collection, rubric: Rubric
) -> None:
    job = work(make_job(collection, f"# Arrival\n\n{ECG}\n", "chest.txt"))
    assert job.counts["warnings"] == ["“chest”: 1 criterion is based on words that the new edition does not contain."]
    client = signed_in(collection)
    edition = Document.objects.get(edition=2)
    page = client.get(f"/b/bench/imports/{job.public_id}/").content.decode()
    assert f'href="{address(edition)}"' in page and "Criteria that cite “chest”" in page
    assert "Criterion 2" in words(client.get(address(edition)))


def test_a_first_edition_has_no_earlier_citations(collection: Collection, rubric: Rubric) -> None:
    first = Document.objects.get()
    page = words(signed_in(collection).get(address(first)))
    assert "No criteria cite an earlier edition" in page


def test_authors_do_not_reach_it(collection: Collection, rubric: Rubric) -> None:
    edition = edition_without_oxygen(collection)
    assert signed_in(collection, "author").get(address(edition)).status_code == 404
    assert Client().get(address(edition)).status_code in (302, 401)


def test_traceability_says_what_became_of_the_words(collection: Collection, rubric: Rubric) -> None:
    edition = edition_without_oxygen(collection)
    client = signed_in(collection, "author")
    case = rubric.case
    url = f"/b/bench/write/{case.public_id}/traceability"
    page = words(client.get(f"{url}/"))
    assert page.count("These words in the latest edition") == 1
    assert page.count("These words were not found in the latest edition.") == 1
    answer = client.get(reverse("rubrics:traceability-table", args=["bench", case.public_id, "csv"]))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    places = [row["in_latest_edition"] for row in rows]
    assert places[0].startswith(f"chest@{edition.sha256[:8]}#") and places[1:] == ["absent", ""]
