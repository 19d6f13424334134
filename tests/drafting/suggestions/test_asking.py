"""Drafts that an author asks for by the button of the panel."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from documents.models import Document
from drafting.models import DraftingRun, DraftingTerms, Suggestion, SuggestionsOpened
from rubrics.models import AuthoringRole, BenchmarkRole
from tests.documents.cited_documents import add_document
from tests.drafting.drafting_world import DraftingWorld, ScriptedEndpoint
from tests.drafting.runs.test_run_pages import recipe_of
from tests.factories import UserFactory
from tests.scoring.pipelines.verdict_chain import work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

UNDER_WAY = "Suggestions for this case are already being drafted."
OPEN = "Decide on the open suggestions for this case first"
BUTTON = 'data-do-suggestions="ask"'


def author_of(world: DraftingWorld) -> User:
    author = UserFactory()
    AuthoringRole.objects.create(benchmark=world.benchmark, user=author, role="author")
    return author


def ask(client: Client, world: DraftingWorld) -> str:
    return client.post(f"/b/nursery/write/{world.cases[0].public_id}/suggestions/ask/").content.decode()


def panel(client: Client, world: DraftingWorld) -> str:
    return client.get(f"/b/nursery/write/{world.cases[0].public_id}/suggestions/").content.decode()


def test_the_panel_names_the_documents_that_may_not_be_sent(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    DraftingTerms.objects.create(benchmark=nursery.benchmark, recipe=recipe_of(nursery, scripted.url))
    author = author_of(nursery)
    client.force_login(author)
    assert "may not be sent to models" not in panel(client, nursery)
    add_document(nursery.benchmark, key="kept", title="Home rules")
    shown = " ".join(panel(client, nursery).split())
    part = shown.split("Not used, because these documents may not be sent to models:")[1].split("</div>")[0]
    document = Document.objects.get(key="kept")
    assert f'href="/b/nursery/documents/{document.public_id}/"' in part
    assert "Home rules</a> (licence unknown)" in part
    assert "Ask your study coordinator" in part
    BenchmarkRole.objects.create(benchmark=nursery.benchmark, user=author, role="researcher")
    assert "You can record their licences on their pages." in panel(client, nursery)
    Document.objects.filter(pk=document.pk).update(retired_at=timezone.now())
    assert "may not be sent to models" not in panel(client, nursery)


def test_an_author_asks_for_one_case_and_not_twice(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, client: Client
) -> None:
    DraftingTerms.objects.create(benchmark=nursery.benchmark, recipe=recipe_of(nursery, scripted.url))
    author = author_of(nursery)
    client.force_login(author)
    before = panel(client, nursery)
    assert BUTTON in before and "New suggestions are drafted by the recipe full, version 1, with rules" in before
    ask(client, nursery)
    run = DraftingRun.objects.get()
    assert set(run.steps.values_list("case", flat=True)) == {nursery.cases[0].pk}
    assert UNDER_WAY in ask(client, nursery)
    work(run)
    # The same recipe would draft the same again.
    SuggestionsOpened.objects.create(case=nursery.cases[0], author=author, opened_at=timezone.now())
    assert BUTTON not in panel(client, nursery)
    assert OPEN in ask(client, nursery)
    assert DraftingRun.objects.count() == 1
    Suggestion.objects.update(state="withdrawn")
    assert BUTTON in panel(client, nursery)
    ask(client, nursery)
    assert DraftingRun.objects.count() == 2


def test_without_a_recipe_for_authors_nobody_asks(nursery: DraftingWorld, client: Client) -> None:
    client.force_login(author_of(nursery))
    assert "This benchmark has no recipe for authors." in ask(client, nursery)
    assert not DraftingRun.objects.exists()
