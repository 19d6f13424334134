"""Drafting for the 120 public cases, by rules and with the demo's documents: what the recipes *direct* and *full* give.

The documents are about other questions than most of the cases, so that many cases have no usable fact; that is counted
and said. No figure here says anything about a language model.
"""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agreement import services as report_services
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from consilium.core.jobs import no_progress
from consilium.llm.rules.completion import MODELS, completion
from consilium.llm.rules.names import MODEL
from consilium.llm.rules.server import serving
from demo import documents
from documents import services as document_services
from documents.models import Document, Passage
from documents.services.terms import CollectionTerms
from drafting.models import DraftingRecipe, DraftingRun, Fact, Need, Suggestion
from drafting.models.evidence import STANDS
from drafting.recipes.content import RecipeModel
from drafting.recipes.services import save_version
from drafting.recipes.shipped import SHIPPED
from drafting.runs.selectors import compound_shares, drafted_outputs, summary_of
from drafting.runs.services import create_run
from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory
from tests.scoring.pipelines.verdict_chain import work
from validation.coverage.services import create_run as create_coverage_run
from validation.models import RubricSet

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FILE = Path(os.environ["CONSILIUM_REAL_DATA"]) / "healthbench_sample.jsonl"
FRAME = "8-10"  # criteria of the gold rubric: 23 cases
N_FRAME = 23


@pytest.fixture
def url(settings: Any) -> Iterator[str]:
    with serving(completion, MODELS) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        yield f"http://{address}/v1"


@pytest.fixture
def bench(db: None) -> Benchmark:
    """The public cases and the made-up documents."""
    bench: Benchmark = BenchmarkFactory(slug="bench")
    call_command("import_cases", str(FILE), "--benchmark", "bench", stdout=io.StringIO(), stderr=io.StringIO())
    terms, at = CollectionTerms(name=documents.COLLECTION, description=documents.DESCRIPTION), timezone.now()
    document_services.create_collection(benchmark=bench, terms=terms, by=None, at=at)
    for rows in documents.read_documents():
        document_services.import_documents(
            benchmark=bench,
            file=io.BytesIO("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()),
            options={"collection": documents.COLLECTION, "format": "jsonl"},
            by=None,
            at=at,
            progress=no_progress,
        )
    return bench


def recipe(bench: Benchmark, name: str, url: str) -> DraftingRecipe:
    shipped = SHIPPED[name]
    content = shipped.content(
        {role: RecipeModel(endpoint=url, model=MODEL, concurrency=8, attempts=2) for role in shipped.roles}
    )
    return save_version(
        benchmark=bench, name=name, content=content.model_dump(mode="json"), by=None, at=timezone.now()
    )  # fmt: skip


def draft(bench: Benchmark, name: str, url: str) -> DraftingRun:
    run = work(create_run(benchmark=bench, recipe=recipe(bench, name, url), by=None, at=timezone.now()))
    assert run.status == "finished", run.error
    return DraftingRun.objects.get(pk=run.pk)


def check_quotations(run: DraftingRun) -> None:
    """What is shown as a quotation stands in its passage; no criterion rests on a fact whose quotation does not."""
    texts = dict(Passage.objects.values_list("public_id", "text"))
    states = {str(state) for state in STANDS}
    facts = {(fact.case_id, fact.number): fact for fact in Fact.objects.filter(run=run).select_related("passage")}
    for fact in facts.values():
        if fact.quote_state in states:
            assert fact.passage is not None
            assert fact.words == texts[fact.passage.public_id][fact.start : fact.end] != ""
        else:
            assert (fact.words, fact.passage, fact.is_usable) == ("", None, False)
    for suggestion in Suggestion.objects.filter(run=run):
        assert all(facts[suggestion.case_id, number].is_usable for number in suggestion.facts)
        for cited in suggestion.citations:
            assert texts[cited["passage"]][cited["start"] : cited["end"]] == cited["quote"]


def check_ledgers(run: DraftingRun) -> None:
    """Each fact and each need has one line: the criteria that carry it, or the reason why none does."""
    for case, output in drafted_outputs(run):
        lines = Counter((line["kind"], line["number"]) for line in output["ledger"])
        facts = Fact.objects.filter(run=run, case=case).values_list("number", flat=True)
        needs = Need.objects.filter(run=run, case=case).values_list("number", flat=True)
        assert lines == Counter([*(("fact", n) for n in facts), *(("need", n) for n in needs)])
        carried = {
            (kind, number, row["number"])
            for row in output["criteria"]
            for kind, numbers in (("fact", row["facts"]), ("need", row["needs"]))
            for number in numbers
        }
        assert {(line["kind"], line["number"], n) for line in output["ledger"] for n in line["criteria"]} == carried
        assert all(bool(line["criteria"]) != bool(line["reason"]) for line in output["ledger"])


def make_set(name: str, *source: str) -> RubricSet:
    arguments = ("--benchmark", "bench", "--name", name, "--criteria", FRAME)
    call_command("rubric_set", *arguments, *source, stdout=io.StringIO(), stderr=io.StringIO())
    return RubricSet.objects.get(name=name)


def test_real_cases_are_drafted_for_with_all_marked_and_measured(bench: Benchmark, url: str) -> None:
    direct, full = draft(bench, "direct", url), draft(bench, "full", url)
    assert Document.objects.in_use().filter(may_send=True).exists()
    for run in (direct, full):
        check_quotations(run)
        check_ledgers(run)
        summary = summary_of(run)
        own = Fact.objects.filter(run=run, is_usable=True).values("case").distinct().count()
        assert (summary.cases, summary.without_fact) == (120, 120 - own)
        assert summary.criteria == Suggestion.objects.filter(run=run).count() > 0
        drafted, written = compound_shares(run)
        assert (drafted.criteria, written.criteria) == (summary.criteria, 1413)
        print(run.recipe_name, summary, drafted, written)
    assert not Fact.objects.filter(run=direct).exists()
    assert 0 < summary_of(full).without_fact < 120
    gold = make_set("Gold", "--track", "gold")
    sets = [make_set(run.recipe_name, "--run", run.public_id) for run in (direct, full)]
    assert [gold.case_count, *(own.origin for own in sets)] == [N_FRAME, "drafting", "drafting"]
    common: dict[str, Any] = {"benchmark": bench, "by": None, "at": timezone.now()}
    config = {"endpoint": url, "model": MODEL, "concurrency": 8}
    coverage = create_coverage_run(gold=gold, sets=sets, config=config, **common)
    assert coverage.terms["names_its_judge"] == ["direct", "full"]  # the same rules drafted and judge
    work(coverage)
    report = report_services.create_report(kind="coverage", parameters={"run": coverage.public_id}, **common)
    report_services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    rows = [row for row in table_of(report, "coverage").dicts() if row["slice"] == "all"]
    assert {row["set"] for row in rows} == {"direct", "full"}
    assert all(row["endpoint_kind"] == "rules" and row["n_points"] == gold.item_count for row in rows)
    for row in rows:
        print(row["set"], {name: row[name] for name in ("n_points", "cia", "cia_low", "cia_high", "precision")})
    text = methods_of(report).text
    assert "The criteria of full are those that version 1 of the recipe full drafted, by rules" in text
