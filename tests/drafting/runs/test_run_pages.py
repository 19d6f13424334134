"""Pages, API, command and tables of runs of drafting, over HTTP and the command line."""

from __future__ import annotations

import csv
import io
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import User
from documents.models import Document
from drafting.models import DraftingRecipe, DraftingRun, Suggestion
from drafting.recipes.content import recipe_content
from rubrics.models import Case
from scoring.pipelines.runs import replay_run
from tests.drafting.drafting_world import (
    ASPIRIN,
    GOLD_CANARY,
    SECTIONS,
    TITLE,
    DraftingWorld,
    ScriptedEndpoint,
    import_document,
)
from tests.factories import BenchmarkRoleFactory, CaseFactory
from tests.scoring.pipelines.verdict_chain import work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def admin_of(world: DraftingWorld) -> User:
    return BenchmarkRoleFactory(benchmark=world.benchmark).user


def recipe_of(world: DraftingWorld, url: str, **fields: object) -> DraftingRecipe:
    """A recipe whose models answer at ``url``."""
    content = recipe_content({**world.config(url)["recipe"]["content"], **fields})
    return DraftingRecipe.objects.create(
        benchmark=world.benchmark, name="full", version=1, content=content.model_dump(mode="json"),
        sha256=content.digest, created_at=timezone.now(),
    )  # fmt: skip


def table(client: Client, run: DraftingRun, name: str) -> list[dict[str, str]]:
    response = client.get(f"/b/nursery/drafting/{run.public_id}/tables/{name}.csv")
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))  # type: ignore[attr-defined]


def test_an_admin_orders_a_run_sees_its_size_and_reads_what_it_drafted(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    client.force_login(admin_of(nursery))
    assert b"No recipes yet" in client.get("/b/nursery/drafting/new/").content
    recipe = recipe_of(nursery, scripted.url)
    size = client.post("/b/nursery/drafting/new/size", {"recipe": recipe.public_id}).content.decode()
    # Nine stages ask a model for each of two cases, and there may be a second audit.
    assert "<dd>20<" in "".join(size.split())
    response = client.post("/b/nursery/drafting/new/", {"recipe": recipe.public_id})
    run = DraftingRun.objects.get()
    assert response["Location"] == f"/b/nursery/drafting/{run.public_id}/"
    assert not scripted.requests  # a worker asks, and not the page
    work(run)
    page = client.get(f"/b/nursery/drafting/{run.public_id}/").content.decode()
    assert "Drafting results" in page and "suggestions.csv" in page
    link = re.search(r'href="([^"]+)"\s*>\s*Create a rubric set from this run', page)
    assert link is not None
    form = client.get(link[1].replace("&amp;", "&")).context["form"]
    assert (form["source"].value(), form["run"].value()) == ("run", run.public_id)
    assert run.public_id in dict(form.fields["run"].choices)
    cases = client.get(f"/b/nursery/drafting/{run.public_id}/cases/").content.decode()
    case = nursery.cases[0]
    assert case.key in cases
    shown = client.get(f"/b/nursery/drafting/{run.public_id}/cases/{case.public_id}/").content.decode()
    assert ASPIRIN in shown and "Ledger" in shown
    assert re.search(rf'href="/b/nursery/documents/passages/\w+/"\s*>{TITLE}</a>', shown)
    assert "Stage: synthesis" in shown  # the request as it was sent
    assert GOLD_CANARY not in shown


def test_the_form_takes_cases_by_key_and_names_documents(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    client.force_login(admin_of(nursery))
    import_document(nursery.collection, "fieber", SECTIONS, title="Made-up leaflet in German", language="de")
    recipe = recipe_of(nursery, scripted.url)
    case = nursery.cases[1]
    sent = {"recipe": recipe.public_id, "keys": case.key}
    size = client.post("/b/nursery/drafting/new/size", sent).content.decode()
    assert "<dd>10<" in "".join(size.split())
    words = " ".join(size.split())
    assert "This is the maximum." in words
    assert "One of the models has no prices, so the cost is unknown" in words
    # The recipe searches documents in the language of the case alone.
    assert "1 document may be searched and sent" in words and TITLE in words and "German" not in words
    for wrong, problem in (
        ({"keys": f"{case.key}, unknown"}, "There is no case “unknown” in this benchmark."),
        ({"cases": "1"}, "Choose cases either by short name, or by tag, language and number."),
    ):
        response = client.post("/b/nursery/drafting/new/", {**sent, **wrong})
        assert response.status_code == 422 and problem in response.content.decode()
    assert not DraftingRun.objects.exists()
    client.post("/b/nursery/drafting/new/", sent)
    run = DraftingRun.objects.get()
    assert set(run.steps.values_list("case__key", flat=True)) == {case.key}
    # Another run with these settings is about the same case, and not about all of them.
    form = client.get(f"/b/nursery/drafting/new/?from={run.public_id}").context["form"]
    assert form["keys"].value() == case.key
    assert client.get("/b/nursery/drafting/new/?case=k").context["form"]["keys"].value() == "k"


def test_a_recipe_whose_filters_leave_no_document_is_refused(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    client.force_login(admin_of(nursery))
    recipe = recipe_of(nursery, scripted.url, filters={"jurisdiction": "CN"})
    refused = "None of the documents of this benchmark that the recipe searches may be sent to models."
    assert refused in client.post("/b/nursery/drafting/new/size", {"recipe": recipe.public_id}).content.decode()
    response = client.post("/b/nursery/drafting/new/", {"recipe": recipe.public_id})
    assert response.status_code == 422 and refused in response.content.decode()
    assert not DraftingRun.objects.exists()


def test_a_case_without_a_language_searches_documents_in_all(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    client.force_login(admin_of(nursery))
    import_document(nursery.collection, "fieber", SECTIONS, title="Made-up leaflet in German", language="de")
    CaseFactory(benchmark=nursery.benchmark, key="unknown language", language="", rubric=0)
    sent = {"recipe": recipe_of(nursery, scripted.url).public_id, "keys": "unknown language"}
    words = " ".join(client.post("/b/nursery/drafting/new/size", sent).content.decode().split())
    assert "2 documents may be searched and sent" in words and "German" in words


def test_another_run_of_many_named_cases_takes_the_same(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    """Keys may have commas, and be longer than 4,000 characters together; a case that was excluded since is named."""
    client.force_login(admin_of(nursery))
    keys = ["fever, in a child", "发热、咳嗽", *(f"{number:03d}-{'k' * 150}" for number in range(30))]
    for key in keys:
        CaseFactory(benchmark=nursery.benchmark, key=key, rubric=0)
    recipe = recipe_of(nursery, scripted.url)
    sent = {"recipe": recipe.public_id, "keys": f"{keys[0]}\n{keys[1]}\r\n{', '.join(keys[2:])}"}
    assert client.post("/b/nursery/drafting/new/", sent).status_code == 302
    run = DraftingRun.objects.get()
    assert set(run.steps.values_list("case__key", flat=True)) == set(keys)
    form = client.get(f"/b/nursery/drafting/new/?from={run.public_id}").context["form"]
    again = {"recipe": recipe.public_id, "keys": form["keys"].value()}
    assert len(again["keys"]) > 4_000
    assert client.post("/b/nursery/drafting/new/", again).status_code == 302
    assert set(DraftingRun.objects.latest("pk").steps.values_list("case__key", flat=True)) == set(keys)
    Case.objects.filter(key=keys[0]).update(excluded_at=timezone.now(), exclusion_reason="a double")
    response = client.post("/b/nursery/drafting/new/", again)
    assert response.status_code == 422 and f"The case “{keys[0]}” is excluded." in response.content.decode()


def test_a_recipe_without_documents_says_so(nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client) -> None:
    client.force_login(admin_of(nursery))
    recipe = recipe_of(nursery, scripted.url, form="direct")
    size = client.post("/b/nursery/drafting/new/size", {"recipe": recipe.public_id}).content.decode()
    assert "This recipe does not search documents." in size and "may be searched" not in size


def test_pages_of_runs_lead_to_the_rubric_and_to_the_report(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    client.force_login(admin_of(nursery))
    run, case = nursery.run(scripted.url), nursery.cases[0]
    page = client.get(f"/b/nursery/drafting/{run.public_id}/cases/{case.public_id}/").content.decode()
    assert f'href="/b/nursery/write/{case.public_id}/rubric/"' in page
    runs = client.get("/b/nursery/drafting/").content.decode()
    link = re.search(r'href="([^"]+)"\s*>Outcome of drafted criteria', runs)
    assert link is not None
    entries = client.get(link[1]).context["entries"]
    assert [entry.kind.value for entry in entries if entry.open] == ["drafting"]
    first, *_others = client.get("/b/nursery/validity/").context["entries"]
    assert first.open and first.kind.value != "drafting"


def test_tables_have_every_suggestion_fact_and_line_of_the_ledger(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    run = nursery.run(scripted.url)
    client.force_login(admin_of(nursery))
    suggestions = table(client, run, "suggestions")
    stored = Suggestion.objects.filter(run=run).order_by("case__key", "number")
    assert [(row["case"], row["number"], row["text"]) for row in suggestions] == [
        (own.case.key, str(own.number), own.text) for own in stored
    ]
    facts = table(client, run, "facts")
    assert ASPIRIN in {row["words"] for row in facts}
    ledger = table(client, run, "ledger")
    assert {(row["case"], row["number"]) for row in ledger if row["kind"] == "fact"} == {
        (row["case"], row["number"]) for row in facts
    }
    assert all(bool(row["criteria"]) != bool(row["reason"]) for row in ledger)
    assert client.get(f"/b/nursery/drafting/{run.public_id}/tables/gold.csv").status_code == 404


def test_words_that_may_not_be_quoted_are_in_no_table(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    run = nursery.run(scripted.url)
    Document.objects.update(may_quote=False, may_redistribute=False)
    client.force_login(admin_of(nursery))
    facts = table(client, run, "facts")
    assert {row["words"] for row in facts} == {""} and {row["text"] for row in facts} == {""}
    assert all(row["passage"].startswith("fever@") for row in facts)


def test_a_replay_writes_the_same_tables(nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client) -> None:
    run = nursery.run(scripted.url)
    n_requests = len(scripted.requests)
    again = DraftingRun.objects.get(pk=work(replay_run(run=run, by=None, at=timezone.now())).pk)
    assert (again.status, len(scripted.requests)) == ("finished", n_requests)
    client.force_login(admin_of(nursery))
    for name in ("suggestions", "facts", "ledger"):
        first, second = (
            client.get(f"/b/nursery/drafting/{own.public_id}/tables/{name}.csv").getvalue()
            for own in (run, again)  # type: ignore[attr-defined]
        )
        assert first == second, name
    assert Suggestion.objects.filter(run=again).count() == 0


def test_a_run_by_command_and_by_api(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client, tmp_path: Path
) -> None:
    recipe_of(nursery, scripted.url)
    printed = StringIO()
    call_command(
        "draft_rubrics", benchmark="nursery", recipe="full", case=["fever-1"], out=tmp_path, stdout=printed
    )  # fmt: skip
    run = DraftingRun.objects.get()
    assert "1 cases" in printed.getvalue() and "by rules" in printed.getvalue()
    assert {row["case"] for row in csv.DictReader((tmp_path / "suggestions.csv").read_text().splitlines())} == {
        "fever-1"
    }
    with pytest.raises(CommandError, match="There is no case"):
        call_command("draft_rubrics", benchmark="nursery", recipe="full", case=["fever-9"])
    client.force_login(admin_of(nursery))
    path = "/api/v1/benchmarks/nursery/drafting-runs/"
    assert client.get(f"{path}{run.public_id}/").json()["recipe"] == "full"
    case = Case.objects.get(key="fever-1")
    drafted = client.get(f"{path}{run.public_id}/cases/{case.public_id}/").json()
    assert len(drafted["result"]["criteria"]) == Suggestion.objects.filter(run=run).count() > 0
    begun = client.post(path, {"recipe": "full", "cases": ["fever-0"]}, "application/json")
    assert begun.status_code == 201 and begun.json()["progress"]["due"] > 0
    assert client.post(path, {"recipe": "none"}, "application/json").status_code == 400
