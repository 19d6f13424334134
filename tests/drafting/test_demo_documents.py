"""A whole run by rules over the demo's cases and invented documents, and its replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

import demo.cases
from consilium.llm.rules.completion import MODELS, completion
from consilium.llm.rules.server import serving
from demo.documents import read_documents
from documents.models import Passage
from drafting.models import Fact, Suggestion
from scoring.pipelines.runs import replay_run
from tests.chaos.killed_runs import outputs_of
from tests.documents.library import add, lines, make_collection
from tests.drafting.drafting_world import DraftingWorld, output
from tests.factories import BenchmarkFactory, CaseFactory
from tests.scoring.pipelines.verdict_chain import work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_a_run_over_the_demo_and_its_replay(settings: Any) -> None:
    benchmark = BenchmarkFactory(slug="invented")
    world = DraftingWorld(benchmark, make_collection(benchmark))
    for rows in read_documents():
        add(world.collection, lines(*rows), "document.jsonl")
    for file in sorted(Path(demo.cases.__file__).parent.glob("*.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        question = f"{case['clinical_context']}\n\n{case['user_request']}"
        world.cases.append(
            CaseFactory(
                benchmark=benchmark,
                key=case["case_id"],
                language=case["language"],
                rubric=0,
                conversation=[{"role": "user", "content": question}],
            )
        )
    assert len(world.cases) == 12
    with serving(completion, MODELS) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        run = world.run(f"http://{address}/v1")
    assert (run.status, run.endpoint_kind) == ("finished", "rules")
    for case in world.cases:
        result = output(run, case, "result")
        assert result["criteria"]
        lines_of = [(line["kind"], line["number"]) for line in result["ledger"]]
        assert lines_of == [
            *(("fact", fact["number"]) for fact in result["facts"]),
            *(("need", need["number"]) for need in result["needs"]),
        ]
        assert all(bool(line["criteria"]) != bool(line["reason"]) for line in result["ledger"])
        assert Suggestion.objects.filter(run=run, case=case).count() == len(result["criteria"])
    texts = dict(Passage.objects.values_list("pk", "text"))
    facts = list(Fact.objects.filter(run=run))
    assert facts and all(fact.words and fact.words in texts[fact.passage_id] for fact in facts if fact.is_usable)
    # The endpoint is gone by now.
    replay = work(replay_run(run=run, by=None, at=timezone.now()))
    assert replay.status == "finished"
    assert outputs_of(replay) == outputs_of(run)
