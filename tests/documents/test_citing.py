"""Citations of criteria: only words that stand in a passage of the benchmark are stored, shown and passed on."""

from __future__ import annotations

import csv
import datetime
import io
import json
import uuid
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from consilium.core.errors import ImportRefused
from documents.citing import describe, resolve
from documents.models import Document, Passage
from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import items_of
from rubrics.imports import run_file
from rubrics.models import AuthoringRole, Case, RubricDraft, RubricItem
from tests import factories
from tests.documents.cited_documents import FEVER, RED_FLAGS, add_document

FOUR = (63, 73)  # where “four doses” stands in the first passage, counted by hand

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


class Desk:
    """A benchmark with two authors, one case without a rubric, and a document of two passages."""

    def __init__(self) -> None:
        self.benchmark = factories.BenchmarkFactory()
        self.case = factories.CaseFactory(benchmark=self.benchmark, rubric=0)
        self.author = self._author()
        self.second = self._author()
        self.fever, self.red_flags = add_document(self.benchmark, licence="CC-BY-4.0", may_quote=True)

    def _author(self) -> Any:
        user = factories.UserFactory()
        AuthoringRole.objects.create(benchmark=self.benchmark, user=user, role="author")
        return user

    def client(self, user: Any = None) -> Client:
        client = Client()
        client.force_login(user or self.author)
        return client

    @property
    def api(self) -> str:
        return f"/api/v1/benchmarks/{self.benchmark.slug}/cases/{self.case.public_id}"

    def put(self, *citations: Any, version: int = 0, case: Case | None = None) -> Any:
        """Save a criterion with these citations through the API."""
        item = {"id": "a", "text": "Gives the dose by weight", "points": 7, "citations": list(citations)}
        return self.client().put(
            f"{self.api}/draft/", {"version": version, "items": [item]}, content_type="application/json"
        )

    def stored(self) -> list[Citation]:
        items = items_of(RubricDraft.objects.get().content)
        return [citation for item in items for citation in item.citations]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def quoted(passage: Passage, quote: str, start: int | None = None, end: int | None = None) -> dict[str, Any]:
    return {"passage": passage.public_id, "quote": quote, "start": start, "end": end}


# Saving ---------------------------------------------------------------------------------------------------------------


def test_an_end_behind_the_passage_is_not_stored(desk: Desk) -> None:
    words = FEVER[5:]
    assert desk.put(quoted(desk.fever, words, 5, 99_999)).status_code == 200
    assert desk.stored() == [Citation(desk.fever.public_id, 5, len(FEVER), words)]


def test_a_part_of_a_number_is_refused_also_where_its_place_is_given(desk: Desk) -> None:
    """The words begin within the number, so the passage does not say them."""
    words = "5 mg/kg of para-\ncetamol"
    start = FEVER.index(words)
    answer = desk.put(quoted(desk.fever, words, start, start + len(words)))
    assert answer.status_code == 422
    assert "The nearest words are “15 mg/kg of para" in answer.json()["errors"][0]["message"]
    assert not RubricDraft.objects.exists()


def test_a_quotation_is_stored_with_the_words_and_the_places_that_the_passage_has(desk: Desk) -> None:
    # The places are counted by hand.
    answer = desk.put(
        {"passage": desk.red_flags.public_id},
        quoted(desk.fever, "15 mg/kg of paracetamol every 4-6 hours"),
        quoted(desk.fever, "成人每日不超过4克"),
        quoted(desk.fever, "four doses", *FOUR),
    )
    assert answer.status_code == 200, answer.json()
    fever = desk.fever.public_id
    assert desk.stored() == [
        Citation(desk.red_flags.public_id),
        Citation(fever, 5, 46, "15 mg/kg of para-\ncetamol every 4–6 hours"),
        Citation(fever, 88, 97, "成人每日不超过４克"),
        Citation(fever, *FOUR, "four doses"),
    ]
    for citation in desk.stored()[1:]:
        assert FEVER[citation.start : citation.end] == citation.quote
    shown = answer.json()["cited"]
    assert [row["reference"] for row in shown[:2]] == [
        "Made-up college, Made-up guideline fever, 2023, p. 2",
        "Made-up college, Made-up guideline fever, 2023, p. 1",
    ]
    assert [row["words"] for row in shown] == [RED_FLAGS, *(citation.quote for citation in desk.stored()[1:])]


@pytest.mark.parametrize(
    ("quote", "reason"),
    [
        ("10 mg/kg of paracetamol every 4-6 hours", "The passage does not contain"),
        ("15 mg/kg of paracetamol … four doses in 24 hours", "The passage does not contain"),
        ("mg/kg", "too short"),
    ],
)
def test_words_that_are_not_in_the_passage_are_refused_by_the_place_of_the_criterion(
    desk: Desk, quote: str, reason: str
) -> None:
    answer = desk.put(quoted(desk.fever, quote))
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert (error["line"], error["field"]) == (1, "citations") and reason in error["message"]
    assert not RubricDraft.objects.exists()
    page = desk.client().post(
        f"/b/{desk.benchmark.slug}/write/{desk.case.public_id}/rubric/draft/",
        {
            "who": who(desk.client(), desk),
            "version": 0,
            "client_id": str(uuid.uuid4()),
            "items": [{"id": "a", "text": "x", "points": 1, "citations": [quoted(desk.fever, quote)]}],
        },
        content_type="application/json",
    )
    assert page.status_code == 422 and page.json()["errors"][0]["line"] == 1
    assert not RubricDraft.objects.exists()


def who(client: Client, desk: Desk) -> str:
    """The name that the page of the editor sends with each save."""
    body = client.get(f"/b/{desk.benchmark.slug}/write/{desk.case.public_id}/rubric/").content.decode()
    start = body.index('<script id="start" type="application/json">') + len(
        '<script id="start" type="application/json">'
    )
    return str(json.loads(body[start : body.index("</script>", start)])["who"])


def test_a_wrong_quotation_leaves_the_stored_draft_as_it_was(desk: Desk) -> None:
    assert desk.put({"passage": desk.fever.public_id}).status_code == 200
    assert desk.put(quoted(desk.fever, "do not exceed eight doses"), version=2).status_code == 422
    assert desk.stored() == [Citation(desk.fever.public_id)]
    assert RubricDraft.objects.get().version == 2


def test_passages_of_another_benchmark_and_unknown_ones_are_refused(desk: Desk) -> None:
    elsewhere, _other = add_document(factories.BenchmarkFactory())
    for name in (elsewhere.public_id, "Nowhere0000000"):
        answer = desk.put({"passage": name})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["message"] == "This passage does not exist in this benchmark."
    assert not RubricDraft.objects.exists()


# Review, publishing, what is shown ------------------------------------------------------------------------------------


def publish(desk: Desk, *citations: dict[str, Any]) -> None:
    """Save, send to review and approve by the second author, all through the API."""
    assert desk.put(*citations).status_code == 200
    send = desk.client().post(f"{desk.api}/send-to-review/", {}, content_type="application/json")
    assert send.status_code in (200, 201), send.content
    review = desk.client(desk.second).get(f"{desk.api}/review/").json()
    assert review["items"][0]["citations"] == [vars_of(citation) for citation in desk.stored()]
    approve = {"outcome": "approved", "digest": review["digest"]}
    page = (
        desk.client(desk.second).get(f"/b/{desk.benchmark.slug}/write/{desk.case.public_id}/review/").content.decode()
    )
    assert all(f"passages/{citation.passage}/" in page for citation in desk.stored())
    done = desk.client(desk.second).post(f"{desk.api}/review/", approve, content_type="application/json")
    assert done.status_code == 200, done.content


def vars_of(citation: Citation) -> dict[str, Any]:
    return {
        "passage": citation.passage, "start": citation.start, "end": citation.end, "quote": citation.quote
    }  # fmt: skip


def test_citations_are_reviewed_published_and_shown_with_their_documents(desk: Desk) -> None:
    quote = quoted(desk.fever, 'do not exceed "four doses" in 24 hours')
    publish(desk, {"passage": desk.red_flags.public_id}, quote)
    item = RubricItem.objects.get()
    words = "do not\nexceed “four doses” in 24 hours"
    start = FEVER.index(words)
    assert item.citations == [
        vars_of(Citation(desk.red_flags.public_id)),
        vars_of(Citation(desk.fever.public_id, start, start + len(words), words)),
    ]
    Document.objects.update(review_by=datetime.date(2020, 1, 1), retired_at=timezone.now())
    admin = factories.UserFactory()
    factories.BenchmarkRoleFactory(benchmark=desk.benchmark, user=admin)
    base = f"/b/{desk.benchmark.slug}"
    passage = f"{base}/documents/passages/{desk.fever.public_id}/?start={start}&amp;end={start + len(words)}"
    pages = {
        f"{base}/write/{desk.case.public_id}/rubric/": desk.author,
        f"{base}/write/{desk.case.public_id}/traceability/": desk.author,
        f"{base}/write/{desk.case.public_id}/diff/": desk.author,
        f"{base}/cases/{desk.case.public_id}/": admin,
    }
    for address, reader in pages.items():
        body = desk.client(reader).get(address).content.decode()
        assert passage in body, address
        assert "Made-up college, Made-up guideline fever, 2023, p. 1" in body, address
        assert body.count("Review overdue") == body.count("Retired</span>") == 2, address


def rows_of(response: Any) -> list[dict[str, str]]:
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def test_traceability_has_the_words_where_they_may_be_quoted_and_the_locator_always(desk: Desk) -> None:
    [secret] = add_document(desk.benchmark, ["=SECRET words of a closed document"], key="closed")
    publish(desk, quoted(desk.fever, "four doses", *FOUR), {"passage": secret.public_id})
    base = f"/b/{desk.benchmark.slug}/write"
    files = [f"{base}/{desk.case.public_id}/traceability.csv", f"/b/{desk.benchmark.slug}/traceability.csv"]
    for address in files:
        quoting, closed = rows_of(desk.client().get(address))
        sha = desk.fever.document.sha256[:8]
        assert quoting["locator"] == f"fever@{sha}#p1:63-73"
        assert (quoting["quote"], quoting["licence"]) == ("four doses", "CC-BY-4.0")
        assert closed["locator"] == f"closed@{secret.document.sha256[:8]}#p1:0-{len(secret.text)}"
        assert (closed["quote"], closed["document"]) == ("", "Made-up guideline closed")
        assert quoting["criterion"] == closed["criterion"] == "Gives the dose by weight"
    page = desk.client().get(f"{base}/{desk.case.public_id}/traceability/").content.decode()
    assert "=SECRET words of a closed document" in page  # members may read it


def test_a_criterion_without_a_citation_is_counted_and_says_so(desk: Desk) -> None:
    items = [
        {"id": "a", "text": "Gives the dose", "points": 7, "citations": [{"passage": desk.fever.public_id}]},
        {"id": "b", "text": "Is polite", "points": 1},
    ]
    client = desk.client()
    answer = client.put(f"{desk.api}/draft/", {"version": 0, "items": items}, content_type="application/json")
    assert answer.status_code == 200
    page = client.get(f"/b/{desk.benchmark.slug}/write/{desk.case.public_id}/traceability/").content.decode()
    tile = page[page.index("Without a citation") :][:120]
    assert "<dd>1<span" in tile and "/ 2" in tile
    assert page.count("not based on any passage") == 1


# Tables ---------------------------------------------------------------------------------------------------------------


def test_a_table_names_citations_by_locators_and_brings_them_back(desk: Desk) -> None:
    whole, words = {"passage": desk.red_flags.public_id}, quoted(desk.fever, "four doses", *FOUR)
    assert desk.put(whole, words).status_code == 200
    table = desk.client().get(f"/b/{desk.benchmark.slug}/write/{desk.case.public_id}/rubric/table.csv")
    content = b"".join(table.streaming_content) if table.streaming else table.content
    [row] = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    first, second = row["citations"].split("; ")
    assert resolve(desk.benchmark, [first, second]) == dict(zip([first, second], desk.stored(), strict=True))
    file = io.BytesIO(content)
    file.name = "rubric.csv"
    [item] = desk.client().post(f"{desk.api}/draft/table/", {"file": file}).json()
    assert item["citations"] == [vars_of(citation) for citation in desk.stored()]
    file = io.BytesIO(content.replace(first.encode(), b"fever@00000000#p1:0-5"))
    file.name = "rubric.csv"
    refused = desk.client().post(f"{desk.api}/draft/table/", {"file": file})
    assert refused.status_code == 422 and "fever@00000000#p1:0-5" in refused.json()["errors"][0]["message"]


@pytest.mark.parametrize(
    "locator",
    ["", "fever", "fever@12#p1:0-5", "fever@zzzzzzzz#p1:0-5", "fever@{sha}#p1:5-5", "fever@{sha}#p1:9-3",
     "fever@{sha}#p1:0-99999", "fever@{sha}#p1:95-105", "other@{sha}#p1:0-5", "fever@{sha}#p1:0-9999999999"],
)  # fmt: skip
def test_a_locator_that_lies_in_no_passage_stands_for_nothing(desk: Desk, locator: str) -> None:
    # The first passage has 98 characters, and the second begins at 100.
    name = locator.replace("{sha}", desk.fever.document.sha256[:8])
    assert resolve(desk.benchmark, [name]) == {}
    assert resolve(factories.BenchmarkFactory(), [desk.fever.locator]) == {}
    assert resolve(desk.benchmark, [desk.fever.locator]) == {desk.fever.locator: Citation(desk.fever.public_id)}


def test_many_citations_take_one_query(desk: Desk, django_assert_num_queries: Any) -> None:
    passages = [passage for n in range(12) for passage in add_document(desk.benchmark, key=f"more-{n}")]
    citations = [Citation(passage.public_id, 0, 4, passage.text[:4]) for passage in passages]
    with django_assert_num_queries(1):
        assert len(describe(desk.benchmark, citations)) == 24


def test_the_difference_says_which_citations_came_and_went(desk: Desk) -> None:
    publish(desk, {"passage": desk.fever.public_id})
    begin = desk.client().post(f"/b/{desk.benchmark.slug}/write/{desk.case.public_id}/rubric/begin/")
    assert begin.status_code == 302
    draft = desk.client().get(f"{desk.api}/draft/").json()
    [item] = draft["items"]
    assert item["citations"] == [vars_of(Citation(desk.fever.public_id))]
    item["citations"] = [{"passage": desk.red_flags.public_id, "start": 0, "end": 20, "quote": RED_FLAGS[:20]}]
    saved = desk.client().put(
        f"{desk.api}/draft/", {"version": draft["version"], "items": [item]}, content_type="application/json"
    )
    assert saved.status_code == 200
    [change] = desk.client().get(f"{desk.api}/versions/diff/").json()
    assert (change["change"], change["also_changed"]) == ("changed", "citations")
    page = desk.client().get(f"/b/{desk.benchmark.slug}/write/{desk.case.public_id}/diff/").content.decode()
    came, went = page.index('class="cite is-ins"'), page.index('class="cite is-del"')
    assert desk.red_flags.public_id in page[came:went] and desk.fever.public_id in page[went : went + 300]
    assert f'<q dir="auto">{RED_FLAGS[:20]}</q>' in page[came:went]
    admin = factories.UserFactory()
    factories.BenchmarkRoleFactory(benchmark=desk.benchmark, user=admin)
    published = desk.client(admin).get(f"{desk.api}/").json()["criteria"]
    assert [row["citations"] for row in published] == [[vars_of(Citation(desk.fever.public_id))]]


def import_table(desk: Desk, text: str) -> Any:
    return run_file(
        kind="rubrics",
        slug=desk.benchmark.slug,
        file=io.BytesIO(text.encode()),
        options={"author": desk.author.email},
        at=timezone.now(),
    )


def test_an_imported_table_sets_citations_and_one_without_the_column_leaves_them(desk: Desk) -> None:
    quoted_words = f"fever@{desk.fever.document.sha256[:8]}#p1:63-73"
    table = "case,criterion,points{column}\n{key},Gives the dose by weight,{points}{cell}\n"
    import_table(desk, table.format(column=",citations", key=desk.case.key, points=7, cell=f",{quoted_words}"))
    assert desk.stored() == [Citation(desk.fever.public_id, *FOUR, "four doses")]
    import_table(desk, table.format(column="", key=desk.case.key, points=5, cell=""))
    assert desk.stored() == [Citation(desk.fever.public_id, *FOUR, "four doses")]
    unknown = quoted_words.replace("fever@", "cough@")
    with pytest.raises(ImportRefused, match="line 2, citations: No passage of this benchmark"):
        import_table(desk, table.format(column=",citations", key=desk.case.key, points=5, cell=f",{unknown}"))
    import_table(desk, table.format(column=",citations", key=desk.case.key, points=5, cell=","))
    assert desk.stored() == []
