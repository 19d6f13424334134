"""The settings of a run of drafting from a recipe and cases, what was left out, and what it would cost."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.core.limits import MAX_AXIS_LENGTH
from consilium.llm.meter import BYTES_PER_TOKEN, MIN_BYTES_PER_TOKEN
from documents.models import Collection as DocumentCollection
from documents.models import Document
from documents.search.filters import Filters
from drafting.models import DraftingRecipe
from drafting.recipes.content import STAGES_OF, RecipeContent, recipe_content
from drafting.runs.config import DraftingConfig, drafting_config
from drafting.runs.snapshot import bank_texts, with_texts
from drafting.stages.names import AUDIT, DIRECT, EVIDENCE, FACTS, NEEDS, PLAN, RANK, RELEVANCE, SUPPORT, SYNTHESIS
from rubrics.editor.editing import AXES
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Benchmark, Case, Rubric, RubricItem
from scoring.generation.due_responses import CaseFrame, cases_in

AXIS_PREFIX = "axis:"
# A passage has at most 220 words or 440 Han characters, which take three bytes each, and its headings.
PASSAGE_BYTES = 2_000
PROMPT_BYTES = 6_000  # the texts of a stage
MAX_TITLES = 20  # of documents that the form of a run names


@dataclass(frozen=True)
class Built:
    """Checked settings with the ids of their cases, and how many cases were left out.

    ``with_findings``: cases with an open privacy finding. ``documents``: how many may be searched and sent for these
    cases; ``titles``: those of the first of them.
    """

    config: DraftingConfig
    case_ids: list[int]
    with_findings: int = 0
    documents: int = 0
    titles: Sequence[str] = ()


def build(benchmark: Benchmark, recipe: DraftingRecipe, *, frame: CaseFrame, cases: Collection[int] = ()) -> Built:
    """Settings for the cases of ``frame``, or for ``cases`` alone, by their ids.

    `DomainError` where no case may be sent, or where the recipe needs documents and none may be sent.
    """
    if recipe.benchmark_id != benchmark.pk:
        raise DomainError(_("This recipe does not exist."))
    content = recipe_content(recipe.content)
    ids = _chosen(benchmark, cases) if cases else cases_in(benchmark, frame)
    if not ids:
        raise DomainError(_("No cases match these filters."))
    withheld = cases_with_open_findings(ids)
    kept = [pk for pk in ids if pk not in withheld]
    if not kept:
        raise DomainError(_("Each of these cases has an open privacy finding, so none may be sent."))
    rows = {pk: (key, language) for pk, key, language in Case.objects.filter(pk__in=kept).values_list(*_CASE)}
    languages = {language for _key, language in rows.values()}
    searched = _searched(benchmark, content, languages) if content.form == "evidence" else Document.objects.none()
    documents = searched.count()
    if content.form == "evidence" and not documents:
        raise DomainError(
            _(
                "None of the documents of this benchmark that the recipe searches may be sent to models. "
                "Import one that may be sent, or allow it for an existing one."
            )
        )
    bank = bank_texts(benchmark, kept)
    config = drafting_config(
        {
            "recipe": {
                "name": recipe.name,
                "version": recipe.version,
                "sha256": recipe.sha256,
                "content": with_texts(content, languages).model_dump(mode="json"),
            },
            "axes": axes_of(benchmark),
            "cases": [{"key": rows[pk][0], "language": rows[pk][1], "bank": bank.get(pk, [])} for pk in kept],
        }
    )
    return Built(
        config,
        kept,
        with_findings=len(ids) - len(kept),
        documents=documents,
        titles=list(searched.order_by("title", "pk").values_list("title", flat=True)[:MAX_TITLES]),
    )


_CASE = ("pk", "key", "language")


def _chosen(benchmark: Benchmark, cases: Collection[int]) -> list[int]:
    rows = Case.objects.filter(benchmark=benchmark, pk__in=cases).included().order_by("key")
    return list(rows.values_list("pk", flat=True))


def _searched(benchmark: Benchmark, content: RecipeContent, languages: Collection[str]) -> QuerySet[Document]:
    """The documents that the recipe searches for cases in these languages, as `drafting.runs.retrieval` does.

    A case without a language searches all languages.
    """
    filters = content.filters
    collections = DocumentCollection.objects.filter(benchmark=benchmark)
    if filters.collections:
        collections = collections.filter(public_id__in=filters.collections)
    others = Filters(
        jurisdiction=filters.jurisdiction,
        kinds=tuple(filters.kinds),
        max_tier=filters.max_tier,
        published_from=filters.published_from,
        may_send=True,
    )
    documents = Document.objects.in_use().filter(others.condition(), collection__in=collections)
    if filters.same_language and all(languages):
        in_language = Q()
        for language in languages:
            in_language |= Filters(language=language.split("-")[0]).condition()
        documents = documents.filter(in_language)
    return documents


def axes_of(benchmark: Benchmark) -> list[str]:
    """The axes that the tags of published criteria name, and those that the editor offers."""
    items = RubricItem.objects.filter(rubric__case__benchmark=benchmark, rubric__status=Rubric.Status.PUBLISHED)
    tags = {tag for own in items.order_by().values_list("tags", flat=True).distinct() for tag in own}
    named = {tag.removeprefix(AXIS_PREFIX).strip() for tag in tags if tag.startswith(AXIS_PREFIX)}
    return sorted({*AXES, *(axis for axis in named if 0 < len(axis) <= MAX_AXIS_LENGTH)})


@dataclass(frozen=True, slots=True)
class StageSize:
    """The most requests of one stage, and what they can cost at most; None where its model has no prices."""

    stage: str
    model: str
    requests: int
    tokens_in: int
    cost_at_most: float | None


@dataclass(frozen=True, slots=True)
class RunSize:
    """The size of a run that has not been made yet, an upper bound: a second audit is made only where it is needed."""

    cases: int
    stages: Sequence[StageSize]
    currency: str

    @property
    def requests(self) -> int:
        """All requests."""
        return sum(stage.requests for stage in self.stages)

    @property
    def tokens_in(self) -> int:
        """About so many tokens that are sent."""
        return sum(stage.tokens_in for stage in self.stages)

    @property
    def cost_at_most(self) -> float | None:
        """What all requests can cost; None where a model has no prices."""
        costs = [stage.cost_at_most for stage in self.stages]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def size_of(built: Built) -> RunSize:
    """Count requests, and estimate the bytes that they send.

    Conversations are counted; passages and earlier answers by the most that they may be.
    """
    content = built.config.content
    conversations = Case.objects.filter(pk__in=built.case_ids).values_list("conversation", flat=True)
    n_bytes = sum(len(json.dumps(conversation)) for conversation in conversations)
    stages = []
    for name in STAGES_OF[content.form]:
        if content.has(name):
            model = content.models[content.stage(name).model]
            rounds = content.limits.audit_rounds if name == AUDIT else 1
            requests = rounds * len(built.case_ids)
            sent = rounds * n_bytes + requests * (PROMPT_BYTES + _material_bytes(name, content))
            cost = model.allowance.cost(sent / MIN_BYTES_PER_TOKEN, requests * model.max_tokens)
            stages.append(
                StageSize(name, model.model, requests, sent // BYTES_PER_TOKEN, cost if model.priced else None)
            )
    return RunSize(len(built.case_ids), stages, currency_of(content))


def _material_bytes(stage: str, content: RecipeContent) -> int:
    """The bytes beside prompt and conversation that a request of a stage may have."""
    answer = max((model.max_tokens for model in content.models.values()), default=0) * BYTES_PER_TOKEN
    passages = content.limits.passages * PASSAGE_BYTES
    return {
        PLAN: 0,
        NEEDS: 0,
        DIRECT: 0,
        RANK: content.limits.pool * PASSAGE_BYTES,
        EVIDENCE: passages,
        FACTS: passages + answer,
        RELEVANCE: answer,
        SUPPORT: 2 * answer,
        SYNTHESIS: 2 * answer,
        AUDIT: 3 * answer,
    }[stage]


def currency_of(content: RecipeContent) -> str:
    """The currency of its models; empty where none has prices. `DomainError` where they have different ones."""
    currencies = {model.currency for model in content.models.values() if model.priced}
    if len(currencies) > 1:
        raise DomainError(_("The prices of the models are in different currencies."))
    return next(iter(currencies), "")
