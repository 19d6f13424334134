"""Rubric sets of what a run has drafted, over HTTP, the API and the command line."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from drafting.models import DraftingRun, Suggestion
from rubrics.editor.draft_content import items_of as items_in
from rubrics.models import AuthoringRole
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import return_draft, send_to_review
from scoring.pipelines.runs import replay_run
from tests.drafting.conftest import nursery, scripted  # noqa: F401  # fixtures
from tests.drafting.drafting_world import DraftingWorld, ScriptedEndpoint
from tests.factories import BenchmarkRoleFactory, ResponseFactory, UserFactory
from tests.scoring.pipelines.verdict_chain import work
from validation.coverage.services import create_run as begin_coverage
from validation.models import PairGroup, PointsCorrection, RubricSet, SplittingRun
from validation.sets.storing import SetName
from validation.splitting.services import create_run as begin_splitting
from validation.splitting.services import freeze

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_a_page_copies_what_a_run_drafted_and_says_that_rules_did(
    nursery: DraftingWorld,  # noqa: F811
    scripted: ScriptedEndpoint,  # noqa: F811
    client: Client,
) -> None:
    run = nursery.run(scripted.url)
    client.force_login(BenchmarkRoleFactory(benchmark=nursery.benchmark).user)
    form = {"source": "run", "run": run.public_id, "name": "Drafted"}
    frame = client.get("/b/nursery/rubric-sets/frame/", form)
    assert frame.status_code == 200 and "Drafted for by the run" in frame.content.decode()
    assert client.get(f"/b/nursery/rubric-sets/new/?source=run&run={run.public_id}").status_code == 200
    response = client.post("/b/nursery/rubric-sets/new/", form)
    row = RubricSet.objects.get()
    assert response["Location"].endswith(f"/{row.public_id}/")
    assert (row.origin, row.drafting_run_id, row.case_count) == ("drafting", run.pk, 2)
    drafted = Suggestion.objects.filter(run=run).order_by("case__key", "number")
    assert [(item.case.key, item.position, item.text, item.points, item.axis) for item in items_of(row)] == [
        (own.case.key, own.number, own.text, own.points, own.axis) for own in drafted
    ]
    page = client.get(response["Location"]).content.decode()
    assert f"/drafting/{run.public_id}/" in page and "not from a language model" in page
    refused = client.post("/b/nursery/rubric-sets/new/", {**form, "run": "", "name": "None"})
    assert refused.status_code == 422 and "Choose a run." in refused.content.decode()


def test_a_set_is_missing_for_a_reviewer_of_one_of_its_cases(
    nursery: DraftingWorld,  # noqa: F811
    scripted: ScriptedEndpoint,  # noqa: F811
    client: Client,
) -> None:
    """A researcher who also reviews, until they have decided; another researcher reads it all the time."""
    run = nursery.run(scripted.url)
    elsewhere = replace(nursery, cases=nursery.cases[1:]).run(scripted.url)  # without the case
    for options in (
        {"name": "Drafted", "run": run.public_id},
        {"name": "Elsewhere", "run": elsewhere.public_id},
        {"name": "Gold", "track": "gold"},
    ):
        call_command("rubric_set", benchmark="nursery", stdout=io.StringIO(), **options)
    writer, reviewer, other = UserFactory(), UserFactory(), UserFactory()
    for user in (reviewer, other):
        BenchmarkRoleFactory(benchmark=nursery.benchmark, user=user, role="researcher")
    for user in (writer, reviewer):
        AuthoringRole.objects.create(benchmark=nursery.benchmark, user=user, role="author")
    rubric = open_draft(case=nursery.cases[0], by=writer, at=timezone.now())
    items = [replace(item, text=f"{item.text}, put differently") for item in items_in(rubric.draft.content)]
    save_draft(rubric=rubric, items=items, version=1, client_id=uuid4(), by=writer, at=timezone.now())
    sets = {row.name: row.public_id for row in RubricSet.objects.all()}

    def statuses(user: User, name: str) -> set[int]:
        client.force_login(user)
        pages = [f"/b/nursery/rubric-sets/{sets[name]}/{end}" for end in ("", "items.jsonl")]
        pages.append(f"/api/v1/benchmarks/nursery/rubric-sets/{sets[name]}/items/")
        return {client.get(page).status_code for page in pages}

    assert statuses(reviewer, "Drafted") == {200}
    send_to_review(rubric=rubric, note="Clearer", by=writer, at=timezone.now(), notify=False)
    assert statuses(reviewer, "Drafted") == {404} and statuses(reviewer, "Gold") == {200}
    assert statuses(reviewer, "Elsewhere") == {200}
    assert statuses(other, "Drafted") == {200}
    return_draft(rubric=rubric, reviewer=reviewer, comment="Shorter.", item_comments={}, at=timezone.now())
    assert statuses(reviewer, "Drafted") == {200}


def test_a_reviewer_of_one_of_its_cases_begins_no_run_with_it(
    nursery: DraftingWorld,  # noqa: F811
    scripted: ScriptedEndpoint,  # noqa: F811
    client: Client,
) -> None:
    """By name and by id it is refused in the words for a set that is not there, and the forms do not offer it."""
    drafting = nursery.run(scripted.url)
    for options in ({"name": "Drafted", "run": drafting.public_id}, {"name": "Gold", "track": "gold"}):
        call_command("rubric_set", benchmark="nursery", stdout=io.StringIO(), **options)
    drafted = RubricSet.objects.get(name="Drafted")
    writer, reviewer, other = UserFactory(), UserFactory(), UserFactory()
    for user in (reviewer, other):
        BenchmarkRoleFactory(benchmark=nursery.benchmark, user=user, role="researcher")
    for user in (writer, reviewer):
        AuthoringRole.objects.create(benchmark=nursery.benchmark, user=user, role="author")
    rubric = open_draft(case=nursery.cases[0], by=writer, at=timezone.now())
    items = [replace(item, text=f"{item.text}, put differently") for item in items_in(rubric.draft.content)]
    save_draft(rubric=rubric, items=items, version=1, client_id=uuid4(), by=writer, at=timezone.now())
    send_to_review(rubric=rubric, note="Clearer", by=writer, at=timezone.now(), notify=False)
    PairGroup.objects.create(benchmark=nursery.benchmark, name="Doses", created_at=timezone.now())
    ResponseFactory(case=nursery.cases[0])
    orders = [
        ("splitting-runs", "gold", lambda name: {"gold": name}),
        ("coverage-runs", "gold", lambda name: {"gold": name, "sets": ["nowhere"]}),
        ("pair-runs", "sets", lambda name: {"sets": [name], "groups": ["Doses"]}),
        ("refinements", "sets", lambda name: {"sets": [name], "candidate": "none"}),
        ("refinements", "upper_bounds", lambda name: {"upper_bounds": [name], "candidate": "none"}),
        ("refinements/size", "sets", lambda name: {"sets": [name], "candidate": "none"}),
    ]
    config = {"endpoint": scripted.url, "model": "made-up"}

    def refused(user: User, name: str) -> list[bool]:
        """Whether the set is named as missing, by order."""
        client.force_login(user)
        refusals = []
        for path, field, order in orders:
            sent = {**order(name), "config": config}
            response = client.post(f"/api/v1/benchmarks/nursery/{path}/", sent, "application/json")
            missing = {"line": 0, "field": field, "message": f"There is no rubric set “{name}” in this benchmark."}
            refusals.append(response.status_code == 422 and response.json().get("errors") == [missing])
        return refusals

    forms = [f"/b/nursery/{name}/new/" for name in ("point-splitting", "rubric-coverage", "pair-runs", "refinement")]
    forms.append("/b/nursery/rubric-sets/compare/")

    def offered(user: User) -> list[bool]:
        client.force_login(user)
        pages = [client.get(form) for form in forms]
        assert {page.status_code for page in pages} == {200}
        return [drafted.public_id in page.content.decode() for page in pages]

    for name in ("nowhere", "Drafted", drafted.public_id):
        assert refused(reviewer, name) == [True] * len(orders), name
    assert offered(reviewer) == [False] * len(forms)
    assert refused(other, drafted.public_id) == refused(other, "Drafted") == [False] * len(orders)
    assert offered(other) == [True] * len(forms)


def test_what_was_split_from_it_is_missing_too(
    nursery: DraftingWorld,  # noqa: F811
    scripted: ScriptedEndpoint,  # noqa: F811
    client: Client,
) -> None:
    """The set of its points, the run that split it, and the case in a run of coverage by it; no page links to them."""
    drafting = nursery.run(scripted.url)
    for options in ({"name": "Drafted", "run": drafting.public_id}, {"name": "Gold", "track": "gold"}):
        call_command("rubric_set", benchmark="nursery", stdout=io.StringIO(), **options)
    drafted, gold = (RubricSet.objects.get(name=name) for name in ("Drafted", "Gold"))
    writer, reviewer = UserFactory(), UserFactory()
    BenchmarkRoleFactory(benchmark=nursery.benchmark, user=reviewer, role="researcher")
    for user in (writer, reviewer):
        AuthoringRole.objects.create(benchmark=nursery.benchmark, user=user, role="author")
    common = {
        "benchmark": nursery.benchmark, "config": {"endpoint": scripted.url, "model": "made-up"}, "by": None,
        "at": timezone.now(),
    }  # fmt: skip
    run = begin_splitting(gold=drafted, **common)
    SplittingRun.objects.filter(pk=run.pk).update(status="finished", finished_at=timezone.now())
    case = nursery.cases[0]
    texts = drafted.items.filter(case=case).order_by("position").values_list("text", flat=True)
    points = [[1, "Names the dose"], *([number, text] for number, text in enumerate(texts, start=1))]
    PointsCorrection.objects.create(
        run=run, case=case, points=points, version=1, saved_by=writer, saved_at=timezone.now()
    )
    run.refresh_from_db()
    split = freeze(run=run, name=SetName("Points"), by=None, at=timezone.now())
    coverage = begin_coverage(gold=gold, sets=[split], **common)
    base = "/b/nursery/"
    secret = [
        f"{base}rubric-sets/{split.public_id}/",
        f"{base}rubric-sets/{split.public_id}/items.jsonl",
        f"/api/v1/benchmarks/nursery/rubric-sets/{split.public_id}/items/",
        *(
            reverse(f"validation:splitting-{name}", args=["nursery", run.public_id])
            for name in ("run", "csv", "points")
        ),
        reverse("validation:splitting-case", args=["nursery", run.public_id, case.public_id]),
        f"/api/v1/benchmarks/nursery/splitting-runs/{run.public_id}/",
        reverse("validation:coverage-case", args=["nursery", coverage.public_id, case.public_id]),
    ]
    lists = [f"{base}rubric-sets/", reverse("validation:splitting", args=["nursery"]), "/"]
    lists += [f"/api/v1/benchmarks/nursery/{name}/" for name in ("rubric-sets", "splitting-runs")]
    other_case = reverse("validation:coverage-case", args=["nursery", coverage.public_id, nursery.cases[1].public_id])
    client.force_login(reviewer)

    def named() -> list[bool]:
        names = {drafted.public_id, split.public_id, run.public_id}
        return [any(name in client.get(page).content.decode() for name in names) for page in lists]

    assert {page: client.get(page).status_code for page in secret} == dict.fromkeys(secret, 200)
    assert named()[:2] == [True, True] and named()[3:] == [True, True]
    rubric = open_draft(case=case, by=writer, at=timezone.now())
    items = [replace(item, text=f"{item.text}, put differently") for item in items_in(rubric.draft.content)]
    save_draft(rubric=rubric, items=items, version=1, client_id=uuid4(), by=writer, at=timezone.now())
    send_to_review(rubric=rubric, note="Clearer", by=writer, at=timezone.now(), notify=False)
    assert {page: client.get(page).status_code for page in secret} == dict.fromkeys(secret, 404)
    assert not any(named())
    assert client.get(other_case).status_code == 200 and gold.public_id in client.get(lists[0]).content.decode()
    return_draft(rubric=rubric, reviewer=reviewer, comment="Shorter.", item_comments={}, at=timezone.now())
    assert {client.get(page).status_code for page in secret} == {200}


def items_of(row: RubricSet) -> list:  # type: ignore[type-arg]
    return list(row.items.select_related("case").order_by("case__key", "position"))


def test_the_digest_is_that_of_a_replay_and_of_the_exported_file(
    nursery: DraftingWorld,  # noqa: F811
    scripted: ScriptedEndpoint,  # noqa: F811
    client: Client,
    tmp_path: Path,
) -> None:
    run = nursery.run(scripted.url)
    again = work(replay_run(run=run, by=None, at=timezone.now()))
    for name, own in (("first", run), ("again", again)):
        out = io.StringIO()
        call_command("rubric_set", benchmark="nursery", name=name, run=own.public_id, stdout=out)
        assert "Drafted for by the run" in out.getvalue()
    client.force_login(BenchmarkRoleFactory(benchmark=nursery.benchmark).user)
    first = RubricSet.objects.get(name="first")
    lines = client.get(f"/b/nursery/rubric-sets/{first.public_id}/items.jsonl")
    file = tmp_path / "criteria.jsonl"
    file.write_bytes(lines.getvalue())  # type: ignore[attr-defined]
    call_command("rubric_set", benchmark="nursery", name="file", file=file, stdout=io.StringIO())
    assert len({row.digest for row in RubricSet.objects.all()}) == 1


def test_only_a_run_of_drafting_that_has_ended_gives_a_set(
    nursery: DraftingWorld,  # noqa: F811
    scripted: ScriptedEndpoint,  # noqa: F811
    client: Client,
) -> None:
    run = nursery.run(scripted.url)
    client.force_login(BenchmarkRoleFactory(benchmark=nursery.benchmark).user)
    path, order = "/api/v1/benchmarks/nursery/rubric-sets/", {"source": "run", "name": "Drafted"}
    assert client.post(path, order, "application/json").json() == {
        "run": ["give a run with the source run, and with no other"]
    }
    assert client.post(path, {**order, "run": "none"}, "application/json").status_code == 400
    DraftingRun.objects.update(status="running")
    assert client.post(path, {**order, "run": run.public_id}, "application/json").status_code == 400
    with pytest.raises(CommandError, match="no run of drafting"):
        call_command("rubric_set", benchmark="nursery", name="set", run=run.public_id)
    DraftingRun.objects.update(status="finished")
    response = client.post(path, {**order, "run": run.public_id}, "application/json")
    assert (response.status_code, response.json()["drafting_run"]) == (201, run.public_id)
    fields = {
        "benchmark": nursery.benchmark, "origin": "drafting", "digest": "0" * 64, "case_count": 1, "item_count": 1,
        "created_at": timezone.now(),
    }  # fmt: skip
    with pytest.raises(IntegrityError, match="validation_set_run_of_origin"), connection.cursor():
        RubricSet.objects.create(name="without a run", **fields)
