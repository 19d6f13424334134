"""From a citation of a superseded edition to the same words in the latest one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import PhysicianProfile
from documents.editions.selectors import waiting_lines
from documents.editions.services import carry_citations
from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import items_of
from rubrics.models import AuthoringRole, Case, RubricContributor
from rubrics.services.drafts import open_draft, save_draft
from rubrics.waiting import waiting_for
from tests.documents.editions.editions_world import cite, cited_rubric, make_collection, make_document
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ECG = "Record an ECG within ten minutes."
TROPONIN = "Repeat troponin after three hours in all adults."


@pytest.fixture
def case() -> Case:
    return CaseFactory(benchmark=BenchmarkFactory(slug="b"), key="chest", rubric=0)


def signed_in(case: Case) -> tuple[Any, Client]:
    user = UserFactory()
    AuthoringRole.objects.create(benchmark=case.benchmark, user=user, role="author")
    client = Client()
    client.force_login(user)
    return user, client


def test_the_words_are_found_in_the_latest_edition_or_not(case: Case) -> None:
    collection = make_collection(case.benchmark)
    old = make_document(collection, [ECG, TROPONIN])
    make_document(collection, ["Another beginning.", ECG])
    latest = make_document(collection, ["First of all: " + ECG, "Repeat troponin after one hour."])
    _author, client = signed_in(case)
    ecg, troponin = old.passages.order_by("start")
    words = "an ECG within ten minutes"
    place = cite(ecg, words)
    address = f"/b/b/documents/beside/{ecg.public_id}/newer/?start={place['start']}&end={place['end']}"
    cited = client.get(address).json()["citation"]
    new = latest.passages.get(ordinal=1)
    assert (cited["passage"], cited["quote"]) == (new.public_id, words)
    assert new.text[cited["start"] : cited["end"]] == words
    assert cited["superseded"] is False
    assert client.get(f"/b/b/documents/beside/{troponin.public_id}/newer/").json() == {"citation": None}
    assert client.get(f"/b/b/documents/beside/{new.public_id}/newer/").json() == {"citation": None}

    page = client.get(f"/b/b/documents/passages/{ecg.public_id}/?start={place['start']}&end={place['end']}").text
    assert f'href="/b/b/documents/{latest.public_id}/"' in page
    assert f'href="{cited["address"].replace("&", "&amp;")}"' in page
    gone = client.get(f"/b/b/documents/passages/{troponin.public_id}/").text
    assert f'href="/b/b/documents/{latest.public_id}/"' in gone and "These words" not in gone


def test_authors_of_a_rubric_that_cites_a_superseded_edition_see_it_in_their_list(case: Case) -> None:
    collection = make_collection(case.benchmark)
    old = make_document(collection, [ECG])
    rubric = cited_rubric(case, [[cite(old.passages.get(), "an ECG")]])
    author, client = signed_in(case)
    other, _client = signed_in(case)

    def listed(user: Any) -> list[tuple[str, str, str]]:
        lines = waiting_for(user, case.benchmark)
        return [(str(line.label), str(line.key), line.detail) for line in lines]

    assert listed(author) == []
    new = make_document(collection, ["Record an ECG at once."])
    line = ("Cites a superseded edition", "chest", "Chest pain in adults")
    assert listed(author) == [line] == listed(other)  # nobody here wrote it
    danish, _client = signed_in(case)
    PhysicianProfile.objects.create(user=danish, languages=["da"])
    assert listed(danish) == []  # the case is in English
    assert "Cites a superseded edition" in client.get("/b/b/write/").text
    at = timezone.now()
    RubricContributor.objects.create(rubric=rubric, user=other, first_at=at, last_at=at)
    assert (listed(author), listed(other)) == ([], [line])
    PhysicianProfile.objects.create(user=other, languages=["da"])
    assert listed(other) == [line]  # who wrote it may read it
    # A draft is listed for those who write it, until the citation is replaced.
    draft = open_draft(case=case, by=other, at=timezone.now()).draft
    assert (listed(author), listed(other)) == ([], [line])
    assert [row.address for row in waiting_for(other, case.benchmark, case)] == [f"/b/b/write/{case.public_id}/rubric/"]
    # The dialog that sends it to review says so as well.
    dialog = client.get(f"/b/b/write/{case.public_id}/review/").text.partition('id="send"')[2]
    sentence = "Criterion 1: It cites a superseded edition of a document."
    assert sentence in " ".join(dialog.partition("</dialog>")[0].split())
    items = items_of(draft.content)
    newer = cite(new.passages.get(), "an ECG")
    citation = Citation(newer["passage"], newer["start"], newer["end"], newer["quote"])
    save_draft(
        rubric=draft.rubric,
        items=[replace(items[0], citations=(citation,))],
        version=1,
        client_id=None,
        by=other,
        at=timezone.now(),
    )
    assert listed(other) == []


def test_a_published_rubric_says_which_words_the_latest_edition_lacks(case: Case) -> None:
    collection = make_collection(case.benchmark)
    kept, changed = make_document(collection, [ECG, TROPONIN]).passages.order_by("start")
    cited_rubric(case, [[cite(kept, "an ECG within ten minutes")], [cite(changed, "after three hours")]])
    _author, client = signed_in(case)
    address = f"/b/b/write/{case.public_id}/"
    lacking = "These words were not found in the latest edition."
    assert lacking not in client.get(f"{address}rubric/").text
    edition = make_document(collection, [ECG, "Repeat troponin after one hour."])
    carry_citations(edition=edition, at=timezone.now())
    page = " ".join(client.get(f"{address}rubric/").text.split())
    assert "This rubric cites a superseded edition of “Chest pain in adults”." in page
    assert f'<a href="{address}traceability/">Compare the cited words with the latest edition</a>' in page
    first, second = page.split('<p class="cites">')[1:]
    assert "an ECG" in first and lacking not in first
    assert "after three hours" in second and lacking in second
    api = client.get(f"/api/v1/benchmarks/b/cases/{case.public_id}/draft/").json()
    assert [cited["gone"] for cited in api["cited"]] == [False, True]


def test_cited_words_are_compared_with_the_latest_edition(case: Case) -> None:
    collection = make_collection(case.benchmark)
    oxygen = "Give oxygen only where the saturation is low."
    old = make_document(collection, [ECG, TROPONIN, oxygen]).passages.order_by("start")
    kept, changed, dropped = old
    cited_rubric(
        case, [[cite(kept, "an ECG within ten minutes")], [cite(changed, "after three hours")], [cite(dropped)]]
    )
    _author, client = signed_in(case)
    address = f"/b/b/write/{case.public_id}/traceability/"
    assert "latest edition" not in client.get(address).text
    later = "Repeat troponin after one hour in all adults."
    edition = make_document(collection, ["First of all: " + ECG, later, "Tell the family."], version_label="2026")
    carry_citations(edition=edition, at=timezone.now())
    page = " ".join(client.get(address).text.split())
    first, second, third = page.split('<div class="newer">')[1:]
    begin, middle, _end = edition.passages.order_by("start")
    assert f'href="/b/b/documents/passages/{begin.public_id}/?start=' in first
    assert "not found" not in first
    assert "These words were not found in the latest edition." in second and later in second
    assert f'href="/b/b/documents/passages/{middle.public_id}/"' in second
    assert "No passage of the latest edition is similar." in third and "Tell the family" not in third
    for part in (first, second, third):
        assert f'href="/b/b/documents/{edition.public_id}/"' in part and "2026" in part


def test_the_same_heading_is_compared_whatever_it_says_now(case: Case) -> None:
    collection = make_collection(case.benchmark)
    old = make_document(collection, ["Aspirin 300 mg is given to all adults at once."], headings=["Treatment"])
    cited_rubric(case, [[cite(old.passages.get())]])
    edition = make_document(
        collection,
        ["Aspirin 300 mg is no longer sold to adults at once.", "Use clopidogrel."],
        headings=["X", "Treatment"],
    )
    _author, client = signed_in(case)
    page = client.get(f"/b/b/write/{case.public_id}/traceability/").text.partition('<div class="newer">')[2]
    assert "Use clopidogrel." in page and "no longer sold" not in page
    assert f'href="/b/b/documents/passages/{edition.passages.get(ordinal=2).public_id}/"' in page


def test_nothing_is_read_for_who_is_no_author(case: Case, django_assert_num_queries: Any) -> None:
    collection = make_collection(case.benchmark)
    cited_rubric(case, [[cite(make_document(collection, [ECG]).passages.get(), "an ECG")]])
    make_document(collection, ["Record an ECG at once."])
    stranger = UserFactory()
    with django_assert_num_queries(1):
        assert waiting_lines(stranger, case.benchmark) == []
