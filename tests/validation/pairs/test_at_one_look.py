"""What a reader of a report on pairs must see at once: an endpoint that reads no text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.stored import table_of
from consilium.llm.rules.completion import MODELS, completion
from consilium.llm.rules.server import serving
from tests.validation.pairs.pair_world import PairWorld, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

REFERENCE = "Take 15 mg of this medicine per day and see a doctor within 24 hours."
CRITERIA = [("Says to take 15 mg of the medicine per day.", 5, "accuracy"), ("Names a doctor.", 2, "accuracy")]
NOTHING = "Such answers do not distinguish the texts of any pair and provide no information about a set."


def report_by(model: str) -> tuple[PairWorld, Report]:
    """Five pairs, judged by a set and without any, by a model of the endpoint that follows rules."""
    pairs = [
        {"case": f"P{number}", "kind": "dose", "reference": REFERENCE, "candidate": REFERENCE.replace("15", "30")}
        for number in range(5)
    ]
    world = make_world("ward", pairs, {"A": {pair["case"]: CRITERIA for pair in pairs}})
    world.confirm_all()
    with serving(completion, MODELS) as address:
        run = world.run(f"http://{address}/v1", model=model, config={"trials": 2, "no_rubric": True})
    assert (run.status, run.endpoint_kind) == ("finished", "rules")
    report = services.create_report(
        benchmark=world.benchmark, kind="pairs", parameters={"run": run.public_id}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    return world, Report.objects.get(pk=report.pk)


def first_screen(world: PairWorld, report: Report) -> str:
    """What stands above the first table and the first figure of the page."""
    client = Client()
    client.force_login(world.admin)
    page = " ".join(client.get(f"/b/ward/validity/{report.public_id}/").content.decode().split())
    main = page[page.index("<main") :]
    return main[: min(main.index("<table"), main.index("<figure"))]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("rules-always-a", "nearly all answers prefer the text that comes first, whichever it is."),
        ("rules-always-same", "nearly all answers rate the two texts as equal."),
    ],
)
def test_a_model_that_reads_nothing(settings: Any, model: str, words: str) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    world, report = report_by(model)
    screen = first_screen(world, report)
    assert re.findall(r"<p>(A|no rubric): ([^<]*)</p>", screen) == [("A", words), ("no rubric", words)]
    assert NOTHING in screen
    assert "These answers come from fixed rules, not from a language model." in screen
    # No criterion tells the texts apart, though “always A” says that one text alone meets it in every trial.
    (mutation,) = [row for row in table_of(report, "mutation").dicts() if row["slice"] == "all"]
    assert (mutation["n_pairs"], mutation["noticed"], mutation["score"]) == (5, 0, 0)
    assert len(table_of(report, "deciding").dicts()) == 0
    assert len(table_of(report, "unnoticed").dicts()) == 5
    # Nothing is won: half of the trials have each text first.
    for row in table_of(report, "pairs").dicts():
        assert (row["win"], row["tie"], row["mean_delta"], row["auroc_paired"]) == (0, 1, 0, 0.5)


def test_a_model_that_reads_the_texts(settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    world, report = report_by("rules (no language model)")
    screen = first_screen(world, report)
    # By the criteria the reference wins everywhere. Without them the rule counts words, of which both have the same.
    assert re.findall(r"<p>(A|no rubric): ([^<]*)</p>", screen) == [
        ("no rubric", "nearly all answers rate the two texts as equal.")
    ]
    (own,) = [row for row in table_of(report, "pairs").dicts() if (row["set"], row["slice"]) == ("A", "all")]
    assert (own["win"], own["mean_delta"]) == (1, 5)
