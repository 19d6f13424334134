"""Pages, API and command of runs that split criteria, from the form to a coverage run with split gold points."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services as reports
from agreement.models import Report
from agreement.reports.stored import table_of
from consilium.llm.rules.names import MODEL
from consilium.statistics.intent_alignment import Extent
from tests.validation.coverage.coverage_world import QUICK, CoverageWorld, case_of
from tests.validation.coverage.coverage_world import work as work_on_coverage
from tests.validation.refinement.conftest import RuleEndpoint
from tests.validation.splitting.splitting_world import (
    AXIS,
    SPLIT,
    begin,
    correct,
    items_by_case,
    split,
    splitting_world,
    work,
)
from validation.coverage.inputs import extent_of_criterion
from validation.coverage.services import create_run as begin_coverage
from validation.models import CoverageRun, RubricSet, SplittingRun
from validation.sets.storing import SetName
from validation.splitting.services import freeze

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def fields(world: CoverageWorld, url: str, **more: Any) -> dict[str, Any]:
    own = {"gold": world.sets["gold"].public_id, "endpoint": url, "model": MODEL, "max_tokens": 2000,
           "temperature": 0, "concurrency": 8, "timeout_s": 30, "attempts": 2, "pauses": 0, "price_in": 1,
           "price_out": 2, "currency": "USD"}  # fmt: skip
    return own | more


def rows_of(client: Client, url: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    content: bytes = client.get(url).getvalue()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def test_from_the_form_to_the_set(client: Client, rules: RuleEndpoint) -> None:
    world = splitting_world()
    client.force_login(world.admin)
    assert "New run" in client.get("/b/ward/point-splitting/").content.decode()
    assert client.get("/b/ward/point-splitting/new/").status_code == 200
    shown = client.post("/b/ward/point-splitting/new/size", fields(world, rules.url)).content.decode()
    assert "4 criteria, 2 cases" in shown
    refused = client.post("/b/ward/point-splitting/new/", fields(world, rules.url, price_in=0, price_out=0, budget=5))
    assert refused.status_code == 422
    begun = client.post("/b/ward/point-splitting/new/", fields(world, rules.url, budget="5"))
    run = SplittingRun.objects.get(benchmark=world.benchmark)
    page = f"/b/ward/point-splitting/{run.public_id}/"
    assert begun.headers["Location"] == page
    assert "Freeze" not in client.get(page).content.decode()  # it has not ended
    assert client.post(f"{page}cancel").status_code == 302
    assert client.post(f"{page}resume", {"budget": ""}).status_code == 302
    work(run)
    shown = client.get(page).content.decode()
    assert "Freeze these points" in shown and "These answers come from fixed rules" in shown
    assert client.get(f"{page}progress").status_code == 200
    assert client.post(f"{page}freeze", {"name": ""}).status_code == 422
    correct(world, SplittingRun.objects.get(), "a", [(1, "Names dose, interval and check"), (2, "Guesses.")])
    frozen = client.post(f"{page}freeze", {"name": "points"})
    row = RubricSet.objects.get(origin="split")
    assert frozen.headers["Location"] == f"/b/ward/rubric-sets/{row.public_id}/"
    assert client.post(f"{page}freeze", {"name": "points"}).status_code == 409
    shown = client.get(frozen.headers["Location"]).content.decode()
    assert (
        "Criteria of a set, split" in shown
        and "of 4 criteria" in shown
        and "These answers come from fixed rules" in shown
    )
    assert "points" in client.get("/b/ward/rubric-sets/").content.decode()
    rows = list(
        csv.DictReader(
            io.StringIO(client.get(f"{frozen.headers['Location']}points.csv").getvalue().decode("utf-8-sig"))
        )
    )
    assert [(own["case"], own["criterion"], own["text"]) for own in rows] == [
        ("a", "1", "Names dose, interval and check"), ("a", "2", "Guesses."),
        *(("b", str(number), text) for number, text in SPLIT["b"]),
    ]  # fmt: skip
    assert rows[2]["criterion_text"] == "Asks for the age; asks for allergies"
    rows = rows_of(client, f"{page}points.csv")
    assert [(own["state"], own["corrected_by"]) for own in rows if own["case"] == "a"] == [
        ("corrected", world.physicians[0].name)
    ] * 2
    gold = world.sets["gold"]
    assert client.get(f"/b/ward/rubric-sets/{gold.public_id}/points.csv").status_code == 404
    again = client.get(f"/b/ward/point-splitting/new/?from={run.public_id}").content.decode()
    assert f'value="{rules.url}"' in again
    assert client.post(f"{page}replay").status_code == 302


def test_authors_find_points_at_home_and_see_no_name_of_the_set(client: Client, rules: RuleEndpoint) -> None:
    world = splitting_world()
    author = world.physicians[0]
    client.force_login(author)
    run = begin(world, rules.url)
    page = f"/b/ward/point-splitting/{run.public_id}/points/"
    assert client.get(page).status_code == 404  # it has not ended
    work(run)
    assert page in client.get("/").content.decode()
    shown = client.get(page).content.decode()
    assert ">gold<" not in shown and world.sets["gold"].public_id not in shown
    case = client.get(f"{page}{case_of(world, 'b').public_id}/").content.decode()
    assert "建议就医；询问年龄。说明风险！" in case and "asks for allergies" in case and "Case 2 of 2" in case
    freeze(run=SplittingRun.objects.get(), name=SetName("points"), by=None, at=timezone.now())
    assert page not in client.get("/").content.decode()
    assert client.get(page).status_code == 200  # a further correction may become another set


def test_the_api_does_what_the_pages_do(client: Client, rules: RuleEndpoint) -> None:
    world = splitting_world()
    client.force_login(world.admin)
    url = "/api/v1/benchmarks/ward/splitting-runs/"

    def send(path: str, body: Any, method: str = "post") -> Any:
        return getattr(client, method)(f"{url}{path}", body, content_type="application/json")

    config = {"endpoint": rules.url, "model": MODEL, **QUICK}
    assert send("", {"gold": "none", "config": config}).status_code == 422
    assert send("", {"gold": world.sets["gold"].public_id, "config": {**config, "max_tokens": 0}}).status_code == 400
    begun = send("", {"gold": world.sets["gold"].name, "config": config})
    assert begun.status_code == 201, begun.content
    own = begun.json()["id"]
    assert client.get(f"{url}{own}/points/").status_code == 404
    work(SplittingRun.objects.get())
    shown = client.get(f"{url}{own}/").json()
    assert shown["counts"] == {"cases": 2, "criteria": 4, "points": 9, "whole": 0, "corrected": 0}
    assert [row["id"] for row in client.get(url).json()["results"]] == [own]
    rows = client.get(f"{url}{own}/points/").json()["results"]
    assert {row["key"]: [(p["criterion"], p["text"]) for p in row["points"]] for row in rows} == SPLIT
    client.force_login(world.physicians[0])
    case = f"{own}/points/{case_of(world, 'a').public_id}/"
    points = [{"criterion": 2, "text": "Guesses."}, {"criterion": 1, "text": "All of it"}]
    saved = send(case, {"points": points, "version": 0}, "put")
    assert (saved.status_code, saved.json()["state"], saved.json()["version"]) == (200, "corrected", 1)
    assert saved.json()["points"] == [points[1], points[0]]
    assert send(case, {"points": points, "version": 0}, "put").status_code == 409
    assert send(case, {"points": points[:1], "version": 1}, "put").status_code == 422
    assert send(case, {"points": [{**points[0], "text": ""}], "version": 1}, "put").status_code == 400
    assert send(f"{own}/freeze/", {"name": "points"}).status_code == 404  # an author
    client.force_login(world.admin)
    frozen = send(f"{own}/freeze/", {"name": "points"})
    assert frozen.status_code == 201
    gold = world.sets["gold"].public_id
    assert {name: frozen.json()[name] for name in ("origin", "split_of", "unsplit", "corrected", "items")} == {
        "origin": "split", "split_of": gold, "unsplit": 0, "corrected": 1, "items": 7,
    }  # fmt: skip
    items = client.get(f"/api/v1/benchmarks/ward/rubric-sets/{frozen.json()['id']}/items/").json()["results"]
    assert [item["of_criterion"] for item in items] == [1, 2, 1, 1, 2, 2, 2]
    items = client.get(f"/api/v1/benchmarks/ward/rubric-sets/{gold}/items/").json()["results"]
    assert {item["of_criterion"] for item in items} == {None}
    assert client.post(f"{url}{own}/replay/").status_code == 201
    assert client.post(f"{url}{own}/cancel/").status_code == 409
    assert client.post(f"{url}{own}/resume/").status_code == 422


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("split_points", "--benchmark", "ward", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_the_command_splits_freezes_and_writes(
    rules: RuleEndpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("scoring.management.asking.WORKER_HAS_S", 0.0)
    world = splitting_world()
    begun = ["--set", "gold", "--endpoint", rules.url, "--model", MODEL]
    printed = command(*begun, "--freeze", "points", "--out", str(tmp_path / "out"))
    assert "4 criteria, 9 points; of 2 cases 0 not split" in printed
    assert "points: 9 points of 4 criteria, 2 cases, 0 of them not split" in printed
    assert "rules, not by a language model" in printed
    with (tmp_path / "out" / "points.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [(own["case"], int(own["criterion"]), own["text"]) for own in rows] == [
        (key, *point) for key, points in SPLIT.items() for point in points
    ]
    row = RubricSet.objects.get(name="points")
    assert {key: [own[:2] for own in rows] for key, rows in items_by_case(row).items()} == SPLIT
    run = SplittingRun.objects.get()
    correct(world, run, "a", [(1, "All of it"), (2, "Guesses.")])
    assert "1 corrected" in command("--run", run.public_id, "--freeze", "corrected points")
    for wrong, message in (
        (["--set", "none", "--endpoint", rules.url, "--model", "m"], "no rubric set"),
        (["--set", "gold"], "--endpoint is missing"),
        (["--run", "none"], "no run"),
        (["--run", run.public_id, "--freeze", "points"], "already"),
    ):
        with pytest.raises(CommandError, match=message):
            command(*wrong)


def test_a_coverage_report_says_how_its_gold_set_was_split(client: Client, rules: RuleEndpoint) -> None:
    """Over points and over criteria; the extents follow from the rule of the endpoint, and are read from the run."""
    world = splitting_world()
    run = split(world, rules.url)
    gold = freeze(run=run, name=SetName("points"), by=None, at=timezone.now())
    coverage: CoverageRun = work_on_coverage(
        begin_coverage(
            benchmark=world.benchmark, gold=gold, sets=[world.sets["A"]], by=world.admin, at=timezone.now(),
            config={"endpoint": rules.url, "model": MODEL, **QUICK},
        )
    )  # fmt: skip
    assert coverage.status == "finished"
    outputs = {
        (step.case.key, int(step.key.split(".")[1])): step.output["extent"]
        for step in coverage.steps.select_related("case").filter(stage="coverage", key__startswith="0.")
    }
    full = {place for place, extent in outputs.items() if extent == "full"}
    # “Names the dose” covers points 1 to 2 or more of a’s first criterion; the rest is as the run has it.
    of = {(key, n): (key, criterion) for key, own in SPLIT.items() for n, (criterion, _text) in enumerate(own, 1)}
    criteria = set(of.values())
    whole = {own for own in criteria if all(place in full for place, criterion in of.items() if criterion == own)}
    assert 0 < len(full) < 9
    report = reports.create_report(
        benchmark=world.benchmark, kind="coverage", parameters={"run": coverage.public_id}, at=timezone.now()
    )
    reports.run(report_id=report.pk, clock=timezone.now)
    report = Report.objects.get(pk=report.pk)
    assert report.status == "done", report.error
    rows = {row["slice"]: row for row in table_of(report, "coverage").dicts()}
    assert (rows["all"]["n_points"], rows["all"]["cia"]) == (9, pytest.approx(len(full) / 9, abs=1e-12))
    rows = {row["slice"]: row for row in table_of(report, "coverage_by_criterion").dicts()}
    weights = {("a", 1): 7, ("a", 2): 4, ("b", 1): 3, ("b", 2): 5}
    assert rows["all"]["n_criteria"] == 4
    assert rows["all"]["cia"] == pytest.approx(len(whole) / 4, abs=1e-12)
    assert rows["all"]["cia_weighted"] == pytest.approx(sum(weights[own] for own in whole) / 19, abs=1e-12)
    assert rows[f"axis:{AXIS}"]["n_criteria"] == 3
    assert "the file does not hold" not in (rows["all"]["note"] or "")
    client.force_login(world.admin)
    shown = client.get(f"/b/ward/validity/{report.public_id}/").content.decode()
    assert "The gold set was split: 9 points from 4 criteria of gold, 2 cases." in shown
    assert "0 cases were not split." in shown
    assert "It was split by rules, not by a language model." in shown
    assert "split the 4 criteria of the set gold on 2 cases into 9 gold points" in shown
    shown = client.get(f"/b/ward/rubric-coverage/{coverage.public_id}/").content.decode()
    assert "9 points from 4 criteria of gold" in shown


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("ff", "f"), ("f", "f"), ("fn", "p"), ("pn", "p"), ("pi", "p"), ("ni", "n"), ("nm", "n"), ("im", "i"), ("m", "m")],
)
def test_a_criterion_is_covered_in_full_if_each_of_its_points_is(letters: str, expected: str) -> None:
    extents = dict(zip("fpnim", Extent, strict=True))
    assert extent_of_criterion([extents[letter] for letter in letters]) == extents[expected]
