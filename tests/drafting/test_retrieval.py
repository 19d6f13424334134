"""Which passages a case is drafted from: fusion, limits, filters, and how often documents are read."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from consilium.llm.staged import read_numbered
from documents.models import Document
from drafting.models import DraftingRecipe, DraftingRun, Suggestion
from drafting.recipes.content import RecipeContent, recipe_content
from drafting.runs.building import build
from drafting.runs.retrieval import found_passages, query_of
from drafting.runs.snapshot import bank_texts, with_texts
from drafting.stages.prompts import default_texts
from rubrics.models import Bank, BankItem
from scoring.generation.due_responses import CaseFrame
from tests.drafting.drafting_world import ASKED, DraftingWorld, ScriptedEndpoint, import_document, output

pytestmark = pytest.mark.django_db

NO_MODELS = {"models": {}, "form": "generic"}


def content(**more: Any) -> RecipeContent:
    return recipe_content({**NO_MODELS, **more}, may_call=False)


def query(*texts: str, language: str = "en", **more: Any) -> dict[str, Any]:
    """What is looked for with these queries."""
    plan = {"intent": "", "queries": [{"text": text, "looking_for": "dose"} for text in texts]}
    return query_of(content(**more), language, plan, [])


def look_up(world: DraftingWorld, *queries: dict[str, Any]) -> list[list[dict[str, Any]]]:
    outputs = found_passages(world.benchmark.pk, dict(enumerate(queries)), at=timezone.now())
    return [outputs[number]["passages"] for number in range(len(queries))]


def headings(passages: list[dict[str, Any]]) -> list[str]:
    return [passage["headings"][-1] for passage in passages]


def test_lists_are_fused_by_reciprocal_rank(nursery: DraftingWorld) -> None:
    [pool] = look_up(nursery, query("paracetamol", "drowsy rash", "loses water"))
    assert set(headings(pool)) == {"Medicine", "When to seek help", "Drinking"}
    assert [passage["score"] for passage in pool] == pytest.approx([1 / 61] * 3)
    assert [passage["rank"] for passage in pool] == [1, 2, 3]
    # Equal sums are in the order of the document.
    assert headings(pool) == ["Medicine", "When to seek help", "Drinking"]
    assert [passage["queries"] for passage in pool] == [[1], [2], [3]]
    [pool] = look_up(nursery, query("paracetamol", "paracetamol drowsy rash"))
    assert headings(pool)[0] == "Medicine"
    # First of both lists; or, behind the passage with two of the words, first of one and second of the other.
    assert pool[0]["score"] in (pytest.approx(2 / 61), pytest.approx(1 / 61 + 1 / 62))
    assert pool[0]["queries"] == [1, 2]


def test_what_a_passage_is_stored_with(nursery: DraftingWorld) -> None:
    passage = nursery.passages()["Medicine"]
    [[passage_row]] = look_up(nursery, query("paracetamol"))
    assert passage_row == {
        "passage": passage.public_id, "locator": passage.locator, "document": "fever",
        "title": "Invented guideline: fever in small children", "publisher": "", "version": "", "page": "",
        "headings": ["Medicine"], "table_header": "", "text": passage.text, "tier": 1, "language": "en",
        "published_on": None, "jurisdictions": [], "may_quote": True, "rank": 1, "score": 1 / 61, "queries": [1],
    }  # fmt: skip


def test_limits_of_a_document_and_of_the_pool(nursery: DraftingWorld) -> None:
    import_document(nursery.collection, "other", [{"headings": ["Other"], "text": "A child with fever rests."}])
    words = "child fever paracetamol drowsy water"
    [two] = look_up(nursery, query(words, limits={"passages_per_document": 1}))
    assert sorted(passage["document"] for passage in two) == ["fever", "other"]
    [pool] = look_up(nursery, query(words, limits={"pool": 1}))
    assert len(pool) == 1
    [best] = look_up(nursery, query(words, limits={"passages_per_query": 1}))
    assert len(best) == 1


def test_only_what_may_be_sent_and_fits_the_case_is_found(nursery: DraftingWorld) -> None:
    sections = [{"headings": ["Fieber"], "text": "Bei Fieber hilft paracetamol."}]
    import_document(nursery.collection, "fieber", sections, language="de", tier=3)
    both = query("paracetamol", filters={"same_language": False})
    assert sorted(each["document"] for each in look_up(nursery, both)[0]) == ["fever", "fieber"]
    assert [each["document"] for each in look_up(nursery, query("paracetamol", language="de"))[0]] == ["fieber"]
    assert [each["document"] for each in look_up(nursery, query("paracetamol", language="en-GB"))[0]] == ["fever"]
    assert [
        each["document"]
        for each in look_up(nursery, query("paracetamol", filters={"same_language": False, "max_tier": 2}))[0]
    ] == ["fever"]
    other = query("paracetamol", filters={"collections": ["none"], "same_language": False})
    assert look_up(nursery, other) == [[]]
    Document.objects.filter(key="fever").update(may_send=False)
    assert [each["document"] for each in look_up(nursery, both)[0]] == ["fieber"]


def test_documents_are_read_once_for_all_cases(
    nursery: DraftingWorld, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    queries = [query("paracetamol", "drowsy rash", f"water {number}") for number in range(20)]
    look_up(nursery, *queries)  # builds the index
    with django_assert_num_queries(5):
        look_up(nursery, *queries[:1])
    with django_assert_num_queries(5):
        pools = look_up(nursery, *queries)
    assert all(headings(pool) == headings(pools[0]) for pool in pools)


def test_a_query_of_a_recipe_without_a_plan() -> None:
    turns = [
        {"role": "user", "content": "First."}, {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "How much?"}, {"role": "assistant", "content": "Hm."},
    ]  # fmt: skip
    value = query_of(content(), "zh-Hans", None, turns)
    assert value["queries"] == [{"text": "How much?", "looking_for": "background"}]
    assert value["filters"]["language"] == "zh" and value["filters"]["may_send"] is True


@pytest.mark.slow
def test_without_plan_and_rank_the_tier_counts(nursery: DraftingWorld, scripted: ScriptedEndpoint) -> None:
    leaflet = [{"headings": ["Leaflet"], "text": f"{ASKED} {ASKED}"}]
    import_document(nursery.collection, "leaflet", leaflet, tier=4)
    stages = {name: {"on": False} for name in ("draft_plan", "rank")}
    run = nursery.run(scripted.url, stages=stages, limits={"passages": 3})
    pool = headings(output(run, nursery.cases[0], "retrieve")["passages"])
    assert pool[0] == "Leaflet"  # it has all words of the question, and the lowest tier
    items = read_numbered(scripted.sent("evidence")[0]["PASSAGES"])
    # The places 2 and 3 of tier 1, then place 1 of tier 4.
    assert [item.text.split("\n", 2)[1] for item in items] == [pool[1], pool[2], "Leaflet"]


def test_a_run_keeps_the_texts_of_its_stages() -> None:
    own = {"system": "Own.", "user": "{{case}}"}
    model = {"endpoint": "http://127.0.0.1:1/v1", "model": "m"}
    values = {"models": dict.fromkeys(("strong", "fast", "checker"), model),
              "stages": {"needs": {"prompts": {"zh": own}}, "rank": {"on": False}}}  # fmt: skip
    recipe = recipe_content(values, may_call=False)
    whole = with_texts(recipe, ["zh-Hans", "en", "de"])
    assert whole.stage("needs").prompts["zh"].system == "Own."
    assert whole.stage("needs").prompts["en"].user == default_texts("needs", "en").user
    assert not whole.has("rank") and not whole.stage("rank").prompts
    assert whole.stage("support").model == "checker"
    assert recipe_content(whole.model_dump(mode="json"), may_call=False) == whole


def test_the_bank_of_the_category_of_a_case(nursery: DraftingWorld) -> None:
    bank = Bank.objects.create(benchmark=nursery.benchmark, slug="own", title="Own", created_at=timezone.now())
    for key, tags in (("weigh", ["theme:hedging"]), ("other", ["theme:none"])):
        BankItem.objects.create(bank=bank, key=key, section="s", text={"en": f"Asks: {key}."}, applies_to=tags)
    ids = [case.pk for case in nursery.cases]
    texts = bank_texts(nursery.benchmark, ids)
    assert set(texts) == set(ids)
    assert "Asks: weigh." in texts[ids[0]] and "Asks: other." not in texts[ids[0]]


def test_what_is_ordered_keeps_texts_and_bank(nursery: DraftingWorld, settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1:1"]
    bank = Bank.objects.create(benchmark=nursery.benchmark, slug="own", title="Own", created_at=timezone.now())
    BankItem.objects.create(
        bank=bank, key="weigh", section="s", text={"en": "Asks: weigh."}, applies_to=["theme:hedging"]
    )
    recipe = recipe_content(nursery.config("http://127.0.0.1:1/v1")["recipe"]["content"])
    row = DraftingRecipe.objects.create(
        benchmark=nursery.benchmark, name="full", version=1, content=recipe.model_dump(mode="json"),
        sha256=recipe.digest, created_at=timezone.now(),
    )  # fmt: skip
    config = build(nursery.benchmark, row, frame=CaseFrame()).config
    assert set(config.content.stage("synthesis").prompts) == {"en"}
    assert all("Asks: weigh." in case.bank for case in config.cases)


@pytest.mark.slow
def test_what_the_bank_has_goes_back_to_the_audit(nursery: DraftingWorld, scripted: ScriptedEndpoint) -> None:
    config = nursery.config(scripted.url)
    for case in config["cases"]:
        case["bank"] = ["Asks how much the child weighs."]
    run: DraftingRun = nursery.run_config(config)
    # Nothing was changed, so a second round would ask what the first one asked.
    assert run.steps.filter(stage="audit").count() == 2
    assert scripted.stages().count("audit") == 2
    [first, *_others] = scripted.sent("audit")
    assert "The bank already contains it: “Asks how much the child weighs.”" in first["FINDINGS"]
    marked = Suggestion.objects.filter(run=run, case=nursery.cases[0], text__startswith="Asks how much")
    assert [[each["code"] for each in own.findings] for own in marked] == [["bank_duplicate"]]
