"""Stores what a run has drafted for cases: facts, needs and suggestions, in the transaction that ends their steps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from consilium.core.language_tags import language_read
from documents.models import Passage
from drafting.models import Fact, Need, Suggestion
from drafting.runs.config import DraftingConfig
from rubrics.models import Case
from scoring.models import PipelineRun
from scoring.pipelines.kind import Output

MAX_SUGGESTION_LANGUAGE = 10  # of `Suggestion.language`; a longer tag is stored without script and region
FACT_FIELDS = (
    *("number", "kind", "text", "quote", "quote_state", "start", "end", "words", "numbers_agree", "support"),
    *("support_reason", "dropped_because", "is_usable"),
)
NEED_FIELDS = ("number", "kind", "text", "why", "quote", "quote_state")
SUGGESTION_FIELDS = (
    *("number", "text", "points", "axis", "why", "facts", "needs", "citations", "source", "findings"),
)  # fmt: skip


def store_drafts(run: PipelineRun, settings: DraftingConfig, results: Mapping[int, Output], *, at: datetime) -> None:
    """Write the rows of cases that have their result, by the ids of the cases. Each case has one in a run."""
    if not results:
        return
    ids = {fact["passage"] for result in results.values() for fact in result["facts"] if fact["passage"]}
    passages = dict(Passage.objects.filter(public_id__in=ids).values_list("public_id", "pk"))
    keys = dict(Case.objects.filter(pk__in=results).values_list("pk", "key"))
    facts, needs, suggestions = [], [], []
    for case, result in results.items():
        place = {"run": run, "case_id": case}
        facts += [
            Fact(**place, passage_id=passages.get(row["passage"]), **_fields(row, FACT_FIELDS))
            for row in result["facts"]
        ]
        needs += [Need(**place, **_fields(row, NEED_FIELDS)) for row in result["needs"]]
        language = settings.case_of[keys[case]].language
        if len(language) > MAX_SUGGESTION_LANGUAGE:
            language = language_read(language)
        suggestions += [
            Suggestion(**place, language=language, created_at=at, **_fields(row, SUGGESTION_FIELDS))
            for row in result["criteria"]
        ]
    Fact.objects.bulk_create(facts)
    Need.objects.bulk_create(needs)
    Suggestion.objects.bulk_create(suggestions)


def _fields(row: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names}
