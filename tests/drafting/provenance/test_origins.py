"""Each criterion says where it comes from, and leads to the words that it rests on; reviewers see it when they may."""

from __future__ import annotations

import csv
import re
from io import BytesIO, StringIO
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from openpyxl import load_workbook

from accounts.identity import opaque_name
from accounts.models import User
from drafting.access import get_drafted_case
from drafting.models import DraftingTerms
from rubrics.models import BenchmarkRole
from rubrics.services.publishing import return_draft, send_to_review
from scoring.models import PipelineRun, PipelineStep
from tests import factories
from tests.documents.cited_documents import FEVER, add_document
from tests.drafting.suggestions.drafted import Drafted, own, taken

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

BEFORE = "Advises emergency care if chest pain occurs"
AFTER = "Advises calling emergency services if chest pain lasts over 15 minutes"  # 32 of 70 code points


# What the last step of a case says, as far as tables read it.
RESULT = {
    "criteria": [
        {
            "number": 1,
            "text": "Names the dose",
            "points": 5,
            "axis": "accuracy",
            "facts": [1],
            "needs": [],
            "citations": [],
            "source": "",
            "why": "",
            "findings": [],
        }
    ],
    "facts": [
        {
            "number": 1,
            "kind": "number",
            "text": "",
            "passage": "",
            "locator": "",
            "words": "",
            "support": "",
            "quote_state": "absent",
            "numbers_agree": True,
            "support_reason": "",
            "dropped_because": "",
            "is_usable": False,
        }
    ],
    "ledger": [{"kind": "fact", "number": 1, "criteria": [1], "reason": ""}],
}


@pytest.fixture
def world() -> Drafted:
    """Two suggestions with a source; the criterion of the author's own is first."""
    admin = factories.UserFactory()
    case = factories.CaseFactory(rubric=0, benchmark=factories.BenchmarkFactory(admin=admin, slug="origins"))
    drafted = Drafted(0, case=case)
    drafted.admin = admin
    dose, _flag = add_document(case.benchmark, licence="CC0-1.0", may_quote=True)
    drafted.run = factories.DraftingRunFactory(
        benchmark=case.benchmark, terms={"recipe": "full", "version": 3, "models": []}, endpoint_kind="rules"
    )
    factories.FactFactory(
        run=drafted.run, case=case, number=1, kind="number", passage=dose, start=5, end=13, text="The dose is 15 mg/kg."
    )
    cites = [{"passage": dose.public_id, "start": 5, "end": 13, "quote": "15 mg/kg"}]
    drafted.suggestions = [
        factories.SuggestionFactory(
            case=case, run=drafted.run, number=1, text="Names the dose", facts=[1], citations=cites
        ),
        factories.SuggestionFactory(case=case, run=drafted.run, number=2, text=BEFORE),
    ]
    return drafted


def items(world: Drafted) -> list:  # type: ignore[type-arg]
    first, second = world.suggestions
    return [own("Asks for the weight"), taken(first), taken(second, text=AFTER)]


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return re.sub(r"\s+", " ", answer.content.decode())


def test_from_a_published_criterion_to_its_words_and_their_licence(world: Drafted, client: Client) -> None:
    world.publish(items(world))
    PipelineRun.objects.filter(pk=world.run.pk).update(created_by=factories.UserFactory(name="Run Starter"))
    client.force_login(world.admin)
    case = f"/b/origins/cases/{world.case.public_id}/"
    shown = page(client, case)
    address = f"/b/origins/suggestions/{world.suggestions[0].public_id}/"
    assert f'href="{address}"' in shown and "full, version 3" in shown and "by rules" in shown
    assert "Suggested, reworded" in shown and "distance 0.46" in shown  # 32/70
    origin = page(client, address)
    for words in (
        "Names the dose",
        "Accepted as it is",
        "The dose is 15 mg/kg.",
        "15 mg/kg",
        "CC0-1.0",
        "not from a language model",
    ):
        assert words in origin, words
    assert str(world.author) in origin
    # Which run it is of, and where the page is: under Writing.
    flat = " ".join(re.sub(r"<[^>]+>", " ", origin).split())
    assert re.search(r"Suggestion 1 · Recipe full, version 3, .+ · requested by Run Starter", flat)
    assert re.search(r'href="/b/origins/write/"\s+aria-current="page"', origin.split('class="topnav below"')[1])
    place = re.search(r'href="(/b/origins/documents/passages/[^"]+)"', origin)
    assert place is not None
    passage = page(client, place[1].replace("&amp;", "&"))
    assert ">15 mg/kg</mark>" in passage and "Made-up guideline fever" in passage
    # A run that came with a release has no steps here, and so no page of this case.
    drafted = f"/b/origins/drafting/{world.run.public_id}/cases/{world.case.public_id}/"
    assert client.get(drafted).status_code == 404
    assert drafted not in origin
    PipelineStep.objects.create(run=world.run, case=world.case, stage="direct", state="done", output={})
    assert f'href="{drafted}"' in page(client, address)
    # What another author may see of it, and who may not.
    client.force_login(world.second)
    assert "The dose is 15 mg/kg." in page(client, address)
    client.force_login(factories.UserFactory())
    assert client.get(address).status_code == 404


def test_tables_history_and_difference(world: Drafted, client: Client) -> None:
    world.publish(items(world))
    client.force_login(world.author)
    base = f"/b/origins/write/{world.case.public_id}"
    text = b"".join(client.get(f"{base}/traceability.csv")).decode("utf-8-sig")
    rows = list(csv.DictReader(StringIO(text)))
    names = ("origin", "suggestion", "recipe", "recipe_version", "endpoint_kind")
    first, second = (row.public_id for row in world.suggestions)
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("written", "", "", "", ""),
        ("suggested", first, "full", "3", "rules"),
        ("reworded", second, "full", "3", "rules"),
    ]
    assert float(rows[2]["distance"]) == pytest.approx(32 / 70, rel=0, abs=1e-9)
    assert rows[1]["quote"] == "15 mg/kg" and FEVER[5:13] == "15 mg/kg"
    everything = b"".join(client.get("/b/origins/traceability.csv")).decode("utf-8-sig")
    assert [row["origin"] for row in csv.DictReader(StringIO(everything))] == ["written", "suggested", "reworded"]
    assert "Suggested, reworded" in page(client, f"{base}/traceability/")
    assert "Of its criteria, 1 are unchanged suggestions and 1 are reworded suggestions." in page(
        client, f"/b/origins/write/{world.case.public_id}/history/"
    )
    assert "Suggested, reworded" in page(client, f"/b/origins/write/{world.case.public_id}/diff/")


def test_reviewers_see_it_after_their_decision_or_as_the_benchmark_says(world: Drafted, client: Client) -> None:
    draft = world.save(items(world))
    send_to_review(rubric=draft.rubric, note="", by=world.author, at=timezone.now(), notify=False)
    base = f"/b/origins/write/{world.case.public_id}"
    pages = [f"{base}/review/", f"{base}/traceability/", f"{base}/history/", f"{base}/diff/"]

    def shown() -> list[bool]:
        return [bool(re.search("Suggested|unchanged suggestions", page(client, address))) for address in pages]

    client.force_login(world.second)
    assert shown() == [False] * 4
    rows = b"".join(client.get(f"{base}/traceability.csv")).decode("utf-8-sig")
    assert {row["origin"] for row in csv.DictReader(StringIO(rows))} == {""}
    assert client.get(f"/b/origins/suggestions/{world.suggestions[0].public_id}/").status_code == 404
    client.force_login(world.author)
    assert shown() == [True] * 4
    client.force_login(world.admin)
    assert shown() == [True] * 4
    DraftingTerms.objects.create(benchmark=world.benchmark, reviewers_see="always")
    client.force_login(world.second)
    assert shown() == [True] * 4
    DraftingTerms.objects.update(reviewers_see="after")
    assert shown() == [False] * 4
    return_draft(rubric=draft.rubric, reviewer=world.second, comment="Shorter.", item_comments={}, at=timezone.now())
    assert shown()[1:] == [True] * 3


def test_no_route_tells_a_reviewer_what_was_suggested(world: Drafted, client: Client) -> None:
    """Neither a draft as JSON nor the suggestions themselves, also for who had opened them or runs the benchmark."""
    world.open(world.second)
    PipelineStep.objects.create(run=world.run, case=world.case, stage="plan", state="waiting")
    draft = world.save(items(world))
    names = [row.public_id for row in world.suggestions]
    key, slug = world.case.public_id, "origins"
    api, write, criterion = f"/api/v1/benchmarks/{slug}", f"/b/{slug}/write/{key}", names[0]
    shown = [f"{api}/cases/{key}/draft/", f"{api}/cases/{key}/review/", f"{api}/reviews/"]
    shown += [f"{write}/rubric/", f"{write}/rubric/draft/", f"{write}/review/"]
    missing = [f"{write}/suggestions/", f"{api}/suggestions/{criterion}/", f"/b/{slug}/suggestions/{criterion}/"]
    drafted = f"/b/{slug}/drafting/{world.run.public_id}/cases/{key}/"

    def tells() -> list[bool]:
        texts = [client.get(address).content.decode() for address in shown]
        assert all("Names the dose" in text for text in texts)
        return [any(name in text for name in names) for text in texts]

    def statuses() -> set[int]:
        return {client.get(address).status_code for address in missing}

    client.force_login(world.second)
    assert get_drafted_case(world.second, slug, world.run.public_id, key) == (world.run, world.case)
    assert statuses() == {200} and client.get(f"{api}/suggestions/").json()["count"] == 2
    send_to_review(rubric=draft.rubric, note="", by=world.author, at=timezone.now(), notify=False)
    assert tells() == [False] * 6 and statuses() == {404} and client.get(drafted).status_code == 404
    assert client.get(f"{api}/suggestions/").json()["count"] == 0
    for body in ({"case": key}, {"case": "nowhere"}):  # one answer to both
        refused = client.post(f"{api}/suggestions/open/", body, content_type="application/json")
        assert (refused.status_code, len(refused.json()["case"])) == (400, 1)
        assert "no such object" in refused.json()["case"][0]
    assert client.post(f"{write}/suggestions/open/").status_code == 404
    # A save that comes too late is answered with the draft that stands.
    body = {"version": 0, "items": [], "client_id": str(uuid4()), "who": opaque_name(world.second)}
    refused = client.post(f"{write}/rubric/draft/", body, content_type="application/json")
    assert refused.status_code == 409 and not any(name in refused.content.decode() for name in names)
    refused = client.put(f"{api}/cases/{key}/draft/", {"version": 0, "items": []}, content_type="application/json")
    assert refused.status_code == 409 and not any(name in refused.content.decode() for name in names)
    # Who runs the benchmark and may review is a reviewer.
    BenchmarkRole.objects.create(benchmark=world.benchmark, user=world.second, role="admin")
    result = f"{api}/drafting-runs/{world.run.public_id}/cases/{key}/"
    assert tells() == [False] * 6 and statuses() == {404} and client.get(result).status_code == 404
    assert client.get(f"{api}/suggestions/").json()["count"] == 0
    client.force_login(world.admin)
    assert tells()[0] and client.get(result).status_code == 200
    client.force_login(world.author)
    assert client.get(shown[0]).json()["items"][1]["suggestion"] == criterion and statuses() == {200}
    # They see it once they have decided, and always where the benchmark says so.
    client.force_login(world.second)
    DraftingTerms.objects.create(benchmark=world.benchmark, reviewers_see="always")
    assert tells()[0] and statuses() == {200}
    DraftingTerms.objects.update(reviewers_see="after")
    assert statuses() == {404}
    return_draft(rubric=draft.rubric, reviewer=world.second, comment="Shorter.", item_comments={}, at=timezone.now())
    assert statuses() == {200} and client.get(shown[0]).json()["items"][1]["suggestion"] == criterion


def test_no_route_tells_a_reviewer_which_criteria_are_from_a_bank(world: Drafted, client: Client) -> None:
    name = "consensus/allergy-respected"
    draft = world.save([own("Asks for the weight", bank=name)])
    key = world.case.public_id
    api, write = "/api/v1/benchmarks/origins", f"/b/origins/write/{key}"
    tables = [f"{write}/rubric/table.csv", f"{write}/rubric/table.xlsx", f"{write}/traceability.csv"]
    read = [f"{api}/cases/{key}/draft/", f"{api}/cases/{key}/review/", f"{api}/reviews/"]
    read += [f"{write}/{page}/" for page in ("rubric", "rubric/draft", "review", "traceability", "history", "diff")]

    def telling(addresses: list[str]) -> set[str]:
        answers = {address: client.get(address) for address in addresses}
        assert {answer.status_code for answer in answers.values()} == {200}
        texts = {address: b"".join(answer) for address, answer in answers.items()}
        sheet = load_workbook(BytesIO(texts[tables[1]])).active
        assert sheet is not None
        texts[tables[1]] = str([list(row) for row in sheet.iter_rows(values_only=True)]).encode()
        assert all(b"Asks for the weight" in texts[address] for address in [*tables, read[0]])
        return {address for address, text in texts.items() if b"allergy-respected" in text}

    def on_pages_of_the_bank() -> tuple[bool, bool]:
        """Whether the item names the case, and whether the search in its editor marks the item as held."""
        item = client.get(f"/b/origins/bank/items/{name}/").content.decode()
        matches = client.get("/b/origins/bank/search/", {"case": key, "q": "known allergy"}).content.decode()
        assert "allergy-respected" in matches
        return f">{world.case.key}</a>" in item, "data-held" in matches

    send_to_review(rubric=draft.rubric, note="", by=world.author, at=timezone.now(), notify=False)
    client.force_login(world.second)
    assert telling([*tables, *read]) == set() and on_pages_of_the_bank() == (False, False)
    table = b"".join(client.get(tables[0])).decode("utf-8-sig")
    assert table.startswith("position,criterion,points,tags,source,element,expectation,bank,citations")
    client.force_login(world.author)
    assert {*tables[:2], read[0]} <= telling([*tables, *read]) and on_pages_of_the_bank() == (True, True)
    client.force_login(world.second)
    return_draft(rubric=draft.rubric, reviewer=world.second, comment="Shorter.", item_comments={}, at=timezone.now())
    assert {*tables[:2], read[0]} <= telling([*tables, read[0]])


def test_tables_of_a_run_leave_out_cases_that_the_reader_may_still_review(world: Drafted, client: Client) -> None:
    """A researcher who also reviews; the other case of the run is in no review."""
    BenchmarkRole.objects.create(benchmark=world.benchmark, user=world.second, role="researcher")
    other = factories.CaseFactory(rubric=0, benchmark=world.benchmark, key="other")
    for case in (world.case, other):
        PipelineStep.objects.create(run=world.run, case=case, stage="result", state="done", output=RESULT)
    draft = world.save(items(world))

    def cases(user: User) -> list[list[str]]:
        client.force_login(user)
        base = f"/b/origins/drafting/{world.run.public_id}"
        addresses = [f"{base}/suggestions.csv", *(f"{base}/tables/{name}.csv" for name in ("facts", "ledger"))]
        texts = [b"".join(client.get(address)).decode("utf-8-sig") for address in addresses]
        return [sorted(row["case"] for row in csv.DictReader(StringIO(text))) for text in texts]

    both = [sorted([world.case.key, "other"])] * 3
    assert cases(world.second) == both
    send_to_review(rubric=draft.rubric, note="", by=world.author, at=timezone.now(), notify=False)
    assert cases(world.second) == [["other"]] * 3
    assert cases(world.admin) == both
    return_draft(rubric=draft.rubric, reviewer=world.second, comment="Shorter.", item_comments={}, at=timezone.now())
    assert cases(world.second) == both


def test_the_id_of_a_criterion_does_not_tell_that_it_was_suggested(world: Drafted) -> None:
    ids = [taken(row).id for row in world.suggestions]
    # As `newItemId` of the editor writes them.
    assert len(set(ids)) == 2 and all(re.fullmatch("n[0-9a-f]{16}", each) for each in ids)
