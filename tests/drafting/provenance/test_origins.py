"""Each criterion says where it comes from, and leads to the words that it rests on; reviewers see it when they may."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest
from django.test import Client
from django.utils import timezone

from drafting.models import DraftingTerms
from rubrics.services.publishing import return_draft, send_to_review
from tests import factories
from tests.documents.cited_documents import FEVER, add_document
from tests.drafting.suggestions.drafted import Drafted, own, taken

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

BEFORE = "Advises emergency care if chest pain occurs"
AFTER = "Advises calling emergency services if chest pain lasts over 15 minutes"  # 32 of 70 code points


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
    client.force_login(world.admin)
    case = f"/b/origins/cases/{world.case.public_id}/"
    shown = page(client, case)
    address = f"/b/origins/suggestions/{world.suggestions[0].public_id}/"
    assert f'href="{address}"' in shown and "full, version 3" in shown and "by rules" in shown
    assert "Suggested, reworded" in shown and "distance 0.46" in shown  # 32/70
    origin = page(client, address)
    for words in (
        "Names the dose",
        "Taken as it is",
        "The dose is 15 mg/kg.",
        "15 mg/kg",
        "CC0-1.0",
        "no language model",
    ):
        assert words in origin, words
    assert str(world.author) in origin
    place = re.search(r'href="(/b/origins/documents/passages/[^"]+)"', origin)
    assert place is not None
    passage = page(client, place[1].replace("&amp;", "&"))
    assert ">15 mg/kg</mark>" in passage and "Made-up guideline fever" in passage
    assert f'href="/b/origins/drafting/{world.run.public_id}/cases/' in origin
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
    assert "Of its criteria 1 are suggestions as they were, and 1 reworded ones." in page(
        client, f"/b/origins/write/{world.case.public_id}/history/"
    )
    assert "Suggested, reworded" in page(client, f"/b/origins/write/{world.case.public_id}/diff/")


def test_reviewers_see_it_after_their_decision_or_as_the_benchmark_says(world: Drafted, client: Client) -> None:
    draft = world.save(items(world))
    send_to_review(rubric=draft.rubric, note="", by=world.author, at=timezone.now(), notify=False)
    base = f"/b/origins/write/{world.case.public_id}"
    pages = [f"{base}/review/", f"{base}/traceability/", f"{base}/history/", f"{base}/diff/"]

    def shown() -> list[bool]:
        return [bool(re.search("Suggested|suggestions as they were", page(client, address))) for address in pages]

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
