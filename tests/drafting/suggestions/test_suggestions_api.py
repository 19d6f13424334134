"""Suggestions by page and API, as an author, another author, those who run the benchmark, and nobody of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.identity import opaque_name
from drafting.models import DraftingRecipe, DraftingRun, DraftingTerms, Suggestion, SuggestionsOpened
from drafting.suggestions.state import item_of
from tests import factories
from tests.documents.cited_documents import add_document
from tests.drafting.suggestions.drafted import Drafted, own, taken
from tests.scoring.pipelines.verdict_chain import work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def api(world: Drafted, path: str = "") -> str:
    return f"/api/v1/benchmarks/{world.benchmark.slug}/suggestions/{path}"


def page(world: Drafted, path: str = "") -> str:
    return f"/b/{world.benchmark.slug}/write/{world.case.public_id}/suggestions/{path}"


def post(user: Any, url: str, body: Any) -> Any:
    return client_of(user).post(url, json.dumps(body), content_type="application/json")


def draft_url(world: Drafted) -> str:
    return f"/api/v1/benchmarks/{world.benchmark.slug}/cases/{world.case.public_id}/draft/"


def test_an_author_reads_what_has_opened_and_staff_read_all() -> None:
    world = Drafted(3)
    assert client_of(world.second).get(api(world)).json()["count"] == 0
    assert client_of(world.admin).get(api(world)).json()["count"] == 3
    answer = client_of(world.author).get(api(world), {"state": "open", "case": world.case.public_id}).json()
    assert [row["number"] for row in answer["results"]] == [1, 2, 3]
    first = world.suggestions[0]
    row = client_of(world.author).get(api(world, f"{first.public_id}/")).json()
    assert (row["text"], row["points"], row["state"], row["run"]) == (
        "Advises suggestion 1", 5, "open", world.run.public_id,
    )  # fmt: skip
    assert client_of(world.second).get(api(world, f"{first.public_id}/")).status_code == 404
    assert client_of(world.author).get(api(world), {"state": "taken"}).status_code == 400
    assert client_of(world.author).get(api(world), {"text": "x"}).status_code == 400
    opened = post(world.second, api(world, "open/"), {"case": world.case.public_id})
    assert [row["number"] for row in opened.json()] == [1, 2, 3]
    assert client_of(world.second).get(api(world, f"{first.public_id}/")).status_code == 200


def test_a_run_without_suggestions_for_a_case_gives_an_empty_list_and_an_unknown_run_is_refused() -> None:
    world = Drafted(2)
    other = factories.CaseFactory(benchmark=world.benchmark, rubric=0)
    client = client_of(world.admin)
    query = {"case": other.public_id, "run": world.run.public_id}
    answer = client.get(api(world), query)
    assert (answer.status_code, answer.json().get("count")) == (200, 0)
    assert client.get(api(world), {**query, "case": world.case.public_id}).json()["count"] == 2
    unknown = client.get(api(world), {**query, "run": "nowhere"})
    assert (unknown.status_code, list(unknown.json())) == (400, ["run"])


def test_ones_own_criteria_come_first_also_by_the_api() -> None:
    world = Drafted(1, opened=False)
    DraftingTerms.objects.create(benchmark=world.benchmark, own_first=1)
    refused = post(world.author, api(world, "open/"), {"case": world.case.public_id})
    assert refused.status_code == 409 and "Write 1 more criterion" in refused.json()["detail"]
    body = {"version": 0, "items": [item_of(world.suggestions[0])]}
    answer = client_of(world.author).put(draft_url(world), body, content_type="application/json")
    assert answer.status_code == 422 and "are not open to you yet" in answer.content.decode()
    shown = client_of(world.author).post(page(world, "open/")).content.decode()
    assert "Advises suggestion" not in shown and not SuggestionsOpened.objects.exists()


def test_decisions_by_the_api() -> None:
    world = Drafted(3)
    first, second, _third = world.suggestions
    address = api(world, f"{first.public_id}/decision/")
    row = post(world.author, address, {"decision": "rejected", "reason": 5, "note": "For adults"}).json()
    assert (row["state"], row["reason"], row["note"]) == ("rejected", 5, "For adults")
    assert post(world.author, address, {"decision": "open"}).json()["state"] == "open"
    assert post(world.author, address, {"decision": "aside"}).json()["put_aside"] is True
    for body in ({"decision": "accepted"}, {"decision": "rejected", "reason": 7}, {"decision": "open", "reason": 1}):
        assert post(world.author, address, body).status_code == 400
    assert post(world.admin, address, {"decision": "rejected"}).status_code == 404
    # Taking one is a save of the draft.
    client = client_of(world.author)
    body = {"version": 0, "items": [item_of(second)]}
    assert client.put(draft_url(world), body, content_type="application/json").status_code == 200
    assert world.states() == ["open", "accepted", "open"]
    refused = post(world.author, api(world, f"{second.public_id}/decision/"), {"decision": "rejected"})
    assert refused.status_code == 409 and "is already in the rubric" in refused.json()["detail"]


def test_admins_withdraw_what_nobody_decided_on() -> None:
    world, other = Drafted(3), Drafted(1)
    world.save([taken(world.suggestions[0])])
    withdraw = api(world, "withdraw/")
    assert post(world.author, withdraw, {"run": world.run.public_id}).status_code == 404
    foreign = {"suggestions": [other.suggestions[0].public_id]}
    for body in ({}, foreign, {"run": "x", "suggestions": []}):
        assert post(world.admin, withdraw, body).status_code == 400
    names = [row.public_id for row in world.suggestions[:2]]
    assert post(world.admin, withdraw, {"suggestions": names}).json() == {"withdrawn": 1}
    assert post(world.admin, withdraw, {"run": world.run.public_id}).json() == {"withdrawn": 1}
    assert world.states() == ["accepted", "withdrawn", "withdrawn"] and other.states() == ["open"]


def test_the_panel_shows_words_of_the_passage_and_never_the_models_quotation() -> None:
    world = Drafted(0)
    _fever, red_flags = add_document(world.benchmark)
    make = factories.FactFactory
    make(run=world.run, case=world.case, number=1, passage=red_flags, start=8, end=26, quote="under  three months")
    make(
        run=world.run, case=world.case, number=2, passage=None, start=None, end=None, words="", is_usable=False,
        quote="Give aspirin", quote_state="absent", text="Aspirin is given", support="not_checked",
    )  # fmt: skip
    quote = {"passage": red_flags.public_id, "start": 8, "end": 26, "quote": "under three months"}
    factories.SuggestionFactory(case=world.case, run=world.run, number=1, facts=[1, 2], citations=[quote], source="A")
    factories.SuggestionFactory(case=world.case, run=world.run, number=2, facts=[2])
    html = client_of(world.author).get(page(world)).content.decode()
    assert re.search(r"<mark\s*>under three months</mark>", html) and "Not in any passage" in html
    assert "Give aspirin" not in html and html.count("no source") == 1
    assert html.index("Advises suggestion 1") < html.index("Advises suggestion 2")


def test_the_panel_says_where_rules_drafted() -> None:
    world, by_rules = Drafted(1), Drafted(0)
    assert "not from a language model" not in client_of(world.author).get(page(world)).content.decode()
    starter = factories.UserFactory(name="Run Starter")
    run = factories.DraftingRunFactory(benchmark=by_rules.benchmark, endpoint_kind="rules", created_by=starter)
    factories.SuggestionFactory(case=by_rules.case, run=run, number=1)
    panel = client_of(by_rules.author).get(page(by_rules)).content.decode()
    assert "not from a language model" in panel
    # The explanation leaves the editor open, and the run has a date and a person.
    assert re.search(r'href="/rules/"\s+target="_blank"', panel)
    words = " ".join(re.sub("<[^>]+>", " ", panel).split())
    assert re.search(r"Recipe full, version 1, .+ · requested by Run Starter", words)


def test_several_decisions_of_the_panel_each_have_a_result() -> None:
    world = Drafted(4)
    first, second, third, fourth = world.suggestions
    world.save([own("Asks"), taken(first)])
    who = opaque_name(world.author)
    decisions = [
        {"id": first.public_id, "decision": "rejected", "reason": 1},
        {"id": second.public_id, "decision": "rejected", "reason": 2, "seconds": 0},
        {"id": third.public_id, "decision": "aside", "reason": None, "seconds": 0},
        {"id": fourth.public_id, "decision": "accepted"},
        {"id": "nowhere", "decision": "open"},
        {"id": fourth.public_id, "decision": "rejected", "reason": "1"},
        {"id": fourth.public_id, "decision": "read", "seconds": -1},
    ]
    answer = post(world.author, page(world, "decide/"), {"who": who, "decisions": decisions}).json()
    assert [row["status"] for row in answer["results"]] == ["refused", "saved", "saved", *["refused"] * 4]
    assert world.states() == ["accepted", "rejected", "open", "open"]
    assert Suggestion.objects.get(pk=third.pk).put_aside
    # Somebody else who is signed in by now, or to whom nothing has opened, decides nothing.
    body = {"who": who, "decisions": [{"id": fourth.public_id, "decision": "rejected"}]}
    assert post(world.second, page(world, "decide/"), body).status_code == 403
    body["who"] = opaque_name(world.second)
    assert post(world.second, page(world, "decide/"), body).json()["results"][0]["status"] == "refused"
    for wrong in ([], {"who": who}, {"who": who, "decisions": ["x"]}):
        assert post(world.author, page(world, "decide/"), wrong).status_code in (400, 403)
    assert world.states()[3] == "open"


def test_the_panel_takes_as_many_queries_for_many_as_for_few() -> None:
    counts = []
    for n in (2, 12):
        world = Drafted(0)
        passages = add_document(world.benchmark)
        for number in range(1, n + 1):
            passage = passages[number % 2]
            factories.FactFactory(run=world.run, case=world.case, number=number, passage=passage)
            citation = {"passage": passage.public_id, "start": None, "end": None, "quote": ""}
            factories.SuggestionFactory(
                case=world.case, run=world.run, number=number, facts=[number], citations=[citation]
            )
        client = client_of(world.author)
        client.get(page(world))
        with CaptureQueriesContext(connection) as queries:
            assert client.get(page(world)).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 16


def test_the_desk_lists_cases_with_suggestions_to_decide() -> None:
    world = Drafted(2)
    desk = f"/b/{world.benchmark.slug}/write/"
    for user, n in ((world.author, 1), (world.second, 1), (world.admin, 0)):
        assert client_of(user).get(desk).content.decode().count("Suggestions to decide") == n
    world.save([taken(world.suggestions[0])])  # from now on it is the author's
    assert "1 suggestion" in client_of(world.author).get(desk).content.decode()
    assert "Suggestions to decide" not in client_of(world.second).get(desk).content.decode()
    world.save([taken(row) for row in world.suggestions])
    assert "Suggestions to decide" not in client_of(world.author).get(desk).content.decode()


def test_the_desk_says_where_a_new_version_is_needed_to_decide() -> None:
    world = Drafted(2)
    desk = f"/b/{world.benchmark.slug}/write/"
    assert "start a new version" not in client_of(world.author).get(desk).content.decode()
    world.publish([own("Names the dose."), taken(world.suggestions[0])])
    assert "1 suggestion: start a new version" in client_of(world.author).get(desk).content.decode()


def test_the_editor_offers_the_panel_to_authors_of_a_case_with_suggestions() -> None:
    world = Drafted(1)
    editor = f"/b/{world.benchmark.slug}/write/{world.case.public_id}/rubric/"
    for user, n in ((world.author, 1), (world.second, 1), (world.admin, 0)):
        assert client_of(user).get(editor).content.decode().count('id="side-suggestions"') == n
    Suggestion.objects.update(state="withdrawn")
    assert 'id="side-suggestions"' not in client_of(world.author).get(editor).content.decode()


def test_an_author_asks_for_suggestions_by_the_recipe_of_the_benchmark() -> None:
    world = Drafted(0, opened=False)
    editor = f"/b/{world.benchmark.slug}/write/{world.case.public_id}/rubric/"
    refused = client_of(world.author).post(page(world, "ask/")).content.decode()
    assert "This benchmark has no recipe for authors." in refused
    for benchmark, offered in ((factories.BenchmarkFactory(), 0), (world.benchmark, 1)):
        recipe = DraftingRecipe.objects.create(
            benchmark=benchmark, name="six", version=1, content={"form": "generic", "stages": {}}, sha256="0" * 64,
            created_at=timezone.now(),
        )  # fmt: skip
        DraftingTerms.objects.create(benchmark=benchmark, recipe=recipe)
        assert client_of(world.author).get(editor).content.decode().count('id="side-suggestions"') == offered
    assert client_of(world.admin).post(page(world, "ask/")).status_code == 404
    assert "Request suggestions" in client_of(world.author).get(page(world)).content.decode()
    html = client_of(world.author).post(page(world, "ask/")).content.decode()
    assert "Suggestions are being drafted and will appear here." in html and "Request suggestions" not in html
    assert "already being drafted" in client_of(world.second).post(page(world, "ask/")).content.decode()
    (run,) = DraftingRun.objects.filter(steps__case=world.case).distinct()
    assert (run.recipe_name, run.created_by) == ("six", world.author)
    work(run)
    assert "being drafted" not in client_of(world.author).get(page(world)).content.decode()
    html = client_of(world.author).post(page(world, "open/")).content.decode()
    assert html.count("data-suggestion=") == Suggestion.objects.filter(case=world.case).count() == 6
