"""What the demo shows of drafting: two recipes, and a finished run for two cases whose suggestions nobody decided on.

An endpoint that follows rules answers. It is there for this moment alone; where the product has one that stays, the
newest version of each recipe asks that one, so that further runs can be ordered.
"""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from accounts.models import User
from consilium.llm.rules.names import MODEL
from demo.rules_endpoint import host_allowed, stages_endpoint
from drafting.models import DraftingRecipe
from drafting.recipes.content import RecipeModel
from drafting.recipes.services import save_terms, save_version
from drafting.recipes.shipped import SHIPPED
from drafting.recipes.terms import TermsOfDrafting
from drafting.runs.services import create_run
from rubrics.models import Benchmark, Case
from scoring.models import PipelineRun
from scoring.pipelines.working import work_on_run

# The made-up documents say something about each; no rubric of theirs is being written.
CASES = ("demo-03-sudden-headache", "demo-10-gout-flare")
RECIPES = ("direct", "full")


def draft_criteria(demo: Benchmark, *, rule_endpoint: str, by: User, at: datetime) -> None:
    """Recipes, a run by the full one, and the recipe that an author's button orders by.

    ``rule_endpoint``: the address of the endpoint that stays; empty where there is none.
    """
    with stages_endpoint() as url:
        _direct, full = (_save(demo, name, url, by=by, at=at) for name in RECIPES)
        cases = Case.objects.filter(benchmark=demo, key__in=CASES).values_list("pk", flat=True)
        run = create_run(benchmark=demo, recipe=full, cases=list(cases), by=by, at=at)
        while work_on_run(run.pk, clock=lambda: at):
            continue
    run.refresh_from_db()
    assert run.status == PipelineRun.Status.FINISHED, run.error
    if rule_endpoint:
        with host_allowed(urlsplit(rule_endpoint).netloc):
            _direct, full = (_save(demo, name, rule_endpoint, based_on=1, by=by, at=at) for name in RECIPES)
    save_terms(benchmark=demo, terms=TermsOfDrafting(recipe=full.public_id), by=by, at=at)


def _save(demo: Benchmark, name: str, url: str, *, based_on: int = 0, by: User, at: datetime) -> DraftingRecipe:
    shipped = SHIPPED[name]
    content = shipped.content({role: RecipeModel(endpoint=url, model=MODEL) for role in shipped.roles})
    return save_version(
        benchmark=demo, name=name, content=content.model_dump(mode="json"), based_on=based_on, by=by, at=at
    )
